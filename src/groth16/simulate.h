/*
 * groth16/simulate.h - keys whose secrets stay known, and proofs made of these secrets instead of a circuit and a witness
 *
 * What tests and benchmarks of verifiers need: a key of any number of inputs, and as many different valid proofs as they like, for any
 * inputs. Such a key proves nothing.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_SIMULATE_H
#define GROTH16_SIMULATE_H

#include "groth16/groth16.h"

typedef struct groth16_sim {
    mem *m;
    groth16_vk *vk; /* owned */
    fr alpha_beta, gamma, delta_inv;
    fr *ic; /* IC_i = ic[i] G, vk->n_ic of them */
} groth16_sim;

/** A random key of n_ic - 1 public inputs, n_ic > 0. Errors: memory, CUZK_EIO when the system gives no randomness. */
CUZK_STATUS groth16_sim_open(groth16_sim **out, dev_stream *s, const curve *cv, uint32_t n_ic,
                             mem *m);
void groth16_sim_close(groth16_sim *sim); /* NULL is fine */
/** A random valid proof for these n_ic - 1 inputs. */
CUZK_STATUS groth16_sim_prove(groth16_proof *out, const groth16_sim *sim, const fr *pub);

#endif
