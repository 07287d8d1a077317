/*
 * unit/base/test_span.c - attribution against an instant-by-instant count, gaps, rings, store
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/span_memory.h"
#include "base/span_store.h"

static span_rec *open_rec(const char *track)
{
    span_rec *r = NULL;

    assert_status_ok(span_rec_open(&r));
    assert_status_ok(span_attach(r, track));
    return r;
}

/* A closed span with times of our choice; ends must not go back. */
static void put(span_kind kind, uint64_t start, uint64_t end)
{
    span_track *t = span_self()->track;
    uint64_t head = atomic_load(&t->head);

    assert_true(head - atomic_load(&t->tail) < SPAN_RING);
    t->ring[head % SPAN_RING] = (span_entry){.start = start,
                                             .end = end,
                                             .job = span_self()->job,
                                             .partition = span_self()->partition,
                                             .track = t->id,
                                             .kind = (uint8_t)kind};
    atomic_store(&t->head, head + 1);
}

static const cuzk_step *step(const cuzk_attribution *a, span_kind kind)
{
    for (size_t i = 0; i < a->n_steps; i++)
        if (strcmp(a->steps[i].name, span_name(kind)) == 0) return &a->steps[i];
    harness_fail("no step %s", span_name(kind));
}

static void check_step(const cuzk_attribution *a, span_kind kind, uint64_t n, uint64_t total)
{
    assert_true(step(a, kind)->n == n);
    assert_true(step(a, kind)->total_ns == total);
}

/* ---- attribution ---- */

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(span_name(SPAN_JOB), "job");
    assert_string_equal(span_name(SPAN_MEM_WAIT), "wait for memory");
    assert_int_equal(span_group(SPAN_JOB), 'P');
    assert_int_equal(span_group(SPAN_NTT), 'C');
    assert_int_equal(span_group(SPAN_WRITE), 'I');
    assert_int_equal(span_group(SPAN_POOL_WAIT), 'W');
    assert_string_equal(span_name((span_kind)200), "?");
    assert_int_equal(span_group((span_kind)200), 'P');
}

static void test_self_time(void **state)
{
    span_rec *r = open_rec("main");
    cuzk_attribution a;

    (void)state;
    put(SPAN_NTT, 100, 200);
    put(SPAN_POOL_WAIT, 250, 300);
    put(SPAN_POOL_WAIT, 300, 310);
    put(SPAN_MSM_H, 200, 400); /* holds both waits: 140 of its own */
    put(SPAN_PROVE, 100, 450); /* a parent: what no leaf covers is a gap */
    put(SPAN_ASSEMBLE, 450, 500);
    span_attribution(r, 100, 500, &a);
    assert_true(a.wall_ns == 400);
    assert_true(a.attributed_ns == 350);
    assert_int_equal(a.n_steps, 4);
    check_step(&a, SPAN_MSM_H, 1, 140);
    check_step(&a, SPAN_NTT, 1, 100);
    check_step(&a, SPAN_POOL_WAIT, 2, 60);
    check_step(&a, SPAN_ASSEMBLE, 1, 50);
    assert_string_equal(a.steps[0].name, "msm h"); /* largest first */
    assert_string_equal(a.steps[3].name, "assemble proof");
    assert_true(a.worst_gap_ns == 50);
    assert_string_equal(a.worst_gap, "between msm h and assemble proof");
    span_rec_close(r);
}

static void test_clipping(void **state)
{
    span_rec *r = open_rec("main");
    cuzk_attribution a;

    (void)state;
    put(SPAN_NTT, 0, 50);
    put(SPAN_MSM_A, 80, 120);
    put(SPAN_MSM_L, 150, 300);
    put(SPAN_WRITE, 400, 500);
    span_attribution(r, 100, 200, &a); /* inside msm a until inside msm l */
    assert_int_equal(a.n_steps, 2);
    check_step(&a, SPAN_MSM_A, 1, 20);
    check_step(&a, SPAN_MSM_L, 1, 50);
    assert_string_equal(a.worst_gap, "between msm a and msm l");
    span_attribution(r, 320, 500, &a);
    assert_true(a.worst_gap_ns == 80);
    assert_string_equal(a.worst_gap, "between the start and write output");
    span_attribution(r, 200, 390, &a);
    assert_true(a.worst_gap_ns == 90);
    assert_string_equal(a.worst_gap, "between msm l and the end");
    span_attribution(r, 310, 390, &a);
    assert_int_equal(a.n_steps, 0);
    assert_true(a.attributed_ns == 0 && a.worst_gap_ns == 80);
    assert_string_equal(a.worst_gap, "between the start and the end");
    span_attribution(r, 400, 400, &a);
    assert_true(a.wall_ns == 0 && a.n_steps == 0);
    span_attribution(r, 500, 400, &a);
    assert_true(a.wall_ns == 0 && a.n_steps == 0);
    span_rec_close(r);
}

static void test_open_spans_count(void **state)
{
    span_rec *r = open_rec("main");
    uint64_t t0, t1;
    span job, leaf, inner;
    cuzk_attribution a;

    (void)state;
    t0 = clock_ns();
    job = span_open(SPAN_JOB);
    leaf = span_open(SPAN_READ_KEY);
    inner = span_open(SPAN_ALLOC);
    span_close(&inner);
    t1 = clock_ns();
    span_attribution(r, t0, t1, &a);
    assert_int_equal(a.n_steps, 2);
    check_step(&a, SPAN_ALLOC, 1, step(&a, SPAN_ALLOC)->total_ns);
    assert_true(a.attributed_ns == t1 - leaf.start);
    assert_true(a.worst_gap_ns == leaf.start - t0);
    span_close(&leaf);
    span_close(&job);
    span_rec_close(r);
}

enum { LINE = 600 };

/* Random properly nested spans in [from, to); marks line[] with the innermost leaf of each instant. */
static void random_nest(int line[LINE], uint64_t from, uint64_t to, unsigned depth)
{
    uint64_t at = from;

    while (at < to && harness_random_below(6) != 0) {
        uint64_t start = at + harness_random_below(to - at + 1) / 2;
        uint64_t end = start + harness_random_below(to - start + 1);
        span_kind kind = (span_kind)harness_random_below(SPAN_KINDS);

        if (span_counts(kind))
            for (uint64_t i = start; i < end; i++) line[i] = (int)kind;
        if (depth < 6) random_nest(line, start, end, depth + 1);
        put(kind, start, end);
        at = end;
    }
}

static void check_against_line(const cuzk_attribution *a, const int line[LINE], uint64_t from,
                               uint64_t to)
{
    uint64_t total[SPAN_KINDS] = {0}, covered = 0, gap = 0, worst = 0;

    for (uint64_t i = from; i < to; i++) {
        gap = line[i] < 0 ? gap + 1 : 0;
        if (gap > worst) worst = gap;
        if (line[i] < 0) continue;
        covered++;
        total[line[i]]++;
    }
    assert_true(a->wall_ns == to - from);
    assert_true(a->attributed_ns == covered);
    assert_true(a->worst_gap_ns == worst);
    for (unsigned k = 0; k < SPAN_KINDS; k++)
        if (total[k] != 0) assert_true(step(a, (span_kind)k)->total_ns == total[k]);
    for (size_t i = 1; i < a->n_steps; i++)
        assert_true(a->steps[i - 1].total_ns >= a->steps[i].total_ns);
}

/* A zero-length span splits a gap in two, which an instant-by-instant count cannot know: it is left out. */
static bool has_empty_span(const span_rec *r)
{
    for (uint64_t i = r->dropped; i < r->n; i++)
        if (span_at_locked(r, i)->start == span_at_locked(r, i)->end) return true;
    return false;
}

static void test_random_nests(void **state)
{
    size_t judged = 0;

    (void)state;
    for (size_t round = 0, n = harness_iters(2000); round < n; round++) {
        span_rec *r = open_rec("main");
        int line[LINE];
        uint64_t from = harness_random_below(LINE),
                 to = from + harness_random_below(LINE - from) + 1;
        cuzk_attribution a;

        for (size_t i = 0; i < LINE; i++) line[i] = -1;
        random_nest(line, 0, LINE, 0);
        span_attribution(r, from, to, &a);
        if (!has_empty_span(r)) {
            check_against_line(&a, line, from, to);
            judged++;
        }
        span_rec_close(r);
    }
    assert_true(judged > 0);
}

/* The test that design section 6 asks for. */
static void test_sleep_is_a_gap(void **state)
{
    span_rec *r = open_rec("main");
    const uint64_t ms20 = 20000000;
    struct timespec sleep = {0, 20000000};
    uint64_t t0 = clock_ns(), t1;
    span s;
    cuzk_attribution a;

    (void)state;
    s = span_open(SPAN_ABC);
    span_close(&s);
    assert_int_equal(nanosleep(&sleep, NULL), 0);
    s = span_open(SPAN_NTT);
    span_close(&s);
    t1 = clock_ns();
    span_attribution(r, t0, t1, &a);
    assert_true(a.worst_gap_ns >= ms20);
    assert_true(a.wall_ns - a.attributed_ns >= ms20);
    assert_string_equal(a.worst_gap, "between evaluate a b c and ntt");
    span_rec_close(r);
}

/* ---- threads and tracks ---- */

static void test_detached_goes_nowhere(void **state)
{
    span_rec *r = NULL;
    cuzk_attribution a;
    span before, after;

    (void)state;
    span_detach();
    before = span_open(SPAN_NTT);
    assert_true(before.start == 0);
    span_close(&before);
    assert_status_ok(span_rec_open(&r));
    before = span_open(SPAN_NTT);
    assert_status_ok(span_attach(r, "main"));
    span_close(&before); /* opened before: not ours to count */
    after = span_open(SPAN_NTT);
    assert_true(after.start != 0);
    assert_status_ok(span_attach(NULL, "nowhere"));
    span_close(&after);
    span_attribution(r, 1, UINT64_MAX, &a);
    assert_int_equal(a.n_steps, 0);
    assert_int_equal(r->n, 0);
    span_rec_close(r);
    span_rec_close(NULL);
}

static void test_place(void **state)
{
    span_rec *r = open_rec("main");
    span job, leaf, parent;
    span_place p = span_here();

    (void)state;
    assert_true(p.job == 0 && p.partition == -1 && p.leaf == SPAN_TASK && !p.in_leaf);
    span_context(9, 4);
    job = span_open(SPAN_JOB);
    p = span_here();
    assert_true(p.job == 9 && p.partition == 4 && !p.in_leaf);
    leaf = span_open(SPAN_MSM_B2);
    parent = span_open(SPAN_VERIFY);
    p = span_here();
    assert_true(p.in_leaf && p.leaf == SPAN_MSM_B2);
    span_close(&parent);
    span_close(&leaf);
    assert_false(span_here().in_leaf);
    span_close(&job);
    span_detach();
    assert_true(span_here().job == 0);
    span_rec_close(r);
}

static void test_depth_is_bounded(void **state)
{
    span_rec *r = open_rec("main");
    span s[SPAN_MAX_DEPTH + 10];
    cuzk_attribution a;
    uint64_t t0 = clock_ns();

    (void)state;
    for (size_t i = 0; i < SPAN_MAX_DEPTH + 10; i++) {
        s[i] = span_open(SPAN_NTT);
        assert_int_equal(s[i].start != 0, i < SPAN_MAX_DEPTH);
    }
    span_attribution(r, t0, clock_ns(), &a);
    check_step(&a, SPAN_NTT, SPAN_MAX_DEPTH, a.attributed_ns);
    for (size_t i = SPAN_MAX_DEPTH + 10; i-- > 0;) span_close(&s[i]);
    span_attribution(r, t0, clock_ns(), &a);
    check_step(&a, SPAN_NTT, SPAN_MAX_DEPTH, a.attributed_ns);
    assert_true(a.attributed_ns != 0);
    span_rec_close(r);
}

static void *record_other(void *arg)
{
    span_rec *r = arg;
    cuzk_status st = span_attach(r, "other");

    if (st != CUZK_OK) return NULL;
    put(SPAN_NTT, 1000, 2000);
    span_detach();
    return r;
}

static void test_other_tracks_do_not_count(void **state)
{
    span_rec *r = open_rec("main");
    pthread_t t;
    void *ok;
    cuzk_attribution a;

    (void)state;
    put(SPAN_ABC, 1000, 1200);
    for (int i = 0; i < 2; i++) { /* the second thread takes the first one's track up */
        assert_int_equal(pthread_create(&t, NULL, record_other, r), 0);
        assert_int_equal(pthread_join(t, &ok), 0);
        assert_non_null(ok);
        assert_int_equal(r->n_tracks, 2);
    }
    span_attribution(r, 1000, 2000, &a);
    assert_int_equal(a.n_steps, 1);
    check_step(&a, SPAN_ABC, 1, 200);
    assert_int_equal(r->n, 3);
    span_rec_close(r);
}

/* A name in use is no reason to share a ring. */
static void test_same_name_at_once(void **state)
{
    span_rec *r = open_rec("other");
    pthread_t t;
    void *ok;

    (void)state;
    assert_int_equal(pthread_create(&t, NULL, record_other, r), 0);
    assert_int_equal(pthread_join(t, &ok), 0);
    assert_non_null(ok);
    assert_int_equal(r->n_tracks, 2);
    assert_int_equal(r->n, 1);
    assert_int_equal(span_at_locked(r, 0)->track, 1);
    span_rec_close(r);
}

/* ---- rings, store ---- */

#define TEN_RINGS ((size_t)10 * SPAN_RING)

static void close_spans(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        span s = span_open(i % 2 == 0 ? SPAN_NTT : SPAN_ABC);

        span_close(&s);
    }
}

static void test_full_rings_lose_nothing(void **state)
{
    span_rec *r = open_rec("main");
    uint64_t t0 = clock_ns();
    cuzk_attribution a;

    (void)state;
    close_spans(TEN_RINGS + 7);
    span_attribution(r, t0, clock_ns(), &a);
    assert_true(step(&a, SPAN_NTT)->n + step(&a, SPAN_ABC)->n == TEN_RINGS + 7);
    assert_true(span_dropped(r) == 0);
    span_rec_close(r);
}

static void test_store_is_bounded(void **state)
{
    span_rec *r = open_rec("main");
    uint64_t all = (uint64_t)SPAN_CHUNK * (SPAN_CHUNKS + 3) + 5, t0;
    cuzk_attribution a;
    uint64_t left;

    (void)state;
    close_spans(all - 6);
    t0 = clock_ns();
    close_spans(6);
    span_attribution(r, t0, clock_ns(), &a);
    check_step(&a, SPAN_NTT, 3, step(&a, SPAN_NTT)->total_ns);
    check_step(&a, SPAN_ABC, 3, step(&a, SPAN_ABC)->total_ns);
    span_attribution(r, 1, clock_ns(), &a);
    left = step(&a, SPAN_NTT)->n + step(&a, SPAN_ABC)->n;
    assert_true(span_dropped(r) == all - left);
    assert_true(left <= (uint64_t)SPAN_CHUNK * SPAN_CHUNKS);
    assert_true(left > (uint64_t)SPAN_CHUNK * (SPAN_CHUNKS - 1));
    span_rec_close(r);
}

/* A bound of 1 MiB a track: what is kept grows with the tracks, and shrinks with a smaller bound. */
static void test_bound_by_track(void **state)
{
    const uint64_t mib = (uint64_t)SPAN_CHUNK * sizeof(span_entry);
    span_rec *r = open_rec("main");
    uint64_t fixed, dropped;

    (void)state;
    fixed = span_memory(r) - sizeof(span_track);
    span_limit(r, 3 * mib, 100 * mib);
    close_spans((uint64_t)SPAN_CHUNK * 7);
    assert_true(span_memory(r) <= fixed + sizeof(span_track) + 3 * mib);
    assert_true(span_memory(r) > fixed + sizeof(span_track) + mib);
    assert_true(span_attach(r, "second") == CUZK_OK);
    close_spans((uint64_t)SPAN_CHUNK * 7);
    assert_true(span_memory(r) > fixed + 2 * sizeof(span_track) + 4 * mib);
    assert_true(span_memory(r) <= fixed + 2 * sizeof(span_track) + 6 * mib);
    span_limit(r, 3 * mib, 4 * mib); /* in all */
    close_spans((uint64_t)SPAN_CHUNK * 3);
    assert_true(span_memory(r) <= fixed + 2 * sizeof(span_track) + 4 * mib);
    assert_true(span_memory(r) > fixed + 2 * sizeof(span_track) + 2 * mib);
    span_limit(r, 4096, 100 * mib); /* two chunks at least */
    close_spans((uint64_t)SPAN_CHUNK * 2);
    assert_true(span_memory(r) <= fixed + 2 * sizeof(span_track) + 2 * mib);
    dropped = span_dropped(r);
    span_expire(r, 1); /* none is so old */
    assert_true(span_dropped(r) == dropped);
    span_rec_close(r);
}

/* What had ended before a time goes, by whole chunks; what came after stays and is found. */
static void test_expires(void **state)
{
    span_rec *r = open_rec("main");
    cuzk_attribution a;
    uint64_t between;

    (void)state;
    close_spans((uint64_t)SPAN_CHUNK * 5);
    span_attribution(r, 1, clock_ns(), &a); /* empties the ring */
    between = clock_ns();
    close_spans(1000);
    span_attribution(r, between, clock_ns(), &a);
    assert_true(step(&a, SPAN_NTT)->n + step(&a, SPAN_ABC)->n == 1000);
    span_expire(r, between);
    assert_true(span_dropped(r) == (uint64_t)SPAN_CHUNK * 5);
    span_attribution(r, between, clock_ns(), &a);
    assert_true(step(&a, SPAN_NTT)->n + step(&a, SPAN_ABC)->n == 1000);
    span_expire(r, UINT64_MAX); /* a chunk that is still written stays */
    span_attribution(r, between, clock_ns(), &a);
    assert_true(step(&a, SPAN_NTT)->n + step(&a, SPAN_ABC)->n == 1000);
    span_rec_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_self_time),
        cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_open_spans_count),
        cmocka_unit_test(test_random_nests),
        cmocka_unit_test(test_sleep_is_a_gap),
        cmocka_unit_test(test_detached_goes_nowhere),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_other_tracks_do_not_count),
        cmocka_unit_test(test_same_name_at_once),
        cmocka_unit_test(test_full_rings_lose_nothing),
        cmocka_unit_test(test_store_is_bounded),
        cmocka_unit_test(test_bound_by_track),
        cmocka_unit_test(test_expires),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
