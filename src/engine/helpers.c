/*
 * engine/helpers.c - a thread for each device of an engine, lent to one proof or one worker at a time
 *
 * A helper's calls stand in a short queue of its own, and it is in the stage of all helpers while there is something to do. Its
 * stream is opened by its thread for the first call of a loan, and closed by it after the last: who takes and puts waits for neither.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/helpers.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/fault.h"
#include "engine/stage.h"

#define MAX_CALLS 4u /* that wait, of one loan */

typedef struct call {
    cuzk_status (*fn)(void *arg, dev_stream *s);
    void *arg;
    span_place place; /* whose work it is */
} call;

struct helper {
    /* fixed after init */
    device *d;
    helpers *all;
    /* only its thread */
    dev_stream *s;
    uint64_t s_loan; /* for which s was opened */
    /* guarded by mu */
    stage_item item;
    pthread_mutex_t mu;
    pthread_cond_t quiet; /* no call waits or runs */
    bool taken, running;  /* running: its item is in the stage, or its thread is at it */
    bool calling;
    uint64_t loan;
    const cancel *cancel; /* of the loan, as level */
    unsigned level;
    call calls[MAX_CALLS];
    unsigned n;
    cuzk_error failure; /* the first of the loan; status CUZK_OK: none */
};

struct helpers {
    stage *stage;
    unsigned n;
    helper helper[];
};

/* ---- on its thread ---- */

static void close_stream(helper *h)
{
    span sp = span_open(SPAN_FREE);

    dev_stream_close(h->s);
    h->s = NULL;
    span_close(&sp);
}

static cuzk_status open_stream(helper *h, const cancel *c, unsigned level, uint64_t loan)
{
    span sp = span_open(SPAN_ALLOC);
    cuzk_status st = dev_stream_open_at(&h->s, h->d, c, level);

    if (st != CUZK_OK) h->s = NULL;
    h->s_loan = loan;
    span_close(&sp);
    return st;
}

static cuzk_status run_call(helper *h, const call *c, const cancel *token, unsigned level,
                            uint64_t loan)
{
    if (h->s == NULL) TRY(open_stream(h, token, level, loan));
    if (fault_hit("helper fault")) return FAIL(CUZK_EDEVICE, "a fault of a helper, by a test");
    fault_stall("helper");
    return c->fn(c->arg, h->s);
}

static void call_next_locked(helper *h)
{
    call c = h->calls[0];
    const cancel *token = h->cancel;
    unsigned level = h->level;
    uint64_t loan = h->loan;
    cuzk_status st;

    h->n--;
    for (unsigned i = 0; i < h->n; i++) h->calls[i] = h->calls[i + 1];
    h->calling = true;
    (void)pthread_mutex_unlock(&h->mu);
    span_context(c.place.job, c.place.partition);
    st = run_call(h, &c, token, level, loan);
    (void)pthread_mutex_lock(&h->mu);
    h->calling = false;
    if (st != CUZK_OK && h->failure.status == CUZK_OK) h->failure = *cuzk_last_error();
    if (h->n == 0) (void)pthread_cond_broadcast(&h->quiet);
}

/* The stage's function: until there is nothing to do. */
static void work(void *ctx, stage_item *it)
{
    helper *h = (helper *)((char *)it - offsetof(helper, item));

    (void)ctx;
    (void)pthread_mutex_lock(&h->mu);
    for (;;) {
        if (h->s != NULL && (h->s_loan != h->loan || !h->taken)) {
            (void)pthread_mutex_unlock(&h->mu);
            close_stream(h);
            (void)pthread_mutex_lock(&h->mu);
        } else if (h->n != 0) {
            call_next_locked(h);
        } else {
            break;
        }
    }
    h->running = false;
    (void)pthread_mutex_unlock(&h->mu);
}

/* ---- who has it ---- */

static cuzk_status wake_locked(helper *h)
{
    cuzk_status st = CUZK_OK;

    if (h->running) return CUZK_OK;
    stage_order(&h->item, 0, 0, 0, 0);
    h->running = true;
    st = stage_push(h->all->stage, &h->item);
    if (st != CUZK_OK) h->running = false;
    return st;
}

helper *helper_take(helpers *x, unsigned i, const cancel *c, unsigned level)
{
    helper *h = &x->helper[i];
    bool mine;

    (void)pthread_mutex_lock(&h->mu);
    mine = !h->taken;
    if (mine) {
        h->taken = true;
        h->loan++;
        h->cancel = c;
        h->level = level;
        h->failure = (cuzk_error){0};
    }
    (void)pthread_mutex_unlock(&h->mu);
    return mine ? h : NULL;
}

cuzk_status helper_put(helper *h, cuzk_error *why)
{
    cuzk_status st;

    (void)pthread_mutex_lock(&h->mu);
    VERIFY(h->taken && h->n == 0 && !h->calling);
    st = h->failure.status;
    if (why != NULL) *why = h->failure;
    h->taken = false;
    h->cancel = NULL;
    /* its thread closes the stream: where it cannot be told, the next call of the next loan does */
    cuzk_status woken = wake_locked(h);
    (void)woken;
    (void)pthread_mutex_unlock(&h->mu);
    return st;
}

groth16_helper helper_offer(helper *h, const groth16_pk *pk)
{
    return (groth16_helper){
        .dev = h->d, .pk = pk, .start = helper_start, .join = helper_join, .ctx = h};
}

void helper_start(void *ctx, cuzk_status (*fn)(void *arg, dev_stream *s), void *arg)
{
    helper *h = ctx;
    cuzk_status st;

    (void)pthread_mutex_lock(&h->mu);
    VERIFY(h->taken);
    if (h->n == MAX_CALLS)
        st = FAIL(CUZK_EBUG, "helper: %u calls wait", MAX_CALLS);
    else
        st = wake_locked(h);
    if (st == CUZK_OK) h->calls[h->n++] = (call){fn, arg, span_here()};
    if (st != CUZK_OK && h->failure.status == CUZK_OK) h->failure = *cuzk_last_error();
    (void)pthread_mutex_unlock(&h->mu);
}

void helper_join(void *ctx)
{
    helper *h = ctx;

    (void)pthread_mutex_lock(&h->mu);
    while (h->n != 0 || h->calling) (void)pthread_cond_wait(&h->quiet, &h->mu);
    (void)pthread_mutex_unlock(&h->mu);
}

/* ---- entry points ---- */

static cuzk_status helper_init(helper *h, helpers *all, device *d)
{
    h->d = d;
    h->all = all;
    if (pthread_mutex_init(&h->mu, NULL) != 0) return FAIL(CUZK_ENOMEM, "helpers: no mutex");
    (void)pthread_cond_init(&h->quiet, NULL); /* cannot fail in glibc and musl */
    return CUZK_OK;
}

cuzk_status helpers_open(helpers **out, device *const *d, unsigned n, span_rec *rec)
{
    helpers *x = calloc(1, sizeof *x + n * sizeof x->helper[0]);
    stage_config c = {.name = "helper", .width = n, .rec = rec, .fn = work};
    cuzk_status st = CUZK_OK;

    if (x == NULL) return FAIL(CUZK_ENOMEM, "helpers: out of memory");
    for (; x->n < n; x->n++) TRY_OUT(helper_init(&x->helper[x->n], x, d[x->n]));
    TRY_OUT(stage_open(&x->stage, &c));
    *out = x;
    x = NULL;
out:
    helpers_close(x);
    return st;
}

void helpers_close(helpers *x)
{
    if (x == NULL) return;
    stage_stop(x->stage);
    for (unsigned i = 0; i < x->n; i++) {
        helper *h = &x->helper[i];

        dev_stream_close(h->s);
        (void)pthread_cond_destroy(&h->quiet);
        (void)pthread_mutex_destroy(&h->mu);
    }
    stage_free(x->stage);
    free(x);
}
