/*
 * groth16/points.c - points that must be canonical, on the curve, in the subgroup and not infinity: one, or a list of G1
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/curve_lanes.h"
#include "groth16/internal.h"

#include <stdio.h>
#include <string.h>

cuzk_status point_g1(g1_any *out, const curve *cv, const uint8_t *in, point_enc enc,
                     const char *what)
{
    g1_any p;
    point_err e = cv->g1_read(&p, in, enc);

    if (e != POINT_OK) return FAIL_DATA(MALFORMED, what, "%s: %s", what, point_err_text(e));
    if (cv->g1_is_inf(&p)) return FAIL_DATA(MALFORMED, what, "%s is the point at infinity", what);
    if (!cv->g1_in_subgroup(&p))
        return FAIL_DATA(MALFORMED, what, "%s is not in the subgroup of order r", what);
    *out = p;
    return CUZK_OK;
}

cuzk_status point_g2(g2_any *out, const curve *cv, const uint8_t *in, point_enc enc,
                     const char *what)
{
    g2_any p;
    point_err e = cv->g2_read(&p, in, enc);

    if (e != POINT_OK) return FAIL_DATA(MALFORMED, what, "%s: %s", what, point_err_text(e));
    if (cv->g2_is_inf(&p)) return FAIL_DATA(MALFORMED, what, "%s is the point at infinity", what);
    if (!cv->g2_in_subgroup(&p))
        return FAIL_DATA(MALFORMED, what, "%s is not in the subgroup of order r", what);
    *out = p;
    return CUZK_OK;
}

/** Eight points at once. Bit i: p[i] is right; where it is 0, point_g1 tells. */
static unsigned read_eight(g1_any p[CURVE_LANES], const curve_lanes *l, const curve *cv,
                           const uint8_t *in, size_t size, point_enc enc)
{
    unsigned ok = 0;

    memset(p, 0, CURVE_LANES * sizeof *p);
    for (size_t i = 0; i < CURVE_LANES; i++)
        if (cv->g1_read(&p[i], in + i * size, enc) == POINT_OK) ok |= 1u << i;
    return ok & l->g1_in_subgroup(p);
}

cuzk_status points_g1(uint8_t *out, const curve *cv, const uint8_t *in, size_t n, point_enc enc,
                      const char *what)
{
    const curve_lanes *l = curve_lanes_of(cv);
    size_t size = cv->point_size(false, enc);
    g1_any p[CURVE_LANES];
    unsigned ok = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = i % CURVE_LANES;
        if (k == 0)
            ok = l != NULL && n - i >= CURVE_LANES ? read_eight(p, l, cv, in + i * size, size, enc)
                                                   : 0;
        if ((ok >> k & 1) == 0) {
            char name[48];
            snprintf(name, sizeof name, "%s[%zu]", what, i);
            TRY(point_g1(&p[k], cv, in + i * size, enc, name));
        }
        memcpy(out + i * cv->g1_size, &p[k], cv->g1_size);
    }
    return CUZK_OK;
}
