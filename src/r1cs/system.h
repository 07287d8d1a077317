/*
 * r1cs/system.h - a constraint system as blocks: instances of templates
 *
 * A template holds sparse rows A, B, C once, over local wires; an instance says where its own variables and rows start
 * and which global wires come in (design section 3). A circuit read from a file is one block of one template.
 * Order is bellperson's: rows, auxiliary variables and inputs are numbered in the order in which blocks are added.
 *
 * Template wires: 0 the constant one; 1..n_in wires passed in; then n_local own auxiliary variables; then n_pub own
 * public inputs. Global wires: index of an input (0 is ONE), or R1CS_AUX | index of an auxiliary variable.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_SYSTEM_H
#define R1CS_SYSTEM_H

#include "algebra/curve.h"
#include "base/mem.h"

#define R1CS_AUX 0x80000000u
#define R1CS_MAX_VARS 0x7fffffffu

typedef uint32_t r1cs_wire; /* global */

/** Rows in compressed form; coeff indexes the system's coefficient table (0: +1, 1: -1). Merged, zero-free, sorted by wire. */
typedef struct r1cs_matrix {
    uint32_t *row_start; /* n_rows + 1; NULL: the matrix is not known (C of a zkey) */
    uint32_t *wire;
    uint32_t *coeff;
} r1cs_matrix;

typedef struct r1cs_template {
    const char *name; /* of the gadget, for messages: "poseidon 8", "path 8" */
    uint32_t n_in, n_local, n_pub, n_rows;
    r1cs_matrix a, b, c;
    /* n_local: 1 a field element, 0 a bit (a boolean row proves it); NULL: all elements */
    uint8_t *local_is_elem;
    uint32_t n_elem; /* how many of them are elements */
    /* what the gadget keeps here to write values of the locals by; opaque, aligned as mem_new's; NULL: nothing */
    void *note;
} r1cs_template;

typedef struct r1cs_instance {
    uint32_t tmpl;
    uint32_t aux_start, pub_start, row_start;
    uint32_t wires; /* n_in global wires at system.wires[wires] */
} r1cs_instance;

/** All fixed after r1cs_finish; then shared by any number of proofs. */
typedef struct r1cs_system {
    const curve *cv;
    mem *m;
    char name[48];
    uint32_t n_inputs; /* public inputs, ONE included */
    uint32_t n_aux;
    uint32_t n_rows; /* without the input rows */
    bool input_rows; /* n_inputs rows Input(i) * 0 = 0 follow: bellperson and snarkjs have them */
    r1cs_template *templates;
    size_t n_templates, cap_templates;
    r1cs_instance *instances;
    size_t n_instances, cap_instances;
    r1cs_wire *wires;
    size_t n_wires, cap_wires;
    fr *coeffs; /* table without duplicates; [0] = 1, [1] = -1 */
    size_t n_coeffs, cap_coeffs;
    void *coeff_index; /* hash index while building */

    /* after r1cs_finish: a number that no other system of this process has; layout of packed assignments, densities */
    uint64_t id;
    uint64_t *is_elem; /* bitmap over aux; NULL when all are elements */
    uint32_t *rank64;  /* elements before each word of 64 */
    uint32_t n_elem;   /* elements among aux; n_aux - n_elem bits */
    /* density bitmaps by bellperson's rules (filecoin-circuits.md 1.2), and their sums */
    uint64_t *a_aux, *b_aux, *b_input;
    uint32_t n_a_aux, n_b_aux, n_b_input;
} r1cs_system;

CUZK_STATUS r1cs_new(r1cs_system **out, const curve *cv, const char *name, mem *m);
void r1cs_free(r1cs_system *sys);

/* ---- building a template ---- */

typedef struct r1cs_builder r1cs_builder;
typedef struct r1cs_lc r1cs_lc; /* a linear combination over template wires; owned by its builder */

CUZK_STATUS r1cs_builder_new(r1cs_builder **out, r1cs_system *sys, const char *name, uint32_t n_in);
void r1cs_builder_free(r1cs_builder *b);
/* Errors stick in the builder and come out of r1cs_builder_finish. */

/** Template wire of the k-th passed-in wire. */
uint32_t r1cs_in(const r1cs_builder *b, uint32_t k);
/** A new element variable; its template wire. */
uint32_t r1cs_alloc(r1cs_builder *b);
/** A new variable stored as a bit (the caller adds its rows). */
uint32_t r1cs_alloc_bit(r1cs_builder *b);
/** A new public input; its wire is a handle, resolved at finish. */
uint32_t r1cs_alloc_input(r1cs_builder *b);

/** Own auxiliary variables so far. */
uint32_t r1cs_builder_n_local(const r1cs_builder *b);
/** Keeps a copy of size bytes with the template (r1cs_template.note), once. */
void r1cs_builder_note(r1cs_builder *b, const void *note, size_t size);

/** Empty; from one wire, times 1; a copy. */
r1cs_lc *r1cs_lc_new(r1cs_builder *b);
r1cs_lc *r1cs_lc_wire(r1cs_builder *b, uint32_t wire);
r1cs_lc *r1cs_lc_copy(r1cs_builder *b, const r1cs_lc *a);
/** Lets its memory be used again: for templates of very many rows. The builder frees what is left. */
void r1cs_lc_free(r1cs_builder *b, r1cs_lc *lc);
/** lc += k * wire. */
void r1cs_lc_add(r1cs_builder *b, r1cs_lc *lc, uint32_t wire, const fr *k);
/** lc += k * a; k NULL: 1. */
void r1cs_lc_add_lc(r1cs_builder *b, r1cs_lc *lc, const r1cs_lc *a, const fr *k);
/** The row a * bb = c; NULL: empty. */
void r1cs_enforce(r1cs_builder *b, const r1cs_lc *a, const r1cs_lc *bb, const r1cs_lc *c);
/** Adds the template to the system; *index is what r1cs_add takes. */
CUZK_STATUS r1cs_builder_finish(r1cs_builder *b, uint32_t *index);

/* ---- building a system ---- */

/** Appends an instance of template `tmpl` with its passed-in global wires. *first_local: global wire of its first own
 *  auxiliary variable (the others follow); *first_pub: its first public input. Either may be NULL. */
CUZK_STATUS r1cs_add(r1cs_system *sys, uint32_t tmpl, const r1cs_wire *in, r1cs_wire *first_local,
                     r1cs_wire *first_pub);
/** Ends building: layout, densities. */
CUZK_STATUS r1cs_finish(r1cs_system *sys);

/** Rows including the input rows; log2 of the domain (smallest power of two >= rows, at least min_log). */
uint32_t r1cs_total_rows(const r1cs_system *sys);
unsigned r1cs_log_domain(const r1cs_system *sys, unsigned min_log);

/** BLAKE2s-256 of the system as spec/filecoin-expected.md section 2 defines it. */
CUZK_STATUS r1cs_hash(const r1cs_system *sys, uint8_t out[32]);
/** A quick digest of the blocks as they are stored: one program on one machine gives one circuit one digest. */
void r1cs_blocks_hash(const r1cs_system *sys, uint8_t out[32]);

#endif
