/*
 * device/nvml.c - NVML by its stable C symbols: types and numbers are its own, looked up when it is opened
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PATH "libnvidia-ml.so.1"

/* ---- NVML's types ---- */

typedef int nvml_return; /* 0: success */
#define RETURN_GPU_IS_LOST 15
typedef void *nvml_device;
typedef struct nvml_utilization {
    unsigned gpu, memory;
} nvml_utilization;
typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory;
typedef struct nvml_process {
    unsigned pid;
    unsigned long long used; /* ~0: not known */
    unsigned gpu_instance, compute_instance;
} nvml_process;
#define CLOCK_SM 1
#define CLOCK_MEMORY 2
#define SENSOR_GPU 0
#define ERRORS_UNCORRECTED 1
#define COUNTER_VOLATILE 0
#define MAX_PROCESSES 64u

struct nvml {
    void *library;
    bool started;
    nvml_return (*init)(void);
    nvml_return (*shutdown)(void);
    const char *(*error_string)(nvml_return);
    nvml_return (*by_uuid)(const char *, nvml_device *);
    /* NULL: this version has none */
    nvml_return (*utilization)(nvml_device, nvml_utilization *);
    nvml_return (*clock)(nvml_device, int, unsigned *);
    nvml_return (*power)(nvml_device, unsigned *);
    nvml_return (*power_limit)(nvml_device, unsigned *);
    nvml_return (*temperature)(nvml_device, int, unsigned *);
    nvml_return (*memory)(nvml_device, nvml_memory *);
    nvml_return (*processes)(nvml_device, unsigned *, nvml_process *);
    nvml_return (*ecc)(nvml_device, int, int, unsigned long long *);
    nvml_return (*throttle)(nvml_device, unsigned long long *);
};

/* ---- opening ---- */

static const struct {
    const char *name;
    bool needed;
    size_t at; /* of struct nvml */
} symbols[] = {
    {"nvmlInit_v2", true, offsetof(nvml, init)},
    {"nvmlShutdown", true, offsetof(nvml, shutdown)},
    {"nvmlErrorString", true, offsetof(nvml, error_string)},
    {"nvmlDeviceGetHandleByUUID", true, offsetof(nvml, by_uuid)},
    {"nvmlDeviceGetUtilizationRates", false, offsetof(nvml, utilization)},
    {"nvmlDeviceGetClockInfo", false, offsetof(nvml, clock)},
    {"nvmlDeviceGetPowerUsage", false, offsetof(nvml, power)},
    {"nvmlDeviceGetEnforcedPowerLimit", false, offsetof(nvml, power_limit)},
    {"nvmlDeviceGetTemperature", false, offsetof(nvml, temperature)},
    {"nvmlDeviceGetMemoryInfo", false, offsetof(nvml, memory)},
    {"nvmlDeviceGetComputeRunningProcesses_v3", false, offsetof(nvml, processes)},
    {"nvmlDeviceGetTotalEccErrors", false, offsetof(nvml, ecc)},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", false, offsetof(nvml, throttle)},
};

static cuzk_status look_up(nvml *n, const char *path)
{
    _Static_assert(sizeof n->init == sizeof(void *), "a symbol's address is a function's");
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *p = dlsym(n->library, symbols[i].name);

        if (p == NULL && symbols[i].needed)
            return FAIL(CUZK_EDEVICE, "%s has no %s", path, symbols[i].name);
        memcpy((uint8_t *)n + symbols[i].at, &p, sizeof p);
    }
    return CUZK_OK;
}

static cuzk_status start(nvml *n, const char *path)
{
    nvml_return r;

    n->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (n->library == NULL) return FAIL(CUZK_EDEVICE, "NVML: %.200s", dlerror());
    TRY(look_up(n, path));
    r = n->init();
    if (r != 0) return FAIL(CUZK_EDEVICE, "NVML does not start: %.100s", n->error_string(r));
    n->started = true;
    return CUZK_OK;
}

cuzk_status nvml_open(nvml **out, const char *path)
{
    nvml *n = calloc(1, sizeof *n);
    cuzk_status st;

    if (n == NULL) return FAIL(CUZK_ENOMEM, "NVML: out of memory");
    st = start(n, path == NULL ? DEFAULT_PATH : path);
    if (st != CUZK_OK) {
        nvml_close(n);
        return st;
    }
    *out = n;
    return CUZK_OK;
}

void nvml_close(nvml *n)
{
    if (n == NULL) return;
    if (n->started) (void)n->shutdown();
    if (n->library != NULL) (void)dlclose(n->library);
    free(n);
}

/* ---- reading ---- */

/* Whether a call gave its number; *lost stays once one said that the GPU is. */
static bool got(nvml_return r, bool *lost)
{
    if (r == RETURN_GPU_IS_LOST) *lost = true;
    return r == 0;
}

/* Of the driver's list; false: this process is not in it, as in a container with pids of its own. */
static bool read_others(const nvml *n, nvml_device d, uint64_t used, uint64_t *others, bool *lost)
{
    nvml_process list[MAX_PROCESSES];
    unsigned count = MAX_PROCESSES, self = (unsigned)getpid();

    if (n->processes == NULL || !got(n->processes(d, &count, list), lost)) return false;
    for (unsigned i = 0; i < count && i < MAX_PROCESSES; i++) {
        if (list[i].pid != self || list[i].used > used) continue;
        *others = used - list[i].used;
        return true;
    }
    return false;
}

static void read_load(const nvml *n, nvml_device d, nvml_reading *out, bool *lost)
{
    nvml_utilization u;

    if (n->utilization != NULL && got(n->utilization(d, &u), lost)) {
        out->gpu_percent = u.gpu;
        out->memory_percent = u.memory;
        out->has |= NVML_HAS_LOAD;
    }
    if (n->clock != NULL && got(n->clock(d, CLOCK_SM, &out->sm_mhz), lost))
        out->has |= NVML_HAS_SM_CLOCK;
    if (n->clock != NULL && got(n->clock(d, CLOCK_MEMORY, &out->memory_mhz), lost))
        out->has |= NVML_HAS_MEMORY_CLOCK;
    if (n->power != NULL && got(n->power(d, &out->power_mw), lost)) out->has |= NVML_HAS_POWER;
    if (n->power_limit != NULL && got(n->power_limit(d, &out->power_limit_mw), lost))
        out->has |= NVML_HAS_POWER_LIMIT;
    if (n->temperature != NULL && got(n->temperature(d, SENSOR_GPU, &out->celsius), lost))
        out->has |= NVML_HAS_TEMPERATURE;
}

static void read_state(const nvml *n, nvml_device d, nvml_reading *out, bool *lost)
{
    nvml_memory m;
    unsigned long long x;

    if (n->memory != NULL && got(n->memory(d, &m), lost)) {
        out->memory_total = m.total;
        out->memory_used = m.used;
        out->has |= NVML_HAS_MEMORY;
        if (read_others(n, d, m.used, &out->memory_others, lost)) out->has |= NVML_HAS_OTHERS;
    }
    if (n->ecc != NULL && got(n->ecc(d, ERRORS_UNCORRECTED, COUNTER_VOLATILE, &x), lost)) {
        out->ecc_uncorrected = x;
        out->has |= NVML_HAS_ECC;
    }
    if (n->throttle != NULL && got(n->throttle(d, &x), lost)) {
        out->throttle = x;
        out->has |= NVML_HAS_THROTTLE;
    }
}

cuzk_status nvml_read(nvml *n, const char *uuid, nvml_reading *out, bool *lost)
{
    nvml_device d;
    nvml_return r = n->by_uuid(uuid, &d);

    *out = (nvml_reading){0};
    *lost = false;
    if (got(r, lost)) {
        read_load(n, d, out, lost);
        read_state(n, d, out, lost);
    }
    if (*lost) r = RETURN_GPU_IS_LOST; /* any of them: numbers of before it are no reading */
    return r == 0 ? CUZK_OK : FAIL(CUZK_EDEVICE, "%.48s: %.100s", uuid, n->error_string(r));
}

void nvml_throttle_text(char out[NVML_THROTTLE_TEXT], uint64_t throttle)
{
    static const char *const names[] = {NULL, /* idle */
                                        "clock setting",
                                        "power cap",
                                        "hardware slowdown",
                                        "sync boost",
                                        "heat",
                                        "hardware heat",
                                        "power brake",
                                        "display"};
    size_t at = 0;

    (void)snprintf(out, NVML_THROTTLE_TEXT, "none");
    for (unsigned i = 1; i < sizeof names / sizeof names[0]; i++)
        if ((throttle >> i & 1) != 0 && at < NVML_THROTTLE_TEXT)
            at += (size_t)snprintf(out + at, NVML_THROTTLE_TEXT - at, "%s%s", at == 0 ? "" : ", ",
                                   names[i]);
}
