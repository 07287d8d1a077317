/*
 * algebra/field_pow_tmpl.h - a prime field: powers, inverses, square roots; included once for each field
 *
 * _inv is Fermat's, a^(m-2): constant time, since the exponent is a constant. _inv_var is field_inv_tmpl.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/**
 * r = a^e, e of len limbs, little-endian. The sequence of operations depends on e alone, so it is constant time in a;
 * _var for the exponent.
 *
 * Fixed windows of 4 bits: a table of 16 powers, then 4 squarings and at most one product each window.
 */
static inline void FIELD_FN(pow_var)(FIELD *r, const FIELD *a, const uint64_t *e, size_t len)
{
    FIELD table[16], acc;
    bool started = false;

    FIELD_FN(set_one)(&table[0]);
    table[1] = *a;
    for (int i = 2; i < 16; i++) FIELD_FN(mul)(&table[i], &table[i - 1], a);
    acc = table[0];
    for (size_t k = len * 16; k-- > 0;) {
        unsigned w = (unsigned)(e[k / 16] >> (k % 16 * 4)) & 15;
        if (started)
            for (int i = 0; i < 4; i++) FIELD_FN(sqr)(&acc, &acc);
        if (w == 0) continue;
        if (started)
            FIELD_FN(mul)(&acc, &acc, &table[w]);
        else
            acc = table[w];
        started = true;
    }
    *r = acc;
}

/** r = 1/a; 0 for 0. Constant time. */
static inline void FIELD_FN(inv)(FIELD *r, const FIELD *a)
{
    FIELD_FN(pow_var)(r, a, FIELD_FN(exp_inv), FIELD_LIMBS);
}

/* a[i] = 1/a[i], zeros stay; shared by the two below */
U128_INLINE void FIELD_FN(batch_inv_with)(FIELD *a, FIELD *tmp, size_t n,
                                          void (*inv)(FIELD *, const FIELD *))
{
    FIELD acc, one, t, zero;
    FIELD_FN(set_one)(&one);
    FIELD_FN(set_zero)(&zero);
    acc = one;
    for (size_t i = 0; i < n; i++) { /* tmp[i] = product of the non-zero before i */
        tmp[i] = acc;
        t = a[i];
        FIELD_FN(cmov)(&t, &one, FIELD_FN(is_zero)(&a[i]));
        FIELD_FN(mul)(&acc, &acc, &t);
    }
    inv(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        bool is_zero = FIELD_FN(is_zero)(&a[i]);
        t = a[i];
        FIELD_FN(cmov)(&t, &one, is_zero);
        FIELD_FN(mul)(&a[i], &acc, &tmp[i]);
        FIELD_FN(cmov)(&a[i], &zero, is_zero);
        FIELD_FN(mul)(&acc, &acc, &t);
    }
}

/** a[i] = 1/a[i] for i < n with one inversion and 3n products; zeros stay. tmp: n elements. Constant time. */
static inline void FIELD_FN(batch_inv)(FIELD *a, FIELD *tmp, size_t n)
{
    FIELD_FN(batch_inv_with)(a, tmp, n, FIELD_FN(inv));
}

static inline void FIELD_FN(batch_inv_var)(FIELD *a, FIELD *tmp, size_t n)
{
    FIELD_FN(batch_inv_with)(a, tmp, n, FIELD_FN(inv_var));
}
