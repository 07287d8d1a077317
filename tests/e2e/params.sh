# e2e/params.sh - keys: digests, what prove makes of them, params check, setups that are stopped
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

t=$(fixture filecoin/trapdoors.json)
keys=$work/keys
outcome "setup" 0 "key written" "$cuzk" setup --circuit window-2k --params "$keys" --trapdoors "$t"
key=$(basename "$keys"/*.params .params)
digest=$(grep -A 4 '"params": {' "$(fixture filecoin/keys/window-2kib.params.json)" | sed -n 's/.*"blake2b_32hex": "\(.*\)".*/\1/p')
check "digest of the key" grep -q "\"$key.params\":{\"digest\":\"$digest\",\"sector_size\":2048}" "$keys/$key.digest"
check "it is JSON" python3 -m json.tool "$keys/$key.digest" /dev/null
check "only what should be there" test "$(ls -A "$keys" | wc -l)" -eq 5

# A setup that fails at its end leaves an own key as it was; one with trapdoors goes on from there.
cp -r "$keys" "$work/link"
rm "$work/link/$key.vk"
ln -s none/vk "$work/link/$key.vk"
outcome "setup whose .vk has no place" 4 "none/vk" "$cuzk" setup --circuit window-2k --params "$work/link"
rm "$work/link/$key.vk"
outcome "the key that was there is its own still" 0 '"standing":"own"' "$cuzk" params check "$work/link" --json
mkdir "$work/late"
ln -s none/vk "$work/late/$key.vk"
outcome "with trapdoors" 4 "none/vk" "$cuzk" setup --circuit window-2k --params "$work/late" --trapdoors "$t"
check "what was done is kept" test -e "$work/late/$key.params.part"
mkdir "$work/late/none"
outcome "and gone on with" 0 "key written" "$cuzk" setup --circuit window-2k --params "$work/late" --trapdoors "$t"
check "to the same key" cmp "$keys/$key.params" "$work/late/$key.params"
check "and what the link leads to" cmp "$keys/$key.vk" "$work/late/none/vk"

# ---- params check ----

outcome "check" 0 '"bad":0,"ok":true' "$cuzk" params check "$keys" --json
check "is JSON" python3 -m json.tool "$work/out" /dev/null
check "own key" last_has '"standing":"own"'
outcome "check, for people" 0 "window-2k" "$cuzk" params check "$keys"
outcome "deep" 0 '"deep":true' "$cuzk" params check "$keys" --deep --json
outcome "the folder of the environment" 0 "$keys" env FIL_PROOFS_PARAMETER_CACHE="$keys" "$cuzk" params check
outcome "no such folder" 4 "nothere" "$cuzk" params check "$work/nothere"
outcome "what else" 2 "check" "$cuzk" params fetch
mkdir "$work/empty"
outcome "an empty folder" 4 "no key file" "$cuzk" params check "$work/empty" --json
check "says so as JSON" python3 -m json.tool "$work/out" /dev/null

# A key that no setup here made is not written over; one that was made here is.
mkdir "$work/theirs"
cp "$keys/$key.params" "$work/theirs"
outcome "setup over another's key" 3 "move it away" "$cuzk" setup --circuit window-2k --params "$work/theirs"
check "which stays" cmp "$keys/$key.params" "$work/theirs/$key.params"
cp -r "$keys" "$work/again"
outcome "setup over an own key" 0 "key written" "$cuzk" setup --circuit window-2k --params "$work/again"
check "which is another now" sh -c '! cmp -s "$1" "$2"' - "$keys/$key.params" "$work/again/$key.params"

# flip OFFSET FILE: the lowest bit of a byte
flip() {
    byte=$(od -An -tu1 -j"$1" -N1 "$2" | tr -d ' ')
    printf "\\$(printf %o $((byte ^ 1)))" | dd of="$2" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
# damaged NAME CLASS TEXT: a copy of the keys, changed by the function `change`
damaged() {
    rm -rf "$work/bad"
    cp -r "$keys" "$work/bad"
    change "$work/bad/$key"
    outcome "$1" 3 "\"class\":\"$2\"" "$cuzk" params check "$work/bad" --json
    check "$1: tells" last_has "$3"
}
change() { flip 5000000 "$1.params"; }
damaged "a point changed" malformed "setup wrote"
change() { flip 5000000 "$1.params"; rm "$1.digest"; }
damaged "a point changed, no .digest" malformed "the network's has 7610b9f82bfc88405b7a832b651ce2f6"
change() { printf x >>"$1.params"; }
damaged "a byte more" malformed "params"
change() { truncate -s -96 "$1.params"; }
damaged "a point less" malformed "b_g2"
change() { flip 3079 "$1.params"; }
damaged "another count" malformed "h"
change() { flip 100 "$1.vk"; }
damaged "vk changed" malformed "vk beta_g1"
change() { echo '{"sector_size":2049}' >"$1.meta"; }
damaged "meta of another size" inconsistent "2049"
change() { echo '{' >"$1.meta"; }
damaged "meta is no JSON" malformed ".meta"
change() { sed -i 's/"digest":"./"digest":"g/' "$1.digest"; }
damaged "digest is not hexadecimal" malformed "hexadecimal"
change() { mv "$1.params" "${1%0}f.params"; mv "$1.vk" "${1%6}7.vk"; }
damaged "a name of no circuit" malformed "no circuit has this name"
change() { printf rubbish >"${1%/*}/v28-fil-inner-product-v1.srs"; }
damaged "powers that are rubbish" limit "1920295522 points announced, allowed 2..1048577"
change() { cp "$(fixture filecoin/2kib/aggregate/srs-16.srs)" "${1%/*}/v28-fil-inner-product-v1.srs"; }
damaged "an SRS that is not the network's" malformed "ae20310138f5ba81451d723f858e3797"
change() { elsewhere=$(echo "$key" | sed 's/-[0-9a-f]*$/-3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e/'); mv "$1.params" "${1%/*}/$elsewhere.params"; }
damaged "a key under another circuit's name" shape "key list"

# ---- what prove makes of it ----

dir=$(fixture filecoin/2kib/window-v1_1-short)
prove() { "$cuzk" prove --kind window --input "$dir/vanilla-0.bin" --statement "$dir/statement.json" --params "$1" --proof "$work/p.bin" --json; }
outcome "own key" 0 '"warnings":[]' prove "$keys"
rm -rf "$work/bad"
cp -r "$keys" "$work/bad"
flip 5000000 "$work/bad/$key.params"
outcome "a damaged key is refused" 3 '"class":"malformed"' prove "$work/bad"
check "with both digests" last_has "$digest"
rm "$work/bad/$key.digest" "$work/bad/.cuzk-keys"
cp "$keys/$key.params" "$work/bad/$key.params"
outcome "a key that is not the network's" 0 '"class":"inconsistent"' prove "$work/bad"
check "its digest is remembered" grep -q "$digest" "$work/bad/.cuzk-keys"
outcome "and told again" 0 '"class":"inconsistent"' prove "$work/bad"
verify() { "$cuzk" verify --kind window --statement "$dir/statement.json" --params "$1" --proof "$work/p.bin" --json; }
outcome "verified with a .vk that is not the network's" 0 '"class":"inconsistent"' verify "$work/bad"
check "and valid" last_has '"valid":true'
outcome "with an own one" 0 '"warnings":[]' verify "$keys"
cp "$(fixture filecoin/keys/winning-2kib.vk)" "$work/bad/$key.vk"
cp "$keys/$key.digest" "$work/bad"
outcome "with one that is not the setup's" 3 '"class":"malformed"' verify "$work/bad"
rm "$work/bad/$key.digest"
echo rubbish >"$work/bad/.cuzk-keys"
outcome "a spoilt memory is no harm" 0 '"ok":true' prove "$work/bad"

# ---- setups that are stopped: python starts the program with INT at default ----

python3 - "$cuzk" "$work/stopped" "$t" <<'PY' >"$work/out"
import os, signal, subprocess, sys, time
cuzk, keys, trapdoors = sys.argv[1:]
args = [cuzk, "setup", "--circuit", "winning-2k", "--params", keys, "--trapdoors", trapdoors]
def catches(p, sig):
    with open("/proc/%d/status" % p.pid) as f:
        return int(next(l for l in f if l.startswith("SigCgt")).split()[1], 16) >> sig - 1 & 1
def stop(sig):
    p = subprocess.Popen(args, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for _ in range(12000):
        if os.path.isdir(keys) and any(n.endswith(".part") for n in os.listdir(keys)) and (sig == signal.SIGKILL or catches(p, sig)):
            break
        time.sleep(0.01)
    time.sleep(0.05)
    p.send_signal(sig)
    return p.wait()
for sig, code in (signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143):
    got = stop(sig)
    names = os.listdir(keys)
    good = got == code and not any(n.endswith(".params") for n in names)
    print(("ok " if good else "FAIL ") + "setup stopped by signal %d" % sig + ("" if good else ": %s %s" % (got, names)))
PY
cat "$work/out"
outcome "an unfinished setup is told" 0 "not finished" "$cuzk" params check "$work/stopped"
outcome "and gone on with" 0 "key written" "$cuzk" setup --circuit winning-2k --params "$work/stopped" --trapdoors "$t"
digest=$(grep -A 4 '"params": {' "$(fixture filecoin/keys/winning-2kib.params.json)" | sed -n 's/.*"sha256": "\(.*\)".*/\1/p')
check "to the same key" test "$(sha256sum "$work/stopped"/*.params | cut -d' ' -f1)" = "$digest"
outcome "without trapdoors nothing is left" 130 "" python3 - "$cuzk" "$work/random" <<'PY'
import os, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "setup", "--circuit", "winning-2k", "--params", sys.argv[2]], stderr=subprocess.DEVNULL)
for _ in range(12000):
    if os.path.isdir(sys.argv[2]) and os.listdir(sys.argv[2]):
        break
    time.sleep(0.01)
p.send_signal(signal.SIGINT)
sys.exit(p.wait())
PY
check "no file" test -z "$(ls -A "$work/random")"
