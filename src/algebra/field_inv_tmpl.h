/*
 * algebra/field_inv_tmpl.h - a prime field: inversion by division steps, variable time; included once for each field
 *
 * Numbers are FIELD_LIMBS62 limbs of 62 bits, little-endian, all but the top one in [0, 2^62), the top one signed.
 * Invariants, x the argument: f = d x and g = e x mod m; d and e in (-2m, m). At the end g = 0, f = +-1, d = +-1/x.
 *
 * Source: Bernstein, Yang, TCHES 2019(3), and the technique of keeping d and e divided by 2^62 a batch, made exact by
 * adding a multiple of m
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* (f, g) = T (f, g) / 2^62 on the low n limbs; T makes the low 62 bits of both zero */
U128_INLINE void FIELD_FN(divsteps_fg)(int64_t *f, int64_t *g, const divsteps_matrix *t, int n)
{
    i128 cf = (i128)t->u * f[0] + (i128)t->v * g[0];
    i128 cg = (i128)t->q * f[0] + (i128)t->r * g[0];
    VERIFY(((uint64_t)cf & DIVSTEPS_MASK) == 0 && ((uint64_t)cg & DIVSTEPS_MASK) == 0);
    cf >>= DIVSTEPS_BATCH;
    cg >>= DIVSTEPS_BATCH;
    for (int i = 1; i < n; i++) {
        int64_t fi = f[i], gi = g[i];
        cf += (i128)t->u * fi + (i128)t->v * gi;
        cg += (i128)t->q * fi + (i128)t->r * gi;
        f[i - 1] = (int64_t)((uint64_t)cf & DIVSTEPS_MASK);
        g[i - 1] = (int64_t)((uint64_t)cg & DIVSTEPS_MASK);
        cf >>= DIVSTEPS_BATCH;
        cg >>= DIVSTEPS_BATCH;
    }
    f[n - 1] = (int64_t)cf;
    g[n - 1] = (int64_t)cg;
}

/* (d, e) = T (d, e) / 2^62 mod m. A multiple of m, below 2^62 and chosen from the low words, makes each divisible;
   negative d, e first gain m, which keeps the results in (-2m, m). */
U128_INLINE void FIELD_FN(divsteps_de)(int64_t *d, int64_t *e, const divsteps_matrix *t)
{
    const int64_t *m = FIELD_FN(modulus62);
    const int top = FIELD_LIMBS62 - 1;
    int64_t sd = d[top] >> 63, se = e[top] >> 63;
    int64_t md = (t->u & sd) + (t->v & se), me = (t->q & sd) + (t->r & se);
    i128 cd = (i128)t->u * d[0] + (i128)t->v * e[0];
    i128 ce = (i128)t->q * d[0] + (i128)t->r * e[0];

    md -= (int64_t)((FIELD_INV62 * (uint64_t)cd + (uint64_t)md) & DIVSTEPS_MASK);
    me -= (int64_t)((FIELD_INV62 * (uint64_t)ce + (uint64_t)me) & DIVSTEPS_MASK);
    cd += (i128)m[0] * md;
    ce += (i128)m[0] * me;
    VERIFY(((uint64_t)cd & DIVSTEPS_MASK) == 0 && ((uint64_t)ce & DIVSTEPS_MASK) == 0);
    cd >>= DIVSTEPS_BATCH;
    ce >>= DIVSTEPS_BATCH;
    FIELD_UNROLL
    for (int i = 1; i < FIELD_LIMBS62; i++) {
        int64_t di = d[i], ei = e[i];
        cd += (i128)t->u * di + (i128)t->v * ei + (i128)m[i] * md;
        ce += (i128)t->q * di + (i128)t->r * ei + (i128)m[i] * me;
        d[i - 1] = (int64_t)((uint64_t)cd & DIVSTEPS_MASK);
        e[i - 1] = (int64_t)((uint64_t)ce & DIVSTEPS_MASK);
        cd >>= DIVSTEPS_BATCH;
        ce >>= DIVSTEPS_BATCH;
    }
    d[top] = (int64_t)cd;
    e[top] = (int64_t)ce;
}

/* r = the n limbs of d, or of -d, brought from (-2m, m) or (-m, 2m) into [0, m) */
static inline void FIELD_FN(divsteps_result)(FIELD *r, const int64_t *d, bool negate)
{
    int64_t t[FIELD_LIMBS62], carry = 0;
    const int top = FIELD_LIMBS62 - 1;
    int add = 0; /* multiples of m to add */

    for (int i = 0; i < FIELD_LIMBS62; i++) t[i] = negate ? -d[i] : d[i];
    for (int pass = 0; pass < 4; pass++) { /* carries, then one of +m, -m at most three times */
        bool below;
        carry = 0;
        for (int i = 0; i < FIELD_LIMBS62; i++) {
            int64_t x = t[i] + (add > 0 ? FIELD_FN(modulus62)[i] : 0) -
                        (add < 0 ? FIELD_FN(modulus62)[i] : 0) + carry;
            if (i == top) {
                t[i] = x;
                break;
            }
            t[i] = (int64_t)((uint64_t)x & DIVSTEPS_MASK);
            carry = (x - t[i]) / (int64_t)(DIVSTEPS_MASK + 1);
        }
        below = false;
        for (int i = 0; i < FIELD_LIMBS62; i++)
            if (t[i] != FIELD_FN(modulus62)[i]) below = t[i] < FIELD_FN(modulus62)[i];
        add = t[top] < 0 ? 1 : below ? 0 : -1;
        if (add == 0) break;
    }
    VERIFY(add == 0);
    for (int i = 0; i < FIELD_LIMBS; i++) {
        int bit = 64 * i, k = bit / DIVSTEPS_BATCH, s = bit % DIVSTEPS_BATCH;
        r->l[i] = (uint64_t)t[k] >> s;
        if (k + 1 < FIELD_LIMBS62) r->l[i] |= (uint64_t)t[k + 1] << (DIVSTEPS_BATCH - s);
        if (s > 60 && k + 2 < FIELD_LIMBS62)
            r->l[i] |= (uint64_t)t[k + 2] << (2 * DIVSTEPS_BATCH - s);
    }
}

/** r = 1/a; 0 for 0. */
static inline void FIELD_FN(inv_var)(FIELD *r, const FIELD *a)
{
    int64_t f[FIELD_LIMBS62], g[FIELD_LIMBS62], d[FIELD_LIMBS62] = {0}, e[FIELD_LIMBS62] = {1};
    int64_t delta = 1;
    int n = FIELD_LIMBS62; /* limbs of f and g in use */
    FIELD t, r3;

    for (int i = 0; i < FIELD_LIMBS62; i++) {
        int bit = DIVSTEPS_BATCH * i, k = bit / 64, s = bit % 64;
        uint64_t w = a->l[k] >> s;
        if (s > 2 && k + 1 < FIELD_LIMBS) w |= a->l[k + 1] << (64 - s);
        f[i] = FIELD_FN(modulus62)[i];
        g[i] = (int64_t)(w & DIVSTEPS_MASK);
    }
    for (;;) {
        divsteps_matrix m;
        int64_t rest = 0;
        delta = divsteps_62_var(&m, delta, (uint64_t)f[0] | (uint64_t)f[1] << 62,
                                (uint64_t)g[0] | (uint64_t)g[1] << 62);
        FIELD_FN(divsteps_de)(d, e, &m);
        FIELD_FN(divsteps_fg)(f, g, &m, n);
        for (int i = 0; i < n; i++) rest |= g[i];
        if (rest == 0) break;
        /* drop the top limb when it is only the sign of the one below */
        while (n > 2 && ((f[n - 1] == 0 && g[n - 1] == 0) || (f[n - 1] == -1 && g[n - 1] == -1) ||
                         (f[n - 1] == -1 && g[n - 1] == 0) || (f[n - 1] == 0 && g[n - 1] == -1))) {
            f[n - 2] = (int64_t)((uint64_t)f[n - 2] | (uint64_t)f[n - 1] << DIVSTEPS_BATCH);
            g[n - 2] = (int64_t)((uint64_t)g[n - 2] | (uint64_t)g[n - 1] << DIVSTEPS_BATCH);
            n--;
        }
    }
    /* f = -1 exactly when its top limb in use is negative (f = +-m when a = 0, and then d = 0) */
    FIELD_FN(divsteps_result)(&t, d, f[n - 1] < 0);
    /* 1/(a R) = a^-1 R^-1; times R^3 / R is a^-1 R */
    FIELD_UNROLL
    for (int i = 0; i < FIELD_LIMBS; i++) r3.l[i] = FIELD_FN(mont_r3)[i];
    FIELD_FN(mul)(r, &t, &r3);
}
