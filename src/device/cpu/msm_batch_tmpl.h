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
 * result and the pair takes no part. Two chains of products, so that one multiplication need not wait for another.
 *
 * Source: Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", Math. Comp. 48, 1987
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

typedef struct MSM_G(pair) {
    MSM_G(affine) * p;
    const MSM_G(affine) * q;
} MSM_G(pair);

typedef struct MSM_G(batch) {
    size_t n;
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

static inline void MSM_G(batch_init)(MSM_G(batch) * b)
{
    MSM_G(batch_reset)(b);
    b->ahead = (msm_ahead){NULL, NULL, NULL};
}

/* Some x or the difference is 0. False when the sum is done; else the pair goes on, a doubling with twice set. */
static bool MSM_G(batch_special)(MSM_G(batch) * b, MSM_G(affine) * p, const MSM_G(affine) * q)
{
    if (MSM_G(affine_is_inf)(q)) return false;
    if (MSM_G(affine_is_inf)(p)) {
        *p = *q;
        return false;
    }
    if (!MSM_F(eq)(&p->x, &q->x)) return true; /* x = 0 is a coordinate like any other */
    if (!MSM_F(eq)(&p->y, &q->y) || MSM_F(is_zero)(&p->y)) {
        MSM_G(affine_set_inf)(p);
        return false;
    }
    MSM_F(dbl)(&b->denom[b->n], &p->y);
    b->twice[b->n] = true;
    return true;
}

/** *p += *q when the batch is finished. At most MSM_PAIRS pairs in a batch. */
static inline void MSM_G(batch_add)(MSM_G(batch) * b, MSM_G(affine) * p, const MSM_G(affine) * q)
{
    size_t k = b->n;
    MSM_FIELD *d = &b->denom[k];

    VERIFY(k < MSM_PAIRS);
    MSM_F(sub)(d, &q->x, &p->x);
    b->twice[k] = false;
    if (U128_UNLIKELY(MSM_F(is_zero)(d) || MSM_F(is_zero)(&p->x) || MSM_F(is_zero)(&q->x)) &&
        !MSM_G(batch_special)(b, p, q))
        return;
    b->pair[k].p = p;
    b->pair[k].q = q;
    b->before[k] = b->run[k & 1];
    MSM_F(mul)(&b->run[k & 1], &b->run[k & 1], d);
    b->n = k + 1;
}

static inline void MSM_G(batch_one)(MSM_G(affine) * p, const MSM_G(affine) * q,
                                    const MSM_FIELD *inv, bool twice)
{
    MSM_FIELD l, t, x;

    if (U128_UNLIKELY(twice)) {
        MSM_F(sqr)(&t, &p->x);
        MSM_F(dbl)(&l, &t);
        MSM_F(add)(&l, &l, &t);
    } else {
        MSM_F(sub)(&l, &q->y, &p->y);
    }
    MSM_F(mul)(&l, &l, inv);
    MSM_F(sqr)(&x, &l);
    MSM_F(sub)(&x, &x, &p->x);
    MSM_F(sub)(&x, &x, &q->x);
    MSM_F(sub)(&t, &p->x, &x);
    MSM_F(mul)(&t, &t, &l);
    MSM_F(sub)(&p->y, &t, &p->y);
    p->x = x;
}

/** Does all additions; the batch is then empty. */
static void MSM_G(batch_finish)(MSM_G(batch) * b)
{
    MSM_FIELD inv[2], t;

    if (b->n == 0) return;
    MSM_F(mul)(&t, &b->run[0], &b->run[1]);
    MSM_F(inv_var)(&t, &t);
    MSM_F(mul)(&inv[0], &t, &b->run[1]);
    MSM_F(mul)(&inv[1], &t, &b->run[0]);
    for (size_t k = b->n; k-- > 0;) {
        msm_ahead_next(&b->ahead, sizeof(MSM_G(affine)));
        MSM_F(mul)(&t, &inv[k & 1], &b->before[k]);
        MSM_F(mul)(&inv[k & 1], &inv[k & 1], &b->denom[k]);
        MSM_G(batch_one)(b->pair[k].p, b->pair[k].q, &t, b->twice[k]);
    }
    MSM_G(batch_reset)(b);
}
