/*
 * r1cs/circom.h - circom's .r1cs and .wtns files, and the container that .zkey shares
 *
 * Source: spec/circom-formats.md sections 1 to 3.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_CIRCOM_H
#define R1CS_CIRCOM_H

#include "base/file.h"
#include "r1cs/assignment.h"

/** Sections of an iden3 container (r1cs, wtns, zkey, ptau), indexed by id; each known id at most once. */
#define CIRCOM_MAX_SECTIONS 32
typedef struct circom_file {
    char magic[5];
    uint32_t version;
    uint32_t n_sections;
    struct circom_section {
        uint32_t id;
        bytes_in body;
    } sections[CIRCOM_MAX_SECTIONS];
} circom_file;

/** Strict: truncated, overlapping, trailing bytes and duplicate ids are CUZK_EDATA. `what` ("wtns") names the magic expected. */
CUZK_STATUS circom_file_read(circom_file *out, const uint8_t *data, size_t size, const char *what);
/** The one section with that id, or an error naming it. */
CUZK_STATUS circom_file_section(const circom_file *f, uint32_t id, const char *name, bytes_in *out);
bool circom_file_has(const circom_file *f, uint32_t id);

typedef struct circom_r1cs_info {
    curve_id curve;
    uint32_t n_wires, n_pub_out, n_pub_in, n_prv_in, n_constraints;
    uint64_t n_labels;
} circom_r1cs_info;

/** curve from a prime of 32 little-endian bytes; false: neither. */
bool circom_curve_of_prime(curve_id *out, const uint8_t prime[32]);

CUZK_STATUS circom_r1cs_info_read(circom_r1cs_info *out, const uint8_t *data, size_t size);
/** The whole constraint system, one block: inputs = ONE, outputs, public inputs; the rest is aux. Finished. */
CUZK_STATUS circom_r1cs_read(r1cs_system **out, const uint8_t *data, size_t size, cpu_table t,
                             mem *m);

typedef struct circom_wtns_info {
    curve_id curve;
    uint32_t n_values;
} circom_wtns_info;
CUZK_STATUS circom_wtns_info_read(circom_wtns_info *out, const uint8_t *data, size_t size);
/** Values as an assignment of n_public + 1 inputs; every value canonical, value 0 is 1. n_wires must be the file's count:
 *  else an error of class shape naming both. */
CUZK_STATUS circom_wtns_read(r1cs_assignment **out, const uint8_t *data, size_t size,
                             const curve *cv, uint32_t n_wires, uint32_t n_public, pool *p, mem *m);

#endif
