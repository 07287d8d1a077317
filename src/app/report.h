/*
 * app/report.h - what a command says: results, warnings, errors, progress, exit codes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include "app/options.h"

#define REPORT_MAX_WARNINGS 64

typedef struct report {
    const options *o;
    bool terminal; /* stderr is one: progress is shown */
    bool bar_shown;
    bool traced; /* --trace is written, or failed to be */
    size_t n_warnings, dropped;
    struct {
        cuzk_class klass;
        char where[128], message[256];
    } warnings[REPORT_MAX_WARNINGS];
} report;

void report_init(report *r, const options *o);
void report_warn(void *ctx, cuzk_class klass, const char *where, const char *message);
void report_progress(void *ctx, const char *step, uint64_t done, uint64_t total);

/** Writes --trace, prints the outcome and returns the exit code. members: further JSON members of a success, each with its leading comma
 *  (",\"proof\":\"p.json\""), or ""; text: the line for people. */
int report_done(report *r, cuzk_engine *e, const char *members, const char *text);
/** What is wrong with the command line, `what` (or NULL) behind it; returns 2. */
int report_usage(const options *o, const char *text, const char *what);
/** The calling thread's last failure. */
int report_failure(report *r, cuzk_status st);
/** Takes the progress bar off the terminal. */
void report_clear(report *r);
/** A verifier's answer. */
int report_verdict(report *r, cuzk_engine *e, bool valid);
/** Writes --trace, if it is given and was not yet: before a result is told, so that a failure is the result. */
CUZK_STATUS report_trace(report *r, cuzk_engine *e);
/** The attribution table of the last job, to stderr. */
void report_time(cuzk_engine *e);
/** s as a JSON string, to stdout. */
void report_json_string(const char *s);

/** The signal that asked to stop, or 0. */
int report_signal(void);
void report_catch_signals(cuzk_engine *e);

#endif
