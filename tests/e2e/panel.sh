# e2e/panel.sh - the live panel in headless Chromium
# Node and Chromium come with tools/install_deps check-all. The daemon is played (panel/fixture.mjs), so that every state shows.
. "$CUZK_TEST_DIR/e2e/lib.inc"

if ! command -v node >/dev/null 2>&1 || ! command -v chromium >/dev/null 2>&1; then
    echo "SKIP panel: no node or no chromium (tools/install_deps check-all)"
    exit 0
fi
node "$CUZK_TEST_DIR/e2e/panel/check.mjs" "$CUZK_TEST_DIR/../src/wire/panel" 2>&1 | grep -E '^(ok|FAIL|SKIP) ' ||
    fail panel "no check ran"
