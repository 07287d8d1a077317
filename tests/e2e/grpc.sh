# e2e/grpc.sh - the contract from the client's side: @grpc/grpc-js plays Curio (grpc_curio.js) and the rows beside its daily walk
# (grpc_contract.js; which check is for which row: tests/contract.md), then our own client commands, all against the daemon
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

# A key with two of its A points swapped: each is valid, no proof made with it is.
node -e '
const fs = require("fs"), k = fs.readFileSync(process.argv[1] + "/circuit.zkey");
for (let at = 12; at < k.length; at += 12 + Number(k.readBigUInt64LE(at + 4))) {
    if (k.readUInt32LE(at) !== 5) continue;
    const point = i => k.subarray(at + 12 + 64 * i, at + 76 + 64 * i), n = Number(k.readBigUInt64LE(at + 4)) / 64;
    const real = [...Array(n).keys()].filter(i => point(i).some(b => b)), i = real[0];
    const j = real.find(x => !point(x).equals(point(i))), kept = Buffer.from(point(i));
    point(j).copy(point(i));
    kept.copy(point(j));
}
fs.writeFileSync(process.argv[2], k);' "$CUZK_MULT3" "$work/swapped.zkey"

# start [LINE]: a daemon, with one more line of its [jobs]
start() {
    cat >"$work/c.toml" <<END
[daemon]
listen = ["$address", "127.0.0.1:0"]
drain_timeout = "300s"
[store]
url = "sqlite://$work/jobs.db"
[jobs]
${1:-}
[srs]
param_cache = "$params"
[circuits.mult3]
zkey = "$CUZK_MULT3/circuit.zkey"
r1cs = "$CUZK_MULT3/circuit.r1cs"
[circuits.late]
zkey = "$work/late.zkey"
[circuits.swapped]
zkey = "$work/swapped.zkey"
END
    "$cuzk" serve --config "$work/c.toml" >"$work/addresses" 2>"$work/log" &
    pid=$!
    soon grep -q 127.0.0.1 "$work/addresses"
    tcp=$(sed -n 's/^gRPC: *\(127.*\)/\1/p' "$work/addresses")
}
play() { node "$CUZK_TEST_DIR/e2e/grpc_curio.js" "$1" "$CUZK_TEST_DIR/../src/wire/proto" "$work" "$2"; }
judge() { node "$CUZK_TEST_DIR/e2e/grpc_contract.js" "$1" "$CUZK_TEST_DIR/../src/wire/proto" "$work" "$2"; }

# ---- the list of rows is true ----
sed -n 's/^|.*| *\([a-z_0-9]*\.[a-z]*\): *\(.*\) |$/\1|\2/p' "$CUZK_TEST_DIR/contract.md" | while IFS='|' read -r file names; do
    echo "$names" | tr ';' '\n' | while read -r name; do
        grep -rqF --include="$file" -- "$name" "$CUZK_TEST_DIR" || echo "FAIL tests/contract.md: no \`$name\` in $file"
    done
done
check "every row of the contract names its test" test "$(grep -c '^| .*: ' "$CUZK_TEST_DIR/contract.md")" -gt 40

start
check "the daemon listens on a unix socket and on TCP" test -n "$tcp" -a -S "$work/rpc.sock"
play "$address" standard,bad,kinds,ids,keys
play "$tcp" load
play "$address" waits,rude
judge "$address" schema,names,refused,ids,order,metrics,selfcheck

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
bench="$cuzk bench --daemon --circuit mult3 --input $CUZK_MULT3/witness.wtns --reps 24 --clients 4"
outcome "bench --daemon" 0 "throughput:" $bench
check "each of its jobs was proved" test "$(sed -n 's/^throughput: .*(\([0-9]*\) in .* 4 at a time), \([0-9]*\) failed/\1 \2/p' "$work/out")" = "24 0"
outcome "bench --daemon --json" 0 '"failed":0' $bench --json
check "its parts are what its jobs took" node -e '
const d = JSON.parse(require("fs").readFileSync(process.argv[1])), r = d.results[0], {total, ...parts} = d.attribution;
const sum = Object.values(parts).reduce((a, b) => a + b), ok = [r.min_ns, r.median_ns, r.p95_ns, r.p99_ns];
process.exit(r.reps === 24 && r.n === 4 && ok.every((x, i) => x > 0 && (i === 0 || x >= ok[i - 1])) && r.peak_bytes > 0 &&
             Math.abs(sum - total) < 2 && d.proofs_per_hour > 0 ? 0 : 1);' "$work/out"
outcome "bench --daemon of jobs that fail" 6 "wtns" "$cuzk" bench --daemon --circuit mult3 --input "$CUZK_MULT3/circuit.zkey" --reps 2
outcome "bench --daemon without a daemon" 6 "no daemon answers" "$cuzk" bench --daemon --circuit mult3 --input "$CUZK_MULT3/witness.wtns" --reps 2 --address "unix://$work/none.sock"
outcome "--clients is for --daemon" 2 "--clients" "$cuzk" bench field --clients 2
outcome "over TCP" 0 "device cpu" "$cuzk" status --address "$tcp"

check "the log says who calls: over TCP, over the unix socket" sh -c \
    'grep -q " grpc method=Prove .*peer=127.0.0.1:[0-9]" "$1" && grep -q " grpc method=Prove .*peer=unix" "$1"' - "$work/log"

# ---- drain ----
play "$address" drain >"$work/drain.out" &
player=$!
soon test -e "$work/drain-now"
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
judge "$address" gone
outcome "the job that was drained is finished after the restart" 0 "completed" "$cuzk" wait drained --timeout 600000

play "$address" stops >"$work/stops.out" &
player=$!
soon test -e "$work/stop-now"
kill -TERM $pid
wait $pid
pid=
wait $player
cat "$work/stops.out"
start
check "a Prove that the daemon's end broke off has not been given up" sh -c '"$1" jobs | grep -E "(queued|running) .* kept"' - "$cuzk"
outcome "it can be cancelled" 0 "" "$cuzk" cancel kept

# ---- results_keep, taken over by SIGHUP ----
sed -i 's|^\[jobs\]|results_keep = "5s"\n[jobs]|' "$work/c.toml"
kill -HUP $pid
soon grep -q " reloaded" "$work/log"
judge "$address" expiry

# ---- a second SIGTERM, with a PoRep on the device ----
"$cuzk" submit --async --kind porep --input "$CUZK_FIXTURES_2KIB/porep-v1_1/c1-wrapped.json" \
    --statement "$CUZK_FIXTURES_2KIB/porep-v1_1/statement.json" --request-id stopped >"$work/out" 2>&1
proving() { "$cuzk" status --json | grep -q "\"state\":\"proving\",\"current_job\":\"$1\""; }
soon proving stopped
kill -TERM $pid
sleep 0.7
check "SIGTERM waits for what is on the device" kill -0 $pid
began=$(date +%s)
kill -TERM $pid
wait $pid
got=$?
pid=
check "a second one ends it at once ($(($(date +%s) - began)) s), with 0" test $got -eq 0 -a $(($(date +%s) - began)) -le 60
check "the log says so" grep -q " stopping_at_once" "$work/log"
start
outcome "the job was kept" 0 "stopped" "$cuzk" jobs --limit 3
outcome "and can be cancelled" 0 "" "$cuzk" cancel stopped
