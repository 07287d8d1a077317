/*
 * circuit/filecoin/porep_c1_write_bincode.c - a C1 output in bincode: a third of its JSON
 *
 * What porep_c1_read_bincode reads, in its order.
 *
 * Source: spec/filecoin-formats.md sections 2.3 and 4
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "circuit/filecoin/bincode.h"
#include "circuit/filecoin/porep_c1_write.h"

#define PROOF_MAX 8192u /* bytes: the longest, in tree R of 64 GiB, has 2,764 */

typedef struct writer {
    bytes_out *o;
    const porep_layout *l;
    bincode_proof d, r;
    const uint8_t (*hashes)[32]; /* of the challenge */
    const uint64_t *numbers;
} writer;

static void put_hashes(const writer *w, uint32_t at, uint32_t n)
{
    bytes_put_u64le(w->o, n);
    bytes_put(w->o, w->hashes[at], (size_t)n * 32);
}

static void put_proof(const writer *w, const porep_path_at *at, const bincode_proof *p)
{
    uint8_t b[PROOF_MAX] = {0};
    unsigned n_base = p->n_levels - p->variant;
    uint32_t siblings = at->siblings;

    VERIFY(p->size <= PROOF_MAX);
    store_u32le(b, p->variant);
    memcpy(b + p->root, w->hashes[at->root], 32);
    memcpy(b + p->leaf, w->hashes[at->leaf], 32);
    for (unsigned l = 0; l < p->n_levels; l++) {
        uint32_t n = p->levels[l] - 1;

        /* a path's first element has the path's count before its own */
        if (l == 0) store_u64le(b + p->siblings[l] - 16, n_base);
        if (l >= n_base) store_u64le(b + p->siblings[l] - 16, 1);
        store_u64le(b + p->siblings[l] - 8, n);
        memcpy(b + p->siblings[l], w->hashes[siblings], (size_t)n * 32);
        store_u64le(b + p->index[l], w->numbers[at->indices + l]);
        siblings += n;
    }
    bytes_put(w->o, b, p->size);
}

static void put_column(const writer *w, const porep_column_at *at)
{
    bytes_put_u32le(w->o, (uint32_t)w->numbers[at->index]);
    put_hashes(w, at->rows, w->l->layers);
    put_proof(w, &at->path, &w->r);
}

static void put_columns(const writer *w, unsigned from, uint32_t n)
{
    bytes_put_u64le(w->o, n);
    for (uint32_t i = 0; i < n; i++) put_column(w, &w->l->columns[from + i]);
}

static void put_label(const writer *w, uint32_t i)
{
    uint32_t node = w->l->nodes + 2 * i;

    put_hashes(w, w->l->labels + i * POREP_PARENTS, POREP_PARENTS);
    bytes_put_u32le(w->o, (uint32_t)w->numbers[node]);
    bytes_put_u64le(w->o, w->numbers[node + 1]);
}

static void put_challenge(const writer *w)
{
    put_proof(w, &w->l->d, &w->d);
    put_proof(w, &w->l->r, &w->r);
    put_column(w, &w->l->columns[0]);
    put_columns(w, 1, POREP_DRG_PARENTS);
    put_columns(w, 1 + POREP_DRG_PARENTS, POREP_EXP_PARENTS);
    bytes_put_u64le(w->o, w->l->layers);
    for (uint32_t i = 0; i <= w->l->layers; i++) put_label(w, i); /* the last: encoding_proof */
}

void porep_c1_write_bincode(bytes_out *o, const porep_c1 *c1)
{
    const uint8_t *const values[] = {c1->comm_r, c1->comm_d, c1->replica_id, c1->seed, c1->ticket};
    writer w = {.o = o, .l = &c1->layout};

    bincode_proof_d(&w.d, c1->size);
    bincode_proof_r(&w.r, c1->size);
    bytes_put_u64le(o, c1->n_partitions);
    for (uint32_t k = 0; k < c1->n_partitions; k++) {
        bytes_put_u64le(o, c1->n_challenges);
        for (uint32_t i = 0; i < c1->n_challenges; i++) {
            w.hashes = porep_hashes(c1, k, i);
            w.numbers = porep_numbers(c1, k, i);
            put_challenge(&w);
        }
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) bytes_put(o, values[i], 32);
}
