/*
 * engine/service_run.c - the stages of a partition: memory, synthesis, device, finish
 *
 * The device's thread does nothing but prove: what comes after it (assembling, checking, storing, giving back) is the
 * finisher's. A partition that fails its check or its device is proved again on the portable table, a bounded number of
 * times; any other failure stops its job.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "engine/lanes.h"
#include "engine/service.h"
#include "r1cs/circom.h"

#define URGENT (STAGE_LEVELS - 1)

static svc_part *part_of_item(stage_item *it)
{
    return (svc_part *)((char *)it - offsetof(svc_part, item));
}

/* ---- giving back ---- */

typedef struct holdings {
    groth16_job *started;
    dev_stream *stream;
    r1cs_assignment *w;
    mem *m;
    ledger_claim claim;
} holdings;

/* What a partition holds, taken from it. */
static holdings take_holdings(svc_part *p)
{
    service *s = p->job->s;
    holdings h = {p->started, p->stream, p->w, p->m, ledger_take(s->ledger, &p->claim)};

    at_work_end(s->at_work, p->at_work);
    p->at_work = AT_WORK_NONE;
    p->started = NULL;
    p->stream = NULL;
    p->w = NULL;
    p->m = NULL;
    svc_lock(s);
    p->at = AT_NOWHERE;
    if (p->state != PART_DONE) p->state = PART_FAILED;
    svc_unlock(s);
    return h;
}

static void free_holdings(service *s, holdings *h)
{
    span sp = span_open(SPAN_FREE);

    fault_stall("free");
    groth16_job_free(h->started);
    dev_stream_close(h->stream);
    r1cs_assignment_free(h->w);
    mem_close(h->m);
    span_close(&sp);
    if (h->claim.state == LEDGER_HELD) ledger_release(s->ledger, &h->claim);
}

void svc_part_end(svc_part *p, part_state state)
{
    svc_job *j = p->job;
    service *s = j->s;
    holdings h = take_holdings(p);

    svc_event_part(s, p, state);
    svc_leave(j); /* what waits for the job does not wait for memory to be given back */
    free_holdings(s, &h);
}

/* A partition that does not go on: its job stops, or was being stopped. */
static void give_up(svc_part *p, cuzk_status st)
{
    svc_job *j = p->job;

    if (st != CUZK_OK && st != CUZK_ECANCELLED) {
        status_add_where("partition %" PRIu32, p->index);
        svc_stop_job(j, CUZK_JOB_FAILED, cuzk_last_error());
    }
    svc_part_end(p, PART_FAILED);
}

/* Into a stage, with the job's priority as it is now. False: the job is being stopped, and the partition is still the caller's.
 * A stop or a raise that looked for it between the lock and the stage has missed it: it is made up for. */
static bool move_on(svc_part *p, part_at at, part_state state, stage *to)
{
    svc_job *j = p->job;
    service *s = j->s;
    uint64_t now = clock_ns(); /* a wait for the lock is one for what comes */
    unsigned level;
    bool go;

    svc_lock(s);
    go = !j->stopping;
    level = svc_level(j->priority);
    if (go) {
        p->at = at;
        p->state = state;
        stage_order(&p->item, level, j->number, j->rq.kind, p->index);
        p->item.alone = at == AT_DEVICE && p->alone;
        j->out++; /* for making up */
        job_clock_enter(&j->clock, PHASE_QUEUE, now);
    }
    svc_unlock(s);
    if (!go) return false;
    svc_event_part(s, p, state);
    fault_stall(at == AT_DEVICE ? "to device" : "to synthesis");
    if (stage_push(to, &p->item) == CUZK_OK) {
        svc_make_up(j, level);
        return true;
    }
    svc_lock(s);
    p->at = AT_NOWHERE;
    job_clock_leave(&j->clock, PHASE_QUEUE, clock_ns());
    svc_unlock(s);
    svc_stop_job(j, CUZK_JOB_FAILED, cuzk_last_error());
    svc_leave(j);
    return false;
}

/* Out of the queue, into work. False: the job is being stopped. */
static bool begin(svc_part *p, job_phase phase, part_state state)
{
    svc_job *j = p->job;
    service *s = j->s;
    uint64_t now;
    bool go;

    svc_lock(s);
    now = clock_ns();
    job_clock_leave(&j->clock, PHASE_QUEUE, now);
    go = !j->stopping;
    p->at = AT_NOWHERE;
    if (go) {
        p->state = state;
        if (phase == PHASE_SYNTHESIS) p->synth_from = now;
        job_clock_enter(&j->clock, phase, now);
    }
    svc_unlock(s);
    span_context(j->number, (int32_t)p->index);
    if (go) svc_event_part(s, p, state);
    return go;
}

static void end(svc_part *p, job_phase phase)
{
    uint64_t now;

    svc_lock(p->job->s);
    now = clock_ns();
    if (phase == PHASE_SYNTHESIS) p->synth_to = now;
    job_clock_leave(&p->job->clock, phase, now);
    svc_unlock(p->job->s);
}

/* ---- memory ---- */

static void granted(ledger_claim *c)
{
    svc_part *p = (svc_part *)((char *)c - offsetof(svc_part, claim));
    svc_job *j = p->job;
    service *s = j->s;

    svc_lock(s);
    p->granted = clock_ns();
    job_clock_leave(&j->clock, PHASE_QUEUE, p->granted);
    svc_unlock(s);
    if (!move_on(p, AT_SYNTHESIS, PART_PENDING, s->synthesis)) give_up(p, CUZK_OK);
}

/* It can never have what it needs: so much more is there than when it was claimed. */
static void refused(ledger_claim *c)
{
    svc_part *p = (svc_part *)((char *)c - offsetof(svc_part, claim));
    svc_job *j = p->job;
    service *s = j->s;

    svc_lock(s);
    job_clock_leave(&j->clock, PHASE_QUEUE, clock_ns());
    svc_unlock(s);
    give_up(p, CUZK_EBUDGET);
}

/* k NULL: an aggregate, which takes none. */
static void order_claim(svc_part *p, const key_entry *k, unsigned level)
{
    svc_job *j = p->job;

    p->claim = (ledger_claim){.level = level,
                              .age = j->number,
                              .index = p->index,
                              .granted = granted,
                              .refused = refused,
                              .way_in = &j->entry,
                              .beside = j->entry.bytes[LEDGER_REQUESTS]};
    if (k == NULL) {
        p->claim.bytes[LEDGER_WITNESSES] = svc_aggregate_needs(j);
        return;
    }
    p->claim.beside += keys_lasting(j->s->keys, k);
    keys_needs(p->job->s->keys, k, &p->claim.bytes[LEDGER_WITNESSES],
               &p->claim.bytes[LEDGER_PROVING]);
}

/* Which partitions are left; each counts in `out`. They have waited since `from`. */
static uint32_t begin_parts_locked(svc_job *j, uint64_t from)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < j->n_parts; i++) {
        svc_part *p = &j->parts[i];

        if (p->state == PART_DONE) continue;
        p->state = PART_PENDING;
        p->at = AT_MEMORY;
        order_claim(p, j->key.k, svc_level(j->priority));
        job_clock_enter(&j->clock, PHASE_QUEUE, from);
        n++;
    }
    j->out += n;
    j->at = JOB_IN_PARTS;
    if (j->state == CUZK_JOB_QUEUED) { /* it had no witness command */
        j->started = clock_ns();
        svc_move(j, CUZK_JOB_RUNNING);
    }
    return n;
}

static void begin_parts(svc_job *j)
{
    service *s = j->s;
    ledger_claim probe;
    uint64_t from = clock_ns();
    unsigned level;
    cuzk_status st;

    if (j->key.k != NULL) {
        j->fil.sys = j->key.k->sys;
        j->fil.pk = j->key.k->pk;
    }
    order_claim(&j->parts[0], j->key.k, svc_level(j->priority));
    probe = j->parts[0].claim;
    st = ledger_can_ever(s->ledger, &probe);
    if (st != CUZK_OK) {
        svc_stop_job(j, CUZK_JOB_FAILED, cuzk_last_error());
        return;
    }
    svc_lock(s);
    if (j->stopping) {
        svc_unlock(s);
        return;
    }
    (void)begin_parts_locked(j, from);
    level = svc_level(j->priority);
    j->out++; /* for making up */
    svc_unlock(s);
    svc_event_job(s, j);
    for (uint32_t i = 0; i < j->n_parts; i++) {
        svc_part *p = &j->parts[i];
        bool waits;

        svc_lock(s);
        waits = p->state == PART_PENDING && p->at == AT_MEMORY;
        svc_unlock(s);
        if (waits && ledger_claim_now(s->ledger, &p->claim)) granted(&p->claim);
    }
    svc_make_up(j, level);
}

void svc_key_ready(key_use *u, cuzk_status st)
{
    svc_job *j = (svc_job *)((char *)u - offsetof(svc_job, key));
    service *s = j->s;
    uint32_t row = j->at_work;

    j->at_work = AT_WORK_NONE;
    svc_lock(s);
    j->key_at = clock_ns();
    job_clock_leave(&j->clock, PHASE_KEY, j->key_at);
    svc_unlock(s);
    ledger_settle(s->ledger, &j->entry, LEDGER_KEYS, 0); /* the key is charged as what it is */
    if (st == CUZK_OK)
        begin_parts(j);
    else
        svc_stop_job(j, CUZK_JOB_FAILED, cuzk_last_error());
    at_work_end(s->at_work, row);
    svc_leave(j);
}

/* ---- synthesis ---- */

static cuzk_status read_wtns(svc_part *p, const uint8_t *data, size_t size)
{
    const groth16_pk *pk = p->job->key.k->pk;
    circom_wtns_info info;

    TRY(circom_wtns_info_read(&info, data, size));
    if (info.curve != pk->cv->id)
        return FAIL_DATA(SHAPE, "witness", "the witness is of curve %s, the key of %s",
                         curve_get(info.curve, CPU_TABLE_GENERIC)->json_name, pk->cv->json_name);
    return circom_wtns_read(&p->w, data, size, pk->cv, pk->n_inputs + pk->n_aux, pk->n_inputs - 1,
                            p->job->s->e->pool, p->m);
}

static cuzk_status check_rows(svc_part *p)
{
    const key_entry *k = p->job->key.k;
    r1cs_fault fault;
    char where[32];
    span sp;
    cuzk_status st;

    if (k->sys == NULL) return CUZK_OK;
    sp = span_open(SPAN_CHECK_R1CS);
    st = r1cs_check(k->sys, p->w, p->job->s->e->pool, p->job->cancel, &fault);
    span_close(&sp);
    TRY(st);
    if (!fault.found) return CUZK_OK;
    (void)snprintf(where, sizeof where, "row %u", fault.row);
    return FAIL_DATA(UNSATISFIED, where,
                     "the witness does not satisfy constraint %u of the circuit", fault.row);
}

static cuzk_status synthesise_circom(svc_part *p)
{
    svc_job *j = p->job;
    const file_map *f = &j->fil.files[0];
    span sp = span_open(SPAN_READ_WITNESS);
    cuzk_status st =
        j->made == NULL ? read_wtns(p, f->data, f->size) : read_wtns(p, j->made, j->made_size);

    span_close(&sp);
    svc_drop_witness(j);
    return st == CUZK_OK ? check_rows(p) : st;
}

/* Under the gate, as proving: urgent work has the cores from here on. */
static cuzk_status synthesise(svc_part *p)
{
    svc_job *j = p->job;
    job_env env = j->env;
    fil_job f = j->fil;

    TRY(mem_open(&p->m, "partition", 0, j->s->m));
    if (j->rq.kind == CUZK_AGGREGATE) return svc_aggregate_run(p);
    if (j->rq.kind == CUZK_GROTH16) return synthesise_circom(p);
    env.m = p->m;
    f.env = &env;
    TRY(f.ops->synthesise(&f, p->index, &p->w));
    return fil_compare_public(&f, p->index, p->w);
}

void svc_synthesise(void *ctx, stage_item *it)
{
    service *s = ctx;
    svc_part *p = part_of_item(it);
    svc_account account = svc_account_begin(p->job);
    unsigned level = it->level;
    cuzk_status st = CUZK_ECANCELLED;

    if (begin(p, PHASE_SYNTHESIS, PART_SYNTHESISING)) {
        p->at_work = at_work_begin(s->at_work, p->job->job_id, false);
        fault_stall("synthesis");
        cancel_set_gate(p->job->cancel, s->gate, level);
        gate_enter(s->gate, level);
        (void)atomic_fetch_add_explicit(&s->coming, 1, memory_order_relaxed);
        st = synthesise(p);
        (void)atomic_fetch_sub_explicit(&s->coming, 1, memory_order_relaxed);
        gate_leave(s->gate, level);
        end(p, PHASE_SYNTHESIS);
        if (st == CUZK_OK) {
            if (p->job->key.k != NULL) keys_measured(s->keys, p->job->key.k, mem_peak(p->m), 0);
            svc_lock(s);
            svc_count_estimate(s, p->claim.bytes[LEDGER_WITNESSES], mem_peak(p->m));
            svc_unlock(s);
        }
    }
    /* p may be gone after each of these */
    if (st == CUZK_OK && p->proof != NULL)
        svc_part_keep(p); /* an aggregate: it is done */
    else if (st != CUZK_OK ||
             !move_on(p, AT_DEVICE, PART_SYNTHESISED, svc_device_stage(s, p->path)))
        give_up(p, st);
    svc_account_end(s, "synthesis", &account);
}

/* ---- device ---- */

/* An urgent proof has all lanes of its GPU that are free: it stops other work meanwhile. x NULL: there are none. */
static cuzk_status start(svc_part *p, unsigned level, helpers *x, const groth16_prove_args *args)
{
    lanes_taken lanes;
    cuzk_error why;

    if (args->n_helpers != 0) return groth16_prove_start(&p->started, p->stream, args);
    lanes_take(&lanes, level == URGENT ? x : NULL, args->pk, p->job->cancel, level);
    cuzk_status st = lanes_prove_start(&p->started, p->stream, args, &lanes, &why);
    if (why.status != CUZK_OK && st == CUZK_OK) {
        cuzk_log_field f[] = {{"message", why.message, 0}};

        svc_log(p->job->s, CUZK_LOG_WARN, "device_lane_failed", f, 1);
    }
    return st;
}

static cuzk_status prove(svc_part *p, unsigned level, device *d, helpers *lanes,
                         const svc_split *split)
{
    service *s = p->job->s;
    const key_entry *k = p->job->key.k;
    groth16_prove_args args = {.pk = k->pk, .w = p->w, .plain = p->attempts > 0, .m = p->m};
    span sp = span_open(SPAN_PROVE), alloc;
    cuzk_status st;

    if (k->filecoin) args.sys = k->sys;
    args.helpers = split->offer;
    args.n_helpers = split->n;
    cancel_set_gate(p->job->cancel, s->gate, level); /* it may have been raised */
    gate_enter(s->gate, level);
    fault_stall("device");
    alloc = span_open(SPAN_ALLOC);
    st = dev_stream_open_at(&p->stream, d, p->job->cancel, level);
    span_close(&alloc);
    if (st == CUZK_OK && fault_hit("device fault"))
        st = FAIL(CUZK_EDEVICE, "a fault of the device, by a test");
    if (st == CUZK_OK) st = start(p, level, lanes, &args);
    gate_leave(s->gate, level);
    span_close(&sp);
    return st;
}

/* On a device of the service, or on the CPU that stands in for them. */
static cuzk_status prove_somewhere(svc_part *p, unsigned level, svc_device *v,
                                   const svc_split *split)
{
    service *s = p->job->s;
    int64_t extra = 0;
    bool lost;
    cuzk_status st;

    if (v != NULL) {
        p->beside = atomic_load_explicit(&v->on, memory_order_relaxed) > 1;
        st = prove(p, level, v->d, v->lanes, split);
        if (atomic_load_explicit(&v->on, memory_order_relaxed) > 1) p->beside = true;
        lost = st == CUZK_OK && fault_hit("device lost");
        if (lost) st = FAIL(CUZK_EDEVICE, "a device that is lost, by a test");
        p->no_room = (st == CUZK_EBUDGET || st == CUZK_ENOMEM) && v->info.gpu;
        if (st == CUZK_OK && fault_hit("device memory")) {
            st = FAIL(CUZK_EBUDGET, "no memory on the device, by a test");
            p->no_room = true;
        }
        if (lost || (st == CUZK_EDEVICE && device_is_lost(v->d)))
            atomic_store_explicit(&v->width, 0, memory_order_relaxed); /* the finisher tells */
        return st;
    }
    if (s->host_row < 0) /* what was reserved is enough for a GPU alone */
        extra = (int64_t)groth16_prove_size(p->job->key.k->pk, p->job->key.k->sys);
    if (extra != 0) ledger_charge(s->ledger, LEDGER_PROVING, extra);
    st = prove(p, level, svc_stand_in(s, p->path), NULL, split);
    if (extra != 0) ledger_charge(s->ledger, LEDGER_PROVING, -extra);
    return st;
}

/* Memory is measured where proofs are made in the memory that was reserved for them. */
static bool is_measured(const service *s, const svc_device *v)
{
    return v != NULL && v->info.gpu == (s->host_row < 0);
}

/* Nothing here waits for another thread, nothing is given back: what went wrong is the finisher's to deal with. */
void svc_prove(void *ctx, stage_item *it)
{
    service *s = ctx;
    svc_part *p = part_of_item(it);
    svc_account account = svc_account_begin(p->job);
    svc_device *v;
    svc_split split;
    int row;
    bool alone;

    span_context(account.number, (int32_t)p->index);
    p->measured = 0;
    p->at_dev = NULL;
    p->no_room = p->alone = false;
    p->proved = cancel_check(p->job->cancel);
    if (p->proved == CUZK_OK) {
        v = p->path == PATH_DEVICES ? svc_device_take(s, p->avoid) : NULL;
        row = v != NULL ? (int)(v - s->devices) : s->host_row;
        p->at_dev = v;
        svc_split_take(&split, s, p, v);
        p->begins = (svc_later){.p = p, .row = row, .helpers = split.rows, .at = clock_ns()};
        svc_post(s, &p->begins);
        svc_event_part(s, p, PART_DEVICE);
        alone = atomic_fetch_add_explicit(&s->proving_now, 1, memory_order_relaxed) == 0;
        if (alone) mem_reset_peak(s->proving);
        p->proved = prove_somewhere(p, it->level, v, &split);
        if (p->proved != CUZK_OK) p->why = *cuzk_last_error();
        svc_split_put(&split, s, p);
        if (atomic_fetch_sub_explicit(&s->proving_now, 1, memory_order_relaxed) == 1 && alone &&
            is_measured(s, v) && split.n == 0)
            p->measured = mem_peak(s->proving);
        if (v != NULL) svc_device_put(v);
        p->ends =
            (svc_later){.p = p, .ended = true, .row = row, .helpers = split.rows, .at = clock_ns()};
        svc_account_later(s, &account, &p->ends);
        svc_post(s, &p->ends);
    } else {
        p->why = *cuzk_last_error();
    }
    if (stage_push(s->finish, it) != CUZK_OK) svc_finish(s, it);
}

/* ---- finish ---- */

static void forget_attempt(svc_part *p)
{
    groth16_job_free(p->started);
    p->started = NULL;
    dev_stream_close(p->stream);
    p->stream = NULL;
}

static bool again_in(svc_part *p)
{
    return move_on(p, AT_DEVICE, PART_SYNTHESISED, svc_device_stage(p->job->s, p->path));
}

/* After a fault of the device or a proof that did not verify: once more, elsewhere. */
static bool try_again(svc_part *p, const char *cause, bool self_check)
{
    svc_job *j = p->job;
    service *s = j->s;
    cuzk_log_field f[] = {{"job", j->job_id, 0},
                          {"partition", NULL, p->index},
                          {"attempt", NULL, 0},
                          {"cause", cause, 0},
                          {"device", p->at_dev == NULL ? "cpu" : p->at_dev->info.label, 0}};
    bool again;

    svc_lock(s);
    again = p->attempts < s->tunables.retries && !j->stopping;
    if (again) p->attempts++;
    f[2].number = p->attempts;
    if (again) s->counts.retries++;
    if (self_check) s->counts.self_check_failures++;
    svc_unlock(s);
    svc_log(s, CUZK_LOG_ERROR, again ? "partition_retried" : "partition_given_up", f, 5);
    if (!again) return false;
    forget_attempt(p);
    if (p->at_dev != NULL) p->avoid |= (uint32_t)1 << (p->at_dev - s->devices);
    p->path = svc_next_path(s, p);
    return again_in(p);
}

/* On the CPU: a GPU is not the judge of what it made. */
static cuzk_status verify(svc_part *p, const groth16_proof *proof, bool *valid)
{
    const groth16_pk *pk = p->job->key.k->pk;
    span sp = span_open(SPAN_VERIFY);
    dev_stream *host;
    cuzk_status st = dev_stream_open(&host, p->job->s->e->host, p->job->cancel);

    if (st == CUZK_OK) {
        st = groth16_verify(host, pk->vk, proof, p->w->inputs + 1, p->w->n_inputs - 1, valid);
        dev_stream_close(host);
    }
    span_close(&sp);
    return st;
}

/* Done: the proof is the partition's, and stored. */
void svc_part_keep(svc_part *p)
{
    svc_job *j = p->job;
    service *s = j->s;

    svc_crash_further(j);
    if (s->store != NULL && j->n_parts > 1)
        store_partition_async(s->store, j->job_id, p->index, (cuzk_bytes){p->proof, p->proof_size});
    svc_lock(s);
    p->state = PART_DONE;
    j->n_done++;
    s->counts.partitions++;
    svc_unlock(s);
    svc_part_end(p, PART_DONE);
}

/* Assembles, verifies, encodes. *valid false: it did not verify. */
static cuzk_status finish(svc_part *p, bool *valid)
{
    groth16_job *started = p->started;
    groth16_proof proof;

    fault_stall("finish");
    p->started = NULL;
    TRY(groth16_prove_finish(&proof, started));
    TRY(verify(p, &proof, valid));
    if (fault_hit("self check")) *valid = false;
    return *valid ? svc_encode_proof(p, &proof) : CUZK_OK;
}

static void count_measured(svc_part *p)
{
    service *s = p->job->s;

    if (p->proved != CUZK_OK || p->measured == 0) return;
    keys_measured(s->keys, p->job->key.k, 0, p->measured);
    svc_lock(s);
    svc_count_estimate(s, p->claim.bytes[LEDGER_PROVING], p->measured);
    svc_unlock(s);
}

/* The device had no room beside another partition: there again, no attempt of its own. Where the other one was not there because
 * two are let on it, it is work that stands aside, with its memory kept: this one waits until it is done. */
static bool try_with_room(svc_part *p)
{
    service *s = p->job->s;

    if (!p->beside) return false;
    p->alone = svc_device_is_last(s, p);
    if (!svc_device_narrow(s, p->at_dev, &p->why) && !p->alone) return false;
    forget_attempt(p);
    return again_in(p);
}

/* Whatever becomes of the job: it may have been stopped meanwhile. */
static void retire_if_lost(svc_part *p)
{
    svc_device *v = p->at_dev;

    if (v != NULL && atomic_load_explicit(&v->width, memory_order_relaxed) == 0)
        (void)svc_device_retire(p->job->s, v, p->job, &p->why);
}

/* What is left to do with a partition whose proof there is not. */
static void deal_with(svc_part *p, cuzk_status st)
{
    bool retry = false;

    if (st == CUZK_OK) {
        retry = try_again(p, "the proof did not verify", true);
    } else if (st == CUZK_EDEVICE) {
        retry = try_again(p, "device fault", false);
    } else if (p->no_room && p->proved == st) {
        retry = try_with_room(p) || try_again(p, "device memory", false);
    }
    if (retry) return;
    if (st == CUZK_OK) st = svc_explain(p); /* it did not verify, on any path */
    give_up(p, st);
}

void svc_finish(void *ctx, stage_item *it)
{
    service *s = ctx;
    svc_part *p = part_of_item(it);
    svc_account account = svc_account_begin(p->job);
    uint32_t index = p->index;
    uint64_t finished;
    bool valid = false;
    cuzk_status st = CUZK_ECANCELLED;

    if (p->helper_failed != 0) svc_split_tell(p);
    if (p->proved == CUZK_EDEVICE) retire_if_lost(p);
    if (begin(p, PHASE_VERIFY, PART_DEVICE)) {
        if (p->proved == CUZK_OK) svc_timing_device(s, p);
        count_measured(p);
        st = p->proved == CUZK_OK ? finish(p, &valid) : status_adopt(&p->why);
        end(p, PHASE_VERIFY);
    }
    finished = clock_ns();
    if (st == CUZK_OK && valid)
        svc_part_keep(p); /* p may be gone after this */
    else
        deal_with(p, st);
    svc_timing_finish(s, account.job_id, index, account.begin, finished);
    svc_account_end(s, "finish", &account);
}
