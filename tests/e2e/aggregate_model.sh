# e2e/aggregate_model.sh - aggregates of few proofs against the Python model of the specification: bytes and verdicts
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

tools=$CUZK_FIXTURES/../tools
if [ ! -e "$tools/check_aggregate.py" ]; then
    echo "SKIP aggregate_model: no check_aggregate.py beside the fixtures"
    exit 0
fi
cp "$(fixture filecoin/keys/porep-2kib.vk)" \
    "$work/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk"
python3 "$CUZK_TEST_DIR/e2e/aggregate_model.py" "$cuzk" "$tools" "$CUZK_FIXTURES/filecoin" "$work" "$work" 1,2,3 5 ||
    fail aggregate_model "it broke off"
