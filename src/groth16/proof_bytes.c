/*
 * groth16/proof_bytes.c - many binary proofs read at once
 *
 * What groth16_proof_read does, and what it says; where the curve has lanes, points are decoded and tested eight at a time, and only what
 * is not plainly right goes through groth16_proof_read.
 *
 * Source: spec/filecoin-formats.md 5, 6.4.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/curve_lanes.h"
#include "groth16/groth16.h"

#define BLOCK CURVE_LANES /* proofs at a time */
#define MIN_BLOCK 2       /* fewer: two groups of lanes take longer than three points */
#define ALL ((1u << CURVE_LANES) - 1)

/** 2 n points of G1: A and C of each proof. Bit j of the result: both of proof j are right. */
static unsigned read_g1(const curve_lanes *l, const curve *cv, groth16_proof *out,
                        const uint8_t *in, size_t n)
{
    size_t c_at = cv->point_size(false, POINT_ZCASH_COMPRESSED) +
                  cv->point_size(true, POINT_ZCASH_COMPRESSED);
    unsigned ok = ALL;

    for (size_t from = 0; from < 2 * n; from += CURVE_LANES) {
        const uint8_t *at[CURVE_LANES];
        g1_any p[CURVE_LANES];
        unsigned got;

        for (size_t i = 0; i < CURVE_LANES; i++) {
            size_t k = from + i < 2 * n ? from + i : from;
            at[i] = in + k / 2 * GROTH16_PROOF_BYTES + (k % 2 == 0 ? 0 : c_at);
        }
        got = l->g1_read(p, at);
        for (size_t i = 0; i < CURVE_LANES && from + i < 2 * n; i++) {
            size_t k = from + i;
            if ((got >> i & 1) == 0)
                ok &= ~(1u << k / 2);
            else if (k % 2 == 0)
                out[k / 2].a = p[i];
            else
                out[k / 2].c = p[i];
        }
    }
    return ok;
}

static unsigned read_g2(const curve_lanes *l, const curve *cv, groth16_proof *out,
                        const uint8_t *in, size_t n)
{
    size_t b_at = cv->point_size(false, POINT_ZCASH_COMPRESSED);
    const uint8_t *at[CURVE_LANES];
    g2_any q[CURVE_LANES];
    unsigned got;

    for (size_t i = 0; i < CURVE_LANES; i++)
        at[i] = in + (i < n ? i : 0) * GROTH16_PROOF_BYTES + b_at;
    got = l->g2_read(q, at);
    for (size_t i = 0; i < n; i++)
        if (got >> i & 1) out[i].b = q[i];
    return got;
}

cuzk_status groth16_proofs_read(groth16_proof *out, const curve *cv, const uint8_t *in, size_t n,
                                size_t *bad)
{
    const curve_lanes *l = curve_lanes_of(cv);

    for (size_t from = 0; from < n; from += BLOCK) {
        size_t m = n - from < BLOCK ? n - from : BLOCK;
        const uint8_t *bytes = in + from * GROTH16_PROOF_BYTES;
        unsigned ok = 0;

        if (l != NULL && m >= MIN_BLOCK) {
            ok = read_g1(l, cv, out + from, bytes, m);
            ok &= read_g2(l, cv, out + from, bytes, m);
        }
        for (size_t i = 0; i < m; i++) {
            if (ok >> i & 1) continue;
            *bad = from + i;
            TRY(groth16_proof_read(&out[from + i], cv, bytes + i * GROTH16_PROOF_BYTES));
        }
    }
    return CUZK_OK;
}
