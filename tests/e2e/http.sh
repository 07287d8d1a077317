# e2e/http.sh - the daemon over HTTP: circom circuits as a service, jobs, documents, events, limits, tokens, TLS, stopping
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP http: this build has no service"
    exit 0
    ;;
esac
if ! command -v openssl >/dev/null 2>&1; then
    echo "SKIP http: no openssl (tools/install_deps check-all)"
    exit 0
fi
python3 "$CUZK_TEST_DIR/e2e/http_check.py" "$cuzk" "$work" "$(fixture circom/bn128/mult3)" "$(fixture circom/bls12381/linear)" \
    "$CUZK_JUDGES/node_modules/.bin/snarkjs" || fail http "the checks ended early"
