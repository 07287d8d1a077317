/*
 * circuit/filecoin/porep_challenge_json.c - reads one challenge's proof of a C1 output into its layout
 *
 * Every count has one right value, so nothing is allocated and nothing can come twice. All hashes are field elements; those
 * that are not below the modulus are refused, whether a circuit reads them or not.
 *
 * Source: spec/filecoin-formats.md section 2.2; docs/formats/c1.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/element.h"
#include "circuit/filecoin/json_fields.h"
#include "circuit/filecoin/porep_impl.h"

/* Trees D, and C or R: levels of a path from the leaf upward. */
typedef struct tree {
    unsigned n_levels, variant; /* variant: how many of the last levels are paths of their own */
    uint32_t levels[32];        /* a binary tree over 2^31 nodes has 31 */
} tree;

typedef struct reader {
    json_in *j;
    const porep_layout *l;
    tree d, r;
    uint8_t (*hashes)[32];
    uint64_t *numbers;
} reader;

/* ---- hashes ---- */

typedef struct hash_list {
    uint32_t first; /* in hashes */
    const char *name;
} hash_list;

static cuzk_status read_hash(reader *r, uint32_t at, const char *what)
{
    TRY(fil_json_bytes32(r->j, r->hashes[at], what));
    if (!fil_is_canonical(r->hashes[at]))
        return FAIL(CUZK_EDATA, "%s before offset %zu is not below the modulus", what, r->j->pos);
    return CUZK_OK;
}

static cuzk_status read_hash_item(void *reader_, uint32_t i, const void *arg)
{
    const hash_list *l = arg;

    return read_hash(reader_, l->first + i, l->name);
}

static cuzk_status read_hashes(reader *r, uint32_t want, uint32_t first, const char *name)
{
    hash_list l = {first, name};

    return fil_json_list(r->j, want, name, read_hash_item, r, &l);
}

static cuzk_status read_number(reader *r, uint32_t at, uint64_t max, const char *what)
{
    return fil_json_u64(r->j, max, &r->numbers[at], what);
}

/* ---- inclusion proofs ---- */

/* Levels from .. of a proof: one PATH of it. */
typedef struct path {
    const porep_path_at *at;
    const tree *t;
    unsigned from;
} path;

static cuzk_status read_element_member(void *reader_, uint32_t member, const void *arg)
{
    const path *p = arg; /* from: the element's level */
    reader *r = reader_;
    uint32_t arity = p->t->levels[p->from], siblings = p->at->siblings;

    for (unsigned l = 0; l < p->from; l++) siblings += p->t->levels[l] - 1;
    if (member == 0) return read_hashes(r, arity - 1, siblings, "sibling");
    return read_number(r, p->at->indices + p->from, arity - 1, "index");
}

static cuzk_status read_element(void *reader_, uint32_t i, const void *arg)
{
    static const char *const names[] = {"hashes", "index"};
    reader *r = reader_;
    path p = *(const path *)arg;

    p.from += i;
    return fil_json_object(r->j, names, 2, read_element_member, r, &p);
}

static cuzk_status read_path_member(void *reader_, uint32_t i, const void *arg)
{
    const path *p = arg;
    reader *r = reader_;
    unsigned n_base = p->t->n_levels - p->t->variant;

    (void)i;
    return fil_json_list(r->j, p->from == 0 ? n_base : 1, "path element", read_element, r, p);
}

/* A member of Single, Sub or Top. */
static cuzk_status read_proof_member(void *reader_, uint32_t member, const void *arg)
{
    static const char *const names[] = {"path"};
    reader *r = reader_;
    path p = *(const path *)arg;

    if (member == 0) return read_hash(r, p.at->root, "root");
    if (member == 1) return read_hash(r, p.at->leaf, "leaf");
    if (member > 2) p.from = p.t->n_levels - p.t->variant + (member - 3);
    return fil_json_object(r->j, names, 1, read_path_member, r, &p);
}

/* {"Single": ...}: the variant has to be the tree's. */
static cuzk_status read_data(void *reader_, uint32_t i, const void *arg)
{
    static const char *const variants[] = {"Single", "Sub", "Top"};
    static const char *const members[][5] = {
        {"root", "leaf", "path"},
        {"root", "leaf", "base_proof", "sub_proof"},
        {"root", "leaf", "base_proof", "sub_proof", "top_proof"},
    };
    const path *p = arg;
    reader *r = reader_;
    unsigned want = p->t->variant, k;
    uint64_t seen = 0;
    bool end;

    (void)i;
    TRY(fil_json_expect_object(r->j, "data"));
    for (;;) {
        TRY(fil_json_next_key(r->j, variants, 3, &seen, &k, &end));
        if (end) break;
        if (k == 3) continue;
        if (k != want)
            return FAIL_DATA(SHAPE, "", "proof of kind %s, expected %s", variants[k],
                             variants[want]);
        TRY(fil_json_object(r->j, members[k], 3 + want, read_proof_member, r, p));
    }
    return seen == 0 ? fil_json_missing("data", variants[want]) : CUZK_OK;
}

static cuzk_status read_proof(reader *r, const porep_path_at *at, const tree *t)
{
    static const char *const names[] = {"data"};
    path p = {at, t, 0};

    return fil_json_object(r->j, names, 1, read_data, r, &p);
}

/* ---- columns ---- */

static cuzk_status read_rows(void *reader_, uint32_t member, const void *arg)
{
    const porep_column_at *at = arg;
    reader *r = reader_;

    if (member == 0) return read_number(r, at->index, UINT32_MAX, "index");
    return read_hashes(r, r->l->layers, at->rows, "row");
}

static cuzk_status read_column_member(void *reader_, uint32_t member, const void *arg)
{
    static const char *const names[] = {"index", "rows"};
    const porep_column_at *at = arg;
    reader *r = reader_;

    if (member == 0) return fil_json_object(r->j, names, 2, read_rows, r, at);
    return read_proof(r, &at->path, &r->r);
}

/* The i-th column from *arg on. */
static cuzk_status read_column(void *reader_, uint32_t i, const void *arg)
{
    static const char *const names[] = {"column", "inclusion_proof"};
    const porep_column_at *at = arg;
    reader *r = reader_;

    return fil_json_object(r->j, names, 2, read_column_member, r, &at[i]);
}

static cuzk_status read_columns(void *reader_, uint32_t member, const void *arg)
{
    const porep_column_at *at = arg;
    reader *r = reader_;

    switch (member) {
    case 0: return porep_at(read_column(r, 0, at), "column");
    case 1: return fil_json_list(r->j, POREP_DRG_PARENTS, "drg parent", read_column, r, at + 1);
    default:
        return fil_json_list(r->j, POREP_EXP_PARENTS, "exp parent", read_column, r,
                             at + 1 + POREP_DRG_PARENTS);
    }
}

/* ---- labels ---- */

static cuzk_status read_label_member(void *reader_, uint32_t member, const void *arg)
{
    uint32_t i = *(const uint32_t *)arg;
    reader *r = reader_;

    switch (member) {
    case 0: return read_hashes(r, POREP_PARENTS, r->l->labels + i * POREP_PARENTS, "parent");
    case 1: return read_number(r, r->l->nodes + 2 * i, UINT32_MAX, "layer_index");
    default: return read_number(r, r->l->nodes + 2 * i + 1, UINT64_MAX, "node");
    }
}

static cuzk_status read_label(void *reader_, uint32_t i, const void *arg)
{
    static const char *const names[] = {"parents", "layer_index", "node"};
    reader *r = reader_;

    (void)arg;
    return fil_json_object(r->j, names, 3, read_label_member, r, &i);
}

/* ---- a challenge ---- */

static cuzk_status read_member(void *reader_, uint32_t member, const void *arg)
{
    static const char *const names[] = {"c_x", "drg_parents", "exp_parents"};
    reader *r = reader_;
    const porep_layout *l = r->l;

    (void)arg;
    switch (member) {
    case 0: return porep_at(read_proof(r, &l->d, &r->d), "comm_d path");
    case 1: return porep_at(read_proof(r, &l->r, &r->r), "comm_r_last path");
    case 2: return fil_json_object(r->j, names, 3, read_columns, r, l->columns);
    case 3: return fil_json_list(r->j, l->layers, "labeling proof", read_label, r, NULL);
    default: return porep_at(read_label(r, l->layers, NULL), "encoding proof");
    }
}

cuzk_status porep_challenge_read(json_in *j, const porep_c1 *c1, uint8_t (*hashes)[32],
                                 uint64_t *numbers)
{
    static const char *const names[] = {"comm_d_proofs", "comm_r_last_proof",
                                        "replica_column_proofs", "labeling_proofs",
                                        "encoding_proof"};
    const porep_layout *l = &c1->layout;
    reader r = {.j = j, .l = l, .hashes = hashes};

    r.numbers = numbers;
    r.d.n_levels = l->d_levels;
    for (unsigned i = 0; i < l->d_levels; i++) r.d.levels[i] = 2;
    r.r.n_levels = l->n_levels;
    for (unsigned i = 0; i < l->n_levels; i++) r.r.levels[i] = l->levels[i];
    for (unsigned i = 1; i < 3; i++) r.r.variant += c1->size->arity[i] != 0;
    return fil_json_object(j, names, 5, read_member, &r, NULL);
}
