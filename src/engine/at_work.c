/*
 * engine/at_work.c - rows of work in a file, and the strikes that are counted from what a dead process left of them
 *
 * The file: a header, rows of work (the SHA-256 of a job's id but for its last byte, or zeros), rows of what is held against jobs. All of it is
 * allocated when it is made, and each change is one write of one row, by whoever owns the row.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/at_work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file_fail.h"
#include "base/hash.h"

#define MAGIC "cuzkwork"
#define VERSION 1u
#define KEY 32u
#define OUTSIDE (KEY - 1) /* the byte that tells: 1 */
#define ROWS 1024u        /* of work: jobs that are let in, and their partitions; named from 1 */
#define HELD 256u         /* jobs that something is held against */
#define BOOT_ID 36u       /* /proc/sys/kernel/random/boot_id */
#define MAX_QUARTERS 4000u

typedef struct work_head {
    char magic[8];
    uint32_t version;
    uint32_t signal; /* of a crash; 0: none was written down */
    uint64_t oom_kills;
    char boot[40];
} work_head;

typedef struct work_held {
    uint8_t key[KEY]; /* zeros: a free row */
    uint32_t quarters, deaths, last, signal;
    uint64_t order; /* the latest has the highest */
} work_held;

typedef struct work_file {
    work_head head;
    uint8_t rows[ROWS][KEY];
    work_held held[HELD];
} work_file;
_Static_assert(sizeof(work_file) == 64 + ROWS * KEY + HELD * 56, "as docs/formats/work.md says");

struct at_work {
    /* fixed after init */
    int fd;
    mem *m;
    pthread_mutex_t mu;
    /* guarded by mu */
    bool taken[ROWS];
    uint32_t next; /* where a free row is looked for first */
    unsigned n_held;
    work_held held[HELD];
};

static const uint8_t zeros[KEY];

const char *work_end_name(work_end e)
{
    static const char *const names[] = {"", "killed", "out of memory", "crashed"};
    return names[e];
}

/* ---- what the machine says ---- */

/* The kernel's count of processes killed for want of memory, since the boot; 0 where it tells none. */
static uint64_t oom_kills(void)
{
    FILE *f = fopen("/proc/vmstat", "re");
    unsigned long long n = 0;
    char line[128];

    if (f == NULL) return 0;
    while (fgets(line, sizeof line, f) != NULL) {
        const char *p = line + strlen("oom_kill ");

        if (strncmp(line, "oom_kill ", strlen("oom_kill ")) != 0) continue;
        for (n = 0; *p >= '0' && *p <= '9'; p++) n = n * 10 + (unsigned)(*p - '0');
        break;
    }
    (void)fclose(f); /* only read */
    return n;
}

static void look_at_machine(work_head *h)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    memset(h, 0, sizeof *h);
    memcpy(h->magic, MAGIC, sizeof h->magic);
    h->version = VERSION;
    h->oom_kills = oom_kills();
    if (f == NULL) return; /* every boot is the same one */
    if (fread(h->boot, 1, BOOT_ID, f) != BOOT_ID) memset(h->boot, 0, sizeof h->boot);
    (void)fclose(f); /* only read */
}

/* ---- counting ---- */

static work_held *find(work_held *held, const uint8_t key[KEY])
{
    for (unsigned i = 0; i < HELD; i++)
        if (memcmp(held[i].key, key, KEY) == 0) return &held[i];
    return NULL;
}

/* A row for this job: its own, a free one, or that of the one which was counted longest ago. */
static work_held *row_for(work_held *held, const uint8_t key[KEY])
{
    work_held *h = find(held, key), *oldest = &held[0];

    if (h == NULL) h = find(held, zeros);
    if (h != NULL) return h;
    for (unsigned i = 1; i < HELD; i++)
        if (held[i].order < oldest->order) oldest = &held[i];
    memset(oldest, 0, sizeof *oldest);
    return oldest;
}

static uint64_t latest_order(const work_held *held)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < HELD; i++)
        if (held[i].order > n) n = held[i].order;
    return n;
}

/* The jobs of the rows once each, those in which the work was done here or not; returns how many. */
static unsigned one_each(uint8_t out[ROWS][KEY], uint8_t rows[ROWS][KEY], uint8_t outside)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ROWS; i++) {
        bool again = memcmp(rows[i], zeros, KEY) == 0 || rows[i][OUTSIDE] != outside;

        for (unsigned k = 0; k < n && !again; k++) again = memcmp(rows[i], out[k], OUTSIDE) == 0;
        if (again) continue;
        memcpy(out[n], rows[i], KEY);
        out[n++][OUTSIDE] = 0;
    }
    return n;
}

static work_end how_it_ended(const work_head *was, const work_head *now)
{
    if (memcmp(was->boot, now->boot, sizeof now->boot) != 0) return WORK_ENDED;
    if (was->signal != 0) return WORK_CRASHED;
    return was->oom_kills != now->oom_kills ? WORK_OUT_OF_MEMORY : WORK_KILLED;
}

/* What is held against the jobs that were at work. */
static void count(work_file *f, uint8_t jobs[ROWS][KEY], const work_head *now, work_before *before)
{
    uint64_t order = latest_order(f->held);

    *before = (work_before){.jobs = one_each(jobs, f->rows, 0), .end = how_it_ended(&f->head, now)};
    if (before->jobs == 0) before->jobs = one_each(jobs, f->rows, 1);
    if (before->jobs == 0 && f->head.signal == 0) before->end = WORK_ENDED;
    if (before->end == WORK_ENDED) return;
    if (before->end == WORK_CRASHED) before->signal = (int)f->head.signal;
    for (unsigned i = 0; i < before->jobs; i++) {
        work_held *h = row_for(f->held, jobs[i]);
        bool whole =
            before->end != WORK_KILLED && (before->jobs == 1 || h->quarters < AT_WORK_STRIKE);

        memcpy(h->key, jobs[i], KEY);
        if (h->quarters < MAX_QUARTERS) h->quarters += whole ? AT_WORK_STRIKE : 1;
        if (h->deaths < MAX_QUARTERS) h->deaths++;
        h->last = before->end;
        h->signal = (uint32_t)before->signal;
        h->order = ++order;
    }
}

/* ---- the file ---- */

static cuzk_status write_at(const at_work *w, const char *path, uint64_t off, const void *p,
                            size_t n)
{
    return file_write_at(w->fd, path, off, p, n);
}

/* As it was left; another file, or none, is one in which nothing is. */
static void read_file(const at_work *w, work_file *f)
{
    ssize_t n = pread(w->fd, f, sizeof *f, 0);

    if (n == (ssize_t)sizeof *f && memcmp(f->head.magic, MAGIC, sizeof f->head.magic) == 0 &&
        f->head.version == VERSION)
        return;
    memset(f, 0, sizeof *f);
}

static cuzk_status take_over(at_work *w, const char *path, work_before *before)
{
    cuzk_status st = CUZK_OK;
    work_file *f = mem_new(w->m, 2, sizeof *f, &st); /* the second one is scratch */
    work_head now;

    if (f == NULL) return st;
    look_at_machine(&now);
    read_file(w, f);
    count(f, f[1].rows, &now, before);
    f->head = now;
    memset(f->rows, 0, sizeof f->rows);
    memcpy(w->held, f->held, sizeof w->held);
    for (unsigned i = 0; i < HELD; i++)
        if (memcmp(w->held[i].key, zeros, KEY) != 0) w->n_held++;
    st = write_at(w, path, 0, f, sizeof *f);
    if (st == CUZK_OK && ftruncate(w->fd, (off_t)sizeof *f) != 0)
        st = file_fail("cannot write", path, errno);
    mem_free(w->m, f);
    return st;
}

cuzk_status at_work_open(at_work **out, const char *path, mem *m, work_before *before)
{
    cuzk_status st = CUZK_OK;
    at_work *w = mem_new(m, 1, sizeof *w, &st);

    memset(before, 0, sizeof *before);
    if (w == NULL) return st;
    w->m = m;
    if (pthread_mutex_init(&w->mu, NULL) != 0) {
        mem_free(m, w);
        return FAIL(CUZK_ENOMEM, "%s: no lock", path);
    }
    w->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    st = w->fd < 0 ? file_fail("cannot open", path, errno) : take_over(w, path, before);
    if (st != CUZK_OK) {
        cuzk_error why = *cuzk_last_error();

        at_work_close(w);
        return status_adopt(&why);
    }
    *out = w;
    return CUZK_OK;
}

void at_work_close(at_work *w)
{
    if (w == NULL) return;
    if (w->fd >= 0) (void)close(w->fd); /* what is not there is not counted */
    (void)pthread_mutex_destroy(&w->mu);
    mem_free(w->m, w);
}

/* ---- work ---- */

static void key_of(uint8_t key[KEY], const char *job_id)
{
    sha256(key, job_id, strlen(job_id));
    key[OUTSIDE] = 0;
}

static void write_row(const at_work *w, uint32_t row, const uint8_t key[KEY])
{
    (void)(pwrite(w->fd, key, KEY, (off_t)(offsetof(work_file, rows) + (size_t)(row - 1) * KEY)) ==
           KEY);
}

uint32_t at_work_begin(at_work *w, const char *job_id, bool outside)
{
    uint32_t row = AT_WORK_NONE;
    uint8_t key[KEY];

    if (w == NULL) return row;
    key_of(key, job_id);
    key[OUTSIDE] = outside;
    (void)pthread_mutex_lock(&w->mu);
    for (uint32_t i = 0; i < ROWS && row == AT_WORK_NONE; i++) {
        uint32_t at = (w->next + i) % ROWS;

        if (w->taken[at]) continue;
        w->taken[at] = true;
        w->next = at + 1;
        row = at + 1;
    }
    (void)pthread_mutex_unlock(&w->mu);
    if (row != AT_WORK_NONE) write_row(w, row, key);
    return row;
}

void at_work_end(at_work *w, uint32_t row)
{
    if (w == NULL || row == AT_WORK_NONE) return;
    write_row(w, row, zeros);
    (void)pthread_mutex_lock(&w->mu);
    w->taken[row - 1] = false;
    (void)pthread_mutex_unlock(&w->mu);
}

/* ---- what is held against jobs ---- */

work_strikes at_work_strikes(at_work *w, const char *job_id)
{
    work_strikes s = {0};
    const work_held *h = NULL;
    uint8_t key[KEY];

    if (w == NULL) return s;
    key_of(key, job_id);
    (void)pthread_mutex_lock(&w->mu);
    if (w->n_held != 0) h = find(w->held, key);
    if (h != NULL)
        s = (work_strikes){h->quarters, h->deaths,
                           h->last > WORK_CRASHED ? WORK_KILLED : (work_end)h->last,
                           (int)h->signal};
    (void)pthread_mutex_unlock(&w->mu);
    return s;
}

void at_work_forgive(at_work *w, const char *job_id, unsigned quarters)
{
    work_held now, *h;
    uint8_t key[KEY];
    size_t at = 0;
    bool changed;

    if (w == NULL) return;
    key_of(key, job_id);
    (void)pthread_mutex_lock(&w->mu);
    h = find(w->held, key);
    changed = h != NULL && (h->quarters > quarters || quarters == 0);
    if (changed) {
        at = (size_t)(h - w->held);
        if (quarters == 0) {
            memset(h, 0, sizeof *h);
            w->n_held--;
        }
        h->quarters = quarters;
        h->deaths = quarters / AT_WORK_STRIKE;
        now = *h;
    }
    (void)pthread_mutex_unlock(&w->mu);
    if (!changed) return;
    (void)(pwrite(w->fd, &now, sizeof now, (off_t)(offsetof(work_file, held) + at * sizeof now)) ==
           (ssize_t)sizeof now);
}

void at_work_crashed(const at_work *w, int signal)
{
    uint32_t n = (uint32_t)signal;

    if (w == NULL) return;
    (void)(pwrite(w->fd, &n, sizeof n, (off_t)offsetof(work_file, head.signal)) ==
           (ssize_t)sizeof n);
}
