/*
 * app/client_aggregate.c - an AggregateProofsRequest from files and options
 *
 * A statement says its kind by the name of its registered proof; all of one request are of one kind, size and registered proof.
 * Whether they hold together otherwise is the daemon's to judge.
 * Source: spec/cli.md, S.json.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/client_aggregate.h"

#include <string.h>

#include "app/client_request.h"

typedef Cuzk__V1__AggregateProofsRequest message;
typedef Cuzk__V1__AggregateSector sector;

#define HASHES CLIENT_SECTOR_HASHES
static const char *const hash_names[HASHES] = {"ticket",     "seed",       "comm_d",    "comm_r",
                                               "comm_r_old", "comm_r_new", "comm_d_new"};

/** A statement that is being read. */
typedef struct reader {
    client_sector *to;
    uint64_t sector_size, registered;
    int kind;
} reader;

static CUZK_STATUS take_registered(reader *r, int kind, const char *name, const char *text)
{
    r->kind = kind;
    return client_number(&r->registered, name, text);
}

static cuzk_status take(void *ctx, const char *name, const char *text, bool *known)
{
    reader *r = ctx;
    sector *s = &r->to->message;
    ProtobufCBinaryData *const to[HASHES] = {&s->ticket,    &s->seed,       &s->comm_d,
                                             &s->comm_r,    &s->comm_r_old, &s->comm_r_new,
                                             &s->comm_d_new};

    if (strcmp(name, "sector_size") == 0) return client_size(&r->sector_size, name, text);
    if (strcmp(name, "miner_id") == 0) return client_number(&s->miner_id, name, text);
    if (strcmp(name, "sector_number") == 0) return client_number(&s->sector_number, name, text);
    if (strcmp(name, "registered_seal_proof") == 0)
        return take_registered(r, CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT, name, text);
    if (strcmp(name, "registered_update_proof") == 0)
        return take_registered(r, CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE, name, text);
    if (strcmp(name, "registered_post_proof") == 0)
        return FAIL_DATA(SHAPE, "statement", "a PoSt's statement: its proofs are not aggregated");
    for (size_t i = 0; i < HASHES; i++) {
        if (strcmp(name, hash_names[i]) != 0) continue;
        if (!hex_decode(r->to->bytes[i], 32, text, strlen(text)))
            return FAIL_DATA(MALFORMED, name, "%s: not 64 hexadecimal digits", name);
        *to[i] = (ProtobufCBinaryData){32, r->to->bytes[i]};
        return CUZK_OK;
    }
    *known = false;
    return CUZK_OK;
}

/** An update's statement has a sector's number too: fields that the kind's message does not take go. */
static void leave_out(sector *s, int kind)
{
    if (kind == CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE) {
        s->sector_number = s->miner_id = 0;
        s->ticket = s->seed = s->comm_d = s->comm_r = (ProtobufCBinaryData){0};
    } else {
        s->comm_r_old = s->comm_r_new = s->comm_d_new = (ProtobufCBinaryData){0};
    }
}

static CUZK_STATUS read_sector(client_aggregate *q, const options *o, size_t i)
{
    client_sector *to = &q->sectors[i];
    reader r = {.to = to};
    message *m = &q->message;
    union {
        const uint8_t *in;
        uint8_t *out;
    } data;

    cuzk__v1__aggregate_sector__init(&to->message);
    q->list[i] = &to->message;
    TRY(client_statement(o->statements[i], take, &r));
    if (r.kind == 0)
        return FAIL_DATA(SHAPE, "statement",
                         "neither registered_seal_proof nor registered_update_proof");
    leave_out(&to->message, r.kind);
    if (i == 0) {
        m->proof_kind = (Cuzk__V1__ProofKind)r.kind;
        m->sector_size = r.sector_size;
        m->registered_proof = r.registered;
    } else if ((int)m->proof_kind != r.kind || m->sector_size != r.sector_size ||
               m->registered_proof != r.registered) {
        return FAIL_DATA(SHAPE, "statement",
                         "of another kind, sector size or registered proof than sector 0");
    }
    TRY(file_map_open(&to->proof, o->proofs[i]));
    data.in = to->proof.data;
    to->message.proof = (ProtobufCBinaryData){to->proof.size, data.out};
    return CUZK_OK;
}

cuzk_status client_aggregate_read(client_aggregate *q, const options *o)
{
    message *m = &q->message;

    memset(q, 0, sizeof *q);
    cuzk__v1__aggregate_proofs_request__init(m);
    if (o->n_statements != o->n_proofs)
        return FAIL_DATA(SHAPE, "statements", "%zu statements and %zu proofs: each has one file",
                         o->n_statements, o->n_proofs);
    q->sectors = calloc(o->n_statements + 1, sizeof *q->sectors);
    q->list = calloc(o->n_statements + 1, sizeof *q->list);
    if (q->sectors == NULL || q->list == NULL) return FAIL(CUZK_ENOMEM, "submit: out of memory");
    q->n = o->n_statements;
    for (size_t i = 0; i < q->n; i++) {
        cuzk_status st = read_sector(q, o, i);

        if (st != CUZK_OK) status_add_where("sector %zu", i);
        TRY(st);
    }
    if (o->request_id != NULL) m->request_id = client_text(o->request_id);
    m->n_sectors = q->n;
    m->sectors = q->list;
    m->aggregate_version = o->aggregate_version;
    m->trust_inputs = o->trust_inputs;
    m->timeout_ms = 1; /* it is waited for by AwaitProof, as every job */
    return client_priority(&m->priority, o->priority);
}

void client_aggregate_clear(client_aggregate *q)
{
    for (size_t i = 0; i < q->n; i++) file_map_close(&q->sectors[i].proof);
    free(q->sectors);
    free(q->list);
    memset(q, 0, sizeof *q);
}
