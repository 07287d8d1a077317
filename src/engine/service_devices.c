/*
 * engine/service_devices.c - the service's devices: which one takes a partition, what was at fault, retirement
 *
 * A partition goes to the emptiest device that it has not failed on. One that is lost is retired; one whose memory does not do
 * for several partitions takes one at a time from then on. What no device is left for is proved on the CPU, on a stage of its
 * own, so that no GPU waits for it.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/lanes.h"
#include "engine/service.h"

#define GPU_WIDTH 2 /* partitions at a time, while no setting says more or less */

static unsigned width_of(const svc_device *v)
{
    return atomic_load_explicit(&v->width, memory_order_relaxed);
}

static unsigned total_width(const service *s)
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->n_devices; i++) n += width_of(&s->devices[i]);
    return n;
}

cuzk_status svc_devices_open(service *s)
{
    cuzk_engine *e = s->e;
    unsigned gpu_width = s->c.partitions_per_gpu == 0 ? GPU_WIDTH : s->c.partitions_per_gpu;

    s->proving = e->dev_mem;
    s->host_row = -1;
    for (; s->n_devices < e->n_devices; s->n_devices++) {
        svc_device *v = &s->devices[s->n_devices];

        v->d = e->devices[s->n_devices];
        device_info_get(v->d, &v->info);
        TRY(lanes_open(&v->lanes, v->d, e->rec));
        atomic_init(&v->width, v->info.gpu ? gpu_width : 1);
        if (!v->info.gpu && s->host_row >= 0) { /* "cpu,cpu": each has a name */
            v->info.ordinal = s->n_devices;
            (void)snprintf(v->info.label, sizeof v->info.label, "cpu:%u", s->n_devices);
        }
        if (!v->info.gpu && s->host_row < 0) s->host_row = (int)s->n_devices;
    }
    s->max_width = total_width(s);
    return engine_open_portable(&s->portable, e);
}

void svc_devices_close(service *s)
{
    for (unsigned i = 0; i < s->n_devices; i++) helpers_close(s->devices[i].lanes);
}

void svc_devices_tell(service *s)
{
    for (unsigned i = 0; i < s->e->n_missing; i++) {
        cuzk_log_field f[] = {{"message", s->e->missing[i], 0}};

        svc_log(s, CUZK_LOG_WARN, "device_refused", f, 1);
    }
    for (unsigned i = 0; i < s->n_devices; i++) {
        const svc_device *v = &s->devices[i];
        cuzk_log_field f[] = {{"device", v->info.label, 0},
                              {"model", v->info.model, 0},
                              {"uuid", v->info.uuid, 0},
                              {"memory_mib", NULL, (int64_t)(v->info.memory_total >> 20)},
                              {"at_a_time", NULL, width_of(v)}};

        svc_log(s, CUZK_LOG_INFO, "device", f, v->info.gpu ? 5 : 1);
    }
}

/* ---- choosing ---- */

static bool may_take(const svc_device *v, uint32_t avoid, unsigned i)
{
    return width_of(v) != 0 && (avoid >> i & 1) == 0;
}

/* The emptiest, by what it takes at a time. */
static svc_device *emptiest(service *s, uint32_t avoid, unsigned *on)
{
    svc_device *best = NULL;

    for (unsigned i = 0; i < s->n_devices; i++) {
        svc_device *v = &s->devices[i];
        unsigned n = atomic_load_explicit(&v->on, memory_order_relaxed);

        if (!may_take(v, avoid, i)) continue;
        if (best != NULL && n * width_of(best) >= *on * width_of(v)) continue;
        best = v;
        *on = n;
    }
    return best;
}

svc_device *svc_device_take(service *s, uint32_t avoid)
{
    svc_device *v;
    unsigned on = 0;

    do {
        v = emptiest(s, avoid, &on);
    } while (v != NULL && !atomic_compare_exchange_weak_explicit(
                              &v->on, &on, on + 1, memory_order_relaxed, memory_order_relaxed));
    return v;
}

void svc_device_put(svc_device *v)
{
    (void)atomic_fetch_sub_explicit(&v->on, 1, memory_order_relaxed);
}

device *svc_stand_in(const service *s, part_path path)
{
    return path == PATH_PORTABLE || s->host_row >= 0 ? s->portable : s->e->host;
}

stage *svc_device_stage(const service *s, part_path path)
{
    return path == PATH_DEVICES || s->host == NULL ? s->device : s->host;
}

bool svc_device_is_last(const service *s, const svc_part *p)
{
    for (unsigned i = 0; i < s->n_devices; i++)
        if (&s->devices[i] != p->at_dev && may_take(&s->devices[i], p->avoid, i)) return false;
    return true;
}

part_path svc_next_path(const service *s, const svc_part *p)
{
    if (p->path == PATH_PORTABLE || p->path == PATH_HOST) return PATH_PORTABLE;
    for (unsigned i = 0; i < s->n_devices; i++)
        if (may_take(&s->devices[i], p->avoid, i)) return PATH_DEVICES;
    return s->host_row >= 0 ? PATH_PORTABLE : PATH_HOST;
}

/* ---- faults ---- */

/* Under the lock: of two that come at once the later one counts what both did. */
static void set_stage_width(service *s)
{
    unsigned n;

    svc_lock(s);
    n = total_width(s);
    stage_set_width(s->device, n == 0 ? 1 : n);
    svc_unlock(s);
}

bool svc_device_retire(service *s, svc_device *v, const svc_job *j, const cuzk_error *why)
{
    cuzk_log_field f[] = {
        {"device", v->info.label, 0}, {"model", v->info.model, 0}, {"message", why->message, 0}};
    bool first;

    svc_lock(s);
    first = !v->retired;
    v->retired = true;
    atomic_store_explicit(&v->width, 0, memory_order_relaxed);
    if (first) svc_note_error(s, j, why);
    svc_unlock(s);
    if (!first) return false;
    set_stage_width(s);
    svc_log(s, CUZK_LOG_ERROR, "device_retired", f, 3);
    svc_event_device(s, v, "retired");
    return true;
}

bool svc_device_narrow(service *s, svc_device *v, const cuzk_error *why)
{
    unsigned n = width_of(v);
    cuzk_log_field f[] = {
        {"device", v->info.label, 0}, {"at_a_time", NULL, 1}, {"message", why->message, 0}};

    while (n > 1 && !atomic_compare_exchange_weak_explicit(&v->width, &n, 1, memory_order_relaxed,
                                                           memory_order_relaxed))
        ;
    if (n < 2) return false;
    set_stage_width(s);
    svc_log(s, CUZK_LOG_WARN, "device_memory_tight", f, 3);
    return true;
}
