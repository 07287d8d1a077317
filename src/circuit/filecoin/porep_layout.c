/*
 * circuit/filecoin/porep_layout.c - shapes and names of PoReps: registered numbers, partitions, a challenge's layout
 *
 * Source: spec/filecoin-formats.md sections 1.1, 1.4, 2.2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>

#include "circuit/filecoin/porep.h"

#define SIZES_PER_BLOCK 5
#define LARGE_NODES_LOG 30 /* 32 GiB */

void porep_name(char out[64], uint32_t registered, const fil_size *s)
{
    static const char *const blocks[] = {"V1", "V1_1", "V1_1_Feat_SyntheticPoRep",
                                         "V1_2_Feat_NonInteractivePoRep"};
    unsigned log = s->bytes >> 30 != 0 ? 30 : s->bytes >> 20 != 0 ? 20 : 10;
    const char *unit = log == 30 ? "GiB" : log == 20 ? "MiB" : "KiB";

    (void)snprintf(out, 64, "StackedDrg%u%s%s", (unsigned)(s->bytes >> log), unit,
                   blocks[registered / SIZES_PER_BLOCK]);
}

porep_feature porep_feature_of(uint32_t registered)
{
    switch (registered / SIZES_PER_BLOCK) {
    case 2: return POREP_SYNTHETIC;
    case 3: return POREP_NON_INTERACTIVE;
    default: return POREP_INTERACTIVE;
    }
}

uint32_t porep_partitions(const fil_size *s, porep_feature f)
{
    bool large = s->nodes_log >= LARGE_NODES_LOG, alone = f == POREP_NON_INTERACTIVE;
    uint32_t least = large ? (alone ? 2253 : 176) : (alone ? 26 : 2); /* challenges of a proof */

    return (least + s->porep_challenges - 1) / s->porep_challenges;
}

/* ---- layout ---- */

static void place_path(porep_layout *l, porep_path_at *at, unsigned n_levels, uint32_t n_siblings)
{
    at->root = l->n_hashes;
    at->leaf = l->n_hashes + 1;
    at->siblings = l->n_hashes + 2;
    l->n_hashes += 2 + n_siblings;
    at->indices = l->n_numbers;
    l->n_numbers += n_levels;
}

void porep_layout_of(porep_layout *out, const fil_size *s, uint32_t layers)
{
    uint32_t n_siblings = 0;

    *out = (porep_layout){.layers = layers, .d_levels = s->nodes_log};
    out->n_levels = fil_levels(s, out->levels);
    for (unsigned i = 0; i < out->n_levels; i++) n_siblings += out->levels[i] - 1;

    place_path(out, &out->d, out->d_levels, out->d_levels);
    place_path(out, &out->r, out->n_levels, n_siblings);
    for (unsigned i = 0; i < sizeof out->columns / sizeof out->columns[0]; i++) {
        porep_column_at *c = &out->columns[i];

        c->rows = out->n_hashes;
        out->n_hashes += layers;
        c->index = out->n_numbers++;
        place_path(out, &c->path, out->n_levels, n_siblings);
    }
    out->labels = out->n_hashes;
    out->n_hashes += POREP_PARENTS * (layers + 1);
    out->nodes = out->n_numbers;
    out->n_numbers += 2 * (layers + 1);
}
