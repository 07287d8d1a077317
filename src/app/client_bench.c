/*
 * app/client_bench.c - `cuzk bench --daemon`: a load of real jobs on a running daemon: throughput, latency, where the time went
 *
 * Each worker of a pool is a client with a connection of its own that sends the same request again and again under fresh ids, so
 * that every one is proved. Latency is the client's: from the call to its answer. What of it was not the job's own is `outside`.
 *
 * Source: spec/cli.md.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "app/client_request.h"
#include "app/commands.h"
#include "base/clock.h"
#include "base/pool.h"

typedef Cuzk__V1__AwaitProofResponse result;

#define PROVE "/cuzk.v1.ProvingEngine/Prove"
#define DEFAULT_JOBS 20
#define MAX_JOBS 1000000
#define MAX_CLIENTS 256

/* name, member of the answer; the order of the table that is printed */
#define PARTS(X) \
    X("queue", queue_wait_ms) \
    X("key load", srs_load_ms) \
    X("decode", decode_ms) \
    X("synthesis", synthesis_ms) \
    X("device", gpu_compute_ms) \
    X("verify", verify_ms) \
    X("store", store_ms) \
    X("rest", rest_ms)
#define PART_NAME(name, member) name,
static const char *const part_names[] = {PARTS(PART_NAME)};
#define N_PARTS (sizeof part_names / sizeof part_names[0])

typedef struct outcome {
    uint64_t ns, total_ms;
    uint64_t part_ms[N_PARTS];
    bool proved;
} outcome;

typedef struct load {
    /* fixed before the run */
    report *r;
    const uint8_t *request;
    size_t size;
    unsigned n_jobs, n_clients;
    client *clients; /* of each worker */
    /* each by the task of its index alone */
    outcome *jobs;
    char (*why)[320]; /* of each worker: its latest failure */
    uint64_t *peak;   /* of each worker: the most memory that the daemon told */
} load;

/* ---- one job ---- */

static void keep(outcome *to, const result *a)
{
#define PART_VALUE(name, member) a->member,
    const uint64_t v[] = {PARTS(PART_VALUE)};

    memcpy(to->part_ms, v, sizeof v);
    to->total_ms = a->total_ms;
    to->proved = a->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
}

static void note_memory(load *l, unsigned worker)
{
    Cuzk__V1__GetStatusResponse *a;
    greply reply = {.size = 0};

    if (gclient_call(l->clients[worker].g, "/cuzk.v1.ProvingEngine/GetStatus", "", 0, NULL,
                     &reply) != CUZK_OK)
        return;
    a = cuzk__v1__get_status_response__unpack(NULL, reply.size, reply.data);
    greply_clear(&reply);
    if (a == NULL) return;
    if (a->pinned_memory_bytes > l->peak[worker]) l->peak[worker] = a->pinned_memory_bytes;
    cuzk__v1__get_status_response__free_unpacked(a, NULL);
}

/** CUZK_EIO: the daemon is not there, or has gone: nothing more can be measured. */
static cuzk_status one_job(void *ctx, size_t i, unsigned worker)
{
    load *l = ctx;
    Cuzk__V1__ProveResponse *a;
    greply reply = {.size = 0};
    uint64_t from = clock_ns();
    cuzk_status st = gclient_call(l->clients[worker].g, PROVE, l->request, l->size, NULL, &reply);

    l->jobs[i].ns = clock_ns() - from;
    if (st != CUZK_OK) return st;
    a = reply.code == GCODE_OK ? cuzk__v1__prove_response__unpack(NULL, reply.size, reply.data)
                               : NULL;
    if (a != NULL && a->result != NULL) keep(&l->jobs[i], a->result);
    if (!l->jobs[i].proved)
        (void)snprintf(l->why[worker], sizeof l->why[worker], "%.300s",
                       reply.code != GCODE_OK             ? reply.text
                       : a == NULL || a->result == NULL   ? "an answer that cannot be read"
                       : a->result->error_message[0] == 0 ? "it was cancelled"
                                                          : a->result->error_message);
    if (a != NULL) cuzk__v1__prove_response__free_unpacked(a, NULL);
    greply_clear(&reply);
    note_memory(l, worker);
    return CUZK_OK;
}

/* ---- what came of it ---- */

typedef struct summary {
    unsigned proved, failed;
    uint64_t min, median, p95, p99, peak; /* ns; bytes */
    double seconds, mean_ms, outside_ms, part_ms[N_PARTS];
} summary;

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static bool summarise(const load *l, uint64_t wall_ns, summary *s)
{
    uint64_t *ns = calloc(l->n_jobs, sizeof *ns);
    double total = 0, wall = 0;

    if (ns == NULL) return false;
    *s = (summary){.seconds = (double)wall_ns / 1e9};
    for (unsigned i = 0; i < l->n_jobs; i++) {
        const outcome *o = &l->jobs[i];

        if (!o->proved) {
            s->failed++;
            continue;
        }
        ns[s->proved++] = o->ns;
        wall += (double)o->ns / 1e6;
        total += (double)o->total_ms;
        for (size_t k = 0; k < N_PARTS; k++) s->part_ms[k] += (double)o->part_ms[k];
    }
    for (unsigned w = 0; w < l->n_clients; w++)
        if (l->peak[w] > s->peak) s->peak = l->peak[w];
    if (s->proved != 0) {
        size_t n = s->proved;

        qsort(ns, n, sizeof ns[0], by_value);
        s->min = ns[0];
        s->median = ns[n / 2];
        s->p95 = ns[(n - 1) * 95 / 100];
        s->p99 = ns[(n - 1) * 99 / 100];
        s->mean_ms = wall / (double)n;
        s->outside_ms = wall > total ? (wall - total) / (double)n : 0;
        for (size_t k = 0; k < N_PARTS; k++) s->part_ms[k] /= (double)n;
    }
    free(ns);
    return true;
}

static void print_json(const load *l, const char *name, const summary *s)
{
    printf("{\"version\":\"%s\",\"results\":[{\"case\":", cuzk_version());
    report_json_string(name);
    printf(",\"n\":%u,\"reps\":%u,\"min_ns\":%llu,\"median_ns\":%llu,\"p95_ns\":%llu,\"p99_ns\":%"
           "llu,\"peak_bytes\":%llu}],\"seconds\":%.3f,\"proofs_per_hour\":%.1f,\"failed\":%u,"
           "\"attribution\":{",
           l->n_clients, s->proved, (unsigned long long)s->min, (unsigned long long)s->median,
           (unsigned long long)s->p95, (unsigned long long)s->p99, (unsigned long long)s->peak,
           s->seconds, 3600 * s->proved / s->seconds, s->failed);
    for (size_t k = 0; k < N_PARTS; k++) printf("\"%s\":%.3f,", part_names[k], s->part_ms[k]);
    printf("\"outside\":%.3f,\"total\":%.3f}}\n", s->outside_ms, s->mean_ms);
}

static void print_table(const load *l, const char *name, const summary *s)
{
    double share = s->mean_ms > 0 ? 100 / s->mean_ms : 0;

    printf("case,n,reps,min_ns,median_ns,p95_ns,p99_ns,peak_bytes\n%s,%u,%u,%llu,%llu,%llu,%llu,%"
           "llu\n",
           name, l->n_clients, s->proved, (unsigned long long)s->min, (unsigned long long)s->median,
           (unsigned long long)s->p95, (unsigned long long)s->p99, (unsigned long long)s->peak);
    printf("throughput: %.1f proofs an hour (%u in %.1f s, %u at a time), %u failed\n",
           3600 * s->proved / s->seconds, s->proved, s->seconds, l->n_clients, s->failed);
    printf("%-10s %12s %7s\n", "of a job", "ms", "%");
    for (size_t k = 0; k < N_PARTS; k++)
        printf("%-10s %12.3f %7.2f\n", part_names[k], s->part_ms[k], s->part_ms[k] * share);
    printf("%-10s %12.3f %7.2f\n", "outside", s->outside_ms, s->outside_ms * share);
    printf("%-10s %12.3f\n", "total", s->mean_ms);
}

static int show(load *l, uint64_t wall_ns)
{
    const options *o = l->r->o;
    char name[128];
    summary s;

    if (!summarise(l, wall_ns, &s))
        return client_failed(&l->clients[0], "resource", "out of memory", 4);
    (void)snprintf(name, sizeof name, "daemon %s", o->kind != NULL ? o->kind : o->circuit);
    if (s.failed == l->n_jobs) {
        for (unsigned w = 0; w < l->n_clients; w++)
            if (l->why[w][0] != 0)
                return client_failed(&l->clients[w], "limit", l->why[w], CLIENT_REFUSED);
    }
    if (o->json)
        print_json(l, name, &s);
    else
        print_table(l, name, &s);
    for (unsigned w = 0; w < l->n_clients && s.failed != 0; w++)
        if (l->why[w][0] != 0) fprintf(stderr, "cuzk bench: a job failed: %s\n", l->why[w]);
    return s.failed == 0 ? 0 : CLIENT_REFUSED;
}

/* ---- the run ---- */

static int run_load(load *l)
{
    pool *p = NULL;
    cuzk_status st = pool_open(&p, l->n_clients, NULL);
    uint64_t from;
    char text[600];
    int code;

    if (st != CUZK_OK) return report_failure(l->r, st);
    from = clock_ns();
    st = pool_run(p, NULL, l->n_jobs, one_job, l);
    from = clock_ns() - from;
    if (st == CUZK_EIO) {
        (void)snprintf(text, sizeof text, "no daemon answers (%s)", cuzk_last_error()->message);
        code = client_failed(&l->clients[0], "io", text, CLIENT_REFUSED);
    } else {
        code = st == CUZK_OK ? show(l, from) : report_failure(l->r, st);
    }
    pool_close(p);
    return code;
}

static int open_clients(load *l)
{
    int code = 0;

    l->clients = calloc(l->n_clients, sizeof *l->clients);
    l->jobs = calloc(l->n_jobs, sizeof *l->jobs);
    l->why = calloc(l->n_clients, sizeof *l->why);
    l->peak = calloc(l->n_clients, sizeof *l->peak);
    if (l->clients == NULL || l->jobs == NULL || l->why == NULL || l->peak == NULL)
        return report_failure(l->r, FAIL(CUZK_ENOMEM, "%u jobs: out of memory", l->n_jobs));
    for (unsigned i = 0; i < l->n_clients && code == 0; i++)
        code = client_open(&l->clients[i], l->r);
    return code;
}

static void close_clients(load *l)
{
    for (unsigned i = 0; l->clients != NULL && i < l->n_clients; i++) client_close(&l->clients[i]);
    free(l->clients);
    free(l->jobs);
    free(l->why);
    free(l->peak);
}

/** The request, packed once: all clients send the same bytes. */
static uint8_t *pack(Cuzk__V1__SubmitProofRequest *m, size_t *size)
{
    Cuzk__V1__ProveRequest q = CUZK__V1__PROVE_REQUEST__INIT;
    uint8_t *data;

    q.submit = m;
    *size = protobuf_c_message_get_packed_size(&q.base);
    data = malloc(*size + 1);
    if (data != NULL) (void)protobuf_c_message_pack(&q.base, data);
    return data;
}

int command_bench_daemon(report *r)
{
    const options *o = r->o;
    load l = {.r = r,
              .n_jobs = o->reps == 0 ? DEFAULT_JOBS : o->reps,
              .n_clients = o->clients == 0 ? 1 : o->clients};
    client_request q;
    uint8_t *data = NULL;
    cuzk_status st;
    int code;

    if (o->n_args != 0) return command_usage(r, "--daemon takes --kind or --circuit, and --input");
    if (o->kind == NULL && o->circuit == NULL)
        return command_usage(r, "--daemon wants --kind (Filecoin) or --circuit (circom)");
    if (o->kind != NULL && o->circuit != NULL)
        return command_usage(r, "--kind is of Filecoin, --circuit of circom");
    if (!options_allow(o, "bench --daemon",
                       o->kind == NULL
                           ? "--daemon --clients --reps --circuit --input --priority --address "
                             "--tls-ca --config --json --quiet"
                           : "--daemon --clients --reps --kind --input --statement FIELDS "
                             "--partition --priority --address --tls-ca --config --json --quiet"))
        return 2;
    if (l.n_jobs > MAX_JOBS) return command_usage(r, "--reps: at most 1000000");
    if (l.n_clients > MAX_CLIENTS) return command_usage(r, "--clients: at most 256");
    st = client_request_read(&q, o);
    if (st == CUZK_OK) {
        data = pack(&q.message, &l.size);
        if (data == NULL) st = FAIL(CUZK_ENOMEM, "a request of %zu bytes: out of memory", l.size);
    }
    client_request_clear(&q);
    if (st != CUZK_OK) return report_failure(r, st);
    l.request = data;
    code = open_clients(&l);
    if (code == 0) code = run_load(&l);
    close_clients(&l);
    free(data);
    return code;
}
