/*
 * circuit/filecoin/porep_places.h - which instance of a PoRep's system is what; for its circuit and its witness
 *
 * A system is one instance "partition" (replica_id, comm_d, comm_r, comm_r_last, comm_c, comm_r's hash), then for each challenge:
 *
 *   leaf                     data_leaf
 *   d                        its inclusion in tree D
 *   columns + 14 times:      "column" (rows and hash), its inclusion in tree C; the DRG parents, then the expander parents
 *   challenge                64 bits, public
 *   layers, for each:        "bits" for each parent (6, from the second layer on 14), 20 compressions, "label"
 *   encode                   label + data
 *   r                        its inclusion in tree R
 *   labels, c                the hash of the labels, its inclusion in tree C
 *
 * Source: spec/filecoin-circuits.md section 10
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_POREP_PLACES_H
#define CIRCUIT_FILECOIN_POREP_PLACES_H

#include "circuit/filecoin/porep.h"

#define POREP_COLUMNS \
    (POREP_DRG_PARENTS + POREP_EXP_PARENTS) /* of a challenge, its own not counted */
#define POREP_LABEL_BLOCKS 20
#define POREP_LABEL_BYTES (64 + 32 * POREP_PARENTS)

/** Instances of one challenge, counted from its first. */
typedef struct porep_places {
    uint32_t leaf, d, columns, challenge, layers, encode, r, labels, c;
    uint32_t column_stride;
    uint32_t n; /* of a challenge */
} porep_places;

void porep_places_of(porep_places *out, const porep_layout *l);

/** Columns whose rows a label of this layer (from 1) is made of: all of the DRG parents', then of the expander parents'. */
static inline unsigned porep_label_columns(uint32_t layer)
{
    return layer == 1 ? POREP_DRG_PARENTS : POREP_COLUMNS;
}
/** Which of them parent i < 37 is. */
static inline unsigned porep_label_column(uint32_t layer, unsigned i)
{
    return i % porep_label_columns(layer);
}
/** Row (from 0) of column k that a label of this layer takes. */
static inline uint32_t porep_label_row(uint32_t layer, unsigned k)
{
    return k < POREP_DRG_PARENTS ? layer - 1 : layer - 2;
}
/** First instance of a layer, within its challenge. */
static inline uint32_t porep_layer_place(const porep_places *p, uint32_t layer)
{
    uint32_t own = POREP_LABEL_BLOCKS + 1;

    if (layer == 1) return p->layers;
    return p->layers + POREP_DRG_PARENTS + own + (layer - 2) * (POREP_COLUMNS + own);
}

/** porep_system_new for any shape of trees; of the layout, levels and layers count. */
CUZK_STATUS porep_system_of(r1cs_system **out, const poseidon_set *ps, const char *name,
                            const porep_layout *l, uint32_t n_challenges, mem *m);

#endif
