/*
 * engine/engine.h - what the files of this room share: one engine, jobs that run inline on the calling thread
 *
 * Locks: `mu` is a leaf and guards `last` and `kept` alone. `tell` is held while the caller of the engine is told something, which
 * workers of one job may do at once; a leaf too.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/device.h"
#include "groth16/prove.h"

#define ENGINE_MAX_DEVICES 32u
#define ENGINE_MAX_MISSING 8u

/** What the steps of a job stand on: the engine's own, or one job's. */
typedef struct job_env {
    mem *m;
    pool *pool;
    const cancel *cancel;
    cpu_table table;
    cuzk_warn_fn warn; /* may be NULL */
    void *warn_ctx;
} job_env;

struct cuzk_engine {
    /* fixed after init */
    mem *m;
    span_rec *rec;
    pool *pool;
    device *devices[ENGINE_MAX_DEVICES]; /* where proofs are made; opened with dev_mem */
    unsigned n_devices;
    device *dev;             /* the first of them */
    struct helpers *helpers; /* a thread for each of them; NULL: there is one device */
    struct helpers *lanes;   /* of the first one (lanes.h); NULL: it is a CPU */
    unsigned split_log;      /* a proof of 2^split_log rows or more may be split */
    bool spread_cpus; /* tests: CPU devices are worked with as if each were a machine of its own */
    device *host;     /* a CPU device: one of them, or */
    device *own_host; /* beside them */
    mem *dev_mem;
    char missing[ENGINE_MAX_MISSING][256]; /* what could not be opened, and why */
    unsigned n_missing;
    bool cpu_will_do; /* where no GPU can be used */
    cancel *cancel;
    cpu_table table;
    bool derived; /* keys' derived points are used */
    cuzk_warn_fn warn;
    cuzk_progress_fn progress;
    void *ctx;
    job_env env;

    /* any thread */
    atomic_uint_fast64_t next_job; /* relaxed: only a number */

    /* guarded by mu */
    pthread_mutex_t mu;
    cuzk_attribution last;
    pthread_mutex_t tell;
    struct kept_vk *kept; /* NULL: none */
};

/** One job on the calling thread: its track, its span, its device stream. */
typedef struct job {
    cuzk_engine *e;
    dev_stream *s;
    dev_stream *host; /* on the CPU: verification, and what s cannot do */
    uint64_t from_ns;
    span span;
    bool beside; /* one of several that go on at once, on a device each */
    const groth16_pk *const
        *pks;      /* of each device the key whose points it can read; NULL: one key will do */
    dev_times gpu; /* of all GPUs of the engine, when it began */
} job;

CUZK_STATUS job_begin(job *j, cuzk_engine *e);
/** Ends the span, keeps the attribution, detaches the thread. */
void job_end(job *j);

/** A stream that can make multiples of a point, for a setup. */
dev_stream *job_setup_stream(const job *j);

/** devices.c: those of the configuration. CUZK_EINVAL: no such name; CUZK_EDEVICE, CUZK_EBUDGET: one that cannot be used. */
CUZK_STATUS engine_open_devices(cuzk_engine *e, const cuzk_config *config);
void engine_close_devices(cuzk_engine *e);
/** No device needs to keep anything of this key and circuit: they are about to be freed. NULL is fine. */
void engine_forget_key(const cuzk_engine *e, const groth16_pk *pk, const r1cs_system *sys);
/** A further CPU device, on the portable table. */
CUZK_STATUS engine_open_portable(device **out, cuzk_engine *e);
/** Hands a finished output to the caller as malloc'ed bytes. */
CUZK_STATUS buffer_from_out(cuzk_buffer *b, const bytes_out *o);
/** Reports a step of long work to the caller of the engine. */
void engine_progress(void *engine, const char *step, uint64_t done, uint64_t total);
/** Warns the caller of the engine: a cuzk_warn_fn. */
void engine_warn(void *engine, cuzk_class klass, const char *where, const char *message);

/* spread.c: work on all devices */

/** Proofs are made on several devices at once; a proof under this key may be split between them. */
bool engine_may_spread(const cuzk_engine *e);
bool engine_may_split(const cuzk_engine *e, const groth16_pk *pk);
/** One item, on the device of j->s. Other threads may be in it for other items. */
typedef cuzk_status (*spread_fn)(void *ctx, job *j, size_t item);
/** fn for items 0..n-1, on all of the engine's devices at once. What a device fails at (CUZK_EDEVICE), or has no room for, another one does
 *  instead, with a warning; another failure, or that of the last device, is the call's: then items may have been left out. */
CUZK_STATUS engine_spread(job *j, size_t n, spread_fn fn, void *ctx);
/** fn at once on each device that proofs are spread over; item: its number among the engine's. The first failure. */
CUZK_STATUS engine_on_each(job *j, spread_fn fn, void *ctx);
/** groth16_prove_start, helped by the other devices where j has the engine for itself and the circuit is worth it. */
CUZK_STATUS engine_prove_start(groth16_job **out, const job *j, const groth16_prove_args *args);

/** Both phases, then verification against `vk` and `pub`: no proof leaves that was not verified. *valid false: it did not verify. */
CUZK_STATUS engine_prove(job *j, groth16_proof *out, const groth16_prove_args *args, bool *valid);

/** Looks at every point of a key: encoding and curve, and the subgroup too where that takes minutes and not hours
 *  (*deep, may be NULL); for larger keys there is cuzk_params_check. CUZK_EDATA names the first bad point. */
CUZK_STATUS engine_check_key(const groth16_pk *pk, pool *p, const cancel *c, bool *deep);

/** T.json: secrets of a setup, and r and s. Either may be NULL. */
CUZK_STATUS trapdoors_read(const char *path, const curve *cv, groth16_trapdoors *t,
                           cuzk_fixed_rs *rs);

#endif
