/*
 * unit/device/fake_nvml.h - what a test sets of the fake NVML, which it opens beside the code under test
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_DEVICE_FAKE_NVML_H
#define UNIT_DEVICE_FAKE_NVML_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

typedef struct fake_process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
} fake_process;

/* Relaxed or not, the watch's thread reads what the test writes. */
typedef struct fake_nvml {
    char uuid[48];
    _Atomic int refuse;                    /* what nvmlInit_v2 answers */
    _Atomic bool lost, hang, hung, hidden; /* hung: somebody is held */
    _Atomic bool lost_late, no_ecc; /* lost_late: from the temperature on; no_ecc: it is not told */
    _Atomic unsigned long long ecc;
    _Atomic unsigned inits, shutdowns, reads;
} fake_nvml;

/** Its state, by the path of the library, which stays open. */
static inline fake_nvml *fake_nvml_of(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
    fake_nvml *(*get)(void);

    if (library == NULL) return NULL;
    symbol = dlsym(library, "fake_nvml_get");
    memcpy(&get, &symbol, sizeof get);
    return get();
}

#endif
