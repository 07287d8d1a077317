/*
 * unit/groth16/test_qap.c - columns at a point: random small systems against plain rows, a large one against a plain scatter
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/qap.h"
#include "model.h"

/* L_q(tau) = product over j != q of (tau - w^j) / (w^q - w^j) */
static void plain_lagrange(fr *out, const curve *cv, const fr *tau, unsigned log_n)
{
    size_t n = (size_t)1 << log_n;
    fr root, d, *w = malloc(n * sizeof *w);

    assert_non_null(w);
    cv->fr_root(&root, 7, log_n);
    w[0] = cv->fr_one;
    for (size_t i = 1; i < n; i++) cv->fr_mul(&w[i], &w[i - 1], &root);
    for (size_t q = 0; q < n; q++) {
        fr num = cv->fr_one, den = cv->fr_one;
        for (size_t j = 0; j < n; j++) {
            if (j == q) continue;
            cv->fr_sub(&d, tau, &w[j]);
            cv->fr_mul(&num, &num, &d);
            cv->fr_sub(&d, &w[q], &w[j]);
            cv->fr_mul(&den, &den, &d);
        }
        cv->fr_inv(&den, &den);
        cv->fr_mul(&out[q], &num, &den);
    }
    free(w);
}

typedef struct columns {
    size_t n;
    fr *c[3];
} columns;

static columns columns_new(size_t n)
{
    columns x = {.n = n};

    for (unsigned i = 0; i < 3; i++) {
        x.c[i] = calloc(n == 0 ? 1 : n, sizeof(fr));
        assert_non_null(x.c[i]);
    }
    return x;
}

static void columns_free(columns *x)
{
    for (unsigned i = 0; i < 3; i++) free(x->c[i]);
}

static void assert_columns_equal(const curve *cv, const columns *a, const columns *b)
{
    for (unsigned x = 0; x < 3; x++)
        for (size_t i = 0; i < a->n; i++) {
            if (!cv->fr_eq(&a->c[x][i], &b->c[x][i]))
                fail_msg("column %zu of matrix %c differs", i, "ABC"[x]);
        }
}

/* In ranges of `step` variables. */
static void read_ranges(qap *q, columns *out, size_t step)
{
    for (size_t from = 0; from < out->n;) {
        size_t to = out->n - from < step ? out->n : from + step;
        assert_status_ok(
            qap_range(q, out->c[0] + from, out->c[1] + from, out->c[2] + from, from, to));
        from = to;
    }
}

static columns model_columns(const model *k, const fr *tau, unsigned log_n)
{
    columns x = columns_new((size_t)k->n_inputs + k->n_aux);
    fr *l = malloc(sizeof *l << log_n), t;

    assert_non_null(l);
    plain_lagrange(l, k->cv, tau, log_n);
    for (unsigned m = 0; m < 3; m++)
        for (size_t i = 0; i < x.n; i++) {
            size_t var = i < k->n_inputs ? i : MODEL_MAX_INPUTS + i - k->n_inputs;
            for (uint32_t row = 0; row < k->n_rows; row++) {
                k->cv->fr_mul(&t, &l[row], &k->rows[row].lc[m][var]);
                k->cv->fr_add(&x.c[m][i], &x.c[m][i], &t);
            }
        }
    if (k->sys->input_rows)
        for (uint32_t i = 0; i < k->n_inputs; i++)
            k->cv->fr_add(&x.c[0][i], &x.c[0][i], &l[k->n_rows + i]);
    free(l);
    return x;
}

static void test_models(void **state)
{
    size_t rounds = harness_iters(30);
    (void)state;

    for (size_t round = 0; round < rounds; round++) {
        const curve *cv = support_curve(round % 2 == 0 ? CURVE_ID_BLS12_381 : CURVE_ID_BN254);
        model *k = model_new(cv, round % 3 == 0);
        mem *m = support_mem();
        pool *p;
        qap *q;
        fr tau;
        k->sys->input_rows = round % 5 != 0;
        unsigned log_n = r1cs_log_domain(k->sys, 0);
        support_random_fr(cv, &tau);
        columns want = model_columns(k, &tau, log_n), got = columns_new(want.n);
        assert_status_ok(pool_open(&p, 1 + (unsigned)round % 3, NULL));
        assert_status_ok(qap_open(&q, k->sys, &tau, 7, log_n, p, NULL, m));
        for (size_t step = 1; step <= 600; step += 1 + harness_random_below(199)) {
            read_ranges(q, &got, step);
            assert_columns_equal(cv, &got, &want);
        }
        /* backwards, and nothing */
        for (size_t i = want.n; i-- > 0;)
            assert_status_ok(qap_range(q, got.c[0] + i, got.c[1] + i, got.c[2] + i, i, i + 1));
        assert_columns_equal(cv, &got, &want);
        assert_status_ok(qap_range(q, NULL, NULL, NULL, 0, 0));
        assert_status_ok(qap_range(q, NULL, NULL, NULL, want.n, want.n));
        qap_close(q);
        pool_close(p);
        columns_free(&want);
        columns_free(&got);
        support_close(m);
        model_free(k);
    }
}

/* x_{k+1} = x_k^3 + c over `depth` steps from two wires; publishes every seventh result. */
static uint32_t chain_template(r1cs_system *sys, uint32_t depth, bool publish)
{
    const curve *cv = sys->cv;
    r1cs_builder *b;
    uint32_t index, x;
    fr c = support_u64(cv, depth);

    assert_status_ok(r1cs_builder_new(&b, sys, "chain", 2));
    x = r1cs_in(b, 0);
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t sq = r1cs_alloc(b), y = r1cs_alloc(b);
        r1cs_lc *in = r1cs_lc_wire(b, x), *side = r1cs_lc_wire(b, r1cs_in(b, 1));
        r1cs_lc_add(b, in, 0, &c);
        r1cs_lc_add_lc(b, in, side, i % 3 == 0 ? &c : NULL);
        r1cs_enforce(b, in, in, r1cs_lc_wire(b, sq));
        r1cs_enforce(b, r1cs_lc_wire(b, sq), in, r1cs_lc_wire(b, y));
        x = y;
    }
    if (publish) {
        uint32_t pub = r1cs_alloc_input(b);
        r1cs_enforce(b, r1cs_lc_wire(b, x), r1cs_lc_wire(b, 0), r1cs_lc_wire(b, pub));
    }
    assert_status_ok(r1cs_builder_finish(b, &index));
    r1cs_builder_free(b);
    return index;
}

/* Templates of a few rows, of none of their own variables, and one of many; wires come in from near and far. */
static r1cs_system *large_system(const curve *cv, mem *m, uint32_t n_instances)
{
    r1cs_system *sys;
    r1cs_wire last = 0, far = 0, in[2], pub;
    uint32_t tmpl[3];

    assert_status_ok(r1cs_new(&sys, cv, "large", m));
    sys->input_rows = true;
    tmpl[0] = chain_template(sys, 20, false);
    tmpl[1] = chain_template(sys, 0, true);
    tmpl[2] = chain_template(sys, 3000, true);
    for (uint32_t i = 0; i < n_instances; i++) {
        uint32_t which = i % 500 == 499 ? 2 : i % 7 == 3 ? 1 : 0;
        in[0] = last;
        in[1] = far;
        assert_status_ok(r1cs_add(sys, tmpl[which], in, which == 1 ? NULL : &last, &pub));
        if (which == 1) far = i % 2 == 0 ? pub : last;
        if (which == 2) last += 5999;
    }
    assert_status_ok(r1cs_finish(sys));
    return sys;
}

static size_t column_of(const r1cs_system *sys, const r1cs_instance *inst, const r1cs_template *t,
                        uint32_t wire)
{
    r1cs_wire g;

    if (wire == 0) return 0;
    if (wire > t->n_in + t->n_local)
        return (size_t)inst->pub_start + (wire - 1 - t->n_in - t->n_local);
    if (wire > t->n_in) return (size_t)sys->n_inputs + inst->aux_start + (wire - 1 - t->n_in);
    g = sys->wires[inst->wires + wire - 1];
    return (g & R1CS_AUX) != 0 ? (size_t)sys->n_inputs + (g & ~R1CS_AUX) : g;
}

/* Row by row, each term to its variable. */
static columns scattered(const r1cs_system *sys, const fr *l)
{
    const curve *cv = sys->cv;
    columns x = columns_new((size_t)sys->n_inputs + sys->n_aux);
    fr v;

    for (size_t i = 0; i < sys->n_instances; i++) {
        const r1cs_instance *inst = &sys->instances[i];
        const r1cs_template *t = &sys->templates[inst->tmpl];
        const r1cs_matrix *ms[3] = {&t->a, &t->b, &t->c};
        for (unsigned m = 0; m < 3; m++)
            for (uint32_t row = 0; row < t->n_rows; row++)
                for (uint32_t k = ms[m]->row_start[row]; k < ms[m]->row_start[row + 1]; k++) {
                    fr *o = &x.c[m][column_of(sys, inst, t, ms[m]->wire[k])];
                    cv->fr_mul(&v, &l[inst->row_start + row], &sys->coeffs[ms[m]->coeff[k]]);
                    cv->fr_add(o, o, &v);
                }
    }
    for (uint32_t i = 0; i < sys->n_inputs; i++)
        cv->fr_add(&x.c[0][i], &x.c[0][i], &l[sys->n_rows + i]);
    return x;
}

/* More rows than a batch has, and instances that lie across ranges and tasks. */
static void test_large(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BLS12_381);
    mem *m = support_mem();
    r1cs_system *sys = large_system(cv, m, 9000);
    unsigned log_n = r1cs_log_domain(sys, 0);
    pool *p;
    qap *q;
    fr tau;
    (void)state;

    assert_true(sys->n_rows > 3 << 17);
    support_random_fr(cv, &tau);
    assert_status_ok(pool_open(&p, 2, NULL));
    fr *l = malloc(sizeof *l << log_n);
    lagrange x = {
        .cv = cv, .tau = tau, .scale = cv->fr_one, .gen = 7, .log_n = log_n, .step = 1, .p = p};
    x.tmp = malloc((size_t)2 * LAGRANGE_CHUNK * sizeof *x.tmp);
    assert_true(l != NULL && x.tmp != NULL);
    assert_status_ok(lagrange_range(&x, l, 0, (uint64_t)1 << log_n));
    columns want = scattered(sys, l), got = columns_new(want.n);
    size_t used = mem_used(m);
    mem_reset_peak(m);
    assert_status_ok(qap_open(&q, sys, &tau, 7, log_n, p, NULL, m));
    read_ranges(q, &got, (size_t)1 << 17);
    assert_columns_equal(cv, &got, &want);
    read_ranges(q, &got, 12345);
    assert_columns_equal(cv, &got, &want);
    assert_true(mem_peak(m) - used < (size_t)12 << 20); /* all columns would be 38 MB */
    qap_close(q);
    assert_int_equal(mem_used(m), used);
    columns_free(&want);
    columns_free(&got);
    free(l);
    free(x.tmp);
    pool_close(p);
    r1cs_free(sys);
    support_close(m);
}

static void test_refuses(void **state)
{
    const curve *cv = support_curve(CURVE_ID_BLS12_381);
    mem *m = support_mem();
    r1cs_system *sys = large_system(cv, m, 30);
    unsigned log_n = r1cs_log_domain(sys, 0);
    unsigned long at = 1;
    cancel *c;
    qap *q;
    fr tau;
    (void)state;

    cv->fr_root(&tau, 7, log_n);
    cv->fr_mul(&tau, &tau, &tau); /* a point of the domain */
    assert_status_is(qap_open(&q, sys, &tau, 7, log_n, NULL, NULL, m), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_MALFORMED);
    support_random_fr(cv, &tau);
    for (;; at++) {
        size_t used = mem_used(m);
        mem_inject_fault(m, at);
        cuzk_status st = qap_open(&q, sys, &tau, 7, log_n, NULL, NULL, m);
        bool hit = mem_fault_hit(m);
        mem_inject_fault(m, 0);
        if (!hit) {
            assert_status_ok(st);
            break;
        }
        assert_int_equal(st, CUZK_ENOMEM);
        assert_int_equal(mem_used(m), used);
    }
    assert_in_range(at, 20, 200);
    qap_close(q);
    assert_status_ok(cancel_new(&c));
    cancel_request(c);
    assert_status_is(qap_open(&q, sys, &tau, 7, log_n, NULL, c, m), CUZK_ECANCELLED);
    cancel_free(c);
    uint32_t *rows = sys->templates[1].c.row_start;
    sys->templates[1].c.row_start = NULL;
    assert_status_is(qap_open(&q, sys, &tau, 7, log_n, NULL, NULL, m), CUZK_EINVAL);
    sys->templates[1].c.row_start = rows;
    r1cs_free(sys);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
