/*
 * engine/service_split.c - a partition that is alone: the other devices help to prove it
 *
 * Only where nothing else is on a device, waits for one or is being made ready: so it never delays other work, and what comes meanwhile
 * finds the devices as it finds any that is busy. All devices of a kind help or none, so that a key's points come to lie in the same
 * places each time. A device that fails at helping helps no more; one that is lost is retired. The partition does not notice.
 *
 * The device's thread waits here for its helpers alone, who wait for nobody but their device; a partition takes helpers when it has its
 * own device and never another one after them. So there is no circle.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/fault.h"
#include "engine/service.h"

/* Nothing else is on its device, waits for one, or soon will. */
static bool is_alone(const service *s, const svc_device *v)
{
    stage_state proving, before;

    stage_get(s->device, &proving);
    stage_get(s->synthesis, &before);
    return atomic_load_explicit(&v->on, memory_order_relaxed) == 1 && proving.waiting == 0 &&
           before.waiting == 0 && atomic_load_explicit(&s->coming, memory_order_relaxed) == 0;
}

static bool may_help(const svc_device *v, const svc_device *of)
{
    return v != of && v->info.gpu == of->info.gpu &&
           !atomic_load_explicit(&v->helps_no_more, memory_order_relaxed) &&
           atomic_load_explicit(&v->width, memory_order_relaxed) != 0;
}

static bool take_one(svc_split *x, service *s, svc_part *p, unsigned row)
{
    svc_device *v = &s->devices[row];
    unsigned none = 0;
    helper *h;

    if (!atomic_compare_exchange_strong_explicit(&v->on, &none, 1, memory_order_relaxed,
                                                 memory_order_relaxed))
        return false;
    h = helper_take(s->e->helpers, row, p->job->cancel, p->item.level);
    if (h == NULL) {
        svc_device_put(v);
        return false;
    }
    x->h[x->n] = h;
    x->row[x->n] = row;
    x->offer[x->n] = helper_offer(h, NULL);
    x->n++;
    x->rows |= (uint32_t)1 << row;
    return true;
}

static void put_all(svc_split *x, service *s)
{
    for (unsigned i = 0; i < x->n; i++) {
        (void)helper_put(x->h[i], NULL);
        svc_device_put(&s->devices[x->row[i]]);
    }
    *x = (svc_split){0};
}

void svc_split_take(svc_split *x, service *s, svc_part *p, const svc_device *v)
{
    *x = (svc_split){0};
    if (v == NULL || p->attempts != 0 || p->avoid != 0) return;
    if (!engine_may_split(s->e, p->job->key.k->pk) || !is_alone(s, v)) return;
    for (unsigned i = 0; i < s->n_devices && x->n < SVC_MAX_HELPERS; i++) {
        if (!may_help(&s->devices[i], v) || take_one(x, s, p, i)) continue;
        put_all(x, s); /* another has come: all devices or none */
        return;
    }
}

void svc_split_put(svc_split *x, service *s, svc_part *p)
{
    p->helper_failed = 0;
    for (unsigned i = 0; i < x->n; i++) {
        svc_device *v = &s->devices[x->row[i]];
        cuzk_error why;
        cuzk_status st = helper_put(x->h[i], &why);
        bool lost = st == CUZK_EDEVICE && (device_is_lost(v->d) || fault_hit("helper lost"));

        svc_device_put(v);
        if (st == CUZK_OK || st == CUZK_ECANCELLED) continue;
        atomic_store_explicit(&v->helps_no_more, true, memory_order_relaxed);
        if (lost) atomic_store_explicit(&v->width, 0, memory_order_relaxed);
        p->helper_failed |= (uint32_t)1 << x->row[i];
        p->helper_why = why;
    }
}

void svc_split_tell(svc_part *p)
{
    service *s = p->job->s;

    for (unsigned i = 0; i < s->n_devices; i++) {
        svc_device *v = &s->devices[i];
        cuzk_log_field f[] = {{"device", v->info.label, 0}, {"message", p->helper_why.message, 0}};

        if ((p->helper_failed >> i & 1) == 0) continue;
        if (atomic_load_explicit(&v->width, memory_order_relaxed) == 0)
            (void)svc_device_retire(s, v, p->job, &p->helper_why);
        else
            svc_log(s, CUZK_LOG_WARN, "device_helps_no_more", f, 2);
    }
    p->helper_failed = 0;
}
