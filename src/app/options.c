/*
 * app/options.c - one table of commands, one of options; parsing, help and completion come from them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/options.h"
#include "app/report.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    IN_PROVE = 1,
    IN_VERIFY = 2,
    IN_SETUP = 4,
    IN_INSPECT = 8,
    IN_BENCH = 16,
    IN_GEN = 32,
    IN_PARAMS = 64,
    IN_AGGREGATE = 1 << 17,
    IN_ALL = 127 | IN_AGGREGATE, /* those that compute */
    IN_SERVE = 128,
    IN_STATUS = 1 << 8,
    IN_JOBS = 1 << 9,
    IN_SUBMIT = 1 << 10,
    IN_WAIT = 1 << 11,
    IN_CANCEL = 1 << 12,
    IN_PRELOAD = 1 << 13,
    IN_EVICT = 1 << 14,
    IN_TRACE = 1 << 15,
    IN_TOP = 1 << 16,
    IN_OBJECT = IN_STATUS | IN_JOBS | IN_SUBMIT | IN_WAIT | IN_CANCEL | IN_PRELOAD | IN_EVICT,
    IN_CLIENTS = IN_STATUS | IN_JOBS | IN_SUBMIT | IN_WAIT | IN_CANCEL | IN_PRELOAD | IN_EVICT |
                 IN_TRACE | IN_TOP,
    IN_STATEMENT = IN_PROVE | IN_VERIFY | IN_BENCH,
    IN_FIELDS = IN_STATEMENT | IN_SUBMIT,
};

typedef struct command_info {
    const char *name;
    unsigned bit;
    const char *usage, *text;
} command_info;

static const command_info commands[] = {
    {"prove", IN_PROVE,
     "cuzk prove KEY.zkey WITNESS.wtns PROOF.json PUBLIC.json [--r1cs FILE]\n"
     "       cuzk prove --kind porep|winning|window|update --input FILE... --statement S.json "
     "--params "
     "DIR "
     "--proof OUT",
     "Makes a proof, verifies it, and writes it. The first form takes snarkjs's files in snarkjs's "
     "order;\n"
     "the second a Filecoin statement with its inputs: a vanilla proof a sector or partition, or a "
     "PoRep's C1 output."},
    {"verify", IN_VERIFY,
     "cuzk verify VK.json PUBLIC.json PROOF.json\n"
     "       cuzk verify --kind porep|winning|window|update --statement S.json --params DIR "
     "--proof FILE\n"
     "       cuzk verify --aggregate --statements S.json... --params DIR [--srs FILE] --proof FILE",
     "Checks a proof. Exit 0: valid, 1: not valid, 3: a file was refused."},
    {"aggregate", IN_AGGREGATE,
     "cuzk aggregate --statements S.json... --proofs P... --params DIR [--srs FILE] -o OUT",
     "Makes one proof (SnarkPack) of many: of PoReps or of updates, one statement and one file of "
     "proofs a\n"
     "sector, in the same order. Each proof is verified before, and the aggregate before it is "
     "written."},
    {"setup", IN_SETUP,
     "cuzk setup CIRCUIT.r1cs KEY.zkey [VK.json]\n"
     "       cuzk setup --circuit window-2k --params DIR [--trapdoors T.json]",
     "Makes a key by a single party. For tests and demonstrations only: whoever runs it could "
     "forge proofs.\n"
     "With --trapdoors a setup that was stopped, or failed for want of memory or disk, goes on "
     "when the "
     "same\ncommand is given again."},
    {"gen", IN_GEN,
     "cuzk gen --kind KIND --sector-size 32GiB [--registered-proof N] [--layers N] [--sectors N] "
     "[--seed N] "
     "--output DIR",
     "Makes valid inputs and their statement.json, without sealing: for tests and benchmarks. "
     "Synthetic and\n"
     "non-interactive PoReps are sealed, up to 8 MiB."},
    {"params", IN_PARAMS,
     "cuzk params check [DIR] [--deep]\n"
     "       cuzk params derive --circuit window-2k [--params DIR]",
     "check: the key files of a folder: names, counts, digests against the network's list, every "
     "point.\n"
     "derive: writes a key's derived points beside it, with which the CPU proves a little faster "
     "(prove --derived);\n"
     "long, and goes on where it was stopped. DIR: $FIL_PROOFS_PARAMETER_CACHE, else "
     "/var/tmp/filecoin-proof-parameters."},
    {"inspect", IN_INSPECT, "cuzk inspect FILE",
     "Tells what a file is, its sections and sizes, and what is wrong with it."},
    {"bench", IN_BENCH,
     "cuzk bench [field|msm|ntt|pairing] [--curve C] [--group g1|g2] [--log-n N] [--reps N]\n"
     "       cuzk bench synth --circuit porep-32g [--reps N]\n"
     "       cuzk bench verify [--reps N]\n"
     "       cuzk bench aggregate [--log-n N] [--reps N]\n"
     "       cuzk bench prove --circuit porep-32g [--params DIR] [--reps N]\n"
     "       cuzk bench prove --circuit synthetic-22 [--curve C] [--reps N]\n"
     "       cuzk bench prove --circuit porep-32g --beside winning-32g [--params DIR] [--reps N]\n"
     "       cuzk bench prove KEY.zkey WITNESS.wtns [PROOF.json PUBLIC.json] [--r1cs FILE]\n"
     "       cuzk bench prove --kind porep|winning|window|update --input FILE... --statement "
     "S.json "
     "--params "
     "DIR [--proof OUT]\n"
     "       cuzk bench --daemon [--clients N] [--reps N] --kind porep|winning|window|update "
     "--input "
     "FILE... --statement S.json\n"
     "       cuzk bench --daemon [--clients N] [--reps N] --circuit NAME --input "
     "WITNESS.wtns|INPUT.json",
     "Times the heavy operations alone, the witness of a Filecoin circuit, verification of proofs "
     "of production's shapes, or whole proofs, from "
     "files "
     "to verified proof,\n"
     "with their attribution. --daemon: a running daemon under load of real jobs, as its clients "
     "see it."},
    {"serve", IN_SERVE,
     "cuzk serve [--config FILE] [--listen ADDRESS]... [--log-level LEVEL]\n"
     "       cuzk serve --check [--config FILE]\n"
     "       cuzk serve --example",
     "The daemon: proves what clients send over gRPC and HTTP, and keeps every accepted job until "
     "it is "
     "answered.\n"
     "SIGTERM drains and ends with 0, a second one stops at once; SIGHUP reloads. Also as `cuzk "
     "--config FILE`."},
    {"status", IN_STATUS, "cuzk status [--address ADDRESS] [--json]",
     "What the daemon does: devices, queues, keys, memory. --json: its /status document."},
    {"jobs", IN_JOBS, "cuzk jobs [--state STATE] [--kind KIND] [--limit N]",
     "The jobs that the daemon knows, newest first. STATE: queued, running, completed, failed, "
     "cancelled;\nKIND: porep-c2, snap-update, window-post, winning-post, groth16, aggregate."},
    {"submit", IN_SUBMIT,
     "cuzk submit --kind porep|winning|window|update --input FILE... --statement S.json [--proof "
     "OUT]\n"
     "       cuzk submit --circuit NAME --input WITNESS.wtns|INPUT.json [--proof PROOF.json] "
     "[--public PUBLIC.json]\n"
     "       cuzk submit --statements S.json... --proofs P... [--proof OUT]",
     "Hands a proof to the daemon and waits for it; with --async it prints the job's id instead."},
    {"wait", IN_WAIT, "cuzk wait JOB [--timeout MS] [--proof OUT]",
     "Waits for a job of the daemon, and writes its proof."},
    {"cancel", IN_CANCEL, "cuzk cancel JOB", "Asks the daemon to stop a job."},
    {"preload", IN_PRELOAD, "cuzk preload CIRCUIT",
     "Has the daemon load a circuit's key (porep-32g, or a circom circuit's name); ends when it "
     "can be used."},
    {"evict", IN_EVICT, "cuzk evict CIRCUIT", "Has the daemon give a key's memory back."},
    {"trace", IN_TRACE, "cuzk trace JOB [--output FILE]",
     "A job's steps and waits as a Chrome trace."},
    {"top", IN_TOP, "cuzk top [--reps N]",
     "Status and latest jobs, once a second on a terminal, else once."},
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

typedef enum option_type {
    T_FLAG,
    T_TEXT,
    T_UNSIGNED,
    T_I64,
    T_SIZE,
    T_LIST,
    T_FIELD,
    T_LISTEN
} option_type;

typedef struct option_info {
    const char *name, *metavar, *text;
    option_type type;
    size_t offset;
    unsigned in;
    bool hidden; /* tests alone: --help-all shows it */
} option_info;

#define AT(field) offsetof(options, field)
#define FIELD(name, metavar, text) \
    { \
        name, metavar, text, T_FIELD, 0, IN_FIELDS, false \
    }
static const option_info table[] = {
    {"--kind", "KIND", "Filecoin proof: porep, winning, window, update", T_TEXT, AT(kind),
     IN_FIELDS | IN_GEN, false},
    {"--kind", "KIND", "jobs of this kind alone", T_TEXT, AT(kind), IN_JOBS, false},
    {"--input", "FILE...",
     "vanilla proofs, one a sector, in the statement's order (* puts 10 before 2); porep: the C1\n"
     "                       output; update: one a partition",
     T_LIST, AT(inputs), IN_PROVE | IN_BENCH | IN_SUBMIT, false},
    {"--statement", "S.json", "what is proved", T_TEXT, AT(statement), IN_FIELDS, false},
    FIELD("--sector-size", "SIZE", "of the statement, as all to --comm-d-new: e.g. 32GiB"),
    FIELD("--layers", "N", "of the graph (porep)"),
    FIELD("--registered-seal-proof", "N", "0..19 (porep)"),
    FIELD("--registered-post-proof", "N", "0..14 (winning, window)"),
    FIELD("--registered-update-proof", "N", "0..4 (update)"),
    FIELD("--api-version", "V", "1.0.0, 1.1.0 or 1.2.0 (winning, window)"),
    FIELD("--miner-id", "N", "actor id of the prover"),
    FIELD("--sector-number", "N", "(porep)"),
    FIELD("--ticket", "HEX", "(porep)"),
    FIELD("--seed", "HEX", "interactive randomness (porep)"),
    FIELD("--comm-d", "HEX", "(porep)"),
    FIELD("--comm-r", "HEX", "(porep)"),
    FIELD("--randomness", "HEX", "(winning, window)"),
    FIELD("--comm-r-old", "HEX", "(update)"),
    FIELD("--comm-r-new", "HEX", "(update)"),
    FIELD("--comm-d-new", "HEX", "(update)"),
    {"--params", "DIR", "directory of the keys", T_TEXT, AT(params),
     IN_PROVE | IN_VERIFY | IN_SETUP | IN_BENCH | IN_AGGREGATE | IN_PARAMS, false},
    {"--derived", "auto|off",
     "auto: on the CPU, prove with the key's derived points where they are (default: off)", T_TEXT,
     AT(derived), IN_PROVE | IN_BENCH, false},
    {"--proof", "FILE", "proof to write (prove) or to check (verify)", T_TEXT, AT(proof),
     IN_PROVE | IN_VERIFY | IN_SUBMIT | IN_WAIT | IN_BENCH, false},
    {"--public", "FILE", "public signals to write (circom)", T_TEXT, AT(public_json),
     IN_SUBMIT | IN_WAIT, false},
    {"--statements", "S.json...", "what is aggregated, one a sector, in the network's order",
     T_LIST, AT(statements), IN_AGGREGATE | IN_VERIFY | IN_SUBMIT, false},
    {"--proofs", "P...", "their proofs, one file a sector, in the same order", T_LIST, AT(proofs),
     IN_AGGREGATE | IN_SUBMIT, false},
    {"--srs", "FILE",
     "powers for aggregates (default: v28-fil-inner-product-v1.srs in the directory of the keys)",
     T_TEXT, AT(srs), IN_AGGREGATE | IN_PROVE | IN_VERIFY | IN_BENCH, false},
    {"--aggregate-version", "N", "of SnarkPack: 1 or 2 (default 2)", T_UNSIGNED,
     AT(aggregate_version), IN_AGGREGATE | IN_VERIFY | IN_SUBMIT, false},
    {"--aggregate", NULL, "the proof is an aggregate of all --statements", T_FLAG, AT(aggregate),
     IN_VERIFY, false},
    {"--circuit-proofs", NULL,
     "of a non-interactive PoRep: its circuits' proofs, not their aggregate", T_FLAG,
     AT(circuit_proofs), IN_PROVE | IN_VERIFY | IN_BENCH, false},
    {"--trust-inputs", NULL,
     "do not verify the proofs before, nor the aggregate after (submit: the aggregate is)", T_FLAG,
     AT(trust_inputs), IN_AGGREGATE | IN_SUBMIT, false},
    {"--output", "OUT", "the aggregate to write (also -o)", T_TEXT, AT(output), IN_AGGREGATE,
     false},
    {"--partition", "K", "this partition alone", T_I64, AT(partition),
     IN_PROVE | IN_VERIFY | IN_BENCH | IN_SUBMIT, false},
    {"--r1cs", "FILE", "name the first constraint that does not hold", T_TEXT, AT(r1cs),
     IN_PROVE | IN_BENCH, false},
    {"--strict", NULL, "refuse redundant faults too", T_FLAG, AT(strict), IN_PROVE | IN_BENCH,
     false},
    {"--check-only", NULL, "stop after the native check of the inputs", T_FLAG, AT(check_only),
     IN_PROVE | IN_BENCH, false},
    {"--circuit", "NAME", "window-2k, winning-32g, porep-2k, ...", T_TEXT, AT(circuit),
     IN_SETUP | IN_BENCH | IN_PARAMS, false},
    {"--beside", "NAME",
     "prove: --reps jobs of this circuit come at random moments while --circuit is proved without "
     "end",
     T_TEXT, AT(beside), IN_BENCH, false},
    {"--daemon", NULL,
     "load the daemon with jobs: throughput, latency, where the time went; --circuit: a circom "
     "circuit of its\n                       configuration",
     T_FLAG, AT(daemon), IN_BENCH, false},
    {"--clients", "N", "--daemon: jobs at a time (default 1)", T_UNSIGNED, AT(clients), IN_BENCH,
     false},
    {"--circuit", "NAME", "a circom circuit of the daemon's configuration", T_TEXT, AT(circuit),
     IN_SUBMIT, false},
    {"--sector-size", "SIZE", "2KiB, 8MiB, 32GiB, ...", T_TEXT, AT(sector_size), IN_GEN, false},
    {"--registered-proof", "N", "registered proof number (default: the newest interactive one)",
     T_I64, AT(registered), IN_GEN, false},
    {"--sectors", "N", "sectors of a window (default 3)", T_UNSIGNED, AT(sectors), IN_GEN, false},
    {"--layers", "N", "layers of a PoRep, where it has others than its size's own", T_UNSIGNED,
     AT(layers), IN_GEN, false},
    {"--seed", "N", "other values for another seed (default 1)", T_I64, AT(seed), IN_GEN, false},
    {"--output", "DIR", "where the files go", T_TEXT, AT(output), IN_GEN, false},
    {"--output", "FILE", "write it here instead of to standard output", T_TEXT, AT(output),
     IN_TRACE, false},
    {"--async", NULL, "do not wait: print the job's id", T_FLAG, AT(asynchronous), IN_SUBMIT,
     false},
    {"--request-id", "ID", "the same id with the same request is the same job", T_TEXT,
     AT(request_id), IN_SUBMIT, false},
    {"--priority", "P", "low, normal, high or critical (default: by kind)", T_TEXT, AT(priority),
     IN_SUBMIT | IN_BENCH, false},
    {"--timeout", "MS", "wait at most so long; the job goes on", T_UNSIGNED, AT(timeout_ms),
     IN_SUBMIT | IN_WAIT, false},
    {"--state", "STATE", "jobs in this state alone", T_TEXT, AT(state), IN_JOBS, false},
    {"--limit", "N", "at most so many", T_UNSIGNED, AT(limit), IN_JOBS | IN_TOP, false},
    {"--address", "ADDRESS",
     "of the daemon: unix:///path, host:port, tls://host:port (default: daemon.listen of "
     "--config,\n                       else $CUZK_ADDRESS, else daemon.listen of the default "
     "configuration); a bearer token is taken from "
     "$CUZK_TOKEN",
     T_TEXT, AT(address), IN_CLIENTS | IN_BENCH, false},
    {"--tls-ca", "FILE", "PEM file that the daemon's certificate is checked against", T_TEXT,
     AT(tls_ca), IN_CLIENTS | IN_BENCH, false},
    {"--deep", NULL,
     "the subgroup of every point too (hours for a large key; goes on where it was stopped)",
     T_FLAG, AT(deep), IN_PARAMS, false},
    {"--curve", "C", "bn254 or bls12-381", T_TEXT, AT(curve), IN_BENCH, false},
    {"--group", "G", "g1 or g2", T_TEXT, AT(group), IN_BENCH, false},
    {"--log-n", "N", "size 2^N", T_UNSIGNED, AT(log_n), IN_BENCH, false},
    {"--reps", "N", "repetitions; --daemon: jobs (default 20)", T_UNSIGNED, AT(reps),
     IN_BENCH | IN_TOP, false},
    {"--device", "D",
     "auto, cpu, cuda[:N], cuda:all, or a list (default: auto, a GPU if there is one)", T_TEXT,
     AT(device), IN_ALL, false},
    {"--device-memory", "BYTES", "of the GPU to use at most, e.g. 16G", T_SIZE, AT(device_memory),
     IN_ALL, false},
    {"--threads", "N", "threads to use (default: all cores)", T_UNSIGNED, AT(threads), IN_ALL,
     false},
    {"--memory", "BYTES", "limit of memory to take, e.g. 512M, 4G", T_SIZE, AT(memory), IN_ALL,
     false},
    {"--cpu-table", "NAME", "arithmetic kernels to use (default: the best this machine runs)",
     T_TEXT, AT(cpu_table), IN_ALL, false},
    {"--trace", "FILE", "write a Chrome trace", T_TEXT, AT(trace), IN_ALL, false},
    {"--time", NULL, "print where the time went", T_FLAG, AT(time), IN_ALL | IN_SUBMIT | IN_WAIT,
     false},
    {"--json", NULL, "print one JSON object", T_FLAG, AT(json), IN_ALL | IN_OBJECT, false},
    {"--quiet", NULL, "no progress", T_FLAG, AT(quiet), IN_ALL | IN_SUBMIT, false},
    {"--trapdoors", "T.json",
     "setup: known secrets, so that anyone who has the file can forge proofs. prove: its r and s, "
     "which destroys\n"
     "                       zero knowledge: the witness can be learnt from the proof. Tests only.",
     T_TEXT, AT(trapdoors), IN_SETUP | IN_PROVE | IN_BENCH, true},
    {"--config", "FILE",
     "the configuration (default: /etc/cuzk/cuzk.toml, then /data/zk/cuzk.toml, then none)", T_TEXT,
     AT(config), IN_SERVE | IN_CLIENTS | IN_BENCH, false},
    {"--listen", "ADDRESS", "one more address for gRPC: unix:///path or host:port", T_LISTEN, 0,
     IN_SERVE, false},
    {"--log-level", "LEVEL", "error, warn, info or debug, instead of the configuration's", T_TEXT,
     AT(log_level), IN_SERVE, false},
    {"--check", NULL, "read the configuration, say what is wrong with it, and end", T_FLAG,
     AT(check), IN_SERVE, false},
    {"--example", NULL, "print a configuration with every key, its meaning and default", T_FLAG,
     AT(example), IN_SERVE, false},
    {"--help", NULL, "this text", T_FLAG, AT(help), IN_ALL | IN_SERVE | IN_CLIENTS, false},
    {"--help-all", NULL, "with the options for tests", T_FLAG, AT(help_all),
     IN_ALL | IN_SERVE | IN_CLIENTS, false},
};
#define N_OPTIONS (sizeof table / sizeof table[0])
_Static_assert(N_OPTIONS <= OPT_MAX_OPTIONS, "options.given has a place for each");

static const command_info *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

/** The option of this name that the command takes; else one that another takes. */
static const option_info *find_option(const char *name, unsigned in)
{
    const option_info *other = NULL;

    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (strcmp(table[i].name, name) != 0) continue;
        if ((table[i].in & in) != 0) return &table[i];
        other = &table[i];
    }
    return other;
}

static bool usage(const options *o, const char *text, const char *what)
{
    (void)report_usage(o, text, what);
    return false;
}

/** Decimal digits alone, at most max. */
static bool parse_u64(const char *s, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;

    if (*s == 0) return false;
    for (; *s != 0; s++) {
        if (*s < '0' || *s > '9') return false;
        uint64_t d = (uint64_t)(*s - '0');
        if (v > (max - d) / 10) return false;
        v = v * 10 + d;
    }
    *out = v;
    return true;
}

static bool parse_size(const char *s, uint64_t *out)
{
    static const char units[] = "KMGT";
    char digits[24];
    size_t n = strlen(s);
    unsigned shift = 0;

    if (n == 0 || n >= sizeof digits) return false;
    memcpy(digits, s, n + 1);
    const char *u = strchr(units, digits[n - 1]);
    if (u != NULL) {
        shift = 10 * (unsigned)(u - units + 1);
        digits[n - 1] = 0;
    }
    if (!parse_u64(digits, UINT64_MAX >> shift, out)) return false;
    *out <<= shift;
    return true;
}

static bool add_to_list(options *o, const option_info *info, const char *v)
{
    size_t *n = info->offset == AT(inputs)       ? &o->n_inputs
                : info->offset == AT(statements) ? &o->n_statements
                                                 : &o->n_proofs;
    const char **list = (const char **)(void *)((char *)o + info->offset);

    if (*n == OPT_MAX_ARGS) return usage(o, "too many values of", info->name);
    list[(*n)++] = v;
    return true;
}

static bool set_value(options *o, const option_info *info, const char *v)
{
    char *field = (char *)o + info->offset;
    uint64_t u;

    switch (info->type) {
    case T_TEXT: *(const char **)(void *)field = v; return true;
    case T_UNSIGNED:
        if (!parse_u64(v, 1u << 30, &u)) return usage(o, "not a number:", v);
        *(unsigned *)(void *)field = (unsigned)u;
        return true;
    case T_I64:
        if (!parse_u64(v, INT64_MAX, &u)) return usage(o, "not a number:", v);
        *(int64_t *)(void *)field = (int64_t)u;
        return true;
    case T_SIZE:
        if (!parse_size(v, &u)) return usage(o, "not a size (512M, 4G):", v);
        *(uint64_t *)(void *)field = u;
        return true;
    case T_LIST: return add_to_list(o, info, v);
    case T_FIELD:
        if (o->n_fields == OPT_MAX_FIELDS) return usage(o, "too many fields", NULL);
        o->fields[o->n_fields++] = (cuzk_field){info->name + 2, v};
        return true;
    case T_LISTEN:
        if (o->n_listen == OPT_MAX_LISTEN) return usage(o, "too many addresses", NULL);
        o->listen[o->n_listen++] = v;
        return true;
    case T_FLAG: *(bool *)(void *)field = true; return true;
    }
    return false;
}

/** Begins with a dash; "-" alone is a name. */
static bool is_option(const char *arg)
{
    return arg[0] == '-' && arg[1] != 0;
}

/** One option at argv[*i]; moves *i over its values. */
static bool parse_option(options *o, const command_info *c, int argc, char **argv, int *i)
{
    const option_info *info = find_option(argv[*i], c->bit);

    if (info == NULL) return usage(o, "unknown option", argv[*i]);
    if ((info->in & c->bit) == 0) return usage(o, "does not take", argv[*i]);
    o->given[info - table] = true;
    if (info->type == T_FLAG) return set_value(o, info, NULL);
    if (*i + 1 >= argc) return usage(o, "a value is missing after", argv[*i]);
    if (info->type != T_LIST) return set_value(o, info, argv[++*i]);
    if (is_option(argv[*i + 1])) return usage(o, "a value is missing after", argv[*i]);
    while (*i + 1 < argc && !is_option(argv[*i + 1]))
        if (!set_value(o, info, argv[++*i])) return false;
    return true;
}

bool options_parse(options *o, int argc, char **argv)
{
    memset(o, 0, sizeof *o);
    o->partition = -1;
    o->registered = -1;
    o->seed = 1;
    o->command = "";
    for (int i = 1; i < argc; i++) o->json = o->json || strcmp(argv[i], "--json") == 0;
    if (argc < 2) return usage(o, "no command given", NULL);
    const command_info *c = find_command(argv[1]);
    int first = 2;
    if (c == NULL && strcmp(argv[1], "--config") == 0) { /* as units of the Rust daemon call it */
        c = find_command("serve");
        first = 1;
    }
    if (c == NULL) return usage(o, "unknown command", argv[1]);
    o->command = c->name;
    for (int i = first; i < argc; i++) {
        static char output[] = "--output", help[] = "--help";
        if (strcmp(argv[i], "-o") == 0) argv[i] = output;
        if (strcmp(argv[i], "-h") == 0) argv[i] = help;
        if (is_option(argv[i])) {
            if (!parse_option(o, c, argc, argv, &i)) return false;
        } else {
            if (o->n_args == OPT_MAX_ARGS) return usage(o, "too many arguments", NULL);
            o->args[o->n_args++] = argv[i];
        }
    }
    return true;
}

/** names, between spaces, has this one. */
static bool is_among(const char *names, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = strstr(names, name); at != NULL; at = strstr(at + 1, name))
        if ((at == names || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) return true;
    return false;
}

bool options_allow(const options *o, const char *form, const char *names)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const option_info *t = &table[i];
        char text[96];

        if (!o->given[i] || is_among(names, t->name) ||
            (t->type == T_FIELD && is_among(names, "FIELDS")) ||
            ((t->in & IN_ALL) == IN_ALL && is_among(names, "COMMON")))
            continue;
        (void)snprintf(text, sizeof text, "%s does not take", form);
        return usage(o, text, t->name);
    }
    return true;
}

static void help_options(unsigned bit, bool all)
{
    printf("\nOptions:\n");
    for (size_t i = 0; i < N_OPTIONS; i++) {
        char left[40];
        if ((table[i].in & bit) == 0 || (table[i].hidden && !all)) continue;
        snprintf(left, sizeof left, "%s%s%s", table[i].name, table[i].metavar == NULL ? "" : " ",
                 table[i].metavar == NULL ? "" : table[i].metavar);
        printf("  %-29s %s\n", left, table[i].text);
    }
}

void options_help(const char *command, bool all)
{
    const command_info *c = command == NULL ? NULL : find_command(command);

    if (c != NULL) {
        printf("Usage: %s\n\n%s\n", c->usage, c->text);
        help_options(c->bit, all);
        return;
    }
    printf("cuzk - a prover of Groth16 proofs (Filecoin, circom)\n\nUsage: cuzk COMMAND "
           "...\n\nCommands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, strchr(commands[i].usage, ' ') + 1);
    printf("  %-10s print the version and the CPU tables of this machine\n", "version");
    printf("  %-10s print a completion script for bash\n", "completion");
    printf("\ncuzk COMMAND --help tells more. Exit codes: 0 done or valid, 1 not valid, 2 usage, 3 "
           "input refused,\n"
           "4 resources, 5 device, 6 no daemon or refused by it, 70 bug, 130/143 interrupted.\n");
}

void options_completion(void)
{
    printf("_cuzk()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]} words=\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='");
    for (size_t i = 0; i < N_COMMANDS; i++) printf("%s ", commands[i].name);
    printf("version completion help'\n    else\n        case $cmd in\n");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        printf("        %s) words='", commands[i].name);
        for (size_t k = 0; k < N_OPTIONS; k++)
            if ((table[k].in & commands[i].bit) != 0 && !table[k].hidden)
                printf("%s ", table[k].name);
        printf("' ;;\n");
    }
    printf(
        "        esac\n    fi\n    case $cur in\n    -*|'') COMPREPLY=($(compgen -W \"$words\" -- "
        "\"$cur\") "
        "$(compgen -f -- \"$cur\")) ;;\n"
        "    *) [ \"$COMP_CWORD\" -eq 1 ] && COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) || "
        "COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n    esac\n}\ncomplete -o filenames -F _cuzk "
        "cuzk\n");
}
