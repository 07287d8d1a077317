/*
 * engine/bench_request.c - a request of generated inputs: the statement's fields in their places of the message
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench_request.h"

#include <string.h>

#include "base/hash.h"
#include "base/json.h"

#define MAX_NAME 64

static const uint32_t kinds[FIL_KINDS] = {[FIL_POREP] = CUZK_POREP,
                                          [FIL_WINNING] = CUZK_WINNING,
                                          [FIL_WINDOW] = CUZK_WINDOW,
                                          [FIL_UPDATE] = CUZK_UPDATE};

static uint64_t *number_of(cuzk_request *r, const char *name)
{
    if (strncmp(name, "registered_", 11) == 0) return &r->registered_proof;
    if (strcmp(name, "sector_size") == 0) return &r->sector_size;
    if (strcmp(name, "sector_number") == 0) return &r->sector_number;
    return strcmp(name, "miner_id") == 0 ? &r->miner_id : NULL;
}

/* The value of a member; what the message has no place for is in the inputs too. */
static cuzk_status take_member(bench_request *q, json_in *in, const char *name)
{
    static const char *const names[] = {"randomness", "comm_r_old", "comm_r_new", "comm_d_new"};
    cuzk_bytes *const to[] = {&q->r.randomness, &q->r.comm_r_old, &q->r.comm_r_new,
                              &q->r.comm_d_new};
    uint64_t *number = number_of(&q->r, name);
    json_token t;

    TRY(json_next(in, &t));
    if (number != NULL && t.type == JSON_NUMBER) return json_u64(&t, UINT64_MAX, number, name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0 || t.type != JSON_STRING) continue;
        if (!hex_decode(q->bytes[i], 32, t.text, t.len))
            return FAIL_DATA(MALFORMED, name, "%s: not 64 hexadecimal digits", name);
        *to[i] = (cuzk_bytes){q->bytes[i], 32};
    }
    return json_skip_rest(in, &t);
}

static cuzk_status take_statement(bench_request *q, const file_map *f)
{
    json_in in;
    json_token key;
    char name[MAX_NAME];
    size_t n;

    TRY(json_init(&in, f->data, f->size));
    TRY(json_expect(&in, JSON_OBJECT, NULL, "statement"));
    for (;;) {
        TRY(json_next(&in, &key));
        if (key.type != JSON_KEY) return CUZK_OK;
        if (key.len >= sizeof name)
            return FAIL_DATA(MALFORMED, "statement", "a name of %zu bytes", key.len);
        TRY(json_unescape(&key, name, &n));
        TRY(take_member(q, &in, name));
    }
}

static cuzk_status take_files(bench_request *q)
{
    const fil_job *f = &q->in.f;
    cuzk_status st;

    q->pieces = mem_new(f->env->m, f->n_files, sizeof *q->pieces, &st);
    if (q->pieces == NULL) return st;
    for (size_t i = 0; i < f->n_files; i++)
        q->pieces[i] = (cuzk_bytes){f->files[i].data, f->files[i].size};
    if (f->kind == FIL_POREP) {
        q->r.vanilla_proof = q->pieces[0];
    } else {
        q->r.vanilla_proofs = q->pieces;
        q->r.n_vanilla_proofs = f->n_files;
    }
    return CUZK_OK;
}

cuzk_status bench_request_open(bench_request *q, job *j, const char *circuit)
{
    TRY(bench_inputs_open(&q->in, j, circuit));
    q->r.kind = kinds[q->in.f.kind];
    if (q->r.kind == 0)
        return FAIL(CUZK_EINVAL, "the service has no proofs of circuit %.40s", circuit);
    TRY(bench_inputs_make(&q->in));
    TRY(take_files(q));
    return take_statement(q, &q->in.statement);
}

void bench_request_close(bench_request *q)
{
    if (q->in.f.env == NULL) return; /* never opened */
    mem_free(q->in.f.env->m, q->pieces);
    bench_inputs_close(&q->in);
}
