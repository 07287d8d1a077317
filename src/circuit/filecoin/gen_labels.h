/*
 * circuit/filecoin/gen_labels.h - labels of a made-up sector: of all nodes, or of those that challenges touch
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_GEN_LABELS_H
#define CIRCUIT_FILECOIN_GEN_LABELS_H

#include "circuit/filecoin/gen_impl.h"
#include "circuit/filecoin/porep.h"

typedef struct gen_labels {
    const porep_derived *d;
    mem *m;
    uint32_t layers;
    size_t n;
    uint64_t *nodes;     /* ascending; NULL: all, node i is i */
    bool *challenged;    /* of nodes */
    uint8_t (*rows)[32]; /* of a node `layers`, layer 1 first */
} gen_labels;

/** Labels of all nodes. */
CUZK_STATUS gen_labels_all(gen_labels *out, const porep_derived *d, const fil_gen *g);
/** Of the challenged nodes, from those of their parents, which are random. */
CUZK_STATUS gen_labels_sparse(gen_labels *out, const porep_derived *d, const fil_gen *g);
void gen_labels_clear(gen_labels *l);

/** The labels of a node that is there. */
const uint8_t (*gen_labels_of(const gen_labels *l, uint64_t node))[32];
/** The 37 parents of a node's label. layer: 1 is the first. */
void gen_label_parents(const gen_labels *l, uint8_t out[POREP_PARENTS][32], uint32_t layer,
                       uint32_t node);

#endif
