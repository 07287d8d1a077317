# e2e/serve.sh - the daemon: its configuration, one store for one daemon, reload, drain, kill and restart, a full disk
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP serve: this build has no service"
    exit 0
    ;;
esac
m=$(fixture circom/bn128/mult3)
peer="python3 $CUZK_TEST_DIR/e2e/serve_peer.py"
pid=

# conf [STORE]: the configuration of the next daemon
conf() {
    cat >"$work/c.toml" <<END
[daemon]
listen = "unix://$work/sockets/rpc.sock"
status_listen = "127.0.0.1:0"
drain_timeout = "300s"
[store]
url = "sqlite://${1:-$work/store/jobs.db}"
[circuits.mult3]
zkey = "$m/circuit.zkey"
END
}

# start NAME: a daemon with c.toml; its address in $url, its log in $work/log
start() {
    : >"$work/addresses"
    NOTIFY_SOCKET=${manager:-} WATCHDOG_USEC=${watchdog:-} "$cuzk" --config "$work/c.toml" >"$work/addresses" 2>"$work/log" &
    pid=$!
    soon served
    if [ -n "$url" ]; then ok "$1"; else fail "$1" "$(tail -n 3 "$work/log")"; fi
}

# ended NAME CODE: the daemon ends with this code
ended() {
    wait $pid
    got=$?
    pid=
    if [ $got -eq "$2" ]; then ok "$1"; else fail "$1" "exit $got, expected $2: $(tail -n 2 "$work/log")"; fi
}
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT

# under_load FILE N: some jobs have been accepted
loaded() { [ "$(grep -c . "$1")" -ge "$2" ]; }
under_load() { soon loaded "$@"; }

# ---- configuration ----

"$cuzk" serve --example >"$work/example.toml"
check "the example is the one of the documentation" cmp "$work/example.toml" "$CUZK_TEST_DIR/../docs/cuzk.example.toml"
outcome "the example is accepted" 0 "ok" "$cuzk" serve --check --config "$work/example.toml"
outcome "the Rust daemon's file is accepted" 0 "warning: pipeline.enabled" "$cuzk" serve --check --config "$CUZK_TEST_DIR/vectors/config/rust-daemon.toml"
outcome "a file that is not there" 4 "nothere.toml" "$cuzk" serve --config "$work/nothere.toml"
outcome "arguments are refused" 2 "no arguments" "$cuzk" serve x
outcome "a log level that is none" 2 "--log-level loud" "$cuzk" serve --log-level loud
conf
sed 's/^listen/lisen/' "$work/c.toml" >"$work/typo.toml"
outcome "a typo is named with file, line, column and the key that was meant" 3 "typo.toml:2:1: daemon.lisen: unknown key; did you mean daemon.listen?" \
    "$cuzk" serve --config "$work/typo.toml"
echo 'x = [' >"$work/broken.toml"
outcome "not TOML" 3 "broken.toml:1:5: the array does not end" "$cuzk" --config "$work/broken.toml"
sed 's/127.0.0.1:0/127.0.0.1:70000/' "$work/c.toml" >"$work/port.toml"
outcome "an address that is none" 3 "70000" "$cuzk" serve --config "$work/port.toml"
sed 's/127.0.0.1:0/203.0.113.9:9821/' "$work/c.toml" >"$work/foreign.toml"
check "an address of another machine ends the start" sh -c '! timeout 120 "$1" serve --config "$2" >"$3" 2>&1' - "$cuzk" "$work/foreign.toml" "$work/out"
check "and is named" grep -q 203.0.113.9 "$work/out"
sed "s|^url.*|url = \"sqlite:///proc/nowhere/jobs.db\"|" "$work/c.toml" >"$work/nostore.toml"
outcome "a store that cannot be made" 4 "/proc/nowhere" "$cuzk" serve --config "$work/nostore.toml"

sed "s|unix://$work/sockets/rpc.sock|unix:///proc/nofolder/rpc.sock|" "$work/c.toml" >"$work/nosocket.toml"
outcome "a socket where none can be" 4 "daemon.listen unix:///proc/nofolder/rpc.sock" "$cuzk" serve --config "$work/nosocket.toml"
check "the log has it too" grep -q "error start_failed .*nofolder" "$work/out"

# ---- service manager, reload ----

manager=$work/manager
$peer manager "$manager" "$work/notified" &
manager_pid=$!
soon test -S "$manager"
watchdog=400000
start "starts"
check "says that it is alive" sh -c "$peer get ${url}healthz | grep ^200 >/dev/null"
check "says that it is ready" sh -c "$peer get ${url}readyz | grep ^200 >/dev/null"
outcome "a second daemon on the same store" 4 "pid $pid" "$cuzk" serve --config "$work/c.toml"
check "a proof over HTTP" sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns k1 >$work/proof; grep -q ^200 $work/proof"
python3 -c '
import json, sys
d = json.loads(open(sys.argv[1]).read().split(" ", 1)[1])
json.dump(d["proof"], open(sys.argv[2], "w"))
json.dump(d["publicSignals"], open(sys.argv[3], "w"))' "$work/proof" "$work/p.json" "$work/s.json"
outcome "it is valid" 0 "valid" "$cuzk" verify "$m/verification_key.json" "$work/s.json" "$work/p.json"

for event in "TIMELINE job=k1 state=completed" "GPU_TIMING job=k1 partition=0" "CUZK_TIMING job=k1 partition=0" "FIN_TIMING job=k1 partition=0"; do
    logged "${event%% *} is logged" "$event"
done
outcome "an explicit configuration comes before CUZK_ADDRESS" 0 "device cpu" env CUZK_ADDRESS="unix://$work/none" "$cuzk" status --config "$work/c.toml"
outcome "gRPC status" 0 "" "$cuzk" status --address "unix://$work/sockets/rpc.sock"
outcome "gRPC proof" 0 "" "$cuzk" submit --address "unix://$work/sockets/rpc.sock" --circuit mult3 --input "$m/witness.wtns" \
    --proof "$work/p2.json" --public "$work/s2.json"
# What a request has no place for is refused, not dropped.
w=$(fixture filecoin/2kib/window-v1_1)
window() { "$cuzk" submit --address "unix://$work/sockets/rpc.sock" --kind window --input "$w/vanilla-0.bin" "$@"; }
outcome "submit with a ticket" 2 "--ticket" window --statement "$w/statement.json" --ticket 00
outcome "submit of a partition out of range" 2 "4294967297" window --statement "$w/statement.json" --partition 4294967297
outcome "submit of a number with a unit" 3 "1K" window --statement "$w/statement.json" --miner-id 1K
printf '{"Randomness":"AA=="}' >"$work/other.json"
outcome "submit of another form of statement" 3 "no field" window --statement "$work/other.json"
outcome "the gRPC proof is valid" 0 "valid" "$cuzk" verify "$m/verification_key.json" "$work/s2.json" "$work/p2.json"

sed -i 's/^drain_timeout.*/max_message = "1MiB"\nmax_requests = 77/; s/^\[store\]/[logging]\nlevel = "debug"\n[circuits.second]\nzkey = "x.zkey"\n[store]/' "$work/c.toml"
kill -HUP $pid
logged "SIGHUP names what waits for a restart" "daemon.max_message has changed"
logged "and takes over the rest" " reloaded "
check "the new circuit is there" sh -c "$peer get ${url}v1/circuits | grep second >/dev/null"
cp "$work/c.toml" "$work/good.toml"
echo 'nonsense = 1' >"$work/c.toml"
kill -HUP $pid
logged "a bad file changes nothing" "reload_failed"
check "it still serves" sh -c "$peer get ${url}readyz | grep ^200 >/dev/null"
kill -TERM $pid
ended "SIGTERM ends with 0" 0
check "the manager heard READY" grep -q "READY=1 STATUS=serving" "$work/notified"
check "and WATCHDOG" grep -q "^WATCHDOG=1" "$work/notified"
check "and RELOADING with its time" grep -q "RELOADING=1 MONOTONIC_USEC=[0-9]" "$work/notified"
check "and STOPPING" grep -q "^STOPPING=1" "$work/notified"
check "the socket has gone" test ! -e "$work/sockets/rpc.sock"
kill $manager_pid
manager= watchdog=

# ---- nothing lost ----

conf
start "starts again"
check "what it proved before it still answers" sh -c "$peer get ${url}v1/jobs/k1 | grep completed >/dev/null"
$peer flood "${url}v1/circuits/mult3/prove" "$m/witness.wtns" t 120 >"$work/term.ids" &
flood_pid=$!
under_load "$work/term.ids" 5
kill -TERM $pid
ended "SIGTERM under load ends with 0" 0
logged "after it has drained" " drained "
wait $flood_pid
accepted=$(grep -c . "$work/term.ids")
check "jobs had been accepted" test "$accepted" -gt 3
start "starts after a drain"
check "every accepted job is completed ($accepted)" sh -c "$peer all ${url}v1/jobs/ completed 300 <$work/term.ids"
for round in 1 2 3; do
    $peer flood "${url}v1/circuits/mult3/prove" "$m/witness.wtns" "k$round" 400 >"$work/kill.ids" &
    flood_pid=$!
    under_load "$work/kill.ids" $((round * round * 5))
    kill -9 $pid
    wait $pid 2>/dev/null
    pid=
    wait $flood_pid
    start "starts after kill -9 ($round)"
    check "every accepted job is completed ($round, $(grep -c . "$work/kill.ids"))" sh -c "$peer all ${url}v1/jobs/ completed 300 <$work/kill.ids"
done
kill -INT $pid
ended "SIGINT ends with 0" 0

# ---- cancel_orphans: who only asks has no claim to give up (grpc.sh and http.sh: who has) ----

conf "$work/claims/jobs.db"
cat >>"$work/c.toml" <<END
[circuits.slow]
zkey = "$m/circuit.zkey"
witness_command = ["/bin/sh", "-c", "cat >/dev/null; sleep 5; cat $m/witness.wtns"]
[jobs]
cancel_orphans = true
END
start "starts with cancel_orphans"
"$cuzk" submit --async --circuit slow --input "$m/input.json" --request-id asked --address "unix:$work/sockets/rpc.sock" >"$work/out" 2>&1
check "a long poll is given up" sh -c "! python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=0.3)' '${url}v1/jobs/asked?wait=30' 2>'$work/out'"
check "one that was only asked about goes on" sh -c "echo asked | $peer all ${url}v1/jobs/ completed 120"
kill -TERM $pid
ended "and ends" 0
conf

# ---- a damaged store, a full disk ----

echo "this is no database, and never was one" >"$work/store/jobs.db"
start "starts with a damaged store"
logged "and says so" "store_corrupt"
check "which is kept" sh -c "cat $work/store/jobs.db.corrupt-*Z | grep 'never was one' >/dev/null"
kill -TERM $pid
ended "ends" 0

mkdir "$work/disk"
if mount -t tmpfs -o size=3m tmpfs "$work/disk" 2>/dev/null; then
    conf "$work/disk/jobs.db"
    start "starts on a small disk"
    check "proves there" sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns d1 | grep ^200 >/dev/null"
    dd if=/dev/zero of="$work/disk/filler" bs=64k 2>/dev/null
    check "a full disk refuses new work" sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns d2 | grep '^[45]' >/dev/null"
    check "it lives" sh -c "$peer get ${url}healthz | grep ^200 >/dev/null"
    rm "$work/disk/filler"
    check "and proves again when there is room" sh -c "$peer post ${url}v1/circuits/mult3/prove $m/witness.wtns d3 | grep ^200 >/dev/null"
    kill -TERM $pid
    ended "ends with 0" 0
    start "starts again on that disk"
    check "with what it had" sh -c "$peer get ${url}v1/jobs/d1 | grep completed >/dev/null"
    kill -TERM $pid
    ended "ends again" 0
    umount "$work/disk"
else
    echo "SKIP full disk: a tmpfs cannot be mounted here"
fi
