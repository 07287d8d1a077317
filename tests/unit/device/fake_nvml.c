/*
 * unit/device/fake_nvml.c - a libnvidia-ml.so of the tests: one GPU, whose numbers a test sets
 *
 * Types and symbols are NVML's (its API reference).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/fake_nvml.h"

#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static fake_nvml fake = {.uuid = "GPU-00000000-1111-2222-3333-444444444444"};
static int gpu; /* its address is the handle */

EXPORT fake_nvml *fake_nvml_get(void);
EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT const char *nvmlErrorString(int code);
EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **d);
EXPORT int nvmlDeviceGetUtilizationRates(void *d, unsigned out[2]);
EXPORT int nvmlDeviceGetClockInfo(void *d, int which, unsigned *out);
EXPORT int nvmlDeviceGetPowerUsage(void *d, unsigned *out);
EXPORT int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *out);
EXPORT int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *out);
EXPORT int nvmlDeviceGetMemoryInfo(void *d, unsigned long long out[3]);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, fake_process *out);
EXPORT int nvmlDeviceGetTotalEccErrors(void *d, int type, int counter, unsigned long long *out);

fake_nvml *fake_nvml_get(void)
{
    return &fake;
}

int nvmlInit_v2(void)
{
    fake.inits++;
    return fake.refuse;
}

int nvmlShutdown(void)
{
    fake.shutdowns++;
    return 0;
}

const char *nvmlErrorString(int code)
{
    return code == 15 ? "GPU is lost" : code == 6 ? "Not Found" : "Uninitialized";
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **d)
{
    for (; fake.hang; (void)usleep(1000)) fake.hung = true;
    fake.reads++;
    *d = &gpu;
    return strcmp(uuid, fake.uuid) == 0 ? 0 : 6;
}

/* Every other call is of the one handle, and fails once the GPU is lost. */
static int answer(const void *d)
{
    return d != &gpu ? 2 : fake.lost ? 15 : 0;
}

int nvmlDeviceGetUtilizationRates(void *d, unsigned out[2])
{
    out[0] = 87;
    out[1] = 41;
    return answer(d);
}

int nvmlDeviceGetClockInfo(void *d, int which, unsigned *out)
{
    *out = which == 1 ? 1980 : 3201;
    return which == 1 || which == 2 ? answer(d) : 2;
}

int nvmlDeviceGetPowerUsage(void *d, unsigned *out)
{
    *out = 612345;
    return answer(d);
}

int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *out)
{
    *out = 700000;
    return answer(d);
}

int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *out)
{
    *out = 63;
    if (fake.lost_late) return 15;
    return sensor == 0 ? answer(d) : 2;
}

int nvmlDeviceGetMemoryInfo(void *d, unsigned long long out[3])
{
    out[0] = 150000000000;
    out[1] = 50000000000;
    out[2] = 100000000000;
    return answer(d);
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, fake_process *out)
{
    out[0] = (fake_process){.pid = 1, .used = 30000000000};
    out[1] = (fake_process){.pid = (unsigned)getpid(), .used = 69000000000};
    *n = fake.hidden ? 1 : 2;
    return answer(d);
}

int nvmlDeviceGetTotalEccErrors(void *d, int type, int counter, unsigned long long *out)
{
    *out = fake.ecc;
    if (fake.no_ecc) return 3;
    return type == 1 && counter == 0 ? answer(d) : 2;
}
