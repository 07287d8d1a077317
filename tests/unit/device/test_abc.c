/*
 * unit/device/test_abc.c - a, b, c of random systems against term by term evaluation
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/u128.h"
#include "unit/device/support.h"

#define MAX_TEMPLATES 4
#define MAX_INSTANCES 40

/* A system with its values, all owned. */
typedef struct sample {
    dev_system sys;
    dev_template t[MAX_TEMPLATES];
    dev_instance inst[MAX_INSTANCES];
    uint32_t *wires;
    fr *coeffs, *inputs;
    fr *values; /* of all auxiliary variables, one each */
    dev_scalars aux;
    fr *elems;
    uint64_t *bits, *is_elem;
    uint32_t *rank64;
} sample;

/* How a sample is made. */
typedef struct shape {
    curve_id id;
    bool packed; /* some variables are bits */
    bool with_c; /* templates have C; else none has */
    bool some_c; /* the second template lacks it */
    bool input_rows;
    unsigned n_templates, n_instances;
    uint32_t n_local, n_rows, n_pub, n_in, terms; /* most of each */
    size_t n_coeffs;
} shape;

static uint32_t below(uint32_t n)
{
    return (uint32_t)harness_random_below(n);
}

static void make_matrix(dev_matrix *m, uint32_t rows, uint32_t wires, const shape *sh)
{
    uint32_t *start = test_array((size_t)rows + 1, sizeof *start);
    uint32_t *wire = test_array((size_t)rows * sh->terms, sizeof *wire);
    uint32_t *coeff = test_array((size_t)rows * sh->terms, sizeof *coeff), n = 0;

    for (uint32_t r = 0; r < rows; r++) {
        uint32_t terms = below(sh->terms + 1);
        for (uint32_t i = 0; i < terms; i++, n++) {
            wire[n] = below(wires);
            coeff[n] = below((uint32_t)(below(4) == 0 || sh->n_coeffs < 3 ? sh->n_coeffs : 3));
        }
        start[r + 1] = n;
    }
    *m = (dev_matrix){start, wire, coeff};
}

static void make_template(dev_template *t, const shape *sh, unsigned index)
{
    uint32_t wires;

    *t = (dev_template){.n_in = sh->n_in == 0 ? 0 : below(sh->n_in + 1),
                        .n_local = sh->n_local == 0 ? 0 : 1 + below(sh->n_local),
                        .n_pub = sh->n_pub == 0 ? 0 : below(sh->n_pub + 1),
                        .n_rows = below(sh->n_rows + 1)};
    wires = 1 + t->n_in + t->n_local + t->n_pub;
    make_matrix(&t->a, t->n_rows, wires, sh);
    make_matrix(&t->b, t->n_rows, wires, sh);
    if (sh->with_c && !(sh->some_c && index == 1)) make_matrix(&t->c, t->n_rows, wires, sh);
}

/* Places the instances one after the other; wires passed in are any that exist already. */
static void make_instances(sample *s, const shape *sh)
{
    dev_system *sys = &s->sys;
    uint32_t n_wires = 0;

    s->wires = test_array((size_t)sh->n_instances * (sh->n_in + 1), sizeof *s->wires);
    sys->n_inputs = 1 + below(3);
    for (unsigned i = 0; i < sh->n_instances; i++) {
        uint32_t tmpl = below(sh->n_templates);
        const dev_template *t = &s->t[tmpl];

        s->inst[i] = (dev_instance){tmpl, sys->n_aux, sys->n_inputs, sys->n_rows, n_wires};
        for (uint32_t k = 0; k < t->n_in; k++) {
            bool from_aux = sys->n_aux != 0 && below(2) == 0;
            s->wires[n_wires++] =
                from_aux ? DEV_WIRE_AUX | below(sys->n_aux) : below(sys->n_inputs);
        }
        sys->n_aux += t->n_local;
        sys->n_inputs += t->n_pub;
        sys->n_rows += t->n_rows;
    }
}

static void make_values(sample *s, const curve *cv, const shape *sh)
{
    size_t n = s->sys.n_aux, words = n / 64 + 1, n_elem = 0, n_bits = 0;

    s->inputs = test_array(s->sys.n_inputs, sizeof *s->inputs);
    random_frs(cv, s->inputs, s->sys.n_inputs);
    s->inputs[0] = cv->fr_one;
    s->values = test_array(n, sizeof *s->values);
    s->elems = test_array(n, sizeof *s->elems);
    s->bits = test_array(words, sizeof *s->bits);
    s->is_elem = test_array(words, sizeof *s->is_elem);
    s->rank64 = test_array(words, sizeof *s->rank64);
    for (size_t i = 0; i < n; i++) {
        if (i % 64 == 0) s->rank64[i / 64] = (uint32_t)n_elem;
        if (!sh->packed || below(4) == 0) {
            random_fr(cv, &s->values[i]);
            s->is_elem[i / 64] |= UINT64_C(1) << i % 64;
            s->elems[n_elem++] = s->values[i];
        } else {
            uint64_t bit = harness_random_below(2);
            s->values[i] = bit != 0 ? cv->fr_one : cv->fr_zero;
            s->bits[n_bits / 64] |= bit << n_bits % 64;
            n_bits++;
        }
    }
    s->aux = (dev_scalars){.n = n, .elems = s->elems};
    if (sh->packed) {
        s->aux.bits = s->bits;
        s->aux.is_elem = s->is_elem;
        s->aux.rank64 = s->rank64;
    }
}

static void sample_make(sample *s, const curve *cv, const shape *sh)
{
    memset(s, 0, sizeof *s);
    s->coeffs = test_array(sh->n_coeffs, sizeof *s->coeffs);
    random_frs(cv, s->coeffs, sh->n_coeffs);
    s->coeffs[0] = cv->fr_one;
    cv->fr_neg(&s->coeffs[1], &cv->fr_one);
    for (unsigned i = 0; i < sh->n_templates; i++) make_template(&s->t[i], sh, i);
    make_instances(s, sh);
    make_values(s, cv, sh);
    s->sys.id = sh->id;
    s->sys.input_rows = sh->input_rows;
    s->sys.templates = s->t;
    s->sys.n_templates = sh->n_templates;
    s->sys.instances = s->inst;
    s->sys.n_instances = sh->n_instances;
    s->sys.wires = s->wires;
    s->sys.coeffs = s->coeffs;
    s->sys.n_coeffs = sh->n_coeffs;
}

static void matrix_free(dev_matrix *m)
{
    uint32_t *const own[] = {(uint32_t *)(uintptr_t)m->row_start, (uint32_t *)(uintptr_t)m->wire,
                             (uint32_t *)(uintptr_t)m->coeff};
    for (int i = 0; i < 3; i++) free(own[i]);
}

static void sample_free(sample *s)
{
    for (unsigned i = 0; i < MAX_TEMPLATES; i++) {
        matrix_free(&s->t[i].a);
        matrix_free(&s->t[i].b);
        matrix_free(&s->t[i].c);
    }
    free(s->wires);
    free(s->coeffs);
    free(s->inputs);
    free(s->values);
    free(s->elems);
    free(s->bits);
    free(s->is_elem);
    free(s->rank64);
}

/* ---- the plain evaluation ---- */

static fr wire_value(const sample *s, const curve *cv, const dev_instance *inst, uint32_t wire)
{
    const dev_template *t = &s->t[inst->tmpl];
    uint32_t g;

    if (wire == 0) return cv->fr_one;
    if (wire <= t->n_in) {
        g = s->wires[inst->wires + wire - 1];
        return (g & DEV_WIRE_AUX) != 0 ? s->values[g & ~DEV_WIRE_AUX] : s->inputs[g];
    }
    wire -= 1 + t->n_in;
    if (wire < t->n_local) return s->values[inst->aux_start + wire];
    return s->inputs[inst->pub_start + wire - t->n_local];
}

static void plain_rows(const sample *s, const curve *cv, fr *out, const dev_instance *inst,
                       const dev_matrix *m)
{
    for (uint32_t r = 0; r < s->t[inst->tmpl].n_rows; r++) {
        fr sum = cv->fr_zero;
        for (uint32_t k = m->row_start[r]; k < m->row_start[r + 1]; k++) {
            fr v = wire_value(s, cv, inst, m->wire[k]);
            cv->fr_mul(&v, &v, &s->coeffs[m->coeff[k]]);
            cv->fr_add(&sum, &sum, &v);
        }
        out[inst->row_start + r] = sum;
    }
}

/* want[0..2] of len elements; where a template lacks C, c is left as it is. */
static void plain_abc(const sample *s, const curve *cv, fr *want[3], size_t len)
{
    for (int k = 0; k < 3; k++)
        memset(want[k] + s->sys.n_rows, 0, (len - s->sys.n_rows) * sizeof(fr));
    for (size_t i = 0; i < s->sys.n_instances; i++) {
        const dev_template *t = &s->t[s->inst[i].tmpl];
        plain_rows(s, cv, want[0], &s->inst[i], &t->a);
        plain_rows(s, cv, want[1], &s->inst[i], &t->b);
        if (t->c.row_start != NULL) plain_rows(s, cv, want[2], &s->inst[i], &t->c);
    }
    if (s->sys.input_rows) memcpy(want[0] + s->sys.n_rows, s->inputs, s->sys.n_inputs * sizeof(fr));
}

static void check_sample(rig *r, const sample *s, bool with_c)
{
    const curve *cv = device_curve(r->d, s->sys.id);
    size_t rows = s->sys.n_rows + (s->sys.input_rows ? s->sys.n_inputs : 0), len = rows + 5;
    fr *want[3], *got = test_array(len, sizeof *got);
    dev_buf *b[3];

    for (int k = 0; k < 3; k++) {
        want[k] = test_array(len, sizeof(fr));
        random_frs(cv, want[k], len); /* what is not written stays */
        assert_status_ok(dev_buf_new(&b[k], r->d, len));
        upload(r, b[k], want[k], len);
    }
    plain_abc(s, cv, want, len);
    assert_status_ok(dev_abc(r->s, b[0], b[1], with_c ? b[2] : NULL, &s->sys, s->inputs, &s->aux));
    for (int k = 0; k < (with_c ? 3 : 2); k++) {
        download(r, got, b[k], len);
        assert_bytes_equal(got, want[k], len * sizeof *got);
    }
    for (int k = 0; k < 3; k++) {
        dev_buf_free(b[k]);
        free(want[k]);
    }
    free(got);
}

/* ---- tests ---- */

static const shape shapes[] = {
    /* packed, with_c, some_c, input_rows, templates, instances, local, rows, pub, in, terms, coeffs */
    {CURVE_ID_BLS12_381, true, true, false, true, 4, 40, 100, 90, 2, 8, 7, 30},
    {CURVE_ID_BLS12_381, true, true, true, true, 3, 20, 30, 50, 0, 3, 4, 5},
    {CURVE_ID_BN254, true, true, false, false, 1, 1, 200, 300, 3, 0, 5, 9},
    {CURVE_ID_BN254, false, false, false, true, 1, 1, 500, 400, 4, 0, 6, 40},
    {CURVE_ID_BN254, false, true, false, true, 3, 30, 60, 40, 2, 5, 6, 40},
    {CURVE_ID_BLS12_381, false, true, false, true, 2, 10, 20, 10, 1, 4, 300, 100},
    {CURVE_ID_BLS12_381, true, false, false, false, 2, 7, 0, 10, 0, 4, 3, 2},
    {CURVE_ID_BN254, true, true, false, true, 1, 3, 5000, 6000, 2, 3, 4,
     9},                                                                 /* tasks cut instances */
    {CURVE_ID_BN254, false, false, false, true, 1, 0, 5, 5, 0, 0, 4, 9}, /* no instance at all */
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void test_random_systems(void **state)
{
    size_t rounds = harness_iters(6);

    (void)state;
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        if (!cpu_table_supported((cpu_table)t)) continue;
        for (unsigned threads = 1; threads <= 3; threads++) {
            rig r;
            rig_open(&r, (cpu_table)t, threads);
            for (size_t i = 0; i < SHAPES * rounds; i++) {
                const shape *sh = &shapes[i % SHAPES];
                sample s;
                sample_make(&s, device_curve(r.d, sh->id), sh);
                check_sample(&r, &s, sh->with_c);
                sample_free(&s);
            }
            rig_close(&r);
        }
    }
}

/* A variable that is passed in twice, and rows that cancel: v - v = 0. */
static void test_opposite_terms(void **state)
{
    static const uint32_t start[] = {0, 3}, wire[] = {1, 1, 2}, coeff[] = {0, 1, 2};
    static const uint32_t none[] = {0, 0};
    const dev_matrix m = {start, wire, coeff}, empty = {none, wire, coeff};
    dev_template t = {.n_in = 1, .n_local = 1, .n_rows = 1, .a = m, .b = empty, .c = m};
    uint32_t in = DEV_WIRE_AUX;
    dev_instance inst = {0};
    fr elems[1], coeffs[3], one, got;
    dev_scalars aux = {.n = 1, .elems = elems};
    dev_system sys = {.id = CURVE_ID_BN254,
                      .n_inputs = 1,
                      .n_aux = 1,
                      .n_rows = 1,
                      .templates = &t,
                      .n_templates = 1,
                      .instances = &inst,
                      .n_instances = 1,
                      .wires = &in,
                      .coeffs = coeffs,
                      .n_coeffs = 3};
    dev_buf *a, *b, *c;
    rig r;

    (void)state;
    rig_open(&r, cpu_table_best(), 1);
    one = device_curve(r.d, CURVE_ID_BN254)->fr_one;
    random_frs(device_curve(r.d, CURVE_ID_BN254), elems, 1);
    coeffs[0] = one;
    device_curve(r.d, CURVE_ID_BN254)->fr_neg(&coeffs[1], &one);
    coeffs[2] = (fr){{0}}; /* a zero coefficient is no error */
    assert_status_ok(dev_buf_new(&a, r.d, 1));
    assert_status_ok(dev_buf_new(&b, r.d, 1));
    assert_status_ok(dev_buf_new(&c, r.d, 1));
    assert_status_ok(dev_abc(r.s, a, b, c, &sys, &one, &aux));
    download(&r, &got, a, 1);
    assert_memory_equal(&got, &coeffs[2], sizeof got);

    /* what the door refuses */
    assert_status_is(dev_abc(r.s, a, a, c, &sys, &one, &aux), CUZK_EINVAL);
    assert_status_is(dev_abc(r.s, a, b, b, &sys, &one, &aux), CUZK_EINVAL);
    assert_status_is(dev_abc(r.s, a, b, NULL, &sys, &one, &aux), CUZK_EINVAL);
    assert_error_mentions("template 0 has C");
    assert_status_is(dev_abc(r.s, a, b, c, &sys, NULL, &aux), CUZK_EINVAL);
    assert_status_is(dev_abc(r.s, a, b, c, NULL, &one, &aux), CUZK_EINVAL);
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, NULL), CUZK_EINVAL);
    assert_status_is(dev_abc(NULL, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    sys.input_rows = true;
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    assert_error_mentions("elements 0 + 2 of a buffer of 1");
    sys.input_rows = false;
    aux.n = 2;
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    assert_error_mentions("2 values for 1 variables");
    aux.n = 1;
    inst.tmpl = 1;
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    inst = (dev_instance){.aux_start = 1};
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    inst = (dev_instance){.row_start = 1};
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    inst = (dev_instance){.pub_start = 2};
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    inst = (dev_instance){0};
    sys.n_rows = 2;
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    assert_error_mentions("instances have 1 rows, the system 2");
    sys.n_rows = 1;
    sys.n_coeffs = 1;
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    sys.n_coeffs = 3;
    sys.wires = NULL;
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    sys.wires = &in;
    t.b.row_start = NULL;
    assert_status_is(dev_abc(r.s, a, b, c, &sys, &one, &aux), CUZK_EINVAL);
    dev_buf_free(a);
    dev_buf_free(b);
    dev_buf_free(c);
    rig_close(&r);
}

static void test_faults_and_cancel(void **state)
{
    rig r;
    sample s;
    dev_buf *b[3];
    cancel *c;
    dev_stream *stream;
    unsigned long k;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 2);
    sample_make(&s, device_curve(r.d, shapes[0].id), &shapes[0]);
    for (int i = 0; i < 3; i++)
        assert_status_ok(dev_buf_new(&b[i], r.d, (size_t)s.sys.n_rows + s.sys.n_inputs));
    for (k = 1;; k++) {
        size_t before = mem_used(r.m);
        cuzk_status st;
        mem_inject_fault(r.m, k);
        st = dev_abc(r.s, b[0], b[1], b[2], &s.sys, s.inputs, &s.aux);
        assert_int_equal(mem_used(r.m), before);
        if (!mem_fault_hit(r.m)) {
            assert_int_equal(st, CUZK_OK);
            break;
        }
        assert_int_equal(st, CUZK_ENOMEM);
    }
    assert_true(k >= 3);
    mem_inject_fault(r.m, 0);
    assert_status_ok(cancel_new(&c));
    assert_status_ok(dev_stream_open(&stream, r.d, c));
    cancel_request(c);
    assert_status_is(dev_abc(stream, b[0], b[1], b[2], &s.sys, s.inputs, &s.aux), CUZK_ECANCELLED);
    dev_stream_close(stream);
    cancel_free(c);
    for (int i = 0; i < 3; i++) dev_buf_free(b[i]);
    sample_free(&s);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_systems),
        cmocka_unit_test(test_opposite_terms),
        cmocka_unit_test(test_faults_and_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
