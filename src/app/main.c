/*
 * app/main.c - the program: parse, open an engine, run one command
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/commands.h"

static bool is_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/** What a command without options of its own was given besides. */
static int not_alone(const char *command, const char *what)
{
    static options o;

    o.command = command;
    o.json = strcmp(what, "--json") == 0;
    return report_usage(&o, "takes nothing, not", what);
}

/** Commands that need no engine. */
static bool run_simple(int argc, char **argv, int *code)
{
    const char *c = argc < 2 ? "help" : argv[1];
    bool version = strcmp(c, "version") == 0 || strcmp(c, "--version") == 0,
         alone = version || strcmp(c, "completion") == 0;

    *code = argc < 2 ? 2 : 0;
    if (is_help(c) || (alone && argc > 2 && is_help(argv[2])))
        options_help(argc > 2 && !alone ? argv[2] : NULL, false);
    else if (alone && argc > 2)
        *code = not_alone(c, argv[2]);
    else if (version)
        printf("cuzk %s\nCPU tables of this machine (* in use): %s\n", cuzk_version(),
               cuzk_cpu_tables());
    else if (alone)
        options_completion();
    else
        return false;
    return true;
}

/** The trace of a command that failed: it has told so already, and one more failure is a line more. */
static void write_trace(report *r, cuzk_engine *e, int code)
{
    if (code == 2 || report_trace(r, e) == CUZK_OK) return; /* usage: nothing was done */
    fprintf(stderr, "cuzk: trace: %s\n", cuzk_last_error()->message);
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
        .derived = o->derived != NULL && strcmp(o->derived, "auto") == 0,
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
    write_trace(r, e, code);
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

#ifdef __has_feature
#    if __has_feature(memory_sanitizer)
#        define NO_EARLY_CALLS /* its interceptors do not work so early */
#    endif
#endif
#ifndef NO_EARLY_CALLS
/** Descriptors 0 to 2 that whoever started us has closed are opened on nothing: else the next file would be stdout. That next
 *  one is opened by gRPC's library before main begins, so this comes before the libraries' own constructors. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void hold_streams(void)
{
    for (long fd = 0; fd <= 2; fd++)
        if (syscall(SYS_fcntl, fd, F_GETFD) < 0)
            (void)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR); /* the lowest that is free */
}
__attribute__((section(".preinit_array"), used)) static void (*const at_start)(void) = hold_streams;
#endif

static int run_command(int argc, char **argv)
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
    if (o.derived != NULL && strcmp(o.derived, "auto") != 0 && strcmp(o.derived, "off") != 0)
        return command_usage(&r, "--derived: auto or off expected");
    for (size_t i = 0; i < sizeof service_commands / sizeof service_commands[0]; i++)
        if (strcmp(o.command, service_commands[i].name) == 0) return service_commands[i].fn(&r);
    if (o.daemon) return command_bench_daemon(&r);
    return run(&r);
}

int main(int argc, char **argv)
{
    int code;

    code = run_command(argc, argv);
    if (fflush(stdout) == 0 && ferror(stdout) == 0) return code;
    fprintf(stderr, "cuzk: cannot write to standard output\n"); /* a full disk, say */
    return code == 0 ? 4 : code;
}
