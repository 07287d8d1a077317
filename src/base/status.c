/*
 * base/status.c - the calling thread's last failure, the names of statuses and classes, the version
 *
 * Also the three small exported functions that belong to no engine. Does not log.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef CUZK_VERSION_STRING /* the build knows it: one place, the project line of CMakeLists.txt */
#    define CUZK_VERSION_STRING "unversioned"
#endif

/* One per thread; `file` is never NULL so that a reader needs no check. */
static _Thread_local cuzk_error last = {.file = ""};

#define STATUS_NAME(name, text) #name,
#define STATUS_TEXT(name, text) text,
static const char *const status_names[] = {CUZK_STATUS_LIST(STATUS_NAME)};
static const char *const status_texts[] = {CUZK_STATUS_LIST(STATUS_TEXT)};
static const char *const class_names[] = {CUZK_CLASS_LIST(STATUS_TEXT)};
#undef STATUS_NAME
#undef STATUS_TEXT

#define N_STATUS (sizeof status_names / sizeof status_names[0])
#define N_CLASS (sizeof class_names / sizeof class_names[0])

/* dst = src, cut to fit cap >= 1 bytes; src may overlap dst. */
static void copy_text(char *dst, size_t cap, const char *src)
{
    size_t n = strnlen(src, cap - 1);

    memmove(dst, src, n);
    dst[n] = '\0';
}

const cuzk_error *cuzk_last_error(void)
{
    return &last;
}

const char *cuzk_status_name(cuzk_status st)
{
    return (size_t)st < N_STATUS ? status_names[st] : "CUZK_?";
}

const char *cuzk_status_text(cuzk_status st)
{
    return (size_t)st < N_STATUS ? status_texts[st] : "unknown status";
}

const char *cuzk_class_name(cuzk_class k)
{
    return (size_t)k < N_CLASS ? class_names[k] : "";
}

const char *cuzk_version(void)
{
    return CUZK_VERSION_STRING;
}

void cuzk_buffer_clear(cuzk_buffer *b)
{
    if (b == NULL) return;
    free(b->data);
    b->data = NULL;
    b->size = 0;
}

cuzk_class status_default_class(cuzk_status st)
{
    switch (st) {
    case CUZK_EDATA: return CUZK_CLASS_MALFORMED;
    case CUZK_ENOMEM:
    case CUZK_EBUDGET: return CUZK_CLASS_RESOURCE;
    case CUZK_EIO: return CUZK_CLASS_IO;
    case CUZK_EDEVICE: return CUZK_CLASS_DEVICE;
    case CUZK_EBUG: return CUZK_CLASS_BUG;
    case CUZK_OK:
    case CUZK_EINVAL:
    case CUZK_ECANCELLED:
    case CUZK_ETIMEOUT: break;
    }
    return CUZK_CLASS_NONE;
}

cuzk_status status_fail(const char *file, int line, cuzk_status st, cuzk_class klass,
                        const char *where, const char *fmt, ...)
{
    char text[sizeof last.message]; /* first here: an argument may be the last failure's own text */
    va_list ap;

    va_start(ap, fmt);
    if (vsnprintf(text, sizeof text, fmt, ap) < 0) text[0] = '\0';
    va_end(ap);
    last.status = st;
    last.klass = klass;
    last.file = file;
    last.line = line;
    copy_text(last.where, sizeof last.where, where == NULL ? "" : where);
    copy_text(last.message, sizeof last.message, text);
    return st;
}

void status_add_where(const char *fmt, ...)
{
    char outer[sizeof last.where];
    size_t n;
    va_list ap;

    va_start(ap, fmt);
    if (vsnprintf(outer, sizeof outer, fmt, ap) < 0) outer[0] = '\0';
    va_end(ap);
    if (outer[0] == '\0') return;
    if (last.where[0] != '\0') {
        n = strlen(outer);
        copy_text(outer + n, sizeof outer - n, ", ");
        n = strlen(outer);
        copy_text(outer + n, sizeof outer - n, last.where);
    }
    copy_text(last.where, sizeof last.where, outer);
}

cuzk_status status_adopt(const cuzk_error *e)
{
    if (e != &last) last = *e;
    return last.status;
}
