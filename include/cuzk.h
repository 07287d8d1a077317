/*
 * cuzk.h - the public face of cuzk: statuses, errors, an engine that proves and verifies
 *
 * Everything the command line, the daemon and an embedder may use. Functions are safe to call
 * from several threads on one engine unless their comment says otherwise.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CUZK_H
#define CUZK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statuses: one list, from which enum, names and texts are made (house style section 6) ---- */

#define CUZK_STATUS_LIST(X) \
    X(CUZK_OK, "ok") \
    X(CUZK_EINVAL, "the caller broke the contract") \
    X(CUZK_EDATA, "bytes from outside are wrong") \
    X(CUZK_ENOMEM, "out of memory") \
    X(CUZK_EBUDGET, "no memory budget") \
    X(CUZK_EIO, "file or socket failed") \
    X(CUZK_EDEVICE, "device failed") \
    X(CUZK_ECANCELLED, "cancelled") \
    X(CUZK_ETIMEOUT, "too late") \
    X(CUZK_EBUG, "an invariant is broken")

#define CUZK_STATUS_ENUM(name, text) name,
typedef enum cuzk_status { CUZK_STATUS_LIST(CUZK_STATUS_ENUM) } cuzk_status;
#undef CUZK_STATUS_ENUM

/** Why an input was refused: the `class` of spec/cli.md. */
#define CUZK_CLASS_LIST(X) \
    X(CUZK_CLASS_NONE, "") \
    X(CUZK_CLASS_MALFORMED, "malformed") \
    X(CUZK_CLASS_SHAPE, "shape") \
    X(CUZK_CLASS_INCONSISTENT, "inconsistent") \
    X(CUZK_CLASS_STATEMENT, "statement") \
    X(CUZK_CLASS_REDUNDANT, "redundant") \
    X(CUZK_CLASS_UNSATISFIED, "unsatisfied") \
    X(CUZK_CLASS_LIMIT, "limit") \
    X(CUZK_CLASS_IO, "io") \
    X(CUZK_CLASS_RESOURCE, "resource") \
    X(CUZK_CLASS_DEVICE, "device") \
    X(CUZK_CLASS_BUG, "bug")

#define CUZK_CLASS_ENUM(name, text) name,
typedef enum cuzk_class { CUZK_CLASS_LIST(CUZK_CLASS_ENUM) } cuzk_class;
#undef CUZK_CLASS_ENUM

#if defined(__GNUC__)
#    define CUZK_STATUS __attribute__((warn_unused_result)) cuzk_status
#    define CUZK_API __attribute__((visibility("default")))
#else
#    define CUZK_STATUS cuzk_status
#    define CUZK_API
#endif

/** The last failure of the calling thread. `where` is the place inside the input ("sector 0, challenge 3"). */
typedef struct cuzk_error {
    cuzk_status status;
    cuzk_class klass;
    char where[128];
    char message[512];
    const char *file; /* source file and line that noticed, for bug reports */
    int line;
} cuzk_error;

/** The calling thread's last failure; valid until its next failing call. Never NULL. */
CUZK_API const cuzk_error *cuzk_last_error(void);
CUZK_API const char *cuzk_status_name(cuzk_status st);
CUZK_API const char *cuzk_status_text(cuzk_status st);
CUZK_API const char *cuzk_class_name(cuzk_class k);
CUZK_API const char *cuzk_version(void);

/* ---- buffers that the library hands out ---- */

/** Bytes owned by the caller after a successful call; give back with cuzk_buffer_clear. NUL-terminated beyond size. */
typedef struct cuzk_buffer {
    uint8_t *data;
    size_t size;
} cuzk_buffer;

CUZK_API void cuzk_buffer_clear(cuzk_buffer *b);

/* ---- engine ---- */

typedef struct cuzk_engine cuzk_engine;

/** A warning about an input that is accepted all the same. */
typedef void (*cuzk_warn_fn)(void *ctx, cuzk_class klass, const char *where, const char *message);
/** Progress of a long step, 0 <= done <= total; called at most some ten times a second. */
typedef void (*cuzk_progress_fn)(void *ctx, const char *step, uint64_t done, uint64_t total);

typedef enum cuzk_missing_device {
    CUZK_MISSING_FAILS,
    CUZK_MISSING_WARNS, /* as long as another of them can be used */
    CUZK_MISSING_CPU,   /* a warning, and the CPU when none of them can be used */
} cuzk_missing_device;

typedef struct cuzk_config {
    unsigned threads; /* 0: as many as the machine has */
    /** NULL or "auto": a GPU, and the CPU where none can be used (a warning says why, where there is a driver). "cpu", "cuda",
     *  "cuda:N", "cuda:UUID", "cuda:all"; or several, comma-separated: proofs are made on each of them, anything else on the
     *  first. */
    const char *device;
    bool all_gpus;               /* "auto" and "cuda": all GPUs, not one alone */
    cuzk_missing_device missing; /* what `device` names and cannot be used; "auto": a warning */
    uint64_t device_memory;      /* bytes of each GPU's memory to use at most; 0: all */
    const char
        *cpu_table; /* NULL: the best that this machine runs; else a name from cuzk_cpu_tables */
    bool derived;   /* on the CPU, prove with a key's derived points where they lie beside it */
    uint64_t
        memory_limit;  /* bytes of host memory the engine may use; 0: no limit but the machine's */
    cuzk_warn_fn warn; /* may be NULL */
    cuzk_progress_fn progress; /* may be NULL */
    void *ctx;                 /* for warn and progress */
} cuzk_config;

CUZK_API CUZK_STATUS cuzk_engine_open(cuzk_engine **out, const cuzk_config *config);
CUZK_API void cuzk_engine_close(cuzk_engine *e);
/** Asks everything that runs on this engine to stop; async-signal-safe. */
CUZK_API void cuzk_engine_cancel(cuzk_engine *e);

/** Names of the CPU tables, space separated, those that this machine runs first marked by a '*' suffix when chosen. */
CUZK_API const char *cuzk_cpu_tables(void);

/** Fixed randomness, for tests alone: 32 little-endian canonical bytes each. */
typedef struct cuzk_fixed_rs {
    uint8_t r[32], s[32];
} cuzk_fixed_rs;

/* ---- circom (snarkjs files) ---- */

typedef struct cuzk_circom_prove_args {
    const char *zkey, *wtns;
    const char *r1cs;           /* NULL: not checked row by row */
    const cuzk_fixed_rs *fixed; /* NULL: r and s from the operating system */
} cuzk_circom_prove_args;

/** Proves, verifies the proof, and gives proof.json and public.json as snarkjs writes them. */
CUZK_API CUZK_STATUS cuzk_circom_prove(cuzk_engine *e, const cuzk_circom_prove_args *args,
                                       cuzk_buffer *proof_json, cuzk_buffer *public_json);
/** *valid = the pairing holds. Ill-formed files are CUZK_EDATA. */
CUZK_API CUZK_STATUS cuzk_circom_verify(cuzk_engine *e, const char *vk_json,
                                        const char *public_json, const char *proof_json,
                                        bool *valid);
/** Single-party setup: writes zkey and, where vk_json is not NULL, the verification key. Tests and demos only. */
CUZK_API CUZK_STATUS cuzk_circom_setup(cuzk_engine *e, const char *r1cs, const char *zkey,
                                       const char *vk_json);

/* ---- Filecoin ---- */

/** A field of a statement: "miner_id" or "miner-id", and its value as a person types it: digits, hexadecimal digits, "32GiB". */
typedef struct cuzk_field {
    const char *name, *value;
} cuzk_field;

typedef struct cuzk_filecoin_args {
    const char *kind;      /* "porep", "winning", "window", "update" */
    const char *statement; /* file: statement.json, or Curio's form; NULL: fields tell all of it */
    const cuzk_field *fields; /* instead of the statement's own */
    size_t n_fields;
    const char *const
        *inputs; /* prove: one file a sector (PoSt) or partition (update); the C1 (porep) */
    size_t n_inputs;
    const char *params_dir; /* where the keys are */
    int64_t partition;      /* -1: all */
    bool strict;            /* refuse redundant faults */
    bool check_only;        /* stop after the native check */
    const cuzk_fixed_rs *fixed;
    bool
        circuit_proofs; /* of a non-interactive PoRep: its partitions' proofs, not their aggregate */
    const char *srs;    /* powers for that aggregate; NULL: the network's file in params_dir */
} cuzk_filecoin_args;

/** proof: 192 bytes a partition, concatenated; a non-interactive PoRep's: their aggregate; empty with check_only. */
CUZK_API CUZK_STATUS cuzk_filecoin_prove(cuzk_engine *e, const cuzk_filecoin_args *args,
                                         cuzk_buffer *proof);
CUZK_API CUZK_STATUS cuzk_filecoin_verify(cuzk_engine *e, const cuzk_filecoin_args *args,
                                          const char *proof, bool *valid);
typedef struct cuzk_aggregate_args {
    const char *const
        *statements; /* files, one a sector, in the order that the network will have them */
    size_t n_statements;
    const char *const *proofs; /* files, one a sector: its partitions' proofs, 192 bytes each */
    size_t n_proofs;
    const char *params_dir; /* where the circuit's .vk is */
    const char *srs;        /* powers; NULL: the network's file in params_dir */
    unsigned version;       /* of SnarkPack: 1 or 2 */
    bool trust_inputs;      /* proofs are not verified before, and the aggregate not after */
} cuzk_aggregate_args;

/** One proof (SnarkPack) of all PoReps, or of all updates. Refuses a proof that does not verify, and names it. */
CUZK_API CUZK_STATUS cuzk_filecoin_aggregate(cuzk_engine *e, const cuzk_aggregate_args *args,
                                             cuzk_buffer *aggregate);
/** args: all but proofs and trust_inputs. Ill-formed files, and statements that do not match in number, are CUZK_EDATA. */
CUZK_API CUZK_STATUS cuzk_filecoin_verify_aggregate(cuzk_engine *e, const cuzk_aggregate_args *args,
                                                    const char *aggregate, bool *valid);
/** Writes .params, .vk, .meta and .digest of a circuit ("window-2k") under the network's names.
 *  trapdoors: T.json for a reproducible key (a call that was cancelled or killed is gone on with by the next), or NULL for
 *  fresh secrets that are forgotten. */
CUZK_API CUZK_STATUS cuzk_filecoin_setup(cuzk_engine *e, const char *circuit,
                                         const char *params_dir, const char *trapdoors);

typedef struct cuzk_gen_args {
    const char *kind; /* "porep", "winning", "window", "update" */
    uint64_t sector_size;
    int64_t registered; /* registered proof; -1: the newest interactive one */
    uint32_t layers;    /* of a PoRep; 0: the size's own */
    uint32_t n_sectors; /* of a window; 0: three */
    uint64_t seed;
    const char *output; /* folder; made when it is not there */
} cuzk_gen_args;

/** Valid inputs and their statement.json, made without sealing where the challenges allow it (synthetic and non-interactive
 *  PoRep: sealed, up to 8 MiB). The files depend on the arguments alone. */
CUZK_API CUZK_STATUS cuzk_filecoin_gen(cuzk_engine *e, const cuzk_gen_args *args);

/** All key files of a folder: names, counts, digests, every point's encoding and curve; deep: and its subgroup (hours for
 *  a production key; progress; a check that was cancelled or killed is gone on with by the next). CUZK_EDATA or CUZK_EIO
 *  when a file is at fault; json, one object, is filled then too. */
CUZK_API CUZK_STATUS cuzk_params_check(cuzk_engine *e, const char *params_dir, bool deep,
                                       cuzk_buffer *json);
/** Writes NAME.derived of a circuit's key beside it (docs/formats/derived.md): once for a key, and long (2^22 rows: an hour of one
 *  core; progress; a call that was cancelled or killed is gone on with by the next). One that is there and right is left. */
CUZK_API CUZK_STATUS cuzk_params_derive(cuzk_engine *e, const char *circuit,
                                        const char *params_dir);
/** r and s of a T.json. */
CUZK_API CUZK_STATUS cuzk_trapdoors_rs(const char *trapdoors, cuzk_fixed_rs *out);

/* ---- looking ---- */

/** What FILE is and what is wrong with it, as one JSON object. CUZK_EDATA when it is damaged; json is filled as far as known. */
CUZK_API CUZK_STATUS cuzk_inspect(cuzk_engine *e, const char *path, cuzk_buffer *json);
/** Chrome trace of all spans recorded so far. */
CUZK_API CUZK_STATUS cuzk_trace(cuzk_engine *e, cuzk_buffer *json);

/** Where the time of the last job went: leaf steps by total time, then coverage. */
typedef struct cuzk_step {
    const char *name;
    uint64_t n, total_ns;
} cuzk_step;

/** What GPUs did while proofs were on them, by their own clocks; proofs 0: none was, and all is 0. */
typedef struct cuzk_gpu_times {
    uint64_t proofs;
    uint64_t
        window_ns; /* from a proof's first kernel to its last one; an instant of a GPU counts once */
    uint64_t busy_ns; /* of these: at work */
    uint64_t tail_ns,
        worst_tail_ns; /* from a proof's last kernel until proving returned: sum, longest */
    size_t n_steps;    /* largest first: "gpu: ..." is work, "gpu idle: ..." is not */
    cuzk_step steps[32];
} cuzk_gpu_times;

typedef struct cuzk_attribution {
    uint64_t wall_ns, attributed_ns; /* on the job's own thread */
    uint64_t worst_gap_ns;
    char worst_gap[96]; /* its neighbours: "between X and Y" */
    size_t n_steps;
    cuzk_step steps[96];
    uint64_t peak_memory; /* bytes charged to the engine's budget, at most at one time */
    cuzk_gpu_times gpu;
} cuzk_attribution;

CUZK_API void cuzk_last_attribution(cuzk_engine *e, cuzk_attribution *out);

/* ---- benchmarks ---- */

typedef struct cuzk_bench_args {
    const char *name;    /* "field", "msm", "ntt", "pairing", "synth", "aggregate", "prove" */
    const char *curve;   /* "bn254", "bls12-381" */
    const char *group;   /* "g1", "g2" */
    const char *circuit; /* "porep-32g": for synth and prove, which need it */
    const char *beside; /* prove: jobs of this circuit come while `circuit` is proved without end */
    unsigned log_n, reps; /* 0: the benchmark's own; beside: jobs */
    bool json;            /* else CSV with a header line (house style section 12) */
    const char
        *params_dir; /* prove: the key is there; NULL: one is made for the run, on the device */
} cuzk_bench_args;

/** CSV, or {"results":[{"case","n","reps","min_ns","median_ns","p95_ns","peak_bytes"}],...}. synth tells more of its cases, in
 *  lines of comment or further members: what the circuit is, and how many values of the witness are of which size. prove makes
 *  inputs as cuzk_filecoin_gen does, proves all partitions `reps` times (0: once) and verifies them. */
CUZK_API CUZK_STATUS cuzk_bench(cuzk_engine *e, const cuzk_bench_args *args, cuzk_buffer *json);

#ifdef __cplusplus
}
#endif
#endif
