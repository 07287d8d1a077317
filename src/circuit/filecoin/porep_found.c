/*
 * circuit/filecoin/porep_found.c - whether what was computed of a PoRep partition agrees with what its C1 output says
 *
 * Source: spec/filecoin-circuits.md section 10.3 (what the circuit reads), spec/filecoin-formats.md section 2.2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "circuit/filecoin/element.h"
#include "circuit/filecoin/porep_job.h"

/* One challenge of a job. */
typedef struct challenge {
    const porep_job *j;
    uint32_t i;
    const uint8_t (*h)[32];
    const uint64_t *n;
    const porep_found *found;
    const fr *root; /* what the paths in trees C and R lead to */
    uint64_t node;
} challenge;

static challenge challenge_of(const porep_job *j, uint32_t i)
{
    challenge c = {.j = j, .i = i, .found = &j->found[i]};

    c.h = porep_hashes(j->c1, j->partition, i);
    c.n = porep_numbers(j->c1, j->partition, i);
    c.root = &j->climb.node[i * POREP_CLIMBS];
    c.node = porep_node(j->l, c.n);
    return c;
}

static bool is_element(const challenge *c, const uint8_t bytes[32], const fr *x)
{
    fr y;

    fil_load_fr(c->j->cv, &y, bytes);
    return c->j->cv->fr_eq(&y, x);
}

static const uint8_t *comm_c(const porep_job *j)
{
    return porep_hashes(j->c1, j->partition, 0)[j->l->columns[0].path.root];
}

static const uint8_t *comm_r_last(const porep_job *j)
{
    return porep_hashes(j->c1, j->partition, 0)[j->l->r.root];
}

/* Path k, or the column that it is of, as messages have it. */
static const char *path_name(char out[32], unsigned k)
{
    if (k == POREP_OWN_PATH) return "column";
    if (k == POREP_REPLICA_PATH) return "comm_r_last path";
    k--;
    (void)snprintf(out, 32, "%s parent %u", k < POREP_DRG_PARENTS ? "drg" : "exp",
                   k < POREP_DRG_PARENTS ? k : k - POREP_DRG_PARENTS);
    return out;
}

/* ---- what the circuit reads ---- */

static cuzk_status check_leaf(const challenge *c, uint64_t leaf, const char *where)
{
    if (leaf == c->node) return CUZK_OK;
    return FAIL_DATA(INCONSISTENT, where, "the path is of node %" PRIu64 ", not of %" PRIu64, leaf,
                     c->node);
}

/* All that is of the challenged node says so. */
static cuzk_status check_node(const challenge *c)
{
    const porep_layout *l = c->j->l;
    uint64_t d = porep_data_leaf(l, c->n), r = porep_leaf(l, &l->r, c->n);

    if (c->node != d && d == r)
        return FAIL_DATA(INCONSISTENT, "node",
                         "the first labeling proof is of node %" PRIu64 ", the paths of %" PRIu64,
                         c->node, d);
    TRY(check_leaf(c, d, "comm_d path"));
    TRY(check_leaf(c, r, path_name(NULL, POREP_REPLICA_PATH)));
    return check_leaf(c, porep_leaf(l, &l->columns[0].path, c->n), path_name(NULL, POREP_OWN_PATH));
}

/* The roots that the circuit takes from the first challenge are those of all. */
static cuzk_status check_roots(const challenge *c)
{
    const porep_layout *l = c->j->l;

    if (memcmp(c->h[l->columns[0].path.root], comm_c(c->j), 32) != 0)
        return FAIL_DATA(INCONSISTENT, "comm_c",
                         "the root of the column's path is not challenge 0's");
    if (memcmp(c->h[l->r.root], comm_r_last(c->j), 32) != 0)
        return FAIL_DATA(INCONSISTENT, "comm_r_last",
                         "the root of the replica's path is not challenge 0's");
    return CUZK_OK;
}

static cuzk_status check_path(const challenge *c, unsigned k)
{
    bool replica = k == POREP_REPLICA_PATH;
    char name[32];

    if (is_element(c, replica ? comm_r_last(c->j) : comm_c(c->j), &c->root[k])) return CUZK_OK;
    if (replica)
        return FAIL_DATA(INCONSISTENT, path_name(name, k),
                         "the path does not lead from label and data to comm_r_last");
    return FAIL_DATA(INCONSISTENT, path_name(name, k),
                     "the path does not lead from the %s to comm_c",
                     k == POREP_OWN_PATH ? "labels" : "column");
}

static cuzk_status check_challenge(const challenge *c)
{
    TRY(check_node(c));
    TRY(check_roots(c));
    if (memcmp(c->found->d_root, c->j->c1->comm_d, 32) != 0)
        return FAIL_DATA(INCONSISTENT, "comm_d path",
                         "the path does not lead from its leaf to comm_d");
    for (unsigned k = 1; k < POREP_CLIMBS; k++) TRY(check_path(c, k));
    return check_path(c, POREP_OWN_PATH);
}

cuzk_status porep_check_found(const porep_job *j)
{
    for (uint32_t i = 0; i < j->c1->n_challenges; i++) {
        challenge c = challenge_of(j, i);
        cuzk_status st = check_challenge(&c);

        if (st == CUZK_OK) continue;
        status_add_where("partition %" PRIu32 ", challenge %" PRIu32, j->partition, i);
        return st;
    }
    return CUZK_OK;
}

/* ---- what it does not read ---- */

static cuzk_status found_at(const challenge *c, const char *place, const char *what)
{
    char where[96];

    (void)snprintf(where, sizeof where, "partition %" PRIu32 ", challenge %" PRIu32 ", %s",
                   c->j->partition, c->i, place);
    return fil_redundant_found(c->j->run->redundant, where, "%s", what);
}

static cuzk_status check_number(const challenge *c, const char *place, const char *name,
                                uint64_t got, uint64_t want)
{
    char what[96];

    if (got == want) return CUZK_OK;
    (void)snprintf(what, sizeof what, "%s %" PRIu64 ", expected %" PRIu64, name, got, want);
    return found_at(c, place, what);
}

/* Fields of path k that it does not read: the leaf, the root. */
static cuzk_status check_fields(const challenge *c, unsigned k)
{
    const porep_path_at *at = porep_path(c->j, k);
    const fr *leaf = k == POREP_REPLICA_PATH ? &c->found->encoded : &c->found->column[k];
    const uint8_t *root = k == POREP_REPLICA_PATH ? comm_r_last(c->j) : comm_c(c->j);
    char name[32];

    if (!is_element(c, c->h[at->leaf], leaf))
        TRY(found_at(c, path_name(name, k), "the path's leaf field is not what it starts from"));
    if (memcmp(c->h[at->root], root, 32) != 0)
        TRY(found_at(c, path_name(name, k), "the path's root field is not where it leads"));
    return CUZK_OK;
}

/* Column k: the node that it says it is of, its path's fields. */
static cuzk_status check_column(const challenge *c, unsigned k)
{
    const porep_column_at *at = &c->j->l->columns[k];
    char name[32], place[48];

    (void)snprintf(place, sizeof place, "%s index", path_name(name, k));
    TRY(check_number(c, place, "node", c->n[at->index], porep_leaf(c->j->l, &at->path, c->n)));
    return check_fields(c, k);
}

/* Copies of a label's parents, layer and node; entry `layers` is encoding_proof, of the last layer. */
static cuzk_status check_label(const challenge *c, uint32_t entry)
{
    const porep_layout *l = c->j->l;
    uint32_t layer = entry == l->layers ? l->layers : entry + 1;
    const uint8_t(*parents)[32] = c->h + l->labels + (size_t)entry * POREP_PARENTS;
    char place[32], what[64];

    (void)snprintf(place, sizeof place, entry == l->layers ? "encoding proof" : "layer %u label",
                   layer);
    TRY(check_number(c, place, "layer_index", c->n[l->nodes + 2 * entry], layer));
    TRY(check_number(c, place, "node", c->n[l->nodes + 2 * entry + 1], c->node));
    for (unsigned i = 0; i < POREP_PARENTS; i++) {
        unsigned k = porep_label_column(layer, i);

        if (memcmp(parents[i], c->h[l->columns[1 + k].rows + porep_label_row(layer, k)], 32) == 0)
            continue;
        (void)snprintf(what, sizeof what, "parent %u is not its column's row", i);
        TRY(found_at(c, place, what));
    }
    return CUZK_OK;
}

static cuzk_status check_own_rows(const challenge *c)
{
    const porep_layout *l = c->j->l;
    char what[64];

    for (uint32_t i = 0; i < l->layers; i++) {
        if (memcmp(c->h[l->columns[0].rows + i], c->found->label[i], 32) == 0) continue;
        (void)snprintf(what, sizeof what, "row %" PRIu32 " is not layer %" PRIu32 "'s label", i,
                       i + 1);
        TRY(found_at(c, path_name(NULL, POREP_OWN_PATH), what));
    }
    return CUZK_OK;
}

static cuzk_status check_copies(const challenge *c)
{
    const porep_layout *l = c->j->l;

    if (memcmp(c->h[l->d.root], c->j->c1->comm_d, 32) != 0)
        TRY(found_at(c, "comm_d path", "the path's root field is not where it leads"));
    for (unsigned k = 1; k <= POREP_COLUMNS; k++) TRY(check_column(c, k));
    for (uint32_t entry = 0; entry <= l->layers; entry++) TRY(check_label(c, entry));
    TRY(check_own_rows(c));
    TRY(check_column(c, POREP_OWN_PATH));
    return check_fields(c, POREP_REPLICA_PATH);
}

cuzk_status porep_check_redundant(const porep_job *j)
{
    for (uint32_t i = 0; i < j->c1->n_challenges; i++) {
        challenge c = challenge_of(j, i);

        TRY(check_copies(&c));
    }
    return CUZK_OK;
}
