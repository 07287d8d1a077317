/*
 * device/cpu/vec_lanes_tmpl.h - vec_tmpl.h in eight lanes; included once for each curve of table ifma
 *
 * Elements are times 2^256, products in lanes divide by 2^260: one factor is taken times 2^4, which costs nothing when its words are
 * cut into limbs. What is left over from groups of eight goes element by element.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* Eight elements at p; below m, or times 2^4 below 16m. */
U128_INLINE void vec_load(fr_x8 *r, const fr *p, const int left)
{
    __m512i w[4];
    lanes_load4(w, p->l);
    fr_x8_from_words_shl(r, w, left);
}

/* x below 2m, settled */
U128_INLINE void vec_store(fr *p, fr_x8 *x)
{
    __m512i w[4];
    fr_x8_canonical(x);
    fr_x8_to_words(w, x);
    lanes_store4(p->l, w);
}

static void vec_mul(fr *r, const fr *a, const fr *b, size_t n)
{
    size_t i = 0;
    fr_x8 x, y;

    for (; i + LANES <= n; i += LANES) {
        vec_load(&x, &a[i], 4);
        vec_load(&y, &b[i], 0);
        fr_x8_mul(&x, &x, &y);
        vec_store(&r[i], &x);
    }
    for (; i < n; i++) fr_mul_inl(&r[i], &a[i], &b[i]);
}

static void vec_mul_const(fr *r, const fr *a, const fr *k, size_t n)
{
    size_t i = 0;
    fr f = *k;
    fr_x8 x, y;

    fr_x8_set1(&y, &f);
    for (; i + LANES <= n; i += LANES) {
        vec_load(&x, &a[i], 4);
        fr_x8_mul(&x, &x, &y);
        vec_store(&r[i], &x);
    }
    for (; i < n; i++) fr_mul_inl(&r[i], &a[i], &f);
}

/* p = start step^l in lane l; *leap = 16 step^8 in all: what a product with p advances p by, below 16m. And both as elements. */
static void vec_chains(fr_x8 *p, fr_x8 *leap, fr eight[LANES], fr *last, const fr *step)
{
    __m512i w[4];

    for (int l = 1; l < LANES; l++) fr_mul_inl(&eight[l], &eight[l - 1], step);
    *last = *step;
    for (int l = 1; l < LANES; l *= 2) fr_sqr(last, last);
    vec_load(p, eight, 0);
    for (int i = 0; i < 4; i++) w[i] = lanes_set1(last->l[i]);
    fr_x8_from_words_shl(leap, w, 4);
}

/* With in NULL: x[i] = start step^i; else x[i] = in[i] start step^i. */
static void vec_run_powers(fr *x, const fr *in, size_t n, const fr *start, const fr *step)
{
    size_t i = 0;
    fr eight[LANES] = {*start}, last;
    fr_x8 p, leap, y;

    vec_chains(&p, &leap, eight, &last, step);
    for (; i + LANES <= n; i += LANES) {
        if (in != NULL) {
            vec_load(&y, &in[i], 4);
            fr_x8_mul(&y, &y, &p);
        } else {
            y = p;
        }
        vec_store(&x[i], &y);
        fr_x8_mul(&p, &p, &leap);
    }
    if (i == n) return;
    vec_store(eight, &p);
    for (size_t l = 0; i < n; i++, l++) {
        if (in != NULL)
            fr_mul_inl(&x[i], &in[i], &eight[l]);
        else
            x[i] = eight[l];
    }
}

static void vec_mul_powers(fr *x, size_t n, const fr *start, const fr *step)
{
    vec_run_powers(x, x, n, start, step);
}

static void vec_powers(fr *x, size_t n, const fr *start, const fr *step)
{
    vec_run_powers(x, NULL, n, start, step);
}

static void vec_quotient(fr *a, const fr *b, const fr *c, size_t n, const fr *k)
{
    size_t i = 0;
    fr_x8 x, y, f;
    fr one, t;

    fr_set_one(&one);
    if (k == NULL) k = &one;
    ntt_factor_of(&f, k);
    for (; i + LANES <= n; i += LANES) {
        vec_load(&x, &a[i], 4);
        vec_load(&y, &b[i], 0);
        fr_x8_mul_raw(&x, &x, &y);
        vec_load(&y, &c[i], 0);
        fr_x8_sub(&x, &x, &y);
        fr_x8_add_m(&x, 1); /* from 0 to 3m */
        fr_x8_carry(&x);
        fr_x8_mul(&x, &x, &f);
        vec_store(&a[i], &x);
    }
    for (; i < n; i++) {
        fr_mul_inl(&t, &a[i], &b[i]);
        fr_sub(&t, &t, &c[i]);
        fr_mul_inl(&a[i], &t, k);
    }
}
