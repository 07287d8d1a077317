/*
 * unit/r1cs/test_hash.c - digests and densities of small gadgets against the reference's
 *
 * The expected lines are those of spec/filecoin-expected.md section 5, which were measured with
 * bellpepper; the gadgets are typed from spec/filecoin-circuits.md sections 2 and 3. Each is built
 * twice: as one template, and as one template for a bit and one for the rest.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "base/hash.h"

#define MAX_BITS 256

/* Adds a gadget over n bits that are there already. */
typedef void (*gadget_fn)(r1cs_builder *b, const curve *cv, const uint32_t *bit);

typedef struct vector {
    const char *name;
    gadget_fn add;
    uint32_t n_bits;
    uint32_t n_inputs, n_aux, n_rows, n_a_aux, n_b_aux;
    uint32_t n_b_input; /* ONE, where the B side has it */
    const char *hash;
} vector;

static r1cs_lc *not_lc(r1cs_builder *b, const curve *cv, uint32_t bit)
{
    r1cs_lc *lc = r1cs_lc_wire(b, 0);
    fr minus_one = support_neg(cv, 1);

    r1cs_lc_add(b, lc, bit, &minus_one);
    return lc;
}

static void add_nothing(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    (void)b;
    (void)cv;
    (void)bit;
}

static void add_xor(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    uint32_t c = r1cs_alloc_bit(b);
    r1cs_lc *twice = r1cs_lc_wire(b, bit[0]), *sum = r1cs_lc_wire(b, bit[0]);
    fr minus_one = support_neg(cv, 1);

    r1cs_lc_add(b, twice, bit[0], &cv->fr_one);
    r1cs_lc_add(b, sum, bit[1], &cv->fr_one);
    r1cs_lc_add(b, sum, c, &minus_one);
    r1cs_enforce(b, twice, r1cs_lc_wire(b, bit[1]), sum);
}

static void add_and(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    uint32_t c = r1cs_alloc_bit(b);

    (void)cv;
    r1cs_enforce(b, r1cs_lc_wire(b, bit[0]), r1cs_lc_wire(b, bit[1]), r1cs_lc_wire(b, c));
}

static void add_and_not(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    uint32_t c = r1cs_alloc_bit(b);

    r1cs_enforce(b, r1cs_lc_wire(b, bit[0]), not_lc(b, cv, bit[1]), r1cs_lc_wire(b, c));
}

static void add_nor(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    uint32_t c = r1cs_alloc_bit(b);

    r1cs_enforce(b, not_lc(b, cv, bit[0]), not_lc(b, cv, bit[1]), r1cs_lc_wire(b, c));
}

static void add_ch(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    uint32_t ch = r1cs_alloc_bit(b);
    fr minus_one = support_neg(cv, 1);
    r1cs_lc *left = r1cs_lc_wire(b, bit[1]), *right = r1cs_lc_wire(b, ch);

    r1cs_lc_add(b, left, bit[2], &minus_one);
    r1cs_lc_add(b, right, bit[2], &minus_one);
    r1cs_enforce(b, left, r1cs_lc_wire(b, bit[0]), right);
}

static void add_maj(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    uint32_t maj = r1cs_alloc_bit(b), bc = r1cs_alloc_bit(b);
    fr minus_one = support_neg(cv, 1), two = support_u64(cv, 2);
    r1cs_lc *left = r1cs_lc_new(b), *right = r1cs_lc_wire(b, bc);

    r1cs_enforce(b, r1cs_lc_wire(b, bit[1]), r1cs_lc_wire(b, bit[2]), r1cs_lc_wire(b, bc));
    r1cs_lc_add(b, left, bc, &two);
    r1cs_lc_add(b, left, bit[1], &minus_one);
    r1cs_lc_add(b, left, bit[2], &minus_one);
    r1cs_lc_add(b, right, maj, &minus_one);
    r1cs_enforce(b, left, r1cs_lc_wire(b, bit[0]), right);
}

static void add_to_bits(r1cs_builder *b, const curve *cv, const uint32_t *none)
{
    uint32_t x = r1cs_alloc(b), bit[255];
    fr minus_one = support_neg(cv, 1);
    r1cs_lc *sum;

    (void)none;
    for (size_t i = 0; i < 255; i++) bit[i] = gadget_bit(b, cv);
    sum = gadget_pack(b, cv, bit, 255);
    r1cs_lc_add(b, sum, x, &minus_one);
    r1cs_enforce(b, NULL, NULL, sum);
}

static void add_pack(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    uint32_t n = r1cs_alloc(b);

    r1cs_enforce(b, gadget_pack(b, cv, bit, 254), r1cs_lc_wire(b, 0), r1cs_lc_wire(b, n));
}

static void pack_inputs(r1cs_builder *b, const curve *cv, const uint32_t *bit, size_t n)
{
    for (size_t from = 0; from < n; from += 254) {
        size_t len = n - from < 254 ? n - from : 254;
        uint32_t i = r1cs_alloc_input(b);

        r1cs_enforce(b, gadget_pack(b, cv, bit + from, len), r1cs_lc_wire(b, 0),
                     r1cs_lc_wire(b, i));
    }
}

static void add_inputs_64(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    pack_inputs(b, cv, bit, 64);
}

static void add_inputs_256(r1cs_builder *b, const curve *cv, const uint32_t *bit)
{
    pack_inputs(b, cv, bit, 256);
}

static const vector vectors[] = {
    {"bit_alloc", add_nothing, 1, 1, 1, 1, 1, 1, 0,
     "98d0daed948fd105b316b92d3bf903dd814f4f6d765d62d1e26c596ebd48e141"},
    {"xor", add_xor, 2, 1, 3, 3, 2, 2, 0,
     "e430b83d25edf4f65eafbf17a49585b6259298fe7f8abf55e02577c3c22aa5bb"},
    {"and", add_and, 2, 1, 3, 3, 2, 2, 0,
     "fe7ea60f0d9d43ebb809d1eea937a5e3db631ced98dd57760183d58862ce88f9"},
    {"and_not", add_and_not, 2, 1, 3, 3, 2, 2, 1,
     "63800aeeaa1b9b13fa2f82ff56feec39b9e68e3a3332d3e45e580e37c09ad37a"},
    {"nor", add_nor, 2, 1, 3, 3, 2, 2, 1,
     "9a7ed77ccf2cd97a4ac397511b09ae98fe35264ca504189d90340096638d2893"},
    {"sha256_ch", add_ch, 3, 1, 4, 4, 3, 3, 0,
     "345433e1b2d450193a9a6cdfbf5d05b8b1b3a88478cc6839f5d4b2940452e127"},
    {"sha256_maj", add_maj, 3, 1, 5, 5, 4, 3, 0,
     "c6ffbfab539c068e45801c52b12294c3b931bb71987ac42f603db42d5fb48351"},
    {"to_bits_le", add_to_bits, 0, 1, 256, 256, 255, 255, 0,
     "fe8f60dff8688ec7c39a8ebb4750cc381c306c9f430d43e0fcf0ca5a23025477"},
    {"pack_bits 254", add_pack, 254, 1, 255, 255, 254, 254, 1,
     "9056344275730c0854dfe43326bc7bb4039a8963f3e15e12c77a2f4dd27a6790"},
    {"pack_into_inputs 64", add_inputs_64, 64, 2, 64, 65, 64, 64, 1,
     "0e7238471f4402dc32ca8354d8439889c3433f14c5130cce08f4f3a2a2b00e70"},
    {"pack_into_inputs 256", add_inputs_256, 256, 3, 256, 258, 256, 256, 1,
     "f8ff38ec44ec2952bb8c7904b0f3be8af40b8fbef3fe58fc6a37aa8f48539500"},
};

static void expect(const vector *v, r1cs_system *sys)
{
    uint8_t digest[32];

    print_message("%s\n", v->name);
    assert_status_ok(r1cs_finish(sys));
    assert_int_equal(sys->n_inputs, v->n_inputs);
    assert_int_equal(sys->n_aux, v->n_aux);
    assert_int_equal(sys->n_rows, v->n_rows);
    assert_int_equal(r1cs_total_rows(sys), v->n_rows + v->n_inputs);
    assert_int_equal(sys->n_a_aux, v->n_a_aux);
    assert_int_equal(sys->n_b_aux, v->n_b_aux);
    assert_int_equal(sys->n_b_input, v->n_b_input);
    assert_int_equal(sys->b_input[0], v->n_b_input);
    assert_status_ok(r1cs_hash(sys, digest));
    assert_hex_equal(digest, 32, v->hash);
}

static void one_template(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BLS12_381);

    (void)state;
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        const vector *v = &vectors[k];
        mem *m = support_mem();
        r1cs_system *sys = NULL;
        r1cs_builder *b = NULL;
        uint32_t bit[MAX_BITS] = {0}, index;

        assert_status_ok(r1cs_new(&sys, cv, v->name, m));
        assert_status_ok(r1cs_builder_new(&b, sys, v->name, 0));
        for (uint32_t i = 0; i < v->n_bits; i++) bit[i] = gadget_bit(b, cv);
        v->add(b, cv, bit);
        assert_status_ok(r1cs_builder_finish(b, &index));
        r1cs_builder_free(b);
        assert_status_ok(r1cs_add(sys, index, NULL, NULL, NULL));
        expect(v, sys);
        r1cs_free(sys);
        support_close(m);
    }
}

static void two_templates(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BLS12_381);

    (void)state;
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        const vector *v = &vectors[k];
        mem *m = support_mem();
        r1cs_system *sys = NULL;
        r1cs_builder *b = NULL;
        uint32_t wire[MAX_BITS] = {0}, bit_tmpl, rest_tmpl;
        r1cs_wire bit[MAX_BITS] = {0};

        assert_status_ok(r1cs_new(&sys, cv, v->name, m));
        assert_status_ok(r1cs_builder_new(&b, sys, v->name, v->n_bits));
        for (uint32_t i = 0; i < v->n_bits; i++) wire[i] = r1cs_in(b, i);
        v->add(b, cv, wire);
        assert_status_ok(r1cs_builder_finish(b, &rest_tmpl));
        r1cs_builder_free(b);
        assert_status_ok(r1cs_builder_new(&b, sys, "bit", 0));
        (void)gadget_bit(b, cv);
        assert_status_ok(r1cs_builder_finish(b, &bit_tmpl));
        r1cs_builder_free(b);
        for (uint32_t i = 0; i < v->n_bits; i++) {
            assert_status_ok(r1cs_add(sys, bit_tmpl, NULL, &bit[i], NULL));
        }
        assert_status_ok(r1cs_add(sys, rest_tmpl, bit, NULL, NULL));
        expect(v, sys);
        r1cs_free(sys);
        support_close(m);
    }
}

/* Nothing but ONE: the digest of the three counts. */
static void empty_system(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = NULL;
    uint8_t digest[32], want[32], counts[24] = {0};
    blake2s_ctx ctx;

    (void)state;
    counts[7] = 1;
    blake2s_init(&ctx, 32, NULL, 0);
    blake2s_update(&ctx, counts, sizeof counts);
    blake2s_final(&ctx, want);
    assert_status_ok(r1cs_new(&sys, support_curve(CURVE_ID_BLS12_381), "empty", m));
    assert_status_ok(r1cs_finish(sys));
    assert_status_ok(r1cs_hash(sys, digest));
    assert_bytes_equal(digest, want, 32);
    r1cs_free(sys);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_template),
        cmocka_unit_test(two_templates),
        cmocka_unit_test(empty_system),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
