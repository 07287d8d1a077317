/*
 * engine/service_parts.c - a job's partitions: what is told of them while it is proved, and what is kept of them after
 *
 * A partition that is worked on takes two KiB and more; of an ended job only rows of some bytes are kept.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "engine/service.h"

static uint32_t ms_between(uint64_t from, uint64_t to, uint64_t now)
{
    uint64_t ms;

    if (to < from) to = now; /* it goes on */
    ms = from == 0 || to < from ? 0 : (to - from) / 1000000;
    return ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

static svc_part_row look_locked(const svc_part *p, uint64_t now)
{
    return (svc_part_row){.index = p->index,
                          .state = (uint8_t)p->state,
                          .attempts = p->attempts,
                          .synth_ms = ms_between(p->synth_from, p->synth_to, now),
                          .device_ms = ms_between(p->device_from, p->device_to, now),
                          .wait_ms = ms_between(p->job->key_at, p->synth_from, now)};
}

svc_part *svc_shed_parts_locked(svc_job *j)
{
    svc_part *parts = j->parts;
    svc_part_row *rows = parts == NULL ? NULL : calloc(j->n_parts, sizeof *rows);

    if (rows == NULL) return NULL; /* or no memory: they stay */
    for (uint32_t k = 0; k < j->n_parts; k++) {
        rows[k] = look_locked(&parts[k], j->ended);
        free(parts[k].proof);
    }
    j->parts = NULL;
    j->rows = rows;
    return parts;
}

void svc_forget_parts(svc_job *j)
{
    for (uint32_t k = 0; j->parts != NULL && k < j->n_parts; k++) free(j->parts[k].proof);
    for (uint32_t k = 0; k < j->n_kept; k++) free(j->kept[k].proof);
    free(j->parts);
    free(j->rows);
    free(j->kept);
    j->parts = NULL;
    j->rows = NULL;
    j->kept = NULL;
    j->n_parts = j->n_done = j->n_kept = 0;
}

/* ---- told ---- */

static void put_row(bytes_out *o, const svc_part_row *r)
{
    bytes_printf(o,
                 "{\"index\":%" PRIu32 ",\"state\":\"%s\",\"synth_ms\":%" PRIu32
                 ",\"gpu_ms\":%" PRIu32 ",\"prove_ms\":%" PRIu32 ",\"wait_ms\":%" PRIu32
                 ",\"retries\":%" PRIu32 "}",
                 r->index, part_state_name((part_state)r->state), r->synth_ms, r->device_ms,
                 r->device_ms, r->wait_ms, r->attempts);
}

void svc_put_parts_locked(bytes_out *o, const svc_job *j, uint64_t now)
{
    if (svc_job_ended(j)) now = j->ended;
    bytes_printf(o, ",\"partitions\":[");
    for (uint32_t k = 0; k < j->n_parts; k++) {
        svc_part_row r = j->parts == NULL ? j->rows[k] : look_locked(&j->parts[k], now);

        if (k > 0) bytes_printf(o, ",");
        put_row(o, &r);
    }
    bytes_printf(o, "]");
}

const char *svc_phase_locked(const svc_job *j)
{
    const char *best = "queued";

    if (j->at != JOB_IN_PARTS) return job_at_name(j->at);
    for (uint32_t k = 0; k < j->n_parts; k++) {
        const svc_part *p = &j->parts[k];

        if (p->state == PART_DEVICE)
            return p->at == AT_NOWHERE && p->device_to == 0 ? "device" : "finishing";
        if (p->state == PART_SYNTHESISING)
            best = j->rq.kind == CUZK_AGGREGATE ? "aggregating" : "synthesis";
        if (p->at == AT_MEMORY && strcmp(best, "queued") == 0) best = "memory";
    }
    return best;
}
