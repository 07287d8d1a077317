/*
 * unit/app/fake_service.h - the calls of cuzk_service.h that the HTTP face makes, answered by the test
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_APP_FAKE_SERVICE_H
#define UNIT_APP_FAKE_SERVICE_H

#include "harness/harness.h"

#include "cuzk_service.h"

#include <pthread.h>

/** One job at a time. */
struct cuzk_service {
    pthread_mutex_t mu;
    /* what calls answer */
    cuzk_status submit, wait;
    cuzk_error error; /* of a failing call, and of a job that fails */
    bool ends_at_once, draining;
    cuzk_job_state state;
    cuzk_job_result result;
    /* what came */
    char request_id[64], circuit[64], body[64], path[256], owner[CUZK_OWNER_MAX];
    bool json;
    unsigned n_submits, n_cancels, n_unwaits, n_gone;
    uint64_t timeout_ms;
    cuzk_wait_fn fn; /* of the one that waits; NULL: none */
    void *ctx;
    cuzk_event_fn on_event;
    void *event_ctx;
};

void fake_service_init(cuzk_service *s);
/** The job ends, and who waits hears of it. */
void fake_service_end(cuzk_service *s, cuzk_wait_end end);
bool fake_service_waited_for(cuzk_service *s);

#endif
