/*
 * circuit/filecoin/post_statement.c - what follows from a PoSt statement: partitions, challenges, public inputs
 *
 * Source: spec/filecoin-formats.md section 3.4
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "circuit/filecoin/post_impl.h"

const char *fil_api_name(fil_api a)
{
    switch (a) {
    case FIL_API_1_0_0: return "1.0.0";
    case FIL_API_1_1_0: return "1.1.0";
    case FIL_API_1_2_0: break;
    }
    return "1.2.0";
}

void post_statement_free(post_statement *st)
{
    if (st == NULL) return;
    mem_free(st->m, st->sectors);
    mem_free(st->m, st);
}

/* Sectors of the statement that a partition takes. */
static size_t sectors_per_partition(const post_statement *st)
{
    return st->kind == FIL_WINNING ? 1 : st->size->window_sectors;
}

size_t post_partitions(const post_statement *st)
{
    size_t per = sectors_per_partition(st);

    return (st->n_sectors + per - 1) / per;
}

void post_partition_sectors(const post_statement *st, size_t partition, size_t *first, size_t *n)
{
    size_t per = sectors_per_partition(st), left;

    *first = partition < post_partitions(st) ? partition * per : st->n_sectors;
    left = st->n_sectors - *first;
    *n = left < per ? left : per;
}

uint32_t post_proofs_per_sector(const post_statement *st)
{
    uint32_t n_sectors, n_challenges;

    fil_post_shape(st->kind, st->size, &n_sectors, &n_challenges);
    return st->kind == FIL_WINNING ? n_sectors : n_challenges;
}

size_t post_n_public(const post_statement *st)
{
    uint32_t n_sectors, n_challenges;

    fil_post_shape(st->kind, st->size, &n_sectors, &n_challenges);
    return (size_t)n_sectors * (1 + n_challenges);
}

uint64_t post_challenge(const post_statement *st, uint64_t sector_number, uint64_t sector_index,
                        uint32_t n)
{
    uint64_t ci = n, nodes = UINT64_C(1) << st->size->nodes_log;
    uint8_t in[48], out[32];

    if (st->api != FIL_API_1_2_0) ci += sector_index * post_proofs_per_sector(st);
    memcpy(in, st->randomness, 32);
    store_u64le(in + 32, sector_number);
    store_u64le(in + 40, ci);
    sha256(out, in, sizeof in);
    return load_u64le(out) % nodes;
}

/* comm_r, then `n` challenges from `from` on; *out moves on. */
static cuzk_status put_sector(const post_statement *st, const curve *cv, size_t sector,
                              uint32_t from, uint32_t n, fr **out)
{
    const post_sector_statement *s = &st->sectors[sector];
    scalar comm_r;

    memcpy(comm_r.b, s->comm_r, sizeof comm_r.b);
    if (!cv->fr_from_scalar((*out)++, &comm_r))
        return FAIL(CUZK_EINVAL, "sector %zu: comm_r is not below the modulus", sector);
    for (uint32_t i = from; i < from + n; i++)
        cv->fr_from_u64((*out)++, post_challenge(st, s->sector_number, sector, i));
    return CUZK_OK;
}

cuzk_status post_public_inputs(const post_statement *st, size_t partition, const curve *cv, fr *out)
{
    uint32_t n_sectors, n_challenges;
    size_t first, n;

    if (partition >= post_partitions(st))
        return FAIL(CUZK_EINVAL, "partition %zu, there are %zu", partition, post_partitions(st));
    fil_post_shape(st->kind, st->size, &n_sectors, &n_challenges);
    post_partition_sectors(st, partition, &first, &n);
    for (uint32_t i = 0; i < n_sectors; i++) {
        size_t own = i < n ? i : n - 1; /* the last one is repeated */
        uint32_t from = st->kind == FIL_WINNING ? i : 0;

        TRY(put_sector(st, cv, first + own, from, n_challenges, &out));
    }
    return CUZK_OK;
}
