/*
 * unit/engine/test_store.c - every call of the store, restarts, its lock, shared payloads, its size, its grouping of writes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "store_support.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static loaded l;

static void test_restart(void **state)
{
    env e;
    store *s;
    char id[4][32];
    store_payload p, none = {.size = 0};
    store_job j;

    (void)state;
    env_init(&e, "restart");
    s = env_open(&e);
    assert_status_ok(load(s, &l));
    assert_int_equal(l.n, 0);
    p = write_payload(s, 1, 100000);
    j = make_job(2, id[2], &p);
    assert_status_ok(store_admit(s, &j));
    j = make_job(1, id[1], &p);
    assert_status_ok(store_admit(s, &j));
    j = make_job(3, id[3], &none);
    assert_status_ok(store_admit(s, &j));
    store_partition_async(s, "job-2", 2, text("two"));
    store_partition_async(s, "job-2", 0, text("zero"));
    store_partition_async(s, "job-2", 0, text("zero again"));
    store_partition_async(s, "job-9", 0, text("of nobody"));
    store_priority_async(s, "job-1", CUZK_CRITICAL);
    assert_status_ok(store_finish(s, "job-3", CUZK_JOB_FAILED, 4242, text("no such thing")));
    store_partition_async(s, "job-3", 0, text("too late"));
    store_close(s);

    for (unsigned round = 0; round < 2; round++) {
        s = env_open(&e);
        assert_status_ok(load(s, &l));
        assert_int_equal(l.n, 3);
        assert_string_equal(l.job[0].job_id, "job-1"); /* oldest first */
        assert_string_equal(l.job[1].job_id, "job-2");
        assert_string_equal(l.job[2].job_id, "job-3");
        assert_string_equal(l.job[0].request_id, "wdpost-1000-0-[1 2 3]");
        assert_int_equal(l.job[0].j.priority, CUZK_CRITICAL);
        assert_int_equal(l.job[1].j.priority, CUZK_HIGH);
        assert_int_equal(l.job[0].j.kind, CUZK_WINDOW);
        assert_int_equal(l.job[0].j.n_partitions, 3);
        assert_int_equal(l.job[0].j.created_ms, 1001);
        assert_true(l.job[0].j.deadline_ms == UINT64_MAX - 1);
        assert_int_equal(l.job[1].j.payload_hash[31], 2);
        assert_string_equal(l.job[0].request, "request bytes");
        assert_int_equal(l.job[1].n_partitions, 2);
        assert_int_equal(l.job[1].index[0], 0);
        assert_string_equal(l.job[1].proof[0], "zero again");
        assert_int_equal(l.job[1].index[1], 2);
        assert_string_equal(l.job[1].proof[1], "two");
        assert_int_equal(l.job[2].j.state, CUZK_JOB_FAILED);
        assert_int_equal(l.job[2].j.ended_ms, 4242);
        assert_string_equal(l.job[2].result, "no such thing");
        assert_int_equal(l.job[2].n_partitions, 0);
        assert_int_equal(l.job[2].j.payload.size, 0);
        assert_true(payload_is(s, &l.job[0].j.payload, 1, 100000));
        assert_true(payload_is(s, &l.job[1].j.payload, 1, 100000));
        store_close(s);
    }
    assert_int_equal(logged("store_failed"), 0);
    env_clear(&e);
}

static void test_new_attempt(void **state)
{
    env e;
    store *s;
    char id[32];
    store_payload a, b;
    store_job j;

    (void)state;
    env_init(&e, "attempt");
    s = env_open(&e);
    a = write_payload(s, 1, 5000);
    j = make_job(1, id, &a);
    assert_status_ok(store_admit(s, &j));
    store_partition_async(s, "job-1", 1, text("old"));
    b = write_payload(s, 2, 6000);
    j = make_job(1, id, &b);
    assert_status_ok(store_admit(s, &j)); /* in place of it: partitions and payload go */
    store_flush(s);
    assert_status_ok(load(s, &l));
    assert_int_equal(l.n, 1);
    assert_int_equal(l.job[0].n_partitions, 0);
    assert_bytes_equal(l.job[0].j.payload.key, b.key, 32);
    store_flush(s); /* the file goes after the answer: this one came later */
    assert_int_equal(payload_files(&e), 1);
    assert_true(payload_is(s, &b, 2, 6000));

    assert_status_ok(store_finish(s, "job-1", CUZK_JOB_CANCELLED, 1, text("")));
    store_flush(s);
    store_flush(s);
    assert_int_equal(payload_files(&e), 0);
    j = make_job(1, id, &b);
    assert_status_is(store_admit(s, &j), CUZK_EINVAL); /* its payload has gone */
    b = write_payload(s, 2, 6000);
    assert_status_ok(store_admit(s, &j));
    assert_true(payload_is(s, &b, 2, 6000));
    store_close(s);
    env_clear(&e);
}

/* A job that failed before it was one: stored as ended, its payload is nobody's. */
static void test_admit_ended(void **state)
{
    env e;
    store *s;
    char id[32];
    store_payload p;
    store_job j;

    (void)state;
    env_init(&e, "ended");
    s = env_open(&e);
    p = write_payload(s, 1, 64);
    j = make_job(1, id, &p);
    j.state = CUZK_JOB_FAILED;
    j.ended_ms = 7;
    j.result = text("malformed");
    assert_status_ok(store_admit(s, &j));
    store_close(s);
    s = env_open(&e);
    assert_int_equal(payload_files(&e), 0);
    assert_status_ok(load(s, &l));
    assert_int_equal(l.n, 1);
    assert_int_equal(l.job[0].j.state, CUZK_JOB_FAILED);
    assert_string_equal(l.job[0].result, "malformed");
    store_close(s);
    env_clear(&e);
}

static void test_refusals(void **state)
{
    env e;
    store *s;
    store_payload p = {.size = 0}, q;
    file_map f;
    char path[700], hex[65];

    (void)state;
    env_init(&e, "refusals");
    s = env_open(&e);
    assert_status_is(store_finish(s, "job-1", CUZK_JOB_COMPLETED, 1, text("")), CUZK_EINVAL);
    assert_error_mentions("job-1");
    assert_status_is(store_finish(s, "job-1", CUZK_JOB_RUNNING, 1, text("")), CUZK_EINVAL);
    assert_status_is(store_payload_map(s, &p, &f), CUZK_EINVAL);
    assert_status_ok(store_payload_write(s, NULL, 0, &p));
    assert_int_equal(p.size, 0);

    p = write_payload(s, 5, 9000);
    q = p;
    q.size++;
    assert_status_is(store_payload_map(s, &q, &f), CUZK_EIO);
    assert_error_mentions("9001");
    q.key[0] ^= 1;
    assert_status_is(store_payload_map(s, &q, &f), CUZK_EIO);

    /* damaged, and then written again over it */
    store_close(s);
    s = env_open(&e);
    p = write_payload(s, 6, 9000);
    char id[32];
    store_job j = make_job(1, id, &p);
    assert_status_ok(store_admit(s, &j));
    store_close(s);
    for (size_t i = 0; i < 32; i++) (void)snprintf(hex + 2 * i, 3, "%02x", p.key[i]);
    (void)snprintf(path, sizeof path, "%s.d/%.2s/%s", e.path, hex, hex);
    size_t n;
    uint8_t *b = harness_read_file(path, &n);
    b[4000] ^= 0x10;
    harness_write_file(path, b, n);
    free(b);
    s = env_open(&e);
    assert_status_is(store_payload_map(s, &p, &f), CUZK_EIO);
    assert_error_mentions("not those that were written");
    p = write_payload(s, 6, 9000);
    assert_true(payload_is(s, &p, 6, 9000));
    assert_int_equal(unlink(path), 0);
    assert_status_is(store_payload_map(s, &p, &f), CUZK_EIO);
    p = write_payload(s, 6, 9000);
    assert_true(payload_is(s, &p, 6, 9000));
    store_close(s);
    store_close(NULL);
    env_clear(&e);
}

static cuzk_status stop_here(void *ctx, const store_job *j, const store_partition *p, size_t n)
{
    (void)j;
    (void)p;
    (void)n;
    (*(unsigned *)ctx)++;
    return status_fail(__FILE__, __LINE__, CUZK_EDATA, CUZK_CLASS_SHAPE, "", "enough");
}

static void test_load_stops(void **state)
{
    env e;
    store *s;
    char id[32];
    unsigned calls = 0;

    (void)state;
    env_init(&e, "stops");
    s = env_open(&e);
    for (uint64_t k = 0; k < 3; k++) {
        store_job j = make_job(k, id, NULL);
        assert_status_ok(store_admit(s, &j));
    }
    assert_status_is(store_load(s, 3, stop_here, &calls), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_SHAPE);
    assert_int_equal(calls, 1);
    store_close(s);
    env_clear(&e);
}

/* id ended at `ended_ms` with result text(id); 0: it has not ended. The last character of id fills its hash. */
static void put_job(store *s, const char *id, const char *request_id, uint64_t ended_ms)
{
    store_job j = {.job_id = id,
                   .request_id = request_id,
                   .kind = 1,
                   .created_ms = 5,
                   .request = text("request")};

    memset(j.payload_hash, id[strlen(id) - 1], 32);
    assert_status_ok(store_admit(s, &j));
    if (ended_ms != 0)
        assert_status_ok(store_finish(s, id, CUZK_JOB_COMPLETED, ended_ms, text(id)));
}

/* A job by its own name; by its request; and whose names are taken: however many there are of one request id. */
static void test_find(void **state)
{
    env e;
    store *s;
    uint8_t hash[32];

    (void)state;
    memset(hash, '7', sizeof hash);
    env_init(&e, "find");
    s = env_open(&e);
    put_job(s, "a", "a", 10);
    put_job(s, "a~2", "a", 20);
    put_job(s, "a~9", "a~9", 30); /* somebody's own id */
    put_job(s, "a~3", "a", 0);    /* not ended */
    put_job(s, "ab", "ab", 40);
    put_job(s, "a\x7f", "b", 50);
    put_job(s, "a~4096", "a", 60);
    put_job(s, "a~4097", "a", 70);
    put_job(s, "a~4107", "b", 80);
    put_job(s, "c7", "a\xc3\xa9", 90);
    assert_status_ok(look_up(s, "a", hash, &l));
    assert_int_equal(l.n, 4);
    assert_string_equal(l.job[0].job_id, "a");
    assert_string_equal(l.job[1].job_id, "a~2");
    assert_string_equal(l.job[1].result, "a~2");
    assert_string_equal(l.job[2].job_id, "a~9");
    assert_string_equal(l.job[3].job_id, "a~4097");
    assert_status_ok(look_up(s, "a", NULL, &l));
    assert_int_equal(l.n, 1);
    assert_string_equal(l.job[0].job_id, "a");
    assert_status_ok(look_up(s, "a~2", NULL, &l));
    assert_int_equal(l.n, 1);
    assert_status_ok(look_up(s, "a\xc3\xa9", hash, &l)); /* by the request alone */
    assert_int_equal(l.n, 1);
    assert_string_equal(l.job[0].job_id, "c7");
    assert_status_ok(look_up(s, "a\xc3\xa9", NULL, &l));
    assert_int_equal(l.n, 0);
    assert_status_ok(look_up(s, "a~", hash, &l));
    assert_int_equal(l.n, 0);
    assert_status_ok(look_up(s, "' OR 1=1 --", hash, &l));
    assert_int_equal(l.n, 0);
    store_close(s);
    env_clear(&e);
}

static void test_load_latest(void **state)
{
    env e;
    store *s;
    char id[8];

    (void)state;
    env_init(&e, "latest");
    s = env_open(&e);
    put_job(s, "live", "live", 0);
    for (unsigned k = 0; k < 6; k++) {
        (void)snprintf(id, sizeof id, "e%u", k);
        put_job(s, id, id, 100 - k); /* the first ended last */
    }
    assert_status_ok(load_latest(s, 2, &l));
    assert_int_equal(l.n, 3);
    assert_non_null(find(&l, "live"));
    assert_non_null(find(&l, "e0"));
    assert_non_null(find(&l, "e1"));
    assert_status_ok(load_latest(s, 0, &l));
    assert_int_equal(l.n, 1);
    store_close(s);
    env_clear(&e);
}

static void test_purge(void **state)
{
    env e;
    store *s;
    char id[32];
    store_payload p;
    store_stats st;

    (void)state;
    env_init(&e, "purge");
    s = env_open(&e);
    p = write_payload(s, 3, 70000);
    for (uint64_t k = 0; k < 4; k++) { /* one payload, four jobs */
        store_job j = make_job(k, id, &p);
        if (k > 0) (void)write_payload(s, 3, 70000);
        assert_status_ok(store_admit(s, &j));
    }
    assert_int_equal(payload_files(&e), 1);
    for (uint64_t k = 0; k < 3; k++) {
        (void)snprintf(id, sizeof id, "job-%llu", (unsigned long long)k);
        assert_status_ok(store_finish(s, id, CUZK_JOB_COMPLETED, 10 * k, text("proof")));
    }
    store_purge_async(s, 10);
    store_flush(s);
    assert_status_ok(load(s, &l));
    assert_int_equal(l.n, 2); /* ended at 0 and 10: gone */
    assert_non_null(find(&l, "job-2"));
    assert_non_null(find(&l, "job-3"));
    assert_true(payload_is(s, &p, 3, 70000)); /* job-3 needs it */
    store_purge_async(s, UINT64_MAX >> 1);
    store_flush(s);
    assert_status_ok(load(s, &l));
    assert_int_equal(l.n, 1);
    assert_true(payload_is(s, &p, 3, 70000));
    assert_status_ok(store_finish(s, "job-3", CUZK_JOB_COMPLETED, 1, text("proof")));
    store_flush(s);
    store_flush(s);
    assert_int_equal(payload_files(&e), 0);
    store_stats_get(s, &st);
    assert_int_equal(st.payloads, 0);
    assert_int_equal(st.jobs, 1);
    store_close(s);
    env_clear(&e);
}

/* What a crash left in the folder: half-written files and payloads without a job go, others' files stay. */
static void test_leftovers(void **state)
{
    env e;
    store *s;
    char id[32], path[700];
    store_payload p;

    (void)state;
    env_init(&e, "leftovers");
    s = env_open(&e);
    p = write_payload(s, 1, 1000);
    (void)write_payload(s, 2, 1000);
    store_job j = make_job(1, id, &p);
    assert_status_ok(store_admit(s, &j));
    store_close(s);
    (void)snprintf(path, sizeof path, "%s.d/aa", e.path);
    (void)mkdir(path, 0777);
    (void)snprintf(path, sizeof path, "%s.d/aa/.cuzk-0123456789abcdef.tmp", e.path);
    harness_write_file(path, "half", 4);
    (void)snprintf(path, sizeof path, "%s.d/aa/notes", e.path);
    harness_write_file(path, "mine", 4);
    s = env_open(&e);
    assert_int_equal(payload_files(&e), 2);
    assert_true(file_exists(path));
    assert_true(payload_is(s, &p, 1, 1000));
    store_close(s);
    env_clear(&e);
}

static void test_max_size(void **state)
{
    env e;
    store *s;
    char id[32];
    store_payload p, q;
    store_stats st;
    uint8_t *big = calloc(1, 300000);
    cuzk_bytes piece = {big, 300000};

    (void)state;
    assert_non_null(big);
    env_init(&e, "size");
    s = env_open(&e);
    store_stats_get(s, &st);
    assert_in_range(st.bytes, 1, 200000); /* the database */
    store_set_max_size(s, st.bytes + 400000);
    p = write_payload(s, 1, 200000);
    assert_status_is(store_payload_write(s, &piece, 1, &q), CUZK_EBUDGET);
    assert_error_class(CUZK_CLASS_LIMIT);
    assert_error_mentions("300000");
    store_job j = make_job(1, id, &p);
    assert_status_ok(store_admit(s, &j));
    (void)write_payload(s, 1, 200000); /* the same again takes no room */
    store_stats_get(s, &st);
    assert_int_equal(st.payloads, 1);
    assert_true(st.bytes >= 200000);
    store_set_max_size(s, 1000); /* SIGHUP made it smaller: new work is refused, old work ends */
    j = make_job(2, id, &p);
    assert_status_is(store_admit(s, &j), CUZK_EBUDGET);
    assert_error_class(CUZK_CLASS_LIMIT);
    store_partition_async(s, "job-1", 0, text("p"));
    assert_status_ok(store_finish(s, "job-1", CUZK_JOB_COMPLETED, 1, text("proof")));
    store_set_max_size(s, 0);
    assert_status_ok(store_payload_write(s, &piece, 1, &q));
    j = make_job(2, id, &q);
    assert_status_ok(store_admit(s, &j));
    store_stats_get(s, &st);
    assert_int_equal(st.failures, 1);
    assert_false(st.full);
    assert_int_equal(logged("store_failed"), 0);
    store_close(s);
    env_clear(&e);
    free(big);
}

static void test_two_opens(void **state)
{
    env e;
    store *s, *t = NULL;
    cuzk_buffer moved = {0};
    char pid[32];

    (void)state;
    env_init(&e, "two");
    s = env_open(&e);
    assert_status_is(env_try_open(&e, &t, &moved), CUZK_EIO);
    assert_error_class(CUZK_CLASS_INCONSISTENT);
    (void)snprintf(pid, sizeof pid, "pid %ld", (long)getpid());
    assert_error_mentions(pid);
    assert_null(t);
    store_close(s);
    s = env_open(&e);
    store_close(s);
    env_clear(&e);
}

static void test_bad_paths(void **state)
{
    env e;
    store *s = NULL;
    cuzk_buffer moved = {0};

    (void)state;
    env_init(&e, "paths");
    (void)snprintf(e.path, sizeof e.path, "%s/x/", e.dir);
    assert_status_is(env_try_open(&e, &s, &moved), CUZK_EINVAL);
    e.path[0] = 0;
    assert_status_is(env_try_open(&e, &s, &moved), CUZK_EINVAL);
    assert_status_ok(file_make_dir(e.dir));
    (void)snprintf(e.path, sizeof e.path, "%s/file", e.dir);
    harness_write_file(e.path, "x", 1);
    (void)snprintf(e.path, sizeof e.path, "%s/file/jobs.db", e.dir);
    assert_status_is(env_try_open(&e, &s, &moved), CUZK_EIO);
    assert_error_mentions("file");
    (void)snprintf(e.path, sizeof e.path, "%s/folder", e.dir);
    assert_status_ok(file_make_dir(e.path));
    assert_status_is(env_try_open(&e, &s, &moved), CUZK_EIO);
    assert_error_mentions("folder");
    assert_null(s);
    assert_null(moved.data);
    env_clear(&e);
}

/* ---- many at once ---- */

#define THREADS ((size_t)8)
#define EACH ((size_t)12)

typedef struct crowd {
    store *s;
    uint64_t first;
    atomic_uint ready;
} crowd;
static crowd c;

static void *admit_many(void *arg)
{
    uint64_t me = (uint64_t)(uintptr_t)arg;
    char id[32];

    atomic_fetch_add(&c.ready, 1);
    while (atomic_load(&c.ready) < THREADS) (void)sched_yield();
    for (uint64_t i = 0; i < EACH; i++) {
        uint64_t k = me * EACH + i;
        store_payload p = write_payload(c.s, k / 4, 3000); /* four jobs share one */
        store_job j = make_job(k, id, &p);
        assert_status_ok(store_admit(c.s, &j));
        store_partition_async(c.s, id, 1, text("part"));
        if (i % 3 == 0) assert_status_ok(store_finish(c.s, id, CUZK_JOB_COMPLETED, k, text("ok")));
        if (i % 5 == 0) store_purge_async(c.s, 0);
        store_stats st;
        store_stats_get(c.s, &st);
    }
    return NULL;
}

static void test_crowd(void **state)
{
    env e;
    pthread_t t[THREADS];
    store_stats st;
    uint64_t sum = 0;

    (void)state;
    env_init(&e, "crowd");
    c.s = env_open(&e);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, admit_many, (void *)(uintptr_t)i), 0);
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(t[i], NULL), 0);
    store_flush(c.s);
    store_stats_get(c.s, &st);
    assert_int_equal(st.pending, 0);
    assert_int_equal(st.failures, 0);
    assert_true(st.operations >= THREADS * EACH * 2);
    assert_true(st.transactions < st.operations); /* what waits together is one commit */
    for (unsigned i = 0; i < STORE_BUCKETS; i++) sum += st.sync_buckets[i];
    assert_int_equal(sum, st.transactions);
    assert_true(st.sync_ns > 0);
    for (unsigned round = 0; round < 2; round++) {
        assert_status_ok(load(c.s, &l));
        for (uint64_t k = 0; k < THREADS * EACH; k++) {
            char id[32];
            (void)snprintf(id, sizeof id, "job-%llu", (unsigned long long)k);
            const struct loaded_job *j = find(&l, id);
            if (k == 0) {
                /* job-0 ended at 0: a purge may have come after that */
                if (j != NULL) assert_int_equal(j->j.state, CUZK_JOB_COMPLETED);
                continue;
            }
            assert_non_null(j);
            assert_int_equal(j->n_partitions, (k % EACH) % 3 == 0 ? 0 : 1);
            if ((k % EACH) % 3 != 0) assert_true(payload_is(c.s, &j->j.payload, k / 4, 3000));
        }
        store_stats_get(c.s, &st);
        assert_int_equal(st.jobs, l.n);
        store_close(c.s);
        c.s = env_open(&e);
    }
    store_close(c.s);
    env_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restart),     cmocka_unit_test(test_new_attempt),
        cmocka_unit_test(test_admit_ended), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_load_stops),  cmocka_unit_test(test_find),
        cmocka_unit_test(test_load_latest), cmocka_unit_test(test_purge),
        cmocka_unit_test(test_leftovers),   cmocka_unit_test(test_max_size),
        cmocka_unit_test(test_two_opens),   cmocka_unit_test(test_bad_paths),
        cmocka_unit_test(test_crowd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
