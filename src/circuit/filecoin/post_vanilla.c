/*
 * circuit/filecoin/post_vanilla.c - decodes bincode FallbackPoStSectorProofs
 *
 * Every count has one right value, so after this a sector's bytes are a struct with known offsets, and nothing is copied.
 * Counts are compared with the bytes that are left before anything else. Does not hash: see post_synth.c.
 *
 * Source: spec/filecoin-formats.md section 4; docs/formats/vanilla-post.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>

#include "base/bytes.h"
#include "circuit/filecoin/post_impl.h"

#define HASH_SIZE 32u
#define ELEMENT_MIN 16u /* a path element: count, index */
#define PROOF_MIN 76u   /* a proof: variant, root, leaf, one count */

/* ---- items ---- */

/* A count that must be `want`; each of the things counted has at least min_size bytes. */
static cuzk_status read_count(bytes_in *in, uint64_t want, size_t min_size, const char *what)
{
    uint64_t n;

    TRY(bytes_get_u64le(in, &n));
    if (n > bytes_left(in) / min_size)
        return FAIL(CUZK_EDATA, "%" PRIu64 " %s announced at offset %zu, %zu bytes left", n, what,
                    in->pos - 8, bytes_left(in));
    if (n != want) return FAIL_DATA(SHAPE, "", "%" PRIu64 " %s, expected %" PRIu64, n, what, want);
    return CUZK_OK;
}

static cuzk_status read_fr(bytes_in *in, const char *what)
{
    const uint8_t *b;

    TRY(bytes_view(in, &b, HASH_SIZE));
    if (!post_is_canonical(b))
        return FAIL(CUZK_EDATA, "%s at offset %zu is not below the modulus", what,
                    in->pos - HASH_SIZE);
    return CUZK_OK;
}

static cuzk_status read_element(post_vanilla *v, bytes_in *in, unsigned level, size_t proof)
{
    uint32_t arity = v->levels[level];
    uint64_t index;

    TRY(read_count(in, arity - 1, HASH_SIZE, "siblings"));
    v->siblings[level] = in->pos - proof;
    for (uint32_t i = 1; i < arity; i++) TRY(read_fr(in, "sibling"));
    v->index[level] = in->pos - proof;
    TRY(bytes_get_u64le(in, &index));
    if (index >= arity)
        return FAIL(CUZK_EDATA, "index %" PRIu64 " at offset %zu, limit %" PRIu32, index,
                    in->pos - 8, arity - 1);
    return CUZK_OK;
}

/* Path elements of levels from..to-1. */
static cuzk_status read_path(post_vanilla *v, bytes_in *in, unsigned from, unsigned to,
                             size_t proof)
{
    TRY(read_count(in, to - from, ELEMENT_MIN, "path elements"));
    for (unsigned l = from; l < to; l++) {
        cuzk_status st = read_element(v, in, l, proof);

        if (st == CUZK_OK) continue;
        status_add_where("path element %u", l);
        return st;
    }
    return CUZK_OK;
}

static cuzk_status read_root_leaf(post_vanilla *v, bytes_in *in, size_t proof)
{
    v->root = in->pos - proof;
    TRY(read_fr(in, "root"));
    v->leaf = in->pos - proof;
    return read_fr(in, "leaf");
}

/* Single: root, leaf, path. Sub and Top: base path, one path of one element for each, root, leaf. */
static cuzk_status read_proof(post_vanilla *v, bytes_in *in)
{
    static const char *const variants[] = {"Single", "Sub", "Top"};
    const uint32_t *arity = v->st->size->arity;
    uint32_t variant, want = arity[2] != 0 ? 2 : arity[1] != 0 ? 1 : 0;
    unsigned n_base = v->n_levels - want;
    size_t proof = in->pos;

    TRY(bytes_get_u32le(in, &variant));
    if (variant > 2)
        return FAIL(CUZK_EDATA, "variant %" PRIu32 " at offset %zu, limit 2", variant, proof);
    if (variant != want)
        return FAIL_DATA(SHAPE, "", "proof of kind %s, expected %s", variants[variant],
                         variants[want]);
    if (want == 0) TRY(read_root_leaf(v, in, proof));
    TRY(read_path(v, in, 0, n_base, proof));
    for (unsigned l = n_base; l < v->n_levels; l++) TRY(read_path(v, in, l, l + 1, proof));
    return want == 0 ? CUZK_OK : read_root_leaf(v, in, proof);
}

static cuzk_status read_proofs(post_vanilla *v, bytes_in *in)
{
    TRY(read_count(in, v->n_proofs, PROOF_MIN, "proofs"));
    v->proofs = in->pos;
    for (uint32_t n = 0; n < v->n_proofs; n++) {
        cuzk_status st = read_proof(v, in);

        if (st != CUZK_OK) {
            status_add_where("challenge %" PRIu32, n);
            return st;
        }
        v->proof_size = (in->pos - v->proofs) / (n + 1);
    }
    return CUZK_OK;
}

static cuzk_status read_sector(post_vanilla *v, const post_input *input)
{
    bytes_in in = bytes_in_of(input->data, input->size);
    uint64_t n_sectors;

    if (input->size == 0) return FAIL(CUZK_EDATA, "empty: 0 bytes");
    TRY(bytes_skip(&in, 8)); /* sector number: post_synth.c compares it */
    TRY(read_fr(&in, "comm_r"));
    TRY(bytes_get_u64le(&in, &n_sectors));
    if (n_sectors != 1) return FAIL_DATA(SHAPE, "", "%" PRIu64 " sectors, expected 1", n_sectors);
    TRY(read_proofs(v, &in));
    v->comm_c = in.pos;
    TRY(read_fr(&in, "comm_c"));
    v->comm_r_last = in.pos;
    TRY(read_fr(&in, "comm_r_last"));
    if (bytes_left(&in) != 0)
        return FAIL(CUZK_EDATA, "%zu trailing %s at offset %zu", bytes_left(&in),
                    bytes_left(&in) == 1 ? "byte" : "bytes", in.pos);
    return CUZK_OK;
}

/* ---- entry points ---- */

cuzk_status post_vanilla_read(post_vanilla **out, const post_statement *statement, size_t partition,
                              const post_input *inputs, size_t n_inputs, const poseidon_set *ps,
                              mem *m)
{
    cuzk_status st = CUZK_OK;
    post_vanilla *v;

    if (partition >= post_partitions(statement))
        return FAIL(CUZK_EINVAL, "partition %zu, there are %zu", partition,
                    post_partitions(statement));
    v = mem_new(m, 1, sizeof *v, &st);
    if (v == NULL) return st;
    v->m = m;
    v->st = statement;
    v->ps = ps;
    v->n_proofs = post_proofs_per_sector(statement);
    v->n_levels = fil_levels(statement->size, v->levels);
    post_partition_sectors(statement, partition, &v->first, &v->n_sectors);
    if (n_inputs != v->n_sectors) {
        st = FAIL_DATA(SHAPE, "inputs", "%zu sector proofs for partition %zu, expected %zu",
                       n_inputs, partition, v->n_sectors);
        goto out;
    }
    v->data = mem_new(m, n_inputs, sizeof *v->data, &st);
    if (v->data == NULL) goto out;
    for (size_t i = 0; i < n_inputs; i++) {
        st = read_sector(v, &inputs[i]);
        if (st != CUZK_OK) {
            status_add_where("sector %zu", v->first + i);
            goto out;
        }
        v->data[i] = inputs[i].data;
    }
    *out = v;
    v = NULL;
out:
    post_vanilla_free(v);
    return st;
}

void post_vanilla_free(post_vanilla *v)
{
    if (v == NULL) return;
    mem_free(v->m, v->data);
    mem_free(v->m, v);
}
