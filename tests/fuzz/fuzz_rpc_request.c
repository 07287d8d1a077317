/*
 * fuzz/fuzz_rpc_request.c - SubmitProofRequest, ProveRequest, AggregateProofsRequest: any bytes are refused cleanly, or read as protobuf-c reads them
 *
 * The first byte's low bits choose the message.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "app/rpc_int.h"
#include "wire/proto/proving.pb-c.h"

typedef Cuzk__V1__SubmitProofRequest message;
typedef Cuzk__V1__AggregateProofsRequest aggregation;

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

static void check_sector(const cuzk_sector *s, const Cuzk__V1__AggregateSector *m)
{
    must(s->sector_number == m->sector_number && s->miner_id == m->miner_id);
    same(s->proof, m->proof);
    same(s->ticket, m->ticket);
    same(s->seed, m->seed);
    same(s->comm_d, m->comm_d);
    same(s->comm_r, m->comm_r);
    same(s->comm_r_old, m->comm_r_old);
    same(s->comm_r_new, m->comm_r_new);
    same(s->comm_d_new, m->comm_d_new);
}

static void check_aggregation(const rpc_aggregation *q, const aggregation *m)
{
    const cuzk_request *r = &q->r;

    must(strcmp(r->request_id == NULL ? "" : r->request_id, m->request_id) == 0);
    must(r->aggregate_of == (uint32_t)m->proof_kind && r->priority == (uint32_t)m->priority);
    must(r->sector_size == m->sector_size && r->registered_proof == m->registered_proof);
    must(r->aggregate_version == m->aggregate_version && r->trust_inputs == (m->trust_inputs != 0));
    must(r->deadline_ms == m->deadline_ms && q->timeout_ms == m->timeout_ms);
    must(r->n_sectors == m->n_sectors);
    for (size_t i = 0; i < m->n_sectors; i++) check_sector(&r->sectors[i], m->sectors[i]);
}

static void try_aggregation(const uint8_t *data, size_t size)
{
    rpc_aggregation q;

    if (rpc_aggregation_read(&q, bytes_in_of(data, size)) == CUZK_OK) {
        aggregation *m = cuzk__v1__aggregate_proofs_request__unpack(NULL, size, data);

        if (m != NULL) { /* it is stricter, as below */
            check_aggregation(&q, m);
            cuzk__v1__aggregate_proofs_request__free_unpacked(m, NULL);
        }
    }
    rpc_aggregation_clear(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rpc_request q;
    bool prove;

    if (size == 0) return 0;
    if ((data[0] & 2) != 0) {
        try_aggregation(data + 1, size - 1);
        return 0;
    }
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
