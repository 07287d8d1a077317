/*
 * app/client_look.c - status, jobs, preload, evict, trace, top
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/client.h"
#include "app/commands.h"
#include "app/outputs.h"
#include "base/file.h"
#include "base/json.h"
#include "wire/proto/proving.pb-c.h"

/** Text that the library holds as not const, and does not change. */
static char *text_of(const char *s)
{
    union {
        const char *in;
        char *out;
    } text = {s};
    return text.out;
}

static const char only_options[] = "takes no arguments, only options";

/* ---- status ---- */

static const char *size_text(char out[32], uint64_t bytes)
{
    static const char units[] = "KMGT";
    double v = (double)bytes;
    unsigned u = 0;

    while (v >= 1024 && u < 4) {
        v /= 1024;
        u++;
    }
    if (u == 0)
        (void)snprintf(out, 32, "%llu B", (unsigned long long)bytes);
    else
        (void)snprintf(out, 32, "%.1f %ciB", v, units[u - 1]);
    return out;
}

static void print_status(const Cuzk__V1__GetStatusResponse *s)
{
    static const char *const tiers[] = {"hot", "warm", "cold"};
    char a[32], b[32];

    printf("up %llu s, %llu proofs completed, %llu failed, memory %s of %s\n",
           (unsigned long long)s->uptime_seconds, (unsigned long long)s->total_proofs_completed,
           (unsigned long long)s->total_proofs_failed, size_text(a, s->pinned_memory_bytes),
           size_text(b, s->pinned_memory_limit_bytes));
    for (size_t i = 0; i < s->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = s->gpus[i];

        printf("device %-12s %s %s\n", g->name,
               g->current_job_id[0] == 0 ? "idle" : g->current_proof_kind, g->current_job_id);
    }
    for (size_t i = 0; i < s->n_queues; i++)
        printf("queue  %-12s %u pending, %u in progress\n", s->queues[i]->proof_kind,
               s->queues[i]->pending, s->queues[i]->in_progress);
    for (size_t i = 0; i < s->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *k = s->loaded_srs[i];

        printf("key    %-12s %s %s, used by %u\n", k->circuit_id,
               (unsigned)k->tier < 3 ? tiers[k->tier] : "?", size_text(a, k->size_bytes),
               k->ref_count);
    }
}

/* ---- GPUs, which GetStatus has no fields for ---- */

static void print_gpu(const char *json, size_t size)
{
    static const struct {
        const char *path, *before, *after;
    } all[] = {{"gpu_time.busy_percent", "", "% of its proofs' time at work"},
               {"gpu_time.return_gap_ms", "", " ms from last kernel to return"},
               {"gpu.utilization_percent", "", "% load"},
               {"gpu.sm_clock_mhz", "", " MHz"},
               {"gpu.power_watts", "", " W"},
               {"gpu.temperature_celsius", "", " C"},
               {"gpu.throttle", "slowed: ", ""},
               {"gpu.ecc_uncorrected", "uncorrectable errors: ", ""}};
    char name[64], model[96], v[128], text[32];
    uint64_t others = 0;

    client_member(v, sizeof v, json, size, "model");
    if (v[0] == 0) return; /* the CPU */
    (void)snprintf(model, sizeof model, "%.90s", v);
    client_member(name, sizeof name, json, size, "name");
    printf("gpu    %-12s %s", name, model);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        client_member(v, sizeof v, json, size, all[i].path);
        if (v[0] != 0) printf(", %s%s%s", all[i].before, v, all[i].after);
    }
    client_member(v, sizeof v, json, size, "gpu.memory_others_bytes");
    for (const char *p = v; *p >= '0' && *p <= '9'; p++)
        others = 10 * others + (uint64_t)(*p - '0');
    if (others != 0) printf(", used by others: %s", size_text(text, others));
    client_member(v, sizeof v, json, size, "gpu.stale");
    printf("%s\n", strcmp(v, "true") == 0 ? " (old: the driver does not answer)" : "");
}

/* Each object of the array that is the document's member `name`. */
static bool each_of(const char *body, size_t size, const char *name,
                    void (*fn)(const char *json, size_t size))
{
    json_in j;
    json_token t;

    if (json_init(&j, body, size) != CUZK_OK || json_next(&j, &t) != CUZK_OK) return false;
    while (json_next(&j, &t) == CUZK_OK && t.type == JSON_KEY) {
        if (!json_is(&t, name)) {
            if (json_skip(&j) != CUZK_OK) return false;
            continue;
        }
        if (json_next(&j, &t) != CUZK_OK || t.type != JSON_ARRAY) return false;
        while (json_next(&j, &t) == CUZK_OK && t.type == JSON_OBJECT) {
            size_t from = t.offset;

            if (json_skip_rest(&j, &t) != CUZK_OK) return false;
            fn(body + from, j.pos - from);
        }
        return t.type == JSON_ARRAY_END;
    }
    return false;
}

/* The rows are devices of either kind: a GPU's name is its model, another's begins with "cpu". */
static bool has_gpus(const Cuzk__V1__GetStatusResponse *s)
{
    for (size_t i = 0; i < s->n_gpus; i++)
        if (strncmp(s->gpus[i]->name, "cpu", 3) != 0) return true;
    return false;
}

static int show_gpus(client *c)
{
    char *body;
    size_t size;
    int code = client_document(c, "/status", &body, &size);

    if (code != 0) return code;
    bool ok = each_of(body, size, "devices", print_gpu);
    free(body);
    return ok ? 0 : client_garbled(c);
}

static int show_status(client *c)
{
    Cuzk__V1__GetStatusRequest q = CUZK__V1__GET_STATUS_REQUEST__INIT;
    Cuzk__V1__GetStatusResponse *s;
    greply reply;
    int code = client_call(c, "cuzk.v1.ProvingEngine/GetStatus", &q.base, &reply);

    if (code != 0) return code;
    s = cuzk__v1__get_status_response__unpack(NULL, reply.size, reply.data);
    greply_clear(&reply);
    if (s == NULL) return client_garbled(c);
    print_status(s);
    bool gpus = has_gpus(s);
    cuzk__v1__get_status_response__free_unpacked(s, NULL);
    return gpus ? show_gpus(c) : 0;
}

/** A document as the member `name` of the result. */
static int show_json(client *c, const char *path, const char *name)
{
    char *body;
    size_t size;
    int code = client_document(c, path, &body, &size);

    if (code != 0) return code;
    while (size != 0 && (body[size - 1] == '\n' || body[size - 1] == ' ')) size--;
    printf("{\"ok\":true,\"%s\":%.*s}\n", name, (int)size, body);
    free(body);
    return 0;
}

int command_status(report *r)
{
    client c;
    int code;

    if (r->o->n_args != 0) return command_usage(r, only_options);
    code = client_open(&c, r);
    if (code == 0) code = r->o->json ? show_json(&c, "/status", "status") : show_status(&c);
    client_close(&c);
    return code;
}

/* ---- jobs ---- */

static void print_job(const char *json, size_t size)
{
    static const char *const members[] = {
        "state", "kind", "priority", "partitions_done", "total_partitions", "total_ms", "job_id"};
    char v[7][200];

    for (size_t i = 0; i < 7; i++) client_member(v[i], sizeof v[i], json, size, members[i]);
    printf("%-10s %-13s %-9s %3s/%-3s %9s ms  %s\n", v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
}

/** "/jobs" with what of state, kind and limit was asked for. False: too long. */
static bool jobs_path(char *out, size_t size, const options *o, unsigned limit)
{
    const char *const names[] = {"&state=", "&kind="}, *const values[] = {o->state, o->kind};
    size_t n = (size_t)snprintf(out, size, "/jobs?limit=%u", o->limit != 0 ? o->limit : limit);

    for (size_t i = 0; i < 2; i++) {
        if (values[i] == NULL) continue;
        if (!client_job_path(out + n, size - n, names[i], values[i], "")) return false;
        n += strlen(out + n);
    }
    return true;
}

static int no_such_jobs(const report *r)
{
    return command_usage(r, "--state and --kind: no state and no kind has so long a name");
}

static int show_jobs(client *c, unsigned limit)
{
    char path[256], *body;
    size_t size;
    int code;

    if (!jobs_path(path, sizeof path, c->r->o, limit)) return no_such_jobs(c->r);
    code = client_document(c, path, &body, &size);
    if (code != 0) return code;
    bool ok = each_of(body, size, "jobs", print_job);
    free(body);
    return ok ? 0 : client_garbled(c);
}

int command_jobs(report *r)
{
    client c;
    char path[256], *body;
    size_t size;
    int code;

    if (r->o->n_args != 0) return command_usage(r, only_options);
    if (!jobs_path(path, sizeof path, r->o, 100)) return no_such_jobs(r);
    code = client_open(&c, r);
    if (code == 0 && r->o->json) {
        code = client_document(&c, path, &body, &size);
        if (code == 0) {
            bool object = size > 2 && body[0] == '{'; /* as the document is */

            if (object) printf("{\"ok\":true,%s%s", body + 1, body[size - 1] == '\n' ? "" : "\n");
            free(body);
            if (!object) code = client_garbled(&c);
        }
    } else if (code == 0) {
        code = show_jobs(&c, 100);
    }
    client_close(&c);
    return code;
}

/* ---- keys ---- */

static int preload(client *c, const char *circuit)
{
    Cuzk__V1__PreloadSrsRequest q = CUZK__V1__PRELOAD_SRS_REQUEST__INIT;
    Cuzk__V1__PreloadSrsResponse *a;
    greply reply;
    int code;

    q.circuit_id = text_of(circuit);
    code = client_call(c, "cuzk.v1.ProvingEngine/PreloadSRS", &q.base, &reply);
    if (code != 0) return code;
    a = cuzk__v1__preload_srs_response__unpack(NULL, reply.size, reply.data);
    greply_clear(&reply);
    if (a == NULL) return client_garbled(c);
    if (c->r->o->json)
        printf("{\"ok\":true,\"already_loaded\":%s,\"load_time_ms\":%llu}\n",
               a->already_loaded != 0 ? "true" : "false", (unsigned long long)a->load_time_ms);
    else if (a->already_loaded != 0)
        printf("%s was loaded already\n", circuit);
    else
        printf("%s loaded in %llu ms\n", circuit, (unsigned long long)a->load_time_ms);
    cuzk__v1__preload_srs_response__free_unpacked(a, NULL);
    return 0;
}

static int evict(client *c, const char *circuit)
{
    Cuzk__V1__EvictSrsRequest q = CUZK__V1__EVICT_SRS_REQUEST__INIT;
    Cuzk__V1__EvictSrsResponse *a;
    greply reply;
    char text[32];
    int code;

    q.circuit_id = text_of(circuit);
    code = client_call(c, "cuzk.v1.ProvingEngine/EvictSRS", &q.base, &reply);
    if (code != 0) return code;
    a = cuzk__v1__evict_srs_response__unpack(NULL, reply.size, reply.data);
    greply_clear(&reply);
    if (a == NULL) return client_garbled(c);
    if (c->r->o->json)
        printf("{\"ok\":true,\"was_loaded\":%s,\"freed_bytes\":%llu}\n",
               a->was_loaded != 0 ? "true" : "false", (unsigned long long)a->freed_bytes);
    else if (a->was_loaded == 0)
        printf("%s was not loaded\n", circuit);
    else
        printf("%s evicted, %s freed\n", circuit, size_text(text, a->freed_bytes));
    cuzk__v1__evict_srs_response__free_unpacked(a, NULL);
    return 0;
}

static int with_argument(report *r, const char *what, int (*fn)(client *c, const char *arg))
{
    client c;
    int code;

    if (r->o->n_args != 1) return command_usage(r, what);
    code = client_open(&c, r);
    if (code == 0) code = fn(&c, r->o->args[0]);
    client_close(&c);
    return code;
}

int command_preload(report *r)
{
    return with_argument(r, "wants the name of one circuit", preload);
}

int command_evict(report *r)
{
    return with_argument(r, "wants the name of one circuit", evict);
}

/* ---- trace ---- */

static int trace(client *c, const char *job)
{
    const char *path_out = c->r->o->output;
    char path[13000], *body;
    size_t size;
    cuzk_status st = CUZK_OK;
    int code;

    if (!client_job_path(path, sizeof path, "/trace?job=", job, ""))
        return command_usage(c->r, "the job's id is too long");
    code = client_document(c, path, &body, &size);
    if (code != 0) return code;
    if (path_out != NULL)
        st = file_write_whole(path_out, body, size);
    else
        (void)fwrite(body, 1, size, stdout);
    free(body);
    return st == CUZK_OK ? 0 : report_failure(c->r, st);
}

int command_trace(report *r)
{
    int code = outputs_check(r, 0, r->o->output, NULL);

    return code != 0 ? code : with_argument(r, "wants the id of one job", trace);
}

/* ---- top ---- */

int command_top(report *r)
{
    bool terminal = isatty(STDOUT_FILENO) == 1;
    unsigned reps = r->o->reps != 0 ? r->o->reps : terminal ? 0 : 1;
    client c;
    int code;

    if (r->o->n_args != 0) return command_usage(r, only_options);
    code = client_open(&c, r);
    for (unsigned i = 0; code == 0 && (reps == 0 || i < reps); i++) {
        struct timespec second = {.tv_sec = 1};

        if (i != 0) (void)nanosleep(&second, NULL);
        if (terminal) printf("\033[H\033[J");
        printf("%s\n", c.address);
        code = show_status(&c);
        if (code == 0)
            printf("\n%-10s %-13s %-9s %7s %12s  %s\n", "state", "kind", "priority", "parts",
                   "time", "job");
        if (code == 0) code = show_jobs(&c, 20);
        (void)fflush(stdout);
    }
    client_close(&c);
    return code;
}
