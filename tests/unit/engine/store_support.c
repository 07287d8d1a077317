/*
 * unit/engine/store_support.c - see store_support.h
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "store_support.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

/* ---- log ---- */

#define MAX_LINES 256
static pthread_mutex_t log_mu = PTHREAD_MUTEX_INITIALIZER;
static char lines[MAX_LINES][32];
static size_t n_lines;

static void take_line(void *ctx, int level, const char *event, const cuzk_log_field *f, size_t n)
{
    (void)ctx;
    assert_in_range(level, CUZK_LOG_ERROR, CUZK_LOG_DEBUG);
    for (size_t i = 0; i < n; i++) assert_non_null(f[i].key);
    (void)pthread_mutex_lock(&log_mu);
    if (n_lines < MAX_LINES) (void)snprintf(lines[n_lines++], sizeof lines[0], "%s", event);
    (void)pthread_mutex_unlock(&log_mu);
}

unsigned logged(const char *event)
{
    unsigned n = 0;

    (void)pthread_mutex_lock(&log_mu);
    for (size_t i = 0; i < n_lines; i++) n += strcmp(lines[i], event) == 0;
    (void)pthread_mutex_unlock(&log_mu);
    return n;
}

void log_reset(void)
{
    (void)pthread_mutex_lock(&log_mu);
    n_lines = 0;
    (void)pthread_mutex_unlock(&log_mu);
}

/* ---- opening ---- */

void env_init(env *e, const char *name)
{
    (void)snprintf(e->dir, sizeof e->dir, "%s", harness_temp_path(name));
    (void)snprintf(e->path, sizeof e->path, "%s/deep/jobs.db", e->dir);
    assert_status_ok(mem_open(&e->m, "test", 0, NULL));
    assert_status_ok(span_rec_open(&e->rec));
    log_reset();
}

void env_clear(env *e)
{
    assert_int_equal(mem_used(e->m), 0);
    span_rec_close(e->rec);
    mem_close(e->m);
}

cuzk_status env_try_open(env *e, store **out, cuzk_buffer *moved)
{
    store_config c = {.path = e->path, .m = e->m, .rec = e->rec, .log = take_line};

    return store_open(out, &c, moved);
}

store *env_open(env *e)
{
    cuzk_buffer moved = {0};
    store *s = NULL;

    assert_status_ok(env_try_open(e, &s, &moved));
    if (moved.size != 0) harness_fail("moved aside: %s", (const char *)moved.data);
    return s;
}

/* ---- jobs ---- */

void fill(uint8_t *p, size_t n, uint64_t seed)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;

    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        p[i] = (uint8_t)x;
    }
}

cuzk_bytes text(const char *s)
{
    return (cuzk_bytes){(const uint8_t *)s, strlen(s)};
}

store_job make_job(uint64_t k, char id[32], const store_payload *p)
{
    store_job j = {.job_id = id,
                   .request_id = "wdpost-1000-0-[1 2 3]",
                   .kind = CUZK_WINDOW,
                   .priority = CUZK_HIGH,
                   .n_partitions = 3,
                   .created_ms = 1000 + k,
                   .deadline_ms = UINT64_MAX - k,
                   .request = text("request bytes")};

    (void)snprintf(id, 32, "job-%llu", (unsigned long long)k);
    memset(j.payload_hash, (int)(k & 0xff), 32);
    if (p != NULL) j.payload = *p;
    return j;
}

store_payload write_payload(store *s, uint64_t seed, size_t size)
{
    store_payload p = {.size = 77};
    uint8_t *b = malloc(size + 1);
    size_t cut = size / 3;

    assert_non_null(b);
    fill(b, size, seed);
    cuzk_bytes pieces[3] = {{b, cut}, {NULL, 0}, {b + cut, size - cut}};
    assert_status_ok(store_payload_write(s, pieces, 3, &p));
    assert_int_equal(p.size, size);
    free(b);
    return p;
}

bool payload_is(store *s, const store_payload *p, uint64_t seed, size_t size)
{
    file_map f;
    uint8_t *b = malloc(size + 1);
    bool same;

    assert_non_null(b);
    fill(b, size, seed);
    if (store_payload_map(s, p, &f) != CUZK_OK) {
        free(b);
        return false;
    }
    same = f.size == size && memcmp(f.data, b, size) == 0;
    file_map_close(&f);
    free(b);
    return same;
}

static size_t count_below(const char *dir, unsigned depth)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    size_t n = 0;

    if (d == NULL) return 0;
    while ((e = readdir(d)) != NULL) {
        char path[1024];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        (void)snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        n += depth == 0 ? 1 : count_below(path, depth - 1);
    }
    (void)closedir(d);
    return n;
}

size_t payload_files(const env *e)
{
    char dir[600];

    (void)snprintf(dir, sizeof dir, "%s.d", e->path);
    return count_below(dir, 1);
}

/* ---- loading ---- */

static void copy_bytes(char *out, size_t cap, cuzk_bytes b)
{
    assert_true(b.size < cap);
    if (b.size != 0) memcpy(out, b.data, b.size);
    out[b.size] = 0;
}

static cuzk_status take_job(void *ctx, const store_job *j, const store_partition *p, size_t n)
{
    loaded *l = ctx;
    struct loaded_job *x = &l->job[l->n];

    assert_true(l->n < LOADED_MAX);
    assert_true(n <= 8);
    l->n++;
    memset(x, 0, sizeof *x);
    x->j = *j;
    (void)snprintf(x->job_id, sizeof x->job_id, "%s", j->job_id);
    (void)snprintf(x->request_id, sizeof x->request_id, "%s", j->request_id);
    copy_bytes(x->request, sizeof x->request, j->request);
    copy_bytes(x->result, sizeof x->result, j->result);
    x->n_partitions = n;
    for (size_t i = 0; i < n; i++) {
        x->index[i] = p[i].index;
        copy_bytes(x->proof[i], sizeof x->proof[i], p[i].proof);
    }
    return CUZK_OK;
}

cuzk_status load(store *s, loaded *l)
{
    l->n = 0;
    return store_load(s, UINT64_MAX >> 1, take_job, l);
}

cuzk_status load_latest(store *s, uint64_t n_ended, loaded *l)
{
    l->n = 0;
    return store_load(s, n_ended, take_job, l);
}

cuzk_status look_up(store *s, const char *id, const uint8_t *hash, loaded *l)
{
    l->n = 0;
    return store_find(s, id, hash, take_job, l);
}

const struct loaded_job *find(const loaded *l, const char *job_id)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->job[i].job_id, job_id) == 0) return &l->job[i];
    return NULL;
}
