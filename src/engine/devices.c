/*
 * engine/devices.c - which devices an engine proves on: names, what is missing, and what stands in for it
 *
 * A CPU device stands beside every GPU: for what the GPU does not do, for checks, and for what a GPU failed at.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/helpers.h"
#include "engine/lanes.h"

#define MAX_NAME 64

static bool is_gpu(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 && (name[4] == 0 || name[4] == ':');
}

static cuzk_status open_cpu(device **out, cuzk_engine *e, cpu_table table)
{
    device_config c = {.name = "cpu", .table = table, .pool = e->pool, .m = e->dev_mem};

    return device_open(out, &c);
}

cuzk_status engine_open_portable(device **out, cuzk_engine *e)
{
    return open_cpu(out, e, CPU_TABLE_GENERIC);
}

static cuzk_status open_one(cuzk_engine *e, const char *name, const cuzk_config *config)
{
    device_config c = {.name = name,
                       .table = e->table,
                       .pool = e->pool,
                       .m = e->dev_mem,
                       .device_memory = (size_t)config->device_memory};
    unsigned n;

    if (e->n_devices == ENGINE_MAX_DEVICES)
        return FAIL(CUZK_EINVAL, "device %s: more than %u devices", name, ENGINE_MAX_DEVICES);
    if (is_gpu(name) && !device_has_backend("cuda"))
        return FAIL(CUZK_EDEVICE, "device %s: this build has no CUDA backend", name);
    if (is_gpu(name)) TRY(device_count(&n, "cuda")); /* says why the driver shows none */
    TRY(device_open(&e->devices[e->n_devices], &c));
    e->n_devices++;
    return CUZK_OK;
}

/* The failure just recorded becomes a warning. */
static void note_missing(cuzk_engine *e)
{
    const cuzk_error *why = cuzk_last_error();

    if (e->n_missing < ENGINE_MAX_MISSING)
        (void)snprintf(e->missing[e->n_missing++], sizeof e->missing[0], "%.250s", why->message);
    engine_warn(e, CUZK_CLASS_DEVICE, "device", why->message);
}

/* "cuda:all", "cuda" of a service, and "auto": one GPU after the other, until one is open, or all. */
static cuzk_status open_gpus(cuzk_engine *e, const cuzk_config *config, bool all)
{
    unsigned n = 0, before = e->n_devices;

    if (device_has_backend("cuda")) TRY(device_count(&n, "cuda"));
    for (unsigned i = 0; i < n && (all || e->n_devices == before); i++) {
        char name[MAX_NAME];

        (void)snprintf(name, sizeof name, "cuda:%u", i);
        if (open_one(e, name, config) != CUZK_OK) note_missing(e);
    }
    return CUZK_OK;
}

/* One name of the list. What it names and cannot be had is a failure, or by config->missing a warning. */
static cuzk_status open_named(cuzk_engine *e, const char *name, const cuzk_config *config)
{
    unsigned before = e->n_devices;
    cuzk_status st;

    if (strcmp(name, "auto") == 0) {
        e->cpu_will_do = true;
        if (open_gpus(e, config, config->all_gpus) != CUZK_OK)
            note_missing(e); /* a driver, but no GPU for it */
        return CUZK_OK;
    }
    if (!is_gpu(name) && strcmp(name, "cpu") != 0)
        return FAIL(CUZK_EINVAL, "unknown device %s; known: auto, cpu, cuda, cuda:N, cuda:all",
                    name);
    if (strcmp(name, "cuda:all") == 0 || (strcmp(name, "cuda") == 0 && config->all_gpus)) {
        st = open_gpus(e, config, true);
        name = "cuda"; /* says why there is none */
        if (st != CUZK_OK || e->n_devices != before) return st;
    }
    st = open_one(e, name, config);
    if (st != CUZK_EDEVICE && st != CUZK_EBUDGET && st != CUZK_ENOMEM) return st;
    if (config->missing == CUZK_MISSING_FAILS) return st;
    note_missing(e);
    return CUZK_OK;
}

static cuzk_status open_list(cuzk_engine *e, const cuzk_config *config)
{
    const char *at = config->device == NULL ? "auto" : config->device;
    char name[MAX_NAME];
    size_t n;

    for (;; at += n + 1) {
        n = strcspn(at, ",");
        if (n >= sizeof name) return FAIL(CUZK_EINVAL, "device %.70s...: name too long", at);
        memcpy(name, at, n);
        name[n] = 0;
        TRY(open_named(e, name, config));
        if (at[n] == 0) return CUZK_OK;
    }
}

cuzk_status engine_open_devices(cuzk_engine *e, const cuzk_config *config)
{
    e->cpu_will_do = config->missing == CUZK_MISSING_CPU;
    TRY(mem_open(&e->dev_mem, "devices", 0, e->m));
    TRY(open_list(e, config));
    for (unsigned i = 0; i < e->n_devices; i++)
        if (strcmp(device_name(e->devices[i]), "cpu") == 0) e->host = e->devices[i];
    if (e->n_devices == 0 && !e->cpu_will_do)
        return FAIL(CUZK_EDEVICE, "device %s: none can be used: %s", config->device, e->missing[0]);
    if (e->host == NULL) {
        TRY(open_cpu(&e->own_host, e, e->table));
        e->host = e->own_host;
    }
    if (e->n_devices == 0) {
        e->devices[e->n_devices++] = e->host;
        e->own_host = NULL;
    }
    e->dev = e->devices[0];
    TRY(lanes_open(&e->lanes, e->dev, e->rec));
    return e->n_devices == 1 ? CUZK_OK
                             : helpers_open(&e->helpers, e->devices, e->n_devices, e->rec);
}

void engine_close_devices(cuzk_engine *e)
{
    helpers_close(e->helpers);
    helpers_close(e->lanes);
    device_close(e->own_host);
    while (e->n_devices != 0) device_close(e->devices[--e->n_devices]);
    mem_close(e->dev_mem);
}

void engine_forget_key(const cuzk_engine *e, const groth16_pk *pk, const r1cs_system *sys)
{
    for (unsigned i = 0; i < e->n_devices; i++) groth16_pk_forget(e->devices[i], pk, sys);
}
