/*
 * app/main.c - the program: parse, open an engine, run one command
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "app/commands.h"

/** Commands that need no engine. */
static bool run_simple(int argc, char **argv, int *code)
{
    const char *c = argc < 2 ? "help" : argv[1];

    *code = 0;
    if (strcmp(c, "help") == 0 || strcmp(c, "--help") == 0 || strcmp(c, "-h") == 0) {
        options_help(argc > 2 ? argv[2] : NULL, false);
        if (argc < 2) *code = 2;
        return true;
    }
    if (strcmp(c, "version") == 0 || strcmp(c, "--version") == 0) {
        printf("cuzk %s\nCPU tables of this machine (* in use): %s\n", cuzk_version(),
               cuzk_cpu_tables());
        return true;
    }
    if (strcmp(c, "completion") == 0) {
        options_completion();
        return true;
    }
    return false;
}

static int write_trace(report *r, cuzk_engine *e, int code)
{
    cuzk_buffer b;

    if (r->o->trace == NULL) return code;
    cuzk_status st = cuzk_trace(e, &b);
    if (st == CUZK_OK) {
        st = file_write_whole(r->o->trace, b.data, b.size);
        cuzk_buffer_clear(&b);
    }
    if (st == CUZK_OK) return code;
    fprintf(stderr, "cuzk: trace: %s\n", cuzk_last_error()->message);
    return code == 0 ? 4 : code;
}

/** Whether a GPU has anything to do for this command: opening one takes half a second. */
static bool needs_device(const char *command)
{
    return strcmp(command, "prove") == 0 || strcmp(command, "setup") == 0 ||
           strcmp(command, "bench") == 0;
}

static int run(report *r)
{
    const options *o = r->o;
    cuzk_config config = {
        .threads = o->threads,
        .device = o->device == NULL && !needs_device(o->command) ? "cpu" : o->device,
        .device_memory = o->device_memory,
        .cpu_table = o->cpu_table,
        .memory_limit = o->memory,
        .warn = report_warn,
        .progress = report_progress,
        .ctx = r,
    };
    cuzk_engine *e;
    cuzk_status st = cuzk_engine_open(&e, &config);
    int code;

    if (st != CUZK_OK) return report_failure(r, st);
    report_catch_signals(e);
    if (strcmp(o->command, "prove") == 0)
        code = command_prove(r, e);
    else if (strcmp(o->command, "verify") == 0)
        code = command_verify(r, e);
    else if (strcmp(o->command, "aggregate") == 0)
        code = command_aggregate(r, e);
    else if (strcmp(o->command, "setup") == 0)
        code = command_setup(r, e);
    else if (strcmp(o->command, "gen") == 0)
        code = command_gen(r, e);
    else if (strcmp(o->command, "params") == 0)
        code = command_params(r, e);
    else if (strcmp(o->command, "inspect") == 0)
        code = command_inspect(r, e);
    else
        code = command_bench(r, e);
    report_catch_signals(NULL);
    code = write_trace(r, e, code);
    cuzk_engine_close(e);
    return code;
}

/** Commands that need no engine of their own: the daemon, and those that talk to one. */
static const struct {
    const char *name;
    int (*fn)(report *r);
} service_commands[] = {
    {"serve", command_serve},     {"status", command_status}, {"jobs", command_jobs},
    {"submit", command_submit},   {"wait", command_wait},     {"cancel", command_cancel},
    {"preload", command_preload}, {"evict", command_evict},   {"trace", command_trace},
    {"top", command_top},
};

int main(int argc, char **argv)
{
    static options o;
    static report r;
    int code;

    if (run_simple(argc, argv, &code)) return code;
    if (!options_parse(&o, argc, argv)) return 2;
    if (o.help || o.help_all) {
        options_help(o.command, o.help_all);
        return 0;
    }
    report_init(&r, &o);
    for (size_t i = 0; i < sizeof service_commands / sizeof service_commands[0]; i++)
        if (strcmp(o.command, service_commands[i].name) == 0) return service_commands[i].fn(&r);
    if (o.daemon) return command_bench_daemon(&r);
    return run(&r);
}
