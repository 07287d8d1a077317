/*
 * unit/device/cuda/play.c - the CUDA runtime between the backend and the driver: counted, made to fail, or played
 *
 * A call that is to fail is not made, but for waits (they have ended when they fail) and for what gives back (it is gone whatever
 * is said). As in the runtime, a failure also waits for the thread's cudaGetLastError.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/cuda/play.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

#define MAX_THINGS 8192
#define NOISE ((size_t)64 << 10) /* of a played block: what lies there when it comes */

typedef enum thing_kind { NOTHING, BLOCK, PINNED, STREAM, EVENT, KINDS } thing_kind;
typedef struct thing {
    void *p;
    thing_kind kind;
    size_t size;
} thing;

static const play_machine healthy = {
    .driver = 13000, .gpus = 1, .major = 9, .total = (size_t)4 << 30};

static struct {
    pthread_mutex_t mu;
    /* guarded by mu */
    bool asked, here, fake, check, hit, sticks, stuck;
    play_machine machine;
    unsigned long calls, launches, fail_at, bad_frees, live[KINDS];
    size_t bytes, peak;
    int err;
    const char *only; /* calls of this function count; NULL: of all */
    const char *hit_name;
    thing things[MAX_THINGS];
} play = {.mu = PTHREAD_MUTEX_INITIALIZER, .check = true};

static _Thread_local int pending; /* what cudaGetLastError gives */

cudaError_t __real_cudaGetDeviceCount(int *n);

static void ask_locked(void)
{
    int n = 0;

    if (play.asked) return;
    play.asked = true;
    play.here = __real_cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
    if (play.machine.driver == 0) play.machine = healthy;
}

static bool is_fake(void)
{
    (void)pthread_mutex_lock(&play.mu);
    ask_locked();
    bool fake = play.fake || !play.here;
    (void)pthread_mutex_unlock(&play.mu);
    return fake;
}

void play_fake(bool fake, const play_machine *m)
{
    (void)pthread_mutex_lock(&play.mu);
    ask_locked();
    play.fake = fake;
    play.machine = m == NULL ? healthy : *m;
    (void)pthread_mutex_unlock(&play.mu);
}

bool play_is_real(void)
{
    return !is_fake();
}

void play_start_up_check(bool run)
{
    play.check = run;
}

void play_fail(unsigned long n, int err, bool sticks)
{
    play_fail_of(NULL, n, err, sticks);
}

void play_fail_of(const char *name, unsigned long n, int err, bool sticks)
{
    (void)pthread_mutex_lock(&play.mu);
    play.only = name;
    play.calls = play.launches = 0;
    play.peak = play.bytes;
    play.fail_at = n;
    play.err = err;
    play.sticks = sticks;
    play.hit = play.stuck = false;
    play.hit_name = "";
    (void)pthread_mutex_unlock(&play.mu);
    pending = 0;
}

void play_heal(void)
{
    play_fail(0, 0, false);
}

bool play_hit(void)
{
    return play.hit;
}

const char *play_hit_name(void)
{
    return play.hit_name;
}

play_counts play_count(void)
{
    (void)pthread_mutex_lock(&play.mu);
    play_counts c = {.calls = play.calls,
                     .launches = play.launches,
                     .blocks = play.live[BLOCK],
                     .pinned = play.live[PINNED],
                     .streams = play.live[STREAM],
                     .events = play.live[EVENT],
                     .bytes = play.bytes,
                     .peak = play.peak,
                     .bad_frees = play.bad_frees};
    (void)pthread_mutex_unlock(&play.mu);
    return c;
}

/* What this call shall fail with. */
static int enter(const char *name)
{
    int err = 0;

    (void)pthread_mutex_lock(&play.mu);
    bool counts = play.only == NULL || strcmp(play.only, name) == 0;
    play.calls += counts ? 1 : 0;
    if (!play.hit && counts && play.calls == play.fail_at) {
        play.hit = true;
        play.stuck = play.sticks;
        play.hit_name = name;
        err = play.err;
    } else if (play.stuck) {
        err = play.err;
    }
    (void)pthread_mutex_unlock(&play.mu);
    if (err != 0) pending = err;
    return err;
}

/* ---- what is given out ---- */

static void note(const void *out, thing_kind kind, size_t size)
{
    void *p;

    memcpy(&p, out, sizeof p);
    (void)pthread_mutex_lock(&play.mu);
    for (thing *t = play.things; t < play.things + MAX_THINGS; t++) {
        if (t->kind != NOTHING) continue;
        *t = (thing){p, kind, size};
        play.live[kind]++;
        if (kind == BLOCK) play.bytes += size;
        if (play.bytes > play.peak) play.peak = play.bytes;
        break;
    }
    (void)pthread_mutex_unlock(&play.mu);
}

static bool forget(const void *p, thing_kind kind)
{
    bool known = false;

    (void)pthread_mutex_lock(&play.mu);
    for (thing *t = play.things; t < play.things + MAX_THINGS && !known; t++) {
        if (t->kind != kind || t->p != p) continue;
        known = true;
        play.live[kind]--;
        if (kind == BLOCK) play.bytes -= t->size;
        *t = (thing){0};
    }
    if (!known) play.bad_frees++;
    (void)pthread_mutex_unlock(&play.mu);
    return known;
}

/* Whether a played GPU has so much; the machine's driver is there. */
static bool has_room(size_t size)
{
    (void)pthread_mutex_lock(&play.mu);
    bool fits = play.machine.total - play.machine.others >= play.bytes &&
                play.machine.total - play.machine.others - play.bytes >= size;
    (void)pthread_mutex_unlock(&play.mu);
    return fits;
}

static int fails(int err)
{
    if (err != 0) pending = err;
    return err;
}

/* Memory, a stream or an event of a played machine. */
static int give(void *out, thing_kind kind, size_t size)
{
    if (kind == BLOCK && !has_room(size)) return fails(cudaErrorMemoryAllocation);
    void *p = calloc(1, size == 0 ? 1 : size);
    if (p == NULL) return fails(cudaErrorMemoryAllocation);
    if (kind == BLOCK || kind == PINNED) memset(p, 1, size < NOISE ? size : NOISE);
    memcpy(out, &p, sizeof p); /* a pointer of whatever kind */
    return 0;
}

/* ---- macros for the wrapped calls ---- */

/* A call that does one thing: not made when it is to fail. */
#define ORDINARY(name, params, args, played) \
    cudaError_t __real_##name params; \
    cudaError_t __wrap_##name params; \
    cudaError_t __wrap_##name params \
    { \
        int err = enter(#name); \
        if (err != 0) return (cudaError_t)err; \
        return is_fake() ? (cudaError_t)(played) : __real_##name args; \
    }
/* One that waits: it has waited when it fails. */
#define WAITS(name, params, args) \
    cudaError_t __real_##name params; \
    cudaError_t __wrap_##name params; \
    cudaError_t __wrap_##name params \
    { \
        int err = enter(#name), got = is_fake() ? 0 : (int)__real_##name args; \
        return (cudaError_t)(err != 0 ? err : got); \
    }
/* One that gives something out under *out. */
#define GIVES(name, kind, size, params, args) \
    cudaError_t __real_##name params; \
    cudaError_t __wrap_##name params; \
    cudaError_t __wrap_##name params \
    { \
        int err = enter(#name); \
        if (err != 0) return (cudaError_t)err; \
        err = is_fake() ? give(out, kind, size) : (int)__real_##name args; \
        if (err == 0) note(out, kind, size); \
        return (cudaError_t)err; \
    }
/* One that takes something back: gone whatever it says. */
#define TAKES(name, kind, type) \
    cudaError_t __real_##name(type p); \
    cudaError_t __wrap_##name(type p); \
    cudaError_t __wrap_##name(type p) \
    { \
        int err = enter(#name), got = 0; \
        if (p != NULL && forget(p, kind)) { \
            if (is_fake()) \
                free(p); \
            else \
                got = (int)__real_##name(p); \
        } \
        return (cudaError_t)(err != 0 ? err : got); \
    }

/* ---- the machine ---- */

static int played_count(int *n)
{
    *n = 0;
    if (play.machine.count_error != 0) return fails(play.machine.count_error);
    if (play.machine.driver == 0)
        return fails(cudaErrorInsufficientDriver); /* as the runtime says */
    if (play.machine.gpus == 0) return fails(cudaErrorNoDevice);
    *n = play.machine.gpus;
    return 0;
}

static int played_properties(struct cudaDeviceProp *prop, int index)
{
    memset(prop, 0, sizeof *prop);
    if (index >= play.machine.gpus) return fails(cudaErrorInvalidDevice);
    (void)snprintf(prop->name, sizeof prop->name, "played GPU");
    memset(&prop->uuid, index + 1, sizeof prop->uuid);
    prop->major = play.machine.major;
    prop->multiProcessorCount = 8;
    prop->totalGlobalMem = play.machine.total;
    return 0;
}

static int played_memory(size_t *left, size_t *total)
{
    (void)pthread_mutex_lock(&play.mu);
    size_t taken = play.machine.others + play.bytes;
    *total = play.machine.total;
    *left = taken < *total ? *total - taken : 0;
    (void)pthread_mutex_unlock(&play.mu);
    return 0;
}

static int played_driver(int *version)
{
    *version = play.machine.driver;
    return 0;
}

ORDINARY(cudaGetDeviceCount, (int *n), (n), played_count(n))
ORDINARY(cudaDriverGetVersion, (int *version), (version), played_driver(version))
ORDINARY(cudaGetDeviceProperties, (struct cudaDeviceProp * prop, int index), (prop, index),
         played_properties(prop, index))
ORDINARY(cudaSetDevice, (int index), (index), fails(play.machine.context_error))
ORDINARY(cudaMemGetInfo, (size_t * left, size_t *total), (left, total), played_memory(left, total))
ORDINARY(cudaFuncSetAttribute, (const void *f, enum cudaFuncAttribute a, int value), (f, a, value),
         0)
ORDINARY(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest), (least, greatest),
         (*least = 0, *greatest = -5, 0))

ORDINARY(cudaDeviceCanAccessPeer, (int *can, int index, int of), (can, index, of), (*can = 1, 0))
ORDINARY(cudaDeviceEnablePeerAccess, (int of, unsigned flags), (of, flags), 0)

/* ---- memory ---- */

/*
 * What was copied comes back as it was, but for single words: these are counts that a kernel made, which the host goes by. A played
 * one makes none, and what memory happens to hold would be up to billions of points to add.
 */
static int move(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
    static const uint32_t some = 0x10;

    memmove(to, kind == cudaMemcpyDeviceToHost && size == sizeof some ? &some : from, size);
    return 0;
}

static int fill(void *to, int value, size_t size)
{
    memset(to, value, size);
    return 0;
}

GIVES(cudaMalloc, BLOCK, size, (void **out, size_t size), (out, size))
TAKES(cudaFree, BLOCK, void *)
GIVES(cudaHostAlloc, PINNED, size, (void **out, size_t size, unsigned flags), (out, size, flags))
TAKES(cudaFreeHost, PINNED, void *)
ORDINARY(cudaHostRegister, (void *p, size_t size, unsigned flags), (p, size, flags), 0)
ORDINARY(cudaHostUnregister, (void *p), (p), 0)
ORDINARY(cudaMemcpy, (void *to, const void *from, size_t size, enum cudaMemcpyKind kind),
         (to, from, size, kind), move(to, from, size, kind))
ORDINARY(cudaMemcpyAsync,
         (void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t s),
         (to, from, size, kind, s), move(to, from, size, kind))
ORDINARY(cudaMemcpyPeerAsync,
         (void *to, int to_device, const void *from, int from_device, size_t size, cudaStream_t s),
         (to, to_device, from, from_device, size, s),
         move(to, from, size, cudaMemcpyDeviceToDevice))
ORDINARY(cudaMemset, (void *to, int value, size_t size), (to, value, size), fill(to, value, size))
ORDINARY(cudaMemsetAsync, (void *to, int value, size_t size, cudaStream_t s), (to, value, size, s),
         fill(to, value, size))

/* ---- streams, events, waits ---- */

/* Every other time it is not there yet, which is no failure but stays as one in the runtime. */
static int played_query(void)
{
    static _Atomic unsigned asked;

    return fails(atomic_fetch_add(&asked, 1) % 2 == 0 ? cudaErrorNotReady : cudaSuccess);
}

GIVES(cudaStreamCreateWithFlags, STREAM, 0, (cudaStream_t * out, unsigned flags), (out, flags))
GIVES(cudaStreamCreateWithPriority, STREAM, 0, (cudaStream_t * out, unsigned flags, int priority),
      (out, flags, priority))
TAKES(cudaStreamDestroy, STREAM, cudaStream_t)
WAITS(cudaStreamSynchronize, (cudaStream_t s), (s))
WAITS(cudaDeviceSynchronize, (void), ())
ORDINARY(cudaStreamQuery, (cudaStream_t s), (s), played_query())
ORDINARY(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned flags), (s, e, flags), 0)
GIVES(cudaEventCreate, EVENT, 0, (cudaEvent_t * out), (out))
GIVES(cudaEventCreateWithFlags, EVENT, 0, (cudaEvent_t * out, unsigned flags), (out, flags))
TAKES(cudaEventDestroy, EVENT, cudaEvent_t)
ORDINARY(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, s), 0)
WAITS(cudaEventSynchronize, (cudaEvent_t e), (e))
ORDINARY(cudaEventQuery, (cudaEvent_t e), (e), played_query())
ORDINARY(cudaEventElapsedTime, (float *ms, cudaEvent_t a, cudaEvent_t b), (ms, a, b), (*ms = 0, 0))

/* ---- launches: under one name before CUDA 13 and under another since ---- */

static void count_launch(void)
{
    (void)pthread_mutex_lock(&play.mu);
    play.launches++;
    (void)pthread_mutex_unlock(&play.mu);
}

#if CUDART_VERSION >= 13000
cudaError_t __real___cudaGetKernel(cudaKernel_t *out, const void *f);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *out, const void *f);
cudaError_t __real___cudaLaunchKernel(cudaKernel_t k, dim3 grid, dim3 block, void **args,
                                      size_t shared, cudaStream_t s);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t k, dim3 grid, dim3 block, void **args,
                                      size_t shared, cudaStream_t s);

/* Once a kernel and process, so it is never made to fail. */
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *out, const void *f)
{
    cudaError_t err = __real___cudaGetKernel(out, f);
    return is_fake() ? cudaSuccess : err;
}

cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t k, dim3 grid, dim3 block, void **args,
                                      size_t shared, cudaStream_t s)
{
    int err = enter("cudaLaunchKernel");

    if (err != 0) return (cudaError_t)err;
    count_launch();
    return is_fake() ? cudaSuccess : __real___cudaLaunchKernel(k, grid, block, args, shared, s);
}
#else
cudaError_t __real_cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t s);
cudaError_t __wrap_cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t s);
cudaError_t __wrap_cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t s)
{
    int err = enter("cudaLaunchKernel");

    if (err != 0) return (cudaError_t)err;
    count_launch();
    return is_fake() ? cudaSuccess : __real_cudaLaunchKernel(f, grid, block, args, shared, s);
}
#endif

/* ---- the last error ---- */

cudaError_t __real_cudaGetLastError(void);
cudaError_t __wrap_cudaGetLastError(void);
cudaError_t __real_cudaPeekAtLastError(void);
cudaError_t __wrap_cudaPeekAtLastError(void);

cudaError_t __wrap_cudaGetLastError(void)
{
    int err = enter("cudaGetLastError"), got = is_fake() ? 0 : (int)__real_cudaGetLastError();

    if (err == 0) err = pending;
    pending = 0;
    return (cudaError_t)(err != 0 ? err : got);
}

cudaError_t __wrap_cudaPeekAtLastError(void)
{
    int err = enter("cudaPeekAtLastError"), got = is_fake() ? 0 : (int)__real_cudaPeekAtLastError();

    if (err == 0) err = pending;
    return (cudaError_t)(err != 0 ? err : got);
}

/* ---- the start-up check ---- */

cuzk_status __real_cu_check_device(device *d);
cuzk_status __wrap_cu_check_device(device *d);
cuzk_status __wrap_cu_check_device(device *d)
{
    return play.check ? __real_cu_check_device(d) : CUZK_OK;
}
