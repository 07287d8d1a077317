/*
 * device/cpu/msm_batch_tmpl.h - affine additions in batches that share one inversion
 *
 * Included by msm_tmpl.h for each group, with MSM_G, MSM_F, MSM_FIELD defined. Usage: batch_init, batch_add for pairs
 * of which none is a result of another in the batch, batch_finish.
 *
 *     lambda = (yq - yp) / (xq - xp), or 3 xp^2 / (2 yp) when p = q
 *     x = lambda^2 - xp - xq                   y = lambda (xp - x) - yp
 *
 * An addition costs 5M + 1S: 3M are its share of the inversion of all denominators (Montgomery's trick), the
 * inversion itself, some 80M, is spread over the batch. Where p or q is infinity, or p = -q, batch_add itself writes the
 * result and the pair takes no part. Two chains of products, and MSM_ABREAST sums side by side, so that one multiplication need
 * not wait for another; products are inlined, which is worth 3%. Those of a chain are not reduced (algebra/mont_tmpl.h: mul_lazy).
 *
 * Source: Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", Math. Comp. 48, 1987
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* A cell, which is what buckets and sums on the way are, is an affine point here. */
typedef MSM_G(affine) MSM_G(cell);

U128_INLINE bool MSM_G(cell_is_inf)(const MSM_G(cell) * a)
{
    return MSM_G(affine_is_inf)(a);
}
U128_INLINE void MSM_G(cell_set_inf)(MSM_G(cell) * r)
{
    MSM_G(affine_set_inf)(r);
}
U128_INLINE void MSM_G(cell_neg)(MSM_G(cell) * r, const MSM_G(cell) * a)
{
    MSM_G(affine_neg)(r, a);
}
/* From a point in memory, at any alignment; negated when neg. False, r undefined: it is infinity. */
U128_INLINE bool MSM_G(cell_load)(MSM_G(cell) * r, const void *point, bool neg)
{
    memcpy(r, point, sizeof *r);
    if (neg) MSM_F(neg)(&r->y, &r->y);
    return !(U128_UNLIKELY(MSM_F(is_zero)(&r->x)) && MSM_G(affine_is_inf)(r));
}
/** n cells to ordinary affine points; r may begin where a does. */
static void MSM_G(cells_to_affine)(void *r, const void *a, size_t n)
{
    memmove(r, a, n * sizeof(MSM_G(affine)));
}

typedef struct MSM_G(pair) {
    MSM_G(cell) * p;
    const MSM_G(cell) * q;
} MSM_G(pair);

typedef struct MSM_G(batch) {
    size_t n;
    bool any_inf; /* a point may be infinity: what is known of zero coordinates no longer holds */
    msm_ahead ahead;  /* what will be read after this batch */
    MSM_FIELD run[2]; /* products of the even and the odd denominators so far */
    MSM_G(pair) pair[MSM_PAIRS];
    bool twice[MSM_PAIRS]; /* p = q */
    MSM_FIELD denom[MSM_PAIRS];
    MSM_FIELD before[MSM_PAIRS]; /* the chain's product before this denominator */
} MSM_G(batch);

static inline void MSM_G(batch_reset)(MSM_G(batch) * b)
{
    b->n = 0;
    MSM_F(set_one)(&b->run[0]);
    MSM_F(set_one)(&b->run[1]);
}

/** inf: points of the pairs may be infinity. Else only results of the batches themselves can, which is noticed. */
static inline void MSM_G(batch_init)(MSM_G(batch) * b, bool inf)
{
    MSM_G(batch_reset)(b);
    b->any_inf = inf;
    b->ahead = (msm_ahead){NULL, NULL, NULL};
}

/* The difference of the x is 0, or a point may be infinity. False when the sum is done; else the pair goes on, a doubling with twice set. */
static bool MSM_G(batch_special)(MSM_G(batch) * b, MSM_G(cell) * p, const MSM_G(cell) * q)
{
    if (MSM_G(cell_is_inf)(q)) return false;
    if (MSM_G(cell_is_inf)(p)) {
        *p = *q;
        return false;
    }
    if (!MSM_F(eq)(&p->x, &q->x)) return true; /* x = 0 is a coordinate like any other */
    if (!MSM_F(eq)(&p->y, &q->y) || MSM_F(is_zero)(&p->y)) {
        MSM_G(cell_set_inf)(p);
        b->any_inf = true;
        return false;
    }
    MSM_F(dbl)(&b->denom[b->n], &p->y);
    b->twice[b->n] = true;
    return true;
}

/** *p += *q when the batch is finished. At most MSM_PAIRS pairs in a batch. */
static inline void MSM_G(batch_add)(MSM_G(batch) * b, MSM_G(cell) * p, const MSM_G(cell) * q)
{
    size_t k = b->n;
    MSM_FIELD *d = &b->denom[k];

    VERIFY(k < MSM_PAIRS);
    MSM_F(sub)(d, &q->x, &p->x);
    b->twice[k] = false;
    if (U128_UNLIKELY(b->any_inf || MSM_F(is_zero)(d)) && !MSM_G(batch_special)(b, p, q)) return;
    b->pair[k].p = p;
    b->pair[k].q = q;
    b->before[k] = b->run[k & 1];
    MSM_F(mul_lazy)(&b->run[k & 1], &b->run[k & 1], d);
    b->n = k + 1;
}

/* Sums of n pairs, n <= MSM_ABREAST, whose inverses are inv: step by step, all pairs in each step. Within one sum each product
   waits for the one before; side by side one pair's product runs while another's is finished. */
static inline void MSM_G(batch_some)(const MSM_G(pair) * pair, const MSM_FIELD *inv,
                                     const bool *twice, size_t n)
{
    MSM_FIELD l[MSM_ABREAST], x[MSM_ABREAST];

    for (size_t i = 0; i < n; i++) {
        if (U128_UNLIKELY(twice[i])) {
            MSM_F(sqr)(&x[i], &pair[i].p->x);
            MSM_F(dbl)(&l[i], &x[i]);
            MSM_F(add)(&l[i], &l[i], &x[i]);
        } else {
            MSM_F(sub)(&l[i], &pair[i].q->y, &pair[i].p->y);
        }
        MSM_F(mul_last)(&l[i], &l[i], &inv[i]);
    }
    for (size_t i = 0; i < n; i++) MSM_F(sqr_inl)(&x[i], &l[i]);
    for (size_t i = 0; i < n; i++) {
        MSM_G(cell) *p = pair[i].p;
        MSM_FIELD t;

        MSM_F(sub)(&x[i], &x[i], &p->x);
        MSM_F(sub)(&x[i], &x[i], &pair[i].q->x);
        MSM_F(sub)(&t, &p->x, &x[i]);
        p->x = x[i];
        MSM_F(mul_inl)(&t, &t, &l[i]);
        MSM_F(sub)(&p->y, &t, &p->y);
    }
}

/** Does all additions; the batch is then empty. */
static void MSM_G(batch_finish)(MSM_G(batch) * b)
{
    MSM_FIELD inv[2], t[MSM_ABREAST];

    if (b->n == 0) return;
    MSM_F(set_one)(&t[0]);
    MSM_F(mul_last)(&t[0], &t[0], &b->run[0]);
    MSM_F(mul_last)(&t[0], &t[0], &b->run[1]);
    MSM_F(inv_var)(&t[0], &t[0]);
    MSM_F(mul_lazy)(&inv[0], &t[0], &b->run[1]);
    MSM_F(mul_lazy)(&inv[1], &t[0], &b->run[0]);
    for (size_t end = b->n, first; end > 0; end = first) {
        first = end > MSM_ABREAST ? end - MSM_ABREAST : 0;
        for (size_t k = end; k-- > first;) {
            msm_ahead_next(&b->ahead, sizeof(MSM_G(cell)));
            MSM_F(mul_lazy)(&t[k - first], &inv[k & 1], &b->before[k]);
            MSM_F(mul_lazy)(&inv[k & 1], &inv[k & 1], &b->denom[k]);
        }
        MSM_G(batch_some)(&b->pair[first], t, &b->twice[first], end - first);
    }
    MSM_G(batch_reset)(b);
}
