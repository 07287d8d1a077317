/*
 * unit/engine/test_store_fault.c - the store when something fails: SQLite's reads, writes and syncs (the k-th, for every k),
 * allocations, changed bytes of the database, a full disk
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "store_shim.h"
#include "store_support.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static loaded l;

/* ---- a life of a store under faults ---- */

#define JOBS 4
typedef struct life {
    bool opened;
    bool admitted[JOBS];
    bool finished[JOBS];
} life;

/** Some work; what a call refuses with a failure is not promised. */
static void live(store *s, life *x)
{
    char id[32];
    uint8_t b[3000];
    store_payload p;

    for (uint64_t k = 0; k < JOBS; k++) {
        fill(b, sizeof b, k);
        if (store_payload_write(s, &(cuzk_bytes){b, sizeof b}, 1, &p) != CUZK_OK) continue;
        store_job j = make_job(k, id, &p);
        cuzk_status st = store_admit(s, &j);
        if (st != CUZK_OK) assert_true(st == CUZK_EIO || st == CUZK_ENOMEM);
        if (st != CUZK_OK) continue;
        x->admitted[k] = true;
        store_partition_async(s, id, 1, text("part"));
        if (k % 2 != 0) continue;
        st = store_finish(s, id, CUZK_JOB_COMPLETED, 50, text("proof"));
        if (st == CUZK_OK) x->finished[k] = true;
    }
    store_purge_async(s, 5);
    store_flush(s);
}

static void check_promises(store *s, const life *x)
{
    char id[32];

    assert_status_ok(load(s, &l));
    for (unsigned k = 0; k < JOBS; k++) {
        (void)snprintf(id, sizeof id, "job-%u", k);
        const struct loaded_job *j = find(&l, id);
        if (!x->admitted[k]) continue;
        if (j == NULL) harness_fail("%s was admitted and is lost", id);
        if (x->finished[k]) assert_int_equal(j->j.state, CUZK_JOB_COMPLETED);
        if (j->j.state == CUZK_JOB_QUEUED) assert_true(payload_is(s, &j->j.payload, k, 3000));
    }
}

/** All that could not be done under the fault is done now. */
static void recover(store *s, const life *x)
{
    char id[32];

    for (unsigned k = 0; k < JOBS; k++) {
        store_payload p = write_payload(s, k, 3000);
        store_job j = make_job(k, id, &p);
        if (!x->admitted[k]) assert_status_ok(store_admit(s, &j));
        if (!x->finished[k]) assert_status_ok(store_finish(s, id, CUZK_JOB_FAILED, 9, text("f")));
    }
    store_stats st;
    store_flush(s);
    store_stats_get(s, &st);
    assert_false(st.full);
}

/** A round with the k-th call failing. Returns whether it came to that. */
static bool round_with_fault(unsigned long k, bool for_good, bool full, bool at_open)
{
    char name[64];
    env e;
    life x = {0};
    cuzk_buffer moved = {0};
    store *s = NULL;
    bool hit;

    (void)snprintf(name, sizeof name, "f%lu%d%d%d", k, for_good, full, at_open);
    env_init(&e, name);
    s = env_open(&e);
    if (at_open) { /* of a store that has something in it */
        live(s, &x);
        store_close(s);
        s = NULL;
    }
    shim_arm(k, for_good, full);
    if (at_open && env_try_open(&e, &s, &moved) != CUZK_OK) {
        assert_int_equal(cuzk_last_error()->status, CUZK_EIO);
        s = NULL;
    }
    if (!at_open) live(s, &x);
    hit = shim_calls() >= k;
    shim_arm(0, false, false);
    assert_null(moved.data); /* a failing disk is not a corrupt database */
    if (s != NULL) {
        store_flush(s);
        check_promises(s, &x);
        if (k % 2 == 0) recover(s, &x);
        store_close(s);
    }
    s = env_open(&e);
    check_promises(s, &x);
    if (k % 2 != 0) recover(s, &x);
    store_close(s);
    env_clear(&e);
    (void)sqlite3_release_memory(1 << 20);
    return hit;
}

static void test_io_faults(void **state)
{
    unsigned long most = 0, step = harness_level() == HARNESS_CHECK ? 3 : 1;

    (void)state;
    for (unsigned mode = 0; mode < 6; mode++) {
        unsigned long k = 1 + harness_random_below(step);
        while (round_with_fault(k, mode & 1, mode / 2 == 1, mode / 2 == 2)) k += step;
        if (k > most) most = k;
    }
    assert_true(most > 30); /* it came to reads, writes and syncs */
}

static cuzk_job_state state_of(store *s, const char *id)
{
    assert_status_ok(load(s, &l));
    assert_non_null(find(&l, id));
    return find(&l, id)->j.state;
}

/* A result that cannot be stored is tried until it can, unless the job has begun anew. */
static void test_results_again(void **state)
{
    env e;
    char id[32];
    store_payload p;

    (void)state;
    env_init(&e, "again");
    store *s = env_open(&e);
    for (uint64_t k = 0; k < 3; k++) {
        p = write_payload(s, k, 1000);
        store_job j = make_job(k, id, &p);
        assert_status_ok(store_admit(s, &j));
    }
    shim_arm(1, true, true);
    for (uint64_t k = 0; k < 3; k++) {
        (void)snprintf(id, sizeof id, "job-%llu", (unsigned long long)k);
        assert_status_is(store_finish(s, id, CUZK_JOB_COMPLETED, 1, text("proof")), CUZK_EIO);
    }
    assert_int_equal(logged("store_failed"), 3);
    p = write_payload(s, 7, 1000);
    store_job j = make_job(1, id, &p);
    store_flush(s); /* nothing of the store's own is under way any more */
    shim_arm(0, false, false);
    assert_status_ok(store_admit(s, &j)); /* a new attempt: its old result is void */
    store_flush(s);
    store_flush(s);
    assert_int_equal(state_of(s, "job-0"), CUZK_JOB_COMPLETED);
    assert_string_equal(find(&l, "job-0")->result, "proof");
    assert_int_equal(state_of(s, "job-1"), CUZK_JOB_QUEUED);
    assert_true(payload_is(s, &p, 7, 1000));
    assert_int_equal(state_of(s, "job-2"), CUZK_JOB_COMPLETED);
    store_flush(s);
    assert_int_equal(payload_files(&e), 1); /* theirs have been let go */
    store_close(s);
    env_clear(&e);
}

/* The last chance is when the store is closed; without it the job is one that has not ended. */
static void test_results_at_the_end(void **state)
{
    env e;
    char id[32];

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        env_init(&e, k == 0 ? "end" : "no-end");
        store *s = env_open(&e);
        store_job j = make_job(1, id, NULL);
        assert_status_ok(store_admit(s, &j));
        shim_arm(1, true, false);
        assert_status_is(store_finish(s, id, CUZK_JOB_COMPLETED, 1, text("proof")), CUZK_EIO);
        store_flush(s);
        store_flush(s);
        if (k == 0) shim_arm(0, false, false);
        store_close(s);
        shim_arm(0, false, false);
        assert_int_equal(logged("store_result_not_kept"), k);
        s = env_open(&e);
        assert_int_equal(state_of(s, id), k == 0 ? CUZK_JOB_COMPLETED : CUZK_JOB_QUEUED);
        store_close(s);
        env_clear(&e);
    }
}

/** The k-th allocation of the store's budget fails. */
static void test_no_memory(void **state)
{
    bool hit = true;

    (void)state;
    for (unsigned long k = 1; hit; k++) {
        char name[64];
        env e;
        life x = {0};
        cuzk_buffer moved = {0};
        store *s = NULL;
        (void)snprintf(name, sizeof name, "m%lu", k);
        env_init(&e, name);
        mem_inject_fault(e.m, k);
        if (env_try_open(&e, &s, &moved) == CUZK_OK) {
            live(s, &x);
            hit = mem_fault_hit(e.m);
            mem_inject_fault(e.m, 0);
            check_promises(s, &x);
            recover(s, &x);
            store_close(s);
        } else {
            assert_int_equal(cuzk_last_error()->status, CUZK_ENOMEM);
            mem_inject_fault(e.m, 0);
        }
        s = env_open(&e);
        check_promises(s, &x);
        store_close(s);
        assert_true(k < 100);
        env_clear(&e);
    }
}

/* ---- changed bytes ---- */

static void unlink_all(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *x;

    assert_non_null(d);
    while ((x = readdir(d)) != NULL) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/%s", dir, x->d_name);
        if (strstr(x->d_name, ".corrupt-") != NULL || strstr(x->d_name, "-wal") != NULL ||
            strstr(x->d_name, "-shm") != NULL)
            (void)unlink(path);
    }
    (void)closedir(d);
}

static loaded whole; /* what make_database wrote */

/** A database of `n` jobs, closed; its bytes. */
static uint8_t *make_database(env *e, unsigned n, size_t *size)
{
    store *s = env_open(e);

    for (uint64_t k = 0; k < n; k++) {
        char id[32];
        store_job j = make_job(k, id, NULL);
        assert_status_ok(store_admit(s, &j));
        store_partition_async(s, id, 0, text("partition 0"));
        store_partition_async(s, id, 2, text("partition 2"));
        if (k % 3 == 0)
            assert_status_ok(store_finish(s, id, CUZK_JOB_COMPLETED, k, text("the proof")));
    }
    assert_status_ok(load(s, &whole));
    store_close(s);
    return harness_read_file(e->path, size);
}

/** A job but for its partitions, as one number. */
static uint64_t job_digest(const struct loaded_job *j)
{
    const char *t[] = {j->job_id, j->request_id, j->request, j->result};
    uint64_t v[] = {j->j.kind,       j->j.priority,    j->j.n_partitions, j->j.state,
                    j->j.created_ms, j->j.deadline_ms, j->j.ended_ms,     j->j.payload_hash[0]};
    uint64_t h = 1;

    for (size_t k = 0; k < sizeof t / sizeof t[0]; k++)
        for (const char *c = t[k]; *c != 0; c++) h = (h ^ (uint8_t)*c) * 0x100000001b3u;
    for (size_t k = 0; k < sizeof v / sizeof v[0]; k++) h = (h ^ v[k]) * 0x100000001b3u;
    return h;
}

/** What was loaded, as one number. */
static uint64_t digest(const loaded *x)
{
    uint64_t h = x->n;

    for (size_t i = 0; i < x->n; i++) {
        const struct loaded_job *j = &x->job[i];

        h = (h ^ job_digest(j)) * 0x100000001b3u;
        h = (h ^ j->n_partitions) * 0x100000001b3u;
        for (size_t k = 0; k < j->n_partitions; k++) {
            h = (h ^ j->index[k]) * 0x100000001b3u;
            for (const char *c = j->proof[k]; *c != 0; c++) h = (h ^ (uint8_t)*c) * 0x100000001b3u;
        }
    }
    return h;
}

typedef struct outcomes {
    unsigned same, mended, moved, refused;
} outcomes;

/** Rows were taken out: what is there is as it was, new work is taken, and a copy was kept. */
static void check_mended(env *e, store *s)
{
    char id[32];
    bool copied = false;
    struct dirent *x;
    char folder[600];
    DIR *d;

    assert_int_equal(logged("store_corrupt"), 0);
    assert_status_ok(load(s, &l));
    assert_true(l.n + logged("stored_job_damaged") == whole.n);
    for (size_t i = 0; i < l.n; i++) {
        const struct loaded_job *was = find(&whole, l.job[i].job_id);

        assert_non_null(was);
        assert_true(job_digest(was) == job_digest(&l.job[i]));
        assert_true(l.job[i].n_partitions <= was->n_partitions);
        for (size_t k = 0; k < l.job[i].n_partitions; k++)
            assert_string_equal(l.job[i].proof[k],
                                l.job[i].index[k] == 0 ? "partition 0" : "partition 2");
    }
    store_job j = make_job(700, id, NULL);
    assert_status_ok(store_admit(s, &j));
    (void)snprintf(folder, sizeof folder, "%s/deep", e->dir);
    d = opendir(folder);
    assert_non_null(d);
    while ((x = readdir(d)) != NULL) copied = copied || strstr(x->d_name, ".corrupt-") != NULL;
    (void)closedir(d);
    assert_true(copied);
}

/** Opens a database of these bytes. */
static void open_bytes(env *e, const uint8_t *b, size_t n, uint64_t want, outcomes *o)
{
    cuzk_buffer moved = {0};
    store *s = NULL;

    harness_write_file(e->path, b, n);
    log_reset();
    if (env_try_open(e, &s, &moved) != CUZK_OK) {
        assert_int_equal(cuzk_last_error()->status, CUZK_EIO); /* owner or version in the header */
        o->refused++;
        return;
    }
    if (logged("store_damaged") != 0) {
        check_mended(e, s);
        o->mended++;
    } else if (moved.size == 0) {
        assert_int_equal(logged("store_corrupt"), 0);
        assert_status_ok(load(s, &l));
        assert_true(digest(&l) == want);
        o->same++;
    } else {
        size_t got;
        char id[32];
        uint8_t *there = harness_read_file((const char *)moved.data, &got);
        assert_int_equal(got, n);
        assert_bytes_equal(there, b, n);
        free(there);
        assert_int_equal(logged("store_corrupt"), 1);
        assert_status_ok(load(s, &l));
        assert_int_equal(l.n, 0);
        store_job j = make_job(7, id, NULL);
        assert_status_ok(store_admit(s, &j));
        o->moved++;
        cuzk_buffer_clear(&moved);
    }
    store_close(s);
    char dir[600];
    (void)snprintf(dir, sizeof dir, "%s/deep", e->dir);
    unlink_all(dir);
}

static void test_changed_bytes(void **state)
{
    env e;
    size_t n, step = harness_level() == HARNESS_CHECK ? 293 : 37;
    uint8_t *b;
    uint64_t want;
    outcomes o = {0};

    (void)state;
    env_init(&e, "bytes");
    b = make_database(&e, 24, &n);
    want = digest(&whole);
    for (size_t i = 0; i < n; i += i < 100 ? 7 : 1 + harness_random_below(2 * step)) {
        uint8_t was = b[i];
        b[i] ^= (uint8_t)(1u << harness_random_below(8));
        open_bytes(&e, b, n, want, &o);
        b[i] = was;
    }
    assert_true(o.same > 0 && o.mended > 0); /* unused space, indexes; rows */
    memset(&o, 0, sizeof o);
    open_bytes(&e, b, n / 2, want, &o);
    open_bytes(&e, b, n - 4096, want, &o);
    open_bytes(&e, b, 50, want, &o);
    assert_int_equal(o.moved, 3);
    open_bytes(&e, b, n, want, &o);
    assert_int_equal(o.same, 1);
    memset(b, 'x', n);
    open_bytes(&e, b, n, want, &o);
    assert_int_equal(o.moved, 4);
    free(b);
    env_clear(&e);
}

/** With the database its payloads move, and a second one of the same second gets another name. */
static void test_moves_payloads(void **state)
{
    env e;
    store *s;
    char id[32], path[700];
    store_payload p;
    cuzk_buffer moved[2] = {{0}, {0}};

    (void)state;
    env_init(&e, "moves");
    for (unsigned i = 0; i < 2; i++) {
        s = env_open(&e);
        p = write_payload(s, i, 500);
        store_job j = make_job(i, id, &p);
        assert_status_ok(store_admit(s, &j));
        store_close(s);
        harness_write_file(e.path, "this is no database, it is a line of text", 41);
        assert_status_ok(env_try_open(&e, &s, &moved[i]));
        assert_true(moved[i].size > 0);
        assert_int_equal(payload_files(&e), 0);
        store_close(s);
        (void)snprintf(path, sizeof path, "%s.d", (const char *)moved[i].data);
        assert_true(file_exists(path));
    }
    assert_string_not_equal((const char *)moved[0].data, (const char *)moved[1].data);
    cuzk_buffer_clear(&moved[0]);
    cuzk_buffer_clear(&moved[1]);
    env_clear(&e);
}

static void set_number(const char *path, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void test_not_ours(void **state)
{
    env e;
    store *s = NULL;
    cuzk_buffer moved = {0};
    size_t n;

    (void)state;
    env_init(&e, "others");
    free(make_database(&e, 1, &n));
    set_number(e.path, "PRAGMA user_version=2");
    assert_status_is(env_try_open(&e, &s, &moved), CUZK_EIO);
    assert_error_mentions("later cuzk");
    set_number(e.path, "PRAGMA user_version=1");
    store_close(env_open(&e));
    set_number(e.path, "PRAGMA application_id=7");
    assert_status_is(env_try_open(&e, &s, &moved), CUZK_EIO);
    assert_error_mentions("another program");
    set_number(e.path, "PRAGMA application_id=0x63757a6b; DROP TABLE partitions");
    assert_status_ok(env_try_open(&e, &s, &moved));
    assert_true(moved.size > 0);
    cuzk_buffer_clear(&moved);
    store_close(s);
    assert_int_equal(truncate(e.path, 0), 0); /* an empty file is a store to be made */
    store_close(env_open(&e));
    env_clear(&e);
}

/* ---- a full disk ---- */

static void fill_disk(const char *path)
{
    FILE *f = fopen(path, "wb");
    static uint8_t block[65536];

    assert_non_null(f);
    (void)setvbuf(f, NULL, _IONBF, 0);
    for (size_t n = sizeof block; n > 0; n /= 2)
        while (fwrite(block, 1, n, f) == n)
            ;
    (void)fclose(f);
}

static void run_full_disk(env *e)
{
    char id[32], filler[600];
    unsigned admitted = 0;
    cuzk_status st = CUZK_OK;
    store_stats stats;
    store *s = env_open(e);

    while (admitted < 200) { /* until it is full */
        uint8_t b[60000];
        store_payload p;
        fill(b, sizeof b, admitted);
        st = store_payload_write(s, &(cuzk_bytes){b, sizeof b}, 1, &p);
        if (st != CUZK_OK) break;
        store_job j = make_job(admitted, id, &p);
        st = store_admit(s, &j);
        if (st != CUZK_OK) break;
        admitted++;
    }
    assert_true(admitted > 10 && admitted < 200);
    assert_int_equal(st, CUZK_EIO);
    assert_error_class(CUZK_CLASS_RESOURCE);
    store_stats_get(s, &stats);
    assert_true(stats.full);
    /* there is room for what was admitted */
    store_partition_async(s, "job-0", 0, text("part"));
    assert_status_ok(store_finish(s, "job-1", CUZK_JOB_COMPLETED, 1, text("proof")));

    (void)snprintf(filler, sizeof filler, "%s/filler", e->dir);
    fill_disk(filler);
    uint8_t *big = calloc(1, 20000);
    assert_non_null(big);
    st = store_finish(s, "job-2", CUZK_JOB_COMPLETED, 1, (cuzk_bytes){big, 20000});
    free(big);
    if (st != CUZK_OK) assert_error_class(CUZK_CLASS_RESOURCE);
    store_job j = make_job(1000, id, NULL);
    assert_status_is(store_admit(s, &j), CUZK_EIO);
    assert_error_class(CUZK_CLASS_RESOURCE);
    assert_int_equal(unlink(filler), 0);

    for (unsigned k = 2; k < 12; k++) {
        (void)snprintf(id, sizeof id, "job-%u", k);
        assert_status_ok(store_finish(s, id, CUZK_JOB_COMPLETED, 1, text("proof")));
    }
    store_flush(s);
    store_flush(s);
    j = make_job(1000, id, NULL);
    assert_status_ok(store_admit(s, &j)); /* payloads went: there is room again */
    store_stats_get(s, &stats);
    assert_false(stats.full);
    store_close(s);
    s = env_open(e);
    assert_status_ok(load(s, &l));
    assert_int_equal(l.n, admitted + 1);
    for (unsigned k = 12; k < admitted; k++) {
        (void)snprintf(id, sizeof id, "job-%u", k);
        assert_non_null(find(&l, id));
        assert_true(payload_is(s, &find(&l, id)->j.payload, k, 60000));
    }
    store_close(s);
}

static void test_full_disk(void **state)
{
    env e;

    (void)state;
    env_init(&e, "full");
    assert_status_ok(file_make_dir(e.dir));
    if (mount("tmpfs", e.dir, "tmpfs", 0, "size=4m") != 0) {
        env_clear(&e);
        harness_skip("a small tmpfs cannot be mounted: %s", strerror(errno));
    }
    run_full_disk(&e);
    (void)umount2(e.dir, MNT_DETACH);
    env_clear(&e);
}

/* Too many open files is no full disk: refused, told as what it is, and over when it is over. */
static void test_no_descriptors(void **state)
{
    env e;
    uint8_t b[100] = {7};
    int fd[1024];
    size_t n = 0;
    store_payload p;
    store_stats stats;
    struct rlimit was, low;

    (void)state;
    env_init(&e, "descriptors");
    store *s = env_open(&e);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    low = (struct rlimit){64, was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    while (n < 1024 && (fd[n] = dup(2)) >= 0) n++;
    assert_status_is(store_payload_write(s, &(cuzk_bytes){b, sizeof b}, 1, &p), CUZK_EIO);
    assert_error_class(CUZK_CLASS_RESOURCE);
    store_stats_get(s, &stats);
    assert_false(stats.full);
    while (n > 0) (void)close(fd[--n]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_status_ok(store_payload_write(s, &(cuzk_bytes){b, sizeof b}, 1, &p));
    store_close(s);
    env_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_again),  cmocka_unit_test(test_results_at_the_end),
        cmocka_unit_test(test_io_faults),      cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_changed_bytes),  cmocka_unit_test(test_moves_payloads),
        cmocka_unit_test(test_not_ours),       cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_no_descriptors),
    };

    shim_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
