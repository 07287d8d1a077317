/*
 * engine/engine.c - opening an engine, and the frame in which a job runs
 *
 * Jobs run inline on the calling thread; the service puts queues and workers around the same steps.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "engine/kept_vk.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 1024
/* From so many rows on a proof is split: one of 2^19 takes some 40 ms of a GPU, and what a split costs is a few. */
#define SPLIT_LOG 20u
#define DEEP_POINTS ((uint64_t)1 << 24) /* their subgroup takes some 25 us a point */

static unsigned machine_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1) return 1;
    return n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

const char *cuzk_cpu_tables(void)
{
    static _Thread_local char text[128];
    size_t used = 0;

    for (cpu_table t = 0; t < CPU_TABLES; t++) {
        if (!cpu_table_supported(t)) continue;
        int n = snprintf(text + used, sizeof text - used, "%s%s%s", used == 0 ? "" : " ",
                         cpu_table_name(t), t == cpu_table_best() ? "*" : "");
        if (n > 0) used += (size_t)n;
    }
    return text;
}

static cuzk_status pick_table(cpu_table *t, const char *name)
{
    *t = cpu_table_best();
    if (name == NULL) return CUZK_OK;
    if (!cpu_table_from_name(t, name))
        return FAIL(CUZK_EINVAL, "unknown CPU table %s; this machine has: %s", name,
                    cuzk_cpu_tables());
    if (!cpu_table_supported(*t))
        return FAIL(CUZK_EINVAL, "this machine cannot run CPU table %s; it has: %s", name,
                    cuzk_cpu_tables());
    return CUZK_OK;
}

static cuzk_status open_parts(cuzk_engine *e, const cuzk_config *config)
{
    unsigned threads = config->threads == 0 ? machine_threads() : config->threads;

    if (threads > MAX_THREADS)
        return FAIL(CUZK_EINVAL, "%u threads, limit %u", threads, MAX_THREADS);
    TRY(pick_table(&e->table, config->cpu_table));
    TRY(mem_open(&e->m, "engine", config->memory_limit, NULL));
    TRY(span_rec_open(&e->rec));
    TRY(cancel_new(&e->cancel));
    TRY(pool_open(&e->pool, threads, e->rec));
    e->env = (job_env){e->m, e->pool, e->cancel, e->table, e->warn, e->ctx};
    return engine_open_devices(e, config);
}

cuzk_status cuzk_engine_open(cuzk_engine **out, const cuzk_config *config)
{
    cuzk_engine *e = calloc(1, sizeof *e);
    if (e == NULL) return FAIL(CUZK_ENOMEM, "engine: out of memory");
    if (pthread_mutex_init(&e->mu, NULL) != 0) {
        free(e);
        return FAIL(CUZK_ENOMEM, "engine: no mutex");
    }
    if (pthread_mutex_init(&e->tell, NULL) != 0) {
        (void)pthread_mutex_destroy(&e->mu);
        free(e);
        return FAIL(CUZK_ENOMEM, "engine: no mutex");
    }
    e->split_log = SPLIT_LOG;
    e->derived = config->derived;
    e->warn = config->warn;
    e->progress = config->progress;
    e->ctx = config->ctx;
    cuzk_status st = open_parts(e, config);
    if (st != CUZK_OK) {
        cuzk_engine_close(e);
        return st;
    }
    *out = e;
    return CUZK_OK;
}

void cuzk_engine_close(cuzk_engine *e)
{
    if (e == NULL) return;
    engine_close_devices(e);
    pool_close(e->pool);
    cancel_free(e->cancel);
    span_rec_close(e->rec);
    kept_vk_free(e->kept);
    mem_close(e->m);
    (void)pthread_mutex_destroy(&e->tell);
    (void)pthread_mutex_destroy(&e->mu);
    free(e);
}

void cuzk_engine_cancel(cuzk_engine *e)
{
    cancel_request(e->cancel);
}

void engine_progress(void *engine, const char *step, uint64_t done, uint64_t total)
{
    cuzk_engine *e = engine;

    (void)pthread_mutex_lock(&e->tell);
    if (e->progress != NULL) e->progress(e->ctx, step, done, total);
    (void)pthread_mutex_unlock(&e->tell);
}

void engine_warn(void *engine, cuzk_class klass, const char *where, const char *message)
{
    cuzk_engine *e = engine;

    (void)pthread_mutex_lock(&e->tell);
    if (e->warn != NULL) e->warn(e->ctx, klass, where, message);
    (void)pthread_mutex_unlock(&e->tell);
}

cuzk_status engine_check_key(const groth16_pk *pk, pool *p, const cancel *c, bool *deep)
{
    groth16_key_check o = {.subgroup = groth16_pk_points(pk) <= DEEP_POINTS, .cancel = c};

    if (deep != NULL) *deep = o.subgroup;
    return groth16_pk_check(pk, &o, p);
}

/* ---- what GPUs did ---- */

static void add_gpu_times(dev_times *sum, const dev_times *t)
{
    sum->proofs += t->proofs;
    sum->window_ns += t->window_ns;
    sum->busy_ns += t->busy_ns;
    sum->tail_ns += t->tail_ns;
    if (t->worst_tail_ns > sum->worst_tail_ns) sum->worst_tail_ns = t->worst_tail_ns;
    for (unsigned k = 0; k < SPAN_KINDS; k++) {
        sum->n[k] += t->n[k];
        sum->ns[k] += t->ns[k];
        sum->before_n[k] += t->before_n[k];
        sum->before_ns[k] += t->before_ns[k];
    }
}

static void all_gpu_times(const cuzk_engine *e, dev_times *sum)
{
    dev_times t;

    *sum = (dev_times){0};
    for (unsigned i = 0; i < e->n_devices; i++) {
        dev_times_get(e->devices[i], &t);
        add_gpu_times(sum, &t);
    }
}

/* Insertion by total, largest first; beyond what there is room for the smallest are left out. */
static void add_gpu_step(cuzk_gpu_times *out, const char *name, uint64_t n, uint64_t ns)
{
    const size_t room = sizeof out->steps / sizeof out->steps[0];
    size_t i = out->n_steps;

    if (n == 0 || name == NULL) return;
    if (i == room && out->steps[--i].total_ns >= ns) return;
    for (; i > 0 && out->steps[i - 1].total_ns < ns; i--) out->steps[i] = out->steps[i - 1];
    out->steps[i] = (cuzk_step){.name = name, .n = n, .total_ns = ns};
    if (out->n_steps < room) out->n_steps++;
}

static const char *before_name(span_kind k)
{
    static const char *const names[SPAN_KINDS] = {
        [SPAN_GPU_IDLE_HOST] = "between: host work",  [SPAN_GPU_IDLE_MEMORY] = "between: memory",
        [SPAN_GPU_IDLE_LOCK] = "between: lock",       [SPAN_GPU_IDLE_KEY] = "between: key",
        [SPAN_GPU_IDLE_SYNTH] = "between: synthesis", [SPAN_GPU_IDLE_WORK] = "between: no work"};

    return names[k];
}

/* Since the job began. The longest tail is of all proofs that the engine made. */
static void gpu_times_of(const job *j, cuzk_gpu_times *out)
{
    dev_times now;

    all_gpu_times(j->e, &now);
    out->proofs = now.proofs - j->gpu.proofs;
    out->window_ns = now.window_ns - j->gpu.window_ns;
    out->busy_ns = now.busy_ns - j->gpu.busy_ns;
    out->tail_ns = now.tail_ns - j->gpu.tail_ns;
    if (out->proofs != 0) out->worst_tail_ns = now.worst_tail_ns;
    for (span_kind k = 0; k < SPAN_KINDS; k++) {
        add_gpu_step(out, span_group(k) == 'D' ? span_name(k) : NULL, now.n[k] - j->gpu.n[k],
                     now.ns[k] - j->gpu.ns[k]);
        add_gpu_step(out, before_name(k), now.before_n[k] - j->gpu.before_n[k],
                     now.before_ns[k] - j->gpu.before_ns[k]);
    }
}

/* ---- jobs ---- */

cuzk_status job_begin(job *j, cuzk_engine *e)
{
    memset(j, 0, sizeof *j);
    j->e = e;
    TRY(span_attach(e->rec, "job"));
    span_context(atomic_fetch_add_explicit(&e->next_job, 1, memory_order_relaxed) + 1, 0);
    j->from_ns = clock_ns();
    j->span = span_open(SPAN_JOB);
    all_gpu_times(e, &j->gpu);
    mem_reset_peak(e->m);
    span sp = span_open(SPAN_ALLOC);
    cuzk_status st = dev_stream_open(&j->s, e->dev, e->cancel);
    if (st == CUZK_OK) st = dev_stream_open(&j->host, e->host, e->cancel);
    span_close(&sp);
    if (st != CUZK_OK) {
        dev_stream_close(j->s);
        span_close(&j->span);
        span_detach();
    }
    return st;
}

void job_end(job *j)
{
    cuzk_attribution a;

    span sp = span_open(SPAN_FREE);
    dev_stream_close(j->host);
    dev_stream_close(j->s);
    span_close(&sp);
    span_close(&j->span);
    span_attribution(j->e->rec, j->from_ns, clock_ns(), &a);
    a.peak_memory = mem_peak(j->e->m);
    gpu_times_of(j, &a.gpu);
    (void)pthread_mutex_lock(&j->e->mu);
    j->e->last = a;
    (void)pthread_mutex_unlock(&j->e->mu);
    span_detach();
}

dev_stream *job_setup_stream(const job *j)
{
    return device_has_fixed(j->e->dev) ? j->s : j->host;
}

void cuzk_last_attribution(cuzk_engine *e, cuzk_attribution *out)
{
    (void)pthread_mutex_lock(&e->mu);
    *out = e->last;
    (void)pthread_mutex_unlock(&e->mu);
}

cuzk_status buffer_from_out(cuzk_buffer *b, const bytes_out *o)
{
    TRY(bytes_out_status(o));
    uint8_t *p = malloc(o->size + 1);
    if (p == NULL) return FAIL(CUZK_ENOMEM, "result of %zu bytes: out of memory", o->size);
    if (o->size != 0) memcpy(p, o->data, o->size);
    p[o->size] = 0;
    b->data = p;
    b->size = o->size;
    return CUZK_OK;
}

cuzk_status cuzk_trace(cuzk_engine *e, cuzk_buffer *json)
{
    bytes_out o;
    bytes_out_init(&o, e->m);
    cuzk_status st = span_write_trace(e->rec, &o);
    if (st == CUZK_OK) st = buffer_from_out(json, &o);
    bytes_out_clear(&o);
    return st;
}

cuzk_status engine_prove(job *j, groth16_proof *out, const groth16_prove_args *args, bool *valid)
{
    groth16_job *started;
    groth16_proof p;
    span sp = span_open(SPAN_PROVE);
    cuzk_status st = engine_prove_start(&started, j, args);

    if (st == CUZK_OK) st = groth16_prove_finish(&p, started);
    span_close(&sp);
    TRY(st);
    sp = span_open(SPAN_VERIFY);
    st = groth16_verify(j->host, args->pk->vk, &p, args->w->inputs + 1, args->w->n_inputs - 1,
                        valid);
    span_close(&sp);
    TRY(st);
    *out = p;
    return CUZK_OK;
}
