/*
 * algebra/ec_tmpl.h - the group of y^2 = x^3 + b over one field: affine, Jacobian and XYZZ points
 *
 * Included twice by curve_inl.h, as G = g1 over F = fp and as G = g2 over F = fp2, with
 *     EC_G(name) -> g1_name        EC_F(name) -> fp_name        EC_FIELD -> fp
 * defined around it. Every operation is complete: infinity, doubling and opposite points are right. Forms:
 *
 *     affine  (x, y)            all zero is infinity
 *     jac     (X, Y, Z)         x = X/Z^2, y = Y/Z^3              infinity: Z = 0
 *     xyzz    (X, Y, ZZ, ZZZ)   x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2  infinity: ZZ = 0
 *     proj    (X, Y, Z)         x = X/Z, y = Y/Z                  infinity: (0, Y, 0); only inside mul
 *
 *     cost            jac              xyzz             proj
 *     double          2M + 5S          6M + 4S          6M + 2S
 *     add             11M + 5S         12M + 2S         12M
 *     add affine      7M + 4S          8M + 2S          -
 *
 * All but `mul` take a branch where a point is infinity or two points are equal or opposite: they are for public
 * points. `mul` and `proj_*` have no branch and no index that depends on a value.
 *
 * Sources: Bernstein, Lange, Explicit-Formulas Database (dbl-2009-l, add-2007-bl, madd-2007-bl, dbl-2008-s-1,
 * add-2008-s, madd-2008-s); Renes, Costello, Batina, EUROCRYPT 2016 (proj).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

typedef EC_FIELD EC_G(field);

typedef struct EC_G(affine) {
    EC_FIELD x, y;
} EC_G(affine);

typedef struct EC_G(jac) {
    EC_FIELD x, y, z;
} EC_G(jac);

typedef struct EC_G(xyzz) {
    EC_FIELD x, y, zz, zzz;
} EC_G(xyzz);

typedef struct EC_G(proj) {
    EC_FIELD x, y, z;
} EC_G(proj);

/* ---- affine ---- */

static inline bool EC_G(affine_is_inf)(const EC_G(affine) * p)
{
    return EC_F(is_zero)(&p->x) && EC_F(is_zero)(&p->y);
}

static inline void EC_G(affine_set_inf)(EC_G(affine) * r)
{
    EC_F(set_zero)(&r->x);
    EC_F(set_zero)(&r->y);
}

static inline void EC_G(affine_neg)(EC_G(affine) * r, const EC_G(affine) * a)
{
    r->x = a->x;
    EC_F(neg)(&r->y, &a->y);
}

static inline bool EC_G(affine_eq)(const EC_G(affine) * a, const EC_G(affine) * b)
{
    return EC_F(eq)(&a->x, &b->x) && EC_F(eq)(&a->y, &b->y);
}

/** r = x^3 + b */
static inline void EC_G(rhs)(EC_FIELD *r, const EC_FIELD *x)
{
    EC_FIELD t;
    EC_F(sqr)(&t, x);
    EC_F(mul)(&t, &t, x);
    EC_F(add)(r, &t, &EC_G(b));
}

/** Infinity is on the curve. */
static inline bool EC_G(is_on_curve)(const EC_G(affine) * p)
{
    EC_FIELD l, r;
    if (EC_G(affine_is_inf)(p)) return true;
    EC_F(sqr)(&l, &p->y);
    EC_G(rhs)(&r, &p->x);
    return EC_F(eq)(&l, &r);
}

/* ---- Jacobian ---- */

static inline void EC_G(jac_set_inf)(EC_G(jac) * r)
{
    EC_F(set_one)(&r->x);
    EC_F(set_one)(&r->y);
    EC_F(set_zero)(&r->z);
}

static inline bool EC_G(jac_is_inf)(const EC_G(jac) * p)
{
    return EC_F(is_zero)(&p->z);
}

static inline void EC_G(jac_neg)(EC_G(jac) * r, const EC_G(jac) * a)
{
    r->x = a->x;
    EC_F(neg)(&r->y, &a->y);
    r->z = a->z;
}

static inline void EC_G(jac_from_affine)(EC_G(jac) * r, const EC_G(affine) * a)
{
    if (EC_G(affine_is_inf)(a)) {
        EC_G(jac_set_inf)(r);
        return;
    }
    r->x = a->x;
    r->y = a->y;
    EC_F(set_one)(&r->z);
}

static inline void EC_G(jac_dbl)(EC_G(jac) * r, const EC_G(jac) * p)
{
    EC_FIELD a, b, c, d, e, f;

    EC_F(sqr)(&a, &p->x);
    EC_F(sqr)(&b, &p->y);
    EC_F(sqr)(&c, &b);
    EC_F(add)(&d, &p->x, &b);
    EC_F(sqr)(&d, &d);
    EC_F(sub)(&d, &d, &a);
    EC_F(sub)(&d, &d, &c);
    EC_F(dbl)(&d, &d); /* 4 X Y^2 */
    EC_F(dbl)(&e, &a);
    EC_F(add)(&e, &e, &a); /* 3 X^2 */
    EC_F(sqr)(&f, &e);

    EC_F(mul)(&r->z, &p->y, &p->z);
    EC_F(dbl)(&r->z, &r->z);
    EC_F(sub)(&f, &f, &d);
    EC_F(sub)(&r->x, &f, &d);
    EC_F(sub)(&d, &d, &r->x);
    EC_F(mul)(&d, &d, &e);
    EC_F(dbl)(&c, &c);
    EC_F(dbl)(&c, &c);
    EC_F(dbl)(&c, &c);
    EC_F(sub)(&r->y, &d, &c);
}

static inline void EC_G(jac_add)(EC_G(jac) * r, const EC_G(jac) * p, const EC_G(jac) * q)
{
    EC_FIELD z1z1, z2z2, u1, u2, s1, s2, h, i, j, w, v;

    if (EC_G(jac_is_inf)(p)) {
        *r = *q;
        return;
    }
    if (EC_G(jac_is_inf)(q)) {
        *r = *p;
        return;
    }
    EC_F(sqr)(&z1z1, &p->z);
    EC_F(sqr)(&z2z2, &q->z);
    EC_F(mul)(&u1, &p->x, &z2z2);
    EC_F(mul)(&u2, &q->x, &z1z1);
    EC_F(mul)(&s1, &p->y, &q->z);
    EC_F(mul)(&s1, &s1, &z2z2);
    EC_F(mul)(&s2, &q->y, &p->z);
    EC_F(mul)(&s2, &s2, &z1z1);
    EC_F(sub)(&h, &u2, &u1);
    EC_F(sub)(&w, &s2, &s1);
    if (EC_F(is_zero)(&h)) {
        if (EC_F(is_zero)(&w)) {
            EC_G(jac_dbl)(r, p);
        } else {
            EC_G(jac_set_inf)(r);
        }
        return;
    }
    EC_F(dbl)(&w, &w); /* 2 (S2 - S1) */
    EC_F(dbl)(&i, &h);
    EC_F(sqr)(&i, &i);
    EC_F(mul)(&j, &h, &i);
    EC_F(mul)(&v, &u1, &i);

    EC_F(add)(&u2, &p->z, &q->z);
    EC_F(sqr)(&u2, &u2);
    EC_F(sub)(&u2, &u2, &z1z1);
    EC_F(sub)(&u2, &u2, &z2z2); /* 2 Z1 Z2 */
    EC_F(mul)(&r->z, &u2, &h);
    EC_F(sqr)(&u1, &w);
    EC_F(sub)(&u1, &u1, &j);
    EC_F(sub)(&u1, &u1, &v);
    EC_F(sub)(&r->x, &u1, &v);
    EC_F(sub)(&v, &v, &r->x);
    EC_F(mul)(&v, &v, &w);
    EC_F(mul)(&s1, &s1, &j);
    EC_F(dbl)(&s1, &s1);
    EC_F(sub)(&r->y, &v, &s1);
}

static inline void EC_G(jac_add_affine)(EC_G(jac) * r, const EC_G(jac) * p, const EC_G(affine) * q)
{
    EC_FIELD zz, u2, s2, h, hh, i, j, w, v;

    if (EC_G(affine_is_inf)(q)) {
        *r = *p;
        return;
    }
    if (EC_G(jac_is_inf)(p)) {
        EC_G(jac_from_affine)(r, q);
        return;
    }
    EC_F(sqr)(&zz, &p->z);
    EC_F(mul)(&u2, &q->x, &zz);
    EC_F(mul)(&s2, &q->y, &p->z);
    EC_F(mul)(&s2, &s2, &zz);
    EC_F(sub)(&h, &u2, &p->x);
    EC_F(sub)(&w, &s2, &p->y);
    if (EC_F(is_zero)(&h)) {
        if (EC_F(is_zero)(&w)) {
            EC_G(jac_dbl)(r, p);
        } else {
            EC_G(jac_set_inf)(r);
        }
        return;
    }
    EC_F(dbl)(&w, &w);
    EC_F(sqr)(&hh, &h);
    EC_F(dbl)(&i, &hh);
    EC_F(dbl)(&i, &i);
    EC_F(mul)(&j, &h, &i);
    EC_F(mul)(&v, &p->x, &i);

    EC_F(add)(&u2, &p->z, &h);
    EC_F(sqr)(&u2, &u2);
    EC_F(sub)(&u2, &u2, &zz);
    EC_F(sub)(&r->z, &u2, &hh); /* 2 Z1 H */
    EC_F(sqr)(&s2, &w);
    EC_F(sub)(&s2, &s2, &j);
    EC_F(sub)(&s2, &s2, &v);
    EC_F(mul)(&j, &p->y, &j);
    EC_F(dbl)(&j, &j);
    EC_F(sub)(&r->x, &s2, &v);
    EC_F(sub)(&v, &v, &r->x);
    EC_F(mul)(&v, &v, &w);
    EC_F(sub)(&r->y, &v, &j);
}

/** Equality of points, whatever their Z. */
static inline bool EC_G(jac_eq)(const EC_G(jac) * p, const EC_G(jac) * q)
{
    EC_FIELD z1, z2, a, b;

    if (EC_G(jac_is_inf)(p) || EC_G(jac_is_inf)(q)) {
        return EC_G(jac_is_inf)(p) && EC_G(jac_is_inf)(q);
    }
    EC_F(sqr)(&z1, &p->z);
    EC_F(sqr)(&z2, &q->z);
    EC_F(mul)(&a, &p->x, &z2);
    EC_F(mul)(&b, &q->x, &z1);
    if (!EC_F(eq)(&a, &b)) return false;
    EC_F(mul)(&z1, &z1, &p->z);
    EC_F(mul)(&z2, &z2, &q->z);
    EC_F(mul)(&a, &p->y, &z2);
    EC_F(mul)(&b, &q->y, &z1);
    return EC_F(eq)(&a, &b);
}

/** Variable time (one inversion). */
static inline void EC_G(to_affine)(EC_G(affine) * r, const EC_G(jac) * p)
{
    EC_FIELD i, ii;

    if (EC_G(jac_is_inf)(p)) {
        EC_G(affine_set_inf)(r);
        return;
    }
    EC_F(inv_var)(&i, &p->z);
    EC_F(sqr)(&ii, &i);
    EC_F(mul)(&r->x, &p->x, &ii);
    EC_F(mul)(&ii, &ii, &i);
    EC_F(mul)(&r->y, &p->y, &ii);
}

/** out[i] = in[i] for i < n, with one inversion (variable time) and 6M + 1S a point. tmp: n elements. */
static inline void EC_G(jac_batch_to_affine)(EC_G(affine) * out, const EC_G(jac) * in,
                                             EC_FIELD *tmp, size_t n)
{
    EC_FIELD acc, i, ii;

    EC_F(set_one)(&acc);
    for (size_t k = 0; k < n; k++) {
        tmp[k] = acc; /* product of the earlier Z that are not zero */
        if (!EC_G(jac_is_inf)(&in[k])) EC_F(mul)(&acc, &acc, &in[k].z);
    }
    EC_F(inv_var)(&acc, &acc);
    for (size_t k = n; k-- > 0;) {
        if (EC_G(jac_is_inf)(&in[k])) {
            EC_G(affine_set_inf)(&out[k]);
            continue;
        }
        EC_F(mul)(&i, &acc, &tmp[k]);
        EC_F(mul)(&acc, &acc, &in[k].z);
        EC_F(sqr)(&ii, &i);
        EC_F(mul)(&out[k].x, &in[k].x, &ii);
        EC_F(mul)(&ii, &ii, &i);
        EC_F(mul)(&out[k].y, &in[k].y, &ii);
    }
}

#include "algebra/ec_xyzz_tmpl.h"

#include "algebra/ec_mul_tmpl.h"
