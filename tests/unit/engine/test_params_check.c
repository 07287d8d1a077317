/*
 * unit/engine/test_params_check.c - a deep check that was stopped is gone on with; points outside the subgroup are found
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/key_store.h"
#include "harness/harness.h"

#define POINTS "103746" /* of window-2k */

typedef struct watch {
    cuzk_engine *e;
    bool stop; /* at the first progress of a deep check */
    uint64_t first, last;
} watch;

static void on_progress(void *ctx, const char *step, uint64_t done, uint64_t total)
{
    watch *w = ctx;

    if (strcmp(step, "subgroup") != 0) return;
    if (w->first == 0) w->first = done;
    assert_true(done > w->last && done <= total);
    w->last = done;
    if (w->stop) cuzk_engine_cancel(w->e);
}

/** params check of the key; the JSON goes to *json, which the caller clears when there is one. */
static cuzk_status check(const char *dir, bool deep, watch *w, cuzk_buffer *json)
{
    cuzk_config config = {.threads = 2, .progress = on_progress, .ctx = w};

    *json = (cuzk_buffer){0};
    assert_status_ok(cuzk_engine_open(&w->e, &config));
    cuzk_status st = cuzk_params_check(w->e, dir, deep, json);
    cuzk_engine_close(w->e);
    return st;
}

static void assert_has(const cuzk_buffer *json, const char *text)
{
    if (strstr((const char *)json->data, text) == NULL)
        fail_msg("no %s in %s", text, (const char *)json->data);
}

static const char *make_key(void)
{
    const char *dir = harness_temp_path("keys");
    cuzk_config config = {.threads = 2};
    cuzk_engine *e;

    assert_status_ok(cuzk_engine_open(&e, &config));
    assert_status_ok(
        cuzk_filecoin_setup(e, "window-2k", dir, harness_fixture("filecoin/trapdoors.json")));
    cuzk_engine_close(e);
    return dir;
}

static void test_deep_goes_on(void **state)
{
    const char *dir = make_key();
    watch w = {.stop = true};
    cuzk_buffer json;
    (void)state;

    assert_status_is(check(dir, true, &w, &json), CUZK_ECANCELLED);
    assert_null(json.data);
    uint64_t stopped = w.last;
    assert_in_range(stopped, 1, 50000);

    /* a plain check in between forgets nothing */
    w = (watch){0};
    assert_status_ok(check(dir, false, &w, &json));
    assert_has(&json, "\"points\":" POINTS ",\"ok\":true");
    cuzk_buffer_clear(&json);

    w = (watch){0};
    assert_status_ok(check(dir, true, &w, &json));
    char want[64];
    (void)snprintf(want, sizeof want, "\"from\":%llu,", (unsigned long long)stopped);
    assert_has(&json, want);
    assert_true(w.first > stopped && w.first <= stopped + 8192);
    cuzk_buffer_clear(&json);
}

/** A point of the curve outside the subgroup in place of a[7]: only the deep check sees it; the digest is made to fit. */
static void test_outside_subgroup(void **state)
{
    const curve *cv = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
    const char *dir = make_key();
    char path[FIL_PATH_MAX], digest[KEY_DIGEST_HEX + 1], vk_digest[KEY_DIGEST_HEX + 1];
    const fil_size *s = fil_size_by_bytes(2048);
    cuzk_config config = {.threads = 1};
    cuzk_buffer json;
    cuzk_engine *e;
    watch w = {0};
    size_t size, at = 3076 + 4 + 96 * 32767 + 4 + 96 * 22128 + 4 + 96 * 7;
    uint8_t x[96] = {0};
    g1_any p;
    (void)state;

    /* the first x from 4 on whose compressed form is a point, outside the subgroup */
    for (x[47] = 4;; x[47]++) {
        x[0] = 0x80;
        if (cv->g1_read(&p, x, POINT_ZCASH_COMPRESSED) == POINT_OK && !cv->g1_in_subgroup(&p))
            break;
    }
    assert_status_ok(fil_key_path(path, dir, FIL_WINDOW, s, ".params"));
    uint8_t *key = harness_read_file(path, &size);
    cv->g1_write(key + at, &p, POINT_ZCASH);
    harness_write_file(path, key, size);
    free(key);
    assert_status_ok(cuzk_engine_open(&e, &config));
    assert_status_ok(key_digest(e, path, size, digest));
    assert_status_ok(fil_key_path(path, dir, FIL_WINDOW, s, ".vk"));
    assert_status_ok(key_digest(e, path, 3076, vk_digest));
    assert_status_ok(key_write_digests(dir, FIL_WINDOW, s, digest, vk_digest));
    cuzk_engine_close(e);

    assert_status_ok(check(dir, false, &w, &json));
    cuzk_buffer_clear(&json);
    assert_status_is(check(dir, true, &w, &json), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_error_mentions("key A[7] is not in the subgroup");
    assert_has(&json, "\"bad\":1,\"ok\":false,\"class\":\"malformed\"");
    cuzk_buffer_clear(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deep_goes_on),
        cmocka_unit_test(test_outside_subgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
