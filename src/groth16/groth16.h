/*
 * groth16/groth16.h - proofs, verifying keys, verification
 *
 * Source: Groth, EUROCRYPT 2016; spec/filecoin-formats.md 5 to 8; spec/circom-formats.md 4 to 7.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_GROTH16_H
#define GROTH16_GROTH16_H

#include "base/file.h"
#include "device/device.h"
#include "r1cs/assignment.h"

typedef struct groth16_proof {
    g1_any a;
    g2_any b;
    g1_any c;
} groth16_proof;

/** What many verifications under a key share (groth16_vk_prepare). */
typedef struct groth16_vk_ready {
    g2_prepared gamma, delta;
    gt_any alpha_beta;    /* e(alpha, beta) */
    dev_multiples *ic;    /* of the IC points; NULL: none */
    dev_multiples *alpha; /* of alpha, with those of ic */
} groth16_vk_ready;

/** Points are on their curves and in their subgroups once read by one of the readers below. Immutable from then on, and shared, but for
 *  groth16_vk_prepare. */
typedef struct groth16_vk {
    const curve *cv;
    mem *m;
    g1_any alpha_g1, beta_g1,
        delta_g1; /* beta_g1, delta_g1: infinity when the form (JSON) has none */
    g2_any beta_g2, gamma_g2, delta_g2;
    uint32_t n_ic;           /* public inputs + 1 */
    uint8_t *ic;             /* n_ic points as in memory (POINT_LEM), packed at cv->g1_size */
    groth16_vk_ready *ready; /* NULL: not prepared */
} groth16_vk;

void groth16_vk_ic(const groth16_vk *vk, uint32_t i, g1_any *out);

void groth16_vk_free(groth16_vk *vk);

/* ---- encodings ---- */

#define GROTH16_PROOF_BYTES 192 /* BLS12-381: A, B, C compressed */
CUZK_STATUS groth16_proof_read(groth16_proof *out, const curve *cv,
                               const uint8_t in[GROTH16_PROOF_BYTES]);
/** n proofs one behind the other; *bad: where it failed, the first proof that groth16_proof_read refuses (its error). Much faster for many. */
CUZK_STATUS groth16_proofs_read(groth16_proof *out, const curve *cv, const uint8_t *in, size_t n,
                                size_t *bad);
void groth16_proof_write(uint8_t out[GROTH16_PROOF_BYTES], const curve *cv, const groth16_proof *p);

/** snarkjs JSON. Readers take any white space and key order; check count, range, curve, subgroup. */
CUZK_STATUS groth16_proof_from_json(groth16_proof *out, const curve *cv, const uint8_t *json,
                                    size_t size);
CUZK_STATUS groth16_public_from_json(fr **out, size_t *n, const curve *cv, const uint8_t *json,
                                     size_t size, mem *m);
CUZK_STATUS groth16_vk_from_json(groth16_vk **out, const uint8_t *json, size_t size, cpu_table t,
                                 mem *m);
/* Writers give snarkjs's bytes (one space a level, no final newline). */
void groth16_proof_to_json(bytes_out *o, const curve *cv, const groth16_proof *p);
void groth16_public_to_json(bytes_out *o, const curve *cv, const fr *pub, size_t n);
CUZK_STATUS groth16_vk_to_json(bytes_out *o, const groth16_vk *vk);

/** bellperson .vk: all points checked, infinity refused, nothing may follow (trailing NULL) or *used tells where it ended. */
CUZK_STATUS groth16_vk_read(groth16_vk **out, const uint8_t *data, size_t size, size_t *used,
                            const curve *cv, mem *m);
void groth16_vk_write(bytes_out *o, const groth16_vk *vk);

/* ---- verification ---- */

/* Bytes that the multiples of a key's IC points may take: some 1,900 points of BLS12-381. */
#define GROTH16_IC_MULTIPLES ((size_t)4 << 20)

/**
 * Makes a key ready for many verifications: each then takes less, and says the same. What is there already is not made again.
 *
 *   s  a stream of the CPU: multiples of the IC points are made too, where they take at most GROTH16_IC_MULTIPLES, and then of alpha.
 *      NULL: none
 *
 * Lines of gamma and delta, and e(alpha, beta): 27 KB, 0.65 ms, and a verification saves a quarter of that. Multiples of 328 points:
 * 0.8 MB and 11 ms, and a batch saves 0.7 ms (docs/cpu.md).
 *
 * Errors   memory, CUZK_ECANCELLED; what was made before stays, and the key is as good as it was
 * Threads  nobody else uses the key meanwhile
 */
CUZK_STATUS groth16_vk_prepare(groth16_vk *vk, dev_stream *s);

/** *valid: the pairing holds. n must be n_ic - 1 (else CUZK_EDATA, shape). d: for the IC sum when n is large. */
CUZK_STATUS groth16_verify(dev_stream *s, const groth16_vk *vk, const groth16_proof *p,
                           const fr *pub, size_t n, bool *valid);
/** All n_proofs (not 0) at once, by a random combination with weights of 128 bits from the operating system; pub: n_proofs x (n_ic-1). */
CUZK_STATUS groth16_verify_batch(dev_stream *s, const groth16_vk *vk, const groth16_proof *p,
                                 size_t n_proofs, const fr *pub, bool *valid);

#endif
