/*
 * r1cs/coeffs.h - a constraint system of one block, from terms (matrix, row, wire, value) in any order
 *
 * For what files hold: section 4 of a zkey (A and B alone) and the constraints of a .r1cs. Terms are read twice: first
 * counted, then put; duplicates add up, zeros vanish. Values are looked up as the bytes that the file holds and only
 * the distinct ones are converted. A wire is the file's number: below n_inputs an input, from there on auxiliary.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_COEFFS_H
#define R1CS_COEFFS_H

#include "r1cs/system.h"

/** How the 32 little-endian bytes of a value are to be read; both must be canonical. */
typedef enum r1cs_value_form {
    R1CS_VALUE_PLAIN, /* the coefficient (.r1cs) */
    R1CS_VALUE_MONT2, /* coefficient * 2^512 mod r (zkey) */
} r1cs_value_form;

typedef struct r1cs_coeffs_shape {
    const curve *cv;
    const char *name;  /* of the system and of its one template; static text */
    uint32_t n_inputs; /* ONE included: at least 1 */
    uint32_t n_aux;
    uint32_t n_rows;     /* rows of terms are below this */
    unsigned n_matrices; /* 2: A and B, C is not known; 3 */
    r1cs_value_form form;
    bool input_rows; /* see r1cs_system */
    bool trim;       /* the system's rows end with the last row that has a term */
} r1cs_coeffs_shape;

typedef struct r1cs_coeffs r1cs_coeffs;

/** Takes 4 bytes a row and matrix: the caller has checked n_rows against what the file can hold. */
CUZK_STATUS r1cs_coeffs_begin(r1cs_coeffs **out, const r1cs_coeffs_shape *shape, mem *m);
/* CUZK_EDATA when the matrix, the row or the wire is out of bounds. */
CUZK_STATUS r1cs_coeffs_count(r1cs_coeffs *c, uint32_t matrix, uint32_t row, uint32_t wire);
/** Between the two passes: takes 8 bytes a term. */
CUZK_STATUS r1cs_coeffs_counted(r1cs_coeffs *c);
/* CUZK_EDATA when the value is not canonical, or the terms are not those that were counted (a file changed meanwhile). */
CUZK_STATUS r1cs_coeffs_put(r1cs_coeffs *c, uint32_t matrix, uint32_t row, uint32_t wire,
                            const uint8_t value[32]);
/** The finished system. c is freed whatever the result. */
CUZK_STATUS r1cs_coeffs_end(r1cs_system **out, r1cs_coeffs *c);
void r1cs_coeffs_free(r1cs_coeffs *c);

/**
 * The system of a zkey: all of the above over the entries of section 4 (after its count).
 *
 *   n_inputs  nPublic + 1       n_aux  nVars - n_inputs       n_rows  domainSize (checked against section 9 before)
 *   entries   n times 44 bytes: matrix, row, wire, value of R1CS_VALUE_MONT2
 *
 * A and B only (c.row_start is NULL); input_rows is false, since the entries hold them. Errors name the entry.
 */
CUZK_STATUS r1cs_from_zkey(r1cs_system **out, const curve *cv, uint32_t n_inputs, uint32_t n_aux,
                           uint32_t n_rows, const uint8_t *entries, size_t n, mem *m);

#endif
