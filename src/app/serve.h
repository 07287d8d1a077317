/*
 * app/serve.h - what the files of the daemon share: everything that is open, in the order of opening
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_SERVE_H
#define APP_SERVE_H

#include "app/config.h"
#include "app/http_routes.h"
#include "app/logger.h"
#include "app/notify.h"
#include "app/rpc.h"
#include "wire/access.h"

/** Only the main thread, but for what is passed to the servers. */
typedef struct daemon_state {
    config_source source;
    /* of the environment, read before there are threads; NULL: not set */
    const char *env_params, *env_journal, *env_notify, *env_watchdog, *env_watchdog_pid, *env_stall;
    config *started; /* as it was at the start: what SIGHUP does not take over is still that */
    config *config;  /* as it was read last */
    cuzk_engine *engine;
    logger *log;
    cuzk_service *service;
    access_list *access;
    rpc *rpc;
    http *http;
    notify notify;
    int signals; /* a signalfd */
} daemon_state;

/** Opens all of it; on failure what was opened is still there for daemon_close. */
/** starts: the service is there, and takes up its jobs next. */
typedef void (*daemon_starts_fn)(void *ctx, const cuzk_service *s);
CUZK_STATUS daemon_open(daemon_state *d, daemon_starts_fn starts);
/** Reads the configuration again and takes over what can be; a failure leaves all as it was, and is logged. */
void daemon_reload(daemon_state *d);
/** at_once: what runs stops at its next safe point. */
void daemon_close(daemon_state *d, bool at_once);
/** The calling thread's last failure as a line of the log, if there is a log yet. */
void daemon_log_failure(const daemon_state *d, const char *event);
/** Where it serves, to stdout. */
void daemon_print_addresses(const daemon_state *d);

#endif
