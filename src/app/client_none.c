/*
 * app/client_none.c - commands that talk to a daemon, of a build without the packages that they need
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/commands.h"

static int none(const report *r)
{
    return command_usage(r, "this cuzk was built without the service (CUZK_SERVICE)");
}

int command_bench_daemon(report *r)
{
    return none(r);
}

int command_status(report *r)
{
    return none(r);
}

int command_jobs(report *r)
{
    return none(r);
}

int command_submit(report *r)
{
    return none(r);
}

int command_wait(report *r)
{
    return none(r);
}

int command_cancel(report *r)
{
    return none(r);
}

int command_preload(report *r)
{
    return none(r);
}

int command_evict(report *r)
{
    return none(r);
}

int command_trace(report *r)
{
    return none(r);
}

int command_top(report *r)
{
    return none(r);
}
