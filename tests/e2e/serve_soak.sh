# e2e/serve_soak.sh - 200 jobs of all kinds mixed: the daemon is afterwards as it was before
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP serve_soak: this build has no service"
    exit 0
    ;;
esac
for circuit in window-2k winning-2k update-2k porep-2k; do
    "$cuzk" setup --circuit $circuit --params "$work/keys" --quiet >"$work/out" 2>&1 || fail "setup of $circuit" "$(tail -n 1 "$work/out")"
done
timeout 3000 python3 "$CUZK_TEST_DIR/e2e/serve_soak.py" "$cuzk" "$CUZK_TEST_DIR/vectors/filecoin/2kib" "$(fixture circom/bn128/mult3)" \
    "$work/keys" "$work" "${CUZK_SOAK_JOBS:-200}" "${CUZK_SOAK_POREPS:-4}" "${CUZK_SOAK_UPDATES:-2}" || fail "serve_soak" "it broke off"
