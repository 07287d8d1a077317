/*
 * device/cpu/msm_eights_tmpl.h - sums of points that lie eight side by side, in batches that share one inversion
 *
 * Included by msm_tmpl.h for each group. An `eight` holds eight points in the form of the lanes; a sum adds one eight to another, lane by
 * lane, so nothing is transposed between the sums of a tree. A lane in which only one of the two is live keeps it; a denominator 0 makes
 * its lane's product 0, and then the chain is made again, carefully (msm_lanes_tmpl.h has the same for points that lie apart).
 *
 * Source: Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", Math. Comp. 48, 1987
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* Eight points; lanes that are not live are 0. x and y as in a cell. */
typedef struct MSM_G(eight) {
    MSM_X8 x, y;
    __mmask8 live;
} MSM_G(eight);

typedef struct MSM_G(sums) {
    size_t n;
    msm_consts c;
    MSM_G(eight) * p[MSM_SUMS]; /* *p += *q */
    const MSM_G(eight) * q[MSM_SUMS];
    __mmask8 both[MSM_SUMS];  /* lanes that are live in both */
    __mmask8 twice[MSM_SUMS]; /* p = q */
    __mmask8 gone[MSM_SUMS];  /* p = -q */
#if MSM_TWO
    MSM_X8 denom[MSM_SUMS]; /* over Fp the norm */
#endif
    fp_x8 norm[MSM_SUMS];
    fp_x8 before[MSM_SUMS]; /* the chains' products before this sum */
} MSM_G(sums);

static void MSM_G(sums_init)(MSM_G(sums) * b)
{
    b->n = 0;
    msm_consts_init(&b->c);
}

/**
 * *p += *q when the batch is finished; at most MSM_SUMS in a batch, no p twice. The last sum is done first, so q may be the p of a
 * sum that was added earlier: its value is then the one before.
 */
static inline void MSM_G(sums_add)(MSM_G(sums) * b, MSM_G(eight) * p, const MSM_G(eight) * q)
{
    VERIFY(b->n < MSM_SUMS);
    b->p[b->n] = p;
    b->q[b->n++] = q;
}

U128_INLINE MSM_X8 *MSM_G(sums_denom)(MSM_G(sums) * b)
{
#if MSM_TWO
    return b->denom;
#else
    return b->norm;
#endif
}

/* The denominators q.x - p.x of sum i, and their norms. */
U128_INLINE void MSM_G(sums_down)(MSM_G(sums) * b, size_t i)
{
    const MSM_G(eight) *p = b->p[i], *q = b->q[i];
    __mmask8 both = p->live & q->live;
    MSM_X8 d;

    MSM_F(x8_sub)(&d, &q->x, &p->x);
    MSM_F(x8_add_c)(&d, b->c.diff);
    MSM_F(x8_carry)(&d);
    if (U128_UNLIKELY(both != LANES_ALL)) MSM_F(x8_put_one)(&d, (__mmask8)~both);
    b->both[i] = both;
    b->twice[i] = b->gone[i] = 0;
    MSM_G(sums_denom)(b)[i] = d;
    if (MSM_TWO) MSM_F(x8_norm)(&b->norm[i], &d);
}

/* The same for a batch that has a denominator 0: reduced, so that it is seen. Doublings divide by 2y. */
U128_NOINLINE void MSM_G(sums_down_careful)(MSM_G(sums) * b, size_t i)
{
    const MSM_G(eight) *p = b->p[i], *q = b->q[i];
    __mmask8 both = p->live & q->live, zero;
    MSM_X8 d, dy, y2;

    MSM_F(x8_sub)(&d, &q->x, &p->x);
    MSM_F(x8_add_c)(&d, b->c.diff);
    MSM_F(x8_add_m)(&d, 1);
    MSM_F(x8_reduce)(&d);
    zero = MSM_F(x8_is_zero_mask)(&d, 2) & both;
    b->twice[i] = b->gone[i] = 0;
    if (zero != 0) {
        MSM_F(x8_sub)(&dy, &q->y, &p->y);
        MSM_F(x8_add_m)(&dy, 5);
        MSM_F(x8_reduce)(&dy);
        MSM_G(twice_y)(&y2, &p->y);
        b->twice[i] =
            zero & MSM_F(x8_is_zero_mask)(&dy, 2) & (__mmask8)~MSM_F(x8_is_zero_mask)(&y2, 2);
        b->gone[i] = zero & (__mmask8)~b->twice[i];
        MSM_F(x8_blend)(&d, b->twice[i], &y2);
    }
    b->both[i] = both & (__mmask8)~b->gone[i];
    MSM_F(x8_put_one)(&d, (__mmask8)~b->both[i]);
    MSM_G(sums_denom)(b)[i] = d;
    if (MSM_TWO) MSM_F(x8_norm)(&b->norm[i], &d);
}

/* p is the sum in the lanes of `both`; in the others it becomes what one side had, or infinity. */
U128_NOINLINE void MSM_G(sums_mixed)(const MSM_G(sums) * b, size_t i, const MSM_G(eight) * old)
{
    const MSM_G(eight) *q = b->q[i];
    MSM_G(eight) *p = b->p[i], t = *old;
    __mmask8 only_q = q->live & (__mmask8)~old->live;

    MSM_F(x8_blend)(&t.x, only_q, &q->x);
    MSM_F(x8_blend)(&t.y, only_q, &q->y);
    if (b->gone[i] != 0) {
        MSM_G(eight) zero;
        memset(&zero, 0, sizeof zero);
        MSM_F(x8_blend)(&t.x, b->gone[i], &zero.x);
        MSM_F(x8_blend)(&t.y, b->gone[i], &zero.y);
    }
    MSM_F(x8_blend)(&p->x, (__mmask8)~b->both[i], &t.x);
    MSM_F(x8_blend)(&p->y, (__mmask8)~b->both[i], &t.y);
    p->live = (old->live | q->live) & (__mmask8)~b->gone[i];
}

/* Sum i; run is the inverse of all norms up to its own, and then of those before:
   lambda = (q.y - p.y) / d, x = lambda^2 - p.x - q.x, y = lambda (p.x - x) - p.y */
U128_INLINE void MSM_G(sums_up)(MSM_G(sums) * b, size_t i, fp_x8 *run)
{
    const MSM_G(eight) *q = b->q[i];
    MSM_G(eight) *p = b->p[i], old;
    bool mixed = U128_UNLIKELY(b->both[i] != LANES_ALL);
    MSM_X8 l, t, x, d = MSM_G(sums_denom)(b)[i];
    fp_x8 inv;

    if (mixed) old = *p;
    msm_mul(&inv, run, &b->before[i]);
    msm_mul(run, run, &b->norm[i]);
    MSM_F(x8_from_norm)(&t, &d, &inv, &b->c);
    MSM_F(x8_sub)(&l, &q->y, &p->y);
    MSM_F(x8_add_c)(&l, b->c.four);
    MSM_F(x8_carry)(&l);
    if (U128_UNLIKELY(b->twice[i] != 0)) MSM_G(batch_twice)(&l, &d, &p->x, b->twice[i]);
    MSM_F(x8_product)(&l, &l, &t);
    MSM_F(x8_carry)(&l);
    MSM_F(x8_square)(&x, &l);
    MSM_F(x8_sub)(&x, &x, &p->x);
    MSM_F(x8_sub)(&x, &x, &q->x);
    MSM_F(x8_add_c)(&x, b->c.sum);
    MSM_F(x8_reduce_c)(&x, b->c.complement);
    MSM_F(x8_sub)(&t, &p->x, &x);
    p->x = x;
    MSM_F(x8_add_c)(&t, b->c.two);
    MSM_F(x8_carry)(&t);
    MSM_F(x8_product)(&t, &l, &t);
    MSM_F(x8_minus_y)(&p->y, &t, &p->y, &b->c);
    if (mixed) MSM_G(sums_mixed)(b, i, &old);
}

/* All denominators, and their chains' products; run is these in the end. */
static void MSM_G(sums_chain)(MSM_G(sums) * b, bool careful, fp_x8 *run)
{
    memset(run, 0, sizeof *run);
    fp_x8_put_one(run, LANES_ALL);
    for (size_t i = 0; i < b->n; i++) {
        if (careful) {
            MSM_G(sums_down_careful)(b, i);
        } else {
            MSM_G(sums_down)(b, i);
        }
        b->before[i] = *run;
        msm_mul(run, run, &b->norm[i]);
    }
}

/** Does all sums; the batch is then empty. next: what will be read after it. */
static void MSM_G(sums_finish)(MSM_G(sums) * b, msm_fetch *next)
{
    fp_x8 run;

    if (b->n == 0) return;
    MSM_G(sums_chain)(b, false, &run);
    if (U128_UNLIKELY(fp_x8_is_zero_mask(&run, 2) != 0)) MSM_G(sums_chain)(b, true, &run);
    msm_invert_lanes(&run);
    for (size_t i = b->n; i-- > 0;) {
        msm_fetch_next(next, sizeof(MSM_G(affine)), sizeof(MSM_G(cell)));
        MSM_G(sums_up)(b, i, &run);
    }
    b->n = 0;
}

/* ---- eights in and out ---- */

/** Eight points of a key, negated in the lanes of neg. Points in memory that are infinity are not live. */
static void MSM_G(eight_load)(MSM_G(eight) * r, const uint8_t *const p[LANES], __mmask8 neg)
{
    enum { N = MSM_WORDS / MSM_COORD, ALL = 2 * N * FP_LIMBS };
    fp_x8 *x = (fp_x8 *)&r->x, *y = (fp_x8 *)&r->y;
    __m512i w[ALL], any = _mm512_setzero_si512();

    FIELD_UNROLL
    for (int i = 0; i < ALL; i += 4) lanes_gather4(w + i, p, 8 * (size_t)i);
    FIELD_UNROLL
    for (int i = 0; i < ALL; i++) any = _mm512_or_si512(any, w[i]);
    r->live = _mm512_test_epi64_mask(any, any);
    neg &= r->live;
    FIELD_UNROLL
    for (int i = 0; i < N; i++) {
        fp_x8_from_words_shl(&x[i], w + i * FP_LIMBS, MSM_SHIFT_X);
        fp_x8_from_words_shl(&y[i], w + (N + i) * FP_LIMBS, MSM_SHIFT_Y);
        FIELD_UNROLL
        for (int j = 0; j < FP_LIMBS52; j++)
            y[i].l[j] = _mm512_mask_sub_epi64(
                y[i].l[j], neg, lanes_set1(4 * lanes_limb(fp_modulus, FP_LIMBS, j)), y[i].l[j]);
    }
}

/** Eight cells. False, r undefined: all are infinity. */
static bool MSM_G(eight_from_cells)(MSM_G(eight) * r, const MSM_G(cell) *const c[LANES])
{
    const uint64_t *p[LANES];
    __m512i any = _mm512_setzero_si512(), is[LANES];

    for (int i = 0; i < LANES; i++) {
        p[i] = c[i]->x;
        is[i] = _mm512_setzero_si512();
        FIELD_UNROLL
        for (size_t w = 0; w < 2 * MSM_WORDS; w += LANES)
            is[i] = _mm512_or_si512(is[i], _mm512_loadu_si512(p[i] + w));
        any = _mm512_or_si512(any, is[i]);
    }
    if (_mm512_test_epi64_mask(any, any) == 0) return false;
    r->live = 0;
    for (int i = 0; i < LANES; i++)
        r->live |= (__mmask8)((_mm512_test_epi64_mask(is[i], is[i]) != 0) << i);
    MSM_F(x8_gather)(&r->x, p, 0);
    MSM_F(x8_gather)(&r->y, p, MSM_WORDS);
    return true;
}

static void MSM_G(eight_to_cells)(MSM_G(cell) *const c[LANES], const MSM_G(eight) * a)
{
    uint64_t *p[LANES];

    for (int i = 0; i < LANES; i++) p[i] = c[i]->x;
    MSM_F(x8_scatter)(p, 0, &a->x);
    MSM_F(x8_scatter)(p, MSM_WORDS, &a->y);
}

/** n points of eights to cells; trash takes the last eight's others. */
static void MSM_G(eights_to_some)(void *cells, const MSM_G(eight) * a, size_t n,
                                  MSM_G(cell) * trash)
{
    MSM_G(cell) *r = cells, *c[LANES];

    for (size_t i = 0; i < n; i += LANES, a++) {
        for (size_t l = 0; l < LANES; l++) c[l] = i + l < n ? &r[i + l] : trash;
        MSM_G(eight_to_cells)(c, a);
    }
}
