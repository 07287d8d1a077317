/*
 * unit/r1cs/model.c - random systems, and the plain rows that they stand for
 *
 * Each row's C side has a variable of its own with coefficient 1, allocated for it, so that values
 * that satisfy the system can be computed row by row.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "model.h"

#define TEMPLATES 5u
#define INSTANCES 20u
#define MAX_TERMS 8u
#define MAX_T_ROWS 6u
#define MAX_IN 4u

typedef enum kind { ONE, IN, LOCAL, PUB } kind;
typedef struct piece {
    kind kind;
    uint32_t index;
    fr k;
} piece;
typedef struct plan_row {
    piece p[3][MAX_TERMS + 1];
    size_t n[3];
    uint32_t own; /* the local that makes the row hold */
} plan_row;
/* A template as the test remembers it. */
typedef struct plan {
    uint32_t tmpl, n_in, n_local, n_pub, n_rows;
    bool is_elem[64];
    plan_row row[MAX_T_ROWS];
} plan;

static fr random_coeff(const curve *cv)
{
    fr k;

    switch (harness_random_below(6)) {
    case 0: return support_neg(cv, 1);
    case 1: return support_u64(cv, 2);
    case 2: return support_neg(cv, 2);
    case 3: return cv->fr_zero;
    case 4: support_random_fr(cv, &k); return k;
    default: return cv->fr_one;
    }
}

/* Template wire of a piece; locals and inputs are allocated in order, so the last ones name the first. */
static uint32_t wire_of(const r1cs_builder *b, const piece *p, const uint32_t *local,
                        const uint32_t *pub)
{
    switch (p->kind) {
    case IN: return r1cs_in(b, p->index);
    case LOCAL: return local[p->index];
    case PUB: return pub[p->index];
    case ONE: break;
    }
    return 0;
}

static piece random_piece(const curve *cv, const plan *t)
{
    piece p = {.kind = ONE, .k = random_coeff(cv)};
    uint64_t pick = harness_random_below(4);

    if (pick == 1 && t->n_in > 0) {
        p.kind = IN;
        p.index = (uint32_t)harness_random_below(t->n_in);
    } else if (pick == 2 && t->n_local > 0) {
        p.kind = LOCAL;
        p.index = (uint32_t)harness_random_below(t->n_local);
    } else if (pick == 3 && t->n_pub > 0) {
        p.kind = PUB;
        p.index = (uint32_t)harness_random_below(t->n_pub);
    }
    return p;
}

static r1cs_lc *lc_of(r1cs_builder *b, const piece *p, size_t n, const uint32_t *local,
                      const uint32_t *pub)
{
    r1cs_lc *lc = r1cs_lc_new(b);

    for (size_t i = 0; i < n; i++) r1cs_lc_add(b, lc, wire_of(b, &p[i], local, pub), &p[i].k);
    return lc;
}

static void make_template(model *k, plan *t, bool bits)
{
    const curve *cv = k->cv;
    r1cs_builder *b = NULL;
    uint32_t local[64] = {0}, pub[8] = {0}, n_free = (uint32_t)harness_random_below(4);

    memset(t, 0, sizeof *t);
    t->n_in = (uint32_t)harness_random_below(MAX_IN + 1);
    t->n_rows = (uint32_t)harness_random_below(MAX_T_ROWS + 1);
    assert_status_ok(r1cs_builder_new(&b, k->sys, "random", t->n_in));
    for (uint32_t i = 0; i < n_free; i++) {
        bool bit = bits && harness_random_below(2) == 0;

        t->is_elem[t->n_local] = !bit;
        local[t->n_local++] = bit ? r1cs_alloc_bit(b) : r1cs_alloc(b);
    }
    for (uint32_t r = 0; r < t->n_rows; r++) {
        plan_row *row = &t->row[r];

        if (harness_random_below(6) == 0 && t->n_pub < 2) pub[t->n_pub++] = r1cs_alloc_input(b);
        for (size_t j = 0; j < 3; j++) {
            row->n[j] = harness_random_below(MAX_TERMS + 1);
            for (size_t i = 0; i < row->n[j]; i++) row->p[j][i] = random_piece(cv, t);
        }
        row->own = t->n_local;
        t->is_elem[t->n_local] = true;
        local[t->n_local++] = r1cs_alloc(b);
        row->p[2][row->n[2]++] = (piece){LOCAL, row->own, cv->fr_one};
        r1cs_enforce(b, lc_of(b, row->p[0], row->n[0], local, pub),
                     lc_of(b, row->p[1], row->n[1], local, pub),
                     lc_of(b, row->p[2], row->n[2], local, pub));
    }
    assert_status_ok(r1cs_builder_finish(b, &t->tmpl));
    r1cs_builder_free(b);
}

static fr dot(const model *k, const fr *lc, const fr *value)
{
    fr sum = k->cv->fr_zero, part;

    for (size_t i = 0; i < MODEL_VARS; i++) {
        k->cv->fr_mul(&part, &lc[i], &value[i]);
        k->cv->fr_add(&sum, &sum, &part);
    }
    return sum;
}

/* Where an instance's wires are. */
typedef struct place {
    const r1cs_wire *in;
    r1cs_wire local, pub; /* the first of each */
} place;

static r1cs_wire global_of(const piece *p, const place *at)
{
    switch (p->kind) {
    case IN: return at->in[p->index];
    case LOCAL: return at->local + p->index;
    case PUB: return at->pub + p->index;
    case ONE: break;
    }
    return 0;
}

/* Adds a row, and gives its own variable the value that makes it hold. */
static void expand_row(model *k, const plan_row *row, const place *at)
{
    const curve *cv = k->cv;
    model_row *to = &k->rows[k->n_rows++];
    fr a, b, c, *own = &k->value[model_var(at->local + row->own)];

    for (size_t j = 0; j < 3; j++) {
        for (size_t i = 0; i < row->n[j]; i++) {
            fr *sum = &to->lc[j][model_var(global_of(&row->p[j][i], at))];

            cv->fr_add(sum, sum, &row->p[j][i].k);
        }
    }
    *own = cv->fr_zero;
    a = dot(k, to->lc[0], k->value);
    b = dot(k, to->lc[1], k->value);
    c = dot(k, to->lc[2], k->value);
    cv->fr_mul(&a, &a, &b);
    cv->fr_sub(own, &a, &c);
}

/* Rows of an instance, and values for its variables. */
static void expand(model *k, const plan *t, const place *at)
{
    for (uint32_t i = 0; i < t->n_local; i++) {
        fr *v = &k->value[model_var(at->local + i)];

        k->is_elem[(at->local & ~R1CS_AUX) + i] = t->is_elem[i];
        if (t->is_elem[i]) {
            support_random_fr(k->cv, v);
        } else {
            *v = support_u64(k->cv, harness_random_below(2));
        }
    }
    for (uint32_t i = 0; i < t->n_pub; i++) support_random_fr(k->cv, &k->value[at->pub + i]);
    for (uint32_t r = 0; r < t->n_rows; r++) expand_row(k, &t->row[r], at);
}

/* Few wires to choose from, so that they repeat; now and then ONE. */
static r1cs_wire pick_wire(const r1cs_system *sys)
{
    uint64_t pick = harness_random_below(8);
    uint32_t few = sys->n_aux < 3 ? sys->n_aux : 3;

    if (pick < 2) return (r1cs_wire)harness_random_below(sys->n_inputs);
    if (sys->n_aux == 0) return 0;
    return R1CS_AUX | (r1cs_wire)harness_random_below(pick < 7 ? few : sys->n_aux);
}

model *model_new(const curve *cv, bool bits)
{
    model *k = calloc(1, sizeof *k);
    plan *plans = calloc(TEMPLATES, sizeof *plans);

    assert_non_null(k);
    assert_non_null(plans);
    k->cv = cv;
    k->m = support_mem();
    k->rows = calloc(MODEL_MAX_ROWS, sizeof *k->rows);
    assert_non_null(k->rows);
    k->value[0] = cv->fr_one;
    assert_status_ok(r1cs_new(&k->sys, cv, "model", k->m));
    for (size_t i = 0; i < TEMPLATES; i++) make_template(k, &plans[i], bits);
    for (size_t i = 0; i < INSTANCES; i++) {
        const plan *t = &plans[harness_random_below(TEMPLATES)];
        r1cs_wire in[MAX_IN];
        place at = {.in = in};

        for (uint32_t j = 0; j < t->n_in; j++) in[j] = pick_wire(k->sys);
        assert_status_ok(r1cs_add(k->sys, t->tmpl, in, &at.local, &at.pub));
        assert_true(k->sys->n_inputs <= MODEL_MAX_INPUTS && k->sys->n_aux <= MODEL_MAX_AUX);
        expand(k, t, &at);
    }
    k->n_inputs = k->sys->n_inputs;
    k->n_aux = k->sys->n_aux;
    assert_int_equal(k->n_rows, k->sys->n_rows);
    assert_status_ok(r1cs_finish(k->sys));
    free(plans);
    return k;
}

void model_free(model *k)
{
    r1cs_free(k->sys);
    support_close(k->m);
    free(k->rows);
    free(k);
}

uint32_t model_check(const model *k, const fr *value)
{
    for (uint32_t r = 0; r < k->n_rows; r++) {
        fr a = dot(k, k->rows[r].lc[0], value), b = dot(k, k->rows[r].lc[1], value);
        fr c = dot(k, k->rows[r].lc[2], value);

        k->cv->fr_mul(&a, &a, &b);
        if (!k->cv->fr_eq(&a, &c)) return r;
    }
    return k->n_rows;
}

r1cs_assignment *model_assign(const model *k, const fr *value)
{
    r1cs_assignment *w = NULL;
    uint32_t n_elem = 0, n_bits = 0;

    assert_status_ok(r1cs_assignment_new(&w, k->sys, k->m));
    for (uint32_t i = 0; i < k->n_inputs; i++) w->inputs[i] = value[i];
    for (uint32_t i = 0; i < k->n_aux; i++) {
        const fr *v = &value[MODEL_MAX_INPUTS + i];

        if (k->is_elem[i]) {
            w->elems[n_elem++] = *v;
        } else {
            if (!k->cv->fr_is_zero(v)) w->bits[n_bits / 64] |= UINT64_C(1) << (n_bits % 64);
            n_bits++;
        }
    }
    return w;
}
