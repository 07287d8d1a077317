# e2e/serve_soak_long.sh - 2,000 jobs of all kinds mixed, 40 PoReps and 20 updates among them
# run: check-long
CUZK_SOAK_JOBS=2000 CUZK_SOAK_POREPS=40 CUZK_SOAK_UPDATES=20
export CUZK_SOAK_JOBS CUZK_SOAK_POREPS CUZK_SOAK_UPDATES
. "$CUZK_TEST_DIR/e2e/serve_soak.sh"
