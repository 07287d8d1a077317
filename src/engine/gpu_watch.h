/*
 * engine/gpu_watch.h - the drivers' view of GPUs, read every few seconds by a thread of its own, since reading may block
 *
 * Who asks gets the last reading and its age at once. Locks: `mu`, a leaf, never held in a call of NVML or of `failed`.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_GPU_WATCH_H
#define ENGINE_GPU_WATCH_H

#include "base/bytes.h"
#include "device/nvml.h"

#define GPU_WATCH_MAX 32u
#define GPU_WATCH_EVERY ((uint64_t)2000000000) /* ns */

typedef struct gpu_watch gpu_watch;

typedef struct gpu_watch_config {
    const char *library; /* NULL: NVML as the loader finds it */
    const char *uuids[GPU_WATCH_MAX];
    unsigned n;
    uint64_t every_ns; /* 0: GPU_WATCH_EVERY */
    /* On the watch's thread, once for each GPU: it has fallen off, or has counted an uncorrectable error of its memory since the
       watch began. May be NULL. */
    void (*failed)(void *ctx, unsigned gpu, const char *why);
    /* What the log should say once: no NVML, or a GPU that it does not know. May be NULL. */
    void (*note)(void *ctx, const char *text);
    void *ctx;
} gpu_watch_config;

/** Texts of c are copied. NVML is opened by the thread: one that is missing is a note. CUZK_ENOMEM. */
CUZK_STATUS gpu_watch_open(gpu_watch **out, const gpu_watch_config *c);
/** No call of c's functions is made or goes on after it. Waits 2 s at most for a driver that does not answer, whose thread then ends by
 *  itself. NULL is fine. */
void gpu_watch_close(gpu_watch *w);

typedef struct gpu_look {
    bool known;          /* there is a reading */
    bool stale;          /* and it is old: the driver does not answer, or failed since */
    uint64_t age_ns;     /* of it */
    uint64_t ecc_before; /* errors that were counted before the watch began */
    nvml_reading r;
} gpu_look;
/** w NULL: nothing is known. */
void gpu_watch_look(gpu_watch *w, unsigned gpu, gpu_look *out);

/** Appends `,"gpu":` and an object, or null where nothing is known (docs/formats/status.md). */
void gpu_look_json(bytes_out *o, const gpu_look *l);

#endif
