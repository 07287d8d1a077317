/*
 * groth16/aggregate.h - SnarkPack: many proofs under one key as one aggregate of logarithmic size
 *
 * BLS12-381 alone. The prover has no randomness: the same proofs, statement and powers give the same bytes, and they are
 * those of bellperson. The powers (SRS) are one file for all circuits and counts; a key is what a prover needs of it for
 * one count. What an aggregate says of sectors is the caller's: here a statement is 32 bytes that are bound into it.
 *
 * Source: spec/filecoin-aggregate.md; Gailly, Maller, Nitulescu, Financial Cryptography 2022.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_AGGREGATE_H
#define GROTH16_AGGREGATE_H

#include "groth16/prove.h"

/** Proofs of one aggregate, padding included: the most that is accepted and made. */
#define AGGREGATE_MAX 16384u
#define AGGREGATE_MAX_LOG 14u
/** Points of a vector of powers, at most. */
#define AGGREGATE_SRS_MAX ((UINT32_C(1) << 20) + 1)
#define AGGREGATE_STATEMENT 32u

/** The network's numbers. They differ in two challenges; the bytes do not tell them apart. */
typedef enum aggregate_version { AGGREGATE_V1 = 0, AGGREGATE_V2 = 1 } aggregate_version;

/** What a call works with; all borrowed. */
typedef struct aggregate_run {
    dev_stream *s; /* sums over many points */
    pool *p;       /* NULL: the calling thread alone */
    const cancel *stop;
    mem *m;
} aggregate_run;

/* ---- powers ---- */

/** g^(alpha^i), g^(beta^i), h^(alpha^i), h^(beta^i), mapped: four vectors of compressed points. */
typedef struct aggregate_srs {
    const curve *cv;
    mem *m;
    file_map file;       /* empty when the bytes are the caller's */
    dev_points power[4]; /* in the order above */
} aggregate_srs;

/** Structure alone: counts (2..AGGREGATE_SRS_MAX), length, nothing behind. CUZK_EDATA, class malformed or limit. */
CUZK_STATUS aggregate_srs_open(aggregate_srs **out, const char *path, const curve *cv, mem *m);
/** The same from memory, borrowed until aggregate_srs_free. */
CUZK_STATUS aggregate_srs_read(aggregate_srs **out, const uint8_t *data, size_t size,
                               const curve *cv, mem *m);
void aggregate_srs_free(aggregate_srs *srs);
/** Most proofs that these powers aggregate: a power of two, or 0. */
uint32_t aggregate_srs_capacity(const aggregate_srs *srs);
uint64_t aggregate_srs_points(const aggregate_srs *srs);
/** Every point: encoding, curve and, as `o` says, subgroup (infinity is accepted). Names the first bad one. */
CUZK_STATUS aggregate_srs_check(const aggregate_srs *srs, const groth16_key_check *o, pool *p);
/** Writes `path` with powers 0..n-1 of given secrets, standard generators: for tests. n in 2..AGGREGATE_SRS_MAX. */
CUZK_STATUS aggregate_srs_make(dev_stream *s, const char *path, const curve *cv, const fr *alpha,
                               const fr *beta, uint32_t n, mem *m);

/** n or the next power of two above it, at least 2: how many proofs an aggregate of n has. 0: n is 0 or above AGGREGATE_MAX. */
uint32_t aggregate_padded(size_t n);

/** What a prover needs for n proofs, decoded and checked. Immutable, may be shared. */
typedef struct aggregate_key {
    const curve *cv;
    mem *m;
    uint32_t n;
    g1_any *g[2]; /* g^(tau^i), i < 2n, for tau = alpha, beta */
    g2_any *h[2]; /* h^(tau^i), i < n */
} aggregate_key;

/** n: a power of two, 2..AGGREGATE_MAX. trusted: aggregate_srs_check (subgroup) found these bytes good before; else it is
 *  done for the points that are used. CUZK_EDATA: a bad point (malformed), or fewer than 2n powers (limit; says both numbers). */
CUZK_STATUS aggregate_key_new(aggregate_key **out, const aggregate_srs *srs, uint32_t n,
                              bool trusted, pool *p, const cancel *stop, mem *m);
void aggregate_key_free(aggregate_key *key);

/** What a verifier needs, whatever the count. */
typedef struct aggregate_vk {
    const curve *cv;
    g1_any g, g_tau[2]; /* powers 0 and 1 */
    g2_any h, h_tau[2];
    uint32_t capacity;
} aggregate_vk;

CUZK_STATUS aggregate_vk_read(aggregate_vk *out, const aggregate_srs *srs);

/* ---- aggregates ---- */

/** Where an aggregate says how many proofs it has: u32, little-endian. */
#define AGGREGATE_COUNT_AT 1488u
/** Bytes of an aggregate of n proofs, n a power of two. */
size_t aggregate_size(uint32_t n);

/** What the transcript gave, for tests. */
typedef struct aggregate_challenges {
    fr hcom, r, x[AGGREGATE_MAX_LOG], extra, zeta;
    unsigned rounds;
} aggregate_challenges;

/**
 * Appends the aggregate of n proofs to out.
 *
 *   key        in   of aggregate_padded(n) proofs; the list is filled up with its last
 *   proofs     in   n, on their curves and in their subgroups; not verified here
 *   statement  in   32 bytes that are bound into it
 *   seen       out  may be NULL
 *
 * Errors   CUZK_EINVAL: the key is of another count; CUZK_EDATA (shape): a value of the proof is 1, which has no encoding (a
 *          proof with a point at infinity); CUZK_ECANCELLED between rounds; CUZK_EBUDGET, CUZK_EDEVICE
 * Memory   about 1.3 KiB a proof
 */
CUZK_STATUS aggregate_prove(bytes_out *out, const aggregate_run *run, const aggregate_key *key,
                            const groth16_proof *proofs, size_t n, const uint8_t statement[32],
                            aggregate_version version, aggregate_challenges *seen);

/** Bytes of a key for n proofs and of aggregate_prove with it, beside the allocator's own. */
uint64_t aggregate_prove_size(uint32_t n);

/** What a proof is verified against. */
typedef struct aggregate_claim {
    const aggregate_vk *key;
    const groth16_vk *vk;     /* of the circuit */
    const fr *pub;            /* n x (n_ic - 1) public inputs */
    size_t n;                 /* statements, before padding */
    const uint8_t *statement; /* 32 bytes */
    aggregate_version version;
} aggregate_claim;

/** *valid: every equation holds. CUZK_EDATA: malformed bytes (trailing ones too), or a number of statements whose padded
 *  count is not the proof's (shape), or a count that the powers do not reach (limit). seen may be NULL. */
CUZK_STATUS aggregate_verify(bool *valid, const aggregate_run *run, const aggregate_claim *claim,
                             const uint8_t *proof, size_t size, aggregate_challenges *seen);
/** How many proofs an aggregate says that it has: structure and every element are checked. */
CUZK_STATUS aggregate_inspect(uint32_t *n, const uint8_t *proof, size_t size, cpu_table t, pool *p,
                              mem *m);

#endif
