/*
 * device/cuda/backend_cuda.c - an NVIDIA GPU as a device: opening, streams, buffers, and the table
 *
 * The runtime is linked in and finds the driver when it is first called: a program with this backend runs anywhere, and
 * device_open says what is missing.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "device/cuda/cuda_int.h"

#define LEAST_MAJOR 8               /* compute capability 8.0 */
#define RESERVE ((size_t)512 << 20) /* of free memory, for the driver and local memory of kernels */
#define LEAST ((size_t)128 << 20)   /* to use: below, the smallest sum has no plan */

/* ---- failures ---- */

/* Who comes first tells why. */
static void lose(cu_device *cu, int err, const char *call)
{
    int fine = CU_FINE;

    if (!atomic_compare_exchange_strong_explicit(&cu->lost, &fine, CU_LOSING, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    (void)snprintf(cu->why, sizeof cu->why, "%.60s: %s", call,
                   cudaGetErrorString((cudaError_t)err));
    atomic_store_explicit(&cu->lost, CU_LOST, memory_order_release);
}

cuzk_status cu_fail(cu_device *cu, int err, const char *call, const char *file, int line)
{
    cuzk_status st = err == cudaErrorMemoryAllocation ? CUZK_ENOMEM : CUZK_EDEVICE;

    (void)cudaGetLastError();
    /* an error that does not stick is gone now; one that does comes back, and the device is lost */
    if (st == CUZK_EDEVICE && cudaPeekAtLastError() != cudaSuccess) lose(cu, err, call);
    int left = st == CUZK_EDEVICE ? (int)cudaStreamQuery(0) : (int)cudaSuccess;
    /* work of another thread that is not done is no failure */
    if (left != cudaSuccess && left != cudaErrorNotReady) lose(cu, err, call);
    (void)cudaGetLastError(); /* of the query: the next launch would find it */
    return status_fail(file, line, st, status_default_class(st), "", "%s: %.60s: %s", cu->name,
                       call, cudaGetErrorString((cudaError_t)err));
}

cuzk_status cu_enter(cu_device *cu)
{
    int lost = atomic_load_explicit(&cu->lost, memory_order_acquire);

    if (lost != CU_FINE)
        return FAIL(CUZK_EDEVICE, "%s failed before and is out of use: %s", cu->name,
                    lost == CU_LOST ? cu->why : "just now");
    (void)cudaGetLastError(); /* left by this thread's clean-ups: no failure of what comes now */
    CU_TRY(cu, cudaSetDevice(cu->index));
    return CUZK_OK;
}

/* ---- opening ---- */

/* 0: there is no driver. */
static cuzk_status count_gpus(unsigned *count)
{
    int n = 0, driver = 0, runtime = 0;
    cudaError_t err = cudaGetDeviceCount(&n);

    *count = err == cudaSuccess && n > 0 ? (unsigned)n : 0;
    if (*count != 0) return CUZK_OK;
    (void)cudaGetLastError();
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    if (driver == 0) return CUZK_OK;
    if (err == cudaErrorInsufficientDriver)
        return FAIL(CUZK_EDEVICE,
                    "device cuda: the driver is for CUDA %d.%d, this build needs one for %d.%d",
                    driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return FAIL(CUZK_EDEVICE, "device cuda: no GPU (%s)", cudaGetErrorString(err));
}

/* "GPU-" and the UUID, as nvidia-smi prints it. */
static void write_uuid(char out[48], const struct cudaDeviceProp *prop)
{
    const unsigned char *b = (const unsigned char *)prop->uuid.bytes;
    size_t at = (size_t)snprintf(out, 48, "GPU-");

    for (unsigned i = 0; i < 16; i++)
        at += (size_t)snprintf(out + at, 48 - at, "%s%02x",
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
}

/* The only GPU whose UUID begins so. */
static cuzk_status find_uuid(const char *name, const char *uuid, unsigned n, unsigned *index)
{
    unsigned found = 0;

    for (unsigned i = 0; i < n; i++) {
        struct cudaDeviceProp prop;
        char text[48];

        if (cudaGetDeviceProperties(&prop, (int)i) != cudaSuccess) continue;
        write_uuid(text, &prop);
        if (strncmp(text, uuid, strlen(uuid)) != 0) continue;
        *index = i;
        found++;
    }
    (void)cudaGetLastError();
    if (found == 1) return CUZK_OK;
    return FAIL(CUZK_EDEVICE, "device %.64s: %u of the %u GPUs have a UUID that begins so", name,
                found, n);
}

/* "cuda" is the first, "cuda:N" number N, "cuda:GPU-..." the one with this UUID. */
static cuzk_status parse_index(const char *name, unsigned n, unsigned *index)
{
    const char *p = strchr(name, ':');
    unsigned x = 0;

    *index = 0;
    if (p == NULL) return CUZK_OK;
    if (strncmp(p, ":GPU-", 5) == 0) return find_uuid(name, p + 1, n, index);
    for (p++; *p >= '0' && *p <= '9' && x < 1000; p++) x = 10 * x + (unsigned)(*p - '0');
    if (*p != 0 || p[-1] == ':')
        return FAIL(CUZK_EINVAL, "device %.64s: not cuda, cuda:NUMBER or cuda:UUID", name);
    if (x >= n) return FAIL(CUZK_EDEVICE, "device %.64s: there are %u GPUs", name, n);
    *index = x;
    return CUZK_OK;
}

/* A context, which takes some hundred MiB itself, and what is left beside it. */
static cuzk_status make_context(cu_device *cu, size_t *left, size_t *total)
{
    int err = (int)cudaSetDevice(cu->index);

    if (err == 0) err = (int)cudaMemGetInfo(left, total);
    if (err == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return FAIL(CUZK_EBUDGET, "%s: none of its %zu MiB is free for a context: others have it",
                    cu->name, *total >> 20);
    }
    CU_TRY(cu, err);
    return CUZK_OK;
}

/* How much may be used: `wanted`, or nearly all that is left. */
static cuzk_status set_limit(cu_device *cu, size_t wanted, size_t left, size_t total)
{
    size_t most = left > RESERVE ? left - RESERVE : 0;

    if (wanted > most)
        return FAIL(CUZK_EBUDGET, "%s: %zu MiB of its memory wanted, %zu of %zu are free", cu->name,
                    wanted >> 20, most >> 20, total >> 20);
    if (most < LEAST)
        return FAIL(CUZK_EBUDGET, "%s: %zu of its %zu MiB are free, %zu are needed at least",
                    cu->name, left >> 20, total >> 20, (LEAST + RESERVE) >> 20);
    if (wanted != 0 && wanted < LEAST)
        return FAIL(CUZK_EBUDGET, "%s: %zu MiB of its memory allowed, %zu are needed at least",
                    cu->name, wanted >> 20, LEAST >> 20);
    cu->full = cu->limit = wanted != 0 ? wanted : most;
    return CUZK_OK;
}

static cuzk_status describe(cu_device *cu, size_t wanted)
{
    struct cudaDeviceProp prop;
    size_t left = 0, total;

    CU_TRY(cu, cudaGetDeviceProperties(&prop, cu->index));
    (void)snprintf(cu->name, sizeof cu->name, "cuda:%d (%.64s)", cu->index, prop.name);
    (void)snprintf(cu->model, sizeof cu->model, "%.64s", prop.name);
    write_uuid(cu->uuid, &prop);
    if (prop.major < LEAST_MAJOR)
        return FAIL(CUZK_EDEVICE, "%s: compute capability %d.%d, %d.0 is needed", cu->name,
                    prop.major, prop.minor, LEAST_MAJOR);
    cu->sms = (unsigned)prop.multiProcessorCount;
    total = prop.totalGlobalMem;
    TRY(make_context(cu, &left, &total));
    return set_limit(cu, wanted, left, total);
}

static void close_device(device *d)
{
    cu_device *cu = d->impl;

    if (cu == NULL) return;
    (void)cudaSetDevice(cu->index);
    (void)cudaDeviceSynchronize();
    (void)pthread_mutex_lock(&cu->mu);
    cu_domains_close(cu);
    cu_kept_close(cu);
    cu_stages_close(cu);
    cu_porters_close(cu);
    cu_lanes_close(cu);
    cu_lines_close(cu);
    cu_mem_close(cu);
    (void)pthread_mutex_unlock(&cu->mu);
    dev_time_clear(&cu->time);
    (void)pthread_cond_destroy(&cu->filled);
    (void)pthread_mutex_destroy(&cu->mu);
    mem_free(d->m, cu);
    d->impl = NULL;
}

static cuzk_status open_device(device *d, const device_config *config)
{
    cuzk_status st = CUZK_OK;
    cu_device *cu;
    unsigned n, index;

    for (unsigned i = 0; i < CURVE_IDS; i++) {
        d->curves[i] = curve_get((curve_id)i, config->table);
        if (d->curves[i] == NULL || !cpu_table_supported(config->table))
            return FAIL(CUZK_EINVAL, "device cuda: this processor cannot run table %u",
                        (unsigned)config->table);
    }
    TRY(count_gpus(&n));
    if (n == 0)
        return FAIL(CUZK_EDEVICE, "device %.64s: no NVIDIA driver on this machine", config->name);
    TRY(parse_index(config->name, n, &index));
    cu = mem_new(d->m, 1, sizeof *cu, &st);
    if (cu == NULL) return st;
    if (pthread_mutex_init(&cu->mu, NULL) != 0) {
        mem_free(d->m, cu);
        return FAIL(CUZK_ENOMEM, "device cuda: no mutex");
    }
    if (pthread_cond_init(&cu->filled, NULL) != 0) {
        (void)pthread_mutex_destroy(&cu->mu);
        mem_free(d->m, cu);
        return FAIL(CUZK_ENOMEM, "device cuda: no condition");
    }
    cu->d = d;
    cu->index = (int)index;
    (void)snprintf(cu->name, sizeof cu->name, "cuda:%u", index);
    st = dev_time_init(&cu->time, cu->name);
    if (st != CUZK_OK) {
        (void)pthread_cond_destroy(&cu->filled);
        (void)pthread_mutex_destroy(&cu->mu);
        mem_free(d->m, cu);
        return st;
    }
    d->impl = cu;
    st = describe(cu, config->device_memory);
    if (st == CUZK_OK) st = cu_line_clearing(cu);
    if (st == CUZK_OK) st = cu_check_device(d);
    if (st != CUZK_OK) close_device(d);
    return st;
}

/* ---- telling ---- */

static void tell(const device *d, device_info *out)
{
    cu_device *cu = cu_of(d);

    (void)snprintf(out->label, sizeof out->label, "cuda:%d", cu->index);
    memcpy(out->model, cu->model, sizeof cu->model);
    memcpy(out->uuid, cu->uuid, sizeof cu->uuid);
    out->ordinal = (unsigned)cu->index;
    out->gpu = true;
    out->memory_total = cu->full;
    (void)pthread_mutex_lock(&cu->mu);
    out->memory_free = cu->limit > cu->used ? cu->limit - cu->used : 0;
    out->points_in = cu->points_in;
    out->points_ns = cu->points_ns;
    (void)pthread_mutex_unlock(&cu->mu);
}

static bool is_lost(const device *d)
{
    return atomic_load_explicit(&cu_of(d)->lost, memory_order_relaxed) != CU_FINE;
}

static uint64_t points_kept(const device *d, uint64_t id)
{
    cu_device *cu = cu_of(d);
    uint64_t size = 0;

    (void)pthread_mutex_lock(&cu->mu);
    for (const cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id == id && k->kind == CU_KEPT_POINTS && k->ready && k->n != 0)
            size = k->r.size / k->n * k->arrived;
    (void)pthread_mutex_unlock(&cu->mu);
    return size;
}

static void points_forget(device *d, uint64_t id)
{
    cu_kept_drop(cu_of(d), CU_KEPT_POINTS, id);
}

/* ---- streams ---- */

static cuzk_status sync_stream(dev_stream *s)
{
    TRY(cu_enter(cu_of(s->d)));
    return cu_wait(s);
}

/* ---- buffers ---- */

static void free_buf(dev_buf *b)
{
    cu_device *cu = cu_of(b->d);
    cu_buf *x = b->impl;

    if (x == NULL) return;
    (void)cudaSetDevice(cu->index);
    if (x->last != NULL) {
        (void)cudaEventSynchronize(x->last); /* another may have the memory next */
        (void)cudaEventDestroy(x->last);
    }
    cu_release(cu, x->p);
    mem_free(b->d->m, x);
    b->impl = NULL;
}

static cuzk_status new_buf(dev_buf *b)
{
    cu_device *cu = cu_of(b->d);
    cuzk_status st = CUZK_OK;
    cu_buf *x;
    cudaEvent_t e;

    TRY(cu_enter(cu));
    x = mem_new(b->d->m, 1, sizeof *x, &st);
    if (x == NULL) return st;
    b->impl = x;
    CU_TRY_OUT(cu, cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    x->last = e;
    TRY_OUT(cu_alloc(cu, (void **)&x->p, b->n * sizeof(fr)));
    /* no stream is known: whoever uses it first must find zeros, and he may be urgent */
    CU_TRY_OUT(cu, cudaMemsetAsync(x->p, 0, b->n * sizeof(fr), cu->clearing));
    CU_TRY_OUT(cu, cudaStreamSynchronize(cu->clearing));
    return CUZK_OK;
out:
    free_buf(b);
    return st;
}

cuzk_status cu_buf_used(dev_stream *s, const dev_buf *b)
{
    cu_queue *q = cu_queue_of(s);

    CU_TRY(q->cu, cudaEventRecord(cu_buf_of(b)->last, q->s));
    return CUZK_OK;
}

cuzk_status cu_end(dev_stream *s, cuzk_status st)
{
    if (st != CUZK_OK) (void)cudaStreamSynchronize(cu_queue_of(s)->s);
    return st;
}

static cuzk_status upload(dev_stream *s, dev_buf *dst, size_t off, const fr *src, size_t n)
{
    cuzk_status st;

    TRY(cu_enter(cu_of(s->d)));
    st = cu_upload(s, cu_buf_of(dst)->p + 8 * off, src, n * sizeof *src);
    if (st == CUZK_OK) st = cu_buf_used(s, dst);
    return cu_end(s, st);
}

static cuzk_status download(dev_stream *s, fr *dst, const dev_buf *src, size_t off, size_t n)
{
    TRY(cu_enter(cu_of(s->d)));
    return cu_end(s, cu_download(s, dst, cu_buf_of(src)->p + 8 * off, n * sizeof *dst));
}

static cuzk_status all_used(dev_stream *s, const dev_buf *a, const dev_buf *b, const dev_buf *c)
{
    TRY(cu_buf_used(s, a));
    TRY(cu_buf_used(s, b));
    return c != NULL ? cu_buf_used(s, c) : CUZK_OK;
}

/* Direct copies between the two from now on, where the machine has them: else the driver goes through the host. */
static void see_each_other(cu_device *cu, const cu_device *of)
{
    int can = 0;

    if (cudaDeviceCanAccessPeer(&can, cu->index, of->index) == cudaSuccess && can != 0)
        (void)cudaDeviceEnablePeerAccess(of->index, 0); /* "already enabled" is fine */
    (void)cudaGetLastError();
}

static cuzk_status copy(dev_stream *s, dev_buf *dst, size_t to, const dev_buf *src, size_t from,
                        size_t n)
{
    cu_queue *q = cu_queue_of(s);
    cu_device *cu = q->cu, *of = cu_of(src->d);

    TRY(cu_enter(cu));
    if (of != cu) see_each_other(cu, of);
    cu_mark(s, SPAN_GPU_COPY_IN);
    CU_TRY(cu, cudaMemcpyPeerAsync(cu_buf_of(dst)->p + 8 * to, cu->index,
                                   cu_buf_of(src)->p + 8 * from, of->index, n * sizeof(fr), q->s));
    TRY(cu_end(s, cu_buf_used(s, dst)));
    return cu_wait(s);
}

/* ---- vectors ---- */

static cuzk_status quotient(dev_stream *s, dev_buf *a, const dev_buf *b, const dev_buf *c, size_t n,
                            curve_id id, const fr *k)
{
    cu_queue *q = cu_queue_of(s);
    uint32_t factor[8];

    TRY(cu_enter(q->cu));
    TRY(cu_safe_point(s));
    if (n == 0) return CUZK_OK;
    if (k != NULL) memcpy(factor, k, sizeof factor);
    cu_mark(s, SPAN_GPU_QUOTIENT);
    CU_TRY(q->cu, cu_fr_of(id)->quotient(q->s, cu_buf_of(a)->p, cu_buf_of(b)->p, cu_buf_of(c)->p,
                                         k != NULL ? factor : NULL, n));
    cu_mark(s, SPAN_KINDS);
    return cu_end(s, all_used(s, a, b, c));
}

static cuzk_status mul(dev_stream *s, dev_buf *r, const dev_buf *a, const dev_buf *b, size_t n,
                       curve_id id)
{
    cu_queue *q = cu_queue_of(s);

    TRY(cu_enter(q->cu));
    TRY(cu_safe_point(s));
    if (n == 0) return CUZK_OK;
    cu_mark(s, SPAN_GPU_QUOTIENT);
    CU_TRY(q->cu, cu_fr_of(id)->mul(q->s, cu_buf_of(r)->p, cu_buf_of(a)->p, cu_buf_of(b)->p, n));
    cu_mark(s, SPAN_KINDS);
    return cu_end(s, all_used(s, r, a, b));
}

const dev_backend dev_backend_cuda = {
    .name = "cuda",
    .open = open_device,
    .close = close_device,
    .count = count_gpus,
    .info = tell,
    .lost = is_lost,
    .points_kept = points_kept,
    .points_forget = points_forget,
    .points_load = cu_points_load,
    .points_want = cu_kept_want,
    .stream_open = cu_stream_open,
    .stream_close = cu_stream_close,
    .sync = sync_stream,
    .work_begin = cu_work_begin,
    .work_end = cu_work_end,
    .times = cu_times,
    .buf_new = new_buf,
    .buf_free = free_buf,
    .upload = upload,
    .download = download,
    .copy = copy,
    .domain_new = cu_domain_new,
    .domain_free = cu_domain_free,
    .ntt = cu_ntt,
    .quotient = quotient,
    .mul = mul,
    .msm = cu_msm,
    .msm_buf = cu_msm_buf,
    .points_new = cu_points_new,
    .points_free = cu_points_free,
    .forget = cu_scalars_forget,
    .system_forget = cu_system_forget,
    .fixed_new = cu_fixed_new,
    .fixed_free = cu_fixed_free,
    .fixed_mul = cu_fixed_mul,
    .fixed_keep = cu_fixed_keep,
    .abc = cu_abc,
};
