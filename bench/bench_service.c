/*
 * bench/bench_service.c - what the service adds, and how long urgent work waits
 *
 * usage: bench_service overhead FIXTURES [STORE]     a small circuit, submit to result, against the same proof without a service
 *        bench_service latency FIXTURES KEYS [N]     WinningPoSt on an idle service, then beside 20 PoReps that wait and run
 *        bench_service porep FIXTURES KEYS           PoRep proofs one after the other: estimates, safe points, coverage, spans
 *        bench_service request DIR [STORE] [N]       a PoRep request of a large sector over gRPC on loopback; DIR: made by
 *                                                    cuzk gen --kind porep --sector-size 32GiB --output DIR
 *
 * All of them: tools/bench_service. KEYS: a folder with porep-2k and winning-2k (cuzk setup). Prints one CSV line a case: case,n,min_ms,median_ms,p99_ms,cpu_ms; cpu_ms: the
 * mean of a repetition, of the measuring thread, or of the process where the case says so; empty: not measured.
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
#include "base/span.h"
#include "bench_service.h"

#define MAX_N 1000

void bench_check(cuzk_status st, const char *what)
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

    bench_check(cuzk_job_submit(s, r, &k), "submit");
    bench_check(cuzk_job_wait(s, k.job_id, 0, tell, &w, &id), "wait");
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

double bench_cpu_ms(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void bench_report(const char *name, double *ms, size_t n, double cpu_ms)
{
    qsort(ms, n, sizeof *ms, by_value);
    (void)printf("%s,%zu,%.3f,%.3f,%.3f,", name, n, ms[0], ms[n / 2], ms[n * 99 / 100]);
    if (cpu_ms >= 0) (void)printf("%.3f", cpu_ms / (double)n);
    (void)printf("\n");
    (void)fflush(stdout);
}

double bench_ms_since(uint64_t from)
{
    return (double)(clock_ns() - from) / 1e6;
}

static double number_in(cuzk_service *s, const char *path, const char *name)
{
    cuzk_buffer b;
    const char *type, *at;
    double v;

    bench_check(cuzk_service_document(s, path, &b, &type), path);
    at = strstr((const char *)b.data, name);
    v = at == NULL ? -1 : strtod(at + strlen(name), NULL);
    cuzk_buffer_clear(&b);
    return v;
}

/* ---- inputs ---- */

cuzk_bytes bench_load(const char *path)
{
    file_map f;

    bench_check(file_map_open(&f, path), path);
    return (cuzk_bytes){f.data, f.size};
}

static cuzk_bytes load(const char *dir, const char *name)
{
    char path[1024];

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return bench_load(path);
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
    static double with[MAX_N], without[MAX_N], own[MAX_N];
    double cpu[2];
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
    cpu[0] = bench_cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < N; i++) {
        cuzk_buffer proof, pub;
        uint64_t from = clock_ns();

        bench_check(cuzk_circom_prove(e, &args, &proof, &pub), "prove");
        without[i] = bench_ms_since(from);
        cuzk_buffer_clear(&proof);
        cuzk_buffer_clear(&pub);
    }
    cpu[0] = bench_cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu[0];
    bench_check(cuzk_service_open(&s, e, &config), "service");
    (void)prove(s, &r); /* its key is loaded from here on */
    cpu[1] = bench_cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < N; i++) {
        uint64_t from = clock_ns();
        cuzk_job_times t = prove(s, &r); /* no id: a fresh job each time */

        with[i] = bench_ms_since(from);
        own[i] = with[i] -
                 (double)(t.decode_ms + t.synthesis_ms + t.device_ms + t.verify_ms + t.store_ms);
    }
    cpu[1] = bench_cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu[1];
    bench_report("mult3 inline", without, N, cpu[0]);
    bench_report(store == NULL ? "mult3 through the service, no store"
                               : "mult3 through the service",
                 with, N, cpu[1]);
    bench_report("mult3, the service's own", own, N, -1);
    if (store != NULL)
        (void)printf("# a transaction of the store with its sync: %.3f ms in the mean of %.0f\n",
                     1e3 * number_in(s, "/metrics", "\ncuzk_store_sync_seconds_sum ") /
                         number_in(s, "/metrics", "\ncuzk_store_sync_seconds_count "),
                     number_in(s, "/metrics", "\ncuzk_store_sync_seconds_count "));
    cuzk_service_close(s);
}

/* The documents that the panel reads, while the service is busy, and what a panel costs: it reads /status each second, the end of
   the timeline every other, ended jobs every five, the whole timeline once a minute. */
static void documents(cuzk_service *s)
{
    static const struct {
        const char *path;
        double each_second;
        int n;
    } docs[] = {{"/status", 1, 200},
                {"/timeline?since=-2000", 0.5, 50},
                {"/jobs?limit=60", 0.2, 50},
                {"/timeline?since=0", 1.0 / 60, 10}};
    static double ms[MAX_N];
    double panel = 0;

    for (size_t k = 0; k < sizeof docs / sizeof docs[0]; k++) {
        double cpu = bench_cpu_ms(CLOCK_THREAD_CPUTIME_ID);
        char path[64], name[96];

        (void)snprintf(path, sizeof path, "%s", docs[k].path);
        if (strstr(path, "=-2000") != NULL)
            (void)snprintf(path, sizeof path, "/timeline?since=%.0f",
                           number_in(s, "/status", "\"now_ms\":") - 2000);
        for (int i = 0; i < docs[k].n; i++) {
            cuzk_buffer b;
            const char *type;
            uint64_t from = clock_ns();

            bench_check(cuzk_service_document(s, path, &b, &type), path);
            ms[i] = bench_ms_since(from);
            cuzk_buffer_clear(&b);
        }
        cpu = bench_cpu_ms(CLOCK_THREAD_CPUTIME_ID) - cpu;
        (void)snprintf(name, sizeof name, "%s while busy",
                       strcmp(path, docs[k].path) == 0 ? path : "/timeline of 2 s");
        bench_report(name, ms, (size_t)docs[k].n, cpu);
        panel += docs[k].each_second * cpu / docs[k].n;
    }
    (void)printf("# a panel: %.3f%% of a core\n", panel / 10);
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

    bench_check(cuzk_service_open(&s, e, &config), "service");
    (void)prove(s, &w); /* its key is loaded from here on */
    for (int i = 0; i < n; i++) {
        uint64_t from = clock_ns();

        (void)prove(s, &w);
        idle[i] = bench_ms_since(from);
    }
    for (int i = 0; i < 20; i++) bench_check(cuzk_job_submit(s, &p, &k), "submit");
    struct timespec pause = {2, 0};
    (void)nanosleep(&pause, NULL);
    for (int i = 0; i < n; i++) {
        struct timespec gap = {0, 150000000 + (i * 37 % 100) *
                                                  3000000}; /* at different places of a proof */
        uint64_t from;

        (void)nanosleep(&gap, NULL);
        from = clock_ns();
        queue[i] = (double)prove(s, &w).queue_ms;
        busy[i] = bench_ms_since(from);
    }
    documents(s);
    bench_report("winning-2k, idle service", idle, (size_t)n, -1);
    bench_report("winning-2k beside 20 PoReps", busy, (size_t)n, -1);
    bench_report("winning-2k beside 20 PoReps, waited", queue, (size_t)n, -1);
    (void)printf("# longest step between safe points: %.1f ms\n",
                 number_in(s, "/status", "\"safe_point_max_ms\":"));
    cuzk_service_close(s);
}

/* What recording costs a job: its spans times the cost of one, against its time. */
static void span_share(cuzk_engine *e, uint64_t job, double job_ms)
{
    enum { N = 1000000 };
    cuzk_attribution a;
    uint64_t n = 0, from;
    double one_ns;

    span_job_steps(cuzk_engine_spans(e), job, &a);
    for (size_t i = 0; i < a.n_steps; i++) n += a.steps[i].n;
    bench_check(span_attach(cuzk_engine_spans(e), "bench"), "track");
    from = clock_ns();
    for (int i = 0; i < N; i++) {
        span sp = span_open(SPAN_TASK);

        span_close(&sp);
    }
    one_ns = (double)(clock_ns() - from) / N;
    span_detach();
    (void)printf("# spans: %.0f of a job, %.0f ns each: %.4f%% of its time\n", (double)n, one_ns,
                 100 * (double)n * one_ns / 1e6 / job_ms);
}

static void poreps(cuzk_engine *e, const char *fixtures, const char *keys)
{
    cuzk_service_config config = {.params_dir = keys, .memory_margin = UINT64_MAX};
    cuzk_request p = porep(fixtures);
    static double ms[MAX_N];
    cuzk_service *s;

    bench_check(cuzk_service_open(&s, e, &config), "service");
    for (int i = 0; i < 3; i++) {
        uint64_t from = clock_ns();

        (void)prove(s, &p);
        ms[i] = bench_ms_since(from);
    }
    bench_report("porep-2k through the service", ms, 3, -1);
    (void)printf("# longest step %.1f ms, coverage of jobs %.3f%%, of workers %.3f%%, estimate "
                 "error max %.3f mean %.3f\n",
                 number_in(s, "/status", "\"safe_point_max_ms\":"),
                 number_in(s, "/status", "\"jobs_percent\":"),
                 number_in(s, "/status", "\"workers_percent\":"),
                 number_in(s, "/metrics", "\ncuzk_memory_estimate_error_max "),
                 number_in(s, "/metrics", "\ncuzk_memory_estimate_error_mean "));
    span_share(e, 3, ms[1]); /* ms is sorted */
    cuzk_service_close(s);
}

int main(int argc, char **argv)
{
    cuzk_config c = {0};
    cuzk_engine *e;

    if (argc < 3) {
        (void)fprintf(stderr, "usage: bench_service overhead FIXTURES [STORE] | latency FIXTURES "
                              "KEYS [N] | porep FIXTURES KEYS | request DIR [STORE] [N]\n");
        return 2;
    }
    bench_check(cuzk_engine_open(&e, &c), "engine");
    (void)printf("case,n,min_ms,median_ms,p99_ms,cpu_ms\n");
    if (strcmp(argv[1], "overhead") == 0)
        overhead(e, argv[2], argc > 3 ? argv[3] : NULL);
    else if (strcmp(argv[1], "latency") == 0 && argc > 3)
        latency(e, argv[2], argv[3], argc > 4 ? atoi(argv[4]) : 20);
    else if (strcmp(argv[1], "porep") == 0 && argc > 3)
        poreps(e, argv[2], argv[3]);
#ifdef CUZK_HAS_SERVICE
    else if (strcmp(argv[1], "request") == 0)
        bench_request(e, argv[2], argc > 3 && argv[3][0] != 0 ? argv[3] : NULL,
                      argc > 4 ? atoi(argv[4]) : 20);
#endif
    cuzk_engine_close(e);
    return 0;
}
