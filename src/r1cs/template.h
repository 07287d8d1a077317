/*
 * r1cs/template.h - templates between those who make them and the system that owns them
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_TEMPLATE_H
#define R1CS_TEMPLATE_H

#include "r1cs/system.h"

/** Moves *t (its arrays from sys->m) to the system; *t is empty afterwards. On failure it stays the caller's. */
CUZK_STATUS r1cs_template_push(r1cs_system *sys, r1cs_template *t, uint32_t *index);
/** Frees the arrays of *t; a half-built one is fine. */
void r1cs_template_clear(mem *m, r1cs_template *t);

#endif
