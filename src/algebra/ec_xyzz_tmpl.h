/*
 * algebra/ec_xyzz_tmpl.h - XYZZ points: the cheapest additions of affine points; included by ec_tmpl.h
 *
 * Costs, forms, sources: ec_tmpl.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

static inline void EC_G(xyzz_set_inf)(EC_G(xyzz) * r)
{
    EC_F(set_zero)(&r->x);
    EC_F(set_zero)(&r->y);
    EC_F(set_zero)(&r->zz);
    EC_F(set_zero)(&r->zzz);
}

static inline bool EC_G(xyzz_is_inf)(const EC_G(xyzz) * p)
{
    return EC_F(is_zero)(&p->zz);
}

static inline void EC_G(xyzz_from_affine)(EC_G(xyzz) * r, const EC_G(affine) * a)
{
    if (EC_G(affine_is_inf)(a)) {
        EC_G(xyzz_set_inf)(r);
        return;
    }
    r->x = a->x;
    r->y = a->y;
    EC_F(set_one)(&r->zz);
    EC_F(set_one)(&r->zzz);
}

static inline void EC_G(xyzz_neg)(EC_G(xyzz) * r, const EC_G(xyzz) * a)
{
    *r = *a;
    EC_F(neg)(&r->y, &r->y);
}

/** r = 2a; 2M + 3S cheaper than xyzz_dbl. */
static inline void EC_G(xyzz_dbl_affine)(EC_G(xyzz) * r, const EC_G(affine) * a)
{
    EC_FIELD u, v, w, s, m;

    if (EC_G(affine_is_inf)(a)) {
        EC_G(xyzz_set_inf)(r);
        return;
    }
    EC_F(dbl)(&u, &a->y);
    EC_F(sqr)(&v, &u);
    EC_F(mul)(&w, &u, &v);
    EC_F(mul)(&s, &a->x, &v);
    EC_F(sqr)(&u, &a->x);
    EC_F(dbl)(&m, &u);
    EC_F(add)(&m, &m, &u);
    EC_F(mul)(&u, &w, &a->y);
    r->zz = v;
    r->zzz = w;
    EC_F(sqr)(&v, &m);
    EC_F(sub)(&v, &v, &s);
    EC_F(sub)(&r->x, &v, &s);
    EC_F(sub)(&s, &s, &r->x);
    EC_F(mul)(&s, &s, &m);
    EC_F(sub)(&r->y, &s, &u);
}

static inline void EC_G(xyzz_dbl)(EC_G(xyzz) * r, const EC_G(xyzz) * p)
{
    EC_FIELD u, v, w, s, m;

    EC_F(dbl)(&u, &p->y);
    EC_F(sqr)(&v, &u);
    EC_F(mul)(&w, &u, &v);
    EC_F(mul)(&s, &p->x, &v);
    EC_F(sqr)(&u, &p->x);
    EC_F(dbl)(&m, &u);
    EC_F(add)(&m, &m, &u);
    EC_F(mul)(&u, &w, &p->y);
    EC_F(mul)(&r->zz, &p->zz, &v);
    EC_F(mul)(&r->zzz, &p->zzz, &w);
    EC_F(sqr)(&v, &m);
    EC_F(sub)(&v, &v, &s);
    EC_F(sub)(&r->x, &v, &s);
    EC_F(sub)(&s, &s, &r->x);
    EC_F(mul)(&s, &s, &m);
    EC_F(sub)(&r->y, &s, &u);
}

static inline void EC_G(xyzz_add)(EC_G(xyzz) * r, const EC_G(xyzz) * p, const EC_G(xyzz) * q)
{
    EC_FIELD u1, s1, h, w, hh, hhh;

    if (EC_G(xyzz_is_inf)(p)) {
        *r = *q;
        return;
    }
    if (EC_G(xyzz_is_inf)(q)) {
        *r = *p;
        return;
    }
    EC_F(mul)(&u1, &p->x, &q->zz);
    EC_F(mul)(&h, &q->x, &p->zz);
    EC_F(mul)(&s1, &p->y, &q->zzz);
    EC_F(mul)(&w, &q->y, &p->zzz);
    EC_F(sub)(&h, &h, &u1);
    EC_F(sub)(&w, &w, &s1);
    if (EC_F(is_zero)(&h)) {
        if (EC_F(is_zero)(&w)) {
            EC_G(xyzz_dbl)(r, p);
        } else {
            EC_G(xyzz_set_inf)(r);
        }
        return;
    }
    EC_F(sqr)(&hh, &h);
    EC_F(mul)(&hhh, &h, &hh);
    EC_F(mul)(&u1, &u1, &hh); /* Q */
    EC_F(mul)(&r->zz, &p->zz, &q->zz);
    EC_F(mul)(&r->zz, &r->zz, &hh);
    EC_F(mul)(&r->zzz, &p->zzz, &q->zzz);
    EC_F(mul)(&r->zzz, &r->zzz, &hhh);
    EC_F(sqr)(&h, &w);
    EC_F(sub)(&h, &h, &hhh);
    EC_F(sub)(&h, &h, &u1);
    EC_F(sub)(&r->x, &h, &u1);
    EC_F(sub)(&u1, &u1, &r->x);
    EC_F(mul)(&u1, &u1, &w);
    EC_F(mul)(&s1, &s1, &hhh);
    EC_F(sub)(&r->y, &u1, &s1);
}

static inline void EC_G(xyzz_add_affine)(EC_G(xyzz) * r, const EC_G(xyzz) * p,
                                         const EC_G(affine) * q)
{
    EC_FIELD h, w, hh, hhh, v;

    if (EC_G(affine_is_inf)(q)) {
        *r = *p;
        return;
    }
    if (EC_G(xyzz_is_inf)(p)) {
        EC_G(xyzz_from_affine)(r, q);
        return;
    }
    EC_F(mul)(&h, &q->x, &p->zz);
    EC_F(mul)(&w, &q->y, &p->zzz);
    EC_F(sub)(&h, &h, &p->x);
    EC_F(sub)(&w, &w, &p->y);
    if (EC_F(is_zero)(&h)) {
        if (EC_F(is_zero)(&w)) {
            EC_G(xyzz_dbl_affine)(r, q);
        } else {
            EC_G(xyzz_set_inf)(r);
        }
        return;
    }
    EC_F(sqr)(&hh, &h);
    EC_F(mul)(&hhh, &h, &hh);
    EC_F(mul)(&v, &p->x, &hh);
    EC_F(mul)(&r->zz, &p->zz, &hh);
    EC_F(mul)(&r->zzz, &p->zzz, &hhh);
    EC_F(sqr)(&h, &w);
    EC_F(sub)(&h, &h, &hhh);
    EC_F(sub)(&h, &h, &v);
    EC_F(mul)(&hhh, &p->y, &hhh);
    EC_F(sub)(&r->x, &h, &v);
    EC_F(sub)(&v, &v, &r->x);
    EC_F(mul)(&v, &v, &w);
    EC_F(sub)(&r->y, &v, &hhh);
}

static inline void EC_G(xyzz_sub_affine)(EC_G(xyzz) * r, const EC_G(xyzz) * p,
                                         const EC_G(affine) * q)
{
    EC_G(affine) t;
    EC_G(affine_neg)(&t, q);
    EC_G(xyzz_add_affine)(r, p, &t);
}

/** With Z = ZZ: 2M. */
static inline void EC_G(xyzz_to_jac)(EC_G(jac) * r, const EC_G(xyzz) * p)
{
    EC_F(mul)(&r->x, &p->x, &p->zz);
    EC_F(mul)(&r->y, &p->y, &p->zzz);
    r->z = p->zz;
}

static inline void EC_G(jac_to_xyzz)(EC_G(xyzz) * r, const EC_G(jac) * p)
{
    EC_FIELD z = p->z;
    r->x = p->x;
    r->y = p->y;
    EC_F(sqr)(&r->zz, &z);
    EC_F(mul)(&r->zzz, &r->zz, &z);
}
