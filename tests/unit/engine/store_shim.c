/*
 * unit/engine/store_shim.c - see store_shim.h
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "store_shim.h"

#include "harness/harness.h"

#include <sqlite3.h>
#include <stdatomic.h>

typedef struct shim_file {
    sqlite3_file base;
    sqlite3_file *real; /* follows this struct */
} shim_file;

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    sqlite3_io_methods io;
    /* relaxed: only switches */
    atomic_ulong calls, fail_at; /* 0: none */
    atomic_bool for_good;        /* all from fail_at on */
    atomic_bool full;            /* writes fail with SQLITE_FULL */
} shim;

static bool fails_now(void)
{
    unsigned long call = ++shim.calls, at = shim.fail_at;

    if (at == 0) return false;
    return shim.for_good ? call >= at : call == at;
}

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((shim_file *)(void *)f)->real;
}

static int shim_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}
static int shim_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return fails_now() ? SQLITE_IOERR_READ : real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}
static int shim_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    if (fails_now()) return shim.full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    return real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
}
static int shim_truncate(sqlite3_file *f, sqlite3_int64 n)
{
    return fails_now() ? SQLITE_IOERR_TRUNCATE : real_of(f)->pMethods->xTruncate(real_of(f), n);
}
static int shim_sync(sqlite3_file *f, int flags)
{
    return fails_now() ? SQLITE_IOERR_FSYNC : real_of(f)->pMethods->xSync(real_of(f), flags);
}
static int shim_size(sqlite3_file *f, sqlite3_int64 *n)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), n);
}
static int shim_lock(sqlite3_file *f, int k)
{
    return real_of(f)->pMethods->xLock(real_of(f), k);
}
static int shim_unlock(sqlite3_file *f, int k)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), k);
}
static int shim_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}
static int shim_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}
static int shim_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}
static int shim_traits(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}
static int shim_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return fails_now() ? SQLITE_IOERR_SHMMAP
                       : real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
}
static int shim_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}
static void shim_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}
static int shim_shm_unmap(sqlite3_file *f, int del)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), del);
}

static int shim_open(sqlite3_vfs *v, sqlite3_filename name, sqlite3_file *f, int flags, int *out)
{
    shim_file *x = (shim_file *)(void *)f;
    int got;

    (void)v;
    memset(x, 0, sizeof *x);
    if (fails_now()) return SQLITE_CANTOPEN;
    x->real = (sqlite3_file *)(void *)(x + 1);
    got = shim.real->xOpen(shim.real, name, x->real, flags, out);
    if (x->real->pMethods != NULL) x->base.pMethods = &shim.io;
    return got;
}

void shim_install(void)
{
    shim.real = sqlite3_vfs_find(NULL);
    assert_non_null(shim.real);
    shim.vfs = *shim.real;
    shim.vfs.zName = "shim";
    shim.vfs.pNext = NULL;
    shim.vfs.szOsFile += (int)sizeof(shim_file);
    shim.vfs.xOpen = shim_open;
    shim.io = (sqlite3_io_methods){
        .iVersion = 2,
        .xClose = shim_close,
        .xRead = shim_read,
        .xWrite = shim_write,
        .xTruncate = shim_truncate,
        .xSync = shim_sync,
        .xFileSize = shim_size,
        .xLock = shim_lock,
        .xUnlock = shim_unlock,
        .xCheckReservedLock = shim_reserved,
        .xFileControl = shim_control,
        .xSectorSize = shim_sector,
        .xDeviceCharacteristics = shim_traits,
        .xShmMap = shim_shm_map,
        .xShmLock = shim_shm_lock,
        .xShmBarrier = shim_shm_barrier,
        .xShmUnmap = shim_shm_unmap,
    };
    assert_int_equal(sqlite3_vfs_register(&shim.vfs, 1), SQLITE_OK);
}

void shim_arm(unsigned long k, bool for_good, bool full)
{
    shim.fail_at = 0;
    shim.calls = 0;
    shim.for_good = for_good;
    shim.full = full;
    shim.fail_at = k;
}

unsigned long shim_calls(void)
{
    return shim.calls;
}
