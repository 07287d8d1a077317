/*
 * algebra/self_test_lanes_tmpl.h - the self-test of eight lanes of one curve
 *
 * Before inclusion: CURVE_*, SELF_TEST (the function's name).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define FIELD_ADX 0
#include "algebra/lanes_inl.h"
#include "algebra/self_test.h"

#if defined(LANES)

#    include <string.h>

#    define SELF_ROUNDS 16

/* x = x y, y = x^2 - y, round by round; each lane begins elsewhere. */
#    define SELF_FIELD(F) \
        static bool F##_self_test(void) \
        { \
            F a[LANES], b[LANES], got[2][LANES]; \
            F##_x8 x, y, t, to, from; \
            for (int i = 0; i < LANES; i++) { \
                F##_from_u64(&a[i], 0x0123456789abcdefu + (uint64_t)i); \
                F##_inv_var(&b[i], &a[i]); \
            } \
            F##_x8_form_factors(&to, &from); \
            F##_x8_load(&x, a, sizeof a[0]); \
            F##_x8_load(&y, b, sizeof b[0]); \
            F##_x8_mul(&x, &x, &to); \
            F##_x8_mul(&y, &y, &to); \
            for (int k = 0; k < SELF_ROUNDS; k++) { \
                F##_x8_mul(&x, &x, &y); \
                F##_x8_sqr_raw(&t, &x); \
                F##_x8_sub(&y, &t, &y); \
                F##_x8_add_m(&y, 3); \
                F##_x8_reduce(&y); \
                for (int i = 0; i < LANES; i++) { \
                    F s; \
                    F##_mul(&a[i], &a[i], &b[i]); \
                    F##_sqr(&s, &a[i]); \
                    F##_sub(&b[i], &s, &b[i]); \
                } \
            } \
            F##_x8_mul(&x, &x, &from); \
            F##_x8_mul(&y, &y, &from); \
            F##_x8_canonical(&x); \
            F##_x8_canonical(&y); \
            F##_x8_store(got[0], &x, sizeof a[0]); \
            F##_x8_store(got[1], &y, sizeof a[0]); \
            return memcmp(got[0], a, sizeof a) == 0 && memcmp(got[1], b, sizeof b) == 0; \
        }

SELF_FIELD(fp)
SELF_FIELD(fr)

bool SELF_TEST(void)
{
    return fp_self_test() && fr_self_test();
}

#else

bool SELF_TEST(void)
{
    return false; /* not built */
}

#endif
