/*
 * unit/r1cs/test_bit_writer.c - bits appended by many writers at once are those that one would have set one by one
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "r1cs/bit_writer.h"

#define RANGES 200
#define MAX_BITS 300

typedef struct job {
    uint64_t *got;
    const uint64_t *want;
    size_t start[RANGES + 1]; /* of each writer's bits */
} job;

static uint64_t bits_at(const uint64_t *words, size_t at, unsigned n)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < n; i++) v |= (words[(at + i) / 64] >> (at + i) % 64 & 1) << i;
    return v;
}

/* In pieces of 0 to 64 bits; writers are started in another order than that of their ranges. */
static cuzk_status write_range(void *ctx, size_t i, unsigned worker)
{
    const job *j = ctx;
    size_t k = i * 77 % RANGES, at = j->start[k], end = j->start[k + 1];
    bit_writer w = bit_writer_at(j->got, at);

    (void)worker;
    for (unsigned piece = (unsigned)k % 65; at < end; piece = (piece * 5 + 3) % 65) {
        unsigned n = piece > end - at ? (unsigned)(end - at) : piece;

        bit_writer_put(&w, bits_at(j->want, at, n), n);
        at += n;
    }
    bit_writer_end(&w);
    return CUZK_OK;
}

static void test_many_writers(void **state)
{
    pool *p = NULL;

    (void)state;
    assert_status_ok(pool_open(&p, 4, NULL));
    for (size_t round = 0; round < harness_iters(20); round++) {
        size_t n_words = RANGES * MAX_BITS / 64 + 1;
        uint64_t *want = calloc(n_words, sizeof *want);
        job j = {.got = calloc(n_words, sizeof *j.got), .want = want};

        assert_non_null(want);
        assert_non_null(j.got);
        j.start[0] = harness_random_below(64);
        for (size_t i = 0; i < RANGES; i++)
            j.start[i + 1] = j.start[i] + harness_random_below(i % 2 == 0 ? 8 : MAX_BITS - 64);
        harness_random_bytes(want, n_words * sizeof *want);
        for (size_t i = 0; i < n_words * 64; i++)
            if (i < j.start[0] || i >= j.start[RANGES]) want[i / 64] &= ~(UINT64_C(1) << i % 64);
        assert_status_ok(pool_run(p, NULL, RANGES, write_range, &j));
        assert_bytes_equal(j.got, want, n_words * sizeof *want);
        free(j.got);
        free(want);
    }
    pool_close(p);
}

static void test_bytes(void **state)
{
    uint64_t words[6] = {0};
    uint8_t bytes[32];
    bit_writer w = bit_writer_at(words, 5);

    (void)state;
    harness_random_bytes(bytes, sizeof bytes);
    bytes[31] &= 0x7f;
    bit_writer_put_bytes(&w, bytes, 255);
    bit_writer_put(&w, 1, 1);
    bit_writer_end(&w);
    for (unsigned i = 0; i < 255; i++)
        assert_int_equal(bits_at(words, 5 + i, 1), bytes[i / 8] >> i % 8 & 1);
    assert_int_equal(bits_at(words, 5 + 255, 1), 1);
    assert_int_equal(words[4], 0x10 | bits_at(words, 256, 4));
    assert_int_equal(words[5], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_writers),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
