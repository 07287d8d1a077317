# e2e/grpc_aggregate.sh - AggregateProofs, `cuzk submit` of aggregates: the reference's aggregates to the byte, refusals, cancel, kill -9 and restart
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP grpc_aggregate: this build has no service"
    exit 0
    ;;
esac
if [ ! -d "$CUZK_JUDGES/node_modules/@grpc/grpc-js" ]; then
    echo "SKIP grpc_aggregate: @grpc/grpc-js is not installed (tools/install_deps check-all)"
    exit 0
fi
CUZK_FIXTURES_2KIB=$(fixture filecoin/2kib)
export CUZK_FIXTURES_2KIB CUZK_JUDGES
params=$work/params
srs=v28-fil-inner-product-v1.srs
mkdir "$params"
cp "$(fixture filecoin/keys/porep-2kib.vk)" \
    "$params/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk"
cp "$(fixture filecoin/keys/update-2kib.vk)" \
    "$params/v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194.vk"
cp "$CUZK_FIXTURES_2KIB/aggregate/srs-16.srs" "$params/$srs"
address=unix://$work/rpc.sock
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$work"' EXIT

cat >"$work/c.toml" <<END
[daemon]
listen = "$address"
[store]
url = "sqlite://$work/jobs.db"
[srs]
param_cache = "$params"
END
start() {
    "$cuzk" serve --config "$work/c.toml" >"$work/addresses" 2>"$work/log" &
    pid=$!
    soon grep -q "rpc.sock" "$work/addresses"
}
play() { node "$CUZK_TEST_DIR/e2e/grpc_aggregate.js" "$address" "$CUZK_TEST_DIR/../src/wire/proto" "$work" "$1"; }

start
play bytes,bad,waits
outcome "the aggregate is what the network calls the proof" 0 valid "$cuzk" verify --kind porep \
    --statement "$CUZK_FIXTURES_2KIB/porep-ni/statement.json" --params "$params" --proof "$work/ni.bin"

# ---- our own command ----
CUZK_ADDRESS=$address
export CUZK_ADDRESS
seal=$CUZK_FIXTURES_2KIB/porep-v1_1
s=$seal/statement.json
u=$CUZK_FIXTURES_2KIB/update
outcome "submit" 0 "completed" "$cuzk" submit --statements "$s" "$s" --proofs "$seal/proof-fixed-rs.bin" "$seal/proof.bin" \
    --aggregate-version 1 --priority high --request-id two --proof "$work/two.bin"
check "submit: golden" cmp "$work/two.bin" "$CUZK_FIXTURES_2KIB/aggregate/two-seals-v1.bin"
outcome "submit --async" 0 "later" "$cuzk" submit --async --request-id later --trust-inputs --statements "$u/statement.json" \
    "$u/statement.json" "$u/statement.json" --proofs "$u/proof-fixed-rs.bin" "$u/proof.bin" "$u/proof-fixed-rs.bin"
outcome "wait" 0 '"status":"completed"' "$cuzk" wait later --json --proof "$work/later.bin"
check "wait: updates, their digest" test "$(sha256sum <"$work/later.bin")" = "6193f01ef5a3a12ce376439ab413516afea3f387efe702b0199fd4d46068a055  -"
outcome "jobs --kind aggregate" 0 "later" "$cuzk" jobs --kind aggregate
outcome "a proof that does not verify" 3 '"class":"unsatisfied"' "$cuzk" submit --json --statements "$s" "$s" \
    --proofs "$seal/proof.bin" "$u/proof.bin"
outcome "another number of proofs" 3 '"class":"shape"' "$cuzk" submit --json --statements "$s" "$s" --proofs "$seal/proof.bin"
outcome "seals and updates" 3 "sector 1" "$cuzk" submit --statements "$s" "$u/statement.json" --proofs "$seal/proof.bin" "$u/proof.bin"
outcome "a PoSt" 3 "not aggregated" "$cuzk" submit --statements "$CUZK_FIXTURES_2KIB/window-v1_1/statement.json" --proofs "$seal/proof.bin"
outcome "a kind beside it" 2 "--statements" "$cuzk" submit --kind porep --statements "$s" --proofs "$seal/proof.bin"
outcome "powers that the daemon chooses" 2 "--srs" "$cuzk" submit --statements "$s" --proofs "$seal/proof.bin" --srs x

# ---- kill -9 with aggregates in its hands: on a stalled machine all may have ended before, then once more ----
for round in 1 2 3 4 5; do
    rm -f "$work/left"
    play leave
    kill -9 $pid
    wait $pid 2>/dev/null
    start
    grep -q " jobs_resumed" "$work/log" && break
    kill -9 $pid
    wait $pid 2>/dev/null
    rm -f "$work"/jobs.db*
    start
done
check "jobs were resumed (round $round)" grep -q " jobs_resumed" "$work/log"
play taken

rm "$params/$srs"
play powerless
kill -TERM $pid
wait $pid
got=$?
pid=
check "SIGTERM: exit 0" test $got -eq 0
