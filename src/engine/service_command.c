/*
 * engine/service_command.c - the stage before a job is let in: the witness command of an input.json is run
 *
 * The command is another program, and may take as long as it is given: it has threads of its own here, its job holds no memory
 * and no place that another one waits for. Witnesses that wait to be used are held in memory, and charged; when those of a level
 * and above are many no further command of it and below is begun. One that is suspected (at_work.h) is let in before: it is to
 * be alone, and nothing holds its command, since it keeps out those whose witnesses wait.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "engine/service.h"

#define MADE_MAX \
    ((uint64_t)1 << 30) /* bytes of witnesses that wait, until no further command is begun */

bool svc_wants_command(const svc_job *j)
{
    return j->rq.kind == CUZK_GROTH16 && j->rq.input_json && j->made == NULL;
}

/* The levels below which no command begins: those of which, with what is above, too much waits. */
static unsigned full_below(const uint64_t made[STAGE_LEVELS])
{
    uint64_t sum = 0;

    for (unsigned l = STAGE_LEVELS; l-- > 0;) {
        sum += made[l];
        if (sum > MADE_MAX) return l + 1;
    }
    return 0;
}

/* So many bytes more (modulo 2^64: less) are there. */
static void count_made(service *s, unsigned level, uint64_t bytes)
{
    ledger_charge(s->ledger, LEDGER_REQUESTS, (int64_t)bytes);
    svc_lock(s);
    s->made_bytes[level] += bytes;
    stage_hold_below(s->witness, full_below(s->made_bytes));
    svc_unlock(s);
}

void svc_drop_witness(svc_job *j)
{
    uint64_t size = j->made_size;

    if (j->made == NULL) return;
    explicit_bzero(j->made, j->made_size);
    free(j->made);
    j->made = NULL;
    j->made_size = 0;
    count_made(j->s, j->made_level, 0 - size);
}

static cuzk_status run(svc_job *j, const key_entry *k)
{
    service *s = j->s;
    file_map map = {0};
    const uint8_t *input = j->own;
    cuzk_status st = CUZK_OK;
    span sp;

    if (input == NULL) {
        st = store_payload_map(s->store, &j->payload, &map);
        input = map.data;
    }
    TRY(st);
    sp = span_open(SPAN_WITNESS_COMMAND);
    fault_stall("witness command");
    st = svc_run_witness_command(k->witness_command, input, (size_t)j->payload.size, k->max_witness,
                                 j->cancel, &j->made, &j->made_size);
    span_close(&sp);
    file_map_close(&map);
    if (st == CUZK_OK) {
        svc_lock(s);
        j->made_level = svc_level(j->priority);
        svc_unlock(s);
        count_made(s, j->made_level, j->made_size);
    }
    return st;
}

static cuzk_status make_witness(svc_job *j)
{
    const key_entry *k = keys_circom(j->s->keys, j->rq.circuit); /* entries stay until the end */

    if (k == NULL) return CUZK_EINVAL;
    if (k->witness_command == NULL)
        return FAIL_DATA(MALFORMED, "input_json",
                         "circuit %s has no witness_command: give a .wtns witness", k->name);
    return run(j, k);
}

/* False: the job is being stopped. */
static bool begin(svc_job *j)
{
    service *s = j->s;
    uint64_t now = clock_ns();
    bool go;

    svc_lock(s);
    go = !j->stopping;
    if (go) {
        j->at = JOB_IN_COMMAND;
        j->started = now;
        svc_move(j, CUZK_JOB_RUNNING);
        job_clock_leave(&j->clock, PHASE_QUEUE, now);
        job_clock_enter(&j->clock, PHASE_SYNTHESIS, now);
    }
    svc_unlock(s);
    if (go) svc_event_job(s, j);
    return go;
}

/* The stage. One of `out` is its own, later the entry's. */
void svc_make_witness(void *ctx, stage_item *it)
{
    service *s = ctx;
    svc_job *j = (svc_job *)((char *)it - offsetof(svc_job, item));
    svc_account account = svc_account_begin(j);
    uint64_t now;
    cuzk_status st;
    bool go;

    if (!begin(j)) {
        svc_leave(j);
        return;
    }
    j->at_work = at_work_begin(s->at_work, j->job_id, !j->suspect);
    span_context(j->number, -1);
    st = make_witness(j);
    at_work_end(s->at_work, j->at_work);
    j->at_work = AT_WORK_NONE;
    svc_account_end(s, "witness", &account);
    if (st != CUZK_OK && st != CUZK_ECANCELLED) svc_stop_job(j, CUZK_JOB_FAILED, cuzk_last_error());
    svc_lock(s);
    now = clock_ns();
    job_clock_leave(&j->clock, PHASE_SYNTHESIS, now);
    job_clock_enter(&j->clock, PHASE_QUEUE, now);
    go = st == CUZK_OK && !j->stopping;
    j->at = JOB_IN_DECODE;
    svc_unlock(s);
    if (!go)
        svc_leave(j);
    else if (j->suspect)
        svc_push_job(j, s->decode, false);
    else
        svc_enter(j);
}

void svc_queue_command(svc_job *j)
{
    svc_push_job(j, j->s->witness, j->suspect);
}
