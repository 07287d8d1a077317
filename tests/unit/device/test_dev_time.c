/*
 * unit/device/test_dev_time.c - a GPU's time: windows, work and gaps against an instant-by-instant count, causes, spans
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "base/clock.h"
#include "device/dev_time.h"

#define T0 1000000u

static dev_time *open_time(void)
{
    dev_time *t = malloc(sizeof *t);

    assert_non_null(t);
    assert_status_ok(dev_time_init(t, "gpu:7"));
    return t;
}

static void close_time(dev_time *t)
{
    dev_time_clear(t);
    free(t);
}

static span_noted stretch(uint64_t from, uint64_t to, span_kind kind, span_kind within)
{
    return (span_noted){T0 + from, T0 + to, kind, within};
}

/* One proof: the sums of each kind, the gaps by what the host was at, the tail. */
static void test_one(void **state)
{
    dev_time *t = open_time();
    span_noted work[] = {stretch(100, 200, SPAN_GPU_COPY_IN, SPAN_ABC),
                         stretch(200, 300, SPAN_GPU_ABC, SPAN_ABC),
                         stretch(350, 1350, SPAN_GPU_PAIRS, SPAN_MSM_H),
                         stretch(1450, 1500, SPAN_GPU_PAIRS, SPAN_MSM_L)};
    const span_noted host[] = {stretch(250, 330, SPAN_GPU_IDLE_COPY, SPAN_KINDS),
                               stretch(1350, 1390, SPAN_GPU_IDLE_JOIN, SPAN_KINDS)};
    dev_times s;
    int lane;

    (void)state;
    dev_time_get(t, &s);
    assert_int_equal(s.proofs, 0);
    lane = dev_time_begin(t, T0);
    assert_int_equal(lane, 0);
    dev_time_add(t, lane, work, 2, host, 1);
    dev_time_add(t, lane, work + 2, 2, host + 1, 1);
    dev_time_end(t, lane, T0 + 1530);
    dev_time_get(t, &s);
    assert_int_equal(s.proofs, 1);
    assert_int_equal(s.window_ns, 1400);
    assert_int_equal(s.busy_ns, 1250);
    assert_int_equal(s.tail_ns, 30);
    assert_int_equal(s.worst_tail_ns, 30);
    assert_int_equal(s.ns[SPAN_GPU_COPY_IN], 100);
    assert_int_equal(s.n[SPAN_GPU_PAIRS], 2);
    assert_int_equal(s.ns[SPAN_GPU_PAIRS], 1050);
    assert_int_equal(s.ns[SPAN_ABC], 200);
    assert_int_equal(s.ns[SPAN_MSM_H], 1000);
    assert_int_equal(s.ns[SPAN_GPU_IDLE_COPY], 50);  /* 30 of 50 */
    assert_int_equal(s.ns[SPAN_GPU_IDLE_HOST], 100); /* 60 of 100 were none of its notes */
    assert_int_equal(s.ns[SPAN_GPU_IDLE_JOIN], 0);
    close_time(t);
}

/* A proof and a share of it: both work, one counts. */
static void test_share(void **state)
{
    dev_time *t = open_time();
    span_noted own = stretch(10, 20, SPAN_GPU_NTT, SPAN_KINDS),
               part = stretch(20, 50, SPAN_GPU_PAIRS, SPAN_KINDS);
    int proof = dev_time_begin(t, T0), share = dev_time_begin(t, T0);
    dev_times s;

    (void)state;
    dev_time_share(t, -1);
    dev_time_share(t, share);
    dev_time_add(t, proof, &own, 1, NULL, 0);
    dev_time_add(t, share, &part, 1, NULL, 0);
    dev_time_end(t, share, T0 + 50);
    dev_time_end(t, proof, T0 + 60);
    dev_time_get(t, &s);
    assert_int_equal(s.proofs, 1);
    assert_int_equal(s.tail_ns, 40);
    assert_int_equal(s.worst_tail_ns, 40);
    assert_int_equal(s.window_ns, 40);
    assert_int_equal(s.busy_ns, 40);
    assert_int_equal(dev_time_begin(t, T0 + 60), 0); /* the next one is a proof again */
    part = stretch(70, 80, SPAN_GPU_PAIRS, SPAN_KINDS);
    dev_time_add(t, 0, &part, 1, NULL, 0);
    dev_time_end(t, 0, T0 + 80);
    dev_time_get(t, &s);
    assert_int_equal(s.proofs, 2);
    close_time(t);
}

/* A proof of nothing, one that never ends its work, and more than there are lanes. */
static void test_lanes(void **state)
{
    dev_time *t = open_time();
    span_noted work = stretch(10, 20, SPAN_GPU_NTT, SPAN_KINDS);
    dev_times s;

    (void)state;
    for (unsigned i = 0; i < DEV_LANES; i++) assert_int_equal(dev_time_begin(t, T0), i);
    assert_int_equal(dev_time_begin(t, T0), -1);
    dev_time_add(t, -1, &work, 1, NULL, 0);
    dev_time_end(t, -1, T0 + 50);
    dev_time_end(t, 3, T0 + 50);
    assert_int_equal(dev_time_begin(t, T0 + 60), 3);
    dev_time_add(t, 3, &work, 1, NULL, 0); /* before it began: cut to nothing */
    for (unsigned i = 0; i < DEV_LANES; i++) dev_time_end(t, (int)i, T0 + 100);
    dev_time_get(t, &s);
    assert_int_equal(s.proofs, 0);
    assert_int_equal(s.window_ns + s.busy_ns, 0);
    close_time(t);
}

/* ---- many proofs on several lanes, against a count of instants ---- */

enum { INSTANTS = 4000, MOST_WORK = 12 };

typedef struct proof {
    int lane;
    uint64_t begin, end;
    span_noted work[MOST_WORK];
    size_t n;
} proof;

static void random_proof(proof *p, uint64_t begin)
{
    uint64_t at = begin;

    *p = (proof){.begin = begin};
    while (p->n < MOST_WORK && harness_random_below(8) != 0) {
        uint64_t from = at + harness_random_below(30), to = from + 1 + harness_random_below(60);

        p->work[p->n++] = stretch(from, to, SPAN_GPU_SORT, SPAN_KINDS);
        at = to;
    }
    p->end = at + harness_random_below(40);
}

static void mark_instants(const proof *p, bool *window, bool *busy)
{
    if (p->n == 0) return;
    for (uint64_t i = p->work[0].from; i < p->work[p->n - 1].to; i++) window[i - T0] = true;
    for (size_t k = 0; k < p->n; k++)
        for (uint64_t i = p->work[k].from; i < p->work[k].to; i++) busy[i - T0] = true;
}

static void end_one(dev_time *t, proof *p)
{
    size_t half = p->n / 2;

    dev_time_add(t, p->lane, p->work, half, NULL, 0);
    dev_time_add(t, p->lane, p->work + half, p->n - half, NULL, 0);
    dev_time_end(t, p->lane, T0 + p->end);
}

/* Proofs begin and end in the order of their times, as they do. */
static void run_random(dev_time *t, uint64_t *window_ns, uint64_t *busy_ns, uint64_t *n)
{
    bool window[INSTANTS] = {false}, busy[INSTANTS] = {false};
    proof p[4] = {0};
    bool in[4] = {false};

    *n = 0;
    for (uint64_t now = 0; now < INSTANTS; now++)
        for (unsigned k = 0; k < 4; k++) {
            if (in[k] && p[k].end <= now) {
                end_one(t, &p[k]);
                *n += p[k].n != 0;
                in[k] = false;
            }
            if (in[k] || now > INSTANTS - 1200 || harness_random_below(50) != 0) continue;
            random_proof(&p[k], now);
            p[k].lane = dev_time_begin(t, T0 + now);
            assert_true(p[k].lane >= 0);
            mark_instants(&p[k], window, busy);
            in[k] = true;
        }
    *window_ns = *busy_ns = 0;
    for (unsigned i = 0; i < INSTANTS; i++) {
        *window_ns += window[i];
        *busy_ns += busy[i];
    }
}

static void test_random(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        dev_time *t = open_time();
        uint64_t window, busy, n;
        dev_times s;

        run_random(t, &window, &busy, &n);
        dev_time_get(t, &s);
        assert_int_equal(s.proofs, n);
        assert_int_equal(s.window_ns, window);
        assert_int_equal(s.busy_ns, busy);
        assert_int_equal(s.ns[SPAN_GPU_IDLE_HOST], window - busy);
        close_time(t);
    }
}

/* A long proof beside more short ones than are remembered: sums stay within the time there was, and nothing is lost. */
static void test_overflow(void **state)
{
    dev_time *t = open_time();
    int slow = dev_time_begin(t, T0), quick;
    uint64_t at = 0;
    dev_times s;

    (void)state;
    for (unsigned i = 0; i < 2 * DEV_TIME_WINDOWS; i++) {
        quick = dev_time_begin(t, T0 + at);
        for (unsigned k = 0; k < DEV_TIME_WORK / 50; k++, at += 10) {
            span_noted w = stretch(at, at + 5, SPAN_GPU_PAIRS, SPAN_MSM_A);
            dev_time_add(t, quick, &w, 1, NULL, 0);
        }
        dev_time_end(t, quick, T0 + at);
    }
    dev_time_end(t, slow, T0 + at);
    dev_time_get(t, &s);
    assert_int_equal(s.proofs, 2 * DEV_TIME_WINDOWS);
    assert_int_equal(s.ns[SPAN_GPU_PAIRS], at / 2);
    assert_int_equal(s.busy_ns, at / 2);
    assert_true(s.window_ns <= at && s.window_ns >= at - 10 * (uint64_t)(2 * DEV_TIME_WINDOWS));
    close_time(t);
}

/* ---- between proofs, and in the trace ---- */

typedef struct tracks {
    unsigned work, idle, synth;
} tracks;

static void see(void *ctx, const span_seen *s)
{
    tracks *k = ctx;

    if (strcmp(s->track, "gpu:7") == 0) {
        assert_true(s->kind == SPAN_GPU_NTT && s->job == 5 && s->partition == 1);
        k->work++;
    }
    if (strcmp(s->track, "gpu:7 idle") != 0) return;
    k->idle++;
    k->synth += s->kind == SPAN_GPU_IDLE_SYNTH;
}

static void one_ntt(dev_time *t)
{
    uint64_t now = clock_ns();
    int lane = dev_time_begin(t, now);
    span_noted w = {now + 1, now + 1001, SPAN_GPU_NTT, SPAN_NTT};

    dev_time_add(t, lane, &w, 1, NULL, 0);
    dev_time_end(t, lane, now + 1001);
}

static void test_between(void **state)
{
    dev_time *t = open_time();
    span_rec *r = NULL;
    tracks seen = {0};
    dev_times s;
    uint64_t until;

    (void)state;
    assert_status_ok(span_rec_open(&r));
    assert_status_ok(span_attach(r, "main"));
    span_context(5, 1);
    one_ntt(t);
    span sp = span_open(SPAN_SYNTH);
    for (until = clock_ns() + 200000; clock_ns() < until;) continue;
    span_close(&sp);
    one_ntt(t);
    dev_time_get(t, &s);
    assert_int_equal(s.before_n[SPAN_GPU_IDLE_SYNTH], 1);
    assert_true(s.before_ns[SPAN_GPU_IDLE_SYNTH] >= 199000);
    assert_int_equal(s.ns[SPAN_GPU_IDLE_SYNTH], 0);
    span_each(r, 0, see, &seen);
    assert_true(seen.work == 2 && seen.idle == 1 && seen.synth == 1);
    span_rec_close(r);
    one_ntt(t); /* without a recorder: why is not known */
    dev_time_get(t, &s);
    assert_int_equal(s.proofs, 3);
    close_time(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),      cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_share),    cmocka_unit_test(test_random),
        cmocka_unit_test(test_overflow), cmocka_unit_test(test_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
