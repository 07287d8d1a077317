/*
 * unit/base/test_hash.c - known answers, and every path and split against every other
 *
 * Sources: SHA-256: NIST's examples for FIPS 180-4 (one block, two blocks, a million a). BLAKE2: RFC 7693, appendices
 * A, B and E. ChaCha20: RFC 8439, sections 2.3.2 and A.1. ChaCha8: draft-strombergson-chacha-test-vectors-01, TC1.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/hash_lanes.h"
#include "base/hash_sha256.h"

static void check_sha256(const char *text, const char *want)
{
    uint8_t out[32];

    sha256(out, text, strlen(text));
    assert_hex_equal(out, 32, want);
}

static void test_sha256_known(void **state)
{
    sha256_ctx c;
    uint8_t out[32], a[1000];

    (void)state;
    check_sha256("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_sha256("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(a, 'a', sizeof a);
    sha256_init(&c);
    for (size_t i = 0; i < 1000; i++) sha256_update(&c, a, sizeof a);
    sha256_final(&c, out);
    assert_hex_equal(out, 32, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Any split of the input gives the same digest, also at the edges of blocks and of the padding. */
static void test_sha256_splits(void **state)
{
    uint8_t in[300], whole[32], split[32];
    sha256_ctx c;

    (void)state;
    harness_random_bytes(in, sizeof in);
    for (size_t n = 0; n <= sizeof in; n++) {
        sha256(whole, in, n);
        for (size_t at = 0, part; at <= n; at += part) {
            part = 1 + harness_random_below(40);
            sha256_init(&c);
            sha256_update(&c, in, at);
            sha256_update(&c, in + at, 0);
            sha256_update(&c, in + at, n - at);
            sha256_final(&c, split);
            assert_bytes_equal(split, whole, 32);
        }
    }
}

/* The two ends of the padding against the definition: 0x80, zeros, the length in bits. */
static void test_sha256_padding(void **state)
{
    uint8_t in[200] = {0}, block[256], out[32], want[32];

    (void)state;
    for (size_t n = 0; n < sizeof in; n++) {
        uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        size_t blocks = (n + 9 + 63) / 64;

        memset(in, (int)n, n);
        memset(block, 0, sizeof block);
        memcpy(block, in, n);
        block[n] = 0x80;
        block[64 * blocks - 2] = (uint8_t)(8 * n >> 8);
        block[64 * blocks - 1] = (uint8_t)(8 * n);
        sha256_blocks_generic(h, block, blocks);
        for (size_t i = 0; i < 32; i++) want[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
        sha256(out, in, n);
        assert_bytes_equal(out, want, 32);
    }
}

/* Two at a time are what they are alone, also where the machine does not make two at a time. */
static void test_sha256_two(void **state)
{
    uint8_t in[2][400], one[2][32], two[2][32];

    (void)state;
    harness_random_bytes(in, sizeof in);
    for (size_t n = 0; n <= sizeof in[0]; n++) {
        for (size_t k = 0; k < 2; k++) sha256(one[k], in[k], n);
        sha256_two(two[0], two[1], in[0], in[1], n);
        assert_bytes_equal(two, one, sizeof one);
    }
}

static void test_sha256_ni_equals_generic(void **state)
{
    uint8_t in[64 * 20 + 3];
    uint32_t a[8], b[8];

    (void)state;
    if (!sha256_has_ni()) harness_skip("this CPU has no SHA extensions");
    for (size_t i = 0, n = harness_iters(2000); i < n; i++) {
        size_t blocks = harness_random_below(21), at = harness_random_below(4);

        harness_random_bytes(in, sizeof in);
        harness_random_bytes(a, sizeof a);
        memcpy(b, a, sizeof a);
        sha256_blocks_generic(a, in + at, blocks);
        sha256_blocks_ni(b, in + at, blocks);
        assert_bytes_equal(b, a, sizeof a);
    }
}

/* RFC 7693, appendix E: pseudo-random input of a Fibonacci generator */
static void selftest_sequence(uint8_t *out, size_t len, uint32_t seed)
{
    uint32_t a = 0xdead4bad * seed, b = 1;

    for (size_t i = 0; i < len; i++) {
        uint32_t t = a + b;

        a = b;
        b = t;
        out[i] = (uint8_t)(t >> 24);
    }
}

static void blake2b(uint8_t *out, size_t out_len, const void *key, size_t key_len, const void *in,
                    size_t n)
{
    blake2b_ctx c;

    blake2b_init(&c, out_len, key, key_len);
    blake2b_update(&c, in, n);
    blake2b_final(&c, out);
}

static void blake2s(uint8_t *out, size_t out_len, const void *key, size_t key_len, const void *in,
                    size_t n)
{
    blake2s_ctx c;

    blake2s_init(&c, out_len, key, key_len);
    blake2s_update(&c, in, n);
    blake2s_final(&c, out);
}

static void test_blake2b_known(void **state)
{
    static const size_t out_lens[] = {20, 32, 48, 64}, in_lens[] = {0, 3, 128, 129, 255, 1024};
    uint8_t in[1024], key[64], out[64];
    blake2b_ctx all;

    (void)state;
    blake2b(out, 64, NULL, 0, "abc", 3);
    assert_hex_equal(out, 64,
                     "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                     "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    blake2b_init(&all, 32, NULL, 0);
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 6; k++) {
            selftest_sequence(in, in_lens[k], (uint32_t)in_lens[k]);
            blake2b(out, out_lens[i], NULL, 0, in, in_lens[k]);
            blake2b_update(&all, out, out_lens[i]);
            selftest_sequence(key, out_lens[i], (uint32_t)out_lens[i]);
            blake2b(out, out_lens[i], key, out_lens[i], in, in_lens[k]);
            blake2b_update(&all, out, out_lens[i]);
        }
    }
    blake2b_final(&all, out);
    assert_hex_equal(out, 32, "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475");
}

static void test_blake2s_known(void **state)
{
    static const size_t out_lens[] = {16, 20, 28, 32}, in_lens[] = {0, 3, 64, 65, 255, 1024};
    uint8_t in[1024], key[32], out[32];
    blake2s_ctx all;

    (void)state;
    blake2s(out, 32, NULL, 0, "abc", 3);
    assert_hex_equal(out, 32, "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
    blake2s_init(&all, 32, NULL, 0);
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 6; k++) {
            selftest_sequence(in, in_lens[k], (uint32_t)in_lens[k]);
            blake2s(out, out_lens[i], NULL, 0, in, in_lens[k]);
            blake2s_update(&all, out, out_lens[i]);
            selftest_sequence(key, out_lens[i], (uint32_t)out_lens[i]);
            blake2s(out, out_lens[i], key, out_lens[i], in, in_lens[k]);
            blake2s_update(&all, out, out_lens[i]);
        }
    }
    blake2s_final(&all, out);
    assert_hex_equal(out, 32, "6a411f08ce25adcdfb02aba641451cec53c598b24f4fc787fbdc88797f4c1dfe");
}

static void test_blake2_splits(void **state)
{
    uint8_t in[600], whole[64], split[64];
    blake2b_ctx b;
    blake2s_ctx s;

    (void)state;
    harness_random_bytes(in, sizeof in);
    for (size_t i = 0, rounds = harness_iters(2000); i < rounds; i++) {
        size_t n = harness_random_below(sizeof in + 1), key = harness_random_below(33);

        blake2b(whole, 64, in, key, in, n);
        blake2b_init(&b, 64, in, key);
        for (size_t at = 0, part; at < n; at += part) {
            part = harness_random_below(300);
            if (part > n - at) part = n - at;
            blake2b_update(&b, in + at, part);
        }
        blake2b_final(&b, split);
        assert_bytes_equal(split, whole, 64);

        blake2s(whole, 32, in, key, in, n);
        blake2s_init(&s, 32, in, key);
        for (size_t at = 0, part; at < n; at += part) {
            part = harness_random_below(150);
            if (part > n - at) part = n - at;
            blake2s_update(&s, in + at, part);
        }
        blake2s_final(&s, split);
        assert_bytes_equal(split, whole, 32);
    }
}

/* Many inputs of two words: what each gives alone. */
static void test_blake2b_pairs(void **state)
{
    uint64_t in[40][2], got[41];

    (void)state;
    for (size_t n = 0; n <= 40; n++) {
        harness_random_bytes(in, sizeof in);
        in[0][0] = 0;
        in[39][1] = UINT64_MAX;
        memset(got, 0x55, sizeof got);
        blake2b_pairs(got, (const uint64_t(*)[2])in, n);
        for (size_t i = 0; i < n; i++) {
            uint8_t bytes[16], want[64];
            store_u64le(bytes, in[i][0]);
            store_u64le(bytes + 8, in[i][1]);
            blake2b(want, 64, NULL, 0, bytes, sizeof bytes);
            assert_true(got[i] == load_u64le(want));
        }
        for (size_t i = n; i < 41; i++) assert_true(got[i] == UINT64_C(0x5555555555555555));
    }
}

static void test_chacha_known(void **state)
{
    static const uint8_t zero[32] = {0};
    uint8_t key[32], out[64];

    (void)state;
    for (size_t i = 0; i < 32; i++) key[i] = (uint8_t)i;
    chacha_block(out, key, (const uint32_t[4]){1, 0x09000000, 0x4a000000, 0}, 20);
    assert_hex_equal(out, 64,
                     "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
                     "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
    chacha_block(out, zero, (const uint32_t[4]){0, 0, 0, 0}, 20);
    assert_hex_equal(out, 64,
                     "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
                     "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
    chacha_block(out, zero, (const uint32_t[4]){0, 0, 0, 0}, 8);
    assert_hex_equal(out, 64,
                     "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
                     "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
}

static void test_os_random(void **state)
{
    uint8_t a[1000] = {0}, b[1000] = {0};
    size_t zeros = 0;

    (void)state;
    assert_int_equal(os_random(a, 0), 0);
    assert_int_equal(os_random(a, sizeof a), 0);
    assert_int_equal(os_random(b, sizeof b), 0);
    assert_memory_not_equal(a, b, sizeof a);
    for (size_t i = 0; i < sizeof a; i++) zeros += a[i] == 0;
    assert_true(zeros < 50); /* 4 are expected; 50 have a chance below 2^-128 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_known),   cmocka_unit_test(test_sha256_splits),
        cmocka_unit_test(test_sha256_padding), cmocka_unit_test(test_sha256_ni_equals_generic),
        cmocka_unit_test(test_sha256_two),     cmocka_unit_test(test_blake2b_known),
        cmocka_unit_test(test_blake2s_known),  cmocka_unit_test(test_blake2_splits),
        cmocka_unit_test(test_blake2b_pairs),  cmocka_unit_test(test_chacha_known),
        cmocka_unit_test(test_os_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
