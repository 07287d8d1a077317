# e2e/aggregate_model_long.sh - aggregates of 1 to 300 proofs against the Python model of the specification: bytes and verdicts
# run: check-long
. "$CUZK_TEST_DIR/e2e/lib.inc"

tools=$CUZK_FIXTURES/../tools
if [ ! -e "$tools/check_aggregate.py" ]; then
    echo "SKIP aggregate_model_long: no check_aggregate.py beside the fixtures"
    exit 0
fi
cp "$(fixture filecoin/keys/porep-2kib.vk)" \
    "$work/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk"
python3 "$CUZK_TEST_DIR/e2e/aggregate_model.py" "$cuzk" "$tools" "$CUZK_FIXTURES/filecoin" "$work" "$work" \
    1,2,3,4,5,7,8,9,13,15,16,17,31,32,33 6,10,11,12,14,18,34,62,63,64,65,66,126,127,128,129,130,254,255,256,257,258,300 ||
    fail aggregate_model_long "it broke off"
