/*
 * unit/device/msm_support.c - points whose discrete logarithm is known, scalars in every form, what a sum must be
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/msm_support.h"

/* ---- the judge's group ---- */

group group_of(curve_id id, bool g2)
{
    const curve *cv = curve_get(id, CPU_TABLE_GENERIC);
    return (group){cv, g2, g2 ? cv->g2_size : cv->g1_size};
}

any_point point_gen(const group *g)
{
    any_point r;
    memset(&r, 0, sizeof r);
    if (g->g2) {
        r.g2 = g->cv->g2_gen;
    } else {
        r.g1 = g->cv->g1_gen;
    }
    return r;
}

any_point point_add(const group *g, const any_point *a, const any_point *b)
{
    any_point r;
    memset(&r, 0, sizeof r);
    if (g->g2) {
        g->cv->g2_add(&r.g2, &a->g2, &b->g2);
    } else {
        g->cv->g1_add(&r.g1, &a->g1, &b->g1);
    }
    return r;
}

any_point point_neg(const group *g, const any_point *a)
{
    any_point r;
    memset(&r, 0, sizeof r);
    if (g->g2) {
        g->cv->g2_neg(&r.g2, &a->g2);
    } else {
        g->cv->g1_neg(&r.g1, &a->g1);
    }
    return r;
}

any_point point_mul(const group *g, const any_point *a, const fr *k)
{
    any_point r;
    memset(&r, 0, sizeof r);
    if (g->g2) {
        g->cv->g2_mul(&r.g2, &a->g2, k);
    } else {
        g->cv->g1_mul(&r.g1, &a->g1, k);
    }
    return r;
}

void assert_points_equal(const group *g, const any_point *got, const any_point *want)
{
    assert_bytes_equal(got, want, g->size);
}

/* ---- bases ---- */

void bases_init(bases *b, const group *g, size_t n, size_t period)
{
    any_point p = point_gen(g), step;
    fr log, t;

    *b = (bases){.g = g, .n = n, .lem = test_array(n, g->size), .log = test_array(n, sizeof(fr))};
    do random_fr(g->cv, &log);
    while (g->cv->fr_is_zero(&log));
    do random_fr(g->cv, &t);
    while (g->cv->fr_is_zero(&t));
    step = point_mul(g, &p, &t);
    p = point_mul(g, &p, &log);
    for (size_t i = 0; i < n; i++) {
        if (period != 0 && i >= period) {
            bases_set(b, i, b, i - period, false);
            continue;
        }
        memcpy(b->lem + i * g->size, &p, g->size);
        b->log[i] = log;
        p = point_add(g, &p, &step);
        g->cv->fr_add(&log, &log, &t);
    }
}

void bases_clear(bases *b)
{
    free(b->lem);
    free(b->log);
}

void bases_set(bases *b, size_t i, const bases *from, size_t j, bool negated)
{
    const group *g = b->g;
    any_point p;

    memset(&p, 0, sizeof p);
    memcpy(&p, from->lem + j * g->size, g->size);
    b->log[i] = from->log[j];
    if (negated) {
        p = point_neg(g, &p);
        g->cv->fr_neg(&b->log[i], &b->log[i]);
    }
    memcpy(b->lem + i * g->size, &p, g->size);
}

void bases_set_inf(bases *b, size_t i)
{
    memset(b->lem + i * b->g->size, 0, b->g->size);
    b->log[i] = b->g->cv->fr_zero;
}

uint8_t *bases_encode(const bases *b, point_enc enc)
{
    const curve *cv = b->g->cv;
    size_t size = cv->point_size(b->g->g2, enc);
    uint8_t *out = test_array(b->n, size);

    for (size_t i = 0; i < b->n; i++) {
        any_point p;
        memcpy(&p, b->lem + i * b->g->size, b->g->size);
        if (b->g->g2) {
            cv->g2_write(out + i * size, &p.g2, enc);
        } else {
            cv->g1_write(out + i * size, &p.g1, enc);
        }
    }
    return out;
}

/* ---- scalars ---- */

void values_init(values *v, const curve *cv, size_t n)
{
    *v = (values){.cv = cv,
                  .n = n,
                  .v = test_array(n, sizeof(fr)),
                  .is_bit = test_array(n, sizeof(bool)),
                  .selected = test_array(n, sizeof(bool))};
    random_frs(cv, v->v, n);
    for (size_t i = 0; i < n; i++) v->selected[i] = true;
}

static void packed_clear(values *v)
{
    free(v->elems);
    free(v->bits);
    free(v->is_elem);
    free(v->select);
    free(v->rank64);
}

void values_clear(values *v)
{
    packed_clear(v);
    free(v->v);
    free(v->is_bit);
    free(v->selected);
}

static void set_bit(uint64_t *words, size_t i)
{
    words[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Arrays are of exactly the size that dev_scalars asks for, so that a sanitizer sees a read beyond. */
void values_pack(values *v)
{
    size_t words = (v->n + 63) / 64, elems = 0, bits = 0, out = 0;

    packed_clear(v);
    for (size_t i = 0; i < v->n; i++) {
        bits += v->is_bit[i] ? 1 : 0;
        out += v->selected[i] ? 0 : 1;
    }
    v->elems = test_array(v->n - bits, sizeof(fr));
    v->bits = test_array((bits + 63) / 64, sizeof(uint64_t));
    v->is_elem = test_array(words, sizeof(uint64_t));
    v->select = test_array(words, sizeof(uint64_t));
    v->rank64 = test_array(words, sizeof(uint32_t));
    bits = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (i % 64 == 0) v->rank64[i / 64] = (uint32_t)elems;
        if (v->selected[i]) set_bit(v->select, i);
        if (v->is_bit[i]) {
            if (!v->cv->fr_is_zero(&v->v[i])) set_bit(v->bits, bits);
            bits++;
        } else {
            set_bit(v->is_elem, i);
            v->elems[elems++] = v->v[i];
        }
    }
    v->packed = (dev_scalars){.n = v->n, .elems = v->elems, .select = out > 0 ? v->select : NULL};
    if (bits > 0) {
        v->packed.bits = v->bits;
        v->packed.is_elem = v->is_elem;
        v->packed.rank64 = v->rank64;
    }
}

/* ---- sums ---- */

any_point expected_sum(const bases *b, size_t first, const values *v)
{
    const curve *cv = b->g->cv;
    any_point gen = point_gen(b->g);
    fr sum = cv->fr_zero, t;
    size_t at = first;

    for (size_t i = 0; i < v->n; i++) {
        if (!v->selected[i]) continue;
        assert_in_range(at, 0, b->n - 1);
        cv->fr_mul(&t, &v->v[i], &b->log[at++]);
        cv->fr_add(&sum, &sum, &t);
    }
    return point_mul(b->g, &gen, &sum);
}

any_point device_sum(const rig *r, curve_id id, const bases *b, size_t first, const values *v)
{
    dev_points points = {.data = b->lem, .n = b->n, .enc = POINT_LEM, .g2 = b->g->g2};
    any_point got;

    memset(&got, 0, sizeof got);
    if (b->g->g2) {
        assert_status_ok(dev_msm_g2(r->s, &got.g2, id, &points, first, &v->packed));
    } else {
        assert_status_ok(dev_msm_g1(r->s, &got.g1, id, &points, first, &v->packed));
    }
    return got;
}
