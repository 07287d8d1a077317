/*
 * engine/service_clock.c - where the wall time of a job goes, without overlap; the wall clock, which may be set
 *
 * Parts of a job overlap; an instant belongs to the first phase of JOB_PHASES that any part is in. What belongs to none is
 * rest, and the longest stretch of it is kept with what came before: a gap.
 *
 * Source: spec/proving-api.md section 2, "timings"
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <time.h>

#include "engine/service.h"

uint64_t svc_wall_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_REALTIME, &t); /* cannot fail: a valid clock */
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

#define JUMP_MS 1000 /* between two looks, a second apart: more than any slewing */

uint64_t wall_watch_look(wall_watch *w, uint64_t wall_ms, uint64_t now_ns, uint64_t keep_ms,
                         int64_t *jump_ms)
{
    int64_t offset = (int64_t)(wall_ms - now_ns / 1000000), by = offset - w->offset_ms;

    *jump_ms = 0;
    if (w->started && (by > JUMP_MS || by < -JUMP_MS)) {
        *jump_ms = by;
        w->jumped_ns = now_ns;
        w->ahead_ms = by + (int64_t)w->ahead_ms < 0 ? 0 : (uint64_t)(by + (int64_t)w->ahead_ms);
    }
    w->started = true;
    w->offset_ms = offset;
    if ((now_ns - w->jumped_ns) / 1000000 >= keep_ms) w->ahead_ms = 0;
    return wall_ms > w->ahead_ms ? wall_ms - w->ahead_ms : 0;
}

#define PHASE_NAME(id, name) name,
static const char *const phase_names[] = {JOB_PHASES(PHASE_NAME)};
#undef PHASE_NAME

const char *job_phase_name(job_phase p)
{
    return phase_names[p];
}

static bool phase_at(const job_clock *c, job_phase *out)
{
    for (job_phase p = 0; p < N_PHASES; p++) {
        if (c->open[p] == 0) continue;
        *out = p;
        return true;
    }
    return false;
}

static void advance(job_clock *c, uint64_t now)
{
    job_phase p;
    uint64_t ns = now > c->last ? now - c->last : 0;

    if (phase_at(c, &p)) {
        c->total[p] += ns;
        c->latest = p;
    } else {
        c->rest += ns;
        if (ns > c->worst_rest) {
            c->worst_rest = ns;
            c->worst_from = c->last;
            c->before_rest = c->latest;
        }
    }
    if (now > c->last) c->last = now;
}

void job_clock_start(job_clock *c, uint64_t now)
{
    *c = (job_clock){.from = now, .last = now, .before_rest = N_PHASES, .latest = N_PHASES};
}

void job_clock_enter(job_clock *c, job_phase p, uint64_t now)
{
    advance(c, now);
    c->open[p]++;
}

void job_clock_leave(job_clock *c, job_phase p, uint64_t now)
{
    advance(c, now);
    VERIFY(c->open[p] > 0);
    if (c->open[p] > 0) c->open[p]--;
}

void job_clock_end(job_clock *c, uint64_t now)
{
    advance(c, now);
    c->ended = true;
}

static uint64_t ms(uint64_t ns)
{
    return (ns + 500000) / 1000000;
}

void job_clock_read(const job_clock *c, uint64_t now, cuzk_job_times *out)
{
    job_clock k = *c;
    uint64_t sum = 0, *const to[N_PHASES] = {
                          [PHASE_DEVICE] = &out->device_ms, [PHASE_SYNTHESIS] = &out->synthesis_ms,
                          [PHASE_KEY] = &out->key_ms,       [PHASE_DECODE] = &out->decode_ms,
                          [PHASE_VERIFY] = &out->verify_ms, [PHASE_STORE] = &out->store_ms,
                          [PHASE_QUEUE] = &out->queue_ms};

    if (!k.ended) advance(&k, now);
    for (job_phase p = 0; p < N_PHASES; p++) {
        *to[p] = ms(k.total[p]);
        sum += *to[p];
    }
    out->total_ms = ms(k.last - k.from);
    /* rounding: the parts sum to the total, exactly */
    if (sum > out->total_ms) out->total_ms = sum;
    out->rest_ms = out->total_ms - sum;
}
