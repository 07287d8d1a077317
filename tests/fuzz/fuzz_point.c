/*
 * fuzz/fuzz_point.c - encoded points: whatever is read writes the same bytes again, and every table gives the same answer
 *
 * Input: a byte that chooses curve (bit 0), group (bit 1) and encoding (bits 2, 3), then the point; a short one is filled
 * with zeros.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "algebra/curve.h"

enum { POINT_BYTES = 192 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

/** Reads b on table t; out is what the point writes, untouched when it is refused. */
static point_err read_again(const curve *c, bool g2, point_enc enc, const uint8_t *b, uint8_t *out)
{
    g1_any p;
    g2_any q;
    point_err e = g2 ? c->g2_read(&q, b, enc) : c->g1_read(&p, b, enc);

    if (e != POINT_OK) return e;
    if (g2) {
        must(c->g2_in_subgroup(&q) == c->g2_in_subgroup_plain(&q));
        c->g2_write(out, &q, enc);
    } else {
        must(c->g1_in_subgroup(&p) == c->g1_in_subgroup_plain(&p));
        c->g1_write(out, &p, enc);
    }
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const point_enc encodings[4] = {POINT_LEM, POINT_ZCASH, POINT_ZCASH_COMPRESSED,
                                           POINT_LEM};
    uint8_t b[POINT_BYTES] = {0};
    bool g2;
    point_enc enc;
    curve_id id;
    point_err first = POINT_OK;

    if (size == 0) return 0;
    id = (data[0] & 1) != 0 ? CURVE_ID_BLS12_381 : CURVE_ID_BN254;
    g2 = (data[0] & 2) != 0;
    enc = encodings[data[0] >> 2 & 3];
    memcpy(b, data + 1, size - 1 < sizeof b ? size - 1 : sizeof b);
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        const curve *c = curve_get(id, (cpu_table)t);
        uint8_t out[POINT_BYTES] = {0};
        point_err e;

        if (!cpu_table_supported((cpu_table)t)) continue;
        e = read_again(c, g2, enc, b, out);
        if (t == CPU_TABLE_GENERIC) first = e;
        must(e == first);
        if (e != POINT_OK) continue;
        must(memcmp(out, b, c->point_size(g2, enc)) == 0);
    }
    return 0;
}
