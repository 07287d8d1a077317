/*
 * unit/app/test_rpc_bulk.c - while large requests are being admitted, small ones are
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <pthread.h>
#include <unistd.h>

#include "app/rpc.h"
#include "base/status.h"
#include "wire/access.h"
#include "wire/grpc_client.h"
#include "wire/proto/proving.pb-c.h"

#define SUBMIT "/cuzk.v1.ProvingEngine/SubmitProof"
#define LARGE ((size_t)2 << 20)
#define N_LARGE 8 /* more than the server and its lanes have threads */

/* ---- a service that does not come to an end with what is large, until it is let ---- */

struct cuzk_service {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    /* guarded by mu */
    bool go;
    unsigned held, taken;
};

cuzk_status cuzk_job_submit(cuzk_service *s, const cuzk_request *r, cuzk_ticket *out)
{
    (void)pthread_mutex_lock(&s->mu);
    if (r->vanilla_proof.size >= LARGE) {
        s->held++;
        (void)pthread_cond_broadcast(&s->changed);
        while (!s->go) (void)pthread_cond_wait(&s->changed, &s->mu);
    }
    s->taken++;
    (void)pthread_mutex_unlock(&s->mu);
    memset(out, 0, sizeof *out);
    (void)snprintf(out->job_id, sizeof out->job_id, "%s", r->request_id);
    return CUZK_OK;
}

/* What the face calls besides. */
static cuzk_status none(void)
{
    return FAIL(CUZK_EINVAL, "not in this test");
}

cuzk_status cuzk_job_wait(cuzk_service *s, const char *job_id, uint64_t timeout_ms, cuzk_wait_fn fn,
                          void *ctx, uint64_t *wait)
{
    (void)s, (void)job_id, (void)timeout_ms, (void)fn, (void)ctx, (void)wait;
    return none();
}

void cuzk_job_unwait(cuzk_service *s, uint64_t wait, bool gone)
{
    (void)s, (void)wait, (void)gone;
}

cuzk_status cuzk_job_owned(cuzk_service *s, const char *job_id, const char *owner)
{
    (void)s, (void)job_id, (void)owner;
    return none();
}

cuzk_status cuzk_job_cancel(cuzk_service *s, const char *job_id, bool *was_running)
{
    (void)s, (void)job_id, (void)was_running;
    return none();
}

cuzk_status cuzk_key_preload(cuzk_service *s, const char *circuit, bool *was_loaded, uint64_t *ms)
{
    (void)s, (void)circuit, (void)was_loaded, (void)ms;
    return none();
}

cuzk_status cuzk_key_evict(cuzk_service *s, const char *circuit, bool *was_loaded,
                           uint64_t *freed_bytes)
{
    (void)s, (void)circuit, (void)was_loaded, (void)freed_bytes;
    return none();
}

cuzk_status cuzk_service_rows(cuzk_service *s, cuzk_status_rows *out)
{
    (void)s, (void)out;
    return none();
}

void cuzk_status_rows_clear(cuzk_status_rows *r)
{
    (void)r;
}

cuzk_status cuzk_service_document(cuzk_service *s, const char *path, cuzk_buffer *body,
                                  const char **content_type)
{
    (void)s, (void)path, (void)body, (void)content_type;
    return none();
}

/* ---- clients ---- */

static char address[600];

/* The code of a SubmitProof whose vanilla proof is of so many bytes. */
static gcode submit(size_t size)
{
    gclient_config config = {.address = address};
    Cuzk__V1__SubmitProofRequest q = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    char id[] = "x";
    uint8_t *proof = calloc(1, size), *packed;
    gclient *c;
    greply r = {0};
    gcode code;
    size_t n;

    assert_non_null(proof);
    q.request_id = id;
    q.proof_kind = CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
    q.vanilla_proof = (ProtobufCBinaryData){size, proof};
    n = cuzk__v1__submit_proof_request__get_packed_size(&q);
    packed = malloc(n);
    assert_non_null(packed);
    (void)cuzk__v1__submit_proof_request__pack(&q, packed);
    assert_status_ok(gclient_open(&c, &config));
    assert_status_ok(gclient_call(c, SUBMIT, packed, n, &(gcall_options){0}, &r));
    code = r.code;
    greply_clear(&r);
    gclient_close(c);
    free(packed);
    free(proof);
    return code;
}

static void *submit_large(void *code)
{
    *(gcode *)code = submit(LARGE);
    return NULL;
}

static void test_small_ones_pass(void **state)
{
    cuzk_service s = {.mu = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    access_config everybody = {0};
    const char *listen[] = {address};
    rpc_config config = {.listen = listen, .n_listen = 1};
    pthread_t thread[N_LARGE];
    gcode code[N_LARGE];
    rpc *r;

    (void)state;
    (void)snprintf(address, sizeof address, "unix://%s", harness_temp_path("rpc.sock"));
    assert_status_ok(access_open(&config.access, &everybody));
    assert_status_ok(rpc_start(&r, &config, &s));
    for (unsigned i = 0; i < N_LARGE; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, submit_large, &code[i]), 0);
    (void)pthread_mutex_lock(&s.mu);
    while (s.held < 2) (void)pthread_cond_wait(&s.changed, &s.mu);
    (void)pthread_mutex_unlock(&s.mu);
    (void)alarm(300); /* it may never be answered */
    for (unsigned i = 0; i < 20; i++) assert_int_equal(submit(1000), GCODE_OK);
    (void)alarm(0);
    (void)pthread_mutex_lock(&s.mu);
    assert_int_equal(s.taken, 20);
    s.go = true;
    (void)pthread_cond_broadcast(&s.changed);
    (void)pthread_mutex_unlock(&s.mu);
    for (unsigned i = 0; i < N_LARGE; i++) {
        (void)pthread_join(thread[i], NULL);
        assert_int_equal(code[i], GCODE_OK);
    }
    assert_int_equal(s.taken, 20 + N_LARGE);
    rpc_stop(r, 1000);
    access_close(config.access);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_ones_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
