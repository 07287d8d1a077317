/*
 * engine/service_decode.c - from a request's payload to what partitions are made of
 *
 * Twice: when a job is submitted its payload is brought into the form that is stored (a C1 becomes bincode, a third of its
 * JSON; the rest stays as it came), and when the job is begun, perhaps by another process, it is read from that form. What
 * the request says beside it becomes the statement.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "circuit/filecoin/porep_c1_write.h"
#include "engine/service.h"

#define MIN_POST_INPUT 40 /* sector number, comm_r */

/* ---- into the stored form ---- */

static cuzk_status compact_c1(svc_job *j, const cuzk_request *r, bytes_out *scratch)
{
    porep_shape shape = {.size = fil_size_by_bytes(r->sector_size)};
    porep_c1 *c1;
    cuzk_status st;

    shape.layers = shape.size->porep_layers;
    TRY(porep_c1_read(&c1, r->vanilla_proof.data, r->vanilla_proof.size, &shape, j->m));
    j->rq.c1_registered = c1->registered;
    j->rq.c1_layers = c1->layout.layers;
    j->rq.c1_size = c1->size->bytes;
    j->rq.c1_wrapped = c1->wrapped;
    j->rq.c1_sector = c1->sector_number;
    porep_c1_write_bincode(scratch, c1);
    st = bytes_out_status(scratch);
    porep_c1_free(c1);
    return st;
}

static size_t pieces_of(const cuzk_request *r)
{
    if (r->kind == CUZK_AGGREGATE) return 2 * r->n_sectors;
    return r->kind == CUZK_POREP || r->kind == CUZK_GROTH16 ? 1 : r->n_vanilla_proofs;
}

/* Those that came as they are stored. */
static cuzk_bytes piece(const svc_job *j, const cuzk_request *r, size_t i, const bytes_out *scratch)
{
    if (r->kind == CUZK_POREP) return (cuzk_bytes){scratch->data, scratch->size};
    if (r->kind == CUZK_GROTH16) return j->rq.input_json ? r->input_json : r->witness;
    return r->vanilla_proofs[i];
}

cuzk_status svc_compact(svc_job *j, const cuzk_request *r, cuzk_bytes **pieces, size_t *n,
                        bytes_out *scratch)
{
    size_t count = pieces_of(r);
    cuzk_bytes *p;
    cuzk_status st = CUZK_OK;

    if (r->kind == CUZK_POREP) TRY(compact_c1(j, r, scratch));
    p = calloc(count, sizeof *p);
    j->rq.piece_sizes = calloc(count, sizeof *j->rq.piece_sizes);
    if (p == NULL || j->rq.piece_sizes == NULL) {
        free(p);
        return FAIL(CUZK_ENOMEM, "payload of %zu pieces: out of memory", count);
    }
    if (r->kind == CUZK_AGGREGATE)
        st = svc_aggregate_compact(p, scratch, r);
    else
        for (size_t i = 0; i < count; i++) p[i] = piece(j, r, i, scratch);
    if (st != CUZK_OK) {
        free(p);
        return st;
    }
    for (size_t i = 0; i < count; i++) j->rq.piece_sizes[i] = p[i].size;
    j->rq.n_pieces = (uint32_t)count;
    *pieces = p;
    *n = count;
    return CUZK_OK;
}

/* ---- statements ---- */

static void porep_statement_text(bytes_out *o, const svc_request *r, const porep_c1 *c1)
{
    bytes_printf(
        o,
        "{\"sector_size\":%" PRIu64 ",\"layers\":%" PRIu32 ",\"registered_seal_proof\":%" PRIu64
        ",\"miner_id\":%" PRIu64 ",\"sector_number\":%" PRIu64,
        r->sector_size, c1->layout.layers, r->registered_proof, r->miner_id, r->sector_number);
    svc_put_hash(o, "ticket", c1->ticket);
    svc_put_hash(o, "seed", c1->seed);
    svc_put_hash(o, "comm_d", c1->comm_d);
    svc_put_hash(o, "comm_r", c1->comm_r);
    bytes_printf(o, "}");
}

/* A PoSt's sectors are those whose proofs are given, in their order. */
static cuzk_status post_statement_text(bytes_out *o, const svc_job *j)
{
    const svc_request *r = &j->rq;

    bytes_printf(o,
                 "{\"sector_size\":%" PRIu64 ",\"registered_post_proof\":%" PRIu64
                 ",\"api_version\":null,\"miner_id\":%" PRIu64,
                 r->sector_size, r->registered_proof, r->miner_id);
    svc_put_hash(o, "randomness", r->randomness);
    bytes_printf(o, ",\"sectors\":[");
    for (size_t i = 0; i < j->fil.n_files; i++) {
        const file_map *f = &j->fil.files[i];
        char where[32];

        (void)snprintf(where, sizeof where, "sector %zu", i);
        if (f->size < MIN_POST_INPUT)
            return FAIL_DATA(MALFORMED, where, "vanilla proof of %zu bytes", f->size);
        bytes_printf(o, "%s{\"sector_number\":%" PRIu64, i == 0 ? "" : ",", load_u64le(f->data));
        svc_put_hash(o, "comm_r", f->data + 8);
        bytes_printf(o, "}");
    }
    bytes_printf(o, "]}");
    return CUZK_OK;
}

static void update_statement_text(bytes_out *o, const svc_request *r)
{
    bytes_printf(o, "{\"registered_update_proof\":%" PRIu64, r->registered_proof);
    if (r->sector_size != 0) bytes_printf(o, ",\"sector_size\":%" PRIu64, r->sector_size);
    svc_put_hash(o, "comm_r_old", r->comm_r_old);
    svc_put_hash(o, "comm_r_new", r->comm_r_new);
    svc_put_hash(o, "comm_d_new", r->comm_d_new);
    bytes_printf(o, "}");
}

const char *svc_cli_kind(uint32_t kind)
{
    switch (kind) {
    case CUZK_POREP: return "porep";
    case CUZK_UPDATE: return "update";
    case CUZK_WINDOW: return "window";
    default: return "winning";
    }
}

/* ---- what partitions are made of ---- */

static cuzk_status take_statement(svc_job *j, const bytes_out *text)
{
    TRY(bytes_out_status(text));
    return j->fil.ops->read_statement(&j->fil, text->data, text->size);
}

static cuzk_status decode_porep(svc_job *j, bytes_out *text)
{
    const svc_request *r = &j->rq;
    porep_shape shape = {fil_size_porep(r->c1_size, r->c1_layers), r->c1_layers};
    porep_c1 *c1;
    cuzk_status st;

    if (shape.size == NULL)
        return FAIL(CUZK_EDATA,
                    "stored C1 of %" PRIu64 " bytes and %" PRIu32 " layers: no such size",
                    r->c1_size, r->c1_layers);
    TRY(porep_c1_read_bincode(&c1, j->fil.files[0].data, j->fil.files[0].size, r->c1_registered,
                              &shape, j->m));
    c1->wrapped = r->c1_wrapped;
    c1->sector_number = r->c1_sector;
    porep_statement_text(text, r, c1);
    st = take_statement(j, text);
    if (st != CUZK_OK) {
        porep_c1_free(c1);
        return st;
    }
    return fil_porep_take(&j->fil, c1);
}

static cuzk_status decode_filecoin(svc_job *j)
{
    service *s = j->s;
    bytes_out text;
    cuzk_status st;

    j->fil = (fil_job){.env = &j->env,
                       .cv = curve_get(CURVE_ID_BLS12_381, s->e->table),
                       .files = j->fil.files,
                       .n_files = j->fil.n_files,
                       .redundant = {false, j->env.warn, j->env.warn_ctx},
                       .ps = s->ps};
    TRY(fil_ops_of(&j->fil.ops, &j->fil.kind, svc_cli_kind(j->rq.kind)));
    bytes_out_init(&text, j->m);
    if (j->rq.kind == CUZK_POREP) {
        st = decode_porep(j, &text);
    } else {
        if (j->rq.kind == CUZK_UPDATE) {
            update_statement_text(&text, &j->rq);
            st = CUZK_OK;
        } else {
            st = post_statement_text(&text, j);
        }
        if (st == CUZK_OK) st = take_statement(j, &text);
    }
    bytes_out_clear(&text);
    if (st == CUZK_OK && j->rq.kind == CUZK_UPDATE && j->fil.n_files != j->fil.n_partitions)
        st = FAIL_DATA(SHAPE, "vanilla_proofs", "%zu vanilla proofs, the update has %zu partitions",
                       j->fil.n_files, j->fil.n_partitions);
    return st;
}

/* The payload's pieces, as files that lie in memory. */
static cuzk_status open_pieces(svc_job *j)
{
    const svc_request *r = &j->rq;
    const uint8_t *at = j->own;
    uint64_t left;
    cuzk_status st;

    if (at == NULL) {
        TRY(store_payload_map(j->s->store, &j->payload, &j->map));
        at = j->map.data;
    }
    left = j->payload.size;
    j->fil.files = mem_new(j->m, r->n_pieces, sizeof *j->fil.files, &st);
    if (j->fil.files == NULL) return st;
    for (uint32_t i = 0; i < r->n_pieces; i++) {
        if (r->piece_sizes[i] > left)
            return FAIL(CUZK_EDATA, "stored payload of %" PRIu64 " bytes ends in piece %" PRIu32,
                        j->payload.size, i);
        j->fil.files[i] = (file_map){.data = at, .size = (size_t)r->piece_sizes[i]};
        at += r->piece_sizes[i];
        left -= r->piece_sizes[i];
    }
    j->fil.n_files = r->n_pieces;
    return CUZK_OK;
}

static cuzk_status new_parts(svc_job *j, size_t n)
{
    svc_part *parts = calloc(n, sizeof *parts);

    if (parts == NULL) return FAIL(CUZK_ENOMEM, "job of %zu partitions: out of memory", n);
    for (size_t i = 0; i < n; i++) {
        parts[i].job = j;
        parts[i].index = (uint32_t)i;
    }
    svc_lock(j->s);
    VERIFY(j->parts == NULL);
    j->parts = parts;
    j->n_parts = (uint32_t)n;
    for (uint32_t k = 0; k < j->n_kept; k++) { /* proved before a restart */
        svc_kept *kept = &j->kept[k];

        if (kept->index >= n || parts[kept->index].state == PART_DONE) continue;
        parts[kept->index].proof = kept->proof;
        parts[kept->index].proof_size = kept->size;
        parts[kept->index].state = PART_DONE;
        kept->proof = NULL;
        j->n_done++;
    }
    svc_unlock(j->s);
    return CUZK_OK;
}

static cuzk_status decode(svc_job *j, key_entry **key)
{
    service *s = j->s;

    TRY(open_pieces(j));
    if (j->rq.kind == CUZK_AGGREGATE) { /* takes no proving key */
        TRY(svc_aggregate_decode(j));
        return new_parts(j, 1);
    }
    if (j->rq.kind == CUZK_GROTH16) {
        *key = keys_circom(s->keys, j->rq.circuit);
        return *key == NULL ? CUZK_EINVAL : new_parts(j, 1);
    }
    TRY(decode_filecoin(j));
    if (svc_is_aggregate(j)) TRY(svc_check_powers(j));
    *key = keys_filecoin(s->keys, j->fil.kind, j->fil.size);
    if (*key == NULL) return CUZK_ENOMEM;
    return new_parts(j, j->fil.n_partitions);
}

void svc_undecode(svc_job *j)
{
    mem *m = j->m;

    if (j->fil.ops != NULL) j->fil.ops->clear(&j->fil);
    mem_free(m, j->fil.files);
    j->fil = (fil_job){0};
    file_map_close(&j->map);
    j->map = (file_map){0};
}

/* The stage: decodes a job, then asks for its key, if it takes one. */
void svc_decode(void *ctx, stage_item *it)
{
    service *s = ctx;
    svc_job *j = (svc_job *)((char *)it - offsetof(svc_job, item));
    key_entry *key = NULL;
    svc_account account = svc_account_begin(j);
    cuzk_status st;
    bool stopping;
    unsigned level;
    span sp;

    svc_lock(s);
    stopping = j->stopping;
    if (!stopping) {
        j->at = JOB_DECODING;
        j->decode_from = clock_ns();
        job_clock_leave(&j->clock, PHASE_QUEUE, clock_ns());
        job_clock_enter(&j->clock, PHASE_DECODE, clock_ns());
    }
    svc_unlock(s);
    if (stopping) {
        svc_leave(j);
        return;
    }
    j->at_work = at_work_begin(s->at_work, j->job_id, false);
    span_context(j->number, -1);
    sp = span_open(SPAN_DECODE);
    fault_stall("decode");
    st = decode(j, &key);
    span_close(&sp);
    ledger_settle(s->ledger, &j->entry, LEDGER_REQUESTS, mem_used(j->m));
    svc_account_end(s, "decode", &account);
    svc_lock(s);
    job_clock_leave(&j->clock, PHASE_DECODE, clock_ns());
    job_clock_enter(&j->clock, PHASE_KEY, clock_ns());
    j->at = JOB_IN_KEY;
    j->decode_to = clock_ns();
    stopping = j->stopping;
    level = svc_level(j->priority);
    j->out++; /* for making up */
    svc_unlock(s);
    if (st != CUZK_OK) {
        svc_stop_job(j, CUZK_JOB_FAILED, cuzk_last_error());
        stopping = true;
    }
    fault_stall("ask for key");
    if (stopping) {
        svc_leave(j);
    } else {
        j->key.level = level;
        j->key.age = j->number;
        j->key.ready = svc_key_ready;
        if (key == NULL || key_acquire(s->keys, &j->key, key)) svc_key_ready(&j->key, CUZK_OK);
    }
    svc_make_up(j, level);
}
