/*
 * unit/circuit/test_sha256.c - SHA-256's rows against the reference's constraint-system hashes, and its values against the rows
 *
 * Values: spec/filecoin-expected.md section 5 (bellpepper-core 0.2.1, rust-fil-proofs 87348a7).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "base/hash.h"
#include "circuit/gadget/sha256_block.h"

/* ---- rows ---- */

static boolean bit_of(uint32_t wire, bool negated)
{
    return negated ? boolean_not(boolean_is(wire)) : boolean_is(wire);
}

/* n: bit 0 negates the second operand. */
static void rows_xor(const gadget *g, unsigned n)
{
    uint32_t b[2];

    support_bits(g, b, 2);
    (void)boolean_xor(g, boolean_is(b[0]), bit_of(b[1], n == 1));
}

/* n: bit k negates operand k. */
static void rows_and(const gadget *g, unsigned n)
{
    uint32_t b[2];

    support_bits(g, b, 2);
    (void)boolean_and(g, bit_of(b[0], (n & 1) != 0), bit_of(b[1], (n & 2) != 0));
}

static void rows_ch(const gadget *g, unsigned n)
{
    uint32_t b[3];

    support_bits(g, b, n);
    (void)boolean_ch(g, boolean_is(b[0]), boolean_is(b[1]), boolean_is(b[2]));
}

static void rows_maj(const gadget *g, unsigned n)
{
    uint32_t b[3];

    support_bits(g, b, n);
    (void)boolean_maj(g, boolean_is(b[0]), boolean_is(b[1]), boolean_is(b[2]));
}

static void rows_to_bits(const gadget *g, unsigned n)
{
    uint32_t x[1], bits[NUM_BITS];

    support_numbers(g, x, n);
    num_to_bits(g, bits, x[0]);
}

static void rows_pack(const gadget *g, unsigned n)
{
    uint32_t b[254];

    support_bits(g, b, n);
    (void)num_pack(g, b, n);
}

static void rows_pack_inputs(const gadget *g, unsigned n)
{
    uint32_t b[256];

    support_bits(g, b, n);
    num_pack_input(g, b, 254);
    num_pack_input(g, b + 254, n - 254);
}

#define MAX_MESSAGE 1024 /* bits */

/* Message bits come highest of each byte first. */
static void rows_sha256(const gadget *g, unsigned n)
{
    static sha256_plan plan; /* large, and not looked at */
    uint32_t b[MAX_MESSAGE];
    sha256_hash h = sha256_initial_hash();
    unsigned n_blocks = (n + 1 + 64 + 511) / 512;

    support_bits(g, b, n);
    for (unsigned k = 0; k < n_blocks; k++) {
        boolean block[512];

        for (unsigned i = 0; i < 512; i++) {
            unsigned at = 512 * k + i, left = 512 * n_blocks - 1 - at;
            bool one = at == n || (left < 64 && ((uint64_t)n >> left & 1) != 0);

            block[i ^ 7] = at < n ? boolean_is(b[at]) : boolean_constant(one);
        }
        sha256_compress_rows(g, &plan, &h, block);
    }
}

static const recipe recipes[] = {
    {{"xor", 1, 3, 3, 2, 2, "e430b83d25edf4f65eafbf17a49585b6259298fe7f8abf55e02577c3c22aa5bb"},
     rows_xor,
     0},
    {{"xor not", 1, 3, 3, 2, 2, "e430b83d25edf4f65eafbf17a49585b6259298fe7f8abf55e02577c3c22aa5bb"},
     rows_xor,
     1},
    {{"and", 1, 3, 3, 2, 2, "fe7ea60f0d9d43ebb809d1eea937a5e3db631ced98dd57760183d58862ce88f9"},
     rows_and,
     0},
    {{"and not", 1, 3, 3, 2, 2, "63800aeeaa1b9b13fa2f82ff56feec39b9e68e3a3332d3e45e580e37c09ad37a"},
     rows_and,
     2},
    {{"nor", 1, 3, 3, 2, 2, "9a7ed77ccf2cd97a4ac397511b09ae98fe35264ca504189d90340096638d2893"},
     rows_and,
     3},
    {{"ch", 1, 4, 4, 3, 3, "345433e1b2d450193a9a6cdfbf5d05b8b1b3a88478cc6839f5d4b2940452e127"},
     rows_ch,
     3},
    {{"maj", 1, 5, 5, 4, 3, "c6ffbfab539c068e45801c52b12294c3b931bb71987ac42f603db42d5fb48351"},
     rows_maj,
     3},
    {{"to_bits_le", 1, 256, 256, 255, 255,
      "fe8f60dff8688ec7c39a8ebb4750cc381c306c9f430d43e0fcf0ca5a23025477"},
     rows_to_bits,
     1},
    {{"pack_bits(254)", 1, 255, 255, 254, 254,
      "9056344275730c0854dfe43326bc7bb4039a8963f3e15e12c77a2f4dd27a6790"},
     rows_pack,
     254},
    {{"pack_into_inputs(256)", 3, 256, 258, 256, 256,
      "f8ff38ec44ec2952bb8c7904b0f3be8af40b8fbef3fe58fc6a37aa8f48539500"},
     rows_pack_inputs,
     256},
    {{"sha256(256)", 1, 25474, 25500, 25474, 6566,
      "e43d5115fdc6f42c40a70704fa0ca7b231f7c540347d2c172a3f6cb386ae47cc"},
     rows_sha256,
     256},
    {{"sha256(512)", 1, 45340, 45386, 45340, 11500,
      "39b920088193af138e8d3494179b1d9a20442bb23e28e65028b068c6a9e48771"},
     rows_sha256,
     512},
    {{"sha256(1024)", 1, 72018, 72090, 72018, 18322,
      "4bdddb7b847a238677e33c65f58a043eb0def34fd073ee93ab6c2ea3883b844e"},
     rows_sha256,
     1024},
};

static void test_rows(void **state)
{
    (void)state;
    support_check_recipes(recipes, sizeof recipes / sizeof recipes[0]);
}

/* A hash of nothing is constant: no row, no variable. */
static void rows_empty(const gadget *g, unsigned n)
{
    static const uint32_t empty[8] = {0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924,
                                      0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855};
    static sha256_plan plan;
    sha256_hash h = sha256_initial_hash();
    boolean block[512];

    for (unsigned i = 0; i < 512; i++) block[i] = boolean_constant(i == 7);
    sha256_compress_rows(g, &plan, &h, block);
    for (unsigned i = 0; i < 256; i++) {
        assert_true(boolean_is_constant(h.bit[i]));
        assert_int_equal(!boolean_is_negated(h.bit[i]), empty[i / 32] >> i % 32 & 1);
    }
    support_bits(g, (uint32_t[1]){0}, n);
}

static void test_constants_cost_nothing(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = support_system_of("empty", rows_empty, 1, m);

    (void)state;
    assert_int_equal(sys->n_aux, 1);
    assert_int_equal(sys->n_rows, 1);
    r1cs_free(sys);
    support_close(m);
}

/* ---- blocks ---- */

/* A number of bytes whose bits are variables: one instance of `bits` at the start of the assignment. */
static void put_bytes(r1cs_assignment *w, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) w->bits[i / 8] |= (uint64_t)bytes[i] << 8 * (i % 8);
}

/* The label of node 22 in layer 3: 37 parents and a replica id, all of them bits without further meaning. */
#define LABEL_PARENTS 37
#define LABEL_BYTES (64 + 32 * LABEL_PARENTS)
#define LABEL_BLOCKS 20

typedef struct label {
    sha256_pattern pattern[3]; /* first block, middle ones, last one */
    uint32_t tmpl[3];
} label;

static const sha256_pattern *label_pattern(const label *l, unsigned k)
{
    return &l->pattern[k == 0 ? 0 : k + 1 < LABEL_BLOCKS ? 1 : 2];
}

static void label_patterns(label *l)
{
    *l = (label){0};
    l->pattern[0].initial = true;
    memset(l->pattern[0].wire, 0xff, 32);
    l->pattern[0].value[35] = 3;
    l->pattern[0].value[43] = 22;
    memset(l->pattern[1].wire, 0xff, 64);
    memset(l->pattern[2].wire, 0xff, 32);
    l->pattern[2].value[32] = 0x80;
    l->pattern[2].value[62] = LABEL_BYTES * 8 >> 8;
    l->pattern[2].value[63] = (LABEL_BYTES * 8) & 0xff;
}

/* The recipe allocates bits as messages have them, highest of each byte first; here bit k of a byte string is wire k ^ 7. */
static void wires_of_bytes(r1cs_wire *out, r1cs_wire first, size_t n_bits)
{
    for (size_t k = 0; k < n_bits; k++) out[k] = first + (r1cs_wire)(k ^ 7);
}

static r1cs_system *label_system(label *l, mem *m)
{
    r1cs_system *sys = support_system_new("label", m);
    r1cs_wire first, h[256], block[512];

    label_patterns(l);
    first = support_add_own(sys, support_rows_bits, 256 * (LABEL_PARENTS + 1));
    for (unsigned i = 0; i < 3; i++)
        assert_status_ok(sha256_block_template(&l->tmpl[i], sys, "block", &l->pattern[i]));
    for (unsigned k = 0; k < LABEL_BLOCKS; k++) {
        if (k == 0)
            wires_of_bytes(block, first + 256 * LABEL_PARENTS, 256);
        else
            wires_of_bytes(block, first + 512 * (k - 1), k + 1 < LABEL_BLOCKS ? 512 : 256);
        assert_status_ok(
            sha256_block_add(sys, l->tmpl[label_pattern(l, k) - l->pattern], h, block));
    }
    return sys;
}

static void rows_pack_digest(const gadget *g, unsigned n)
{
    uint32_t bits[254];

    for (unsigned k = 0; k < n; k++) bits[k] = r1cs_in(g->b, sha256_digest_at(k));
    (void)num_pack(g, bits, n);
}

static void add_pack(r1cs_system *sys, const label *l)
{
    const r1cs_instance *last = &sys->instances[LABEL_BLOCKS];
    uint32_t n = sys->templates[l->tmpl[2]].n_local, tmpl, offset[8], at = n;
    r1cs_builder *b = NULL;
    r1cs_wire h[256];
    gadget g;

    /* the last eight additions: 35 bits for the first and the fifth, 33 for the others */
    for (unsigned i = 8; i-- > 0;) offset[i] = at -= i % 4 == 0 ? 35 : 33;
    for (unsigned i = 0; i < 256; i++)
        h[i] = R1CS_AUX | (last->aux_start + offset[i / 32] + i % 32);
    assert_status_ok(r1cs_builder_new(&b, sys, "pack", 256));
    g = gadget_of(b, support_curve());
    rows_pack_digest(&g, 254);
    assert_status_ok(r1cs_builder_finish(b, &tmpl));
    r1cs_builder_free(b);
    assert_status_ok(r1cs_add(sys, tmpl, h, NULL, NULL));
}

static void test_label(void **state)
{
    static const expected_system want = {
        "create_label",
        1,
        531505,
        532025,
        531504,
        135928,
        "0759ddd2645a276700fad35fe3125ec00ac1c96ee74bdab68cc2edc81f8d301e"};
    mem *m = support_mem();
    label l;
    r1cs_system *sys = label_system(&l, m);
    r1cs_assignment *w = NULL;
    uint8_t message[LABEL_BLOCKS * 64] = {0}, out[32], plain[32], turned[256 / 8 * 38];
    uint32_t h[8];

    (void)state;
    add_pack(sys, &l);
    assert_status_ok(r1cs_finish(sys));
    support_check_system(sys, &want);

    harness_random_bytes(message, LABEL_BYTES);
    memcpy(message + 32, l.pattern[0].value + 32, 32);
    memcpy(message + LABEL_BYTES, l.pattern[2].value + 32, 32);
    assert_status_ok(r1cs_assignment_new(&w, sys, m));
    memcpy(turned, message + 64, 32 * LABEL_PARENTS);
    memcpy(turned + 32 * LABEL_PARENTS, message, 32);
    for (size_t i = 0; i < sizeof turned; i++) {
        uint8_t b = 0;

        for (unsigned k = 0; k < 8; k++) b = (uint8_t)(b | (turned[i] >> k & 1) << (7 - k));
        turned[i] = b;
    }
    put_bytes(w, turned, sizeof turned);
    memcpy(h, sha256_initial, sizeof h);
    for (unsigned k = 0; k < LABEL_BLOCKS; k++)
        sha256_block_values(w, &sys->instances[1 + k], h, message + 64 * k);
    sha256_digest_bytes(out, h);
    sha256(plain, message, LABEL_BYTES);
    assert_bytes_equal(out, plain, 32);
    out[31] &= 0x3f;
    w->elems[0] = support_fr_of(out);
    support_holds(sys, w);
    r1cs_assignment_free(w);
    r1cs_free(sys);
    support_close(m);
}

/* Bytes of wires, of constants, and of both. */
static void random_pattern(sha256_pattern *p, uint8_t block[64])
{
    p->initial = harness_random_below(2) == 0;
    harness_random_bytes(block, 64);
    for (size_t i = 0; i < 64; i++) {
        uint64_t kind = harness_random_below(3);

        p->wire[i] = kind == 0 ? 0 : kind == 1 ? 0xff : (uint8_t)harness_random_u64();
        p->value[i] = block[i];
    }
    p->wire[harness_random_below(64)] |= 1;
}

/* The bits that a pattern passes in, packed; how many. */
static size_t passed_in(const sha256_pattern *p, const uint8_t *block, uint8_t *packed)
{
    size_t n = 0;

    for (unsigned k = 0; k < 512; k++) {
        if ((p->wire[k / 8] >> k % 8 & 1) == 0) continue;
        packed[n / 8] = (uint8_t)(packed[n / 8] | (block[k / 8] >> k % 8 & 1) << n % 8);
        n++;
    }
    return n;
}

/* Whatever is constant: the values satisfy the rows, and the hash is that of the plain function. */
static void test_random_patterns(void **state)
{
    (void)state;
    for (size_t round = 0; round < harness_iters(6); round++) {
        mem *m = support_mem();
        r1cs_system *sys = support_system_new("pattern", m);
        r1cs_assignment *w = NULL;
        r1cs_wire first, h_wires[256], block_wires[512];
        uint8_t block[64], own[32 + 64] = {0};
        sha256_pattern p;
        sha256_ctx plain = {0};
        uint32_t h[8], tmpl;

        random_pattern(&p, block);
        harness_random_bytes(h, sizeof h);
        if (p.initial) memcpy(h, sha256_initial, sizeof h);
        memcpy(own, h, 32);
        (void)passed_in(&p, block, own + 32);
        first = support_add_own(sys, support_rows_bits, 256 + 512);
        for (unsigned i = 0; i < 256; i++) h_wires[i] = first + i;
        for (unsigned i = 0; i < 512; i++) block_wires[i] = first + 256 + i;
        assert_status_ok(sha256_block_template(&tmpl, sys, "block", &p));
        assert_status_ok(sha256_block_add(sys, tmpl, h_wires, block_wires));
        assert_status_ok(r1cs_finish(sys));

        assert_status_ok(r1cs_assignment_new(&w, sys, m));
        put_bytes(w, own, sizeof own);
        memcpy(plain.h, h, sizeof h);
        sha256_update(&plain, block, 64);
        sha256_block_values(w, &sys->instances[1], h, block);
        assert_bytes_equal(h, plain.h, sizeof h);
        support_holds(sys, w);
        for (unsigned i = 0; i < 256; i++) {
            fr x;

            r1cs_get(w, h_wires[i], &x);
            assert_int_equal(support_curve()->fr_is_zero(&x), (h[i / 32] >> i % 32 & 1) == 0);
        }
        r1cs_assignment_free(w);
        r1cs_free(sys);
        support_close(m);
    }
}

static void test_constants_alone_are_no_template(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = support_system_new("constants", m);
    sha256_pattern p = {.initial = true};
    uint32_t tmpl;

    (void)state;
    assert_status_is(sha256_block_template(&tmpl, sys, "block", &p), CUZK_EINVAL);
    r1cs_free(sys);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_constants_cost_nothing),
        cmocka_unit_test(test_label),
        cmocka_unit_test(test_random_patterns),
        cmocka_unit_test(test_constants_alone_are_no_template),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
