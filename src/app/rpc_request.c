/*
 * app/rpc_request.c - SubmitProofRequest and ProveRequest, read without copying their proofs
 *
 * A later field of a number replaces an earlier one, and a second `submit` is read over the first, as protobuf merges messages.
 * Source: spec/proving-api.md section 1.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "app/rpc_int.h"
#include "base/utf8.h"
#include "wire/proto_view.h"

#define MAX_PROOFS 65536
#define MAX_NAME 4096

/* number, name, where it goes */
#define NUMBERS(X) \
    X(2, "proof_kind", kind) \
    X(3, "sector_size", sector_size) \
    X(4, "registered_proof", registered_proof) \
    X(5, "priority", priority) \
    X(20, "sector_number", sector_number) \
    X(21, "miner_id", miner_id) \
    X(23, "partition_index", partition_index)
#define BYTES(X) \
    X(10, "vanilla_proof", vanilla_proof) \
    X(22, "randomness", randomness) \
    X(30, "comm_r_old", comm_r_old) \
    X(31, "comm_r_new", comm_r_new) \
    X(32, "comm_d_new", comm_d_new) \
    X(101, "witness", witness) \
    X(102, "input_json", input_json)

cuzk_status rpc_field_wire(const proto_field *f, unsigned wire, const char *name)
{
    if (f->wire == wire) return CUZK_OK;
    return FAIL_DATA(MALFORMED, name, "%s: wire type %u, wanted %u", name, (unsigned)f->wire, wire);
}

static bool is_utf8(const uint8_t *p, size_t n)
{
    for (size_t k; n != 0; p += k, n -= k) {
        k = utf8_sequence(p, n);
        if (k == 0) return false;
    }
    return true;
}

static CUZK_STATUS check_text(const proto_field *f, const char *name)
{
    TRY(rpc_field_wire(f, PROTO_BYTES, name));
    if ((f->size != 0 && memchr(f->data, 0, f->size) != NULL) || !is_utf8(f->data, f->size))
        return FAIL_DATA(MALFORMED, name, "%s: not UTF-8 text without zero bytes", name);
    return CUZK_OK;
}

cuzk_status rpc_text_check(bytes_in in, const char *name)
{
    proto_field f;

    while (bytes_left(&in) != 0) {
        TRY(proto_next(&in, &f));
        if (f.number == 1) TRY(check_text(&f, name));
    }
    return CUZK_OK;
}

cuzk_status rpc_field_text(char **out, const proto_field *f, const char *name)
{
    TRY(check_text(f, name));
    if (f->size > MAX_NAME)
        return FAIL_DATA(LIMIT, name, "%s: %zu bytes, limit %d", name, f->size, MAX_NAME);
    free(*out);
    *out = strndup((const char *)f->data, f->size);
    return *out == NULL ? FAIL(CUZK_ENOMEM, "%s: out of memory", name) : CUZK_OK;
}

static CUZK_STATUS add_proof(rpc_request *q, const proto_field *f)
{
    TRY(rpc_field_wire(f, PROTO_BYTES, "vanilla_proofs"));
    if (q->r.n_vanilla_proofs == MAX_PROOFS)
        return FAIL_DATA(LIMIT, "vanilla_proofs", "vanilla_proofs: more than %d", MAX_PROOFS);
    if (q->r.n_vanilla_proofs == q->cap) {
        size_t cap = q->cap == 0 ? 16 : 2 * q->cap;
        cuzk_bytes *more = realloc(q->proofs, cap * sizeof *more);

        if (more == NULL) return FAIL(CUZK_ENOMEM, "vanilla_proofs: out of memory");
        q->proofs = more;
        q->cap = cap;
    }
    q->proofs[q->r.n_vanilla_proofs++] = (cuzk_bytes){f->data, f->size};
    return CUZK_OK;
}

static CUZK_STATUS read_field(rpc_request *q, const proto_field *f)
{
    cuzk_request *r = &q->r;

    switch (f->number) {
#define NUMBER_CASE(n, name, member) \
    case n: \
        TRY(rpc_field_wire(f, PROTO_VARINT, name)); \
        r->member = (__typeof__(r->member))f->value; \
        return CUZK_OK;
        NUMBERS(NUMBER_CASE)
#define BYTES_CASE(n, name, member) \
    case n: \
        TRY(rpc_field_wire(f, PROTO_BYTES, name)); \
        r->member = (cuzk_bytes){f->data, f->size}; \
        return CUZK_OK;
        BYTES(BYTES_CASE)
    case 1: return rpc_field_text(&q->request_id, f, "request_id");
    case 11: return add_proof(q, f);
    case 100: return rpc_field_text(&q->circuit, f, "circuit");
    default: return CUZK_OK; /* of a newer client */
    }
}

static CUZK_STATUS read_submit(rpc_request *q, bytes_in in)
{
    proto_field f;

    while (bytes_left(&in) != 0) {
        TRY(proto_next(&in, &f));
        TRY(read_field(q, &f));
    }
    return CUZK_OK;
}

cuzk_status rpc_request_read(rpc_request *out, bytes_in in, bool prove)
{
    proto_field f;

    memset(out, 0, sizeof *out);
    if (!prove) TRY(read_submit(out, in));
    while (prove && bytes_left(&in) != 0) {
        TRY(proto_next(&in, &f));
        if (f.number != 1) continue;
        TRY(rpc_field_wire(&f, PROTO_BYTES, "submit"));
        out->has_submit = true;
        TRY(read_submit(out, bytes_in_of(f.data, f.size)));
    }
    out->r.request_id = out->request_id;
    out->r.circuit = out->circuit;
    out->r.vanilla_proofs = out->proofs;
    return CUZK_OK;
}

void rpc_request_clear(rpc_request *q)
{
    free(q->request_id);
    free(q->circuit);
    free(q->proofs);
    memset(q, 0, sizeof *q);
}
