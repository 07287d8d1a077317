/*
 * algebra/curve_group_tmpl.h - one group's entries of a curve table; included twice by curve_tmpl.h
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

static EC_G(affine) EC_G(in)(const EC_ANY *a)
{
    EC_G(affine) t;
    memcpy(&t, a, sizeof t);
    return t;
}

static void EC_G(out)(EC_ANY *r, const EC_G(affine) * a)
{
    memcpy(r, a, sizeof *a);
}

static void EC_G(tab_add)(EC_ANY *r, const EC_ANY *a, const EC_ANY *b)
{
    EC_G(affine) p = EC_G(in)(a), q = EC_G(in)(b);
    EC_G(jac) t;
    EC_G(jac_from_affine)(&t, &p);
    EC_G(jac_add_affine)(&t, &t, &q);
    EC_G(to_affine)(&p, &t);
    EC_G(out)(r, &p);
}

static void EC_G(tab_neg)(EC_ANY *r, const EC_ANY *a)
{
    EC_G(affine) p = EC_G(in)(a);
    EC_G(affine_neg)(&p, &p);
    EC_G(out)(r, &p);
}

static void EC_G(tab_mul)(EC_ANY *r, const EC_ANY *a, const fr *k)
{
    EC_G(affine) p = EC_G(in)(a);
    EC_G(jac) t;
    EC_G(mul)(&t, &p, k);
    EC_G(to_affine_ct)(&p, &t);
    EC_G(out)(r, &p);
    explicit_bzero(&t, sizeof t);
}

static bool EC_G(tab_eq)(const EC_ANY *a, const EC_ANY *b)
{
    EC_G(affine) p = EC_G(in)(a), q = EC_G(in)(b);
    return EC_G(affine_eq)(&p, &q);
}

static bool EC_G(tab_is_inf)(const EC_ANY *a)
{
    EC_G(affine) p = EC_G(in)(a);
    return EC_G(affine_is_inf)(&p);
}

static bool EC_G(tab_in_subgroup)(const EC_ANY *a)
{
    EC_G(affine) p = EC_G(in)(a);
    return EC_G(in_subgroup)(&p);
}

static bool EC_G(tab_in_subgroup_plain)(const EC_ANY *a)
{
    EC_G(affine) p = EC_G(in)(a);
    return EC_G(in_subgroup_plain)(&p);
}

static point_err EC_G(tab_read)(EC_ANY *r, const uint8_t *in, point_enc enc)
{
    EC_G(affine) p;
    point_err e = EC_G(read)(&p, in, enc);
    if (e == POINT_OK) EC_G(out)(r, &p);
    return e;
}

static void EC_G(tab_write)(uint8_t *out, const EC_ANY *a, point_enc enc)
{
    EC_G(affine) p = EC_G(in)(a);
    EC_G(write)(out, &p, enc);
}
