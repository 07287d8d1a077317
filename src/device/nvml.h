/*
 * device/nvml.h - NVIDIA's management library, loaded at run time: what a GPU is at as its driver sees it
 *
 * Calls may block, for as long as the driver does: they are for a thread that nobody waits for (engine/gpu_watch.h). No lock here;
 * one thread at a time.
 * Source: NVIDIA's NVML API reference.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_NVML_H
#define DEVICE_NVML_H

#include "base/status.h"

typedef struct nvml nvml;

/** path NULL: "libnvidia-ml.so.1", as the loader finds it. CUZK_EDEVICE: it is not there, is too old, or does not start. */
CUZK_STATUS nvml_open(nvml **out, const char *path);
void nvml_close(nvml *n); /* NULL is fine */

/* What one GPU and driver tell and others do not is marked: bits of `has`. */
enum {
    NVML_HAS_LOAD = 1,
    NVML_HAS_SM_CLOCK = 2,
    NVML_HAS_MEMORY_CLOCK = 4,
    NVML_HAS_POWER = 8,
    NVML_HAS_POWER_LIMIT = 16,
    NVML_HAS_TEMPERATURE = 32,
    NVML_HAS_MEMORY = 64,
    NVML_HAS_OTHERS = 128,
    NVML_HAS_ECC = 256,
    NVML_HAS_THROTTLE = 512,
};
typedef struct nvml_reading {
    unsigned has;
    unsigned gpu_percent,
        memory_percent; /* time with a kernel, with its memory at work: of the driver's last period */
    unsigned sm_mhz, memory_mhz;
    unsigned power_mw, power_limit_mw, celsius;
    uint64_t memory_total, memory_used; /* bytes: by all, the driver's own included */
    uint64_t
        memory_others; /* of these, not this process's; told where it sees itself in the driver's list */
    uint64_t ecc_uncorrected; /* errors since the driver was loaded */
    uint64_t throttle; /* why clocks are lower than they could be: bits, nvml_throttle_text */
} nvml_reading;

/** Of the GPU with this UUID ("GPU-..."). CUZK_EDEVICE, with NVML's own words: there is none, or (*lost) it has fallen off. */
CUZK_STATUS nvml_read(nvml *n, const char *uuid, nvml_reading *out, bool *lost);

/** Names of the reasons, separated by commas; "none". Being idle is none. */
#define NVML_THROTTLE_TEXT 128
void nvml_throttle_text(char out[NVML_THROTTLE_TEXT], uint64_t throttle);

#endif
