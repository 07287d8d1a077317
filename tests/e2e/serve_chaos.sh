# e2e/serve_chaos.sh - kill -9 at 20 random moments under load
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP serve_chaos: this build has no service"
    exit 0
    ;;
esac
timeout 3000 python3 "$CUZK_TEST_DIR/e2e/serve_chaos.py" "$cuzk" "$(fixture circom/bn128/mult3)" "$work" "${CUZK_CHAOS_KILLS:-20}" || fail "serve_chaos" "it broke off"
