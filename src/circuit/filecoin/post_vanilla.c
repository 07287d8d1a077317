/*
 * circuit/filecoin/post_vanilla.c - decodes bincode FallbackPoStSectorProofs
 *
 * After this a sector's bytes are a struct with known offsets (bincode.h), and nothing is copied. Does not hash: see
 * post_synth.c.
 *
 * Source: spec/filecoin-formats.md section 4; docs/formats/vanilla-post.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>

#include "circuit/filecoin/post_impl.h"

static cuzk_status read_proofs(post_vanilla *v, bytes_in *in)
{
    TRY(bincode_count(in, v->n_proofs, BINCODE_PROOF_MIN, "proofs"));
    v->proofs = in->pos;
    for (uint32_t n = 0; n < v->n_proofs; n++) {
        cuzk_status st = bincode_read_proof(in, &v->path);

        if (st == CUZK_OK) continue;
        status_add_where("challenge %" PRIu32, n);
        return st;
    }
    return CUZK_OK;
}

static cuzk_status read_sector(post_vanilla *v, const post_input *input)
{
    bytes_in in = bytes_in_of(input->data, input->size);
    uint64_t n_sectors;

    if (input->size == 0) return FAIL(CUZK_EDATA, "empty: 0 bytes");
    TRY(bytes_skip(&in, 8)); /* sector number: post_synth.c compares it */
    TRY(bincode_fr(&in, "comm_r"));
    TRY(bytes_get_u64le(&in, &n_sectors));
    if (n_sectors != 1) return FAIL_DATA(SHAPE, "", "%" PRIu64 " sectors, expected 1", n_sectors);
    TRY(read_proofs(v, &in));
    v->comm_c = in.pos;
    TRY(bincode_fr(&in, "comm_c"));
    v->comm_r_last = in.pos;
    TRY(bincode_fr(&in, "comm_r_last"));
    return bincode_end(&in);
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
    bincode_proof_r(&v->path, statement->size);
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
