# e2e/cli.sh - usage, help, limits, interruption, output files
# run: check
. "$CUZK_TEST_DIR/e2e/lib.inc"

m=$(fixture circom/bn128/mult3)
w=$(fixture filecoin/2kib/window-v1_1)

outcome "no command" 2 "Usage" "$cuzk"
outcome "help" 0 "Commands" "$cuzk" help
outcome "help of a command" 0 "--r1cs" "$cuzk" prove --help
check "test options stay out of help" sh -c '! "$1" prove --help | grep -q trapdoors' - "$cuzk"
outcome "-h anywhere" 0 "--r1cs" "$cuzk" prove a b -h
outcome "an option with one dash" 2 "unknown option -x" "$cuzk" prove -x
outcome "help-all has them" 0 "trapdoors" "$cuzk" prove --help-all
outcome "version" 0 "generic" "$cuzk" version
outcome "completion is a script" 0 "complete" sh -c '"$1" completion | bash -n && echo complete' - "$cuzk"
outcome "unknown command" 2 "frobnicate" "$cuzk" frobnicate
outcome "unknown option" 2 "--frob" "$cuzk" prove --frob
outcome "option of another command" 2 "--r1cs" "$cuzk" verify --r1cs x
outcome "value missing" 2 "--threads" "$cuzk" prove --threads
outcome "not a number" 2 "4x" "$cuzk" prove --threads 4x
outcome "too few arguments" 2 "expected" "$cuzk" prove "$m/circuit.zkey"
outcome "unknown kind" 2 "frob" "$cuzk" prove --kind frob --input x --statement y --params z --proof o
outcome "statement that is not there" 4 "nothere.json" "$cuzk" prove --kind porep --input x --statement nothere.json --params z --proof o
outcome "unknown circuit" 2 "window-9k" "$cuzk" setup --circuit window-9k --params "$work"
outcome "unknown table lists those there are" 2 "generic" "$cuzk" prove --cpu-table vax "$m/circuit.zkey" "$m/witness.wtns" "$work/p" "$work/q"
outcome "unknown device" 2 "abacus" "$cuzk" prove --device abacus "$m/circuit.zkey" "$m/witness.wtns" "$work/p" "$work/q"
[ -e /proc/driver/nvidia/version ] || outcome "no CUDA in this build, or no driver" 5 "device cuda: " "$cuzk" prove --device cuda "$m/circuit.zkey" "$m/witness.wtns" "$work/p" "$work/q"
outcome "file that is not there" 4 "nothere.zkey" "$cuzk" prove nothere.zkey "$m/witness.wtns" "$work/p" "$work/q"
outcome "output folder that is not there" 4 "nofolder" "$cuzk" prove "$m/circuit.zkey" "$m/witness.wtns" "$work/nofolder/p" "$work/q"
check "then nothing is written" test ! -e "$work/q"
outcome "memory limit" 4 "resource" "$cuzk" prove --memory 64K "$m/circuit.zkey" "$m/witness.wtns" "$work/p" "$work/q" --json
outcome "one thread, every table" 0 "proved" "$cuzk" prove --threads 1 --cpu-table generic "$m/circuit.zkey" "$m/witness.wtns" "$work/p" "$work/q"

outcome "json of a proof" 0 '"ok":true' "$cuzk" prove "$m/circuit.zkey" "$m/witness.wtns" "$work/p" "$work/q" --json --trace "$work/t.json"
check "is JSON" python3 -m json.tool "$work/out" /dev/null
check "trace is JSON" python3 -m json.tool "$work/t.json" /dev/null
# A gap may be the machine's own: one run of five without it is enough.
check "attribution covers 99%" python3 -c '
import json, subprocess, sys
for _ in range(5):
    a = json.loads(subprocess.run(sys.argv[1:], capture_output=True, check=True).stdout)
    if a["coverage"] >= 0.99 and (a["wall_ns"] >= 100e6 or a["worst_gap_ns"] < 1e6):
        sys.exit(0)
sys.exit(f"coverage {a}")' "$cuzk" prove "$m/circuit.zkey" "$m/witness.wtns" "$work/p" "$work/q" --json
outcome "json of an unknown command" 2 '"class":"usage"' "$cuzk" frobnicate --json
check "is JSON as well" python3 -m json.tool "$work/out" /dev/null
outcome "json of arguments that are missing" 2 '"ok":false' "$cuzk" verify --json
outcome "json of a kind that is not known" 2 '"class":"usage"' "$cuzk" verify --json --kind foo --statement x --params y --proof z
printf '{"pi_a":["1","2","%s"]}' "$(printf '\303\251%.0s' $(seq 50))" >"$work/cut.json"
outcome "json of half a character" 3 '"ok":false' "$cuzk" verify "$m/verification_key.json" "$m/public.json" "$work/cut.json" --json
check "is JSON all the same" python3 -m json.tool "$work/out" /dev/null
outcome "json of a failure" 3 '"ok":false' "$cuzk" prove "$m/witness.wtns" "$m/witness.wtns" "$work/p" "$work/q" --json
check "is JSON too" python3 -m json.tool "$work/out" /dev/null

for f in circom/bn128/mult3/circuit.zkey circom/bls12381/mult3/circuit.r1cs circom/bls12381/mult3/witness.wtns \
    circom/bn128/mult3/proof.json circom/bn128/mult3/verification_key.json circom/bn128/mult3/public.json \
    filecoin/2kib/window-v1_1/statement.json filecoin/2kib/window-v1_1/proof.bin filecoin/keys/window-2kib.vk; do
    outcome "inspect $f" 0 '"ok":true' "$cuzk" inspect --json "$(fixture $f)"
    check "inspect $f is JSON" python3 -m json.tool "$work/out" /dev/null
done
outcome "inspect a damaged key" 3 "subgroup" "$cuzk" inspect "$(fixture circom/bad)/bls12381-zkey-A-subgroup.zkey"
outcome "inspect rubbish" 3 "no format" "$cuzk" inspect "$cuzk"
: >"$work/empty"
outcome "inspect a PoSt vanilla proof" 0 '"kind":"window"' "$cuzk" inspect --json "$(fixture filecoin/2kib/window-v1_1/vanilla-0.bin)"
outcome "inspect a winning one" 0 '"kind":"winning"' "$cuzk" inspect --json "$(fixture filecoin/2kib/winning/vanilla-0.bin)"
outcome "inspect an update's" 0 '"challenges":10' "$cuzk" inspect --json "$(fixture filecoin/2kib/update/partition-0.bin)"
outcome "inspect a damaged one" 3 "challenge 0" "$cuzk" inspect "$(fixture filecoin/bad/window-path-index-huge.bin)"
outcome "inspect an empty file" 3 "empty" "$cuzk" inspect "$work/empty"

# bench synth: its rows, every value in one class, and no circuit for others.
outcome "bench synth" 0 "synth porep-2k" "$cuzk" bench synth --circuit porep-2k --reps 1 --json
check "bench synth tells what it should" python3 -c '
import json, sys
rows = {r["case"]: r for r in json.load(open(sys.argv[1]))["results"]}
shape, synth = rows["shape porep-2k"], rows["synth porep-2k"]
assert set(rows) == {w + " porep-2k" for w in ("shape", "read", "synth", "check")}, rows
assert shape["rows"] == 2687961 and shape["inputs"] == 40 and shape["aux"] == 2685673, shape
classes = [synth[k] for k in ("zero", "one", "below_2_8", "below_2_64", "full")]
assert sum(classes) == synth["n"] == 40 + 2685673, synth
assert min(classes[:2]) > 1000000 and synth["witness_bytes"] <= synth["peak_bytes"], synth' "$work/out"
outcome "bench synth of a PoSt" 0 "synth wpost-2k" "$cuzk" bench synth --circuit wpost-2k --reps 1
outcome "bench synth without a circuit" 2 "--circuit" "$cuzk" bench synth
outcome "bench synth of no circuit" 2 "porep-9k" "$cuzk" bench synth --circuit porep-9k
outcome "bench verify" 0 "verify 100 porep-32g" "$cuzk" bench verify --reps 1 --json
check "bench verify tells what it should" python3 -c '
import json, sys
rows = {r["case"]: (r["proofs"], r["inputs"]) for r in json.load(open(sys.argv[1]))["results"]}
assert rows == {"verify porep-32g": (10, 327), "verify 100 porep-32g": (100, 327), "verify window-32g": (1, 25839)}, rows' "$work/out"
outcome "bench verify of a circuit" 2 "bench verify" "$cuzk" bench verify --circuit porep-2k

# bench prove: a key and inputs made for the run, all partitions proved and verified.
outcome "bench prove" 0 "prove window-2k" "$cuzk" bench prove --circuit window-2k --json
check "bench prove tells its steps" python3 -c '
import json, sys
rows = {r["case"].split()[0]: r for r in json.load(open(sys.argv[1]))["results"]}
assert list(rows) == ["setup", "inputs", "synthesis", "device", "finish", "verify", "prove"], rows
whole = rows["prove"]
assert whole["n"] == whole["partitions"] == rows["device"]["reps"] >= 1, whole
assert whole["median_ns"] >= rows["device"]["median_ns"] > 0 and whole["points"] == rows["setup"]["points"] > 0
' "$work/out"
for curve in bn254 bls12-381; do
    outcome "bench prove of a circuit of products over $curve" 0 "prove synthetic-8,256,2," \
        "$cuzk" bench prove --circuit synthetic-8 --curve $curve --reps 2
done
outcome "bench prove of the smallest circuit of products" 0 "# prove synthetic-3: aux 7," \
    "$cuzk" bench prove --circuit synthetic-3 --reps 1
outcome "bench prove of a circuit of products that is too small" 2 "synthetic-3 to" "$cuzk" bench prove --circuit synthetic-2
outcome "bench prove of a circuit of products with a key" 2 "made for the run" "$cuzk" bench prove --circuit synthetic-9 --params "$work/none"
outcome "bench prove of a Filecoin circuit over a curve" 2 "bls12-381" "$cuzk" bench prove --circuit window-2k --curve bn254
# beside: work that never ends, and jobs that come meanwhile.
outcome "bench prove beside" 0 "slowest" "$cuzk" bench prove --circuit window-2k --beside window-2k --reps 2 --json
check "bench prove beside tells what both take" python3 -c '
import json, sys
rows = {r["case"]: r for r in json.load(open(sys.argv[1]))["results"]}
assert list(rows) == ["inputs window-2k", "setup window-2k", "window-2k alone", "window-2k partition alone",
                      "window-2k beside window-2k", "window-2k partition beside window-2k"], list(rows)
beside = rows["window-2k beside window-2k"]
assert beside["reps"] == 2 and beside["max_ns"] >= beside["p99_ns"] >= beside["min_ns"] > 1e6, beside
slowest = beside["slowest"]
assert slowest["job_id"].startswith("beside-") and slowest["state"] == "completed", slowest
assert slowest["times"]["gpu_ms"] == beside["slowest_device_ms"] <= slowest["total_ms"] + 1, beside
assert rows["window-2k partition beside window-2k"]["partitions"] >= 2, rows
' "$work/out"
outcome "bench prove beside, no circuit" 2 "window-9k" "$cuzk" bench prove --circuit window-2k --beside window-9k
outcome "bench prove beside, with no key there" 4 "params" "$cuzk" bench prove --circuit window-2k --beside window-2k --params "$work/none"
outcome "bench prove beside, several devices" 2 "of one device" "$cuzk" bench prove --circuit window-2k --beside window-2k --device cpu,cpu
outcome "--beside of another benchmark" 2 "--beside" "$cuzk" bench synth --circuit window-2k --beside window-2k
outcome "bench prove with no key there" 4 "params" "$cuzk" bench prove --circuit window-2k --params "$work/none"
outcome "bench prove of two kinds" 2 "circuit" "$cuzk" bench prove --circuit window-2k --kind window
outcome "circuit of another benchmark" 2 "bench msm does not take --circuit" "$cuzk" bench msm --circuit porep-2k
outcome "input of another benchmark" 2 "--input" "$cuzk" bench msm --input x
outcome "statement of another benchmark" 2 "--statement" "$cuzk" bench verify --statement x
outcome "field of a statement of another benchmark" 2 "--miner-id" "$cuzk" bench ntt --miner-id 1
outcome "bench prove --circuit of a partition" 2 "--partition" "$cuzk" bench prove --circuit window-2k --partition 1
outcome "bench prove --kind of a curve" 2 "--curve" "$cuzk" bench prove --kind window --input x --statement y --params z --curve bn254
outcome "bench prove, the arguments of prove" 0 "prove circom,1,1," "$cuzk" bench prove "$m/circuit.zkey" "$m/witness.wtns" "$work/bp" "$work/bq" --reps 1
outcome "its proof is written" 0 "valid" "$cuzk" verify "$m/verification_key.json" "$work/bq" "$work/bp"
outcome "bench prove takes the powers of prove, and refuses them as it does" 2 "--srs" "$cuzk" bench prove --kind window --reps 1 --check-only \
    --input "$w"/vanilla-*.bin --statement "$w/statement.json" --srs x --strict
outcome "bench prove of trapdoors that are not there" 4 "nothere" "$cuzk" bench prove "$m/circuit.zkey" "$m/witness.wtns" --trapdoors "$work/nothere"
outcome "bench prove of the native check" 0 "window,1,1," "$cuzk" bench prove --kind window --reps 1 --check-only \
    --input "$w"/vanilla-*.bin --statement "$w/statement.json"
outcome "bench --daemon of a device" 2 "--device" "$cuzk" bench --daemon --circuit x --input y --device cpu
outcome "status of something" 2 "no arguments" "$cuzk" status x
outcome "jobs of something" 2 "no arguments" "$cuzk" jobs x
outcome "top of something" 2 "no arguments" "$cuzk" top x
outcome "a state that is none" 2 "--state" "$cuzk" jobs --state "$(printf '%0300d' 0)"
outcome "version has no JSON" 2 '"class":"usage"' "$cuzk" version --json
outcome "completion takes nothing" 2 "zsh" "$cuzk" completion zsh
outcome "top has no JSON" 2 "--json" "$cuzk" top --json
outcome "trace has no JSON of its own" 2 "--json" "$cuzk" trace x --json
outcome "submit of two kinds" 2 "--kind" "$cuzk" submit --kind window --circuit x --input y
outcome "submit of a circom job with a statement" 2 "--statement" "$cuzk" submit --circuit x --input y --statement z
outcome "submit of a Filecoin job with public signals" 2 "--public" "$cuzk" submit --kind window --input y --statement z --public q
outcome "submit that does not wait, with a proof" 2 "--async" "$cuzk" submit --circuit x --input y --async --proof p
printf '[daemon]\nlisten = "[::]:1"\n' >"$work/any.toml"
outcome "a daemon that listens everywhere is asked by loopback" 6 '"where":"[::1]:1"' "$cuzk" status --config "$work/any.toml" --json
outcome "inspect with its times" 0 "attributed" "$cuzk" inspect --time "$m/circuit.zkey"

# Interrupted in the middle of a long setup: 130 and 143, nothing left.
for sig in INT TERM; do
    # A shell that is not interactive ignores INT in background jobs; python starts the program with it at default.
    python3 - "$cuzk" "$work/k" "$sig" <<'PY'
import signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "setup", "--circuit", "winning-8m", "--params", sys.argv[2]],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
sig = getattr(signal, "SIG" + sys.argv[3])
def caught():
    with open(f"/proc/{p.pid}/status") as f:
        return int(next(l for l in f if l.startswith("SigCgt")).split()[1], 16) >> sig - 1 & 1
for _ in range(12000):
    if caught():
        break
    time.sleep(0.01)
time.sleep(0.3)
p.send_signal(sig)
sys.exit(p.wait(timeout=600))
PY
    code=$?
    [ $sig = INT ] && want=130 || want=143
    check "SIG$sig gives $want" test $code -eq $want
    check "SIG$sig leaves no file" sh -c 'test -z "$(ls -A "$1" 2>/dev/null)"' - "$work/k"
done

# A full disk: a small tmpfs, where this is allowed.
mkdir "$work/small"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k tmpfs "$work/small" 2>/dev/null; then
    outcome "full disk" 4 "resource" "$cuzk" setup --circuit window-2k --params "$work/small" --json
    check "full disk leaves no key" sh -c '! ls -A "$1" | grep -q .' - "$work/small"
    umount "$work/small"
else
    ok "full disk (no tmpfs may be mounted here; base's tests cover it with a limit on file size)"
fi
