/*
 * device/cpu/msm_lanes_tmpl.h - affine additions in batches that share one inversion, eight side by side
 *
 * Included by msm_tmpl.h for each group in place of msm_batch_tmpl.h, with the same functions: batch_init, batch_add for pairs of
 * which none is a result of another in the batch, batch_finish. Pairs are only listed by batch_add; batch_finish takes them in
 * groups of eight, lane i working on pair i of each group: a chain of products of the denominators forward, one inversion for
 * all eight chains, and the chain undone backward with the sums made on the way. The formulas are those of msm_batch_tmpl.h.
 * Over Fp2 (MSM_TWO) the chain is of norms: 1/d = conj(d) / N(d).
 *
 * Cost of an addition: 5M + 1S; over Fp2, in Fp: 5M + 2S, one reduction fewer, and two products and a square over Fp2. A denominator that is
 * 0 makes its lane's product 0: then the chain is made again, carefully. The lane is a doubling, or its points are opposite and it takes no
 * part: `dummy` stands in for both.
 *
 * Source: Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", Math. Comp. 48, 1987
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#define MSM_X8 FIELD_CAT(MSM_FIELD, x8)
#define MSM_WORDS (MSM_COORD * (sizeof(MSM_FIELD) / sizeof(fp))) /* of a coordinate */
#define MSM_GROUPS (MSM_PAIRS / LANES)

typedef struct MSM_G(cell) {
    uint64_t x[MSM_COORD * (sizeof(MSM_FIELD) / sizeof(fp))];
    uint64_t y[MSM_COORD * (sizeof(MSM_FIELD) / sizeof(fp))];
} MSM_G(cell);

U128_INLINE bool MSM_G(cell_is_inf)(const MSM_G(cell) * a)
{
    __m512i any = _mm512_loadu_si512(a->x);

    FIELD_UNROLL
    for (size_t w = LANES; w < MSM_WORDS; w += LANES)
        any = _mm512_or_si512(any, _mm512_loadu_si512(a->x + w));
    FIELD_UNROLL
    for (size_t w = 0; w < MSM_WORDS; w += LANES)
        any = _mm512_or_si512(any, _mm512_loadu_si512(a->y + w));
    return _mm512_test_epi64_mask(any, any) == 0;
}

U128_INLINE void MSM_G(cell_set_inf)(MSM_G(cell) * r)
{
    memset(r, 0, sizeof *r);
}

/* r = -a; infinity stays what it is */
U128_INLINE void MSM_G(cell_neg)(MSM_G(cell) * r, const MSM_G(cell) * a)
{
    bool inf = MSM_G(cell_is_inf)(a);

    memcpy(r->x, a->x, sizeof r->x);
    FIELD_UNROLL
    for (size_t w = 0; w < MSM_WORDS; w += LANES) {
        __m512i y = _mm512_loadu_si512(a->y + w);
        if (!inf) y = _mm512_sub_epi64(msm_4m(), y);
        _mm512_storeu_si512(r->y + w, y);
    }
}

/* From a point in memory, at any alignment; negated when neg. False, r undefined: it is infinity. */
U128_INLINE bool MSM_G(cell_load)(MSM_G(cell) * r, const void *point, bool neg)
{
    const int n = (int)(MSM_WORDS / MSM_COORD);
    const uint8_t *p = point;
    __mmask8 k = (__mmask8)(0 - (unsigned)neg);
    __m512i any = _mm512_setzero_si512();

    FIELD_UNROLL
    for (int i = 0; i < n; i++) {
        __m512i x = msm_limbs_of(p, i, 2 * n, MSM_SHIFT_X),
                y = msm_limbs_of(p, n + i, 2 * n, MSM_SHIFT_Y);
        any = _mm512_or_si512(any, _mm512_or_si512(x, y));
        _mm512_storeu_si512(r->x + MSM_COORD * i, x);
        _mm512_storeu_si512(r->y + MSM_COORD * i, _mm512_mask_sub_epi64(y, k, msm_4m(), y));
    }
    return _mm512_test_epi64_mask(any, any) != 0;
}

/* Eight cells at p to the ordinary form. */
static void MSM_G(cells_out)(MSM_G(affine) * r, const uint64_t *const p[LANES])
{
    fp_x8 kx, ky, c;
    uint8_t *out = (uint8_t *)r;

    msm_unshift_factor(&kx, MSM_SHIFT_X);
    msm_unshift_factor(&ky, MSM_SHIFT_Y);
    for (size_t w = 0; w < 2 * MSM_WORDS; w += MSM_COORD, out += FP_BYTES) {
        msm_gather(&c, p, w);
        fp_x8_carry(&c);
        msm_mul(&c, &c, w < MSM_WORDS ? &kx : &ky);
        fp_x8_canonical(&c);
        fp_x8_store(out, &c, sizeof *r);
    }
}

/** n cells to ordinary affine points; r may begin where a does. */
static void MSM_G(cells_to_affine)(void *r, const void *a, size_t n)
{
    MSM_G(affine) eight[LANES];
    const MSM_G(cell) *in = a;
    uint8_t *out = r;

    for (size_t i = 0; i < n; i += LANES) {
        size_t some = n - i < LANES ? n - i : LANES;
        const uint64_t *p[LANES];
        for (size_t l = 0; l < LANES; l++) p[l] = in[i + (l < some ? l : 0)].x;
        MSM_G(cells_out)(eight, p);
        memmove(out + i * sizeof eight[0], eight, some * sizeof eight[0]);
    }
}

/* ---- points of keys: read and checked ---- */

/* What reading eight points takes: factors, and u^6 b in the cells' form. */
typedef struct MSM_G(reading) {
    fp_x8 mont; /* to the form of memory */
    MSM_X8 b;
} MSM_G(reading);

static void MSM_G(reading_init)(MSM_G(reading) * k)
{
    MSM_FIELD zero, b;
    fp_x8 f, *c = (fp_x8 *)&k->b;

    MSM_F(set_zero)(&zero);
    MSM_G(rhs)(&b, &zero);
    msm_power_of_two(&k->mont, 64 * FP_LIMBS + LANES_BITS * FP_LIMBS52);
    msm_power_of_two(&f, 2 * LANES_BITS * FP_LIMBS52 - 64 * FP_LIMBS - 6 * MSM_LOG_U);
    for (size_t i = 0; i < MSM_WORDS / MSM_COORD; i++) {
        fp_x8_set1(&c[i], (const fp *)&b + i);
        fp_x8_mul(&c[i], &c[i], &f);
    }
}

/* The lanes in which u^2 x, u^3 y are on the curve; x below 2m, y below 4m. */
static __mmask8 MSM_G(on_curve)(const MSM_X8 *x, const MSM_X8 *y, const MSM_X8 *b)
{
    MSM_X8 t, s;

    MSM_F(x8_square)(&t, x);
    MSM_F(x8_carry)(&t);
    MSM_F(x8_product)(&t, &t, x);
    MSM_F(x8_square_y)(&s, y);
    MSM_F(x8_add)(&t, &t, b);
    MSM_F(x8_sub)(&t, &t, &s);
    MSM_F(x8_add_m)(&t, 3);
    MSM_F(x8_reduce)(&t);
    return MSM_F(x8_is_zero_mask)(&t, 2);
}

/* Eight points; the lanes that are good. out: where to, or NULL in all. */
static __mmask8 MSM_G(read_eight)(const MSM_G(reading) * k, void *const out[LANES],
                                  const uint8_t *const in[LANES], point_enc enc)
{
    const int n = 2 * (int)(MSM_WORDS / MSM_COORD);
    __mmask8 good = LANES_ALL;
    MSM_X8 xy[2];
    fp_x8 *c = (fp_x8 *)xy, v;
    __m512i w[LANES];

    for (int i = 0; i < n; i++) {
        /* big-endian: c1 before c0 */
        int at = enc == POINT_ZCASH && n == 4 ? i ^ 1 : i;
        msm_coordinate_words(w, in, (size_t)at * FP_BYTES, enc == POINT_ZCASH);
        fp_x8_from_words(&v, w);
        good &= msm_below_m(&v);
        if (enc == POINT_ZCASH) {
            msm_mul(&v, &v, &k->mont);
            fp_x8_canonical(&v);
            fp_x8_to_words(w, &v);
            if (out[0] != NULL) msm_store_words(out, (size_t)i * FP_BYTES, w);
        }
        if (i < n / 2) {
            fp_x8_from_words_shl(&c[i], w, MSM_SHIFT_X);
            fp_x8_add_m(&c[i], 1);
            fp_x8_reduce(&c[i]);
        } else {
            fp_x8_from_words_shl(&c[i], w, MSM_SHIFT_Y);
        }
    }
    return good & MSM_G(on_curve)(&xy[0], &xy[1], &k->b);
}

/** Of n <= 64 points those that are right and not infinity; the others are for `read`. */
static uint64_t MSM_G(read_many)(void *const *out, const uint8_t *const *in, size_t n,
                                 point_enc enc)
{
    MSM_G(reading) k;
    uint64_t good = 0;

    if (n < LANES || (enc != POINT_LEM && (enc != POINT_ZCASH || !ENC_HAS_ZCASH))) return 0;
    MSM_G(reading_init)(&k);
    for (size_t i = 0; i < n; i += LANES) {
        if (n - i < LANES) i = n - LANES; /* some of them again */
        good |= (uint64_t)MSM_G(read_eight)(&k, out + i, in + i, enc) << i;
    }
    return good;
}

/* ---- batches ---- */

typedef struct MSM_G(batch) {
    size_t n;
    bool any_inf; /* a point may be infinity */
    msm_consts c;
    MSM_G(cell) dummy;
    uint64_t *p[MSM_PAIRS]; /* cells; *p += *q */
    const uint64_t *q[MSM_PAIRS];
    __mmask8 twice[MSM_GROUPS]; /* p = q */
#if MSM_TWO
    MSM_X8 denom[MSM_GROUPS]; /* over Fp the norm */
#endif
    fp_x8 norm[MSM_GROUPS];
    fp_x8 before[MSM_GROUPS]; /* the chains' products before this group */
} MSM_G(batch);

U128_INLINE MSM_X8 *MSM_G(batch_denom)(MSM_G(batch) * b)
{
#if MSM_TWO
    return b->denom;
#else
    return b->norm;
#endif
}

/** inf: points of the pairs may be infinity. Else only results of the batches themselves can, which is noticed. */
static inline void MSM_G(batch_init)(MSM_G(batch) * b, bool inf)
{
    b->n = 0;
    b->any_inf = inf;
    msm_consts_init(&b->c);
    MSM_G(cell_set_inf)(&b->dummy);
}

/** *p += *q when the batch is finished. At most MSM_PAIRS pairs in a batch. */
static inline void MSM_G(batch_add)(MSM_G(batch) * b, MSM_G(cell) * p, const MSM_G(cell) * q)
{
    VERIFY(b->n < MSM_PAIRS);
    if (U128_UNLIKELY(b->any_inf)) {
        if (MSM_G(cell_is_inf)(q)) return;
        if (MSM_G(cell_is_inf)(p)) {
            *p = *q;
            return;
        }
    }
    b->p[b->n] = p->x;
    b->q[b->n] = q->x;
    b->n++;
}

/* r = what is twice y, below 2m; y as in a cell. */
static void MSM_G(twice_y)(MSM_X8 *r, const MSM_X8 *y)
{
    MSM_F(x8_add)(r, y, y);
    MSM_F(x8_add_m)(r, 1);
    MSM_F(x8_reduce)(r);
}

/* Lanes of group g in which d is 0: doublings, whose d becomes 2 y, or opposite points, which are done. Returns the lanes that are. */
U128_NOINLINE __mmask8 MSM_G(batch_special)(MSM_G(batch) * b, size_t g, MSM_X8 *d, __mmask8 zero)
{
    const uint64_t *const *p = (const uint64_t *const *)&b->p[g * LANES];
    MSM_X8 py, dy, y2;
    __mmask8 opposite;

    MSM_F(x8_gather)(&py, p, MSM_WORDS);
    MSM_F(x8_gather)(&dy, &b->q[g * LANES], MSM_WORDS);
    MSM_F(x8_sub)(&dy, &dy, &py);
    MSM_F(x8_add_m)(&dy, 5);
    MSM_F(x8_reduce)(&dy);
    MSM_G(twice_y)(&y2, &py);
    opposite = zero & (__mmask8) ~(MSM_F(x8_is_zero_mask)(&dy, 2) &
                                   (__mmask8)~MSM_F(x8_is_zero_mask)(&y2, 2));
    b->twice[g] = zero & (__mmask8)~opposite;
    MSM_F(x8_blend)(d, b->twice[g], &y2);
    for (size_t l = 0; l < LANES; l++) {
        if ((opposite >> l & 1) == 0) continue;
        memset(b->p[g * LANES + l], 0, sizeof(MSM_G(cell)));
        b->p[g * LANES + l] = b->dummy.x;
        b->q[g * LANES + l] = b->dummy.x;
        b->any_inf = true;
    }
    return opposite;
}

/* The lanes of group g that hold no pair. */
U128_INLINE __mmask8 MSM_G(batch_idle)(const MSM_G(batch) * b, size_t g)
{
    size_t left = b->n - g * LANES;
    return left < LANES ? (__mmask8)(LANES_ALL << left) : 0;
}

/* Group g's denominators, q.x - p.x, and their norms. */
U128_INLINE void MSM_G(batch_put)(MSM_G(batch) * b, size_t g, const MSM_X8 *d)
{
    MSM_G(batch_denom)(b)[g] = *d;
    if (MSM_TWO) MSM_F(x8_norm)(&b->norm[g], d);
}

U128_INLINE void MSM_G(batch_down)(MSM_G(batch) * b, size_t g)
{
    const uint64_t *const *p = (const uint64_t *const *)&b->p[g * LANES];
    __mmask8 idle = MSM_G(batch_idle)(b, g);
    MSM_X8 d;

    MSM_F(x8_gather_diff)(&d, &b->q[g * LANES], p, 0);
    MSM_F(x8_add_c)(&d, b->c.diff);
    MSM_F(x8_carry)(&d);
    if (U128_UNLIKELY(idle != 0)) MSM_F(x8_put_one)(&d, idle);
    b->twice[g] = 0;
    MSM_G(batch_put)(b, g, &d);
}

/* The same for a batch that has a denominator 0: reduced, so that it is seen. */
U128_NOINLINE void MSM_G(batch_down_careful)(MSM_G(batch) * b, size_t g)
{
    const uint64_t *const *p = (const uint64_t *const *)&b->p[g * LANES];
    __mmask8 idle = MSM_G(batch_idle)(b, g), zero;
    MSM_X8 d;

    MSM_F(x8_gather_diff)(&d, &b->q[g * LANES], p, 0);
    MSM_F(x8_add_c)(&d, b->c.diff);
    MSM_F(x8_add_m)(&d, 1);
    MSM_F(x8_reduce)(&d);
    zero = MSM_F(x8_is_zero_mask)(&d, 2) & (__mmask8)~idle;
    if (zero != 0) idle |= MSM_G(batch_special)(b, g, &d, zero);
    MSM_F(x8_put_one)(&d, idle);
    MSM_G(batch_put)(b, g, &d);
}

/* r = 3 x^2 in the lanes of k, d = 0 there. */
U128_NOINLINE void MSM_G(batch_twice)(MSM_X8 *r, MSM_X8 *d, const MSM_X8 *x, __mmask8 k)
{
    MSM_X8 s = *x, t, zero;

    memset(&zero, 0, sizeof zero);
    MSM_F(x8_add_m)(&s, 1);
    MSM_F(x8_reduce)(&s);
    MSM_F(x8_square)(&s, &s);
    MSM_F(x8_add)(&t, &s, &s);
    MSM_F(x8_add)(&t, &t, &s);
    MSM_F(x8_carry)(&t);
    MSM_F(x8_blend)(r, k, &t);
    MSM_F(x8_blend)(d, k, &zero);
}

/* Group g's sums; run is the inverse of all norms up to g's, and then of those before:
   lambda = (q.y - p.y) / d, x = lambda^2 - 2 p.x - d, y = lambda (p.x - x) - p.y */
U128_INLINE void MSM_G(batch_up)(MSM_G(batch) * b, size_t g, fp_x8 *run)
{
    const uint64_t *const *p = (const uint64_t *const *)&b->p[g * LANES];
    MSM_X8 px, py, l, t, d = MSM_G(batch_denom)(b)[g];
    fp_x8 inv;

    msm_mul(&inv, run, &b->before[g]);
    msm_mul(run, run, &b->norm[g]);
    MSM_F(x8_from_norm)(&t, &d, &inv, &b->c);
    MSM_F(x8_gather_diff)(&l, &b->q[g * LANES], p, MSM_WORDS);
    MSM_F(x8_add_c)(&l, b->c.four);
    MSM_F(x8_carry)(&l);
    MSM_F(x8_gather)(&py, p, MSM_WORDS);
    MSM_F(x8_gather)(&px, p, 0);
    if (U128_UNLIKELY(b->twice[g] != 0)) MSM_G(batch_twice)(&l, &d, &px, b->twice[g]);
    MSM_F(x8_product)(&l, &l, &t);
    MSM_F(x8_carry)(&l);
    MSM_F(x8_square)(&t, &l);
    MSM_F(x8_add)(&d, &d, &px);
    MSM_F(x8_add)(&d, &d, &px);
    MSM_F(x8_sub)(&t, &t, &d);
    MSM_F(x8_add_c)(&t, b->c.x);
    MSM_F(x8_reduce_c)(&t, b->c.complement);
    MSM_F(x8_scatter)(&b->p[g * LANES], 0, &t);
    MSM_F(x8_sub)(&t, &px, &t);
    MSM_F(x8_add_c)(&t, b->c.two);
    MSM_F(x8_carry)(&t);
    MSM_F(x8_product)(&t, &l, &t);
    MSM_F(x8_minus_y)(&t, &t, &py, &b->c);
    MSM_F(x8_scatter)(&b->p[g * LANES], MSM_WORDS, &t);
}

/* All denominators, and their chains' products; run is these in the end. */
static void MSM_G(batch_chain)(MSM_G(batch) * b, size_t groups, bool careful, fp_x8 *run)
{
    memset(run, 0, sizeof *run);
    fp_x8_put_one(run, LANES_ALL);
    for (size_t g = 0; g < groups; g++) {
        if (careful) {
            MSM_G(batch_down_careful)(b, g);
        } else {
            MSM_G(batch_down)(b, g);
        }
        b->before[g] = *run;
        msm_mul(run, run, &b->norm[g]);
    }
}

/** Does all additions; the batch is then empty. */
static void MSM_G(batch_finish)(MSM_G(batch) * b)
{
    size_t groups = (b->n + LANES - 1) / LANES;
    fp_x8 run;

    if (b->n == 0) return;
    for (size_t i = b->n; i < groups * LANES; i++) {
        b->p[i] = b->dummy.x;
        b->q[i] = b->dummy.x;
    }
    MSM_G(batch_chain)(b, groups, false, &run);
    if (U128_UNLIKELY(fp_x8_is_zero_mask(&run, 2) != 0)) MSM_G(batch_chain)(b, groups, true, &run);
    msm_invert_lanes(&run);
    for (size_t g = groups; g-- > 0;) MSM_G(batch_up)(b, g, &run);
    b->n = 0;
}
