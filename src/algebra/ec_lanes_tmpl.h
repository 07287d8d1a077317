/*
 * algebra/ec_lanes_tmpl.h - eight points of one group side by side: Jacobian formulas; included twice by points_lanes_inl.h
 *
 * Before inclusion: EC_F(name), EC_G(name), EC_FIELD. The formulas are ec_tmpl.h's without their branches, and do not hold b. Where
 * they do not apply Z becomes 0 (mod p) and stays it: T infinity, T = q, T = -q. So a caller looks at Z once, at the end.
 * Coordinates are below 26m, 19m, 6m.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

typedef struct EC_G(x8) {
    EC_FIELD x, y, z;
} EC_G(x8);

/** t = 2t */
U128_NOINLINE void EC_G(x8_dbl)(EC_G(x8) * t)
{
    EC_FIELD a, b, c, d, e, f;

    EC_F(sqr_call)(&a, &t->x);
    EC_F(sqr_call)(&b, &t->y);
    EC_F(sqr_call)(&c, &b);
    EC_F(sum)(&d, &t->x, &b);
    EC_F(sqr_call)(&d, &d);
    EC_F(sub)(&d, &d, &a);
    EC_F(diff)(&d, &d, &c, 4);
    EC_F(sum)(&d, &d, &d); /* 12 */
    EC_F(add)(&e, &a, &a);
    EC_F(sum)(&e, &e, &a); /* 6 */
    EC_F(sqr_call)(&f, &e);

    EC_F(mul_call)(&t->z, &t->y, &t->z);
    EC_F(sum)(&t->z, &t->z, &t->z); /* 6 */
    EC_F(sub)(&f, &f, &d);
    EC_F(diff)(&t->x, &f, &d, 24); /* 26 */
    EC_F(diff)(&d, &d, &t->x, 26); /* 38 */
    EC_F(mul_call)(&d, &d, &e);    /* 3 */
    EC_F(add)(&c, &c, &c);
    EC_F(add)(&c, &c, &c);
    EC_F(add)(&c, &c, &c);         /* 16, raw */
    EC_F(diff)(&t->y, &d, &c, 16); /* 19 */
}

/** t = t + (x, y), an affine point with coordinates below 26m */
U128_NOINLINE void EC_G(x8_add_affine)(EC_G(x8) * t, const EC_FIELD *x, const EC_FIELD *y)
{
    EC_FIELD zz, h, hh, j, w, v;

    EC_F(sqr_call)(&zz, &t->z);
    EC_F(mul_call)(&h, x, &zz);
    EC_F(mul_call)(&w, y, &t->z);
    EC_F(mul_call)(&w, &w, &zz);
    EC_F(diff)(&h, &h, &t->x, 26); /* 29 */
    EC_F(diff)(&w, &w, &t->y, 19); /* 22 */
    EC_F(sum)(&w, &w, &w);         /* 44 */
    EC_F(sqr_call)(&hh, &h);
    EC_F(sum)(&t->z, &t->z, &h); /* 35 */
    EC_F(sqr_call)(&t->z, &t->z);
    EC_F(sub)(&t->z, &t->z, &zz);
    EC_F(diff)(&t->z, &t->z, &hh, 4); /* 6 */
    EC_F(add)(&hh, &hh, &hh);
    EC_F(sum)(&hh, &hh, &hh); /* 8 */
    EC_F(mul_call)(&j, &h, &hh);
    EC_F(mul_call)(&v, &t->x, &hh);
    EC_F(sqr_call)(&hh, &w);
    EC_F(sub)(&hh, &hh, &j);
    EC_F(sub)(&hh, &hh, &v);
    EC_F(diff)(&t->x, &hh, &v, 9); /* 11 */
    EC_F(diff)(&v, &v, &t->x, 11); /* 14 */
    EC_F(mul_call)(&v, &v, &w);
    EC_F(mul_call)(&j, &t->y, &j);
    EC_F(add)(&j, &j, &j);        /* 6, raw */
    EC_F(diff)(&t->y, &v, &j, 6); /* 9 */
}

/** t = |x| (x, y) for the curve's parameter; t->z = 1 before, in the form of lanes. */
static inline void EC_G(x8_mul_x_abs)(EC_G(x8) * t, const EC_FIELD *x, const EC_FIELD *y)
{
    t->x = *x;
    t->y = *y;
    for (unsigned i = u64_bits(CURVE_X_ABS) - 1; i-- > 0;) {
        EC_G(x8_dbl)(t);
        if (CURVE_X_ABS >> i & 1) EC_G(x8_add_affine)(t, x, y);
    }
}

/** Lanes where t is (x, y), and not infinity. */
static inline __mmask8 EC_G(x8_is_affine)(const EC_G(x8) * t, const EC_FIELD *x, const EC_FIELD *y)
{
    EC_FIELD zz, s, zero;
    __mmask8 k;

    EC_F(sqr_call)(&zz, &t->z);
    EC_F(mul_call)(&s, x, &zz);
    k = EC_F(eq_mask)(&s, &t->x);
    EC_F(mul_call)(&zz, &zz, &t->z);
    EC_F(mul_call)(&s, y, &zz);
    k &= EC_F(eq_mask)(&s, &t->y);
    memset(&zero, 0, sizeof zero);
    return k & (__mmask8)~EC_F(eq_mask)(&t->z, &zero);
}
