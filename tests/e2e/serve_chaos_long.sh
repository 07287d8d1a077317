# e2e/serve_chaos_long.sh - kill -9 at 200 random moments under load
# run: check-long
CUZK_CHAOS_KILLS=200
export CUZK_CHAOS_KILLS
. "$CUZK_TEST_DIR/e2e/serve_chaos.sh"
