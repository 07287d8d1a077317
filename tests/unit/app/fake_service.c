/*
 * unit/app/fake_service.c - the calls of cuzk_service.h that the HTTP face makes, answered by the test
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "fake_service.h"

#include "base/status.h"

void fake_service_init(cuzk_service *s)
{
    memset(s, 0, sizeof *s);
    assert_int_equal(pthread_mutex_init(&s->mu, NULL), 0);
}

static cuzk_status refuse(cuzk_service *s, cuzk_status st)
{
    s->error.status = st;
    return status_adopt(&s->error);
}

static void copy(char *out, size_t cap, const void *p, size_t n)
{
    if (n >= cap) n = cap - 1;
    if (n != 0) memcpy(out, p, n);
    out[n] = 0;
}

cuzk_status cuzk_job_submit(cuzk_service *s, const cuzk_request *r, cuzk_ticket *out)
{
    cuzk_status st = CUZK_OK;

    pthread_mutex_lock(&s->mu);
    s->n_submits++;
    s->json = r->input_json.size != 0;
    if (s->json)
        copy(s->body, sizeof s->body, r->input_json.data, r->input_json.size);
    else
        copy(s->body, sizeof s->body, r->witness.data, r->witness.size);
    copy(s->circuit, sizeof s->circuit, r->circuit, strlen(r->circuit));
    copy(s->owner, sizeof s->owner, r->owner, strlen(r->owner));
    const char *id = r->request_id == NULL ? "made up" : r->request_id;
    copy(s->request_id, sizeof s->request_id, id, strlen(id));
    if (s->submit != CUZK_OK) st = refuse(s, s->submit);
    pthread_mutex_unlock(&s->mu);
    if (st != CUZK_OK) return st;
    memset(out, 0, sizeof *out);
    snprintf(out->job_id, sizeof out->job_id, "%s", id);
    snprintf(out->device, sizeof out->device, "cpu");
    out->queue_position = 3;
    return CUZK_OK;
}

static void call(cuzk_service *s, cuzk_wait_fn fn, void *ctx, cuzk_wait_end end)
{
    s->result.job_id = s->request_id;
    s->result.end = end;
    s->result.state = s->state;
    s->result.error = s->state == CUZK_JOB_FAILED ? &s->error : NULL;
    fn(ctx, &s->result);
}

cuzk_status cuzk_job_wait(cuzk_service *s, const char *job_id, uint64_t timeout_ms, cuzk_wait_fn fn,
                          void *ctx, uint64_t *wait)
{
    cuzk_status st = CUZK_OK;

    pthread_mutex_lock(&s->mu);
    *wait = 7;
    s->timeout_ms = timeout_ms;
    copy(s->request_id, sizeof s->request_id, job_id, strlen(job_id));
    if (s->wait != CUZK_OK) {
        st = refuse(s, s->wait);
    } else if (s->ends_at_once) {
        call(s, fn, ctx, CUZK_WAIT_ENDED);
    } else if (timeout_ms != 0) {
        call(s, fn, ctx, CUZK_WAIT_TIMEOUT);
    } else {
        s->ctx = ctx;
        s->fn = fn;
    }
    pthread_mutex_unlock(&s->mu);
    return st;
}

void fake_service_end(cuzk_service *s, cuzk_wait_end end)
{
    pthread_mutex_lock(&s->mu);
    if (s->fn != NULL) call(s, s->fn, s->ctx, end);
    s->fn = NULL;
    pthread_mutex_unlock(&s->mu);
}

bool fake_service_waited_for(cuzk_service *s)
{
    pthread_mutex_lock(&s->mu);
    bool yes = s->fn != NULL;
    pthread_mutex_unlock(&s->mu);
    return yes;
}

void cuzk_job_unwait(cuzk_service *s, uint64_t wait, bool gone)
{
    assert_int_equal(wait, 7);
    pthread_mutex_lock(&s->mu);
    s->n_unwaits++;
    s->n_gone += gone;
    s->fn = NULL;
    pthread_mutex_unlock(&s->mu);
}

cuzk_status cuzk_job_owned(cuzk_service *s, const char *job_id, const char *owner)
{
    cuzk_status st = CUZK_OK;

    (void)job_id;
    pthread_mutex_lock(&s->mu);
    if (strcmp(s->owner, owner) != 0) st = refuse(s, CUZK_EINVAL);
    pthread_mutex_unlock(&s->mu);
    return st;
}

cuzk_status cuzk_job_cancel(cuzk_service *s, const char *job_id, bool *was_running)
{
    cuzk_status st = CUZK_OK;

    pthread_mutex_lock(&s->mu);
    s->n_cancels++;
    copy(s->request_id, sizeof s->request_id, job_id, strlen(job_id));
    if (s->wait != CUZK_OK) st = refuse(s, s->wait);
    pthread_mutex_unlock(&s->mu);
    if (st == CUZK_OK) *was_running = true;
    return st;
}

bool cuzk_service_draining(const cuzk_service *s)
{
    return s->draining;
}

cuzk_status cuzk_service_document(cuzk_service *s, const char *path, cuzk_buffer *body,
                                  const char **content_type)
{
    pthread_mutex_lock(&s->mu);
    copy(s->path, sizeof s->path, path, strlen(path));
    pthread_mutex_unlock(&s->mu);
    if (strstr(path, "none") != NULL)
        return status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_NONE, "job_id",
                           "there is no such job");
    *content_type =
        strcmp(path, "/metrics") == 0 ? "text/plain; version=0.0.4" : "application/json";
    body->data = malloc(300);
    assert_non_null(body->data);
    body->size = (size_t)snprintf((char *)body->data, 300, "doc %s\n", path);
    return CUZK_OK;
}

void cuzk_service_events(cuzk_service *s, cuzk_event_fn fn, void *ctx)
{
    pthread_mutex_lock(&s->mu);
    s->on_event = fn;
    s->event_ctx = ctx;
    pthread_mutex_unlock(&s->mu);
}
