/*
 * circuit/filecoin/bincode.c - what the bincode vanilla proofs of all kinds are made of
 *
 * Source: spec/filecoin-formats.md section 4
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/bincode.h"

#include <inttypes.h>

#include "base/u128.h"
#include "circuit/filecoin/element.h"

#define ELEMENT_MIN 16u /* bytes of a path element: count, index */
#define COUNT_SIZE 8u
#define INDEX_SIZE 8u

/* ---- shapes ---- */

static uint32_t place_path(bincode_proof *p, unsigned from, unsigned to, uint32_t at)
{
    at += COUNT_SIZE;
    for (unsigned l = from; l < to; l++) {
        p->siblings[l] = at + COUNT_SIZE;
        p->index[l] = p->siblings[l] + (p->levels[l] - 1) * BINCODE_HASH_SIZE;
        at = p->index[l] + INDEX_SIZE;
    }
    return at;
}

/* Single: root, leaf, path. Sub and Top: base path, one path of one element for each tree above, root, leaf. */
static void place(bincode_proof *p)
{
    unsigned n_base = p->n_levels - p->variant;
    uint32_t at = 4; /* the variant */

    if (p->variant == 0) {
        p->root = at;
        at += 2 * BINCODE_HASH_SIZE;
    }
    at = place_path(p, 0, n_base, at);
    for (unsigned l = n_base; l < p->n_levels; l++) at = place_path(p, l, l + 1, at);
    if (p->variant != 0) {
        p->root = at;
        at += 2 * BINCODE_HASH_SIZE;
    }
    p->leaf = p->root + BINCODE_HASH_SIZE;
    p->size = at;
}

void bincode_proof_r(bincode_proof *out, const fil_size *s)
{
    *out = (bincode_proof){.variant = s->arity[2] != 0 ? 2 : s->arity[1] != 0 ? 1 : 0};
    out->n_levels = fil_levels(s, out->levels);
    place(out);
}

void bincode_proof_d(bincode_proof *out, const fil_size *s)
{
    *out = (bincode_proof){.n_levels = s->nodes_log};
    for (unsigned l = 0; l < out->n_levels; l++) out->levels[l] = 2;
    place(out);
}

uint64_t bincode_leaf_index(const bincode_proof *p, const uint8_t *proof)
{
    uint64_t index = 0;
    unsigned shift = 0;

    for (unsigned l = 0; l < p->n_levels; l++) {
        index |= (uint64_t)bincode_index(p, proof, l) << shift;
        shift += u64_bits(p->levels[l]) - 1;
    }
    return index;
}

/* ---- readers ---- */

cuzk_status bincode_count(bytes_in *in, uint64_t want, size_t min_size, const char *what)
{
    uint64_t n;

    TRY(bytes_get_u64le(in, &n));
    if (n == want && n > bytes_left(in) / min_size)
        return FAIL(CUZK_EDATA,
                    "end of input at offset %zu, among %" PRIu64 " %s from offset %zu on", in->size,
                    n, what, in->pos);
    if (n > bytes_left(in) / min_size)
        return FAIL(CUZK_EDATA, "%" PRIu64 " %s announced at offset %zu, %zu bytes left", n, what,
                    in->pos - COUNT_SIZE, bytes_left(in));
    if (n != want) return FAIL_DATA(SHAPE, "", "%" PRIu64 " %s, expected %" PRIu64, n, what, want);
    return CUZK_OK;
}

cuzk_status bincode_fr(bytes_in *in, const char *what)
{
    const uint8_t *b;

    TRY(bytes_view(in, &b, BINCODE_HASH_SIZE));
    if (!fil_is_canonical(b))
        return FAIL(CUZK_EDATA, "%s at offset %zu is not below the modulus", what,
                    in->pos - BINCODE_HASH_SIZE);
    return CUZK_OK;
}

static cuzk_status read_element(bytes_in *in, uint32_t arity)
{
    uint64_t index;

    TRY(bincode_count(in, arity - 1, BINCODE_HASH_SIZE, "siblings"));
    for (uint32_t i = 1; i < arity; i++) TRY(bincode_fr(in, "sibling"));
    TRY(bytes_get_u64le(in, &index));
    if (index >= arity)
        return FAIL(CUZK_EDATA, "index %" PRIu64 " at offset %zu, limit %" PRIu32, index,
                    in->pos - INDEX_SIZE, arity - 1);
    return CUZK_OK;
}

/* Path elements of levels from..to-1. */
static cuzk_status read_path(bytes_in *in, const bincode_proof *p, unsigned from, unsigned to)
{
    TRY(bincode_count(in, to - from, ELEMENT_MIN, "path elements"));
    for (unsigned l = from; l < to; l++) {
        cuzk_status st = read_element(in, p->levels[l]);

        if (st == CUZK_OK) continue;
        status_add_where("path element %u", l);
        return st;
    }
    return CUZK_OK;
}

static cuzk_status read_root_leaf(bytes_in *in)
{
    TRY(bincode_fr(in, "root"));
    return bincode_fr(in, "leaf");
}

cuzk_status bincode_read_proof(bytes_in *in, const bincode_proof *p)
{
    static const char *const variants[] = {"Single", "Sub", "Top"};
    unsigned n_base = p->n_levels - p->variant;
    size_t start = in->pos;
    uint32_t variant;

    TRY(bytes_get_u32le(in, &variant));
    if (variant > 2)
        return FAIL(CUZK_EDATA, "variant %" PRIu32 " at offset %zu, limit 2", variant, start);
    if (variant != p->variant)
        return FAIL_DATA(SHAPE, "", "proof of kind %s, expected %s", variants[variant],
                         variants[p->variant]);
    if (variant == 0) TRY(read_root_leaf(in));
    TRY(read_path(in, p, 0, n_base));
    for (unsigned l = n_base; l < p->n_levels; l++) TRY(read_path(in, p, l, l + 1));
    if (variant != 0) TRY(read_root_leaf(in));
    VERIFY(in->pos - start == p->size);
    return CUZK_OK;
}

cuzk_status bincode_end(const bytes_in *in)
{
    if (bytes_left(in) == 0) return CUZK_OK;
    return FAIL(CUZK_EDATA, "%zu trailing %s at offset %zu", bytes_left(in),
                bytes_left(in) == 1 ? "byte" : "bytes", in->pos);
}
