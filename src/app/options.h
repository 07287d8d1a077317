/*
 * app/options.h - the command line as a struct
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include "cuzk.h"

#define OPT_MAX_ARGS 16384
#define OPT_MAX_FIELDS 64
#define OPT_MAX_LISTEN 16
#define OPT_MAX_OPTIONS 128

/** Everything that any command takes; each command says which it accepts (options.c). */
typedef struct options {
    const char *command;
    const char *args[OPT_MAX_ARGS]; /* positional */
    size_t n_args;
    const char *inputs[OPT_MAX_ARGS];
    size_t n_inputs;
    const char *statements[OPT_MAX_ARGS], *proofs[OPT_MAX_ARGS]; /* of an aggregate */
    size_t n_statements, n_proofs;
    cuzk_field fields[OPT_MAX_FIELDS]; /* of the statement */
    size_t n_fields;
    const char *kind, *statement, *params, *proof, *circuit, *trapdoors, *r1cs, *trace, *device,
        *cpu_table;
    const char *curve, *group, *srs, *derived, *beside;
    const char *sector_size, *output;
    const char *config, *log_level;                                             /* of the daemon */
    const char *address, *tls_ca, *request_id, *priority, *state, *public_json; /* of its clients */
    unsigned timeout_ms, limit, clients;
    bool asynchronous, daemon;
    const char *listen[OPT_MAX_LISTEN];
    size_t n_listen;
    int64_t registered, seed;
    unsigned sectors, layers, aggregate_version;
    int64_t partition; /* -1: not given, as registered */
    unsigned threads, log_n, reps;
    uint64_t memory, device_memory; /* bytes; 0: no limit */
    bool json, strict, check_only, deep, time, help, help_all, quiet;
    bool check, example;
    bool aggregate, circuit_proofs, trust_inputs;
    bool given[OPT_MAX_OPTIONS]; /* by place in the table of options.c */
} options;

/** Fills *o from argv; on a usage error prints it to stderr and returns false. */
bool options_parse(options *o, int argc, char **argv);
/** Of the options given, `form` (a way to call the command) takes those in `names`, each with its dashes ("FIELDS": all of a
 *  statement's; "COMMON": those of every command that computes). Others are a usage error, printed; then false. */
bool options_allow(const options *o, const char *form, const char *names);
/** Help of a command, or of the program when command is NULL. all: test options too. */
void options_help(const char *command, bool all);
/** Completion script for bash. */
void options_completion(void);

#endif
