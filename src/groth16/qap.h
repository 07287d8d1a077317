/*
 * groth16/qap.h - the columns of a system's matrices at a secret point, by ranges of variables
 *
 * Variables are numbered inputs first (ONE is 0), then auxiliary ones. Memory does not grow with the number of variables
 * but by two bits each, 96 bytes for each that is passed in to another block, and the rows of one block.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_QAP_H
#define GROTH16_QAP_H

#include "groth16/lagrange.h"
#include "r1cs/system.h"

typedef struct qap qap;

/** The system and the pool are borrowed until qap_close. Root: fr_root(gen, log_n). One pass over all rows. */
CUZK_STATUS qap_open(qap **out, const r1cs_system *sys, const fr *tau, unsigned gen, unsigned log_n,
                     pool *p, const cancel *c, mem *m);
/** Wipes what depends on tau. NULL is fine. */
void qap_close(qap *q);

/** u, v, w [i - from] = A_i(tau), B_i(tau), C_i(tau) of variables i in [from, to). One thread at a time; cheapest when
 *  ranges follow one another. */
CUZK_STATUS qap_range(qap *q, fr *u, fr *v, fr *w, size_t from, size_t to);

#endif
