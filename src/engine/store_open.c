/*
 * engine/store_open.c - opening the store: its lock, a database that is at fault, leftovers; and closing it
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/store_int.h"

#include "base/file_fail.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define SPARE_MAX (UINT64_C(64) << 20) /* of the disk, for results of what was admitted */

char *store_join(const char *a, const char *b, const char *c)
{
    size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
    char *p = malloc(n);

    if (p != NULL) (void)snprintf(p, n, "%s%s%s", a, b, c); /* fits */
    return p;
}

cuzk_status store_sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int err = fd < 0 ? errno : 0;

    /* some file systems know no fsync of folders and say EINVAL */
    if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL) err = errno;
    if (fd >= 0) (void)close(fd); /* nothing was written through it */
    return err == 0 ? CUZK_OK : file_fail("cannot write folder", folder, err);
}

/** Bytes that are left, and how many are kept for results. */
static cuzk_status look_at_space(const store *s, uint64_t *left, uint64_t *spare)
{
    struct statvfs v;
    uint64_t total;

    if (statvfs(s->folder, &v) != 0) return file_fail("cannot look at", s->folder, errno);
    total = (uint64_t)v.f_blocks * v.f_frsize;
    *left = (uint64_t)v.f_bavail * v.f_frsize;
    *spare = total / 16 < SPARE_MAX ? total / 16 : SPARE_MAX;
    return CUZK_OK;
}

bool store_has_space(const store *s)
{
    uint64_t left = 0, spare = 0;
    cuzk_error kept = *cuzk_last_error();
    bool has = look_at_space(s, &left, &spare) == CUZK_OK && left >= spare;

    if (kept.status != CUZK_OK) (void)status_adopt(&kept); /* the failure that is looked into */
    return has;
}

cuzk_status store_check_space(store *s)
{
    uint64_t left = 0, spare = 0;

    TRY(look_at_space(s, &left, &spare));
    if (left >= spare) return CUZK_OK;
    return status_fail(__FILE__, __LINE__, CUZK_EIO, CUZK_CLASS_RESOURCE, "",
                       "job store %s: disk full: %llu bytes are left, %llu are kept for results",
                       s->path, (unsigned long long)left, (unsigned long long)spare);
}

/* ---- the lock ---- */

static cuzk_status lock_failed(store *s)
{
    char pid[24] = "";
    ssize_t n = pread(s->lock_fd, pid, sizeof pid - 1, 0);

    for (ssize_t i = 0; i < n; i++)
        if (pid[i] < '0' || pid[i] > '9') pid[i] = 0;
    return status_fail(__FILE__, __LINE__, CUZK_EIO, CUZK_CLASS_INCONSISTENT, "",
                       "job store %s: another process has it (pid %s, lock %s)", s->path,
                       pid[0] == 0 ? "unknown" : pid, s->lock_path);
}

static cuzk_status take_lock(store *s)
{
    char pid[24];
    int n;

    s->lock_fd = open(s->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (s->lock_fd < 0) return file_fail("cannot open", s->lock_path, errno);
    if (flock(s->lock_fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? lock_failed(s)
                                    : file_fail("cannot lock", s->lock_path, errno);
    n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    /* the pid is for people: the lock holds on a full disk too */
    if (ftruncate(s->lock_fd, 0) != 0 || pwrite(s->lock_fd, pid, (size_t)n, 0) != n)
        store_log(s, CUZK_LOG_WARN, "store_lock", "what", "its pid cannot be written", false);
    return CUZK_OK;
}

/* ---- a database at fault ---- */

/** Year, month and day of a day since 1970-01-01 (proleptic Gregorian calendar). */
static void civil_of(int64_t day, int *y, int *m, int *d)
{
    static const int length[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    for (*y = 1970;; (*y)++) {
        int in_year = (*y % 4 == 0 && *y % 100 != 0) || *y % 400 == 0 ? 366 : 365;
        if (day < in_year) break;
        day -= in_year;
    }
    for (*m = 0; *m < 11; (*m)++) {
        bool leap = (*y % 4 == 0 && *y % 100 != 0) || *y % 400 == 0;
        int in_month = length[*m] + (*m == 1 && leap ? 1 : 0);
        if (day < in_month) break;
        day -= in_month;
    }
    (*m)++;
    *d = (int)day + 1;
}

/** ".corrupt-YYYYMMDDTHHMMSSZ", and "-K" where there is one already. */
static void name_aside(const store *s, char out[64])
{
    int64_t now = (int64_t)time(NULL);
    int y, m, d, sec = (int)(now % 86400);

    civil_of(now / 86400, &y, &m, &d);
    (void)snprintf(out, 64, ".corrupt-%04d%02d%02dT%02d%02d%02dZ", y, m, d, sec / 3600,
                   sec / 60 % 60, sec % 60);
    size_t n = strlen(out);
    for (int k = 2; k < 1000; k++) {
        char *path = store_join(s->path, out, "");
        bool taken = path != NULL && file_exists(path);
        free(path);
        if (!taken) return;
        (void)snprintf(out + n, 64 - n, "-%d", k);
    }
}

/** PATH + tail becomes PATH + aside + tail; one that is not there is no failure. */
static cuzk_status rename_aside(const store *s, const char *aside, const char *tail)
{
    char *from = store_join(s->path, tail, ""), *to = store_join(s->path, aside, tail);
    cuzk_status st = CUZK_OK;

    if (from == NULL || to == NULL)
        st = FAIL(CUZK_ENOMEM, "job store %s: out of memory", s->path);
    else if (rename(from, to) != 0 && errno != ENOENT)
        st = file_fail("cannot move aside", from, errno);
    free(from);
    free(to);
    return st;
}

static cuzk_status move_aside(store *s, const char *fault, cuzk_buffer *moved)
{
    static const char *const tails[] = {"-wal", "-shm", ".d", ""}; /* the database itself last */
    char aside[64];
    char *name;
    cuzk_log_field f[2] = {{"fault", fault, 0}, {"moved_to", NULL, 0}};

    name_aside(s, aside);
    name = store_join(s->path, aside, "");
    if (name == NULL) return FAIL(CUZK_ENOMEM, "job store %s: out of memory", s->path);
    moved->data = (uint8_t *)name;
    moved->size = strlen(name);
    for (unsigned i = 0; i < sizeof tails / sizeof tails[0]; i++)
        TRY(rename_aside(s, aside, tails[i]));
    f[1].text = name;
    if (s->log != NULL) s->log(s->log_ctx, CUZK_LOG_ERROR, "store_corrupt", f, 2);
    return CUZK_OK;
}

static void log_bad_job(void *ctx, const char *job_id)
{
    store_log(ctx, CUZK_LOG_ERROR, "stored_job_damaged", "job", job_id, false);
}

/** The file is sound, some rows are not: the other jobs go on. */
static cuzk_status mend(store *s)
{
    cuzk_log_field f[2] = {{"rows", NULL, s->db.bad_rows}, {"copied_to", NULL, 0}};
    cuzk_status st;
    char aside[64], *copy;

    name_aside(s, aside);
    copy = store_join(s->path, aside, "");
    if (copy == NULL) return FAIL(CUZK_ENOMEM, "job store %s: out of memory", s->path);
    f[1].text = copy;
    if (s->log != NULL) s->log(s->log_ctx, CUZK_LOG_ERROR, "store_damaged", f, 2);
    st = store_db_mend(&s->db, copy, log_bad_job, s);
    free(copy);
    return st;
}

static cuzk_status open_db(store *s, cuzk_buffer *moved)
{
    char fault[256];

    TRY(store_db_open(&s->db, s->path, fault, sizeof fault));
    if (fault[0] == 0) return s->db.bad_rows == 0 ? CUZK_OK : mend(s);
    TRY(move_aside(s, fault, moved));
    TRY(store_db_open(&s->db, s->path, fault, sizeof fault));
    if (fault[0] != 0)
        return FAIL(CUZK_EIO, "job store %s: a new one is at fault: %s", s->path, fault);
    return CUZK_OK;
}

/* ---- opening and closing ---- */

static cuzk_status init(store *s, const store_config *c)
{
    pthread_condattr_t a;
    int err;

    s->m = c->m;
    s->rec = c->rec;
    s->log = c->log;
    s->log_ctx = c->log_ctx;
    s->lock_fd = -1;
    s->last = &s->first;
    s->path = strdup(c->path);
    s->folder = store_join(c->path, ".d", "");
    s->lock_path = store_join(c->path, ".lock", "");
    if (s->path == NULL || s->folder == NULL || s->lock_path == NULL)
        return FAIL(CUZK_ENOMEM, "job store %s: out of memory", c->path);
    err = pthread_mutex_init(&s->mu, NULL);
    s->has_mu = err == 0;
    if (err == 0) err = pthread_mutex_init(&s->read_mu, NULL);
    s->has_read_mu = s->has_mu && err == 0;
    if (err == 0) err = pthread_condattr_init(&a);
    if (err != 0) return FAIL(CUZK_ENOMEM, "job store %s: no lock", c->path);
    err = pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    if (err == 0) err = pthread_cond_init(&s->work, &a);
    (void)pthread_condattr_destroy(&a); /* of glibc: nothing to fail */
    if (err == 0) {
        err = pthread_cond_init(&s->ended, NULL);
        s->has_conds = err == 0;
        if (err != 0) (void)pthread_cond_destroy(&s->work);
    }
    return err == 0 ? CUZK_OK : FAIL(CUZK_ENOMEM, "job store %s: no condition", c->path);
}

static cuzk_status make_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    cuzk_status st;
    char *folder;

    if (path[0] == 0 || (slash != NULL && slash[1] == 0))
        return FAIL(CUZK_EINVAL, "job store '%s': it names no file", path);
    if (slash == NULL || slash == path) return CUZK_OK;
    folder = strndup(path, (size_t)(slash - path));
    if (folder == NULL) return FAIL(CUZK_ENOMEM, "job store %s: out of memory", path);
    st = file_make_dir(folder);
    free(folder);
    return st;
}

static cuzk_status start_thread(store *s)
{
    sigset_t before;
    int err;

    signals_block(&before); /* signals are the program's own thread's */
    err = pthread_create(&s->thread, NULL, store_main, s);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    s->has_thread = err == 0;
    return err == 0 ? CUZK_OK : FAIL(CUZK_ENOMEM, "job store %s: no thread", s->path);
}

cuzk_status store_open(store **out, const store_config *c, cuzk_buffer *moved)
{
    cuzk_status st = CUZK_OK;
    cuzk_buffer aside = {0};
    store *s;

    TRY(make_folder_of(c->path));
    s = mem_new(c->m, 1, sizeof *s, &st);
    if (s == NULL) return st;
    TRY_OUT(init(s, c));
    TRY_OUT(take_lock(s));
    TRY_OUT(open_db(s, &aside));
    TRY_OUT(store_files_scan(s));
    TRY_OUT(store_files_sweep(s, true));
    TRY_OUT(store_db_count(&s->db, &s->stats.jobs));
    TRY_OUT(store_db_size(&s->db, &s->db_bytes));
    TRY_OUT(store_reader_open(&s->reader, s->path, s->m));
    TRY_OUT(start_thread(s));
    *out = s;
    *moved = aside;
    s = NULL;
    aside.data = NULL;
out:
    if (s != NULL) {
        cuzk_error kept = *cuzk_last_error();
        store_close(s);
        (void)status_adopt(&kept); /* what closing met is not the cause */
    }
    cuzk_buffer_clear(&aside);
    return st;
}

void store_close(store *s)
{
    if (s == NULL) return;
    if (s->has_thread) {
        store_lock(s);
        s->closing = true;
        (void)pthread_cond_signal(&s->work);
        store_unlock(s);
        (void)pthread_join(s->thread, NULL); /* cannot fail: it is ours, joined once */
    }
    store_reader_close(s->reader);
    store_db_close(&s->db);
    if (s->m != NULL) store_files_clear(s);
    if (s->has_conds) (void)pthread_cond_destroy(&s->work);
    if (s->has_conds) (void)pthread_cond_destroy(&s->ended);
    if (s->has_mu) (void)pthread_mutex_destroy(&s->mu);
    if (s->has_read_mu) (void)pthread_mutex_destroy(&s->read_mu);
    if (s->lock_fd >= 0) (void)close(s->lock_fd); /* the lock goes with it; the file stays */
    free(s->path);
    free(s->folder);
    free(s->lock_path);
    mem_free(s->m, s);
}
