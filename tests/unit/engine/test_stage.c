/*
 * unit/engine/test_stage.c - in which order a stage starts its items, and which of them a hold keeps back
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <pthread.h>

#include "engine/stage.h"

#define ITEMS 4

typedef struct rig {
    stage *s;
    stage_item items[ITEMS];
    pthread_mutex_t mu;
    pthread_cond_t more;
    unsigned done;
    size_t order[ITEMS]; /* which item came as which */
} rig;

static void note(void *ctx, stage_item *it)
{
    rig *r = ctx;

    (void)pthread_mutex_lock(&r->mu);
    r->order[r->done++] = (size_t)(it - r->items);
    (void)pthread_cond_signal(&r->more);
    (void)pthread_mutex_unlock(&r->mu);
}

/* The levels in the order of their items; the stage is held. */
static void rig_open(rig *r, span_rec *rec, const unsigned levels[ITEMS])
{
    const stage_config c = {.name = "stage", .width = 1, .rec = rec, .fn = note, .ctx = r};

    *r = (rig){.mu = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
    assert_status_ok(stage_open(&r->s, &c));
    stage_hold(r->s, true);
    for (unsigned i = 0; i < ITEMS; i++) {
        stage_order(&r->items[i], levels[i], i, 0, 0);
        r->items[i].alone = levels[i] == 0; /* in test_hold_below */
        assert_status_ok(stage_push(r->s, &r->items[i]));
    }
}

static void wait_for(rig *r, unsigned n)
{
    (void)pthread_mutex_lock(&r->mu);
    while (r->done < n) (void)pthread_cond_wait(&r->more, &r->mu);
    assert_int_equal(r->done, n);
    (void)pthread_mutex_unlock(&r->mu);
}

static void rig_close(rig *r)
{
    stage_stop(r->s);
    stage_free(r->s);
}

static void expect(const rig *r, const size_t order[ITEMS])
{
    for (unsigned i = 0; i < ITEMS; i++) assert_int_equal(r->order[i], order[i]);
}

/* Nothing starts that is of a lower level, but for what is to be alone, once it is first. */
static void test_hold_below(void **state)
{
    span_rec *rec;
    stage_state at;
    rig r;

    (void)state;
    assert_status_ok(span_rec_open(&rec));
    rig_open(&r, rec, (unsigned[]){1, 3, 2, 1});
    stage_hold_below(r.s, 2);
    stage_hold(r.s, false);
    wait_for(&r, 2);
    stage_get(r.s, &at);
    assert_int_equal(at.waiting, 2);
    stage_raise(r.s, &r.items[3], 2);
    wait_for(&r, 3);
    stage_hold_below(r.s, 0);
    wait_for(&r, 4);
    expect(&r, (size_t[]){1, 2, 3, 0});
    rig_close(&r);

    rig_open(&r, rec, (unsigned[]){3, 3, 0, 2});
    stage_hold_below(r.s, STAGE_LEVELS);
    assert_true(stage_remove(r.s, &r.items[0]) && stage_remove(r.s, &r.items[1]) &&
                stage_remove(r.s, &r.items[3]));
    stage_hold(r.s, false);
    wait_for(&r, 1);
    assert_int_equal(r.order[0], 2);
    rig_close(&r);
    span_rec_close(rec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hold_below)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
