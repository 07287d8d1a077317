# e2e/serve_clock.sh - the wall clock is set by years while the daemon runs: nothing expires for it, proofs and waits go on
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP serve_clock: this build has no service"
    exit 0
    ;;
esac
m=$(fixture circom/bn128/mult3)
peer="python3 $CUZK_TEST_DIR/e2e/serve_peer.py"
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$work"' EXIT

if ! ${CC:-cc} -shared -fPIC -o "$work/shim.so" "$CUZK_TEST_DIR/e2e/clock_shim.c" 2>"$work/out"; then
    fail "the shim compiles" "$(tail -n 1 "$work/out")"
    exit 1
fi
# clock SECONDS: the daemon's wall clock is so much ahead
clock() { python3 -c 'import struct, sys; open(sys.argv[1], "r+b").write(struct.pack("<q", int(sys.argv[2])))' "$work/offset" "$1"; }
head -c 8 /dev/zero >"$work/offset"
cat >"$work/c.toml" <<END
[daemon]
listen = "unix://$work/rpc.sock"
status_listen = "127.0.0.1:0"
[store]
url = "sqlite://$work/jobs.db"
results_keep = "20s"
[circuits.mult3]
zkey = "$m/circuit.zkey"
[circuits.slow]
zkey = "$m/circuit.zkey"
witness_command = ["/bin/sh", "-c", "cat >/dev/null; sleep 3; cat $m/witness.wtns"]
END
start() { launch "$1" LD_PRELOAD="$work/shim.so" CUZK_CLOCK_FILE="$work/offset"; }

# Old results are looked for every 20 s: at 20 s from the start this one is 10 s old, at 40 s it may go.
start "starts"
sleep 10
check "a proof" sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns before | grep ^200 >/dev/null"
clock 31536000
logged "a year forward: it says so" "clock_jumped by_ms=3153[0-9]{7}"
sleep 12
check "no result expires for it" sh -c "$peer get ${url}v1/jobs/before | grep completed >/dev/null"
check "proofs go on" sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns forward | grep ^200 >/dev/null"
total=$($peer get "${url}v1/jobs/forward" | sed -n 's/.*"total_ms":\([0-9]*\).*/\1/p')
check "its time is what it took (${total:-none} ms)" test "${total:-999999}" -lt 60000

# Back by three years, in the middle of a wait.
python3 - "$url" "$work" <<'END' &
import json, sys, urllib.request
url, work = sys.argv[1:]
r = urllib.request.Request(url + "v1/circuits/slow/prove", b"{}", {"Content-Type": "application/json", "Idempotency-Key": "slow"})
with urllib.request.urlopen(r, timeout=600) as a:
    print("ok who waited meanwhile gets the proof" if a.status == 200 and b"pi_a" in a.read() else "FAIL who waited meanwhile: " + str(a.status), flush=True)
END
waiter=$!
sleep 1
clock -63072000
logged "three years back: it says so" "clock_jumped by_ms=-946[0-9]{8}"
wait $waiter
check "proofs go on then too" sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns back | grep ^200 >/dev/null"
python3 - "$url" <<'END'
import sys, time, urllib.request
url = sys.argv[1]
for i in range(5):  # a machine that stalls may be late
    r = urllib.request.Request(f"{url}v1/circuits/slow/prove?async=1", b"{}", {"Content-Type": "application/json", "Idempotency-Key": f"waits-{i}"})
    urllib.request.urlopen(r, timeout=600).read()
    begin = time.monotonic()
    body = urllib.request.urlopen(f"{url}v1/jobs/waits-{i}?wait=1", timeout=600).read()
    took = time.monotonic() - begin
    if 0.9 < took < 2.9 and b"completed" not in body:
        break
print("ok a wait of a second is one" if 0.9 < took < 2.9 and b"completed" not in body else f"FAIL a wait of a second is one: {took} s, {body[:100]}")
END
kill -9 $pid
wait $pid 2>/dev/null
start "starts after kill -9, two years ago"
check "what it proved it still answers" sh -c "$peer get ${url}v1/jobs/back | grep completed >/dev/null"
check "and that of the future" sh -c "$peer get ${url}v1/jobs/forward | grep completed >/dev/null"
kill -TERM $pid
wait $pid
got=$?
pid=
if [ $got -eq 0 ]; then ok "SIGTERM ends with 0"; else fail "SIGTERM ends with 0" "exit $got"; fi
