# e2e/panel.sh - the live panel in headless Chromium: over a played daemon, where every state shows, and over the real one
# run: check-all
. "$CUZK_TEST_DIR/e2e/lib.inc"

if ! command -v node >/dev/null 2>&1 || ! command -v chromium >/dev/null 2>&1; then
    echo "SKIP panel: no node or no chromium (tools/install_deps check-all)"
    exit 0
fi

# judge SCRIPT ARGUMENT...: its lines, and a failure when it ended before its last
judge() {
    script=$1
    shift
    node "$CUZK_TEST_DIR/e2e/panel/$script" "$@" >"$work/lines" 2>"$work/complaints" ||
        fail "panel/$script" "$(tail -n 3 "$work/complaints" | tr '\n' ' ')"
    grep -E '^(ok|FAIL|SKIP) ' "$work/lines" || fail "panel/$script" "no check ran"
}
judge check.mjs "$CUZK_TEST_DIR/../src/wire/panel"

case $("$cuzk" serve --check 2>&1) in
*"without the service"*)
    echo "SKIP panel: this build has no service"
    exit 0
    ;;
esac
outcome "setup window-2k" 0 "key written" "$cuzk" setup --circuit window-2k --params "$work/params" \
    --trapdoors "$(fixture filecoin/trapdoors.json)"
mkdir "$work/run"
judge real.mjs "$cuzk" "$work/run" "$work/params" "$(fixture filecoin/2kib/window-v1_1)" "$(fixture circom/bn128/mult3)"
