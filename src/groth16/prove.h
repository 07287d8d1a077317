/*
 * groth16/prove.h - proving keys, the two-phase prover, setup
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_PROVE_H
#define GROTH16_PROVE_H

#include "groth16/groth16.h"

/** Which H the key holds, and with it the domain's root and the quotient. */
typedef enum groth16_form {
    GROTH16_BELLPERSON, /* h[i] = tau^i Z(tau)/delta; root from 7, coset 7; absent points left out (densities) */
    GROTH16_SNARKJS, /* H in the Lagrange basis of the odd points of the 2n domain; root from 5; absent points infinity */
} groth16_form;

typedef struct groth16_pk {
    groth16_form form;
    groth16_vk *vk; /* owned */
    const curve *cv;
    mem *m;
    file_map
        file; /* the key's bytes, mapped; sections below point into it, unless they have a home on a device */
    unsigned log_n;    /* domain */
    uint32_t n_inputs; /* ONE included */
    uint32_t n_aux;
    dev_points h, l, a, b_g1, b_g2;
    r1cs_system *coeffs; /* SNARKJS: A and B from the key (C unknown); owned. BELLPERSON: NULL */
    struct groth16_derived *derived; /* NULL: none; owned */
} groth16_pk;

/** Maps and checks (design section 9: header, counts, sizes; the vk's points fully; the others as they are read by a proof). */
CUZK_STATUS groth16_zkey_open(groth16_pk **out, const char *path, cpu_table t, pool *p, mem *m);
/** Counts must be those of sys; sys NULL (inspect): whatever they are. */
CUZK_STATUS groth16_params_open(groth16_pk **out, const char *path, const curve *cv,
                                const r1cs_system *sys, mem *m);
void groth16_pk_free(groth16_pk *pk);
#define GROTH16_PK_LISTS 5
/** What devices keep its points under: dev_points.id of h, l, a, b_g1, b_g2. */
void groth16_pk_ids(const groth16_pk *pk, uint64_t out[GROTH16_PK_LISTS]);
/** A device need not keep anything of this key, nor of its circuit: they are about to be freed. NULL is fine. */
void groth16_pk_forget(device *d, const groth16_pk *pk, const r1cs_system *sys);
/** Its lists as one set (dev_keeping): said when a key is opened. */
void groth16_pk_one_set(groth16_pk *pk);
/** What devices keep of it is not given up for other memory while it is open. */
void groth16_pk_always(groth16_pk *pk);
/** Brings its points in on the stream's device, as many as may stay, in the order in which a proof wants them: dev_points_load. */
CUZK_STATUS groth16_pk_load(const groth16_pk *pk, dev_stream *s);
/** All of its points are there. */
bool groth16_pk_is_on(const groth16_pk *pk, const device *d);
/** Proofs under it are queued for this device, or no longer are: dev_points_want. */
void groth16_pk_want(const groth16_pk *pk, device *d, bool begins);
typedef struct groth16_key_check {
    bool subgroup; /* else encoding and curve alone, some hundred times as fast */
    uint64_t from; /* points that were found good before; 0: all */
    /* May be NULL. The first `done` points are good: what a later check can begin from. */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
    const cancel *cancel;
} groth16_key_check;
uint64_t groth16_pk_points(const groth16_pk *pk);
/** Every point of the key. CUZK_EDATA, class malformed, names the first bad one. */
CUZK_STATUS groth16_pk_check(const groth16_pk *pk, const groth16_key_check *o, pool *p);

/** What a zkey's header says, for inspect. */
typedef struct groth16_zkey_info {
    curve_id curve;
    uint32_t n_vars, n_public, domain_size, n_coeffs, n_contributions;
} groth16_zkey_info;
CUZK_STATUS groth16_zkey_info_read(groth16_zkey_info *out, const uint8_t *data, size_t size);

/** Further points of a BELLPERSON key, with which the CPU proves without c and without the last inverse transform: a, b of
 *  any witness give the same proof as without. Made once of the key alone (docs/formats/derived.md). */
#define GROTH16_SOURCE_BYTES 32
typedef struct groth16_derived {
    file_map file;
    dev_points h; /* 2^log_n: meet the products a b on the coset */
    dev_points l; /* n_inputs and then n_aux, in place of the key's l */
} groth16_derived;

/** Maps a file that groth16_derive made of the key pk, whose name for itself is `source`, and gives it to pk. CUZK_EDATA: it is
 *  of another key (class inconsistent), or malformed. Points are looked at as a proof reads them. */
CUZK_STATUS groth16_derived_open(groth16_pk *pk, const char *path,
                                 const uint8_t source[GROTH16_SOURCE_BYTES]);
#define GROTH16_DERIVED_SUM 32
/** What such a file's header says. */
typedef struct groth16_derived_info {
    unsigned log_n;
    uint32_t n_inputs, n_aux;
    uint8_t source[GROTH16_SOURCE_BYTES], sum[GROTH16_DERIVED_SUM];
} groth16_derived_info;
bool groth16_is_derived(const uint8_t *data, size_t size);
/** All bytes are those that were written: reads them once. CUZK_EDATA, malformed. */
CUZK_STATUS groth16_derived_info_read(groth16_derived_info *out, const uint8_t *data, size_t size,
                                      const cancel *c);

/** Another device that takes a part of a proof's sums: of the same kind as the proof's, with a thread of the caller's. fn and join are
 *  called by the thread that proves. Results do not depend on helpers; what one does not do is done on the proof's device. */
typedef struct groth16_helper {
    device *dev;
    const groth16_pk
        *pk; /* the same key, with points that this device can read; NULL: the proof's */
    /** Runs fn(share, s) on the helper's thread, s being a stream of dev, after what was started before; never waits. It may fail to:
     *  then fn is not called. What fn returns is for the caller to judge the device by. */
    void (*start)(void *ctx, cuzk_status (*fn)(void *share, dev_stream *s), void *share);
    /** All that was started has returned, or will never begin. */
    void (*join)(void *ctx);
    void *ctx;
} groth16_helper;

typedef struct groth16_prove_args {
    const groth16_pk *pk;
    const r1cs_system
        *sys; /* BELLPERSON: the circuit. SNARKJS: NULL (the key's own coefficients) */
    const r1cs_assignment *w;   /* borrowed until groth16_prove_finish */
    const cuzk_fixed_rs *fixed; /* NULL: sampled */
    bool plain; /* without derived points, whatever the key has: an array of the domain more */
    const groth16_helper *helpers; /* n_helpers, busy with this proof alone until start returns */
    size_t n_helpers;              /* 0: none; more than 7 are not used */
    mem *m;
} groth16_prove_args;

typedef struct groth16_job groth16_job;

/** All that needs the device: a, b, c, quotient, sums. Returns when the device is free for the next proof. */
CUZK_STATUS groth16_prove_start(groth16_job **out, dev_stream *s, const groth16_prove_args *args);
/** The rest on the host; frees the job whatever the result. Does not verify: the caller does, before it lets a proof out. */
CUZK_STATUS groth16_prove_finish(groth16_proof *out, groth16_job *job);
/** Abandons a started job; NULL is fine. */
void groth16_job_free(groth16_job *job);
/** Bytes of budget that a proof takes beyond the assignment. */
size_t groth16_prove_size(const groth16_pk *pk, const r1cs_system *sys);
/** Of these, what it takes of the host's where a device has memory of its own. */
size_t groth16_prove_host_size(const groth16_pk *pk, const r1cs_system *sys);

/* ---- setup ---- */

/** Secrets of a setup; the caller wipes them. */
typedef struct groth16_trapdoors {
    fr tau, alpha, beta, gamma, delta;
} groth16_trapdoors;

/** Progress and cancellation of a setup; all may be NULL or 0. Steps count points. */
typedef struct groth16_setup_opts {
    cuzk_progress_fn progress;
    void *ctx;
    const cancel *cancel;
    /* .params alone: */
    bool
        resume; /* the secrets will be given again: a setup that was stopped or killed leaves PATH.part to go on from */
    uint64_t checkpoint_ns; /* between two marks of how far it came; 0: 15 s */
    /* groth16_derive alone: */
    unsigned log_step; /* of the points of a step; 0: its own choice */
    /* .params alone: */
    /* Called when all bytes are on the disk, before the files get their names; a failure ends the setup. */
    cuzk_status (*written)(void *ctx, const char *part_path, uint64_t size, const uint8_t *vk,
                           size_t vk_size);
} groth16_setup_opts;

CUZK_STATUS groth16_trapdoors_random(groth16_trapdoors *out, const curve *cv);
/** .params and .vk of sys with standard generators (filecoin-formats.md section 8). Streams to the files. Memory: the
 *  columns' (qap.h), 50 MiB, and the tables of two fixed bases (device.h). */
CUZK_STATUS groth16_setup_params(dev_stream *s, const r1cs_system *sys, const groth16_trapdoors *t,
                                 const char *params_path, const char *vk_path,
                                 const groth16_setup_opts *o, pool *p, mem *m);
/** The same key on the device of s alone, for as long as it is open: never a file, nothing of its size crosses the bus. For
 *  benchmarks; groth16_pk_free gives it back. o: progress and cancellation. */
CUZK_STATUS groth16_setup_memory(groth16_pk **out, dev_stream *s, const r1cs_system *sys,
                                 const groth16_trapdoors *t, const groth16_setup_opts *o, pool *p,
                                 mem *m);
/** Writes the derived form of a BELLPERSON key of sys, on the CPU (s): two transforms of 2^log_n points, then a random
 *  combination of all points is compared with the key's. A call that was cancelled or killed is gone on with by the next. source: the
 *  key's digest, or what else names its bytes. o: progress, cancel, checkpoint_ns, log_step. Disk: 96 bytes a variable and twice 96 a row
 *  of the domain while it works. Memory: some MiB and, for the comparison, 3 elements a row and one a variable. */
CUZK_STATUS groth16_derive(dev_stream *s, const groth16_pk *pk, const r1cs_system *sys,
                           const uint8_t source[GROTH16_SOURCE_BYTES], const char *path,
                           const groth16_setup_opts *o, pool *p, mem *m);
/** .zkey (gamma = 1, roomy H) of a circom system. With its csHash zero and no contribution: says so in its record. */
CUZK_STATUS groth16_setup_zkey(dev_stream *s, const r1cs_system *sys, const groth16_trapdoors *t,
                               const char *zkey_path, const groth16_setup_opts *o, pool *p, mem *m);

#endif
