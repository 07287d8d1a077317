/*
 * groth16/lagrange.c - L_q(tau) = w^q (tau^n - 1) / (n (tau - w^q)), with one inversion for each 4096 of them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/lagrange.h"

#include <string.h>

/* out[i - from], and whether tau is none of their points */
static bool chunk_at(const lagrange *x, fr *out, fr *tmp, uint64_t from, uint64_t to)
{
    const curve *cv = x->cv;
    fr root, w, jump, z, k;
    bool inside = false;
    size_t n = (size_t)(to - from);

    cv->fr_root(&root, x->gen, x->log_n);
    cv->fr_pow_var(&jump, &root, x->step);
    cv->fr_pow_var(&w, &root, x->first + x->step * from);
    cv->fr_pow_var(&z, &x->tau, (uint64_t)1 << x->log_n);
    cv->fr_sub(&z, &z, &cv->fr_one);
    cv->fr_from_u64(&k, (uint64_t)1 << x->log_n);
    cv->fr_inv(&k, &k);
    cv->fr_mul(&k, &k, &z);
    cv->fr_mul(&k, &k, &x->scale);
    cv->fr_mul(&k, &k, &w); /* k runs as scale * z / n * w^q */
    for (size_t i = 0; i < n; i++) {
        cv->fr_sub(&out[i], &x->tau, &w);
        inside = inside || cv->fr_is_zero(&out[i]);
        cv->fr_mul(&w, &w, &jump);
    }
    cv->fr_batch_inv(out, tmp, n);
    for (size_t i = 0; i < n; i++) {
        cv->fr_mul(&out[i], &out[i], &k);
        cv->fr_mul(&k, &k, &jump);
    }
    explicit_bzero(&z, sizeof z);
    explicit_bzero(&k, sizeof k);
    return !inside;
}

typedef struct range {
    const lagrange *x;
    fr *out;
    uint64_t from, to;
} range;

static cuzk_status run_chunk(void *ctx, size_t i, unsigned worker)
{
    const range *r = ctx;
    const lagrange *x = r->x;
    uint64_t from = r->from + i * LAGRANGE_CHUNK, to = from + LAGRANGE_CHUNK;

    if (to > r->to) to = r->to;
    if (chunk_at(x, r->out + (from - r->from), x->tmp + (size_t)worker * LAGRANGE_CHUNK, from, to))
        return CUZK_OK;
    return FAIL_DATA(MALFORMED, "tau", "tau is a point of the domain of size 2^%u", x->log_n);
}

cuzk_status lagrange_range(const lagrange *x, fr *out, uint64_t from, uint64_t to)
{
    range r = {x, out, from, to};

    return pool_run(x->p, x->c, (size_t)((to - from + LAGRANGE_CHUNK - 1) / LAGRANGE_CHUNK),
                    run_chunk, &r);
}
