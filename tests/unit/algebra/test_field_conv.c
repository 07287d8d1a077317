/*
 * unit/algebra/test_field_conv.c - elements from and to plain limbs, bytes, decimal digits; what is refused
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "field_tests.h"

/* v as decimal digits, by repeated division of single digits: the model of to_dec */
static void model_dec(char *out, const uint64_t *v, unsigned n)
{
    uint8_t digits[CURVE_DEC_MAX] = {0};
    unsigned len = 1, pos = 0;
    for (unsigned bit = 64 * n; bit-- > 0;) {
        unsigned carry = v[bit / 64] >> (bit % 64) & 1;
        for (unsigned i = 0; i < len; i++) {
            unsigned d = 2u * digits[i] + carry;
            digits[i] = (uint8_t)(d % 10);
            carry = d / 10;
        }
        if (carry != 0) digits[len++] = (uint8_t)carry;
    }
    while (len > 0) out[pos++] = (char)('0' + digits[--len]);
    out[pos] = '\0';
}

/* v, a plain value below m, through every form */
static void check_forms(const field_ops *o, const uint64_t *v)
{
    uint64_t a[NMAX], b[NMAX], out[NMAX], want[NMAX];
    uint8_t le[8 * NMAX], be[8 * NMAX];
    char dec[CURVE_DEC_MAX], model[CURVE_DEC_MAX], padded[CURVE_DEC_MAX];
    size_t size = 8 * o->n;

    assert_true(o->from_limbs(a, v));
    assert_canonical(o, "from_limbs", a);
    model_mul(o, want, v, o->mont_one);
    assert_words(o, "from_limbs is v R", a, want, o->n);
    o->to_limbs(out, a);
    assert_words(o, "to_limbs", out, v, o->n);

    o->to_le_bytes(le, a);
    o->to_be_bytes(be, a);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(le[i], v[i / 8] >> (i % 8 * 8) & 0xff);
        assert_int_equal(be[size - 1 - i], le[i]);
    }
    assert_true(o->from_le_bytes(b, le));
    assert_words(o, "from_le_bytes", b, a, o->n);
    assert_true(o->from_be_bytes(b, be));
    assert_words(o, "from_be_bytes", b, a, o->n);

    o->to_dec(dec, a);
    model_dec(model, v, o->n);
    assert_string_equal(dec, model);
    assert_true(o->from_dec(b, dec, strlen(dec)));
    assert_words(o, "from_dec", b, a, o->n);
    memset(padded, '0', sizeof padded);
    memcpy(padded + CURVE_DEC_MAX - 1 - strlen(dec), dec, strlen(dec));
    assert_true(o->from_dec(b, padded, CURVE_DEC_MAX - 1));
    assert_words(o, "from_dec, zeros before", b, a, o->n);

    assert_int_equal(o->is_larger_half(a), model_cmp(v, o->half, o->n) > 0);
}

static void forms_of(const field_ops *o)
{
    uint64_t v[NMAX];
    for (unsigned k = 0; k < FIELD_EDGES; k++) {
        edge(o, v, k);
        check_forms(o, v);
    }
    for (size_t i = harness_iters(300); i-- > 0;) {
        random_element(o, v);
        check_forms(o, v);
    }
}

static void test_forms(void **state)
{
    (void)state;
    for_each_field(forms_of);
}

/* v at or above m is refused in every form, and the output keeps its bytes */
static void check_refused(const field_ops *o, const uint64_t *v)
{
    uint64_t r[NMAX], marked[NMAX];
    uint8_t le[8 * NMAX], be[8 * NMAX];
    char dec[CURVE_DEC_MAX];
    size_t size = 8 * o->n;

    memset(r, 0xa5, sizeof r);
    memcpy(marked, r, sizeof r);
    for (size_t i = 0; i < size; i++) {
        le[i] = (uint8_t)(v[i / 8] >> (i % 8 * 8));
        be[size - 1 - i] = le[i];
    }
    assert_false(o->is_canonical(v));
    assert_false(o->from_limbs(r, v));
    assert_false(o->from_le_bytes(r, le));
    assert_false(o->from_be_bytes(r, be));
    model_dec(dec, v, o->n);
    assert_false(o->from_dec(r, dec, strlen(dec)));
    assert_words(o, "untouched", r, marked, o->n);
}

static void refused_of(const field_ops *o)
{
    uint64_t v[NMAX];

    check_refused(o, o->modulus);
    for (unsigned bit = 0; bit < 64 * o->n; bit++) { /* m with a bit more; 2^k above m */
        memcpy(v, o->modulus, sizeof v[0] * o->n);
        v[bit / 64] |= (uint64_t)1 << (bit % 64);
        check_refused(o, v);
        memset(v, 0, sizeof v);
        v[bit / 64] = (uint64_t)1 << (bit % 64);
        if (bit >= o->bits) check_refused(o, v);
    }
    memset(v, 0xff, sizeof v);
    check_refused(o, v);
}

static void test_refused(void **state)
{
    (void)state;
    for_each_field(refused_of);
}

static void bad_digits_of(const field_ops *o)
{
    static const char *const bad[] = {"-1",  "+1", " 1", "1 ", "0x1", "1e2",
                                      "1.0", "a",  "/",  ":",  "1\n"};
    char many[CURVE_DEC_MAX + 1];
    uint64_t r[NMAX], marked[NMAX];

    memset(r, 0xa5, sizeof r);
    memcpy(marked, r, sizeof r);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(o->from_dec(r, bad[k], strlen(bad[k])));
    assert_false(o->from_dec(r, "", 0));
    assert_false(o->from_dec(r, "1\0", 2)); /* the length counts, not a NUL */
    memset(many, '9', sizeof many);
    for (size_t len = 116; len <= CURVE_DEC_MAX + 1; len++) assert_false(o->from_dec(r, many, len));
    memset(many, '0', sizeof many);
    assert_false(o->from_dec(r, many, CURVE_DEC_MAX)); /* a zero, but longer than any */
    assert_words(o, "untouched", r, marked, o->n);
    assert_true(o->from_dec(r, "12junk", 2)); /* len characters and no more */
    o->from_u64(marked, 12);
    assert_words(o, "12", r, marked, o->n);
}

static void test_bad_digits(void **state)
{
    (void)state;
    for_each_field(bad_digits_of);
}

static void words_of(const field_ops *o)
{
    static const uint64_t values[] = {
        0, 1, 2, 240, 726, 1u << 31, UINT64_MAX >> 1, UINT64_MAX - 1, UINT64_MAX};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        uint64_t a[NMAX], out[NMAX], v[NMAX] = {0};
        v[0] = values[k];
        model_mod(o, v, v, o->n);
        o->from_u64(a, values[k]);
        assert_canonical(o, "from_u64", a);
        o->to_limbs(out, a);
        assert_words(o, "from_u64", out, v, o->n);
    }
}

static void test_words(void **state)
{
    (void)state;
    for_each_field(words_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bad_digits),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
