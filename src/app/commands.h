/*
 * app/commands.h - one function a command; each returns the exit code
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_COMMANDS_H
#define APP_COMMANDS_H

#include "app/report.h"
#include "base/file.h"

int command_prove(report *r, cuzk_engine *e);
int command_verify(report *r, cuzk_engine *e);
int command_aggregate(report *r, cuzk_engine *e);
int command_setup(report *r, cuzk_engine *e);
int command_gen(report *r, cuzk_engine *e);
int command_params(report *r, cuzk_engine *e);
int command_inspect(report *r, cuzk_engine *e);
int command_bench(report *r, cuzk_engine *e);
/** The daemon; opens an engine of its own. */
int command_serve(report *r);

/* Those that talk to a daemon. */
int command_bench_daemon(report *r);
int command_status(report *r);
int command_jobs(report *r);
int command_submit(report *r);
int command_wait(report *r);
int command_cancel(report *r);
int command_preload(report *r);
int command_evict(report *r);
int command_trace(report *r);
int command_top(report *r);

/** Prints a usage error of this command; returns 2. */
int command_usage(const report *r, const char *text);

#endif
