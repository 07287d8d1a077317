/*
 * engine/service_timing.c - timing events of the log: what the device did for a partition, what its thread and the finisher
 * spent around it, and each move of a job or partition
 *
 * All numbers are microseconds, but for at_ms (of the service's clock). The device's thread logs nothing itself: its lines are
 * written by the finisher.
 * Source of the names: spec/proving-api.md section 6.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/clock.h"
#include "engine/service.h"

typedef struct timed_step {
    span_kind kind;
    const char *key;
} timed_step;

static const timed_step steps[SVC_TIMED_STEPS] = {
    {SPAN_ALLOC, "prep_us"},
    {SPAN_ABC, "abc_us"},
    {SPAN_NTT, "ntt_us"},
    {SPAN_QUOTIENT, "quotient_us"},
    {SPAN_MSM_H, "msm_h_us"},
    {SPAN_MSM_L, "msm_l_us"},
    {SPAN_MSM_A, "msm_a_us"},
    {SPAN_MSM_B1, "msm_b_us"},
    {SPAN_MSM_B2, "b_g2_us"},
    {SPAN_POOL_WAIT, "barrier_wait_us"},
    {SPAN_LOCK_WAIT, "mutex_wait_us"},
    {SPAN_ASIDE, "aside_us"},
};

static int64_t us(uint64_t from, uint64_t to)
{
    return from != 0 && to > from ? (int64_t)((to - from) / 1000) : 0;
}

void svc_timing_steps(svc_later *r, const cuzk_attribution *a)
{
    for (size_t k = 0; k < SVC_TIMED_STEPS; k++)
        for (size_t i = 0; i < a->n_steps; i++)
            if (strcmp(a->steps[i].name, span_name(steps[k].kind)) == 0)
                r->step_ns[k] = a->steps[i].total_ns;
}

static void timeline(service *s, const char *job_id, int64_t partition, const char *state,
                     uint64_t at)
{
    cuzk_log_field f[] = {{"job", job_id, 0},
                          {"state", state, 0},
                          {"at_ms", NULL, us(s->epoch, at) / 1000},
                          {"partition", NULL, partition}};

    svc_log(s, CUZK_LOG_INFO, "TIMELINE", f, partition < 0 ? 3 : 4);
}

void svc_timeline_job(service *s, const svc_job *j, cuzk_job_state state)
{
    timeline(s, j->job_id, -1, job_state_name(state), clock_ns());
}

void svc_timeline_part(service *s, const svc_part *p, part_state state)
{
    if (state == PART_DEVICE) return; /* svc_timing_device tells, with its time */
    timeline(s, p->job->job_id, p->index, part_state_name(state), clock_ns());
}

void svc_timing_device(service *s, const svc_part *p)
{
    static const char *const paths[] = {"first", "host", "second"};
    const char *job_id = p->job->job_id, *on = p->at_dev == NULL ? "cpu" : p->at_dev->info.label;
    cuzk_log_field f[6 + SVC_TIMED_STEPS] = {{"job", job_id, 0}, {"partition", NULL, p->index}};
    size_t n = 2;

    timeline(s, job_id, p->index, part_state_name(PART_DEVICE), p->begins.at);
    f[n++] = (cuzk_log_field){"path", paths[p->path], 0};
    f[n++] = (cuzk_log_field){"device", on, 0};
    f[n++] = (cuzk_log_field){"pop_us", NULL, us(p->synth_to, p->begins.at)};
    f[n++] = (cuzk_log_field){"prove_start_us", NULL, us(p->begins.at, p->ends.at)};
    f[n++] = (cuzk_log_field){"spawn_us", NULL, us(p->ends.at, clock_ns())};
    svc_log(s, CUZK_LOG_INFO, "GPU_TIMING", f, n);
    n = 2;
    for (size_t k = 0; k < SVC_TIMED_STEPS; k++)
        f[n++] = (cuzk_log_field){steps[k].key, NULL, (int64_t)(p->ends.step_ns[k] / 1000)};
    f[n++] = (cuzk_log_field){"total_us", NULL, us(p->begins.at, p->ends.at)};
    svc_log(s, CUZK_LOG_INFO, "CUZK_TIMING", f, n);
}

void svc_timing_finish(service *s, const char *job_id, uint32_t partition, uint64_t from,
                       uint64_t finished)
{
    uint64_t now = clock_ns();
    cuzk_log_field f[] = {{"job", job_id, 0},
                          {"partition", NULL, partition},
                          {"finish_us", NULL, us(from, finished)},
                          {"process_result_us", NULL, us(finished, now)},
                          {"total_us", NULL, us(from, now)}};

    svc_log(s, CUZK_LOG_INFO, "FIN_TIMING", f, 5);
}
