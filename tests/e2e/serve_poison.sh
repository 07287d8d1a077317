# e2e/serve_poison.sh - a job that takes the daemon down is given up after three times; whoever was beside it is not
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP serve_poison: this build has no service"
    exit 0
    ;;
esac
timeout 900 python3 "$CUZK_TEST_DIR/e2e/serve_poison.py" "$cuzk" "$(fixture circom/bn128/mult3)" "$work" || fail "serve_poison" "it broke off"
