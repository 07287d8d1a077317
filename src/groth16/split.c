/*
 * groth16/split.c - which device takes which sums of one proof: a plan by measured costs
 *
 * Sums over the witness are taken whole, the largest first, each by the device that has the least to do; then the H sum is cut so
 * that all end together. On two devices nothing is left to be gained but what the other one idles while the first transforms.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/split.h"

#include "base/status.h"

/* Of a point of G1 with a full-width scalar this is the 64th part; measured on an H200 (docs/gpu.md). */
#define COST_ELEM 64u
#define COST_BIT 3u
#define COST_G2 3u      /* times that of G1 */
#define COST_ROW 23u    /* of a, b, c and of the transforms */
#define LEAST_RANGE 16u /* a range of H below this part of it is not worth a copy */

uint64_t split_cost(split_scalars s, bool g2)
{
    return (s.elems * COST_ELEM + s.bits * COST_BIT) * (g2 ? COST_G2 : 1);
}

uint64_t split_cost_before_h(unsigned log_n)
{
    return ((uint64_t)1 << log_n) * COST_ROW;
}

/* The sum over the witness that nobody has and that costs most; SUM_H: none is left. */
static sum_kind largest_left(const bool taken[SUMS], const split_costs *c)
{
    sum_kind best = SUM_H;

    for (unsigned k = SUM_L; k < SUMS; k++)
        if (!taken[k] && (best == SUM_H || c->sum[k] > c->sum[best])) best = (sum_kind)k;
    return best;
}

static unsigned least_loaded(const uint64_t *load, unsigned n)
{
    unsigned best = 0;

    for (unsigned d = 1; d < n; d++)
        if (load[d] < load[best]) best = d;
    return best;
}

/* Up to where all are filled when `more` is spread over those that have less. */
static uint64_t level_of(const uint64_t *load, unsigned n, uint64_t more)
{
    bool out[SPLIT_MAX] = {false};
    uint64_t level = 0;

    for (unsigned round = 0; round < n; round++) {
        uint64_t sum = more;
        unsigned in = 0;
        bool again = false;

        for (unsigned d = 0; d < n; d++) {
            if (out[d]) continue;
            sum += load[d];
            in++;
        }
        level = sum / in; /* the least loaded is never out */
        for (unsigned d = 0; d < n; d++) {
            if (out[d] || load[d] <= level) continue;
            out[d] = again = true;
        }
        if (!again) break;
    }
    return level;
}

/* The scalars that fit between a device's load and the level. */
static size_t range_of(uint64_t load, uint64_t level, const split_costs *c)
{
    double part =
        level <= load || c->sum[SUM_H] == 0 ? 0 : (double)(level - load) / (double)c->sum[SUM_H];
    size_t n = (size_t)(part * (double)c->h_n) / 64 * 64;

    return n < c->h_n / LEAST_RANGE ? 0 : n;
}

void split_plan(split_part *out, unsigned n, const split_costs *c)
{
    uint64_t load[SPLIT_MAX] = {c->before_h}, level;
    bool taken[SUMS] = {false};
    size_t left = c->h_n, at = 0;

    VERIFY(n >= 1 && n <= SPLIT_MAX);
    for (unsigned d = 0; d < n; d++) out[d] = (split_part){0};
    for (sum_kind k = largest_left(taken, c); k != SUM_H; k = largest_left(taken, c)) {
        unsigned d = least_loaded(load, n);

        load[d] += c->sum[k];
        out[d].takes[k] = taken[k] = true;
    }
    for (unsigned d = 1; d < n; d++) /* it waits for the scalars */
        if (load[d] < c->before_h) load[d] = c->before_h;
    level = level_of(load, n, c->sum[SUM_H]);
    for (unsigned d = n - 1; d > 0; d--) {
        size_t range = range_of(load[d], level, c);

        out[d].h_n = range < left ? range : left;
        left -= out[d].h_n;
    }
    out[0].h_n = left; /* with what rounding has left */
    for (unsigned d = 0; d < n; d++) {
        out[d].h_from = at;
        out[d].takes[SUM_H] = out[d].h_n != 0;
        at += out[d].h_n;
    }
}
