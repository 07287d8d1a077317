/*
 * app/logger.h - log lines: one event a line, as text or JSON, written by a thread of their own
 *
 * Who logs never waits for the sink: a line is put into a ring of fixed size, and dropped when that is full; what was dropped is
 * counted and told in a line `log_dropped`. An event that comes too often is held back, and `log_suppressed` tells how many
 * lines that were. Values of keys that name secrets (token, authorization, password, secret) are not written.
 *
 *   text   2026-11-30T10:00:00.123Z warn store_failed what=admit message="disk full"
 *   json   {"time":"2026-11-30T10:00:00.123Z","level":"warn","event":"store_failed","what":"admit","message":"disk full"}
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_LOGGER_H
#define APP_LOGGER_H

#include "base/bytes.h"
#include "base/span.h"
#include "cuzk_service.h"

#define LOGGER_RING ((size_t)1 << 20) /* bytes of lines that wait */
#define LOGGER_LINE 2048              /* bytes of a line; longer ones are cut */
#define LOGGER_BURST 200u             /* lines of one event in a window */
#define LOGGER_WINDOW_MS 10000u

typedef struct logger logger;

typedef struct logger_config {
    int fd; /* stays open; the sink waits for it, nobody else */
    bool json;
    bool journal; /* text lines begin with <3>..<7>, which systemd's journal takes as their level */
    int level;    /* CUZK_LOG_ERROR .. CUZK_LOG_DEBUG: the last that is written */
    span_rec *rec; /* may be NULL; outlives the logger */
} logger_config;

CUZK_STATUS logger_open(logger **out, const logger_config *c);
/** Writes what waits, for a second at most. NULL is fine. */
void logger_close(logger *l);
/** From the next line on. */
void logger_set(logger *l, int level, bool json);
/** A cuzk_log_fn: ctx is the logger (NULL: nothing). */
void logger_line(void *ctx, int level, const char *event, const cuzk_log_field *f, size_t n);
/** The same with one text and one number, each left out when its key is NULL. */
void logger_say(logger *l, int level, const char *event, const char *key, const char *text,
                const char *number_key, int64_t number);
/** Everything so far is written, or a second has passed. */
void logger_flush(logger *l);
/** Lines written by level, suppressed, dropped: Prometheus text. */
void logger_metrics(logger *l, bytes_out *out);
/** CUZK_LOG_... of a name that config takes. */
int logger_level(const char *name);

#endif
