/*
 * unit/engine/test_service_request.c - what makes two requests the same
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness.h"

#include "engine/service.h"

/* Every byte of a payload counts, also where it is long enough to be hashed in halves. */
static void test_hash_of_long_payloads(void **state)
{
    static const size_t sizes[] = {1,         1000,        65535,       65536,
                                   65536 + 1, 65536 + 127, 65536 + 128, 99999};
    uint8_t *data = malloc(100000), *copy = malloc(100000), h[32], g[32];

    (void)state;
    assert_true(data != NULL && copy != NULL);
    harness_random_bytes(data, 100000);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i], at[] = {0, n / 4, n / 2 - (n > 1), n / 2, n / 2 + n / 4, n - 1};
        cuzk_request a = {.kind = CUZK_POREP, .vanilla_proof = {data, n}};
        cuzk_request b = {.kind = CUZK_POREP, .vanilla_proof = {copy, n}};

        memcpy(copy, data, 100000);
        svc_request_hash(h, &a);
        svc_request_hash(g, &b);
        assert_bytes_equal(h, g, 32);
        b.vanilla_proof.size = n - 1;
        svc_request_hash(g, &b);
        assert_int_not_equal(memcmp(h, g, 32), 0);
        b.vanilla_proof.size = n;
        for (size_t k = 0; k < sizeof at / sizeof at[0]; k++) {
            copy[at[k]] ^= 1;
            svc_request_hash(g, &b);
            assert_int_not_equal(memcmp(h, g, 32), 0);
            copy[at[k]] ^= 1;
        }
        if (n < 1000) continue;
        memcpy(copy, data + n / 128 * 64, n / 128 * 64); /* the halves change places */
        memcpy(copy + n / 128 * 64, data, n / 128 * 64);
        svc_request_hash(g, &b);
        assert_int_not_equal(memcmp(h, g, 32), 0);
    }
    free(data);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hash_of_long_payloads)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
