# e2e/grpc.sh - Curio's part played by @grpc/grpc-js (grpc_curio.js), and our own client commands, against the daemon
# run: check-all
# CUZK_TEST_PARAMS: a folder with the keys of porep-2k, update-2k, window-2k and winning-2k, to spare two minutes of setup.
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP grpc: this build has no service"
    exit 0
    ;;
esac
if [ ! -d "$CUZK_JUDGES/node_modules/@grpc/grpc-js" ]; then
    echo "SKIP grpc: @grpc/grpc-js is not installed (tools/install_deps check-all)"
    exit 0
fi
CUZK_FIXTURES_2KIB=$(fixture filecoin/2kib)
CUZK_MULT3=$(fixture circom/bn128/mult3)
export CUZK_FIXTURES_2KIB CUZK_MULT3 CUZK_JUDGES
params=${CUZK_TEST_PARAMS:-$work/params}
if [ -z "${CUZK_TEST_PARAMS:-}" ]; then
    for c in window-2k winning-2k update-2k porep-2k; do
        "$cuzk" setup --circuit $c --params "$params" --trapdoors "$(fixture filecoin/trapdoors.json)" >/dev/null 2>&1
    done
fi
address=unix://$work/rpc.sock
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$work"' EXIT

# start [LINE]: a daemon, with one more line of its [jobs]
start() {
    cat >"$work/c.toml" <<END
[daemon]
listen = ["$address", "127.0.0.1:0"]
drain_timeout = "60s"
[store]
url = "sqlite://$work/jobs.db"
[jobs]
${1:-}
[srs]
param_cache = "$params"
[circuits.mult3]
zkey = "$CUZK_MULT3/circuit.zkey"
r1cs = "$CUZK_MULT3/circuit.r1cs"
END
    "$cuzk" serve --config "$work/c.toml" >"$work/addresses" 2>"$work/log" &
    pid=$!
    for _ in $(seq 200); do
        grep -q 127.0.0.1 "$work/addresses" && break
        sleep 0.05
    done
    tcp=$(sed -n 's/^gRPC: *\(127.*\)/\1/p' "$work/addresses")
}
play() { node "$CUZK_TEST_DIR/e2e/grpc_curio.js" "$1" "$CUZK_TEST_DIR/../src/wire/proto" "$work" "$2"; }

start
check "the daemon listens on a unix socket and on TCP" test -n "$tcp" -a -S "$work/rpc.sock"
play "$address" standard,bad,kinds,ids,keys
play "$tcp" load
play "$address" waits,rude

# ---- every proof against another's verifier, or from the command line ----
for kind in porep winning window update; do
    case $kind in
    porep) dir=porep-v1_1 ;;
    window) dir=window-v1_1-short ;;
    *) dir=$kind ;;
    esac
    outcome "$kind: the proof verifies" 0 valid "$cuzk" verify --kind $kind --statement "$CUZK_FIXTURES_2KIB/$dir/statement.json" \
        --params "$params" --proof "$work/$kind.proof"
done
outcome "groth16: snarkjs accepts the proof" 0 "OK!" "$CUZK_JUDGES/node_modules/.bin/snarkjs" groth16 verify \
    "$CUZK_MULT3/verification_key.json" "$work/public.json" "$work/proof.json"

# ---- our own commands ----
CUZK_ADDRESS=$address
export CUZK_ADDRESS
w=$CUZK_FIXTURES_2KIB/window-v1_1-short
outcome "status" 0 "device cpu" "$cuzk" status
outcome "status --json" 0 '{"ok":true,"status":{' "$cuzk" status --json
outcome "submit" 0 "completed" "$cuzk" submit --kind window --input "$w/vanilla-0.bin" --statement "$w/statement.json" --proof "$work/w.proof"
outcome "its proof verifies" 0 valid "$cuzk" verify --kind window --statement "$w/statement.json" --params "$params" --proof "$work/w.proof"
outcome "submit --async" 0 "my job" "$cuzk" submit --circuit mult3 --input "$CUZK_MULT3/witness.wtns" --async --request-id "my job"
outcome "wait" 0 '"status":"completed"' "$cuzk" wait "my job" --json --proof "$work/p.json" --public "$work/q.json"
outcome "snarkjs accepts it" 0 "OK!" "$CUZK_JUDGES/node_modules/.bin/snarkjs" groth16 verify \
    "$CUZK_MULT3/verification_key.json" "$work/q.json" "$work/p.json"
outcome "jobs" 0 "my job" "$cuzk" jobs --state completed --limit 5
outcome "trace" 0 "" "$cuzk" trace "my job" --output "$work/t.json"
check "the trace is JSON with the job's steps" node -e \
    'process.exit(JSON.parse(require("fs").readFileSync(process.argv[1])).traceEvents.some(e => e.name === "pairing") ? 0 : 1)' "$work/t.json"
outcome "top, not on a terminal: once" 0 "my job" "$cuzk" top
outcome "preload" 0 "window-2k" "$cuzk" preload window-2k
outcome "evict" 0 "window-2k evicted" "$cuzk" evict window-2k
outcome "a job that failed: its class" 3 '"class":"malformed"' "$cuzk" submit --circuit mult3 --input "$CUZK_MULT3/circuit.zkey" --json
outcome "an unknown job" 6 "nobody" "$cuzk" wait nobody
outcome "an unknown circuit" 6 "nope" "$cuzk" submit --circuit nope --input "$CUZK_MULT3/witness.wtns"
outcome "no daemon" 6 "no daemon answers" "$cuzk" status --address "unix://$work/none.sock"
outcome "over TCP" 0 "device cpu" "$cuzk" status --address "$tcp"

# ---- drain ----
play "$address" drain >"$work/drain.out" &
player=$!
for _ in $(seq 600); do
    [ -e "$work/drain-now" ] && break
    sleep 0.05
done
kill -TERM $pid
wait $pid
got=$?
pid=
wait $player
cat "$work/drain.out"
if [ $got -eq 0 ]; then ok "SIGTERM: drained, exit 0"; else fail "SIGTERM: drained, exit 0" "exit $got: $(tail -n 2 "$work/log")"; fi
check "its socket is gone" test ! -e "$work/rpc.sock"

# ---- cancel_orphans ----
start "cancel_orphans = true"
play "$address" orphans
outcome "the job that was drained is finished after the restart" 0 "completed" "$cuzk" wait drained --timeout 120000
