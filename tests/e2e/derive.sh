# e2e/derive.sh - derived points: made, stopped, gone on with; the same proofs with them; what is refused
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

t=$(fixture filecoin/trapdoors.json)
dir=$(fixture filecoin/2kib/window-v1_1-short)
keys=$work/keys
outcome "setup" 0 "key written" "$cuzk" setup --circuit window-2k --params "$keys" --trapdoors "$t"
key=$(basename "$keys"/*.params .params)
# prove KEYS OPTION...: to $work/p.bin, with the fixture's r and s
prove() {
    from=$1
    shift
    "$cuzk" prove --kind window --input "$dir/vanilla-0.bin" --statement "$dir/statement.json" --params "$from" --proof "$work/p.bin" --trapdoors "$t" --device cpu --json "$@"
}
outcome "nothing is derived: as without" 0 '"ok":true' prove "$keys" --derived auto

# ---- stopped: python starts the program with INT at default ----

python3 - "$cuzk" "$keys" <<'PY' >"$work/out"
import os, signal, subprocess, sys, time
cuzk, keys = sys.argv[1:]
args = [cuzk, "params", "derive", "--circuit", "window-2k", "--params", keys]
def catches(p, sig):
    with open("/proc/%d/status" % p.pid) as f:
        return int(next(l for l in f if l.startswith("SigCgt")).split()[1], 16) >> sig - 1 & 1
for sig, code in (signal.SIGKILL, -9), (signal.SIGINT, 130):
    p = subprocess.Popen(args, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while p.poll() is None:
        if any(n.endswith(".derived.scratch.part") for n in os.listdir(keys)) and (sig == signal.SIGKILL or catches(p, sig)):
            break
        time.sleep(0.01)
    p.send_signal(sig)
    got = p.wait()
    names = os.listdir(keys)
    good = got == code and not any(n.endswith(".derived") for n in names)
    print(("ok " if good else "FAIL ") + "stopped by signal %d" % sig + ("" if good else ": %s %s" % (got, names)))
PY
cat "$work/out"
outcome "unfinished work is told" 0 "not finished" "$cuzk" params check "$keys"
outcome "derive" 0 "derived points written" "$cuzk" params derive --circuit window-2k --params "$keys"
check "nothing else is left" test -z "$(find "$keys" -name '*.part')"
outcome "once more: they are there" 0 "derived points written" "$cuzk" params derive --circuit window-2k --params "$keys"

# ---- the same proofs ----

outcome "prove with them" 0 '"ok":true' prove "$keys" --derived auto
check "the same bytes" cmp "$work/p.bin" "$dir/proof-fixed-rs.bin"
outcome "prove without" 0 '"ok":true' prove "$keys" --derived off
check "as ever" cmp "$work/p.bin" "$dir/proof-fixed-rs.bin"
outcome "check" 0 '"bad":0,"ok":true' "$cuzk" params check "$keys" --json
digest=$(sed -n 's/^{"[^"]*params":{"digest":"\([0-9a-f]*\)".*/\1/p' "$keys/$key.digest")
outcome "inspect" 0 "\"params_digest\":\"$digest\"" "$cuzk" inspect "$keys/$key.derived" --json

# ---- what is refused ----

cp -r "$keys" "$work/bad"
printf x | dd of="$work/bad/$key.derived" bs=1 seek=2000000 conv=notrunc 2>/dev/null
outcome "damaged" 3 '"class":"malformed"' prove "$work/bad" --derived auto
outcome "nobody asked for them" 0 '"ok":true' prove "$work/bad"
outcome "check finds it" 3 "$key.derived" "$cuzk" params check "$work/bad" --json
outcome "inspect too" 3 "checksum" "$cuzk" inspect "$work/bad/$key.derived"
outcome "setup of another key" 0 "key written" "$cuzk" setup --circuit window-2k --params "$work/other"
cp "$keys/$key.derived" "$work/other/"
outcome "another key's" 3 '"class":"inconsistent"' prove "$work/other" --derived auto
outcome "neither auto nor off" 2 "auto or off" prove "$keys" --derived on
outcome "of what" 2 "--circuit" "$cuzk" params derive --params "$keys"
outcome "no such key" 4 "winning-2k" "$cuzk" params derive --circuit winning-2k --params "$keys"
