/*
 * engine/service_entry.c - how a job is let in: before it is decoded it claims what its request and key will take
 *
 * Whoever was let in holds memory (a decoded request, a key that cannot be given up) and may still wait for the memory of its
 * partitions; so only so many are, in the order of their priority. The rest wait here, and hold nothing.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stddef.h>

#include "base/clock.h"
#include "engine/service.h"

#define SMALL_REQUEST ((uint64_t)64 << 10) /* what decoding takes that maps its pieces */

/* The circuit that the request names, as far as it can be seen before it is decoded. */
static key_entry *expected_key(const svc_job *j)
{
    const svc_request *r = &j->rq;
    const fil_ops *ops;
    const fil_size *size;
    fil_kind kind;

    if (r->kind == CUZK_AGGREGATE) return NULL;
    if (r->kind == CUZK_GROTH16) return keys_circom(j->s->keys, r->circuit);
    if (fil_ops_of(&ops, &kind, svc_cli_kind(r->kind)) != CUZK_OK) return NULL;
    if (r->kind == CUZK_POREP)
        size = fil_size_porep(r->c1_size, r->c1_layers);
    else
        size = r->sector_size == 0 ? fil_size_by_registered((int)r->registered_proof)
                                   : fil_size_by_bytes(r->sector_size);
    return size == NULL ? NULL : keys_filecoin(j->s->keys, kind, size);
}

/* A C1 is read into lists of its own; anything else is used where it lies. */
static uint64_t expected_request(const svc_job *j)
{
    if (j->rq.kind != CUZK_POREP) return SMALL_REQUEST;
    return SMALL_REQUEST + j->payload.size + j->payload.size / 4;
}

void svc_push_job(svc_job *j, stage *to, bool first)
{
    service *s = j->s;
    cuzk_status st;
    unsigned level;

    svc_lock(s);
    level = svc_level(j->priority);
    stage_order(&j->item, first ? STAGE_LEVELS - 1 : level, j->number, j->rq.kind, 0);
    j->item.alone = first;
    j->out++; /* for making up */
    svc_unlock(s);
    st = stage_push(to, &j->item);
    if (st != CUZK_OK) {
        svc_stop_job(j, CUZK_JOB_FAILED, cuzk_last_error());
        svc_leave(j);
    }
    svc_make_up(j, level);
}

static void let_in(ledger_claim *c)
{
    svc_job *j = (svc_job *)((char *)c - offsetof(svc_job, entry));
    service *s = j->s;
    bool command;

    svc_lock(s);
    command = svc_wants_command(j);
    if (command) j->at = JOB_BEFORE_COMMAND;
    svc_unlock(s);
    if (command)
        svc_queue_command(j);
    else
        svc_push_job(j, s->decode, false);
}

void svc_order_entry_locked(svc_job *j)
{
    j->entry = (ledger_claim){.level = svc_level(j->priority),
                              .age = j->number,
                              .entry = true,
                              .alone = j->suspect,
                              .granted = let_in};
    j->entry.bytes[LEDGER_REQUESTS] = expected_request(j);
}

bool svc_shut_out(svc_job *j)
{
    return ledger_withdraw(j->s->ledger, &j->entry) || stage_remove(j->s->decode, &j->item);
}

void svc_enter(svc_job *j)
{
    service *s = j->s;
    key_entry *k = expected_key(j);
    unsigned level;

    svc_lock(s);
    j->out++; /* for making up */
    level = svc_level(j->priority);
    svc_unlock(s);
    if (j->rq.kind ==
        CUZK_AGGREGATE) { /* it takes no key: others need not wait to see what it takes */
        atomic_store_explicit(&j->outlook.need, svc_aggregate_foreseen(j), memory_order_relaxed);
        j->entry.outlook = &j->outlook;
    } else {
        j->entry.outlook = k == NULL ? NULL : &k->outlook;
    }
    if (ledger_claim_now(s->ledger, &j->entry)) let_in(&j->entry);
    svc_make_up(j, level);
}

/* ---- what the ledger asks ---- */

uint64_t svc_reclaim(void *ctx, uint64_t bytes, bool pressing)
{
    service *s = ctx;

    return keys_reclaim(s->keys, bytes, pressing);
}

void svc_overdrawn(void *ctx, uint64_t over)
{
    cuzk_log_field f[] = {
        {"bytes", NULL, (int64_t)over},
        {"message",
         "nothing else goes on, and other jobs' keys and requests are in the way: "
         "work goes on beyond the budget",
         0}};

    svc_log(ctx, CUZK_LOG_WARN, "memory_overdrawn", f, 2);
}
