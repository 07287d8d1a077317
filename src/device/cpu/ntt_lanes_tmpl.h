/*
 * device/cpu/ntt_lanes_tmpl.h - the levels of ntt_tmpl.h on tiles of eight lanes, table ifma; once for each curve
 *
 * A tile is an array of fr_x8: vector v holds elements 8v to 8v + 7, in limbs of 52 bits. Elements keep the form they have in
 * memory, which no step depends on; zetas and factors are times 2^260, so a product of the two has an element's form.
 *
 * Rows of 8 elements or more go through butterflies vector by vector, with one zeta for all lanes. In a tile of width 1, the last
 * three levels are within vectors: 64 elements are transposed, so that lane r has elements 8r to 8r + 7, each lane with its own zetas,
 * and stay so: element 8r + c of the 64 is then in lane r of vector c. That is "turned" order, which `up` expects, and in which
 * factors lie.
 *
 * Bounds, in multiples of the modulus m: products take anything below S (35 at least) and give less than 2. down: what enters a
 * pass is below 2, each level adds at most 2, and a pass has at most 12: below 26. Block 0's zetas of 1 are no products: there all
 * is reduced, two levels at a time. up: what enters and leaves two levels is below 3. Values in memory are below 2, at the end
 * canonical.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#define NTT_LEAF_VECTORS 64 /* 20 KiB: what goes through all its levels before the next part */

/** 1/tw[b] = -tw[ntt_mirror(b)] for b >= 1. */
static inline size_t ntt_mirror(size_t b)
{
    return b == 0 ? 0 : ((size_t)3 << (u64_bits(b) - 1)) - 1 - b;
}

/* ---- butterflies ---- */

typedef struct ntt_zetas {
    fr_x8 z1, z2, z3;
} ntt_zetas;

/* plus = x + t, minus = x - t + k m, raw; exchanged when inverse */
U128_INLINE void ntt_cross(fr_x8 *plus, fr_x8 *minus, const fr_x8 *x, const fr_x8 *t,
                           const uint64_t k, const bool inverse)
{
    fr_x8 u, v;
    fr_x8_add(&u, x, t);
    fr_x8_sub(&v, x, t);
    fr_x8_add_m(&v, k);
    *plus = inverse ? v : u;
    *minus = inverse ? u : v;
}

U128_INLINE void ntt_settle_two(fr_x8 *x)
{
    fr_x8_add_m(x, 1);
    fr_x8_reduce(x);
}

U128_INLINE void ntt_down4(fr_x8 *x0, fr_x8 *x1, fr_x8 *x2, fr_x8 *x3, const ntt_zetas *z,
                           const bool one, const bool inverse)
{
    fr_x8 a0, a1, a2, a3, t, u;

    if (one) {
        ntt_cross(&a0, &a2, x0, x2, 2, false);
        ntt_cross(&a1, &a3, x1, x3, 2, false);
        ntt_cross(x0, x1, &a0, &a1, 4, false);
    } else {
        fr_x8_mul_raw(&t, x2, &z->z1);
        fr_x8_mul_raw(&u, x3, &z->z1);
        ntt_cross(&a0, &a2, x0, &t, 2, inverse);
        ntt_cross(&a1, &a3, x1, &u, 2, inverse);
        fr_x8_carry(&a1);
        fr_x8_mul_raw(&t, &a1, &z->z2);
        ntt_cross(x0, x1, &a0, &t, 2, inverse);
    }
    fr_x8_carry(&a3);
    fr_x8_mul_raw(&u, &a3, &z->z3);
    ntt_cross(x2, x3, &a2, &u, 2, inverse);
    if (one) {
        ntt_settle_two(x0);
        ntt_settle_two(x1);
    } else {
        fr_x8_carry(x0);
        fr_x8_carry(x1);
    }
    fr_x8_carry(x2);
    fr_x8_carry(x3);
}

U128_INLINE void ntt_down2(fr_x8 *x0, fr_x8 *x1, const fr_x8 *z, const bool one, const bool inverse)
{
    fr_x8 t;

    if (one) {
        ntt_cross(x0, x1, x0, x1, 2, false);
        ntt_settle_two(x0);
        ntt_settle_two(x1);
        return;
    }
    fr_x8_mul_raw(&t, x1, z);
    ntt_cross(x0, x1, x0, &t, 2, inverse);
    fr_x8_carry(x0);
    fr_x8_carry(x1);
}

/* y = (x - y + k m) z; with -z when inverse; x = x + y; raw */
U128_INLINE void ntt_join(fr_x8 *x, fr_x8 *y, const fr_x8 *z, const uint64_t k, const bool inverse)
{
    fr_x8 d;

    if (inverse)
        fr_x8_sub(&d, y, x);
    else
        fr_x8_sub(&d, x, y);
    fr_x8_add_m(&d, k);
    fr_x8_carry(&d);
    fr_x8_add(x, x, y);
    fr_x8_mul_raw(y, &d, z);
}

/* A product is below 12 / S + 1 < 1.4; so the sum of two is below 3, and their difference with 2 added is above 0. */
U128_INLINE void ntt_up4(fr_x8 *x0, fr_x8 *x1, fr_x8 *x2, fr_x8 *x3, const ntt_zetas *z,
                         const bool one, const bool inverse)
{
    ntt_join(x2, x3, &z->z3, 3, inverse);
    if (one) {
        ntt_cross(x0, x1, x0, x1, 3, false); /* below 6 */
        ntt_cross(x0, x2, x0, x2, 6, false);
        ntt_cross(x1, x3, x1, x3, 2, false);
        ntt_settle_two(x1);
        ntt_settle_two(x2);
        ntt_settle_two(x3);
    } else {
        ntt_join(x0, x1, &z->z2, 3, inverse);
        ntt_join(x0, x2, &z->z1, 6, inverse);
        ntt_join(x1, x3, &z->z1, 2, inverse);
        fr_x8_carry(x1);
        fr_x8_carry(x2);
        fr_x8_carry(x3);
    }
    ntt_settle_two(x0);
}

U128_INLINE void ntt_up2(fr_x8 *x0, fr_x8 *x1, const fr_x8 *z, const bool one, const bool inverse)
{
    if (one) {
        ntt_cross(x0, x1, x0, x1, 3, false);
        ntt_settle_two(x1);
    } else {
        ntt_join(x0, x1, z, 3, inverse);
        fr_x8_carry(x1);
    }
    ntt_settle_two(x0);
}

/* ---- zetas ---- */

/* Lane l of v in all lanes. */
U128_INLINE void ntt_spread(fr_x8 *r, const fr_x8 *tw, size_t b)
{
    const long long *limb = (const long long *)&tw[b / LANES] + b % LANES;
    for (int j = 0; j < FR_LIMBS52; j++) r->l[j] = _mm512_set1_epi64(limb[LANES * j]);
}

U128_INLINE void ntt_zetas_of(ntt_zetas *z, const fr_x8 *tw, size_t b, bool inverse)
{
    ntt_spread(&z->z1, tw, inverse ? ntt_mirror(b) : b);
    ntt_spread(&z->z2, tw, inverse ? ntt_mirror(2 * b) : 2 * b);
    ntt_spread(&z->z3, tw, inverse ? ntt_mirror(2 * b + 1) : 2 * b + 1);
}

/* Every second lane of u and v, from `index` on. */
U128_INLINE void ntt_every(fr_x8 *r, const fr_x8 *u, const fr_x8 *v, __m512i index)
{
    for (int j = 0; j < FR_LIMBS52; j++)
        r->l[j] = _mm512_permutex2var_epi64(u->l[j], index, v->l[j]);
}

/* The zetas of eight neighbouring blocks of 8 elements and of what they split into, lane by lane. */
typedef struct ntt_lane_zetas {
    ntt_zetas z; /* of block b, 2b, 2b + 1 */
    fr_x8 z4[4]; /* of 4b to 4b + 3 */
} ntt_lane_zetas;

/* For blocks 0 to 7, one by one. Zetas that stand for 1 do so by -1 when inverse, as the others stand for their negatives. */
static void ntt_first_lane_zetas(ntt_lane_zetas *out, const fr_x8 *tw, bool inverse)
{
    fr_x8 *to[7] = {&out->z.z1,  &out->z.z2,  &out->z.z3, &out->z4[0],
                    &out->z4[1], &out->z4[2], &out->z4[3]};

    for (size_t i = 0; i < 7; i++) {
        size_t times = i == 0 ? 1 : i < 3 ? 2 : 4, plus = i == 0 ? 0 : i < 3 ? i - 1 : i - 3;
        for (size_t l = 0; l < LANES; l++) {
            size_t b = times * l + plus;
            fr_x8 v;
            ntt_spread(&v, tw, inverse ? ntt_mirror(b) : b);
            if (inverse && b == 0) {
                fr_x8_neg(&v, &v, 1);
                fr_x8_carry(&v);
            }
            if (l == 0) *to[i] = v;
            fr_x8_blend(to[i], (__mmask8)(1u << l), &v);
        }
    }
}

/* b is a multiple of 8. The mirror image of a run of blocks is a run, in reverse. */
static void ntt_lane_zetas_of(ntt_lane_zetas *out, const fr_x8 *tw, size_t b, bool inverse)
{
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    const __m512i even_back = _mm512_setr_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd_back = _mm512_setr_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const __m512i back = _mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    __m512i e = inverse ? even_back : even, o = inverse ? odd_back : odd;
    const fr_x8 *t;
    fr_x8 e01, o01, e23, o23;

    if (b == 0) {
        ntt_first_lane_zetas(out, tw, inverse);
        return;
    }
    t = tw + (inverse ? ntt_mirror(b) - 7 : b) / LANES;
    out->z.z1 = *t;
    if (inverse) ntt_every(&out->z.z1, t, t, back);
    t = tw + (inverse ? ntt_mirror(2 * b) - 15 : 2 * b) / LANES;
    ntt_every(inverse ? &out->z.z3 : &out->z.z2, &t[0], &t[1], e);
    ntt_every(inverse ? &out->z.z2 : &out->z.z3, &t[0], &t[1], o);
    t = tw + (inverse ? ntt_mirror(4 * b) - 31 : 4 * b) / LANES;
    ntt_every(&e01, &t[0], &t[1], even);
    ntt_every(&o01, &t[0], &t[1], odd);
    ntt_every(&e23, &t[2], &t[3], even);
    ntt_every(&o23, &t[2], &t[3], odd);
    ntt_every(&out->z4[inverse ? 3 : 0], &e01, &e23, e);
    ntt_every(&out->z4[inverse ? 2 : 1], &o01, &o23, e);
    ntt_every(&out->z4[inverse ? 1 : 2], &e01, &e23, o);
    ntt_every(&out->z4[inverse ? 0 : 3], &o01, &o23, o);
}

/* ---- sweeps: q vectors in each quarter, or h in each half, of block b ---- */

U128_INLINE void ntt_down4_as(fr_x8 *x, size_t q, const ntt_zetas *z, const bool one,
                              const bool inverse)
{
    for (size_t i = 0; i < q; i++)
        ntt_down4(&x[i], &x[i + q], &x[i + 2 * q], &x[i + 3 * q], z, one, inverse);
}

U128_INLINE void ntt_up4_as(fr_x8 *x, size_t q, const ntt_zetas *z, const bool one,
                            const bool inverse)
{
    for (size_t i = 0; i < q; i++)
        ntt_up4(&x[i], &x[i + q], &x[i + 2 * q], &x[i + 3 * q], z, one, inverse);
}

static void ntt_down_sweep(fr_x8 *x, size_t q, const fr_x8 *tw, size_t b, bool inverse)
{
    ntt_zetas z;

    ntt_zetas_of(&z, tw, b, inverse);
    if (b == 0 && inverse) {
        ntt_down4_as(x, q, &z, true, true);
    } else if (b == 0) {
        ntt_down4_as(x, q, &z, true, false);
    } else if (inverse) {
        ntt_down4_as(x, q, &z, false, true);
    } else {
        ntt_down4_as(x, q, &z, false, false);
    }
}

static void ntt_up_sweep(fr_x8 *x, size_t q, const fr_x8 *tw, size_t b, bool inverse)
{
    ntt_zetas z;

    ntt_zetas_of(&z, tw, b, inverse);
    if (b == 0 && inverse) {
        ntt_up4_as(x, q, &z, true, true);
    } else if (b == 0) {
        ntt_up4_as(x, q, &z, true, false);
    } else if (inverse) {
        ntt_up4_as(x, q, &z, false, true);
    } else {
        ntt_up4_as(x, q, &z, false, false);
    }
}

static void ntt_down_level(fr_x8 *x, size_t h, const fr_x8 *tw, size_t b, bool inverse)
{
    fr_x8 z;

    ntt_spread(&z, tw, inverse ? ntt_mirror(b) : b);
    for (size_t i = 0; i < h; i++) {
        if (b == 0)
            ntt_down2(&x[i], &x[i + h], &z, true, false);
        else
            ntt_down2(&x[i], &x[i + h], &z, false, inverse);
    }
}

static void ntt_up_level(fr_x8 *x, size_t h, const fr_x8 *tw, size_t b, bool inverse)
{
    fr_x8 z;

    ntt_spread(&z, tw, inverse ? ntt_mirror(b) : b);
    for (size_t i = 0; i < h; i++) {
        if (b == 0)
            ntt_up2(&x[i], &x[i + h], &z, true, false);
        else
            ntt_up2(&x[i], &x[i + h], &z, false, inverse);
    }
}

/* ---- the last three levels: within vectors ---- */

static void ntt_turn(fr_x8 x[LANES])
{
    for (int j = 0; j < FR_LIMBS52; j++) {
        __m512i w[LANES];
        for (int i = 0; i < LANES; i++) w[i] = x[i].l[j];
        lanes_transpose(w);
        for (int i = 0; i < LANES; i++) x[i].l[j] = w[i];
    }
}

U128_INLINE void ntt_tail_down_as(fr_x8 x[LANES], const ntt_lane_zetas *z, const bool inverse)
{
    ntt_turn(x);
    for (int c = 0; c < 2; c++)
        ntt_down4(&x[c], &x[c + 2], &x[c + 4], &x[c + 6], &z->z, false, inverse);
    for (int c = 0; c < 4; c++) ntt_down2(&x[2 * c], &x[2 * c + 1], &z->z4[c], false, inverse);
}

U128_INLINE void ntt_tail_up_as(fr_x8 x[LANES], const ntt_lane_zetas *z, const bool inverse)
{
    for (int c = 0; c < 4; c++) ntt_up2(&x[2 * c], &x[2 * c + 1], &z->z4[c], false, inverse);
    for (int c = 0; c < 2; c++)
        ntt_up4(&x[c], &x[c + 2], &x[c + 4], &x[c + 6], &z->z, false, inverse);
    ntt_turn(x);
}

/* `vectors` vectors, a multiple of 8, the first of which is block b of blocks of 8 elements. */
static void ntt_tails(fr_x8 *x, size_t vectors, const fr_x8 *tw, size_t b, bool inverse, bool up)
{
    ntt_lane_zetas z;

    for (size_t v = 0; v < vectors; v += LANES) {
        ntt_lane_zetas_of(&z, tw, b + v, inverse);
        if (up && inverse)
            ntt_tail_up_as(x + v, &z, true);
        else if (up)
            ntt_tail_up_as(x + v, &z, false);
        else if (inverse)
            ntt_tail_down_as(x + v, &z, true);
        else
            ntt_tail_down_as(x + v, &z, false);
    }
}

/* ---- tiles: k levels on 2^k rows of `width` vectors; with tail, three more within rows of one vector ---- */

static void ntt_down_rows(fr_x8 *x, unsigned k, size_t width, const fr_x8 *tw, size_t b,
                          bool inverse, bool tail)
{
    size_t blocks = 1, q;

    if (k >= 2 && width << k > NTT_LEAF_VECTORS) {
        q = (width << k) / 4;
        ntt_down_sweep(x, q, tw, b, inverse);
        for (size_t i = 0; i < 4; i++)
            ntt_down_rows(x + i * q, k - 2, width, tw, 4 * b + i, inverse, tail);
        return;
    }
    if (k % 2 != 0) {
        ntt_down_level(x, width << (k - 1), tw, b, inverse);
        blocks = 2;
    }
    for (; blocks < (size_t)1 << k; blocks *= 4) {
        q = (width << k) / blocks / 4;
        for (size_t i = 0; i < blocks; i++)
            ntt_down_sweep(x + i * 4 * q, q, tw, b * blocks + i, inverse);
    }
    if (tail) ntt_tails(x, (size_t)1 << k, tw, b << k, inverse, false);
}

static void ntt_up_rows(fr_x8 *x, unsigned k, size_t width, const fr_x8 *tw, size_t b, bool inverse,
                        bool tail)
{
    size_t q;

    if (k >= 2 && width << k > NTT_LEAF_VECTORS) {
        q = (width << k) / 4;
        for (size_t i = 0; i < 4; i++)
            ntt_up_rows(x + i * q, k - 2, width, tw, 4 * b + i, inverse, tail);
        ntt_up_sweep(x, q, tw, b, inverse);
        return;
    }
    if (tail) ntt_tails(x, (size_t)1 << k, tw, b << k, inverse, true);
    for (size_t blocks = ((size_t)1 << k) / 4; blocks > 0; blocks /= 4) {
        q = (width << k) / blocks / 4;
        for (size_t i = 0; i < blocks; i++)
            ntt_up_sweep(x + i * 4 * q, q, tw, b * blocks + i, inverse);
    }
    if (k % 2 != 0) ntt_up_level(x, width << (k - 1), tw, b, inverse);
}

static void ntt_down(void *x, unsigned k, size_t width, const void *tw, size_t block, bool inverse)
{
    if (width == 1)
        ntt_down_rows(x, k - 3, 1, tw, block, inverse, true);
    else
        ntt_down_rows(x, k, width / LANES, tw, block, inverse, false);
}

static void ntt_up(void *x, unsigned k, size_t width, const void *tw, size_t block, bool inverse)
{
    if (width == 1)
        ntt_up_rows(x, k - 3, 1, tw, block, inverse, true);
    else
        ntt_up_rows(x, k, width / LANES, tw, block, inverse, false);
}

/* ---- in and out ---- */

static void ntt_load(void *tile, const fr *a, size_t rows, size_t width, size_t stride)
{
    fr_x8 *x = tile;

    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < width; i += LANES) {
            __m512i w[4];
            lanes_load4(w, a[r * stride + i].l);
            fr_x8_from_words(x++, w);
        }
    }
}

/* x below 2m, or canonical, in words */
U128_INLINE void ntt_words(__m512i w[4], const fr_x8 *x, bool final)
{
    fr_x8 t = *x;

    ntt_settle_two(&t);
    if (final) fr_x8_canonical(&t);
    fr_x8_to_words(w, &t);
}

static void ntt_store(fr *a, const void *tile, size_t rows, size_t width, size_t stride, bool final)
{
    const fr_x8 *x = tile;

    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < width; i += LANES) {
            __m512i w[4];
            ntt_words(w, x++, final);
            lanes_store4(a[r * stride + i].l, w);
        }
    }
}

/* From turned order: rows of four words of two neighbours, one row a lane. */
static void ntt_store_turned(fr *a, const void *tile, size_t n, bool final)
{
    const fr_x8 *x = tile;

    for (size_t v = 0; v < n / LANES; v += LANES) {
        for (size_t c = 0; c < LANES; c += 2) {
            __m512i w[LANES];
            ntt_words(w, &x[v + c], final);
            ntt_words(w + 4, &x[v + c + 1], final);
            lanes_transpose(w);
            for (size_t r = 0; r < LANES; r++) _mm512_storeu_si512(a[LANES * (v + r) + c].l, w[r]);
        }
    }
}

/* ---- factors and twiddles: times 2^260 instead of 2^256, canonical ---- */

/* Sixteen times words[]; a product of it and an element has the element's form. */
U128_INLINE void ntt_factor(fr_x8 *r, const __m512i w[4])
{
    fr_x8_from_words_shl(r, w, 4);
    ntt_settle_two(r);
    fr_x8_canonical(r);
}

static void ntt_factor_of(fr_x8 *r, const fr *f)
{
    __m512i w[4];
    for (int i = 0; i < 4; i++) w[i] = lanes_set1(f->l[i]);
    ntt_factor(r, w);
}

/* n factors; n < 8 fills a vector nevertheless. Turned: n is a multiple of 64. */
static void ntt_factors(void *out, const fr *f, size_t n, bool turned)
{
    fr_x8 *x = out;

    for (size_t i = 0; i < n; i += LANES) {
        fr eight[LANES] = {{{0}}};
        __m512i w[4];
        memcpy(eight, f + i, (n - i < LANES ? n - i : LANES) * sizeof *f);
        lanes_load4(w, eight[0].l);
        ntt_factor(&x[i / LANES], w);
    }
    for (size_t v = 0; turned && v < n / LANES; v += LANES) ntt_turn(x + v);
}

static void ntt_scale(void *tile, const void *factors, size_t n)
{
    fr_x8 *x = tile;
    const fr_x8 *f = factors;

    for (size_t i = 0; i < n / LANES; i++) fr_x8_mul(&x[i], &x[i], &f[i]);
}

static void ntt_scale_by(void *tile, const fr *factor, size_t n)
{
    fr_x8 *x = tile, f;

    ntt_factor_of(&f, factor);
    for (size_t i = 0; i < n / LANES; i++) fr_x8_mul(&x[i], &x[i], &f);
}

/* table[half + i] = k table[i] for i in [from, to), multiples of 8 */
static void ntt_tw_double(void *table, size_t half, size_t from, size_t to, const fr *k)
{
    fr_x8 *x = table, f;

    ntt_factor_of(&f, k);
    for (size_t i = from / LANES; i < to / LANES; i++) {
        fr_x8_mul(&x[half / LANES + i], &x[i], &f);
        fr_x8_canonical(&x[half / LANES + i]);
    }
}

/* tw[b] as an element */
static void ntt_tw_get(fr *r, const void *tw, size_t b)
{
    const fr *low = &(const fr){{0, 0, 0, (uint64_t)1 << 60}}; /* 2^252: less 4 than 2^256 */
    const fr_x8 *x = tw;
    fr_x8 v;
    fr eight[LANES];
    __m512i w[4];

    ntt_spread(&v, x, b);
    fr_x8_to_words(w, &v);
    lanes_store4(eight[0].l, w);
    fr_mul(r, &eight[0], low);
}

/* local[2^j + x] = g[j] tw[x], j < k, x < 2^j */
static void ntt_tw_local(void *local, const void *tw, const fr *g, unsigned k)
{
    fr_x8 *x = local, f, t;
    const fr_x8 *from = tw;

    x[0] = from[0];
    for (unsigned j = 0; j < k; j++) {
        size_t half = (size_t)1 << j;
        ntt_factor_of(&f, &g[j]);
        if (half < LANES) { /* lanes half to 2 half - 1 from lanes 0 on */
            __mmask8 lanes = (__mmask8)(((1u << half) - 1) << half);
            __m512i index =
                _mm512_sub_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), lanes_set1(half));
            ntt_every(&t, &from[0], &from[0], index);
            fr_x8_mul(&t, &t, &f);
            fr_x8_canonical(&t);
            fr_x8_blend(&x[0], lanes, &t);
            continue;
        }
        for (size_t i = 0; i < half / LANES; i++) {
            fr_x8_mul(&x[half / LANES + i], &from[i], &f);
            fr_x8_canonical(&x[half / LANES + i]);
        }
    }
}
