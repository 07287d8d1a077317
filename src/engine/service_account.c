/*
 * engine/service_account.c - what is counted: threads' time, the device's idle time and its causes, ends, estimates
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/service.h"

#define MS ((uint64_t)1000000)
#define IDLE_WORTH_TELLING (50 * MS)
#define SHORT_WORK (100 * MS)
#define SLOW (100 * MS)

/* Upper bounds of the histograms of durations, in ms; above the last: one more bucket. */
const uint64_t svc_bucket_ms[SVC_BUCKETS - 1] = {1,    5,    10,   25,    50,    100,   250,   500,
                                                 1000, 2500, 5000, 10000, 30000, 60000, 300000};

#define CAUSE_NAME(id, name) name,
static const char *const cause_names[] = {IDLE_CAUSES(CAUSE_NAME)};
#undef CAUSE_NAME

const char *idle_cause_name(idle_cause c)
{
    return cause_names[c];
}

/* ---- the lock ---- */

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t a, uint64_t b)
{
    if (a < from) a = from;
    if (b > to) b = to;
    return a != 0 && b > a ? b - a : 0;
}

/* Waits come in the order of their ends: one that meets those before it is one with them. */
static void note_lock_wait_locked(service *s, uint64_t from, uint64_t to)
{
    svc_lock_wait *w;

    for (; s->n_lock_waits != 0; s->n_lock_waits--) {
        w = &s->lock_waits[(s->n_lock_waits - 1) % SVC_LOCK_WAITS];
        if (w->to < from) break;
        if (w->from != 0 && w->from < from) from = w->from;
        *w = (svc_lock_wait){0};
    }
    s->lock_waits[s->n_lock_waits++ % SVC_LOCK_WAITS] = (svc_lock_wait){from, to};
}

/* How much of [from, to) the lock was waited for. */
static uint64_t locked_ns(const service *s, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < SVC_LOCK_WAITS; i++)
        sum += overlap(from, to, s->lock_waits[i].from, s->lock_waits[i].to);
    return sum;
}

void svc_lock(service *s)
{
    if (pthread_mutex_trylock(&s->mu) != 0) {
        uint64_t from = clock_ns(), now;
        span sp = span_open(SPAN_LOCK_WAIT);

        (void)pthread_mutex_lock(&s->mu); /* cannot fail: a plain mutex, never held twice */
        span_close(&sp);
        now = clock_ns();
        if (now - from > MS) note_lock_wait_locked(s, from, now);
        if (now - from > SLOW) svc_note_gap(s, "lock", "", now - from, span_name(SPAN_LOCK_WAIT));
    }
    if (atomic_load_explicit(&s->later, memory_order_relaxed) != NULL) svc_write_books_locked(s);
}

void svc_unlock(service *s)
{
    (void)pthread_mutex_unlock(&s->mu);
}

/* ---- threads ---- */

svc_account svc_account_begin(const svc_job *j)
{
    svc_account a = {.begin = clock_ns(), .number = j->number};

    (void)snprintf(a.job_id, sizeof a.job_id, "%s", j->job_id); /* cut to fit is fine */
    span_context(j->number, -1);
    return a;
}

/* A gap worth telling: over 1 ms in short work, over 1% and 10 ms in long. */
static bool is_gap(const cuzk_attribution *a)
{
    if (a->wall_ns < SHORT_WORK) return a->worst_gap_ns > MS;
    return a->worst_gap_ns > 10 * MS;
}

/* Steps that no work is in: over SLOW they are worth a line, with their name. */
static bool is_overhead(const char *name)
{
    static const span_kind kinds[] = {SPAN_FREE,    SPAN_ALLOC, SPAN_STORE_WAIT, SPAN_STORE,
                                      SPAN_PAYLOAD, SPAN_LOG,   SPAN_SEND};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(name, span_name(kinds[i])) == 0) return true;
    return false;
}

void svc_note_slow_steps(service *s, const char *track, const char *job_id,
                         const cuzk_attribution *a)
{
    for (size_t i = 0; i < a->n_steps; i++)
        if (a->steps[i].total_ns > SLOW && is_overhead(a->steps[i].name))
            svc_note_gap(s, track, job_id, a->steps[i].total_ns, a->steps[i].name);
}

void svc_account_end(service *s, const char *track, const svc_account *a)
{
    cuzk_attribution at;

    span_attribution(s->e->rec, a->begin, clock_ns(), &at);
    svc_lock(s);
    s->worker_wall_ns += at.wall_ns;
    s->worker_attributed_ns += at.attributed_ns;
    if (is_gap(&at)) svc_note_gap(s, track, a->job_id, at.worst_gap_ns, at.worst_gap);
    svc_note_slow_steps(s, track, a->job_id, &at);
    svc_unlock(s);
}

void svc_account_later(service *s, const svc_account *a, svc_later *r)
{
    cuzk_attribution at;

    span_attribution(s->e->rec, a->begin, clock_ns(), &at);
    r->wall_ns = at.wall_ns;
    r->attributed_ns = at.attributed_ns;
    r->gap_ns = is_gap(&at) ? at.worst_gap_ns : 0;
    svc_timing_steps(r, &at);
    memcpy(r->gap, at.worst_gap, sizeof r->gap);
}

/* ---- the device ---- */

/* How much of [from, to) was in [a, b) and not a wait for the lock. */
static uint64_t share(const service *s, uint64_t from, uint64_t to, uint64_t a, uint64_t b)
{
    uint64_t all = overlap(from, to, a, b);

    if (all == 0) return 0;
    if (a < from) a = from;
    if (b > to) b = to;
    return all - locked_ns(s, a, b);
}

/* What the partition that comes now was at while the device was idle: [from, now). */
static idle_cause cause_of(const svc_part *p, uint64_t from, uint64_t now)
{
    const svc_job *j = p->job;
    const service *s = j->s;
    uint64_t parts[N_IDLE_CAUSES] = {
        [IDLE_DECODE] = share(s, from, now, j->decode_from, j->decode_to),
        [IDLE_KEY] = share(s, from, now, j->decode_to, j->key_at),
        [IDLE_MEMORY] = share(s, from, now, j->key_at, p->granted),
        [IDLE_SYNTHESIS] = share(s, from, now, p->synth_from, p->synth_to),
        [IDLE_LOCK] = locked_ns(s, from, now),
    };
    uint64_t sum = 0;
    idle_cause best = IDLE_QUEUE;

    for (idle_cause c = 0; c < IDLE_QUEUE; c++) sum += parts[c];
    parts[IDLE_QUEUE] = now - from > sum ? now - from - sum : 0;
    for (idle_cause c = 0; c < N_IDLE_CAUSES; c++)
        if (parts[c] > parts[best]) best = c;
    return best;
}

/* On the device's track, beside those that it notes by itself. */
static void note_idle(const svc_device *v, uint64_t from, uint64_t to, idle_cause cause)
{
    static const span_kind kinds[N_IDLE_CAUSES] = {
        [IDLE_DECODE] = SPAN_GPU_IDLE_HOST,   [IDLE_KEY] = SPAN_GPU_IDLE_KEY,
        [IDLE_MEMORY] = SPAN_GPU_IDLE_MEMORY, [IDLE_SYNTHESIS] = SPAN_GPU_IDLE_SYNTH,
        [IDLE_LOCK] = SPAN_GPU_IDLE_LOCK,     [IDLE_QUEUE] = SPAN_GPU_IDLE_WORK};
    const span_noted s = {from, to, kinds[cause], SPAN_KINDS};
    char track[40];

    if (!v->info.gpu) return;
    (void)snprintf(track, sizeof track, "%s idle", v->info.label);
    span_note(track, &s, 1, true);
}

void svc_device_taken(service *s, const svc_part *p, int row, uint64_t now)
{
    svc_device *v = row < 0 ? NULL : &s->devices[row];
    uint64_t from, there = p->job->queued_at;
    idle_cause cause;
    char text[96];

    if (v == NULL || v->active++ != 0) return;
    v->busy_from = now;
    from = v->idle_since;
    if (from == 0) return;
    v->idle_since = 0;
    if (from < there) from = there; /* before that there was no work */
    if (now <= from) return;
    cause = cause_of(p, from, now);
    s->counts.idle_ns[cause] += now - from;
    note_idle(v, from, now, cause);
    if (now - from < IDLE_WORTH_TELLING) return;
    (void)snprintf(text, sizeof text, "device idle while work waited: %s", idle_cause_name(cause));
    svc_note_gap(s, "device", p->job->job_id, now - from, text);
}

void svc_device_left(service *s, int row, bool proved, uint64_t now)
{
    svc_device *v = row < 0 ? NULL : &s->devices[row];

    if (v == NULL) return;
    if (proved) v->partitions++;
    if (--v->active != 0) return;
    v->busy_ns += now - v->busy_from;
    v->idle_since = now;
}

uint64_t svc_device_busy(const svc_device *v, uint64_t now)
{
    return v->busy_ns + (v->active != 0 && now > v->busy_from ? now - v->busy_from : 0);
}

/* ---- jobs ---- */

void svc_count_estimate(service *s, uint64_t reserved, uint64_t measured)
{
    double error = reserved == 0 ? 0 : ((double)measured - (double)reserved) / (double)reserved;

    s->counts.estimate_n++;
    s->counts.estimate_error_sum += error;
    if (error > s->counts.estimate_error_max) s->counts.estimate_error_max = error;
}

static void observe(uint64_t buckets[SVC_BUCKETS], uint64_t ms)
{
    unsigned b = 0;

    while (b < SVC_BUCKETS - 1 && ms > svc_bucket_ms[b]) b++;
    buckets[b]++;
}

void svc_count_times(service *s, svc_job *j, uint64_t now)
{
    unsigned kind = svc_kind_index(j->rq.kind);
    svc_counts *c = &s->counts;
    svc_latency *l = &s->latency[kind];
    const job_clock *k = &j->clock;

    for (job_phase p = 0; p < N_PHASES; p++) {
        c->phase_ns[p] += k->total[p];
        c->phase_count[p]++;
        observe(c->phase_buckets[p], k->total[p] / MS);
    }
    s->job_rest_ns += k->rest;
    s->job_total_ns += k->last - k->from;
    if (k->worst_rest > (k->last - k->from < SHORT_WORK ? MS : 10 * MS)) {
        bool lock = locked_ns(s, k->worst_from, k->worst_from + k->worst_rest) > k->worst_rest / 2;
        char text[96];

        (void)snprintf(text, sizeof text, "%safter %s", lock ? "wait for lock, " : "",
                       k->before_rest == N_PHASES ? "the start" : job_phase_name(k->before_rest));
        svc_note_gap(s, "job", j->job_id, k->worst_rest, text);
    }
    if (j->state != CUZK_JOB_COMPLETED) return;
    observe(c->duration_buckets[kind], j->times.total_ms);
    c->duration_count[kind]++;
    c->duration_sum[kind] += (double)j->times.total_ms / 1000;
    l->ended[l->n % SVC_LATENCIES] = now;
    l->ms[l->n % SVC_LATENCIES] =
        (uint32_t)(j->times.total_ms > UINT32_MAX ? UINT32_MAX : j->times.total_ms);
    l->n++;
}
