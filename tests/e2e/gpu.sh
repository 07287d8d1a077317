# e2e/gpu.sh - whole proofs on a GPU: the CPU's bytes and the reference's, from the command line and through the daemon
# run: check-gpu
# CUZK_GPU_DEVICE: what to prove on, by default cuda; cpu plays the script through without a GPU.
. "$CUZK_TEST_DIR/e2e/lib.inc"

device=${CUZK_GPU_DEVICE:-cuda}
t=$(fixture filecoin/trapdoors.json)
params=$work/params
started=$(date +%s)
lap() { echo "# $1: $(($(date +%s) - started)) s after the start"; }

# ---- circom: the same r and s give the CPU's bytes ----
for curve in bn128 bls12381; do
    for name in mult3 hints merkle5 eddsa nopub allpub linear; do
        dir=$(fixture circom/$curve/$name)
        [ -n "$dir" ] || continue
        "$cuzk" prove --device cpu "$dir/circuit.zkey" "$dir/witness.wtns" "$work/c.json" "$work/q.json" --trapdoors "$t" >"$work/out" 2>&1
        outcome "$curve/$name" 0 "proved and verified" "$cuzk" prove --device "$device" "$dir/circuit.zkey" "$dir/witness.wtns" \
            "$work/g.json" "$work/q.json" --trapdoors "$t"
        check "$curve/$name: the CPU's bytes" cmp "$work/c.json" "$work/g.json"
        rm -f "$work"/?.json
    done
done
lap circom

# ---- Filecoin: the bytes of the reference ----
# golden CIRCUIT KIND FIXTURE
golden() {
    dir=$(fixture "filecoin/$3")
    if [ -z "$dir" ]; then
        echo "SKIP $1: fixture filecoin/$3 is not here"
        return
    fi
    [ -e "$work/$1" ] || outcome "$1 setup" 0 "key written" "$cuzk" setup --device "${CUZK_GPU_SETUP:-cpu}" --circuit "$1" --params "$params" --trapdoors "$t"
    : >"$work/$1"
    outcome "$3" 0 "proved and verified" "$cuzk" prove --device "$device" --kind "$2" --input "$dir"/vanilla-*.bin \
        --statement "$dir/statement.json" --params "$params" --proof "$work/p.bin" --trapdoors "$t" --time
    sed -n '/wall/p;/device busy/p;/prove_start/p' "$work/out" | sed 's/^/# /'
    case $device in cuda*) check "$3: the GPU's own time is told" grep -q "device busy while work is queued" "$work/out" ;; esac
    check "$3: the reference's bytes" cmp "$work/p.bin" "$dir/proof-fixed-rs.bin"
    lap "$3"
}
golden winning-2k winning 2kib/winning
golden window-2k window 2kib/window-v1
golden window-2k window 2kib/window-v1_1
golden winning-32g winning 32gib/winning
if [ "$device" != cpu ]; then
    dir=$(fixture filecoin/2kib/window-v1)
    outcome "16 MiB of the GPU's memory: refused with the numbers" 4 "MiB" "$cuzk" prove --device "$device" --device-memory 16M --kind window \
        --input "$dir"/vanilla-*.bin --statement "$dir/statement.json" --params "$params" --proof "$work/x.bin"
    outcome "a GPU that is not there" 5 "GPUs" "$cuzk" prove --device cuda:99 --kind window --input "$dir"/vanilla-*.bin \
        --statement "$dir/statement.json" --params "$params" --proof "$work/x.bin"
    outcome "more memory than it has" 4 "are free" "$cuzk" prove --device "$device" --device-memory 9T --kind window \
        --input "$dir"/vanilla-*.bin --statement "$dir/statement.json" --params "$params" --proof "$work/x.bin"
fi

# ---- the daemon ----
case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP the daemon: this build has no service"
    exit 0
    ;;
esac
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$work"' EXIT
mult3=$(fixture circom/bn128/mult3)
gpus='devices = []'
[ "$device" != cpu ] || gpus='devices = "none"'
cat >"$work/c.toml" <<END
[daemon]
listen = "unix://$work/rpc.sock"
[store]
url = "sqlite://$work/jobs.db"
[gpus]
$gpus
[srs]
param_cache = "$params"
[circuits.mult3]
zkey = "$mult3/circuit.zkey"
END
"$cuzk" serve --config "$work/c.toml" >"$work/addresses" 2>"$work/log" &
pid=$!
for _ in $(seq 400); do
    grep -q gRPC "$work/addresses" && break
    sleep 0.05
done
CUZK_ADDRESS=unix://$work/rpc.sock
export CUZK_ADDRESS
lap "the daemon listens"
if [ "$device" != cpu ] && [ -e "$work/winning-2k" ]; then
    outcome "daemon: a preload" 0 loaded "$cuzk" preload winning-2k
    for _ in $(seq 400); do # in the background
        "$cuzk" status --json >"$work/status" 2>&1
        grep -q '"tier":"hot"' "$work/status" && break
        sleep 0.05
    done
    check "daemon: it goes to the GPU before a job wants it" grep -q '"tier":"hot"' "$work/status"
fi
# submitted KIND FIXTURE
submitted() {
    dir=$(fixture "filecoin/$2")
    [ -n "$dir" ] || return
    for n in 1 2; do
        outcome "daemon: $2, job $n" 0 completed "$cuzk" submit --kind "$1" --input "$dir"/vanilla-*.bin \
            --statement "$dir/statement.json" --proof "$work/p.bin" --request-id "$2-$n" --time
        grep -E 'gpu_compute_ms|srs_load_ms|total_ms' "$work/out" | sed 's/^/# /'
    done
    outcome "daemon: $2 verifies" 0 valid "$cuzk" verify --kind "$1" --statement "$dir/statement.json" --params "$params" \
        --proof "$work/p.bin"
}
submitted winning 2kib/winning
submitted window 2kib/window-v1_1
submitted winning 32gib/winning
outcome "daemon: mult3" 0 completed "$cuzk" submit --circuit mult3 --input "$mult3/witness.wtns"
outcome "daemon: its devices" 0 '"retired":false' "$cuzk" status --json
cp "$work/out" "$work/status"
[ -z "${OUT:-}" ] || cp "$work/status" "$OUT/status.json"
if [ "$device" != cpu ]; then
    check "daemon: it proves on the GPU" grep -q '"name":"cuda:0","model":"[^"]' "$work/status"
    check "daemon: keys stay there" grep -q '"tier":"hot"' "$work/status"
    check "daemon: the CPU stood in for nothing" sh -c '! grep -E "partition_retried|device_retired|device_refused" "$1"' - "$work/log"
    grep -E 'GPU_TIMING' "$work/log" | sed 's/^/# /' | tail -n 8
fi
lap "jobs"
kill -TERM $pid
wait $pid
got=$?
pid=
check "daemon: drained, exit 0" test $got -eq 0
[ -z "${OUT:-}" ] || cp "$work/log" "$OUT/serve.log"

# Inputs and keys made for the run: a circuit of full-width values, then urgent jobs beside work that never ends.
always=porep-2k urgent=winning-2k reps=20 log=18
[ "$device" != cpu ] || always=window-2k urgent=window-2k reps=2 log=10
outcome "bench prove of products" 0 "prove synthetic-$log" "$cuzk" bench prove --circuit "synthetic-$log" --device "$device" --reps 5
grep -E '^(device|prove) ' "$work/out" | sed 's/^/# /'
outcome "bench prove beside" 0 slowest "$cuzk" bench prove --circuit $always --beside $urgent --device "$device" --reps $reps
grep -E '2k (alone|beside|partition)' "$work/out" | sed 's/^/# /' | cut -c1-240
lap "benchmarks"
