/*
 * unit/algebra/lanes_tests_field_tmpl.h - one prime field in eight lanes; included by lanes_tests_tmpl.h
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#define X8 FIELD_FN(x8)
#define X8_FN(verb) FIELD_CAT(X8, verb)
#define T_FN(verb) FIELD_CAT(FIELD, FIELD_CAT(lanes, verb))

/* Canonical; one time in four an edge value. */
static void T_FN(random)(FIELD *r)
{
    FIELD one;

    FIELD_FN(from_u64)(&one, 1);
    switch (harness_random_below(16)) {
    case 0: FIELD_FN(set_zero)(r); return;
    case 1: *r = one; return;
    case 2: FIELD_FN(neg)(r, &one); return;
    case 3: /* the integers 1 and m - 1 */
        *r = (FIELD){{1}};
        if (harness_random_below(2) == 0) FIELD_FN(neg)(r, r);
        return;
    default: break;
    }
    do {
        harness_random_bytes(r, sizeof *r);
        r->l[FIELD_LIMBS - 1] >>= 64 * FIELD_LIMBS - FIELD_BITS;
    } while (!FIELD_FN(is_canonical)(r));
}

static void T_FN(fill)(FIELD a[LANES])
{
    for (int i = 0; i < LANES; i++) T_FN(random)(&a[i]);
}

static void T_FN(assert)(X8 *x, const FIELD want[LANES])
{
    FIELD got[LANES];

    X8_FN(canonical)(x);
    X8_FN(store)(got, x, sizeof got[0]);
    assert_bytes_equal(got, want, sizeof got);
}

/* Products and squares in R's form; factors up to A m and B m with A B just below S. */
static void T_FN(products)(const X8 *to, const X8 *from)
{
    FIELD a[LANES], b[LANES], want[LANES];
    X8 x, y, z;
    const uint64_t most = FIELD_BITS > 300 ? 1 << 4 : 4; /* A, and so that A (A + 1) < S */

    T_FN(fill)(a);
    T_FN(fill)(b);
    X8_FN(load)(&x, a, sizeof a[0]);
    X8_FN(load)(&y, b, sizeof b[0]);
    X8_FN(mul)(&x, &x, to);
    X8_FN(mul)(&y, &y, to);
    for (int i = 0; i < LANES; i++) FIELD_FN(mul)(&want[i], &a[i], &b[i]);
    X8_FN(mul)(&z, &x, &y);
    X8_FN(mul)(&z, &z, from);
    T_FN(assert)(&z, want);
    X8_FN(canonical)(&x);
    X8_FN(canonical)(&y);
    X8_FN(add_m)(&x, most - 1);
    X8_FN(add_m)(&y, most);
    X8_FN(carry)(&x);
    X8_FN(carry)(&y);
    X8_FN(mul)(&z, &x, &y);
    X8_FN(mul)(&z, &z, from);
    T_FN(assert)(&z, want);
    for (int i = 0; i < LANES; i++) FIELD_FN(sqr)(&want[i], &a[i]);
    X8_FN(sqr)(&z, &x);
    X8_FN(mul)(&z, &z, from);
    T_FN(assert)(&z, want);
}

/* Integers, without form. */
static void T_FN(sums)(void)
{
    FIELD a[LANES], b[LANES], want[LANES];
    X8 x, y, z;

    T_FN(fill)(a);
    T_FN(fill)(b);
    X8_FN(load)(&x, a, sizeof a[0]);
    X8_FN(load)(&y, b, sizeof b[0]);
    for (int i = 0; i < LANES; i++) FIELD_FN(add)(&want[i], &a[i], &b[i]);
    X8_FN(add)(&z, &x, &y);
    X8_FN(carry)(&z);
    T_FN(assert)(&z, want);
    for (int i = 0; i < LANES; i++) FIELD_FN(sub)(&want[i], &a[i], &b[i]);
    for (uint64_t k = 1; k < 4; k++) { /* every quotient that _reduce may find */
        X8_FN(sub)(&z, &x, &y);
        X8_FN(add_m)(&z, k);
        if (k > 1) {
            X8_FN(reduce)(&z);
        } else {
            X8_FN(carry)(&z);
        }
        T_FN(assert)(&z, want);
    }
    for (int i = 0; i < LANES; i++) FIELD_FN(neg)(&want[i], &a[i]);
    X8_FN(neg)(&z, &x, 1);
    X8_FN(carry)(&z);
    T_FN(assert)(&z, want);
}

/* k m + a comes back as a, below 2m before that, for k up to what the kernels of device/cpu reach */
static void T_FN(reductions)(void)
{
    FIELD a[LANES];
    X8 x, y;
    const uint64_t most = FIELD_BITS > 300 ? 1 << 15 : 30;

    T_FN(fill)(a);
    X8_FN(load)(&x, a, sizeof a[0]);
    for (uint64_t k = 1; k < most; k += 1 + k / 4) {
        y = x;
        for (uint64_t left = k; left > 0;) {
            uint64_t some = left < 32 ? left : 32;
            X8_FN(carry)(&y); /* limbs of many m leave their room */
            X8_FN(add_m)(&y, some);
            left -= some;
        }
        X8_FN(reduce)(&y);
        T_FN(assert)(&y, a);
    }
}

static void T_FN(zeros)(void)
{
    FIELD a[LANES];
    X8 x, y;
    __mmask8 want = 0;

    T_FN(fill)(a);
    for (int i = 0; i < LANES; i++) want |= FIELD_FN(is_zero)(&a[i]) ? (__mmask8)(1u << i) : 0;
    X8_FN(load)(&x, a, sizeof a[0]);
    for (uint64_t k = 0; k < 4; k++) {
        y = x;
        X8_FN(add_m)(&y, k);
        X8_FN(carry)(&y);
        assert_int_equal(X8_FN(is_zero_mask)(&y, k + 1), want);
    }
}

static void T_FN(test)(void)
{
    X8 to, from;

    X8_FN(form_factors)(&to, &from);
    for (size_t n = harness_iters(2000); n-- > 0;) {
        T_FN(products)(&to, &from);
        T_FN(sums)();
        T_FN(reductions)();
        T_FN(zeros)();
    }
}

#undef X8
#undef X8_FN
#undef T_FN
