# e2e/serve_io.sh - writes and syncs of the store fail with EIO for a while: new work is refused, proofs are told and stored later
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP serve_io: this build has no service"
    exit 0
    ;;
esac
m=$(fixture circom/bn128/mult3)
peer="python3 $CUZK_TEST_DIR/e2e/serve_peer.py"
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$work"' EXIT

if ! ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o "$work/shim.so" "$CUZK_TEST_DIR/e2e/io_shim.c" -ldl 2>"$work/out"; then
    fail "the shim compiles" "$(tail -n 1 "$work/out")"
    exit 1
fi
# disk 0|1: in place, the program has it mapped
disk() { printf %s "$1" | dd of="$work/switch" conv=notrunc 2>/dev/null; }
printf 0 >"$work/switch"
cat >"$work/c.toml" <<END
[daemon]
listen = "unix://$work/rpc.sock"
status_listen = "127.0.0.1:0"
[store]
url = "sqlite://$work/jobs.db"
[circuits.mult3]
zkey = "$m/circuit.zkey"
[circuits.slow]
zkey = "$m/circuit.zkey"
witness_command = ["/bin/sh", "-c", "cat >/dev/null; sleep 2; cat $m/witness.wtns"]
END
start() { launch "$1" LD_PRELOAD="$work/shim.so" CUZK_IO_FILE="$work/switch"; }

start "starts"
check "a proof" sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns before | grep ^200 >/dev/null"
python3 - "$url" <<'END'
import sys, urllib.request
r = urllib.request.Request(sys.argv[1] + "v1/circuits/slow/prove?async=1", b"{}", {"Content-Type": "application/json", "Idempotency-Key": "held"})
print("ok a job that will end meanwhile" if urllib.request.urlopen(r, timeout=600).status == 202 else "FAIL a job that will end meanwhile: not taken")
END
disk 1
check "new work is refused, as a failure of the store" sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns refused | grep ^503 >/dev/null"
check "what is known is still answered" sh -c "$peer get ${url}v1/jobs/before | grep completed >/dev/null"
sleep 4
check "a proof that cannot be stored is told all the same" $peer done "${url}v1/jobs/held" completed 120
check "it lives" sh -c "$peer get ${url}healthz | grep ^200 >/dev/null"
check "the log says so" grep -q " error store_failed " "$work/log"
check "so does the metric" sh -c "$peer get ${url}metrics | grep '^cuzk_store_failures_total [1-9]' >/dev/null"
disk 0
check "when writes succeed again, new work is taken" \
    sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns refused | grep ^200 >/dev/null"
proof() { $peer get "${url}v1/jobs/held" | tr -d ' \n' | sed 's/.*"pi_a":\[\([^]]*\).*/\1/'; }
told=$(proof)
kill -9 $pid
wait $pid 2>/dev/null
start "starts after kill -9"
for job in before held refused; do
    check "$job is there" sh -c "$peer get ${url}v1/jobs/$job | grep completed >/dev/null"
done
check "the proof that was told is the one that was stored" test -n "$told" -a "$(proof)" = "$told"
disk 1
kill -TERM $pid
wait $pid
got=$?
pid=
if [ $got -eq 0 ]; then ok "SIGTERM ends with 0 while writes fail"; else fail "SIGTERM ends with 0 while writes fail" "exit $got"; fi
