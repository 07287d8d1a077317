# e2e/serve_faults.sh - file descriptors run out: the daemon says so, keeps what it has promised, and recovers
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP serve_faults: this build has no service"
    exit 0
    ;;
esac
timeout 600 python3 "$CUZK_TEST_DIR/e2e/serve_faults.py" "$cuzk" "$(fixture circom/bn128/mult3)" "$work" || fail "serve_faults" "it broke off"
