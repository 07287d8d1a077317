/*
 * unit/engine/service_support.c - a service for tests, requests made of the fixtures, waits
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "service_support.h"

#include <pthread.h>
#include <time.h>

#include "base/fault.h"
#include "engine/service.h"

#define WINDOW_MINER 1364727
#define WINDOW_RANDOMNESS "3399ae34d3f3e16bc86c5e90ad38ce564654e9162342f2729958a91151018536"

static char params_dir[512];
const char *service_devices;

static const char *devices_to_use(void)
{
    const char *named = getenv("CUZK_TEST_DEVICE");

    if (service_devices != NULL) return service_devices;
    return named != NULL ? named : "cpu";
}

const char *service_params(void)
{
    cuzk_config c = {.threads = 2, .device = "cpu"};
    cuzk_engine *e;

    if (params_dir[0] != 0) return params_dir;
    (void)snprintf(params_dir, sizeof params_dir, "%s", harness_temp_path("params"));
    assert_status_ok(cuzk_engine_open(&e, &c));
    assert_status_ok(cuzk_filecoin_setup(e, "window-2k", params_dir, NULL));
    cuzk_engine_close(e);
    return params_dir;
}

const cuzk_circuit *service_test_circuit(void)
{
    static cuzk_circuit c;
    static char zkey[512], r1cs[512];

    (void)snprintf(zkey, sizeof zkey, "%s", harness_vector("circom/bn128/merkle5/circuit.zkey"));
    (void)snprintf(r1cs, sizeof r1cs, "%s", harness_vector("circom/bn128/merkle5/circuit.r1cs"));
    c = (cuzk_circuit){.name = "merkle5", .zkey = zkey, .r1cs = r1cs};
    return &c;
}

static void log_line(void *ctx, int level, const char *event, const cuzk_log_field *f, size_t n)
{
    (void)ctx;
    if (level > CUZK_LOG_WARN) return;
    (void)fprintf(stderr, "log %s", event);
    for (size_t i = 0; i < n; i++) {
        if (f[i].text != NULL)
            (void)fprintf(stderr, " %s=%s", f[i].key, f[i].text);
        else
            (void)fprintf(stderr, " %s=%lld", f[i].key, (long long)f[i].number);
    }
    (void)fprintf(stderr, "\n");
}

void service_start_config(test_service *t, unsigned threads, cuzk_service_config *c)
{
    cuzk_config ec = {.threads = threads, .device = devices_to_use()};

    c->params_dir = service_params();
    c->log = log_line;
    if (c->tunables.circuits == NULL) {
        c->tunables.circuits = service_test_circuit();
        c->tunables.n_circuits = 1;
    }
    assert_status_ok(cuzk_engine_open(&t->e, &ec));
    assert_status_ok(cuzk_service_open(&t->s, t->e, c));
}

void service_start(test_service *t, unsigned threads, const char *db,
                   const cuzk_service_tunables *tune)
{
    cuzk_service_config c = {
        .store = db, .memory_total = (uint64_t)4 << 30, .memory_critical = (uint64_t)1 << 30};

    if (tune != NULL) c.tunables = *tune;
    service_start_config(t, threads, &c);
}

void service_stop(test_service *t)
{
    cuzk_service_close(t->s);
    cuzk_engine_close(t->e);
    t->s = NULL;
    t->e = NULL;
}

void request_window(test_request *q, const char *id, unsigned n_sectors)
{
    memset(q, 0, sizeof *q);
    q->r = (cuzk_request){.request_id = id,
                          .kind = CUZK_WINDOW,
                          .sector_size = 2048,
                          .registered_proof = 10,
                          .miner_id = WINDOW_MINER,
                          .n_vanilla_proofs = n_sectors,
                          .vanilla_proofs = q->pieces,
                          .randomness = {q->randomness, 32}};
    harness_from_hex(q->randomness, 32, WINDOW_RANDOMNESS);
    for (unsigned i = 0; i < n_sectors; i++) {
        char name[128];

        (void)snprintf(name, sizeof name, "filecoin/2kib/window-v1_1/vanilla-%u.bin", i);
        q->files[i] = harness_read_file(harness_vector(name), &q->pieces[i].size);
        q->pieces[i].data = q->files[i];
    }
}

void request_circom(test_request *q, const char *id)
{
    memset(q, 0, sizeof *q);
    q->r = (cuzk_request){.request_id = id, .kind = CUZK_GROTH16, .circuit = "merkle5"};
    q->files[0] =
        harness_read_file(harness_vector("circom/bn128/merkle5/witness.wtns"), &q->r.witness.size);
    q->r.witness.data = q->files[0];
}

void request_clear(test_request *q)
{
    for (unsigned i = 0; i < 4; i++) free(q->files[i]);
    memset(q, 0, sizeof *q);
}

/* ---- waiting ---- */

typedef struct waiting {
    pthread_mutex_t mu;
    pthread_cond_t cond;
    told *out;
    bool done;
} waiting;

static void copy_text(char *out, size_t cap, cuzk_bytes b)
{
    assert_true(b.size < cap);
    if (b.size != 0) memcpy(out, b.data, b.size);
    out[b.size] = 0;
}

static void tell(void *ctx, const cuzk_job_result *r)
{
    waiting *w = ctx;

    (void)pthread_mutex_lock(&w->mu);
    w->out->end = r->end;
    w->out->state = r->state;
    assert_true(r->proof.size <= sizeof w->out->proof);
    if (r->proof.size != 0) memcpy(w->out->proof, r->proof.data, r->proof.size);
    w->out->proof_size = r->proof.size;
    copy_text(w->out->proof_json, sizeof w->out->proof_json, r->proof_json);
    copy_text(w->out->public_json, sizeof w->out->public_json, r->public_json);
    if (r->error != NULL) w->out->error = *r->error;
    w->out->times = r->times;
    w->out->calls++;
    w->done = true;
    (void)pthread_cond_signal(&w->cond);
    (void)pthread_mutex_unlock(&w->mu);
}

void wait_for_job(cuzk_service *s, const char *job_id, uint64_t timeout_ms, told *out)
{
    waiting w = {.mu = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER, .out = out};
    uint64_t id;

    memset(out, 0, sizeof *out);
    assert_status_ok(cuzk_job_wait(s, job_id, timeout_ms, tell, &w, &id));
    (void)pthread_mutex_lock(&w.mu);
    while (!w.done) (void)pthread_cond_wait(&w.cond, &w.mu);
    (void)pthread_mutex_unlock(&w.mu);
    cuzk_job_unwait(s, id, false);
    assert_int_equal(out->calls, 1);
}

void service_pause(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&t, NULL);
}

void hold_device(cuzk_service *s, bool hold)
{
    stage_hold(service_of(s)->device, hold);
}

#ifdef CUZK_VERIFY
void wait_until_held(const char *place)
{
    for (unsigned tries = 0; !fault_held(place); tries++) {
        if (tries == 300000) fail_msg("nobody came to %s", place);
        service_pause(1);
    }
}
#endif

double json_number(const char *json, const char *name)
{
    char key[64];
    const char *at;

    (void)snprintf(key, sizeof key, "\"%s\":", name);
    at = strstr(json, key);
    if (at == NULL) fail_msg("no %s in %s", key, json);
    return strtod(at + strlen(key), NULL);
}

char *document(cuzk_service *s, const char *path)
{
    cuzk_buffer b = {0};
    const char *type;
    char *copy;

    assert_status_ok(cuzk_service_document(s, path, &b, &type));
    copy = strdup((const char *)b.data);
    assert_non_null(copy);
    cuzk_buffer_clear(&b);
    return copy;
}
