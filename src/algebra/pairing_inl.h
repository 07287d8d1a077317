/*
 * algebra/pairing_inl.h - the optimal ate pairing: Miller loops of several pairs together, final exponentiation
 *
 *     BLS12  f_{x,Q}(P)                                             bits of |x|, conjugated when x < 0
 *     BN     f_{6x+2,Q}(P) l_{T,psi Q}(P) l_{T + psi Q,-psi^2 Q}(P)  signed digits of 6x + 2
 *
 * T runs on the twist in homogeneous coordinates; a line through it is scaled by an element of Fp2 (and by w^3 for an
 * M twist), which the final exponentiation removes:
 *     double at T          -2YZ yP,  3X^2 xP,  3b'Z^2 - Y^2
 *     T and Q, theta = Y - yQ Z, lambda = X - xQ Z:   lambda yP,  -theta xP,  theta xQ - lambda yQ
 * as coefficients of w^0, w^1, w^3 (D twist) or of w^3, w^2, w^0 (M twist).
 *
 * Lines of a Q that is known long before are divided by their first coefficient, and then by yP: 1, x (xP/yP), c (1/yP). That
 * saves the walk of T, and 3 of the 13 products of f with a line.
 *
 * The result is f^(m (p^12 - 1)/r) with the m that others' programs have too: 3 for BLS12 (blst, zkcrypto, snarkjs),
 * 2x (6x^2 + 3x + 1) for BN (snarkjs, libff); vk_alphabeta_12 of a snarkjs key is such a value.
 * Variable time.
 *
 * Sources: Vercauteren, IEEE Trans. IT 2010; Costello, Lange, Naehrig, PKC 2010; Aranha et al., EUROCRYPT 2011;
 * Hayashida, Hayasaka, Teruya, ePrint 2020/875 (BLS12); Fuentes-Castaneda, Knapp, Rodriguez-Henriquez, SAC 2011 (BN)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_PAIRING_INL_H
#define ALGEBRA_PAIRING_INL_H

#include "algebra/curve_inl.h"
#include "algebra/cyclotomic_inl.h"
#include "algebra/tower_inl.h"

/* ---- lines ---- */

/** Coefficients of a line before P: y for yP, x for xP, c. */
typedef struct line {
    fp2 y, x, c;
} line;

/** The same, divided by y. */
typedef struct line1 {
    fp2 x, c;
} line1;

/** A pair in a Miller loop. */
typedef struct miller_pair {
    g1_affine p; /* with lines: (xP/yP, 1/yP) */
    g2_affine q;
    g2_proj t;          /* homogeneous multiple of q */
    const line1 *lines; /* the next one; NULL: q and t are used */
} miller_pair;

U128_NOINLINE void miller_dbl(line *l, g2_proj *t)
{
    fp2 xx, yy, zz, xy2, yz2, e, f, g;

    fp2_sqr(&xx, &t->x);
    fp2_sqr(&yy, &t->y);
    fp2_sqr(&zz, &t->z);
    fp2_add(&xy2, &t->x, &t->y);
    fp2_sqr(&xy2, &xy2);
    fp2_sub(&xy2, &xy2, &xx);
    fp2_sub(&xy2, &xy2, &yy); /* 2 X Y */
    fp2_add(&yz2, &t->y, &t->z);
    fp2_sqr(&yz2, &yz2);
    fp2_sub(&yz2, &yz2, &yy);
    fp2_sub(&yz2, &yz2, &zz); /* 2 Y Z */
    fp2_mul_b3(&e, &zz);      /* 3 b' Z^2 */

    fp2_neg(&l->y, &yz2);
    fp2_dbl(&l->x, &xx);
    fp2_add(&l->x, &l->x, &xx);
    fp2_sub(&l->c, &e, &yy);

    /* 2 XY (Y^2 - 9 b' Z^2), (Y^2 + 9 b' Z^2)^2 - 12 (3 b' Z^2)^2, 8 Y^3 Z: the tangent's point, times 4 */
    fp2_dbl(&f, &e);
    fp2_add(&f, &f, &e);
    fp2_sub(&g, &yy, &f);
    fp2_mul(&t->x, &xy2, &g);
    fp2_add(&g, &yy, &f);
    fp2_sqr(&g, &g);
    fp2_sqr(&e, &e);
    fp2_dbl(&f, &e);
    fp2_add(&f, &f, &e);
    fp2_dbl(&f, &f);
    fp2_dbl(&f, &f);
    fp2_sub(&t->y, &g, &f);
    fp2_mul(&t->z, &yy, &yz2);
    fp2_dbl(&t->z, &t->z);
    fp2_dbl(&t->z, &t->z);
}

U128_NOINLINE void miller_add(line *l, g2_proj *t, const g2_affine *q)
{
    fp2 theta, lambda, d, e, f, g, h;

    fp2_mul(&theta, &q->y, &t->z);
    fp2_sub(&theta, &t->y, &theta);
    fp2_mul(&lambda, &q->x, &t->z);
    fp2_sub(&lambda, &t->x, &lambda);

    l->y = lambda;
    fp2_neg(&l->x, &theta);
    fp2_mul(&l->c, &theta, &q->x);
    fp2_mul(&d, &lambda, &q->y);
    fp2_sub(&l->c, &l->c, &d);

    fp2_sqr(&d, &lambda);
    fp2_mul(&e, &d, &lambda);
    fp2_sqr(&f, &theta);
    fp2_mul(&f, &f, &t->z);
    fp2_mul(&g, &t->x, &d);
    fp2_add(&h, &e, &f);
    fp2_sub(&h, &h, &g);
    fp2_sub(&h, &h, &g);
    fp2_mul(&t->x, &lambda, &h);
    fp2_sub(&g, &g, &h);
    fp2_mul(&g, &g, &theta);
    fp2_mul(&h, &e, &t->y);
    fp2_sub(&t->y, &g, &h);
    fp2_mul(&t->z, &t->z, &e);
}

/** f = f * l(p) */
U128_NOINLINE void miller_line(fp12 *f, const line *l, const g1_affine *p)
{
    fp2 y, x;
    fp2_mul_fp(&y, &l->y, &p->y);
    fp2_mul_fp(&x, &l->x, &p->x);
#if CURVE_TWIST_M
    fp12_mul_014(f, f, &l->c, &x, &y);
#else
    fp12_mul_034(f, f, &y, &x, &l->c);
#endif
}

/** f = f * l(p), p = (xP/yP, 1/yP) */
U128_NOINLINE void miller_line1(fp12 *f, const line1 *l, const g1_affine *p)
{
    fp2 x, c;
    fp2_mul_fp(&x, &l->x, &p->x);
    fp2_mul_fp(&c, &l->c, &p->y);
    fp12_mul_line1(f, f, &x, &c);
}

/* ---- the walk of T: what is done at each step is the caller's ---- */

#if CURVE_IS_BN

#    define MILLER_STEPS (ATE_DIGITS_LEN - 1)

/** What is added to T after doubling number i (from 0) of MILLER_STEPS: Q times this. */
static inline int miller_digit(unsigned i)
{
    return ate_digits[MILLER_STEPS - 1 - i];
}

static inline void g2_affine_psi(g2_affine *r, const g2_affine *a)
{
    fp2_conj(&r->x, &a->x);
    fp2_conj(&r->y, &a->y);
    fp2_mul(&r->x, &r->x, &g2_psi_x);
    fp2_mul(&r->y, &r->y, &g2_psi_y);
}

#else

#    define MILLER_STEPS (u64_bits(CURVE_X_ABS) - 1)

static inline int miller_digit(unsigned i)
{
    return (int)(CURVE_X_ABS >> (MILLER_STEPS - 1 - i) & 1);
}

#endif

/** Lines of a walk. */
static inline unsigned miller_lines(void)
{
    unsigned n = MILLER_STEPS + 2 * CURVE_IS_BN;
    for (unsigned i = 0; i < MILLER_STEPS; i++) n += miller_digit(i) != 0;
    return n;
}

/* ---- Miller loop ---- */

static inline void miller_step_add(fp12 *f, miller_pair *m, const g2_affine *q)
{
    line l;
    if (m->lines != NULL) {
        miller_line1(f, m->lines++, &m->p);
        return;
    }
    miller_add(&l, &m->t, q);
    miller_line(f, &l, &m->p);
}

static inline void miller_step_dbl(fp12 *f, miller_pair *m)
{
    line l;
    if (m->lines != NULL) {
        miller_line1(f, m->lines++, &m->p);
        return;
    }
    miller_dbl(&l, &m->t);
    miller_line(f, &l, &m->p);
}

/** f = product over the n pairs of f_{x,Q}(P) (BLS12), or of f_{6x+2,Q}(P) and the two last lines (BN). */
U128_NOINLINE void miller_loop(fp12 *f, miller_pair *m, size_t n)
{
    g2_affine q;

    fp12_set_one(f);
    for (unsigned k = 0; k < MILLER_STEPS; k++) {
        int digit = miller_digit(k);
        if (k != 0) fp12_sqr(f, f);
        for (size_t i = 0; i < n; i++) miller_step_dbl(f, &m[i]);
        for (size_t i = 0; i < n && digit != 0; i++) {
            q = m[i].q;
            if (digit < 0) g2_affine_neg(&q, &q);
            miller_step_add(f, &m[i], &q);
        }
    }
#if CURVE_IS_BN
    for (size_t i = 0; i < n; i++) {
        g2_affine_psi(&q, &m[i].q);
        miller_step_add(f, &m[i], &q);
        g2_affine_psi(&q, &q);
        g2_affine_neg(&q, &q);
        miller_step_add(f, &m[i], &q);
    }
#endif
    if (CURVE_X_NEG) fp12_conj(f, f);
}

#define MILLER_LINES_MAX (CURVE_IS_BN ? 92 : 68)

/** The lines of q, not infinity, in the order of the loop; returns how many. y: their coefficients of y. */
static inline size_t miller_walk(line1 *out, fp2 *y, const g2_affine *q)
{
    g2_proj t;
    g2_affine a;
    line l;
    size_t n = 0;

    t.x = q->x;
    t.y = q->y;
    fp2_set_one(&t.z);
    for (unsigned k = 0; k < MILLER_STEPS; k++) {
        int digit = miller_digit(k);
        miller_dbl(&l, &t);
        y[n] = l.y;
        out[n++] = (line1){l.x, l.c};
        if (digit == 0) continue;
        a = *q;
        if (digit < 0) g2_affine_neg(&a, &a);
        miller_add(&l, &t, &a);
        y[n] = l.y;
        out[n++] = (line1){l.x, l.c};
    }
#if CURVE_IS_BN
    a = *q;
    for (int i = 0; i < 2; i++) {
        g2_affine_psi(&a, &a);
        if (i == 1) g2_affine_neg(&a, &a);
        miller_add(&l, &t, &a);
        y[n] = l.y;
        out[n++] = (line1){l.x, l.c};
    }
#endif
    return n;
}

/** The lines of q, not infinity and of order r (else some coefficient may be 0, and what comes out is of no use). */
U128_NOINLINE void miller_prepare(line1 *out, const g2_affine *q)
{
    fp2 y[MILLER_LINES_MAX], before[MILLER_LINES_MAX], acc, inv;
    size_t n = miller_walk(out, y, q);

    fp2_set_one(&acc);
    for (size_t i = 0; i < n; i++) {
        before[i] = acc;
        fp2_mul(&acc, &acc, &y[i]);
    }
    fp2_inv_var(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        fp2_mul(&inv, &acc, &before[i]);
        fp2_mul(&acc, &acc, &y[i]);
        fp2_mul(&out[i].x, &out[i].x, &inv);
        fp2_mul(&out[i].c, &out[i].c, &inv);
    }
}

/* ---- final exponentiation ---- */

#if CURVE_IS_BN

/** r = a^|x| in the cyclotomic subgroup: windows of 4 bits with signed digits, since an inverse costs nothing */
U128_NOINLINE void fp12_pow_x_abs(fp12 *r, const fp12 *a)
{
    fp12 odd[4], acc, t; /* a, a^3, a^5, a^7 */

    fp12_cyclotomic_sqr(&t, a);
    odd[0] = *a;
    for (int i = 1; i < 4; i++) fp12_mul(&odd[i], &odd[i - 1], &t);
    acc = odd[pow_x_digits[POW_X_DIGITS_LEN - 1] / 2];
    for (size_t k = POW_X_DIGITS_LEN - 1; k-- > 0;) {
        int d = pow_x_digits[k];
        fp12_cyclotomic_sqr(&acc, &acc);
        if (d == 0) continue;
        t = odd[(d < 0 ? -d : d) / 2];
        if (d < 0) fp12_conj(&t, &t);
        fp12_mul(&acc, &acc, &t);
    }
    *r = acc;
}

#else

#    define POW_X_TERMS 8 /* set bits of |x|, at most */

/** r = a^|x| in the cyclotomic subgroup, for an x with few bits: compressed squares, expanded where |x| has a bit */
U128_NOINLINE void fp12_pow_x_abs(fp12 *r, const fp12 *a)
{
    fp12_compressed term[POW_X_TERMS], square;
    fp12 full[POW_X_TERMS];
    unsigned top = u64_bits(CURVE_X_ABS) - 1;
    size_t n = 0;

    fp12_compress(&square, a);
    for (unsigned k = 0;; k++) {
        if (CURVE_X_ABS >> k & 1) term[n++] = square;
        if (k == top) break;
        fp12_compressed_sqr(&square, &square);
    }
    if (!fp12_expand(full, term, n)) { /* a is 1, or as good as never something else */
        const uint64_t e = CURVE_X_ABS;
        fp12_pow_cyclotomic_var(r, a, &e, 1);
        return;
    }
    *r = full[0];
    for (size_t i = 1; i < n; i++) fp12_mul(r, r, &full[i]);
}

#endif

/** r = a^x in the cyclotomic subgroup */
static inline void fp12_pow_x(fp12 *r, const fp12 *a)
{
    fp12_pow_x_abs(r, a);
    if (CURVE_X_NEG) fp12_conj(r, r);
}

/** r = a^((p^6 - 1)(p^2 + 1)), into the cyclotomic subgroup; a is not 0 */
U128_NOINLINE void final_exp_easy(fp12 *r, const fp12 *a)
{
    fp12 t, i;
    fp12_inv_var(&i, a);
    fp12_conj(&t, a);
    fp12_mul(&t, &t, &i);
    fp12_frob2(&i, &t);
    fp12_mul(r, &i, &t);
}

#if CURVE_IS_BN

/**
 * r = a^(2x (6x^2 + 3x + 1) (p^4 - p^2 + 1)/r), as n + l p + k p^2 + m p^3 with
 *     k = 12x^3 + 6x^2 + 6x,  l = k - 2x,  n = k + 6x^2 + 1,  m = l - 1
 */
U128_NOINLINE void final_exp_hard(fp12 *r, const fp12 *a)
{
    fp12 x2, x6, xx6, k, l, t;

    fp12_pow_x(&t, a);
    fp12_cyclotomic_sqr(&x2, &t);
    fp12_cyclotomic_sqr(&x6, &x2);
    fp12_mul(&x6, &x6, &x2); /* a^(6x) */
    fp12_pow_x(&xx6, &x6);
    fp12_cyclotomic_sqr(&t, &xx6);
    fp12_pow_x(&k, &t);
    fp12_mul(&k, &k, &xx6);
    fp12_mul(&k, &k, &x6);
    fp12_conj(&x2, &x2);
    fp12_mul(&l, &k, &x2);
    fp12_mul(&t, &k, &xx6);
    fp12_mul(&t, &t, a); /* n */

    fp12_frob2(&k, &k);
    fp12_mul(&t, &t, &k);
    fp12_frob(&k, &l);
    fp12_mul(&t, &t, &k);
    fp12_conj(&k, a);
    fp12_mul(&l, &l, &k); /* m */
    fp12_frob(&l, &l);
    fp12_frob2(&l, &l);
    fp12_mul(r, &t, &l);
}

#else

/** r = a^(3 (p^4 - p^2 + 1)/r), 3 (p^4 - p^2 + 1)/r = (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3 */
U128_NOINLINE void final_exp_hard(fp12 *r, const fp12 *a)
{
    fp12 t, s, c;

    fp12_pow_x(&t, a);
    fp12_conj(&s, a);
    fp12_mul(&t, &t, &s); /* a^(x - 1) */
    fp12_pow_x(&s, &t);
    fp12_conj(&t, &t);
    fp12_mul(&t, &s, &t); /* ^(x - 1) */
    fp12_pow_x(&s, &t);
    fp12_frob(&t, &t);
    fp12_mul(&t, &s, &t); /* ^(x + p) */
    fp12_pow_x(&s, &t);
    fp12_pow_x(&s, &s);
    fp12_frob2(&c, &t);
    fp12_mul(&s, &s, &c);
    fp12_conj(&t, &t);
    fp12_mul(&t, &s, &t); /* ^(x^2 + p^2 - 1) */
    fp12_cyclotomic_sqr(&s, a);
    fp12_mul(&s, &s, a);
    fp12_mul(r, &t, &s);
}

#endif

static inline void final_exp(fp12 *r, const fp12 *a)
{
    fp12 t;
    final_exp_easy(&t, a);
    final_exp_hard(r, &t);
}

/** The pair enters m and true; a pair with an infinity gives the factor 1: not entered, false. */
static inline bool miller_pair_init(miller_pair *m, const g1_affine *p, const g2_affine *q)
{
    if (g1_affine_is_inf(p) || g2_affine_is_inf(q)) return false;
    m->p = *p;
    m->q = *q;
    m->lines = NULL;
    m->t.x = q->x;
    m->t.y = q->y;
    fp2_set_one(&m->t.z);
    return true;
}

#endif
