/*
 * algebra/curve.h - a pairing-friendly curve as a table of operations on opaque points
 *
 * For the rooms above: everything that is done a few times a proof (assemble, encode, check, pair). Heavy work on
 * arrays is device's. Curve code itself (fp, fp2, g1_jac, ...) lives in curve_inl.h, one translation unit for each
 * curve and CPU table; see README.md.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CURVE_H
#define ALGEBRA_CURVE_H

#include "algebra/cpu_table.h"
#include "algebra/fr.h"
#include "base/bytes.h"

typedef enum curve_id { CURVE_ID_BN254, CURVE_ID_BLS12_381, CURVE_IDS } curve_id;

/** Affine points in memory: x then y, Montgomery form (radix 2^256 or 2^384), little-endian limbs; G2: c0 before c1.
 *  All zero is infinity. So an array of points is byte for byte what a zkey holds. Storage for either curve; arrays
 *  are packed at g1_size / g2_size, not at sizeof these. */
typedef struct g1_any {
    uint64_t w[12];
} g1_any;
typedef struct g2_any {
    uint64_t w[24];
} g2_any;
typedef struct gt_any {
    uint64_t w[72];
} gt_any; /* element of Fp12, Montgomery limbs */

/** A point of G2 made ready for Miller loops (g2_prepare): its lines, 13 KiB. A value: copied and kept at will, used by any thread. */
#define G2_PREPARED_WORDS 1632
typedef struct g2_prepared {
    bool infinity;
    uint64_t w[G2_PREPARED_WORDS];
} g2_prepared;

/** A factor e(p, q) of a product of pairings; the points in their subgroups, or infinity. Borrowed during the call. */
typedef struct pairing_term {
    const g1_any *p;
    const g2_any *q;             /* not looked at when `prepared` is given */
    const g2_prepared *prepared; /* of q; NULL: none */
} pairing_term;

/** How points are written in files. */
typedef enum point_enc {
    POINT_LEM,              /* as in memory (zkey): g1_size / g2_size bytes, no flags */
    POINT_ZCASH,            /* BLS12-381 uncompressed, big-endian, flags: 96 / 192 bytes */
    POINT_ZCASH_COMPRESSED, /* 48 / 96 bytes */
} point_enc;

/** Result of reading a point. */
typedef enum point_err {
    POINT_OK,
    POINT_BAD_FLAGS,     /* zcash flag bits */
    POINT_NOT_CANONICAL, /* a coordinate >= p */
    POINT_NOT_ON_CURVE,
} point_err;
const char *point_err_text(point_err e);

/** Longest decimal form of a base field element, with its NUL. */
#define CURVE_DEC_MAX 120

#define CURVE_RING_WORDS (16 * 6)

typedef struct curve {
    /* fixed facts */
    curve_id id;
    cpu_table table;         /* whose code it is: BN254's `ifma` is its `adx` */
    const char *name;        /* "bn254", "bls12-381" */
    const char *json_name;   /* as snarkjs writes it: "bn128", "bls12381" */
    size_t fp_size;          /* 32, 48: also n8q */
    size_t g1_size, g2_size; /* 64/128, 96/192 */
    unsigned fr_bits;        /* 254, 255 */
    unsigned two_adicity;    /* 28, 32 */
    const uint8_t *r_le;     /* the scalar prime, 32 bytes little-endian */
    const uint8_t *p_le;     /* the base prime, fp_size bytes little-endian */
    fr fr_zero, fr_one;
    g1_any g1_gen; /* standard generators */
    g2_any g2_gen;

    /* scalar field; all constant time but _var */
    void (*fr_add)(fr *r, const fr *a, const fr *b);
    void (*fr_sub)(fr *r, const fr *a, const fr *b);
    void (*fr_neg)(fr *r, const fr *a);
    void (*fr_mul)(fr *r, const fr *a, const fr *b);
    void (*fr_inv)(fr *r, const fr *a); /* 0 -> 0 */
    void (*fr_pow_var)(fr *r, const fr *a, uint64_t e);
    bool (*fr_eq)(const fr *a, const fr *b);
    bool (*fr_is_zero)(const fr *a);
    void (*fr_from_u64)(fr *r, uint64_t v);
    bool (*fr_from_scalar)(fr *r, const scalar *s); /* false, r untouched: s >= group order */
    void (*fr_to_scalar)(scalar *s, const fr *a);
    /** Element of order 2^log_n: gen^((r-1)/2^log_n), gen a non-residue (5: snarkjs, 7: bellperson's for BLS12-381).
     *  log_n <= two_adicity. */
    void (*fr_root)(fr *r, unsigned gen, unsigned log_n);
    /** Uniform by rejection from os_random; false when the system gives no randomness. */
    bool (*fr_random)(fr *r);
    /** r = sum a[i]*b[i]; one reduction at the end where the table can. */
    void (*fr_dot)(fr *r, const fr *a, const fr *b, size_t n);
    /** a[i] = 1/a[i] for all i, one inversion; zeros stay. tmp: n elements. Constant time but for zeros. */
    void (*fr_batch_inv)(fr *a, fr *tmp, size_t n);

    /* For benchmarks. n products, a multiple of 16, round a ring of 16 elements, each times the one after it; the base field's are at
       ring[fp_size / 8 * i]. The same bits on every table. */
    void (*fp_ring)(uint64_t ring[CURVE_RING_WORDS], size_t n);
    void (*fr_ring)(fr ring[16], size_t n);

    /* groups: affine in, affine out; complete. */
    void (*g1_add)(g1_any *r, const g1_any *a, const g1_any *b);
    void (*g2_add)(g2_any *r, const g2_any *a, const g2_any *b);
    void (*g1_neg)(g1_any *r, const g1_any *a);
    void (*g2_neg)(g2_any *r, const g2_any *a);
    void (*g1_mul)(g1_any *r, const g1_any *a,
                   const fr *k); /* constant time in k (and in a, a != infinity) */
    void (*g2_mul)(g2_any *r, const g2_any *a, const fr *k);
    bool (*g1_eq)(const g1_any *a, const g1_any *b);
    bool (*g2_eq)(const g2_any *a, const g2_any *b);
    bool (*g1_is_inf)(const g1_any *a);
    bool (*g2_is_inf)(const g2_any *a);
    bool (*g1_in_subgroup)(const g1_any *a); /* on the curve is given; by endomorphism */
    bool (*g2_in_subgroup)(const g2_any *a);
    bool (*g1_in_subgroup_plain)(const g1_any *a); /* by multiplication with r: the judge */
    bool (*g2_in_subgroup_plain)(const g2_any *a);

    /* encodings. Canonical and on the curve are always checked; the subgroup never. Infinity is accepted: callers
       that forbid it test. POINT_ZCASH* only for BLS12-381. */
    size_t (*point_size)(bool g2, point_enc enc);
    point_err (*g1_read)(g1_any *r, const uint8_t *in, point_enc enc);
    point_err (*g2_read)(g2_any *r, const uint8_t *in, point_enc enc);
    void (*g1_write)(uint8_t *out, const g1_any *a, point_enc enc);
    void (*g2_write)(uint8_t *out, const g2_any *a, point_enc enc);
    /** Base field coordinates for JSON: decimal of coordinate k of the point (G1: 0 x, 1 y; G2: x.c0 x.c1 y.c0 y.c1). */
    void (*g1_coord_dec)(char out[CURVE_DEC_MAX], const g1_any *a, unsigned k);
    void (*g2_coord_dec)(char out[CURVE_DEC_MAX], const g2_any *a, unsigned k);
    /** From decimal digits (len characters each); false: not digits, or >= p (POINT_NOT_CANONICAL), or off the curve. */
    point_err (*g1_from_dec)(g1_any *r, const char *const xy[2], const size_t len[2]);
    point_err (*g2_from_dec)(g2_any *r, const char *const c[4], const size_t len[4]);
    void (*fr_to_dec)(char out[CURVE_DEC_MAX], const fr *a);
    bool (*fr_from_dec)(fr *r, const char *s, size_t len); /* false: not digits, or >= r */

    /* pairing (optimal ate) */
    /** True when the product of e(p[i], q[i]) is 1. Points in their subgroups. */
    bool (*pairing_check)(const g1_any *p, const g2_any *q, size_t n);
    /** r = e(p, q), after the final exponentiation. */
    void (*pairing)(gt_any *r, const g1_any *p, const g2_any *q);
    void (*g2_prepare)(g2_prepared *r, const g2_any *q); /* q in its subgroup */
    /** r = product of the Miller loops of n terms, which share squarings; any n, 0 gives 1. Not yet a pairing's value: products
     *  (gt_mul) of several such calls, on several threads perhaps, go through one final_exp. */
    void (*miller)(gt_any *r, const pairing_term *t, size_t n);
    void (*final_exp)(gt_any *r, const gt_any *f); /* f not 0: never of miller */
    void (*gt_set_one)(gt_any *r);
    bool (*gt_eq)(const gt_any *a, const gt_any *b);
    bool (*gt_is_one)(const gt_any *a);
    void (*gt_mul)(gt_any *r, const gt_any *a, const gt_any *b);
    void (*gt_inv)(gt_any *r, const gt_any *a); /* a in GT */
    /** a in GT. Takes less for a k of 128 bits. */
    void (*gt_pow_var)(gt_any *r, const gt_any *a, const fr *k);
    /** a, any element of Fp12 with canonical coefficients, has order r or is 1. */
    bool (*gt_in_subgroup)(const gt_any *a);
    /** Decimal of coefficient (i, j, k): c_i of Fp12 over Fp6, c_j of Fp6 over Fp2, c_k of Fp2; i<2, j<3, k<2. */
    void (*gt_coord_dec)(char out[CURVE_DEC_MAX], const gt_any *a, unsigned i, unsigned j,
                         unsigned k);
} curve;

/** The table of a curve for a CPU table that cpu_table_supported says this machine runs. Never NULL for those. */
const curve *curve_get(curve_id id, cpu_table t);
/** Accepts "bn254", "bn128", "alt_bn128", "bls12-381", "bls12381". */
bool curve_id_from_name(curve_id *out, const char *name);

#endif
