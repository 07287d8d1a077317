/*
 * unit/r1cs/test_coeffs.c - systems from loose terms: zkeys against their .r1cs, any order, duplicates, damage
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "r1cs/circom.h"
#include "r1cs/coeffs.h"

#define ENTRY 44u

typedef struct zkey {
    uint8_t *data;
    size_t size;
    const uint8_t *entries;
    uint32_t n, n_vars, n_public, domain;
} zkey;

/* What groth16 takes out of a zkey before it asks for the coefficients. */
static zkey read_zkey(const support_circuit *c)
{
    zkey z = {.data = NULL};
    circom_file f;
    bytes_in in;
    uint32_t n8q, n8r;

    z.data = support_read(c, "circuit.zkey", &z.size);
    assert_status_ok(circom_file_read(&f, z.data, z.size, "zkey"));
    assert_status_ok(circom_file_section(&f, 2, "header", &in));
    assert_status_ok(bytes_get_u32le(&in, &n8q));
    assert_status_ok(bytes_skip(&in, n8q));
    assert_status_ok(bytes_get_u32le(&in, &n8r));
    assert_status_ok(bytes_skip(&in, n8r));
    assert_status_ok(bytes_get_u32le(&in, &z.n_vars));
    assert_status_ok(bytes_get_u32le(&in, &z.n_public));
    assert_status_ok(bytes_get_u32le(&in, &z.domain));
    assert_status_ok(circom_file_section(&f, 4, "coefficients", &in));
    assert_status_ok(bytes_get_u32le(&in, &z.n));
    assert_int_equal(bytes_left(&in), (size_t)z.n * ENTRY);
    z.entries = in.data + in.pos;
    return z;
}

static cuzk_status from_zkey(r1cs_system **out, const curve *cv, const zkey *z,
                             const uint8_t *entries, mem *m)
{
    return r1cs_from_zkey(out, cv, z->n_public + 1, z->n_vars - z->n_public - 1, z->domain, entries,
                          z->n, m);
}

/* Row `row` of x and y is the same, coefficients by value. */
static void expect_same_row(const r1cs_system *s, const r1cs_matrix *x, const r1cs_system *t,
                            const r1cs_matrix *y, uint32_t row)
{
    uint32_t n = x->row_start[row + 1] - x->row_start[row];

    assert_int_equal(y->row_start[row + 1] - y->row_start[row], n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = x->row_start[row] + i, q = y->row_start[row] + i;

        assert_int_equal(x->wire[p], y->wire[q]);
        assert_true(s->cv->fr_eq(&s->coeffs[x->coeff[p]], &t->coeffs[y->coeff[q]]));
    }
}

static void expect_input_rows(const r1cs_system *zk, const r1cs_system *rc)
{
    const r1cs_template *t = &zk->templates[0];

    for (uint32_t s = 0; s < rc->n_inputs; s++) {
        uint32_t row = rc->n_rows + s, at = t->a.row_start[row];

        assert_int_equal(t->a.row_start[row + 1] - at, 1);
        assert_int_equal(t->a.wire[at], s == 0 ? 0 : rc->n_aux + s);
        assert_int_equal(t->a.coeff[at], 0);
        assert_int_equal(t->b.row_start[row + 1], t->b.row_start[row]);
    }
}

static size_t words(uint32_t bits)
{
    return ((size_t)bits + 63) / 64;
}

static void zkeys_hold_their_r1cs(void **state)
{
    (void)state;
    for (size_t k = 0; k < support_n_circuits; k++) {
        const support_circuit *c = &support_circuits[k];
        const curve *cv = support_curve(c->id);
        mem *m = support_mem();
        zkey z = read_zkey(c);
        size_t size;
        uint8_t *data = support_read(c, "circuit.r1cs", &size);
        r1cs_system *rc = NULL, *zk = NULL;
        uint8_t digest[32];

        assert_status_ok(circom_r1cs_read(&rc, data, size, cv->table, m));
        assert_status_ok(from_zkey(&zk, cv, &z, z.entries, m));
        assert_false(zk->input_rows);
        assert_int_equal(zk->n_inputs, rc->n_inputs);
        assert_int_equal(zk->n_aux, rc->n_aux);
        assert_int_equal(zk->n_rows, r1cs_total_rows(rc));
        assert_null(zk->templates[0].c.row_start);
        assert_status_is(r1cs_hash(zk, digest), CUZK_EINVAL); /* C is not known */
        assert_null(zk->is_elem);
        for (uint32_t row = 0; row < rc->n_rows; row++) {
            expect_same_row(rc, &rc->templates[0].a, zk, &zk->templates[0].a, row);
            expect_same_row(rc, &rc->templates[0].b, zk, &zk->templates[0].b, row);
        }
        expect_input_rows(zk, rc);
        assert_memory_equal(zk->a_aux, rc->a_aux, words(rc->n_aux) * 8);
        assert_memory_equal(zk->b_aux, rc->b_aux, words(rc->n_aux) * 8);
        assert_memory_equal(zk->b_input, rc->b_input, words(rc->n_inputs) * 8);
        r1cs_free(zk);
        r1cs_free(rc);
        free(z.data);
        free(data);
        support_close(m);
    }
}

static void swap_entries(uint8_t *a, uint8_t *b)
{
    uint8_t t[ENTRY];

    memcpy(t, a, ENTRY);
    memcpy(a, b, ENTRY);
    memcpy(b, t, ENTRY);
}

static void order_does_not_matter(void **state)
{
    (void)state;
    for (size_t k = 0; k < support_n_circuits; k++) {
        const support_circuit *c = &support_circuits[k];
        const curve *cv = support_curve(c->id);
        mem *m = support_mem();
        zkey z = read_zkey(c);
        uint8_t *mixed = malloc((size_t)z.n * ENTRY);
        r1cs_system *a = NULL, *b = NULL;

        assert_non_null(mixed);
        memcpy(mixed, z.entries, (size_t)z.n * ENTRY);
        for (size_t i = z.n; i-- > 1;) {
            swap_entries(mixed + i * ENTRY, mixed + harness_random_below(i + 1) * ENTRY);
        }
        assert_status_ok(from_zkey(&a, cv, &z, z.entries, m));
        assert_status_ok(from_zkey(&b, cv, &z, mixed, m));
        assert_int_equal(a->n_rows, b->n_rows);
        for (uint32_t row = 0; row < a->n_rows; row++) {
            expect_same_row(a, &a->templates[0].a, b, &b->templates[0].a, row);
            expect_same_row(a, &a->templates[0].b, b, &b->templates[0].b, row);
        }
        r1cs_free(a);
        r1cs_free(b);
        free(mixed);
        free(z.data);
        support_close(m);
    }
}

/* ---- terms given one by one ---- */

typedef struct loose {
    uint32_t matrix, row, wire;
    fr k;
} loose;

/* k as the file would have it. */
static void raw_value(const curve *cv, r1cs_value_form form, const fr *k, uint8_t out[32])
{
    scalar s;
    fr v = *k;

    if (form == R1CS_VALUE_PLAIN) {
        cv->fr_to_scalar(&s, k);
        memcpy(out, s.b, 32);
        return;
    }
    for (size_t i = 0; i < 4; i++) store_u64le(s.b + 8 * i, v.l[i]); /* k 2^256, as a number */
    assert_true(cv->fr_from_scalar(&v, &s));
    for (size_t i = 0; i < 4; i++) store_u64le(out + 8 * i, v.l[i]);
}

static r1cs_system *from_loose(const r1cs_coeffs_shape *shape, const loose *e, size_t n, mem *m)
{
    r1cs_coeffs *c = NULL;
    r1cs_system *sys = NULL;
    uint8_t raw[32];

    assert_status_ok(r1cs_coeffs_begin(&c, shape, m));
    for (size_t i = 0; i < n; i++) {
        assert_status_ok(r1cs_coeffs_count(c, e[i].matrix, e[i].row, e[i].wire));
    }
    assert_status_ok(r1cs_coeffs_counted(c));
    for (size_t i = 0; i < n; i++) {
        raw_value(shape->cv, shape->form, &e[i].k, raw);
        assert_status_ok(r1cs_coeffs_put(c, e[i].matrix, e[i].row, e[i].wire, raw));
    }
    assert_status_ok(r1cs_coeffs_end(&sys, c));
    return sys;
}

enum { D_ROWS = 12, D_INPUTS = 4, D_AUX = 9, D_WIRES = D_INPUTS + D_AUX, D_TERMS = 400 };
typedef struct dense {
    fr sum[3][D_ROWS][D_WIRES];
} dense;

static loose random_term(const curve *cv, unsigned n_matrices)
{
    loose e = {.matrix = (uint32_t)harness_random_below(n_matrices),
               .row = (uint32_t)harness_random_below(D_ROWS),
               .wire = (uint32_t)harness_random_below(D_WIRES)};

    e.k = harness_random_below(2) == 0 ? support_u64(cv, harness_random_below(3))
                                       : support_neg(cv, harness_random_below(3));
    if (harness_random_below(8) == 0) support_random_fr(cv, &e.k);
    return e;
}

/* The terms of a row are the sums that are not zero, by template wire. */
static void expect_row(const r1cs_system *sys, const r1cs_matrix *x, uint32_t row, const fr *sum)
{
    uint32_t at = x->row_start[row];

    for (uint32_t w = 0; w < D_WIRES; w++) {
        uint32_t wire = w == 0 ? 0 : w <= D_AUX ? w + D_INPUTS - 1 : w - D_AUX;

        if (sys->cv->fr_is_zero(&sum[wire])) continue;
        assert_true(at < x->row_start[row + 1]);
        assert_int_equal(x->wire[at], w);
        assert_true(sys->cv->fr_eq(&sys->coeffs[x->coeff[at]], &sum[wire]));
        at++;
    }
    assert_int_equal(at, x->row_start[row + 1]);
}

static void expect_dense(const r1cs_system *sys, const dense *d, unsigned n_matrices)
{
    const r1cs_template *t = &sys->templates[0];
    const r1cs_matrix *x[3] = {&t->a, &t->b, &t->c};

    assert_int_equal(sys->n_rows, D_ROWS);
    for (size_t i = 0; i < sys->n_coeffs; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_false(sys->cv->fr_eq(&sys->coeffs[i], &sys->coeffs[j]));
        }
    }
    for (size_t j = 0; j < n_matrices; j++) {
        for (uint32_t row = 0; row < D_ROWS; row++) expect_row(sys, x[j], row, d->sum[j][row]);
    }
}

/* Random terms with many duplicates, cancelling and zero ones, against sums in dense rows. */
static void duplicates_add_up(void **state)
{
    const r1cs_value_form forms[] = {R1CS_VALUE_PLAIN, R1CS_VALUE_MONT2};

    (void)state;
    for (size_t round = 0; round < harness_iters(40); round++) {
        const curve *cv = support_curve(round % 2 == 0 ? CURVE_ID_BN254 : CURVE_ID_BLS12_381);
        const r1cs_coeffs_shape shape = {.cv = cv,
                                         .name = "loose",
                                         .n_inputs = D_INPUTS,
                                         .n_aux = D_AUX,
                                         .n_rows = D_ROWS,
                                         .n_matrices = round % 3 == 0 ? 2 : 3,
                                         .form = forms[round / 2 % 2],
                                         .input_rows = true};
        mem *m = support_mem();
        r1cs_system *sys;
        dense d;
        loose e[D_TERMS];
        size_t n = harness_random_below(D_TERMS);

        memset(&d, 0, sizeof d);
        for (size_t i = 0; i < n; i++) {
            fr *to;

            e[i] = random_term(cv, shape.n_matrices);
            to = &d.sum[e[i].matrix][e[i].row][e[i].wire];
            cv->fr_add(to, to, &e[i].k);
        }
        sys = from_loose(&shape, e, n, m);
        expect_dense(sys, &d, shape.n_matrices);
        r1cs_free(sys);
        support_close(m);
    }
}

static void trims_rows_only_when_told(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    r1cs_coeffs_shape shape = {.cv = cv,
                               .name = "trim",
                               .n_inputs = 1,
                               .n_rows = 100,
                               .n_matrices = 2,
                               .form = R1CS_VALUE_PLAIN};
    const loose e = {1, 41, 0, cv->fr_one};
    mem *m = support_mem();
    r1cs_system *sys = from_loose(&shape, &e, 1, m);

    (void)state;
    assert_int_equal(sys->n_rows, 100);
    r1cs_free(sys);
    shape.trim = true;
    sys = from_loose(&shape, &e, 1, m);
    assert_int_equal(sys->n_rows, 42);
    assert_int_equal(sys->templates[0].b.row_start[42], 1);
    assert_int_equal(sys->templates[0].b.coeff[0], 0);
    r1cs_free(sys);
    sys = from_loose(&shape, &e, 0, m);
    assert_int_equal(sys->n_rows, 0);
    r1cs_free(sys);
    support_close(m);
}

/* ---- damage ---- */

static void refuses_bad_entries(void **state)
{
    static const struct {
        size_t at;
        uint32_t v;
        const char *text;
    } bad[] = {
        {0, 2, "matrix 2, there are 2"}, {0, UINT32_MAX, "matrix 4294967295"},
        {4, 8, "row 8, there are 8"},    {4, INT32_MAX, "row 2147483647, there are 8"},
        {8, 6, "wire 6, there are 6"},   {8, UINT32_MAX, "wire 4294967295"},
    };
    const support_circuit c = {CURVE_ID_BN254, "circom/bn128/mult3"};
    const curve *cv = support_curve(c.id);
    zkey z = read_zkey(&c);
    mem *m = support_mem();
    r1cs_system *sys = NULL;

    (void)state;
    assert_int_equal(z.domain, 8);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t *copy = malloc((size_t)z.n * ENTRY);
        uint8_t *e = copy + (size_t)ENTRY * (z.n - 1);
        char text[64];

        assert_non_null(copy);
        memcpy(copy, z.entries, (size_t)z.n * ENTRY);
        store_u32le(e + bad[i].at, bad[i].v);
        assert_status_is(from_zkey(&sys, cv, &z, copy, m), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
        (void)snprintf(text, sizeof text, "zkey coefficient %u", z.n - 1);
        assert_error_mentions(text);
        assert_error_mentions(bad[i].text);
        free(copy);
    }
    assert_null(sys);
    free(z.data);
    support_close(m);
}

/* mult3 with a first value of r, r + its value, 2^256 - 1. */
static void refuses_values_not_below_r(void **state)
{
    static const char *const bad[] = {"circom/bad/bn128-zkey-coef-noncanonical.zkey",
                                      "circom/bad/bls12381-zkey-coef-noncanonical.zkey"};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const support_circuit good = {k == 0 ? CURVE_ID_BN254 : CURVE_ID_BLS12_381,
                                      k == 0 ? "circom/bn128/mult3" : "circom/bls12381/mult3"};
        const curve *cv = support_curve(good.id);
        zkey z = read_zkey(&good);
        mem *m = support_mem();
        r1cs_system *sys = NULL;
        size_t size;
        uint8_t *data = harness_read_file(harness_fixture(bad[k]), &size);
        uint8_t *first = data + (z.entries - z.data) + 12; /* the same layout */

        assert_int_equal(size, z.size);
        for (size_t i = 0; i < 3; i++) {
            if (i == 1) memcpy(first, cv->r_le, 32);
            if (i == 2) memset(first, 0xff, 32);
            assert_status_is(from_zkey(&sys, cv, &z, first - 12, m), CUZK_EDATA);
            assert_error_class(CUZK_CLASS_MALFORMED);
            assert_error_mentions("zkey coefficient 0");
            assert_error_mentions("not below");
        }
        assert_null(sys);
        free(data);
        free(z.data);
        support_close(m);
    }
}

/* Between the passes the file may change: nothing is written outside, and it is noticed. */
static void changed_terms_are_noticed(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    const r1cs_coeffs_shape shape = {.cv = cv,
                                     .name = "changed",
                                     .n_inputs = 1,
                                     .n_aux = 3,
                                     .n_rows = 3,
                                     .n_matrices = 2,
                                     .form = R1CS_VALUE_PLAIN};
    static const uint32_t counted[][2] = {{0, 0}, {0, 1}, {0, 1}, {1, 2}};
    static const uint32_t put[][4][2] = {
        {{0, 0}, {0, 0}, {0, 0}, {1, 2}}, /* fewer here, more there */
        {{0, 1}, {0, 1}, {0, 1}, {1, 2}}, /* row 1 runs over its end */
        {{0, 2}, {0, 1}, {0, 1}, {1, 2}}, /* beyond the last term */
        {{0, 0}, {0, 0}, {0, 1}, {1, 2}}, /* rows that fit together again, with a hole at the end */
        {{1, 0}, {0, 1}, {0, 1}, {1, 2}}, /* another matrix */
        {{0, 0}, {0, 1}, {0, 1}, {1, 3}}, /* no such row */
        {{0, 0}, {0, 1}, {0, 1}, {2, 2}}, /* no such matrix */
    };
    uint8_t one[32] = {1};
    mem *m = support_mem();

    (void)state;
    for (size_t k = 0; k < sizeof put / sizeof put[0] + 2; k++) {
        size_t n = k < sizeof put / sizeof put[0] ? 4 : k - sizeof put / sizeof put[0];
        r1cs_coeffs *c = NULL;
        r1cs_system *sys = NULL;
        cuzk_status st = CUZK_OK;

        assert_status_ok(r1cs_coeffs_begin(&c, &shape, m));
        for (size_t i = 0; i < 4; i++) {
            assert_status_ok(r1cs_coeffs_count(c, counted[i][0], counted[i][1], (uint32_t)i));
        }
        assert_status_ok(r1cs_coeffs_counted(c));
        for (size_t i = 0; i < n && st == CUZK_OK; i++) {
            const uint32_t *p = put[k % (sizeof put / sizeof put[0])][i];

            st = r1cs_coeffs_put(c, p[0], p[1], (uint32_t)i, one);
        }
        if (st == CUZK_OK) {
            st = r1cs_coeffs_end(&sys, c);
        } else {
            r1cs_coeffs_free(c);
        }
        assert_int_equal(st, CUZK_EDATA);
        assert_error_mentions("changed while they were read");
        assert_null(sys);
    }
    support_close(m);
}

static void limits(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    static const uint32_t shapes[][3] = {{0, 1, 1},          {R1CS_MAX_VARS, 1, 1},
                                         {UINT32_MAX, 0, 1}, {1, R1CS_MAX_VARS, 1},
                                         {1, UINT32_MAX, 1}, {1, 1, UINT32_MAX}};
    mem *m = support_mem();

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        r1cs_system *sys = NULL;

        assert_status_is(r1cs_from_zkey(&sys, cv, shapes[i][0], shapes[i][1], shapes[i][2],
                                        (const uint8_t *)"", 0, m),
                         CUZK_EDATA);
        assert_error_class(CUZK_CLASS_LIMIT);
        assert_null(sys);
    }
    assert_true(mem_peak(m) < 4096);
    r1cs_coeffs_free(NULL);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zkeys_hold_their_r1cs),     cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(duplicates_add_up),         cmocka_unit_test(trims_rows_only_when_told),
        cmocka_unit_test(refuses_bad_entries),       cmocka_unit_test(refuses_values_not_below_r),
        cmocka_unit_test(changed_terms_are_noticed), cmocka_unit_test(limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
