/*
 * unit/engine/test_key_store.c - digests of keys: made, remembered for one file, compared
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/key_store.h"
#include "harness/harness.h"

#include <unistd.h>

static size_t warnings;

static void on_warn(void *ctx, cuzk_class klass, const char *where, const char *message)
{
    (void)ctx;
    (void)where;
    (void)message;
    assert_true(klass == CUZK_CLASS_INCONSISTENT || klass == CUZK_CLASS_IO);
    warnings++;
}

static cuzk_engine *engine(void)
{
    cuzk_config config = {.threads = 1, .warn = on_warn};
    cuzk_engine *e;

    assert_status_ok(cuzk_engine_open(&e, &config));
    warnings = 0;
    return e;
}

static const fil_size *size_2k(void)
{
    return fil_size_by_bytes(2048);
}

static void write_text(const char *path, const char *text)
{
    harness_write_file(path, (const uint8_t *)text, strlen(text));
}

static void test_digest(void **state)
{
    /* the first 16 bytes of BLAKE2b-512("abc"), RFC 7693 appendix A */
    static const char want[] = "ba80a53f981c4d0d6a2797b69f12f6e9";
    const char *path = harness_temp_path("abc");
    cuzk_engine *e = engine();
    char got[KEY_DIGEST_HEX + 1];
    (void)state;

    write_text(path, "abcd");
    assert_status_ok(key_digest(e, path, 3, got));
    assert_string_equal(got, want);
    assert_status_is(key_digest(e, path, 5, got), CUZK_EIO);
    assert_status_is(key_digest(e, harness_temp_path("none"), 0, got), CUZK_EIO);
    cuzk_engine_cancel(e);
    assert_status_is(key_digest(e, path, 3, got), CUZK_ECANCELLED);
    cuzk_engine_close(e);
}

static bool recalled(cuzk_engine *e, const char *dir, const char *file, key_record *r)
{
    bool found;

    assert_status_ok(key_recall(e, dir, file, r, &found));
    return found;
}

static void put(cuzk_engine *e, const char *dir, const char *file, const char *digest,
                uint64_t points)
{
    char path[FIL_PATH_MAX];
    key_record r = {.points = points};

    (void)snprintf(path, sizeof path, "%s/%s", dir, file);
    (void)snprintf(r.file, sizeof r.file, "%s", file);
    (void)snprintf(r.digest, sizeof r.digest, "%s", digest);
    assert_status_ok(file_id_of(&r.id, path));
    assert_status_ok(key_remember(e, dir, &r));
}

static void test_memory(void **state)
{
    static const char one[] = "0123456789abcdef0123456789abcdef";
    static const char two[] = "f123456789abcdef0123456789abcdef";
    const char *dir = harness_temp_path("memory");
    char path[FIL_PATH_MAX], records[FIL_PATH_MAX];
    cuzk_engine *e = engine();
    key_record r;
    (void)state;

    assert_status_ok(file_make_dir(dir));
    (void)snprintf(path, sizeof path, "%s/a.params", dir);
    (void)snprintf(records, sizeof records, "%s/.cuzk-keys", dir);
    write_text(path, "a");
    (void)snprintf(path, sizeof path, "%s/b.params", dir);
    write_text(path, "b");
    assert_false(recalled(e, dir, "a.params", &r));
    put(e, dir, "a.params", one, 0);
    put(e, dir, "b.params", two, UINT64_MAX);
    put(e, dir, "a.params", two, 7);
    assert_true(recalled(e, dir, "a.params", &r));
    assert_string_equal(r.digest, two);
    assert_int_equal(r.points, 7);
    assert_true(recalled(e, dir, "b.params", &r));
    assert_int_equal(r.points, UINT64_MAX);

    /* another file under that name: longer, or newer */
    write_text(path, "bb");
    assert_false(recalled(e, dir, "b.params", &r));
    assert_true(recalled(e, dir, "a.params", &r));

    /* a memory that is damaged, or enormous, is none; it is replaced */
    static const char *const bad[] = {"",
                                      "[]",
                                      "{\"keys\":{}}",
                                      "{\"keys\":[{\"file\":\"a.params\"}]}",
                                      "{\"keys\":[{\"file\":7,\"digest\":[]}]}",
                                      "{\"keys\":[{\"file\":\"a.params\",\"size\":-1}]}",
                                      "{\"keys\":[",
                                      "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_text(records, bad[i]);
        assert_false(recalled(e, dir, "a.params", &r));
    }
    put(e, dir, "a.params", one, 1);
    assert_true(recalled(e, dir, "a.params", &r));
    bool found;
    assert_status_is(key_recall(e, dir, "c.params", &r, &found), CUZK_EIO);

    /* many: the newest stay */
    for (unsigned i = 0; i < 600; i++) {
        char file[32];
        (void)snprintf(file, sizeof file, "k%u", i);
        (void)snprintf(path, sizeof path, "%s/%s", dir, file);
        write_text(path, "k");
        if (i % 3 == 0 || i > 500) put(e, dir, file, one, i);
    }
    assert_true(recalled(e, dir, "k599", &r));
    assert_true(recalled(e, dir, "k0", &r));
    assert_int_equal(r.points, 0);
    cuzk_engine_close(e);
}

static void test_standing(void **state)
{
    static const key_expected both = {"11", "22"}, own = {"11", ""}, network = {"", "22"};
    static const key_expected none = {"", ""};
    (void)state;

    assert_int_equal(key_compare(&both, "11"), KEY_OWN);
    assert_int_equal(key_compare(&both, "22"), KEY_NETWORK);
    assert_int_equal(key_compare(&both, "33"), KEY_DAMAGED);
    assert_int_equal(key_compare(&own, "11"), KEY_OWN);
    assert_int_equal(key_compare(&own, "22"), KEY_DAMAGED);
    assert_int_equal(key_compare(&network, "22"), KEY_NETWORK);
    assert_int_equal(key_compare(&network, "11"), KEY_FOREIGN);
    assert_int_equal(key_compare(&none, "11"), KEY_UNKNOWN);
}

static void test_trust(void **state)
{
    const char *dir = harness_temp_path("trust");
    char path[FIL_PATH_MAX], digest[KEY_DIGEST_HEX + 1];
    cuzk_engine *e = engine();
    (void)state;

    assert_status_ok(file_make_dir(dir));
    assert_status_is(key_trust(e, dir, FIL_WINDOW, size_2k()), CUZK_EIO); /* no key */
    assert_status_ok(fil_key_path(path, dir, FIL_WINDOW, size_2k(), ".params"));
    write_text(path, "not a key");
    assert_status_ok(key_trust(e, dir, FIL_WINDOW, size_2k()));
    assert_int_equal(warnings, 1);

    assert_status_ok(key_digest(e, path, 9, digest));
    assert_status_ok(key_write_digests(dir, FIL_WINDOW, size_2k(), digest, digest));
    assert_status_ok(key_trust(e, dir, FIL_WINDOW, size_2k()));
    assert_int_equal(warnings, 1);
    write_text(path, "another key");
    assert_status_is(key_trust(e, dir, FIL_WINDOW, size_2k()), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_MALFORMED);
    assert_error_mentions(digest);

    /* sizes that the network does not know, with nothing to compare with: not even looked at */
    assert_status_ok(key_trust(e, dir, FIL_WINDOW, fil_size_by_bytes(4096)));

    assert_status_ok(fil_key_path(path, dir, FIL_WINDOW, size_2k(), ".digest"));
    static const char *const bad[] = {"", "[]", "{} {}", "{\"x.params\":7"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_text(path, bad[i]);
        assert_status_is(key_trust(e, dir, FIL_WINDOW, size_2k()), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
    }
    cuzk_engine_close(e);
}

/** Powers: what a deep check found counts for this file alone; the network's name is compared with its digest. */
static void test_trust_srs(void **state)
{
    const char *dir = harness_temp_path("srs");
    cuzk_engine *e = engine();
    char path[FIL_PATH_MAX];
    bool checked = true;
    (void)state;

    assert_status_ok(file_make_dir(dir));
    (void)snprintf(path, sizeof path, "%s/my.srs", dir);
    assert_status_is(key_trust_srs(e, path, 128, &checked), CUZK_EIO);
    write_text(path, "powers");
    assert_status_ok(key_trust_srs(e, path, 128, &checked));
    assert_false(checked);
    put(e, dir, "my.srs", "00112233445566778899aabbccddeeff", 127);
    assert_status_ok(key_trust_srs(e, path, 128, &checked));
    assert_false(checked); /* a check that did not come to its end */
    put(e, dir, "my.srs", "00112233445566778899aabbccddeeff", 128);
    assert_status_ok(key_trust_srs(e, path, 128, &checked));
    assert_true(checked);
    write_text(path, "other powers");
    assert_status_ok(key_trust_srs(e, path, 128, &checked));
    assert_false(checked);
    assert_int_equal(warnings, 0);

    (void)snprintf(path, sizeof path, "%s/%s", dir, FIL_SRS_NAME);
    write_text(path, "powers");
    assert_status_ok(key_trust_srs(e, path, 128, &checked));
    assert_int_equal(warnings, 1);
    cuzk_engine_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_standing),  cmocka_unit_test(test_trust),
        cmocka_unit_test(test_trust_srs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
