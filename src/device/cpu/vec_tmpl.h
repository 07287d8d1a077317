/*
 * device/cpu/vec_tmpl.h - element by element: products, powers, the quotient; included once for each curve and table
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

static void vec_mul(fr *r, const fr *a, const fr *b, size_t n)
{
    for (size_t i = 0; i < n; i++) fr_mul_inl(&r[i], &a[i], &b[i]);
}

static void vec_mul_const(fr *r, const fr *a, const fr *k, size_t n)
{
    fr f = *k;
    for (size_t i = 0; i < n; i++) fr_mul_inl(&r[i], &a[i], &f);
}

/* Powers run in four chains, so that one product need not wait for the one before. */
#define VEC_CHAINS 4

/* p[j] = start step^j; *leap = step^VEC_CHAINS */
static void vec_chains(fr p[VEC_CHAINS], fr *leap, const fr *start, const fr *step)
{
    p[0] = *start;
    for (int j = 1; j < VEC_CHAINS; j++) fr_mul_inl(&p[j], &p[j - 1], step);
    *leap = *step;
    for (int j = 1; j < VEC_CHAINS; j *= 2) fr_sqr(leap, leap);
}

static void vec_mul_powers(fr *x, size_t n, const fr *start, const fr *step)
{
    fr p[VEC_CHAINS], leap;

    vec_chains(p, &leap, start, step);
    for (size_t i = 0; i < n; i++) {
        fr *q = &p[i % VEC_CHAINS];
        fr_mul_inl(&x[i], &x[i], q);
        fr_mul_inl(q, q, &leap);
    }
}

static void vec_powers(fr *x, size_t n, const fr *start, const fr *step)
{
    fr p[VEC_CHAINS], leap;

    vec_chains(p, &leap, start, step);
    for (size_t i = 0; i < n; i++) {
        fr *q = &p[i % VEC_CHAINS];
        x[i] = *q;
        fr_mul_inl(q, q, &leap);
    }
}

static void vec_quotient(fr *a, const fr *b, const fr *c, size_t n, const fr *k)
{
    fr f;

    if (k == NULL) {
        for (size_t i = 0; i < n; i++) {
            fr t;
            fr_mul_inl(&t, &a[i], &b[i]);
            fr_sub(&a[i], &t, &c[i]);
        }
        return;
    }
    f = *k;
    for (size_t i = 0; i < n; i++) {
        fr t;
        fr_mul_inl(&t, &a[i], &b[i]);
        fr_sub(&t, &t, &c[i]);
        fr_mul_inl(&a[i], &t, &f);
    }
}
