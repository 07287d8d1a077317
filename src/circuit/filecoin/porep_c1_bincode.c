/*
 * circuit/filecoin/porep_c1_bincode.c - reads C1 outputs in bincode, as supraseal writes them
 *
 * Every count has one right value, so the size of all of it follows from the shape, and memory is taken for that much once
 * the data is known to have it.
 *
 * Source: spec/filecoin-formats.md sections 2.3 and 4; docs/formats/c1.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "circuit/filecoin/bincode.h"
#include "circuit/filecoin/porep_impl.h"

#define COUNT_SIZE ((size_t)8)

typedef struct reader {
    bytes_in in;
    const porep_layout *l;
    bincode_proof d, r;
    uint8_t (*hashes)[32]; /* of the challenge */
    uint64_t *numbers;
} reader;

static cuzk_status read_hashes(reader *r, uint32_t at, uint32_t n, const char *name,
                               const char *names)
{
    const uint8_t *b;

    TRY(bincode_count(&r->in, n, BINCODE_HASH_SIZE, names));
    for (uint32_t i = 0; i < n; i++) {
        TRY(bincode_fr(&r->in, name));
        b = r->in.data + r->in.pos - BINCODE_HASH_SIZE;
        memcpy(r->hashes[at + i], b, BINCODE_HASH_SIZE);
    }
    return CUZK_OK;
}

static cuzk_status read_u32(reader *r, uint32_t at)
{
    uint32_t v;

    TRY(bytes_get_u32le(&r->in, &v));
    r->numbers[at] = v;
    return CUZK_OK;
}

static cuzk_status read_proof(reader *r, const porep_path_at *at, const bincode_proof *p)
{
    const uint8_t *b = r->in.data + r->in.pos;
    uint32_t siblings = at->siblings;

    TRY(bincode_read_proof(&r->in, p));
    memcpy(r->hashes[at->root], b + p->root, BINCODE_HASH_SIZE);
    memcpy(r->hashes[at->leaf], b + p->leaf, BINCODE_HASH_SIZE);
    for (unsigned l = 0; l < p->n_levels; l++) {
        uint32_t n = p->levels[l] - 1;

        memcpy(r->hashes[siblings], b + p->siblings[l], (size_t)n * BINCODE_HASH_SIZE);
        siblings += n;
        r->numbers[at->indices + l] = bincode_index(p, b, l);
    }
    return CUZK_OK;
}

static cuzk_status read_column(reader *r, const porep_column_at *at)
{
    TRY(read_u32(r, at->index));
    TRY(read_hashes(r, at->rows, r->l->layers, "row", "rows"));
    return read_proof(r, &at->path, &r->r);
}

static size_t column_size(const reader *r)
{
    return 4 + COUNT_SIZE + (size_t)r->l->layers * BINCODE_HASH_SIZE + r->r.size;
}

static cuzk_status read_columns(reader *r, unsigned from, uint32_t n, const char *name,
                                const char *names)
{
    TRY(bincode_count(&r->in, n, column_size(r), names));
    for (uint32_t i = 0; i < n; i++) {
        cuzk_status st = read_column(r, &r->l->columns[from + i]);

        if (st == CUZK_OK) continue;
        status_add_where("%s %" PRIu32, name, i);
        return st;
    }
    return CUZK_OK;
}

#define LABEL_SIZE (COUNT_SIZE + (size_t)POREP_PARENTS * BINCODE_HASH_SIZE + 4 + 8)

static cuzk_status read_label(reader *r, uint32_t i)
{
    uint32_t node = r->l->nodes + 2 * i;

    TRY(read_hashes(r, r->l->labels + i * POREP_PARENTS, POREP_PARENTS, "parent", "parents"));
    TRY(read_u32(r, node));
    return bytes_get_u64le(&r->in, &r->numbers[node + 1]);
}

static cuzk_status read_labels(reader *r)
{
    TRY(bincode_count(&r->in, r->l->layers, LABEL_SIZE, "labeling proofs"));
    for (uint32_t i = 0; i < r->l->layers; i++) {
        cuzk_status st = read_label(r, i);

        if (st == CUZK_OK) continue;
        status_add_where("labeling proof %" PRIu32, i);
        return st;
    }
    return CUZK_OK;
}

static cuzk_status read_challenge(reader *r)
{
    TRY(porep_at(read_proof(r, &r->l->d, &r->d), "comm_d path"));
    TRY(porep_at(read_proof(r, &r->l->r, &r->r), "comm_r_last path"));
    TRY(porep_at(read_column(r, &r->l->columns[0]), "column"));
    TRY(read_columns(r, 1, POREP_DRG_PARENTS, "drg parent", "drg parents"));
    TRY(read_columns(r, 1 + POREP_DRG_PARENTS, POREP_EXP_PARENTS, "exp parent", "exp parents"));
    TRY(read_labels(r));
    return porep_at(read_label(r, r->l->layers), "encoding proof");
}

static size_t challenge_size(const reader *r)
{
    size_t n_columns = 1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS;

    return r->d.size + r->r.size + n_columns * column_size(r) + 3 * COUNT_SIZE +
           ((size_t)r->l->layers + 1) * LABEL_SIZE;
}

static cuzk_status read_partition(reader *r, porep_c1 *c1)
{
    TRY(bincode_count(&r->in, c1->n_challenges, challenge_size(r), "challenges"));
    for (uint32_t i = 0; i < c1->n_challenges; i++) {
        cuzk_status st = read_challenge(r);

        if (st != CUZK_OK) {
            status_add_where("challenge %" PRIu32, i);
            return st;
        }
        r->hashes += r->l->n_hashes;
        r->numbers += r->l->n_numbers;
    }
    return CUZK_OK;
}

static cuzk_status read_partitions(reader *r, porep_c1 *c1)
{
    for (uint32_t k = 0; k < c1->n_partitions; k++) {
        cuzk_status st = read_partition(r, c1);

        if (st == CUZK_OK) continue;
        status_add_where("partition %" PRIu32, k);
        return st;
    }
    return CUZK_OK;
}

static cuzk_status read_c1(reader *r, porep_c1 *c1, uint32_t registered, const porep_shape *shape)
{
    uint8_t *const values[] = {c1->comm_r, c1->comm_d, c1->replica_id, c1->seed, c1->ticket};
    uint32_t n_partitions = porep_partitions(shape->size, porep_feature_of(registered));
    uint32_t n_challenges = shape->size->porep_challenges;

    TRY(bincode_count(&r->in, n_partitions, COUNT_SIZE + (size_t)n_challenges * challenge_size(r),
                      "partitions"));
    TRY(porep_c1_begin(c1, registered, shape, (size_t)n_partitions * n_challenges));
    r->hashes = c1->hashes;
    r->numbers = c1->numbers;
    TRY(read_partitions(r, c1));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        TRY(bytes_get(&r->in, values[i], 32));
    TRY(bincode_end(&r->in));
    return porep_c1_check_values(c1);
}

cuzk_status porep_c1_read_bincode(porep_c1 **out, const uint8_t *data, size_t size,
                                  uint32_t registered, const porep_shape *shape, mem *m)
{
    cuzk_status st = CUZK_OK;
    porep_layout l;
    reader r = {.in = bytes_in_of(data, size), .l = &l};
    porep_c1 *c1;

    if (registered >= POREP_REGISTERED || !fil_exists(FIL_POREP, shape->size))
        return FAIL(CUZK_EINVAL, "no registered seal proof %" PRIu32 " of %s", registered,
                    shape->size->name);
    c1 = mem_new(m, 1, sizeof *c1, &st);
    if (c1 == NULL) return st;
    c1->m = m;
    porep_layout_of(&l, shape->size, shape->layers);
    bincode_proof_d(&r.d, shape->size);
    bincode_proof_r(&r.r, shape->size);
    TRY_OUT(read_c1(&r, c1, registered, shape));
    *out = c1;
    c1 = NULL;
out:
    porep_c1_free(c1);
    return st;
}
