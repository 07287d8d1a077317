/*
 * circuit/filecoin/porep_check_statement.c - whether a C1 output is the statement's
 *
 * Looks at values and indices alone: which node every path is of, not whether it leads to its root. Where challenge and
 * data path agree on another node than the derived one, the output is for another statement; where they differ, it is
 * inconsistent in itself.
 *
 * Source: spec/filecoin-formats.md sections 2.5, 3.1 to 3.3; spec/filecoin-circuits.md section 10.3
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/u128.h"
#include "circuit/filecoin/porep_impl.h"

/* ---- values ---- */

static cuzk_status check_value(const char *name, const uint8_t got[32], const uint8_t want[32],
                               const char *so)
{
    char hex[2][65];

    if (memcmp(got, want, 32) == 0) return CUZK_OK;
    hex_encode(hex[0], got, 32);
    hex_encode(hex[1], want, 32);
    return FAIL_DATA(STATEMENT, name, "%s %s, the statement's is %s%s", name, hex[0], hex[1], so);
}

static cuzk_status check_kind(const porep_c1 *c1, const porep_derived *d)
{
    const porep_shape *s = &d->st.shape;
    char got[64], want[64];

    porep_name(got, c1->registered, c1->size);
    porep_name(want, d->st.registered, s->size);
    if (c1->size->bytes != s->size->bytes || c1->layout.layers != s->layers)
        return FAIL_DATA(SHAPE, "registered_proof",
                         "%s of %" PRIu32 " layers, the statement has %s of %" PRIu32, got,
                         c1->layout.layers, want, s->layers);
    if (c1->registered == d->st.registered) return CUZK_OK;
    return FAIL_DATA(STATEMENT, "registered_proof",
                     "%s, the statement has %s: other challenges or parents", got, want);
}

static cuzk_status check_values(const porep_c1 *c1, const porep_derived *d)
{
    TRY(check_value("comm_d", c1->comm_d, d->st.comm_d, ""));
    TRY(check_value("comm_r", c1->comm_r, d->st.comm_r, ""));
    TRY(check_value("ticket", c1->ticket, d->st.ticket, ": replica_id does not follow from it"));
    TRY(check_value("seed", c1->seed, d->st.seed, ": its challenges are others"));
    if (c1->wrapped && c1->sector_number != d->st.sector_number)
        return FAIL_DATA(STATEMENT, "SectorNum",
                         "sector number %" PRIu64 ", the statement's is %" PRIu64
                         ": replica_id does not follow from it",
                         c1->sector_number, d->st.sector_number);
    return check_value("replica_id", c1->replica_id, d->replica_id,
                       " (from prover, sector number, ticket, comm_d, registered proof)");
}

/* ---- nodes ---- */

/* Leaf that a path's index fields say, leaf-most first. levels NULL: all of arity 2. */
static uint64_t leaf_index(const uint64_t *indices, const uint32_t *levels, unsigned n_levels)
{
    uint64_t index = 0;
    unsigned shift = 0;

    for (unsigned l = 0; l < n_levels; l++) {
        index |= indices[l] << shift;
        shift += levels == NULL ? 1 : u64_bits(levels[l]) - 1;
    }
    return index;
}

static cuzk_status check_leaf(uint64_t got, uint32_t want, const char *where)
{
    if (got == want) return CUZK_OK;
    return FAIL_DATA(INCONSISTENT, where, "the path is of node %" PRIu64 ", not of %" PRIu32, got,
                     want);
}

static cuzk_status check_columns(const porep_c1 *c1, const uint64_t *numbers, unsigned from,
                                 unsigned n, const uint32_t *nodes, const char *name)
{
    const porep_layout *l = &c1->layout;

    for (unsigned i = 0; i < n; i++) {
        const porep_path_at *at = &l->columns[from + i].path;
        uint64_t leaf = leaf_index(numbers + at->indices, l->levels, l->n_levels);
        cuzk_status st = check_leaf(leaf, nodes[i], "");

        if (st == CUZK_OK) continue;
        status_add_where("%s %u", name, i);
        return st;
    }
    return CUZK_OK;
}

static cuzk_status check_challenge(const porep_c1 *c1, const porep_derived *d,
                                   const uint64_t *numbers, uint32_t challenge,
                                   const uint32_t exp[POREP_EXP_PARENTS])
{
    const porep_layout *l = &c1->layout;
    uint64_t d_leaf = leaf_index(numbers + l->d.indices, NULL, l->d_levels);
    uint64_t r_leaf = leaf_index(numbers + l->r.indices, l->levels, l->n_levels);
    uint64_t node = numbers[l->nodes + 1];
    uint32_t drg[POREP_DRG_PARENTS];

    if (node != challenge && d_leaf == node)
        return FAIL_DATA(STATEMENT, "", "%" PRIu64 " is not the derived one, %" PRIu32, node,
                         challenge);
    if (node != challenge)
        return FAIL_DATA(INCONSISTENT, "node",
                         "labeling proof 0 is of node %" PRIu64 ", the challenge is %" PRIu32, node,
                         challenge);
    TRY(check_leaf(d_leaf, challenge, "comm_d path"));
    porep_drg_parents(&d->graph, challenge, drg);
    TRY(check_columns(c1, numbers, 1, POREP_DRG_PARENTS, drg, "drg parent"));
    TRY(check_columns(c1, numbers, 1 + POREP_DRG_PARENTS, POREP_EXP_PARENTS, exp, "exp parent"));
    TRY(check_leaf(r_leaf, challenge, "comm_r_last path"));
    return check_leaf(leaf_index(numbers + l->columns[0].path.indices, l->levels, l->n_levels),
                      challenge, "column");
}

static cuzk_status check_partition(const porep_c1 *c1, const porep_derived *d, uint32_t k)
{
    porep_challenges c;

    for (uint32_t from = 0; from < c1->n_challenges; from += c.n) {
        porep_challenges_of(&c, d, k, from);
        for (uint32_t i = 0; i < c.n; i++) {
            cuzk_status st =
                check_challenge(c1, d, porep_numbers(c1, k, from + i), c.node[i], c.exp[i]);

            if (st == CUZK_OK) continue;
            status_add_where("partition %" PRIu32 ", challenge %" PRIu32, k, from + i);
            return st;
        }
    }
    return CUZK_OK;
}

cuzk_status porep_check_statement(const porep_c1 *c1, const porep_derived *d)
{
    TRY(check_kind(c1, d));
    TRY(check_values(c1, d));
    for (uint32_t k = 0; k < c1->n_partitions; k++) TRY(check_partition(c1, d, k));
    return CUZK_OK;
}
