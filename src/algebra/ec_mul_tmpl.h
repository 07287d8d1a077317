/*
 * algebra/ec_mul_tmpl.h - scalar multiplication, constant time and variable time; included by ec_tmpl.h
 *
 * Homogeneous points (proj) and complete additions, so that `mul` has no branch and no index that depends on the scalar.
 *
 * Source: Renes, Costello, Batina, EUROCRYPT 2016, algorithms 7 and 9; complete because no group here has a point of
 * order 2 (asserted in tools/gen_curve_consts.py)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* ---- scalar multiplication, constant time ---- */

static inline void EC_G(proj_dbl)(EC_G(proj) * r, const EC_G(proj) * p)
{
    EC_FIELD yy, z8, yz, t, u;

    EC_F(sqr)(&yy, &p->y);
    EC_F(dbl)(&z8, &yy);
    EC_F(dbl)(&z8, &z8);
    EC_F(dbl)(&z8, &z8);
    EC_F(mul)(&yz, &p->y, &p->z);
    EC_F(sqr)(&t, &p->z);
    EC_F(mul_b3)(&t, &t); /* 3 b Z^2 */
    EC_F(mul)(&u, &p->x, &p->y);
    EC_F(mul)(&r->z, &yz, &z8);
    EC_F(mul)(&z8, &t, &z8);
    EC_F(add)(&r->y, &yy, &t);
    EC_F(sub)(&yy, &yy, &t);
    EC_F(dbl)(&t, &t);
    EC_F(sub)(&yy, &yy, &t); /* Y^2 - 9 b Z^2 */
    EC_F(mul)(&r->y, &r->y, &yy);
    EC_F(add)(&r->y, &r->y, &z8);
    EC_F(mul)(&r->x, &u, &yy);
    EC_F(dbl)(&r->x, &r->x);
}

static inline void EC_G(proj_add)(EC_G(proj) * r, const EC_G(proj) * p, const EC_G(proj) * q)
{
    EC_FIELD xx, yy, zz, xy, yz, xz, t;

    EC_F(mul)(&xx, &p->x, &q->x);
    EC_F(mul)(&yy, &p->y, &q->y);
    EC_F(mul)(&zz, &p->z, &q->z);
    EC_F(add)(&xy, &p->x, &p->y);
    EC_F(add)(&t, &q->x, &q->y);
    EC_F(mul)(&xy, &xy, &t);
    EC_F(sub)(&xy, &xy, &xx);
    EC_F(sub)(&xy, &xy, &yy); /* X1 Y2 + X2 Y1 */
    EC_F(add)(&yz, &p->y, &p->z);
    EC_F(add)(&t, &q->y, &q->z);
    EC_F(mul)(&yz, &yz, &t);
    EC_F(sub)(&yz, &yz, &yy);
    EC_F(sub)(&yz, &yz, &zz); /* Y1 Z2 + Y2 Z1 */
    EC_F(add)(&xz, &p->x, &p->z);
    EC_F(add)(&t, &q->x, &q->z);
    EC_F(mul)(&xz, &xz, &t);
    EC_F(sub)(&xz, &xz, &xx);
    EC_F(sub)(&xz, &xz, &zz); /* X1 Z2 + X2 Z1 */

    EC_F(dbl)(&t, &xx);
    EC_F(add)(&xx, &xx, &t); /* 3 X1 X2 */
    EC_F(mul_b3)(&zz, &zz);
    EC_F(mul_b3)(&xz, &xz);
    EC_F(add)(&t, &yy, &zz);
    EC_F(sub)(&yy, &yy, &zz);
    EC_F(mul)(&zz, &xy, &yy);
    EC_F(mul)(&r->x, &yz, &xz);
    EC_F(sub)(&r->x, &zz, &r->x);
    EC_F(mul)(&xz, &xz, &xx);
    EC_F(mul)(&yy, &yy, &t);
    EC_F(add)(&r->y, &yy, &xz);
    EC_F(mul)(&xx, &xx, &xy);
    EC_F(mul)(&t, &t, &yz);
    EC_F(add)(&r->z, &t, &xx);
}

#define EC_MUL_WINDOW 4
#define EC_MUL_TABLE (1 << EC_MUL_WINDOW)

/** r = table[d], reading every entry. */
static inline void EC_G(proj_select)(EC_G(proj) * r, const EC_G(proj) * table, uint64_t d)
{
    *r = table[0];
    for (uint64_t i = 1; i < EC_MUL_TABLE; i++) {
        uint64_t x = i ^ d;
        bool hit = (x - 1) >> 63; /* i == d, without a branch */
        EC_F(cmov)(&r->x, &table[i].x, hit);
        EC_F(cmov)(&r->y, &table[i].y, hit);
        EC_F(cmov)(&r->z, &table[i].z, hit);
    }
}

/** r = k * a, time independent of k, and of a unless a is infinity. Fixed windows of 4 bits, complete additions. */
static inline void EC_G(mul)(EC_G(jac) * r, const EC_G(affine) * a, const fr *k)
{
    EC_G(proj) table[EC_MUL_TABLE], acc, t;
    uint64_t e[FR_LIMBS];

    if (EC_G(affine_is_inf)(a)) {
        EC_G(jac_set_inf)(r);
        return;
    }
    memset(&table[0], 0, sizeof table[0]);
    EC_F(set_one)(&table[0].y);
    table[1].x = a->x;
    table[1].y = a->y;
    EC_F(set_one)(&table[1].z);
    for (size_t i = 2; i < EC_MUL_TABLE; i += 2) {
        EC_G(proj_dbl)(&table[i], &table[i / 2]);
        EC_G(proj_add)(&table[i + 1], &table[i], &table[1]);
    }
    fr_to_limbs(e, k);
    acc = table[0];
    for (size_t w = (FR_BITS + EC_MUL_WINDOW - 1) / EC_MUL_WINDOW; w-- > 0;) {
        size_t bit = w * EC_MUL_WINDOW;
        for (int i = 0; i < EC_MUL_WINDOW; i++) EC_G(proj_dbl)(&acc, &acc);
        EC_G(proj_select)(&t, table, e[bit / 64] >> (bit % 64) & (EC_MUL_TABLE - 1));
        EC_G(proj_add)(&acc, &acc, &t);
    }
    EC_F(mul)(&r->x, &acc.x, &acc.z);
    EC_F(sqr)(&t.z, &acc.z);
    EC_F(mul)(&r->y, &acc.y, &t.z);
    r->z = acc.z;
    explicit_bzero(e, sizeof e);
    explicit_bzero(&acc, sizeof acc);
    explicit_bzero(&t, sizeof t);
}

/** As to_affine, constant time. */
static inline void EC_G(to_affine_ct)(EC_G(affine) * r, const EC_G(jac) * p)
{
    EC_FIELD i, ii;

    EC_F(inv)(&i, &p->z); /* 0 for infinity, and so x = y = 0 */
    EC_F(sqr)(&ii, &i);
    EC_F(mul)(&r->x, &p->x, &ii);
    EC_F(mul)(&ii, &ii, &i);
    EC_F(mul)(&r->y, &p->y, &ii);
}

#undef EC_MUL_WINDOW
#undef EC_MUL_TABLE

/* ---- scalar multiplication, variable time ---- */

/** r = e * a for a plain integer e of n limbs. */
static inline void EC_G(mul_limbs_var)(EC_G(jac) * r, const EC_G(affine) * a, const uint64_t *e,
                                       size_t n)
{
    EC_G(affine) p = *a;
    EC_G(jac) acc;

    EC_G(jac_set_inf)(&acc);
    while (n > 0 && e[n - 1] == 0) n--;
    if (n > 0) {
        for (size_t i = 64 * (n - 1) + u64_bits(e[n - 1]); i-- > 0;) {
            EC_G(jac_dbl)(&acc, &acc);
            if (e[i / 64] >> (i % 64) & 1) EC_G(jac_add_affine)(&acc, &acc, &p);
        }
    }
    *r = acc;
}

/** r = k * a, windows of 4 bits. */
static inline void EC_G(mul_var)(EC_G(jac) * r, const EC_G(affine) * a, const fr *k)
{
    EC_G(jac) table[16], acc;
    uint64_t e[FR_LIMBS];

    EC_G(jac_set_inf)(&table[0]);
    EC_G(jac_from_affine)(&table[1], a);
    for (size_t i = 2; i < 16; i += 2) {
        EC_G(jac_dbl)(&table[i], &table[i / 2]);
        EC_G(jac_add_affine)(&table[i + 1], &table[i], a);
    }
    fr_to_limbs(e, k);
    EC_G(jac_set_inf)(&acc);
    for (size_t w = (FR_BITS + 3) / 4; w-- > 0;) {
        if (!EC_G(jac_is_inf)(&acc)) {
            for (int i = 0; i < 4; i++) EC_G(jac_dbl)(&acc, &acc);
        }
        EC_G(jac_add)(&acc, &acc, &table[e[w / 16] >> (4 * (w % 16)) & 15]);
    }
    *r = acc;
}

/** r * p == infinity, by plain multiplication with the group order: the judge of in_subgroup. */
static inline bool EC_G(in_subgroup_plain)(const EC_G(affine) * p)
{
    EC_G(jac) t;
    EC_G(mul_limbs_var)(&t, p, fr_modulus, FR_LIMBS);
    return EC_G(jac_is_inf)(&t);
}
