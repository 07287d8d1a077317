/*
 * wire/grpc_health.c - the standard health service
 *
 * Who watches is a list under the lock; the lock comes before a call's own (gcall_send).
 * Source: grpc's health checking protocol, doc/health-checking.md.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/grpc_health.h"

#include <pthread.h>
#include <string.h>

#include "wire/proto/health.pb-c.h"

typedef Grpc__Health__V1__HealthCheckRequest request;
typedef Grpc__Health__V1__HealthCheckResponse response;
typedef Grpc__Health__V1__HealthCheckResponse__ServingStatus status;
#define STATUS(x) GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__##x

typedef struct watch {
    struct watch *next, *before;
    gcall *call;
    bool listed, known; /* known: of a service that there is */
} watch;

struct ghealth {
    /* fixed after init */
    const char *const *services;
    size_t n;

    pthread_mutex_t mu;
    /* guarded by mu */
    bool serving, ended;
    watch *first;
};

cuzk_status ghealth_open(ghealth **out, const char *const *services, size_t n)
{
    ghealth *h = calloc(1, sizeof *h);

    if (h == NULL || pthread_mutex_init(&h->mu, NULL) != 0) {
        free(h);
        return FAIL(CUZK_ENOMEM, "health service: out of memory");
    }
    h->services = services;
    h->n = n;
    h->serving = true;
    *out = h;
    return CUZK_OK;
}

void ghealth_close(ghealth *h)
{
    if (h == NULL) return;
    VERIFY(h->first == NULL);
    (void)pthread_mutex_destroy(&h->mu);
    free(h);
}

/** Whether the request is well-formed, and whether it names a service that there is. */
static bool read_request(const ghealth *h, gcall *c, bool *known)
{
    bytes_in in = gcall_request(c);
    request *r = grpc__health__v1__health_check_request__unpack(NULL, in.size, in.data);

    if (r == NULL) {
        gcall_fail(c, GCODE_INVALID_ARGUMENT, "not a HealthCheckRequest");
        return false;
    }
    *known = r->service[0] == 0;
    for (size_t i = 0; i < h->n; i++) *known = *known || strcmp(r->service, h->services[i]) == 0;
    grpc__health__v1__health_check_request__free_unpacked(r, NULL);
    return true;
}

static response answer(status s)
{
    response r = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;

    r.status = s;
    return r;
}

static void check(void *ctx, gcall *c)
{
    ghealth *h = ctx;
    bool known;

    if (!read_request(h, c, &known)) return;
    if (!known) {
        gcall_fail(c, GCODE_NOT_FOUND, "no such service");
        return;
    }
    (void)pthread_mutex_lock(&h->mu);
    response r = answer(h->serving ? STATUS(SERVING) : STATUS(NOT_SERVING));
    (void)pthread_mutex_unlock(&h->mu);
    gcall_reply_message(c, &r.base);
}

static void tell_locked(const ghealth *h, const watch *w)
{
    response r = answer(!w->known    ? STATUS(SERVICE_UNKNOWN)
                        : h->serving ? STATUS(SERVING)
                                     : STATUS(NOT_SERVING));

    (void)gcall_send_message(w->call, &r.base); /* false: it is going, and closed() will come */
}

static void start_watch(void *ctx, gcall *c)
{
    ghealth *h = ctx;
    watch *w;
    bool known, ended;

    if (*gcall_state(c) != NULL) {
        gcall_fail(c, GCODE_INVALID_ARGUMENT, "a second request in one watch");
        return;
    }
    if (!read_request(h, c, &known)) return;
    w = calloc(1, sizeof *w);
    if (w == NULL) {
        gcall_fail(c, GCODE_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    w->call = c;
    w->known = known;
    *gcall_state(c) = w;
    (void)pthread_mutex_lock(&h->mu);
    ended = h->ended;
    if (!ended) {
        w->next = h->first;
        if (h->first != NULL) h->first->before = w;
        h->first = w;
        w->listed = true;
        tell_locked(h, w);
    }
    (void)pthread_mutex_unlock(&h->mu);
    if (ended) gcall_fail(c, GCODE_UNAVAILABLE, "the server stops");
}

/** The client sends no more, but listens on. */
static void no_more(void *ctx, gcall *c)
{
    (void)ctx;
    (void)c;
}

static void unlist_locked(ghealth *h, watch *w)
{
    if (!w->listed) return;
    if (w->before != NULL)
        w->before->next = w->next;
    else
        h->first = w->next;
    if (w->next != NULL) w->next->before = w->before;
    w->listed = false;
}

static void end_watch(void *ctx, gcall *c)
{
    ghealth *h = ctx;
    watch *w = *gcall_state(c);

    if (w == NULL) return;
    (void)pthread_mutex_lock(&h->mu);
    unlist_locked(h, w);
    (void)pthread_mutex_unlock(&h->mu);
    free(w);
}

void ghealth_methods(ghealth *h, gmethod out[GHEALTH_METHODS])
{
    out[0] = (gmethod){
        .path = "/grpc.health.v1.Health/Check", .message = check, .ctx = h, .always = true};
    out[1] = (gmethod){.path = "/grpc.health.v1.Health/Watch",
                       .stream = true,
                       .message = start_watch,
                       .done = no_more,
                       .closed = end_watch,
                       .ctx = h};
}

void ghealth_set_serving(ghealth *h, bool serving)
{
    (void)pthread_mutex_lock(&h->mu);
    if (h->serving != serving) {
        h->serving = serving;
        for (const watch *w = h->first; w != NULL; w = w->next) tell_locked(h, w);
    }
    (void)pthread_mutex_unlock(&h->mu);
}

void ghealth_end_watches(ghealth *h)
{
    (void)pthread_mutex_lock(&h->mu);
    h->ended = true;
    while (h->first != NULL) {
        gcall *c = h->first->call;

        unlist_locked(h, h->first);
        gcall_ref(c);
        (void)pthread_mutex_unlock(&h->mu); /* the end may run closed(), which takes it */
        gcall_fail(c, GCODE_UNAVAILABLE, "the server stops");
        gcall_unref(c);
        (void)pthread_mutex_lock(&h->mu);
    }
    (void)pthread_mutex_unlock(&h->mu);
}
