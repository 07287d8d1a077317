/*
 * unit/algebra/field_ops_one_tmpl.h - the functions of one field behind pointers to words; included by field_ops_tmpl.h
 *
 * Before inclusion: OPS (fp, fr) and OPS_WIDE.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define IN(x) ((const OPS *)(const void *)(x))
#define OUT(x) ((OPS *)(void *)(x))
#define WIN(x) ((const OPS_WIDE *)(const void *)(x))
#define WOUT(x) ((OPS_WIDE *)(void *)(x))
#define CALL(verb) OPS_CAT(OPS, verb)
#define THIS(verb) OPS_CAT(OPS_CAT(ops, OPS), verb)

#define PREDICATE(verb) \
    static bool THIS(verb)(field_in a) \
    { \
        return CALL(verb)(IN(a)); \
    }
#define UNARY(verb) \
    static void THIS(verb)(field_out r, field_in a) \
    { \
        CALL(verb)(OUT(r), IN(a)); \
    }
#define BINARY(verb) \
    static void THIS(verb)(field_out r, field_in a, field_in b) \
    { \
        CALL(verb)(OUT(r), IN(a), IN(b)); \
    }
#define WIDE(verb) \
    static void THIS(verb)(field_out r, field_in a, field_in b) \
    { \
        CALL(verb)(WOUT(r), WIN(a), WIN(b)); \
    }

PREDICATE(is_zero)
PREDICATE(is_one)
PREDICATE(is_canonical)
PREDICATE(is_larger_half)
BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(mul_inl)
BINARY(mul_lazy)
BINARY(mul_last)
BINARY(add_lazy)
UNARY(neg)
UNARY(dbl)
UNARY(sqr)
UNARY(inv)
UNARY(inv_var)
WIDE(wide_add)
WIDE(wide_sub)
WIDE(wide_add_lazy)
WIDE(wide_sub_lazy)

static bool THIS(eq)(field_in a, field_in b)
{
    return CALL(eq)(IN(a), IN(b));
}
static void THIS(set_zero)(field_out r)
{
    CALL(set_zero)(OUT(r));
}
static void THIS(set_one)(field_out r)
{
    CALL(set_one)(OUT(r));
}
static void THIS(cmov)(field_out r, field_in a, bool c)
{
    CALL(cmov)(OUT(r), IN(a), c);
}
static void THIS(cswap)(field_out a, field_out b, bool c)
{
    CALL(cswap)(OUT(a), OUT(b), c);
}
static void THIS(cneg)(field_out r, field_in a, bool c)
{
    CALL(cneg)(OUT(r), IN(a), c);
}
static void THIS(pow_var)(field_out r, field_in a, const uint64_t *e, size_t len)
{
    CALL(pow_var)(OUT(r), IN(a), e, len);
}
static void THIS(batch_inv)(field_out a, field_out tmp, size_t n)
{
    CALL(batch_inv)(OUT(a), OUT(tmp), n);
}
static void THIS(batch_inv_var)(field_out a, field_out tmp, size_t n)
{
    CALL(batch_inv_var)(OUT(a), OUT(tmp), n);
}
static void THIS(mul_wide)(field_out r, field_in a, field_in b)
{
    CALL(mul_wide)(WOUT(r), IN(a), IN(b));
}
static void THIS(sqr_wide)(field_out r, field_in a)
{
    CALL(sqr_wide)(WOUT(r), IN(a));
}
static void THIS(redc_wide)(field_out r, field_in w)
{
    CALL(redc_wide)(OUT(r), WIN(w));
}
static void THIS(redc_wide_once)(field_out r, field_in w)
{
    CALL(redc_wide_once_inl)(OUT(r), WIN(w));
}
static void THIS(from_u64)(field_out r, uint64_t v)
{
    CALL(from_u64)(OUT(r), v);
}
static void THIS(to_limbs)(uint64_t *out, field_in a)
{
    CALL(to_limbs)(out, IN(a));
}
static bool THIS(from_limbs)(field_out r, const uint64_t *in)
{
    return CALL(from_limbs)(OUT(r), in);
}
static void THIS(to_le_bytes)(uint8_t *out, field_in a)
{
    CALL(to_le_bytes)(out, IN(a));
}
static bool THIS(from_le_bytes)(field_out r, const uint8_t *in)
{
    return CALL(from_le_bytes)(OUT(r), in);
}
static void THIS(to_be_bytes)(uint8_t *out, field_in a)
{
    CALL(to_be_bytes)(out, IN(a));
}
static bool THIS(from_be_bytes)(field_out r, const uint8_t *in)
{
    return CALL(from_be_bytes)(OUT(r), in);
}
static void THIS(to_dec)(char *out, field_in a)
{
    CALL(to_dec)(out, IN(a));
}
static bool THIS(from_dec)(field_out r, const char *s, size_t len)
{
    return CALL(from_dec)(OUT(r), s, len);
}

#undef PREDICATE
#undef UNARY
#undef BINARY
#undef WIDE
#undef IN
#undef OUT
#undef WIN
#undef WOUT
