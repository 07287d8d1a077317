/*
 * bench/bench_service.c - what the service adds, and how long urgent work waits
 *
 * usage: bench_service overhead FIXTURES [STORE]     a small circuit, submit to result, against the same proof without a service
 *        bench_service latency FIXTURES KEYS [N]     WinningPoSt on an idle service, then beside 20 PoReps that wait and run
 *        bench_service porep FIXTURES KEYS           PoRep proofs one after the other: estimates, safe points, coverage
 *
 * KEYS: a folder with porep-2k and winning-2k (cuzk setup). Prints one CSV line a case: case,n,min_ms,median_ms,p99_ms.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "cuzk_service.h"

#define MAX_N 1000

static void check(cuzk_status st, const char *what)
{
    if (st == CUZK_OK) return;
    (void)fprintf(stderr, "%s: %s: %s\n", what, cuzk_last_error()->where,
                  cuzk_last_error()->message);
    exit(1);
}

/* ---- waiting ---- */

typedef struct waiting {
    pthread_mutex_t mu;
    pthread_cond_t cond;
    bool done;
    cuzk_job_state state;
    cuzk_job_times times;
} waiting;

static void tell(void *ctx, const cuzk_job_result *r)
{
    waiting *w = ctx;

    (void)pthread_mutex_lock(&w->mu);
    w->state = r->state;
    w->times = r->times;
    if (r->error != NULL) (void)fprintf(stderr, "%s: %s\n", r->job_id, r->error->message);
    w->done = true;
    (void)pthread_cond_signal(&w->cond);
    (void)pthread_mutex_unlock(&w->mu);
}

static cuzk_job_times prove(cuzk_service *s, const cuzk_request *r)
{
    waiting w = {.mu = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    static cuzk_ticket k;
    uint64_t id;

    check(cuzk_job_submit(s, r, &k), "submit");
    check(cuzk_job_wait(s, k.job_id, 0, tell, &w, &id), "wait");
    (void)pthread_mutex_lock(&w.mu);
    while (!w.done) (void)pthread_cond_wait(&w.cond, &w.mu);
    (void)pthread_mutex_unlock(&w.mu);
    cuzk_job_unwait(s, id, false);
    if (w.state != CUZK_JOB_COMPLETED) exit(1);
    return w.times;
}

/* ---- results ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void report(const char *name, double *ms, size_t n)
{
    qsort(ms, n, sizeof *ms, by_value);
    (void)printf("%s,%zu,%.3f,%.3f,%.3f\n", name, n, ms[0], ms[n / 2], ms[n * 99 / 100]);
    (void)fflush(stdout);
}

static double ms_since(uint64_t from)
{
    return (double)(clock_ns() - from) / 1e6;
}

static double number_in(cuzk_service *s, const char *path, const char *name)
{
    cuzk_buffer b;
    const char *type, *at;
    double v;

    check(cuzk_service_document(s, path, &b, &type), path);
    at = strstr((const char *)b.data, name);
    v = at == NULL ? -1 : strtod(at + strlen(name), NULL);
    cuzk_buffer_clear(&b);
    return v;
}

/* ---- inputs ---- */

static cuzk_bytes load(const char *dir, const char *name)
{
    char path[1024];
    file_map f;

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    check(file_map_open(&f, path), path);
    return (cuzk_bytes){f.data, f.size}; /* mapped until the end */
}

static cuzk_request winning(const char *fixtures, uint8_t randomness[32], cuzk_bytes *piece)
{
    static const char hex[] = "37cf4e418abe44e3f50a6d24f43f0825157b081230277ed4e8a5089882de9b3c";

    if (!hex_decode(randomness, 32, hex, 64)) exit(1);
    *piece = load(fixtures, "filecoin/2kib/winning/vanilla-0.bin");
    return (cuzk_request){.kind = CUZK_WINNING,
                          .sector_size = 2048,
                          .registered_proof = 0,
                          .miner_id = 2605628,
                          .vanilla_proofs = piece,
                          .n_vanilla_proofs = 1,
                          .randomness = {randomness, 32}};
}

static cuzk_request porep(const char *fixtures)
{
    return (cuzk_request){.kind = CUZK_POREP,
                          .sector_size = 2048,
                          .registered_proof = 5,
                          .miner_id = 1595855,
                          .sector_number = 544162,
                          .vanilla_proof =
                              load(fixtures, "filecoin/2kib/porep-v1_1/c1-wrapped.json")};
}

/* ---- cases ---- */

static void overhead(cuzk_engine *e, const char *fixtures, const char *store)
{
    static double with[MAX_N], without[MAX_N];
    char zkey[1024], wtns[1024];
    cuzk_circuit c = {.name = "mult3", .zkey = zkey};
    cuzk_service_config config = {
        .store = store, .memory_margin = UINT64_MAX, .tunables = {.circuits = &c, .n_circuits = 1}};
    cuzk_circom_prove_args args = {.zkey = zkey, .wtns = wtns};
    cuzk_service *s;
    enum { N = 200 };

    (void)snprintf(zkey, sizeof zkey, "%s/circom/bn128/mult3/circuit.zkey", fixtures);
    (void)snprintf(wtns, sizeof wtns, "%s/circom/bn128/mult3/witness.wtns", fixtures);
    cuzk_request r = {.kind = CUZK_GROTH16,
                      .circuit = "mult3",
                      .witness = load(fixtures, "circom/bn128/mult3/witness.wtns")};
    for (int i = 0; i < N; i++) {
        cuzk_buffer proof, pub;
        uint64_t from = clock_ns();

        check(cuzk_circom_prove(e, &args, &proof, &pub), "prove");
        without[i] = ms_since(from);
        cuzk_buffer_clear(&proof);
        cuzk_buffer_clear(&pub);
    }
    check(cuzk_service_open(&s, e, &config), "service");
    for (int i = 0; i < N; i++) {
        uint64_t from = clock_ns();

        (void)prove(s, &r); /* no id: a fresh job each time */
        with[i] = ms_since(from);
    }
    report("mult3 inline", without, N);
    report(store == NULL ? "mult3 through the service, no store" : "mult3 through the service",
           with, N);
    cuzk_service_close(s);
}

static void latency(cuzk_engine *e, const char *fixtures, const char *keys, int n)
{
    static double idle[MAX_N], busy[MAX_N], queue[MAX_N];
    static uint8_t randomness[32];
    static cuzk_bytes piece;
    static cuzk_ticket k;
    cuzk_service_config config = {
        .params_dir = keys, .memory_margin = UINT64_MAX, .memory_critical = (uint64_t)1 << 30};
    cuzk_request w = winning(fixtures, randomness, &piece), p = porep(fixtures);
    cuzk_service *s;

    check(cuzk_service_open(&s, e, &config), "service");
    (void)prove(s, &w); /* its key is loaded from here on */
    for (int i = 0; i < n; i++) {
        uint64_t from = clock_ns();

        (void)prove(s, &w);
        idle[i] = ms_since(from);
    }
    for (int i = 0; i < 20; i++) check(cuzk_job_submit(s, &p, &k), "submit");
    struct timespec pause = {2, 0};
    (void)nanosleep(&pause, NULL);
    for (int i = 0; i < n; i++) {
        struct timespec gap = {0, 150000000 + (i * 37 % 100) *
                                                  3000000}; /* at different places of a proof */
        uint64_t from;

        (void)nanosleep(&gap, NULL);
        from = clock_ns();
        queue[i] = (double)prove(s, &w).queue_ms;
        busy[i] = ms_since(from);
    }
    report("winning-2k, idle service", idle, (size_t)n);
    report("winning-2k beside 20 PoReps", busy, (size_t)n);
    report("winning-2k beside 20 PoReps, waited", queue, (size_t)n);
    (void)printf("# longest step between safe points: %.1f ms\n",
                 number_in(s, "/status", "\"safe_point_max_ms\":"));
    cuzk_service_close(s);
}

static void poreps(cuzk_engine *e, const char *fixtures, const char *keys)
{
    cuzk_service_config config = {.params_dir = keys, .memory_margin = UINT64_MAX};
    cuzk_request p = porep(fixtures);
    static double ms[MAX_N];
    cuzk_service *s;

    check(cuzk_service_open(&s, e, &config), "service");
    for (int i = 0; i < 3; i++) {
        uint64_t from = clock_ns();

        (void)prove(s, &p);
        ms[i] = ms_since(from);
    }
    report("porep-2k through the service", ms, 3);
    (void)printf("# longest step %.1f ms, coverage of jobs %.3f%%, of workers %.3f%%, estimate "
                 "error max %.3f mean %.3f\n",
                 number_in(s, "/status", "\"safe_point_max_ms\":"),
                 number_in(s, "/status", "\"jobs_percent\":"),
                 number_in(s, "/status", "\"workers_percent\":"),
                 number_in(s, "/metrics", "\ncuzk_memory_estimate_error_max "),
                 number_in(s, "/metrics", "\ncuzk_memory_estimate_error_mean "));
    cuzk_service_close(s);
}

int main(int argc, char **argv)
{
    cuzk_config c = {0};
    cuzk_engine *e;

    if (argc < 3) {
        (void)fprintf(stderr, "usage: bench_service overhead FIXTURES [STORE] | latency FIXTURES "
                              "KEYS [N] | porep FIXTURES KEYS\n");
        return 2;
    }
    check(cuzk_engine_open(&e, &c), "engine");
    (void)printf("case,n,min_ms,median_ms,p99_ms\n");
    if (strcmp(argv[1], "overhead") == 0)
        overhead(e, argv[2], argc > 3 ? argv[3] : NULL);
    else if (strcmp(argv[1], "latency") == 0 && argc > 3)
        latency(e, argv[2], argv[3], argc > 4 ? atoi(argv[4]) : 20);
    else if (strcmp(argv[1], "porep") == 0 && argc > 3)
        poreps(e, argv[2], argv[3]);
    cuzk_engine_close(e);
    return 0;
}
