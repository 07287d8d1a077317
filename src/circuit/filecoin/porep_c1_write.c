/*
 * circuit/filecoin/porep_c1_write.c - a C1 output as the JSON that the network's library writes
 *
 * Source: spec/filecoin-formats.md section 2.2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/porep_c1_write.h"

#include <inttypes.h>
#include <string.h>

typedef struct writer {
    bytes_out *o;
    const porep_c1 *c1;
    const uint8_t (*hashes)[32]; /* of the challenge */
    const uint64_t *numbers;
} writer;

static void text(bytes_out *o, const char *s)
{
    bytes_put(o, s, strlen(s));
}

static void put_hash(bytes_out *o, const uint8_t b[32])
{
    char buf[32 * 4 + 2], *p = buf;

    *p++ = '[';
    for (unsigned i = 0; i < 32; i++) {
        if (i > 0) *p++ = ',';
        if (b[i] >= 100) *p++ = (char)('0' + b[i] / 100);
        if (b[i] >= 10) *p++ = (char)('0' + b[i] / 10 % 10);
        *p++ = (char)('0' + b[i] % 10);
    }
    *p++ = ']';
    bytes_put(o, buf, (size_t)(p - buf));
}

static void put_hashes(bytes_out *o, const uint8_t (*h)[32], uint32_t n)
{
    text(o, "[");
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0) text(o, ",");
        put_hash(o, h[i]);
    }
    text(o, "]");
}

/* A PATH of n levels; returns the siblings after it. */
static const uint8_t (*put_path(bytes_out *o, const uint32_t *levels, unsigned n,
                                const uint8_t (*siblings)[32], const uint64_t *indices))[32]
{
    text(o, "{\"path\":[");
    for (unsigned l = 0; l < n; l++) {
        text(o, l > 0 ? ",{\"hashes\":" : "{\"hashes\":");
        put_hashes(o, siblings, levels[l] - 1);
        bytes_printf(o, ",\"index\":%" PRIu64 "}", indices[l]);
        siblings += levels[l] - 1;
    }
    text(o, "]}");
    return siblings;
}

static void put_ends(const writer *w, const porep_path_at *at)
{
    text(w->o, "\"root\":");
    put_hash(w->o, w->hashes[at->root]);
    text(w->o, ",\"leaf\":");
    put_hash(w->o, w->hashes[at->leaf]);
}

/* MP of `n` levels, the last n_tops of them a sub and a top tree */
static void put_proof(const writer *w, const porep_path_at *at, const uint32_t *levels, unsigned n,
                      unsigned n_tops)
{
    static const char *const kinds[] = {"{\"data\":{\"Single\":{", "{\"data\":{\"Sub\":{",
                                        "{\"data\":{\"Top\":{"};
    static const char *const names[] = {"\"base_proof\":", ",\"sub_proof\":", ",\"top_proof\":"};
    const uint8_t(*siblings)[32] = &w->hashes[at->siblings];
    const uint64_t *indices = &w->numbers[at->indices];
    unsigned base = n - n_tops;

    text(w->o, kinds[n_tops]);
    if (n_tops == 0) {
        put_ends(w, at);
        text(w->o, ",\"path\":");
        (void)put_path(w->o, levels, n, siblings, indices);
    } else {
        text(w->o, names[0]);
        siblings = put_path(w->o, levels, base, siblings, indices);
        for (unsigned l = base; l < n; l++) {
            text(w->o, names[l - base + 1]);
            siblings = put_path(w->o, levels + l, 1, siblings, indices + l);
        }
        text(w->o, ",");
        put_ends(w, at);
    }
    text(w->o, "}}}");
}

static unsigned n_tops(const fil_size *s)
{
    return (unsigned)(s->arity[1] != 0) + (s->arity[2] != 0);
}

static void put_column(const writer *w, unsigned k)
{
    const porep_layout *lay = &w->c1->layout;
    const porep_column_at *at = &lay->columns[k];

    bytes_printf(w->o, "{\"column\":{\"index\":%" PRIu64 ",\"rows\":", w->numbers[at->index]);
    put_hashes(w->o, &w->hashes[at->rows], lay->layers);
    text(w->o, ",\"_h\":null},\"inclusion_proof\":");
    put_proof(w, &at->path, lay->levels, lay->n_levels, n_tops(w->c1->size));
    text(w->o, "}");
}

static void put_columns(const writer *w, const char *name, unsigned first, unsigned n)
{
    text(w->o, name);
    for (unsigned k = first; k < first + n; k++) {
        if (k > first) text(w->o, ",");
        put_column(w, k);
    }
    text(w->o, "]");
}

/* Label k: of layer k + 1, or encoding_proof. */
static void put_label(const writer *w, uint32_t k)
{
    const porep_layout *lay = &w->c1->layout;
    const uint64_t *numbers = &w->numbers[lay->nodes + 2 * k];

    text(w->o, "{\"parents\":");
    put_hashes(w->o, &w->hashes[lay->labels + k * POREP_PARENTS], POREP_PARENTS);
    bytes_printf(w->o, ",\"layer_index\":%" PRIu64 ",\"node\":%" PRIu64 "}", numbers[0],
                 numbers[1]);
}

static void put_challenge(const writer *w)
{
    static const uint32_t binary[] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
                                      2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    const porep_layout *lay = &w->c1->layout;

    text(w->o, "{\"comm_d_proofs\":");
    put_proof(w, &lay->d, binary, lay->d_levels, 0);
    text(w->o, ",\"comm_r_last_proof\":");
    put_proof(w, &lay->r, lay->levels, lay->n_levels, n_tops(w->c1->size));
    text(w->o, ",\"replica_column_proofs\":{\"c_x\":");
    put_column(w, 0);
    put_columns(w, ",\"drg_parents\":[", 1, POREP_DRG_PARENTS);
    put_columns(w, ",\"exp_parents\":[", 1 + POREP_DRG_PARENTS, POREP_EXP_PARENTS);
    text(w->o, "},\"labeling_proofs\":[");
    for (uint32_t l = 0; l < lay->layers; l++) {
        if (l > 0) text(w->o, ",");
        put_label(w, l);
    }
    text(w->o, "],\"encoding_proof\":");
    put_label(w, lay->layers);
    text(w->o, "}");
}

static void put_commitment(bytes_out *o, const char *name, const uint8_t b[32])
{
    text(o, name);
    put_hash(o, b);
}

void porep_c1_write(bytes_out *o, const porep_c1 *c1)
{
    writer w = {.o = o, .c1 = c1};
    char name[64], plain[64];

    porep_name(name, c1->registered, c1->size);
    porep_name(plain, 0, c1->size);
    bytes_printf(o, "{\"registered_proof\":\"%s\",\"vanilla_proofs\":{\"%s\":[", name, plain);
    for (uint32_t k = 0; k < c1->n_partitions; k++) {
        text(o, k > 0 ? ",[" : "[");
        for (uint32_t i = 0; i < c1->n_challenges; i++) {
            if (i > 0) text(o, ",");
            w.hashes = porep_hashes(c1, k, i);
            w.numbers = porep_numbers(c1, k, i);
            put_challenge(&w);
        }
        text(o, "]");
    }
    text(o, "]}");
    put_commitment(o, ",\"comm_r\":", c1->comm_r);
    put_commitment(o, ",\"comm_d\":", c1->comm_d);
    put_commitment(o, ",\"replica_id\":", c1->replica_id);
    put_commitment(o, ",\"seed\":", c1->seed);
    put_commitment(o, ",\"ticket\":", c1->ticket);
    text(o, "}");
}
