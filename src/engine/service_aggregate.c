/*
 * engine/service_aggregate.c - non-interactive PoReps: their partitions' proofs become the aggregate that the network takes
 *
 * Partitions are proved and stored like any other's; when the last is there the job goes to `result`, whose thread aggregates
 * them, under the gate as all computing, and verifies what came out. Powers lie beside the keys under the network's name:
 * where they are not, such a request is refused at once.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>

#include "base/clock.h"
#include "engine/aggregate.h"
#include "engine/service.h"

#define NI_FIRST 15u /* registered seal proofs from here on */

/** True when they are there; path says where they are looked for. */
static bool has_powers(const service *s, char path[FIL_PATH_MAX])
{
    int n = snprintf(path, FIL_PATH_MAX, "%s/%s", s->c.params_dir == NULL ? "" : s->c.params_dir,
                     FIL_SRS_NAME);

    return s->c.params_dir != NULL && n > 0 && n < FIL_PATH_MAX && file_exists(path);
}

cuzk_status svc_admit_aggregate(const service *s, const svc_request *rq)
{
    char path[FIL_PATH_MAX];
    bool asked = rq->kind == CUZK_AGGREGATE;

    if (!asked && (rq->kind != CUZK_POREP || rq->registered_proof < NI_FIRST)) return CUZK_OK;
    if (has_powers(s, path)) return CUZK_OK;
    if (asked)
        (void)status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_IO, "srs",
                          "no powers to aggregate with: %s is not there (srs.param_cache)", path);
    else
        (void)status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_SHAPE, "registered_proof",
                          "aggregation not supported: registered seal proof %llu is "
                          "non-interactive, whose network form is an aggregate, and %s is not in "
                          "the directory of the keys",
                          (unsigned long long)rq->registered_proof, FIL_SRS_NAME);
    return CUZK_EINVAL;
}

bool svc_is_aggregate(const svc_job *j)
{
    return j->rq.kind == CUZK_POREP && fil_is_ni(&j->fil);
}

cuzk_status svc_check_powers(const svc_job *j)
{
    agg_powers p;

    TRY(agg_powers_open(&p, j->s->e, j->s->c.params_dir, NULL));
    cuzk_status st = agg_powers_reach(&p, j->fil.n_partitions);
    agg_powers_close(&p);
    return st;
}

static cuzk_status aggregate(svc_job *j, const bytes_out *parts, bytes_out *out)
{
    service *s = j->s;
    agg_powers p;
    dev_stream *host;
    cuzk_status st;

    TRY(agg_powers_open(&p, s->e, s->c.params_dir, NULL));
    st = dev_stream_open(&host, s->e->host, j->cancel);
    if (st == CUZK_OK) {
        st = fil_aggregate_ni(out, host, &j->fil, &p, parts);
        dev_stream_close(host);
    }
    agg_powers_close(&p);
    return st;
}

cuzk_status svc_aggregate(svc_job *j)
{
    service *s = j->s;
    unsigned level = svc_level(j->priority);
    cuzk_buffer whole = {0};
    bytes_out parts, out;
    cuzk_status st;

    bytes_out_init(&parts, j->m);
    bytes_out_init(&out, j->m);
    for (uint32_t k = 0; k < j->n_parts; k++)
        bytes_put(&parts, j->parts[k].proof, j->parts[k].proof_size);
    svc_lock(s);
    job_clock_enter(&j->clock, PHASE_VERIFY, clock_ns());
    svc_unlock(s);
    st = bytes_out_status(&parts);
    if (st == CUZK_OK) {
        cancel_set_gate(j->cancel, s->gate, level);
        gate_enter(s->gate, level);
        st = aggregate(j, &parts, &out);
        gate_leave(s->gate, level);
    }
    svc_lock(s);
    job_clock_leave(&j->clock, PHASE_VERIFY, clock_ns());
    svc_unlock(s);
    if (st == CUZK_OK) st = buffer_from_out(&whole, &out);
    j->proof = whole.data;
    j->proof_size = whole.size;
    bytes_out_clear(&out);
    bytes_out_clear(&parts);
    return st;
}
