/*
 * device/dev_time.c - sums of a GPU's time: windows, work, gaps and their causes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/dev_time.h"

#include <stdio.h>
#include <string.h>

#define TOLD_NS 20000u            /* a gap as long as this is a span of the trace */
#define MAX_TOLD 256u             /* of them at a time */
#define LOOK_BACK_NS 60000000000u /* a device idle for longer was so for want of work */

typedef struct gap_list {
    span_noted gap[MAX_TOLD];
    size_t n;
} gap_list;

cuzk_status dev_time_init(dev_time *t, const char *name)
{
    memset(t, 0, sizeof *t);
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    if (pthread_mutex_init(&t->mu, NULL) != 0) return FAIL(CUZK_ENOMEM, "%s: no mutex", name);
    return CUZK_OK;
}

void dev_time_clear(dev_time *t)
{
    (void)pthread_mutex_destroy(&t->mu);
}

void dev_time_get(dev_time *t, dev_times *out)
{
    (void)pthread_mutex_lock(&t->mu);
    *out = t->sums;
    (void)pthread_mutex_unlock(&t->mu);
}

/* ---- why the device had nothing before a proof came ---- */

/* What this thread did meanwhile, most of all; SPAN_KINDS: it waited for work, as a worker of the service, which tells by itself. */
static span_kind why_idle(uint64_t from, uint64_t now)
{
    static const struct {
        span_kind step, why;
    } known[] = {{SPAN_SYNTH, SPAN_GPU_IDLE_SYNTH},
                 {SPAN_READ_KEY, SPAN_GPU_IDLE_KEY},
                 {SPAN_KEY_WAIT, SPAN_GPU_IDLE_KEY},
                 {SPAN_LOCK_WAIT, SPAN_GPU_IDLE_LOCK},
                 {SPAN_MEM_WAIT, SPAN_GPU_IDLE_MEMORY},
                 {SPAN_QUEUE_WAIT, SPAN_GPU_IDLE_WORK},
                 {SPAN_IDLE, SPAN_KINDS}};
    cuzk_attribution a;

    if (from >= now) return SPAN_KINDS;
    if (now - from > LOOK_BACK_NS) return SPAN_GPU_IDLE_WORK;
    span_attribution(span_recorder(), from, now, &a);
    if (a.n_steps == 0) return SPAN_KINDS;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(a.steps[0].name, span_name(known[i].step)) == 0) return known[i].why;
    return SPAN_GPU_IDLE_HOST;
}

int dev_time_begin(dev_time *t, uint64_t now)
{
    uint64_t idle_from;
    bool others = false;
    int lane = -1;

    (void)pthread_mutex_lock(&t->mu);
    for (unsigned i = 0; i < DEV_LANES; i++) {
        others |= t->lanes[i].taken;
        if (!t->lanes[i].taken && lane < 0) lane = (int)i;
    }
    idle_from = others ? 0 : t->last;
    if (lane >= 0)
        t->lanes[lane] =
            (dev_lane){.taken = true, .begun = now, .idle_from = idle_from, .idle = SPAN_KINDS};
    (void)pthread_mutex_unlock(&t->mu);
    if (lane < 0 || idle_from == 0) return lane;
    span_kind why = why_idle(idle_from, now);
    (void)pthread_mutex_lock(&t->mu);
    t->lanes[lane].idle = why;
    (void)pthread_mutex_unlock(&t->mu);
    return lane;
}

void dev_time_share(dev_time *t, int lane)
{
    if (lane < 0) return;
    (void)pthread_mutex_lock(&t->mu);
    t->lanes[lane].share = true;
    (void)pthread_mutex_unlock(&t->mu);
}

/* ---- settling ---- */

static int by_begin(const void *a, const void *b)
{
    const span_noted *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

static uint64_t overlap(const span_noted *s, uint64_t from, uint64_t to)
{
    uint64_t a = s->from > from ? s->from : from, b = s->to < to ? s->to : to;

    return b > a ? b - a : 0;
}

/* [from, to) had no work: the cause is what the host was at for most of it. */
static void add_gap_locked(dev_time *t, gap_list *told, uint64_t from, uint64_t to)
{
    uint64_t part[SPAN_KINDS] = {0}, known = 0;
    span_kind why = SPAN_GPU_IDLE_HOST;

    for (size_t i = 0; i < t->n_host; i++) {
        uint64_t ns = overlap(&t->host[i], from, to);

        part[t->host[i].kind] += ns;
        known += ns;
    }
    if (known < to - from) part[SPAN_GPU_IDLE_HOST] += to - from - known;
    for (unsigned k = 0; k < SPAN_KINDS; k++)
        if (part[k] > part[why]) why = (span_kind)k;
    t->sums.n[why]++;
    t->sums.ns[why] += to - from;
    if (to - from >= TOLD_NS && told->n < MAX_TOLD)
        told->gap[told->n++] = (span_noted){from, to, why, SPAN_KINDS};
}

/* The part of a window that was not in one before. */
static void add_window_locked(dev_time *t, gap_list *told, uint64_t from, uint64_t to)
{
    uint64_t at = from;

    t->sums.window_ns += to - from;
    for (size_t i = 0; i < t->n_work && t->work[i].from < to; i++) {
        uint64_t begin = t->work[i].from, end = t->work[i].to < to ? t->work[i].to : to;

        if (end <= at) continue;
        if (begin > at)
            add_gap_locked(t, told, at, begin);
        else
            begin = at;
        t->sums.busy_ns += end - begin;
        at = end;
    }
    if (at < to) add_gap_locked(t, told, at, to);
}

/* What is left of them after `until`. */
static size_t rest_of(span_noted *s, size_t n, uint64_t until)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i].to <= until) continue;
        if (s[i].from < until) s[i].from = until;
        s[left++] = s[i];
    }
    return left;
}

/* Windows of proofs that are still there, as far as they are known. */
static void open_windows_locked(dev_time *t)
{
    for (unsigned i = 0; i < DEV_LANES; i++) {
        const dev_lane *l = &t->lanes[i];

        if (!l->taken || l->last == 0) continue;
        t->window[t->n_windows++] = (span_noted){l->first, l->last, SPAN_KINDS, SPAN_KINDS};
    }
}

static void settle_locked(dev_time *t, gap_list *told, uint64_t until)
{
    uint64_t at = t->settled;

    if (until <= at) return;
    qsort(t->work, t->n_work, sizeof t->work[0], by_begin);
    qsort(t->window, t->n_windows, sizeof t->window[0], by_begin);
    for (size_t i = 0; i < t->n_windows; i++) {
        uint64_t from = t->window[i].from > at ? t->window[i].from : at,
                 to = t->window[i].to < until ? t->window[i].to : until;

        if (to <= from) continue;
        add_window_locked(t, told, from, to);
        at = to;
    }
    t->n_work = rest_of(t->work, t->n_work, until);
    t->n_host = rest_of(t->host, t->n_host, until);
    t->n_windows = rest_of(t->window, t->n_windows, until);
    t->settled = until;
}

/* There is no more room for what may still be added to: it is settled as it stands. */
static void make_room_locked(dev_time *t, gap_list *told)
{
    uint64_t until = 0;

    for (size_t i = 0; i < t->n_work; i++)
        if (t->work[i].to > until) until = t->work[i].to;
    open_windows_locked(t);
    settle_locked(t, told, until);
    t->n_windows = 0;
    t->n_work = 0;
}

/* ---- what a proof tells ---- */

static void note_work(const dev_time *t, int lane, const span_noted *s, size_t n)
{
    char track[40];

    if (lane == 0)
        (void)snprintf(track, sizeof track, "%s", t->name);
    else
        (void)snprintf(track, sizeof track, "%s.%d", t->name, lane);
    span_note(track, s, n, false);
}

static void note_idle(const dev_time *t, const gap_list *told)
{
    char track[40];

    (void)snprintf(track, sizeof track, "%s idle", t->name);
    span_note(track, told->gap, told->n, true);
}

static void add_work_locked(dev_time *t, gap_list *told, dev_lane *l, span_noted *x)
{
    if (x->from < l->begun) x->from = l->begun; /* the clocks are some microseconds apart */
    if (x->from < l->last) x->from = l->last;
    if (x->to <= x->from) return;
    if (l->last == 0) l->first = x->from;
    l->last = x->to;
    if (x->to > t->last) t->last = x->to;
    t->sums.n[x->kind]++;
    t->sums.ns[x->kind] += x->to - x->from;
    if (x->within < SPAN_KINDS) {
        t->sums.n[x->within]++;
        t->sums.ns[x->within] += x->to - x->from;
    }
    if (t->n_work == DEV_TIME_WORK) make_room_locked(t, told);
    t->work[t->n_work++] = *x;
}

void dev_time_add(dev_time *t, int lane, span_noted *work, size_t n_work, const span_noted *host,
                  size_t n_host)
{
    gap_list told = {.n = 0};

    if (lane < 0) return;
    (void)pthread_mutex_lock(&t->mu);
    for (size_t i = 0; i < n_host && t->n_host < DEV_TIME_HOST; i++) t->host[t->n_host++] = host[i];
    for (size_t i = 0; i < n_work; i++) add_work_locked(t, &told, &t->lanes[lane], &work[i]);
    (void)pthread_mutex_unlock(&t->mu);
    note_work(t, lane, work, n_work);
    note_idle(t, &told);
}

static void count_proof_locked(dev_time *t, const dev_lane *l, uint64_t now)
{
    uint64_t tail = now > l->last ? now - l->last : 0;

    t->sums.proofs++;
    t->sums.tail_ns += tail;
    if (tail > t->sums.worst_tail_ns) t->sums.worst_tail_ns = tail;
}

/* Before it came the device had nothing. */
static void add_before_locked(dev_time *t, gap_list *told, const dev_lane *l)
{
    if (l->idle_from == 0 || l->idle == SPAN_KINDS || l->first <= l->idle_from) return;
    t->sums.before_n[l->idle]++;
    t->sums.before_ns[l->idle] += l->first - l->idle_from;
    told->gap[told->n++] = (span_noted){l->idle_from, l->first, l->idle, SPAN_KINDS};
}

void dev_time_end(dev_time *t, int lane, uint64_t now)
{
    gap_list told = {.n = 0};
    uint64_t until = UINT64_MAX;
    dev_lane *l;

    if (lane < 0) return;
    l = &t->lanes[lane];
    (void)pthread_mutex_lock(&t->mu);
    l->taken = false;
    if (l->last != 0) {
        if (!l->share) count_proof_locked(t, l, now);
        add_before_locked(t, &told, l);
        if (t->n_windows == DEV_TIME_WINDOWS) make_room_locked(t, &told);
        t->window[t->n_windows++] = (span_noted){l->first, l->last, SPAN_KINDS, SPAN_KINDS};
    }
    for (unsigned i = 0; i < DEV_LANES; i++)
        if (t->lanes[i].taken && t->lanes[i].begun < until) until = t->lanes[i].begun;
    settle_locked(t, &told, until < now ? until : now);
    (void)pthread_mutex_unlock(&t->mu);
    note_idle(t, &told);
}
