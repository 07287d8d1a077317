/*
 * fuzz/fuzz_rpc_request.c - a SubmitProofRequest or ProveRequest: any bytes are refused cleanly, or read as protobuf-c reads them
 *
 * The first byte's low bit chooses the message.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "app/rpc_int.h"
#include "wire/proto/proving.pb-c.h"

typedef Cuzk__V1__SubmitProofRequest message;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

static void same(cuzk_bytes a, ProtobufCBinaryData b)
{
    must(a.size == b.len && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0));
}

static void check(const cuzk_request *r, const message *m)
{
    must(strcmp(r->request_id == NULL ? "" : r->request_id, m->request_id) == 0);
    must(strcmp(r->circuit == NULL ? "" : r->circuit, m->circuit) == 0);
    must(r->kind == (uint32_t)m->proof_kind && r->priority == (uint32_t)m->priority);
    must(r->sector_size == m->sector_size && r->registered_proof == m->registered_proof);
    must(r->sector_number == m->sector_number && r->miner_id == m->miner_id);
    must(r->partition_index == m->partition_index);
    same(r->vanilla_proof, m->vanilla_proof);
    same(r->randomness, m->randomness);
    same(r->comm_r_old, m->comm_r_old);
    same(r->comm_r_new, m->comm_r_new);
    same(r->comm_d_new, m->comm_d_new);
    same(r->witness, m->witness);
    same(r->input_json, m->input_json);
    must(r->n_vanilla_proofs == m->n_vanilla_proofs);
    for (size_t i = 0; i < m->n_vanilla_proofs; i++)
        same(r->vanilla_proofs[i], m->vanilla_proofs[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rpc_request q;
    bool prove;

    if (size == 0) return 0;
    prove = (data[0] & 1) != 0;
    data++;
    size--;
    if (rpc_request_read(&q, bytes_in_of(data, size), prove) == CUZK_OK && !prove) {
        message *m = cuzk__v1__submit_proof_request__unpack(NULL, size, data);

        if (m != NULL) { /* it is stricter with numbers of more than 32 bits */
            check(&q.r, m);
            cuzk__v1__submit_proof_request__free_unpacked(m, NULL);
        }
    }
    rpc_request_clear(&q);
    return 0;
}
