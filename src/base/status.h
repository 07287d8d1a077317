/*
 * base/status.h - how failures travel: a status, and a record of the calling thread's last failure
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdlib.h>

#include "cuzk.h"

/** Records a failure of this thread and yields its status, so that `return FAIL(...)` reads well. */
__attribute__((format(printf, 6, 7))) cuzk_status status_fail(const char *file, int line,
                                                              cuzk_status st, cuzk_class klass,
                                                              const char *where, const char *fmt,
                                                              ...);
/** The class that a status has when none is given: EDATA malformed, EIO io, ENOMEM/EBUDGET resource, ... */
cuzk_class status_default_class(cuzk_status st);
/** Prefixes `where` of the last failure with an outer place ("sector 3" + "challenge 1" = "sector 3, challenge 1"). */
void status_add_where(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** Copies a failure recorded on another thread into this one and yields its status. */
cuzk_status status_adopt(const cuzk_error *e);

/* The comma shows the compiler which status comes out: it then sees that TRY leaves. `st` is evaluated twice. */
#define FAIL(st, ...) \
    ((void)status_fail(__FILE__, __LINE__, (st), status_default_class(st), "", __VA_ARGS__), (st))
/** An input is wrong: class without its prefix (SHAPE), place, text. Yields CUZK_EDATA. */
#define FAIL_DATA(k, where, ...) \
    ((void)status_fail(__FILE__, __LINE__, CUZK_EDATA, CUZK_CLASS_##k, (where), __VA_ARGS__), \
     CUZK_EDATA)

#define TRY(expr) \
    do { \
        cuzk_status try_st_ = (expr); \
        if (try_st_ != CUZK_OK) return try_st_; \
    } while (0)
#define TRY_OUT(expr) \
    do { \
        st = (expr); \
        if (st != CUZK_OK) goto out; \
    } while (0)

/** An invariant; checked in builds with CUZK_VERIFY, nothing elsewhere. Never judges input. */
#ifdef CUZK_VERIFY
#    define VERIFY(cond) ((cond) ? (void)0 : abort())
#else
#    define VERIFY(cond) ((void)0)
#endif

#endif
