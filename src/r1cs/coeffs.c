/*
 * r1cs/coeffs.c - a constraint system of one block, from terms in any order
 *
 * Counting sort by row: the first pass counts the terms of each row, the second puts each term at
 * its row's next place. While terms come in, the coefficient table holds the file's own bytes, so
 * a value seen before costs a look-up and no arithmetic; at the end the distinct values are
 * converted, which keeps them distinct, and each row is sorted by wire and merged.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/coeffs.h"

#include <string.h>

#include "r1cs/coeff_table.h"
#include "r1cs/grow.h"
#include "r1cs/template.h"
#include "r1cs/terms.h"

#define COEFF_ZERO UINT32_MAX /* of a term that is dropped at the end */
#define MATRICES 3
#define RECENT_BITS 8 /* of the cache of values before the table */

struct r1cs_coeffs {
    mem *m;
    r1cs_coeffs_shape shape;
    r1cs_system *sys;
    r1cs_template t;
    uint64_t r64[4]; /* the scalar prime, for the canonical check */
    size_t counted[MATRICES], put[MATRICES];
    uint64_t counted_rows[MATRICES],
        put_rows[MATRICES]; /* sums of row_mark: the same rows in both passes */
    uint32_t used_rows;     /* 1 + the last row that has a term */
    bool reindexed;         /* the coefficient index is over converted values */
    uint64_t *keys;         /* scratch of a row that is out of order */
    size_t cap_keys;
    /* Index of a value seen lately, by a cheap hash: most terms of most circuits have one of few. */
    uint32_t recent[1 << RECENT_BITS];
};

static r1cs_matrix *matrix_of(r1cs_coeffs *c, uint32_t matrix)
{
    return matrix == 0 ? &c->t.a : matrix == 1 ? &c->t.b : &c->t.c;
}

/* The file's bytes of the coefficient 1. */
static fr raw_one(const curve *cv, r1cs_value_form form)
{
    fr one = {{1, 0, 0, 0}}, square;
    scalar s;

    if (form == R1CS_VALUE_PLAIN) return one;
    /* 2^512 mod r: the Montgomery form of 2^256 mod r, whose digits are those of fr_one */
    for (size_t i = 0; i < 4; i++) store_u64le(s.b + 8 * i, cv->fr_one.l[i]);
    square = cv->fr_one;
    (void)cv->fr_from_scalar(&square, &s); /* fr_one is canonical */
    return square;
}

static cuzk_status check_shape(const r1cs_coeffs_shape *s)
{
    if (s->n_inputs == 0 || s->n_inputs > R1CS_MAX_VARS || s->n_aux > R1CS_MAX_VARS ||
        (uint64_t)s->n_inputs + s->n_aux > R1CS_MAX_VARS || s->n_rows > R1CS_MAX_VARS) {
        return FAIL_DATA(LIMIT, "", "%u inputs, %u auxiliary variables, %u rows; limit %u",
                         s->n_inputs, s->n_aux, s->n_rows, R1CS_MAX_VARS);
    }
    return CUZK_OK;
}

static cuzk_status fill(r1cs_coeffs *c, const r1cs_coeffs_shape *shape)
{
    cuzk_status st = CUZK_OK;
    const curve *cv = shape->cv;
    fr one = raw_one(cv, shape->form), minus_one;
    uint32_t index;

    c->shape = *shape;
    for (size_t i = 0; i < 4; i++) c->r64[i] = load_u64le(cv->r_le + 8 * i);
    TRY(r1cs_new(&c->sys, cv, shape->name, c->m));
    TRY(coeff_table_open(c->sys));
    cv->fr_neg(&minus_one, &one); /* r - x, whatever the form */
    TRY(coeff_table_intern(c->sys, &one, &index));
    TRY(coeff_table_intern(c->sys, &minus_one, &index));
    for (uint32_t j = 0; j < shape->n_matrices; j++) {
        r1cs_matrix *x = matrix_of(c, j);

        x->row_start = mem_new(c->m, (size_t)shape->n_rows + 1, sizeof *x->row_start, &st);
        if (x->row_start == NULL) return st;
    }
    return CUZK_OK;
}

/* NULL and *st on failure. */
static r1cs_coeffs *begin(const r1cs_coeffs_shape *shape, mem *m, cuzk_status *st)
{
    r1cs_coeffs *c;

    *st = check_shape(shape);
    if (*st != CUZK_OK) return NULL;
    c = mem_new(m, 1, sizeof *c, st);
    if (c == NULL) return NULL;
    c->m = m;
    *st = fill(c, shape);
    if (*st == CUZK_OK) return c;
    r1cs_coeffs_free(c);
    return NULL;
}

cuzk_status r1cs_coeffs_begin(r1cs_coeffs **out, const r1cs_coeffs_shape *shape, mem *m)
{
    cuzk_status st;
    r1cs_coeffs *c = begin(shape, m, &st);

    if (c != NULL) *out = c;
    return st;
}

void r1cs_coeffs_free(r1cs_coeffs *c)
{
    mem *m;

    if (c == NULL) return;
    m = c->m;
    r1cs_template_clear(m, &c->t);
    r1cs_free(c->sys);
    mem_free(m, c->keys);
    mem_free(m, c);
}

/* Words for a place that is out of bounds. */
static cuzk_status fail_place(const r1cs_coeffs_shape *s, uint32_t matrix, uint32_t row,
                              uint32_t wire)
{
    if (matrix >= s->n_matrices) {
        return FAIL_DATA(MALFORMED, "", "matrix %u, there are %u", matrix, s->n_matrices);
    }
    if (row >= s->n_rows) return FAIL_DATA(MALFORMED, "", "row %u, there are %u", row, s->n_rows);
    return FAIL_DATA(MALFORMED, "", "wire %u, there are %u", wire, s->n_inputs + s->n_aux);
}

/* A row's number spread over 64 bits (the finaliser of splitmix64), so that other rows have another sum. */
static uint64_t row_mark(uint32_t row)
{
    uint64_t x = row + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

cuzk_status r1cs_coeffs_count(r1cs_coeffs *c, uint32_t matrix, uint32_t row, uint32_t wire)
{
    const r1cs_coeffs_shape *s = &c->shape;

    if (matrix >= s->n_matrices || row >= s->n_rows || wire >= s->n_inputs + s->n_aux) {
        return fail_place(s, matrix, row, wire);
    }
    if (c->counted[matrix] >= UINT32_MAX) {
        return FAIL_DATA(LIMIT, "", "more than %u terms in a matrix", UINT32_MAX);
    }
    c->counted[matrix]++;
    c->counted_rows[matrix] += row_mark(row);
    matrix_of(c, matrix)->row_start[row]++;
    if (row >= c->used_rows) c->used_rows = row + 1;
    return CUZK_OK;
}

cuzk_status r1cs_coeffs_counted(r1cs_coeffs *c)
{
    cuzk_status st = CUZK_OK;

    if (!c->shape.trim) c->used_rows = c->shape.n_rows;
    for (uint32_t j = 0; j < c->shape.n_matrices; j++) {
        r1cs_matrix *x = matrix_of(c, j);
        uint32_t start = 0;

        for (size_t row = 0; row <= c->used_rows; row++) {
            uint32_t n = x->row_start[row];

            x->row_start[row] = start; /* where put puts the row's next term */
            start += n;
        }
        x->wire = mem_new(c->m, c->counted[j], sizeof *x->wire, &st);
        if (x->wire == NULL) return st;
        x->coeff = mem_new(c->m, c->counted[j], sizeof *x->coeff, &st);
        if (x->coeff == NULL) return st;
    }
    return CUZK_OK;
}

static bool is_canonical(const r1cs_coeffs *c, const fr *v)
{
    for (size_t i = 4; i-- > 0;) {
        if (v->l[i] != c->r64[i]) return v->l[i] < c->r64[i];
    }
    return false;
}

/* Between the passes: memory stays safe, whatever a mapped file turns into. */
static cuzk_status fail_changed(void)
{
    return FAIL_DATA(MALFORMED, "", "terms changed while they were read");
}

/* Index of the file's value; new ones are checked and added. */
static cuzk_status value_index(r1cs_coeffs *c, const uint8_t value[32], uint32_t *index)
{
    fr v;
    const fr *r;
    uint32_t *recent;

    for (size_t i = 0; i < 4; i++) v.l[i] = load_u64le(value + 8 * i);
    recent = &c->recent[(v.l[0] ^ v.l[3]) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];
    r = &c->sys->coeffs[*recent];
    *index = *recent;
    if (((r->l[0] ^ v.l[0]) | (r->l[1] ^ v.l[1]) | (r->l[2] ^ v.l[2]) | (r->l[3] ^ v.l[3])) == 0) {
        return CUZK_OK;
    }
    *index = coeff_table_find(c->sys, &v);
    if (*index != COEFF_ABSENT) {
        *recent = *index;
        return CUZK_OK;
    }
    if ((v.l[0] | v.l[1] | v.l[2] | v.l[3]) == 0) {
        *index = COEFF_ZERO;
        return CUZK_OK;
    }
    if (!is_canonical(c, &v)) {
        return FAIL_DATA(MALFORMED, "", "value not below the scalar prime of %s",
                         c->shape.cv->name);
    }
    return coeff_table_add(c->sys, &v, index);
}

cuzk_status r1cs_coeffs_put(r1cs_coeffs *c, uint32_t matrix, uint32_t row, uint32_t wire,
                            const uint8_t value[32])
{
    const r1cs_coeffs_shape *s = &c->shape;
    r1cs_matrix *x;
    uint32_t index, at;

    TRY(value_index(c, value, &index));
    if (matrix >= s->n_matrices || row >= c->used_rows || wire >= s->n_inputs + s->n_aux) {
        return fail_changed();
    }
    x = matrix_of(c, matrix);
    at = x->row_start[row];
    if (at >= c->counted[matrix]) return fail_changed();
    x->row_start[row] = at + 1;
    c->put[matrix]++;
    c->put_rows[matrix] += row_mark(row);
    if (wire == 0) {
        x->wire[at] = 0;
    } else {
        x->wire[at] = wire < s->n_inputs ? s->n_aux + wire : wire - s->n_inputs + 1;
    }
    x->coeff[at] = index;
    return CUZK_OK;
}

static void convert_values(r1cs_coeffs *c)
{
    const curve *cv = c->shape.cv;
    const fr raw_unit = {{1, 0, 0, 0}}; /* a product with it takes one factor 2^256 off */
    r1cs_system *sys = c->sys;
    scalar s;

    for (size_t i = 0; i < sys->n_coeffs; i++) {
        fr *v = &sys->coeffs[i];

        if (c->shape.form == R1CS_VALUE_MONT2) {
            cv->fr_mul(v, v, &raw_unit);
        } else {
            for (size_t k = 0; k < 4; k++) store_u64le(s.b + 8 * k, v->l[k]);
            (void)cv->fr_from_scalar(v, &s); /* value_index let only canonical values in */
        }
    }
}

static bool is_ordered(const r1cs_matrix *x, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (x->coeff[i] == COEFF_ZERO) return false;
        if (i > from && x->wire[i] <= x->wire[i - 1]) return false;
    }
    return true;
}

/* The index still finds the file's bytes when the first sum comes. */
static cuzk_status sum_index(r1cs_coeffs *c, const fr *sum, uint32_t *index)
{
    if (!c->reindexed) TRY(coeff_table_reindex(c->sys));
    c->reindexed = true;
    return coeff_table_intern(c->sys, sum, index);
}

/* Sorts and merges terms from..to and writes them at `at` <= from; *end is where they end. */
static cuzk_status order_row(r1cs_coeffs *c, r1cs_matrix *x, uint32_t from, uint32_t to,
                             uint32_t at, uint32_t *end)
{
    cuzk_status st = CUZK_OK;
    size_t n = 0, pos = 0;
    uint64_t *keys = r1cs_grow(c->m, c->keys, 0, &c->cap_keys, to - from, sizeof *keys, &st);
    term t;

    if (keys == NULL) return st;
    c->keys = keys;
    for (uint32_t i = from; i < to; i++) {
        if (x->coeff[i] != COEFF_ZERO) keys[n++] = (uint64_t)x->wire[i] << 32 | x->coeff[i];
    }
    (void)terms_sort(keys, n); /* terms_next merges what is equal */
    while (terms_next(&t, c->sys->cv, c->sys->coeffs, keys, n, &pos)) {
        x->wire[at] = t.wire;
        x->coeff[at] = t.coeff;
        if (t.coeff == TERM_SUM) TRY(sum_index(c, t.k, &x->coeff[at]));
        at++;
    }
    *end = at;
    return CUZK_OK;
}

static cuzk_status order_rows(r1cs_coeffs *c, r1cs_matrix *x, size_t counted)
{
    uint32_t at = 0, from = 0;

    for (uint32_t row = 0; row < c->used_rows; row++) {
        uint32_t to = x->row_start[row]; /* put moved it to the row's end */

        x->row_start[row] = at;
        if (to < from) return fail_changed();
        if (!is_ordered(x, from, to)) {
            TRY(order_row(c, x, from, to, at, &at));
        } else if (at == from) {
            at = to;
        } else {
            memmove(x->wire + at, x->wire + from, (to - from) * sizeof *x->wire);
            memmove(x->coeff + at, x->coeff + from, (to - from) * sizeof *x->coeff);
            at += to - from;
        }
        from = to;
    }
    x->row_start[c->used_rows] = at;
    return from == counted ? CUZK_OK : fail_changed();
}

static cuzk_status end_system(r1cs_coeffs *c)
{
    const r1cs_coeffs_shape *s = &c->shape;
    r1cs_template *t = &c->t;
    uint32_t index;

    for (uint32_t j = 0; j < s->n_matrices; j++) {
        if (c->put[j] != c->counted[j] || c->put_rows[j] != c->counted_rows[j]) {
            return fail_changed();
        }
    }
    convert_values(c);
    for (uint32_t j = 0; j < s->n_matrices; j++) {
        TRY(order_rows(c, matrix_of(c, j), c->counted[j]));
    }
    t->name = s->name;
    t->n_local = s->n_aux;
    t->n_elem = s->n_aux;
    t->n_pub = s->n_inputs - 1;
    t->n_rows = c->used_rows;
    c->sys->input_rows = s->input_rows;
    TRY(r1cs_template_push(c->sys, t, &index));
    TRY(r1cs_add(c->sys, index, NULL, NULL, NULL));
    return r1cs_finish(c->sys);
}

cuzk_status r1cs_coeffs_end(r1cs_system **out, r1cs_coeffs *c)
{
    cuzk_status st = end_system(c);

    if (st == CUZK_OK) {
        *out = c->sys;
        c->sys = NULL;
    }
    r1cs_coeffs_free(c);
    return st;
}

/* ---- section 4 of a zkey ---- */

#define ENTRY_BYTES ((size_t)44)

static cuzk_status count_entries(r1cs_coeffs *c, const uint8_t *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *e = entries + i * ENTRY_BYTES;
        cuzk_status st = r1cs_coeffs_count(c, load_u32le(e), load_u32le(e + 4), load_u32le(e + 8));

        if (st != CUZK_OK) {
            status_add_where("zkey coefficient %zu", i);
            return st;
        }
    }
    return r1cs_coeffs_counted(c);
}

static cuzk_status put_entries(r1cs_coeffs *c, const uint8_t *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *e = entries + i * ENTRY_BYTES;
        cuzk_status st =
            r1cs_coeffs_put(c, load_u32le(e), load_u32le(e + 4), load_u32le(e + 8), e + 12);

        if (st != CUZK_OK) {
            status_add_where("zkey coefficient %zu", i);
            return st;
        }
    }
    return CUZK_OK;
}

cuzk_status r1cs_from_zkey(r1cs_system **out, const curve *cv, uint32_t n_inputs, uint32_t n_aux,
                           uint32_t n_rows, const uint8_t *entries, size_t n, mem *m)
{
    cuzk_status st;
    r1cs_coeffs *c;
    const r1cs_coeffs_shape shape = {
        .cv = cv,
        .name = "zkey",
        .n_inputs = n_inputs,
        .n_aux = n_aux,
        .n_rows = n_rows,
        .n_matrices = 2,
        .form = R1CS_VALUE_MONT2,
        .input_rows = false,
        .trim = true,
    };

    c = begin(&shape, m, &st);
    if (c == NULL) return st;
    TRY_OUT(count_entries(c, entries, n));
    TRY_OUT(put_entries(c, entries, n));
    return r1cs_coeffs_end(out, c);
out:
    r1cs_coeffs_free(c);
    return st;
}
