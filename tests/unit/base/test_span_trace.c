/*
 * unit/base/test_span_trace.c - traces are JSON that says what was recorded, also while threads record
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/json.h"
#include "base/span_store.h"
#include "base/span_trace.h"

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

static void close_spans(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        span s = span_open(i % 2 == 0 ? SPAN_NTT : SPAN_ABC);

        span_close(&s);
    }
}

typedef struct trace_seen {
    size_t spans, tracks;
    char text[8000]; /* "tid name ts dur job partition;" a span */
} trace_seen;

static void read_field(json_in *j, const char *key, char *out, size_t cap)
{
    json_token t;

    assert_status_ok(json_next(j, &t));
    if (t.type == JSON_OBJECT) { /* args */
        size_t at = 0;

        for (;;) {
            assert_status_ok(json_next(j, &t));
            if (t.type == JSON_OBJECT_END) return;
            assert_status_ok(json_next(j, &t));
            at += (size_t)snprintf(out + at, cap - at, at == 0 ? "%.*s" : "/%.*s", (int)t.len,
                                   t.text);
        }
    }
    assert_true(t.type == JSON_STRING || t.type == JSON_NUMBER);
    assert_true(t.len < cap);
    (void)snprintf(out, cap, "%.*s", (int)t.len, t.text);
    assert_non_null(key);
}

static void read_event(json_in *j, trace_seen *seen)
{
    char ph[8] = "", name[64] = "", tid[16] = "", ts[32] = "", dur[32] = "", args[64] = "",
         other[64];
    size_t at = strlen(seen->text);

    for (;;) {
        json_token t;

        assert_status_ok(json_next(j, &t));
        if (t.type == JSON_OBJECT_END) break;
        assert_int_equal(t.type, JSON_KEY);
        if (json_is(&t, "ph"))
            read_field(j, "ph", ph, sizeof ph);
        else if (json_is(&t, "name"))
            read_field(j, "name", name, sizeof name);
        else if (json_is(&t, "tid"))
            read_field(j, "tid", tid, sizeof tid);
        else if (json_is(&t, "ts"))
            read_field(j, "ts", ts, sizeof ts);
        else if (json_is(&t, "dur"))
            read_field(j, "dur", dur, sizeof dur);
        else if (json_is(&t, "args"))
            read_field(j, "args", args, sizeof args);
        else
            read_field(j, "other", other, sizeof other);
    }
    if (strcmp(ph, "X") == 0) {
        seen->spans++;
        if (at + 200 < sizeof seen->text)
            (void)snprintf(seen->text + at, sizeof seen->text - at, "%s %s %s %s %s;", tid, name,
                           ts, dur, args);
    } else {
        assert_string_equal(ph, "M");
        if (strcmp(name, "thread_name") == 0) {
            seen->tracks++;
            (void)snprintf(seen->text + at, sizeof seen->text - at, "%s=%s;", tid, args);
        }
    }
}

/* Writes a trace, reads it back. */
static void check_trace(span_rec *r, mem *m, trace_seen *seen)
{
    bytes_out o;
    json_in j;
    json_token t;

    memset(seen, 0, sizeof *seen);
    bytes_out_init(&o, m);
    assert_status_ok(span_write_trace(r, &o));
    assert_status_ok(json_init(&j, o.data, o.size));
    assert_status_ok(json_expect(&j, JSON_OBJECT, NULL, "trace"));
    for (;;) {
        assert_status_ok(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) break;
        if (!json_is(&t, "traceEvents")) {
            assert_status_ok(json_skip(&j));
            continue;
        }
        assert_status_ok(json_expect(&j, JSON_ARRAY, NULL, "events"));
        for (;;) {
            assert_status_ok(json_next(&j, &t));
            if (t.type == JSON_ARRAY_END) break;
            assert_int_equal(t.type, JSON_OBJECT);
            read_event(&j, seen);
        }
    }
    assert_status_ok(json_expect(&j, JSON_END, NULL, "trace"));
    bytes_out_clear(&o);
}

static void test_trace(void **state)
{
    span_rec *r = open_rec("ma\"in");
    mem *m = NULL;
    trace_seen *seen = malloc(sizeof *seen);
    bytes_out o;
    uint64_t e = r->epoch;

    (void)state;
    assert_non_null(seen);
    assert_status_ok(mem_open(&m, "t", 0, NULL));
    put(SPAN_NTT, e + 1234567, e + 1234567 + 89);
    span_context(7, -1);
    put(SPAN_MSM_H, e + 2000000, e + 3000001);
    span_context(UINT64_MAX, 3);
    put(SPAN_POOL_WAIT, e - 5, e + 4000000);
    span_context(0, -1);
    put(SPAN_WRITE, e + 1000, e + 5000000);
    put(SPAN_JOB, e + 1000, e + 5000000);
    check_trace(r, m, seen);
    assert_string_equal(seen->text, "1=ma\\\"in;1 ntt 1234.567 0.089 ;1 msm h 2000.000 1000.001 7;"
                                    "1 wait for workers 0.000 4000.005 18446744073709551615/3;"
                                    "1 write output 1.000 4999.000 ;1 job 1.000 4999.000 ;");
    mem_inject_fault(m, 1);
    bytes_out_init(&o, m);
    assert_status_is(span_write_trace(r, &o), CUZK_ENOMEM);
    bytes_out_clear(&o);
    mem_close(m);
    span_rec_close(r);
    free(seen);
}

static uint64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    assert_non_null(at);
    return strtoull(at + strlen(name), NULL, 10);
}

/* A bound leaves out the oldest, says how many, and holds. */
static void test_bound(void **state)
{
    enum { N = 1000 };
    static const size_t bounds[] = {1, 1000, 20000, 200000, 10000000};
    span_rec *r = open_rec("main");
    mem *m = NULL;
    uint64_t before = 0;

    (void)state;
    assert_status_ok(mem_open(&m, "t", 0, NULL));
    for (unsigned i = 0; i < N; i++) {
        span_context(UINT64_MAX - 1 + i % 2, INT32_MAX);
        put(SPAN_BENCH, r->epoch + i, r->epoch + UINT64_MAX / 4 + i);
    }
    span_context(0, -1);
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        span_trace t;
        bytes_out o;
        char *text;
        uint64_t spans = 0;

        span_trace_plan(&t, r, UINT64_MAX, 0, bounds[b]);
        assert_int_equal(t.n, N / 2);
        bytes_out_init(&o, m);
        assert_status_ok(span_trace_write(&t, &o));
        if (bounds[b] >= 1000) assert_true(o.size <= bounds[b] && o.size <= t.bytes);
        text = strndup((const char *)o.data, o.size);
        assert_non_null(text);
        for (const char *at = text; (at = strstr(at, "\"ph\":\"X\"")) != NULL; at++) spans++;
        assert_int_equal(number_after(text, "\"left_out\":"), N / 2 - spans);
        assert_int_equal(number_after(text, "\"limit_bytes\":"), bounds[b]);
        assert_true(spans >= before);
        if (spans != 0) assert_non_null(strstr(text, "\"ts\":0.999,")); /* the newest */
        if (spans != 0 && spans != N / 2) assert_null(strstr(text, "\"ts\":0.001,"));
        before = spans;
        free(text);
        bytes_out_clear(&o);
    }
    assert_int_equal(before, N / 2);
    mem_close(m);
    span_rec_close(r);
}

/* What a device did, told afterwards: on its own track, with the step that it was for, counted nowhere. */
static void test_noted(void **state)
{
    span_rec *r = open_rec("main");
    const span_noted work[] = {{r->epoch + 5000, r->epoch + 9000, SPAN_GPU_PAIRS, SPAN_MSM_H},
                               {r->epoch + 9000, r->epoch + 9000, SPAN_GPU_JOIN, SPAN_MSM_H},
                               {r->epoch + 9000, r->epoch + 9500, SPAN_GPU_NTT, SPAN_KINDS}};
    const span_noted idle[] = {{r->epoch + 1000, r->epoch + 5000, SPAN_GPU_IDLE_HOST, SPAN_KINDS}};
    cuzk_attribution a;
    mem *m = NULL;
    bytes_out o;
    char *text;

    (void)state;
    assert_status_ok(mem_open(&m, "t", 0, NULL));
    span_context(7, 2);
    span_note("gpu", work, 3, false);
    span_note("gpu idle", idle, 1, true);
    span_job_steps(r, 7, &a);
    assert_int_equal(a.n_steps, 0);
    span_attribution(r, r->epoch, r->epoch + 10000, &a);
    assert_int_equal(a.attributed_ns, 0);
    assert_int_equal(r->n, 3);
    bytes_out_init(&o, m);
    assert_status_ok(span_write_trace(r, &o));
    text = strndup((const char *)o.data, o.size);
    assert_non_null(text);
    assert_non_null(strstr(text,
                           "\"name\":\"gpu: add pairs\",\"cat\":\"device\",\"pid\":1,\"tid\":2,"
                           "\"ts\":5.000,\"dur\":4.000,\"args\":{\"job\":7,"
                           "\"partition\":2,\"of\":\"msm h\"}}"));
    assert_non_null(strstr(text, "\"dur\":0.500,\"args\":{\"job\":7,\"partition\":2}}"));
    assert_non_null(
        strstr(text, "{\"ph\":\"b\",\"name\":\"gpu idle: host work\",\"cat\":\"device\""));
    free(text);
    bytes_out_clear(&o);
    span_detach();
    span_note("gpu", work, 3, false); /* nowhere */
    assert_int_equal(r->n, 3);
    mem_close(m);
    span_rec_close(r);
}

typedef struct producer {
    span_rec *r;
    unsigned index;
    bool ok;
} producer;

static void *produce(void *arg)
{
    producer *p = arg;
    char name[32];

    (void)snprintf(name, sizeof name, "producer %u", p->index % 2);
    p->ok = span_attach(p->r, name) == CUZK_OK;
    close_spans((size_t)3 * SPAN_RING);
    span_detach();
    return NULL;
}

/* Four threads record, two pairs of them under one name, while traces are written. */
static void test_trace_while_recording(void **state)
{
    span_rec *r = open_rec("main");
    mem *m = NULL;
    trace_seen *seen = malloc(sizeof *seen);
    pthread_t t[4];
    producer p[4];

    (void)state;
    assert_non_null(seen);
    assert_status_ok(mem_open(&m, "t", 0, NULL));
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (producer){r, i, false};
        assert_int_equal(pthread_create(&t[i], NULL, produce, &p[i]), 0);
    }
    for (int i = 0; i < 3; i++) check_trace(r, m, seen);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(t[i], NULL), 0);
        assert_true(p[i].ok);
    }
    check_trace(r, m, seen);
    assert_int_equal(seen->spans, (size_t)12 * SPAN_RING);
    assert_true(seen->tracks >= 3 && seen->tracks <= 5);
    mem_close(m);
    span_rec_close(r);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_noted),
        cmocka_unit_test(test_trace_while_recording),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
