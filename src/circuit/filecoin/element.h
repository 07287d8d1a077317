/*
 * circuit/filecoin/element.h - field elements as Filecoin's files hold them: 32 little-endian bytes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_ELEMENT_H
#define CIRCUIT_FILECOIN_ELEMENT_H

#include "algebra/curve.h"

/** True when the bytes are below BLS12-381's scalar modulus. */
bool fil_is_canonical(const uint8_t b[32]);
/** The element of bytes that a reader has found to be below the modulus. They may lie in a mapped file that somebody writes to
 *  meanwhile: what is not below it any more reads as zero (the proof is worthless then, and says so). */
void fil_load_fr(const curve *cv, fr *r, const uint8_t b[32]);

#endif
