/*
 * circuit/filecoin/update_vanilla.c - decodes a bincode PartitionProof of a sector update
 *
 * After this the file's bytes are a struct with known offsets (bincode.h), and nothing is copied. Does not hash: see
 * update_synth.c.
 *
 * Source: spec/filecoin-formats.md section 4; docs/formats/vanilla-update.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>

#include "circuit/filecoin/update_impl.h"

static cuzk_status read_one(bytes_in *in, const bincode_proof *p, const char *name)
{
    cuzk_status st = bincode_read_proof(in, p);

    if (st != CUZK_OK) status_add_where("%s", name);
    return st;
}

static cuzk_status read_challenge(bytes_in *in, const update_vanilla *v)
{
    TRY(read_one(in, &v->r, "r_old"));
    TRY(read_one(in, &v->d, "d_new"));
    return read_one(in, &v->r, "r_new");
}

static cuzk_status read_apex(update_vanilla *v, bytes_in *in)
{
    uint32_t n = v->st->shape.n_apex;

    if (n == 0) return CUZK_OK; /* of the Poseidon variant: not even a count */
    TRY(bincode_count(in, n, BINCODE_HASH_SIZE, "apex leafs"));
    v->apex = in->pos;
    for (uint32_t i = 0; i < n; i++) TRY(bincode_fr(in, "apex leaf"));
    return CUZK_OK;
}

static cuzk_status read_partition(update_vanilla *v, bytes_in *in)
{
    if (in->size == 0) return FAIL(CUZK_EDATA, "empty: 0 bytes");
    TRY(bincode_fr(in, "comm_c"));
    TRY(read_apex(v, in));
    TRY(bincode_count(in, v->st->shape.n_challenges, (size_t)3 * BINCODE_PROOF_MIN, "challenges"));
    v->challenges = in->pos;
    for (uint32_t n = 0; n < v->st->shape.n_challenges; n++) {
        cuzk_status st = read_challenge(in, v);

        if (st == CUZK_OK) continue;
        status_add_where("challenge %" PRIu32, n);
        return st;
    }
    return bincode_end(in);
}

cuzk_status update_vanilla_read(update_vanilla **out, const update_statement *st, size_t partition,
                                const uint8_t *data, size_t size, const poseidon_set *ps, mem *m)
{
    bytes_in in = bytes_in_of(data, size);
    cuzk_status status = CUZK_OK;
    update_vanilla *v;

    if (partition >= st->shape.n_partitions)
        return FAIL(CUZK_EINVAL, "partition %zu, there are %" PRIu32, partition,
                    st->shape.n_partitions);
    v = mem_new(m, 1, sizeof *v, &status);
    if (v == NULL) return status;
    *v = (update_vanilla){.m = m, .st = st, .ps = ps, .partition = partition, .data = data};
    bincode_proof_r(&v->r, st->shape.size);
    if (st->shape.kind == FIL_UPDATE)
        bincode_proof_d(&v->d, st->shape.size);
    else
        v->d = v->r;
    v->d_new = v->r.size;
    v->r_new = v->d_new + v->d.size;
    v->challenge_size = v->r_new + v->r.size;
    status = read_partition(v, &in);
    if (status != CUZK_OK) {
        status_add_where("partition %zu", partition);
        update_vanilla_free(v);
        return status;
    }
    *out = v;
    return CUZK_OK;
}

void update_vanilla_free(update_vanilla *v)
{
    if (v != NULL) mem_free(v->m, v);
}
