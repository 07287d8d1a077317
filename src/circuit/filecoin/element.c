/*
 * circuit/filecoin/element.c - field elements as Filecoin's files hold them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/element.h"

#include <string.h>

bool fil_is_canonical(const uint8_t b[32])
{
    const uint8_t *r = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC)->r_le;

    for (size_t i = 32; i-- > 0;)
        if (b[i] != r[i]) return b[i] < r[i];
    return false;
}

void fil_load_fr(const curve *cv, fr *r, const uint8_t b[32])
{
    scalar s;

    memcpy(s.b, b, sizeof s.b);
    if (!cv->fr_from_scalar(r, &s)) *r = cv->fr_zero;
}
