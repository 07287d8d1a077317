/*
 * unit/wire/test_access.c - tokens files, and who may come in
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/net.h"
#include "wire/token.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

/** "HASH" of a token, as the file holds it. */
static const char *hash_of(const char *text)
{
    static char hex[65];
    uint8_t h[32];

    sha256(h, text, strlen(text));
    hex_encode(hex, h, 32);
    return hex;
}

static const char *tokens_file(void)
{
    const char *path = harness_temp_path("tokens");
    char text[1024];
    int n = snprintf(text, sizeof text, "# who may do what\n\n%s prove,read curio\r\n",
                     hash_of("alpha"));

    n += snprintf(text + n, sizeof text - (size_t)n, "  %s\toperate  \n", hash_of("beta"));
    n += snprintf(text + n, sizeof text - (size_t)n, "%s read panel", hash_of("gamma delta"));
    harness_write_file(path, text, (size_t)n);
    return path;
}

static void test_tokens(void **state)
{
    token_set *s;
    const token *t;
    char scopes[24];

    (void)state;
    assert_status_ok(token_set_load(&s, tokens_file()));
    t = token_find(s, "alpha", 5);
    assert_non_null(t);
    assert_int_equal(t->scopes, ACCESS_PROVE | ACCESS_READ);
    assert_string_equal(t->name, "curio");
    token_scopes_write(scopes, t->scopes);
    assert_string_equal(scopes, "prove,read");
    t = token_find(s, "beta", 4);
    assert_non_null(t);
    assert_int_equal(t->scopes, ACCESS_OPERATE);
    assert_string_equal(t->name, "");
    assert_non_null(token_find(s, "gamma delta", 11));
    assert_null(token_find(s, "gamma", 5));
    assert_null(token_find(s, "alphA", 5));
    assert_null(token_find(s, "", 0));
    token_scopes_write(scopes, ACCESS_ALL);
    assert_string_equal(scopes, "prove,read,operate");
    token_set_free(s);
    token_set_free(NULL);
}

static void test_bad_tokens(void **state)
{
    char good[128], text[512], name[80];
    token_set *s = NULL;

    (void)state;
    snprintf(good, sizeof good, "%s", hash_of("x"));
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    const char *const rest[] = {"",
                                " ",
                                " write",
                                " prove,",
                                " ,prove",
                                " prove read more",
                                " prove,,read",
                                " Prove",
                                " prove name extra"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        snprintf(text, sizeof text, "\n%s%s\n", good, rest[i]);
        assert_status_is(token_set_read(&s, text, strlen(text), "FILE"), CUZK_EDATA);
        assert_error_mentions("FILE:2");
    }
    snprintf(text, sizeof text, "%s prove %s\n", good, name);
    assert_status_is(token_set_read(&s, text, strlen(text), "FILE"), CUZK_EDATA);
    assert_error_mentions("limit 63");
    snprintf(text, sizeof text, "%.63s prove\n", good);
    assert_status_is(token_set_read(&s, text, strlen(text), "FILE"), CUZK_EDATA);
    assert_error_mentions("64 hexadecimal");
    assert_status_is(token_set_read(&s, "# nobody\n", 9, "FILE"), CUZK_EDATA);
    assert_status_is(token_set_read(&s, "", 0, "FILE"), CUZK_EDATA);
    assert_error_mentions("nobody could come in");
    assert_status_is(token_set_load(&s, harness_temp_path("no such file")), CUZK_EIO);
    assert_null(s);

    char *many = malloc(TOKEN_MAX + 1);
    assert_non_null(many);
    memset(many, '\n', TOKEN_MAX + 1);
    assert_status_is(token_set_read(&s, many, TOKEN_MAX + 1, "FILE"), CUZK_EDATA);
    assert_error_mentions("limit 4096");
    free(many);
}

static unsigned owned_scopes_of(access_list *a, bool plain, bool certificate,
                                const char *authorization, char owner[ACCESS_OWNER])
{
    return access_scopes(a, plain, certificate, authorization,
                         authorization == NULL ? 0 : strlen(authorization), owner);
}

static unsigned scopes_of(access_list *a, bool plain, bool certificate, const char *authorization)
{
    char owner[ACCESS_OWNER];

    return owned_scopes_of(a, plain, certificate, authorization, owner);
}

/* Whose jobs a request makes, and whose it may look after. */
static void test_owners(void **state)
{
    char text[400], owner[ACCESS_OWNER], hex[17];
    const access_config config = {.tokens_file = harness_temp_path("owners")};
    access_list *a;
    unsigned scopes;

    (void)state;
    int n = snprintf(text, sizeof text, "%s prove,read curio\n", hash_of("one"));
    n += snprintf(text + n, sizeof text - (size_t)n, "%s prove,operate chief\n", hash_of("two"));
    n += snprintf(text + n, sizeof text - (size_t)n, "%s prove\n", hash_of("three"));
    harness_write_file(config.tokens_file, text, (size_t)n);
    assert_status_ok(access_open(&a, &config));
    scopes = owned_scopes_of(a, true, false, NULL, owner);
    assert_string_equal(owner, "");
    assert_null(access_confined(scopes, owner));
    scopes =
        owned_scopes_of(a, true, false, "Bearer one", owner); /* also from where none is needed */
    assert_string_equal(owner, "curio");
    assert_string_equal(access_confined(scopes, owner), "curio");
    scopes = owned_scopes_of(a, false, false, "Bearer two", owner);
    assert_string_equal(owner, "chief");
    assert_null(access_confined(scopes, owner));
    scopes = owned_scopes_of(a, false, false, "Bearer three", owner);
    memcpy(hex, hash_of("three"), 16);
    hex[16] = 0;
    assert_memory_equal(owner, "sha256:", 7);
    assert_string_equal(owner + 7, hex);
    assert_string_equal(access_confined(scopes, owner), owner);
    assert_int_equal(owned_scopes_of(a, true, false, "Bearer four", owner), 0);
    assert_string_equal(owner, "");
    access_close(a);
}

static void test_scopes(void **state)
{
    const access_config config = {.tokens_file = tokens_file()};
    access_list *a;

    (void)state;
    assert_status_ok(access_open(&a, &config));
    assert_true(access_has_tokens(a));
    assert_false(access_has_networks(a));
    assert_int_equal(scopes_of(a, true, false, NULL), ACCESS_ALL);
    assert_int_equal(scopes_of(a, false, true, NULL), ACCESS_ALL);
    assert_int_equal(scopes_of(a, false, false, NULL), 0);
    assert_int_equal(scopes_of(a, false, false, "Bearer alpha"), ACCESS_PROVE | ACCESS_READ);
    assert_int_equal(scopes_of(a, false, false, "bearer  beta"), ACCESS_OPERATE);
    /* A token that is shown counts, wherever it is shown. */
    assert_int_equal(scopes_of(a, true, false, "Bearer beta"), ACCESS_OPERATE);
    assert_int_equal(scopes_of(a, true, true, "Bearer betA"), 0);
    assert_int_equal(scopes_of(a, true, true, "Basic beta"), 0);
    assert_int_equal(scopes_of(a, true, true, "Bearer "), 0);
    assert_int_equal(scopes_of(a, true, true, ""), 0);
    access_close(a);
    access_close(NULL);
}

static bool plain(access_list *a, const char *ip)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    struct sockaddr_storage ss = {0};

    if (inet_pton(AF_INET, ip, &in.sin_addr) == 1) {
        memcpy(&ss, &in, sizeof in);
    } else {
        assert_int_equal(inet_pton(AF_INET6, ip, &in6.sin6_addr), 1);
        memcpy(&ss, &in6, sizeof in6);
    }
    return access_is_plain(a, (const struct sockaddr *)&ss);
}

static void test_plain_peers(void **state)
{
    static const char *const networks[] = {"10.0.0.0/8", "fd00::/8"};
    const access_config config = {.plaintext_from = networks, .n_plaintext_from = 2};
    const access_config none = {0};
    const struct sockaddr_un un = {.sun_family = AF_UNIX};
    const struct sockaddr other = {.sa_family = AF_PACKET};
    access_list *a;

    (void)state;
    assert_status_ok(access_open(&a, &config));
    assert_false(access_has_tokens(a));
    assert_true(access_has_networks(a));
    assert_true(plain(a, "127.0.0.1"));
    assert_true(plain(a, "::1"));
    assert_true(plain(a, "10.2.3.4"));
    assert_true(plain(a, "fd01::1"));
    assert_false(plain(a, "192.0.2.1"));
    assert_false(plain(a, "2001:db8::1"));
    assert_true(access_is_plain(a, (const struct sockaddr *)&un));
    assert_false(access_is_plain(a, &other));
    assert_false(access_is_plain(a, NULL));
    assert_status_ok(access_reload(a, &none));
    assert_false(plain(a, "10.2.3.4"));
    assert_true(plain(a, "127.0.0.1"));
    access_close(a);
}

static void test_reload(void **state)
{
    static const char *const networks[] = {"10.0.0.0/8", "10.0.0.1/8"};
    const access_config good = {.tokens_file = tokens_file()};
    const access_config bad = {.plaintext_from = networks, .n_plaintext_from = 2};
    const access_config missing = {.tokens_file = harness_temp_path("none")};
    access_list *a = NULL;
    char text[80];

    (void)state;
    assert_status_is(access_open(&a, &bad), CUZK_EDATA);
    assert_error_mentions("daemon.plaintext_from");
    assert_error_mentions("10.0.0.1/8");
    assert_status_is(access_open(&a, &missing), CUZK_EIO);
    assert_null(a);
    assert_status_ok(access_open(&a, &good));
    assert_status_is(access_reload(a, &bad), CUZK_EDATA);
    assert_status_is(access_reload(a, &missing), CUZK_EIO);
    assert_int_equal(access_token_scopes(a, "beta", 4), ACCESS_OPERATE);
    snprintf(text, sizeof text, "%s read", hash_of("omega"));
    harness_write_file(good.tokens_file, text, strlen(text));
    assert_status_ok(access_reload(a, &good));
    assert_int_equal(access_token_scopes(a, "beta", 4), 0);
    assert_int_equal(access_token_scopes(a, "omega", 5), ACCESS_READ);
    access_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),      cmocka_unit_test(test_owners),
        cmocka_unit_test(test_bad_tokens),  cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_plain_peers), cmocka_unit_test(test_reload)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
