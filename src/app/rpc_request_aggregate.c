/*
 * app/rpc_request_aggregate.c - AggregateProofsRequest, read without copying its proofs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "app/rpc_int.h"
#include "wire/proto_view.h"

#define MAX_SECTORS 65536

/* number, name, where it goes */
#define NUMBERS(X) \
    X(2, "proof_kind", r.aggregate_of) \
    X(3, "sector_size", r.sector_size) \
    X(4, "registered_proof", r.registered_proof) \
    X(5, "priority", r.priority) \
    X(20, "aggregate_version", r.aggregate_version) \
    X(21, "trust_inputs", r.trust_inputs) \
    X(22, "deadline_ms", r.deadline_ms) \
    X(23, "timeout_ms", timeout_ms)
#define SECTOR_NUMBERS(X) \
    X(20, "sector_number", sector_number) \
    X(21, "miner_id", miner_id)
#define SECTOR_BYTES(X) \
    X(1, "proof", proof) \
    X(24, "ticket", ticket) \
    X(25, "seed", seed) \
    X(26, "comm_d", comm_d) \
    X(27, "comm_r", comm_r) \
    X(30, "comm_r_old", comm_r_old) \
    X(31, "comm_r_new", comm_r_new) \
    X(32, "comm_d_new", comm_d_new)

static CUZK_STATUS read_sector_field(cuzk_sector *s, const proto_field *f)
{
    switch (f->number) {
#define NUMBER_CASE(n, name, member) \
    case n: \
        TRY(rpc_field_wire(f, PROTO_VARINT, name)); \
        s->member = (__typeof__(s->member))f->value; \
        return CUZK_OK;
        SECTOR_NUMBERS(NUMBER_CASE)
#undef NUMBER_CASE
#define BYTES_CASE(n, name, member) \
    case n: \
        TRY(rpc_field_wire(f, PROTO_BYTES, name)); \
        s->member = (cuzk_bytes){f->data, f->size}; \
        return CUZK_OK;
        SECTOR_BYTES(BYTES_CASE)
#undef BYTES_CASE
    default: return CUZK_OK; /* of a newer client */
    }
}

static CUZK_STATUS read_sector(cuzk_sector *s, bytes_in in)
{
    proto_field f;

    *s = (cuzk_sector){0};
    while (bytes_left(&in) != 0) {
        TRY(proto_next(&in, &f));
        TRY(read_sector_field(s, &f));
    }
    return CUZK_OK;
}

static CUZK_STATUS add_sector(rpc_aggregation *q, const proto_field *f)
{
    size_t n = q->r.n_sectors;

    TRY(rpc_field_wire(f, PROTO_BYTES, "sectors"));
    if (n == MAX_SECTORS) return FAIL_DATA(LIMIT, "sectors", "sectors: more than %d", MAX_SECTORS);
    if (n == q->cap) {
        size_t cap = q->cap == 0 ? 16 : 2 * q->cap;
        cuzk_sector *more = realloc(q->sectors, cap * sizeof *more);

        if (more == NULL) return FAIL(CUZK_ENOMEM, "sectors: out of memory");
        q->sectors = more;
        q->cap = cap;
    }
    cuzk_status st = read_sector(&q->sectors[n], bytes_in_of(f->data, f->size));
    if (st != CUZK_OK) status_add_where("sectors[%zu]", n);
    TRY(st);
    q->r.n_sectors++;
    return CUZK_OK;
}

static CUZK_STATUS read_field(rpc_aggregation *q, const proto_field *f)
{
    switch (f->number) {
#define NUMBER_CASE(n, name, member) \
    case n: \
        TRY(rpc_field_wire(f, PROTO_VARINT, name)); \
        q->member = (__typeof__(q->member))f->value; \
        return CUZK_OK;
        NUMBERS(NUMBER_CASE)
#undef NUMBER_CASE
    case 1: return rpc_field_text(&q->request_id, f, "request_id");
    case 10: return add_sector(q, f);
    default: return CUZK_OK; /* of a newer client */
    }
}

cuzk_status rpc_aggregation_read(rpc_aggregation *out, bytes_in in)
{
    proto_field f;

    memset(out, 0, sizeof *out);
    out->r.kind = CUZK_AGGREGATE;
    while (bytes_left(&in) != 0) {
        TRY(proto_next(&in, &f));
        TRY(read_field(out, &f));
    }
    out->r.request_id = out->request_id;
    out->r.sectors = out->sectors;
    return CUZK_OK;
}

void rpc_aggregation_clear(rpc_aggregation *q)
{
    free(q->request_id);
    free(q->sectors);
    memset(q, 0, sizeof *q);
}
