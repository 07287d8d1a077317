/*
 * r1cs/circom_r1cs.c - circom's .r1cs: header and constraints
 *
 * The constraints are read twice, once to count and check, once to take the values (coeffs.h).
 *
 * Source: spec/circom-formats.md section 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "r1cs/circom.h"
#include "r1cs/coeffs.h"

#define WHAT "r1cs"
#define SECTION_HEADER 1u
#define SECTION_CONSTRAINTS 2u
#define SECTION_LABELS 3u
#define SECTION_GATES 4u
#define SECTION_GATES_USED 5u
#define HEADER_BYTES 64
#define MIN_CONSTRAINT_BYTES 12u /* three counts */
#define TERM_BYTES 36u
#define LABEL_BYTES 8u

bool circom_curve_of_prime(curve_id *out, const uint8_t prime[32])
{
    for (unsigned i = 0; i < CURVE_IDS; i++) {
        const curve *cv = curve_get((curve_id)i, CPU_TABLE_GENERIC);

        if (memcmp(prime, cv->r_le, 32) == 0) {
            *out = (curve_id)i;
            return true;
        }
    }
    return false;
}

static cuzk_status read_header(circom_r1cs_info *info, bytes_in in)
{
    uint32_t n8;
    uint8_t prime[32];

    if (in.size != HEADER_BYTES) {
        return FAIL_DATA(MALFORMED, WHAT, "header section: %zu bytes, must be %d", in.size,
                         HEADER_BYTES);
    }
    TRY(bytes_get_u32le(&in, &n8));
    if (n8 != 32) return FAIL_DATA(MALFORMED, WHAT, "field size %u, must be 32", n8);
    TRY(bytes_get(&in, prime, sizeof prime));
    if (!circom_curve_of_prime(&info->curve, prime)) {
        return FAIL_DATA(MALFORMED, WHAT,
                         "prime is the scalar field of neither bn254 nor bls12-381");
    }
    TRY(bytes_get_u32le(&in, &info->n_wires));
    TRY(bytes_get_u32le(&in, &info->n_pub_out));
    TRY(bytes_get_u32le(&in, &info->n_pub_in));
    TRY(bytes_get_u32le(&in, &info->n_prv_in));
    TRY(bytes_get_u64le(&in, &info->n_labels));
    TRY(bytes_get_u32le(&in, &info->n_constraints));
    return bytes_end(&in);
}

static cuzk_status check_counts(const circom_r1cs_info *info, size_t constraints, size_t labels)
{
    uint64_t named = UINT64_C(1) + info->n_pub_out + info->n_pub_in + info->n_prv_in;

    if (info->n_wires > R1CS_MAX_VARS || info->n_constraints > R1CS_MAX_VARS) {
        return FAIL_DATA(LIMIT, WHAT, "%u wires and %u constraints, limit %u", info->n_wires,
                         info->n_constraints, R1CS_MAX_VARS);
    }
    if (named > info->n_wires) {
        return FAIL_DATA(MALFORMED, WHAT,
                         "%u wires, but one, %u outputs, %u public and %u private inputs make %llu",
                         info->n_wires, info->n_pub_out, info->n_pub_in, info->n_prv_in,
                         (unsigned long long)named);
    }
    if (info->n_constraints > constraints / MIN_CONSTRAINT_BYTES) {
        return FAIL_DATA(MALFORMED, WHAT, "%u constraints in a section of %zu bytes",
                         info->n_constraints, constraints);
    }
    if ((uint64_t)info->n_wires * LABEL_BYTES != labels) {
        return FAIL_DATA(MALFORMED, WHAT, "wire map of %zu bytes, %u wires take %llu", labels,
                         info->n_wires, (unsigned long long)info->n_wires * LABEL_BYTES);
    }
    return CUZK_OK;
}

/* circom writes the sections of custom gates with a count of zero, or not at all. */
static cuzk_status check_no_gates(const circom_file *f)
{
    const uint32_t ids[2] = {SECTION_GATES, SECTION_GATES_USED};

    for (size_t i = 0; i < 2; i++) {
        bytes_in in;
        uint32_t n = 0;

        if (!circom_file_has(f, ids[i])) continue;
        TRY(circom_file_section(f, ids[i], "custom gates", &in));
        if (in.size == 0) continue;
        TRY(bytes_get_u32le(&in, &n));
        if (n != 0 || bytes_left(&in) != 0) {
            return FAIL_DATA(SHAPE, WHAT, "section %u: custom gates, which Groth16 cannot prove",
                             ids[i]);
        }
    }
    return CUZK_OK;
}

static cuzk_status read_all(circom_r1cs_info *info, bytes_in *constraints, const uint8_t *data,
                            size_t size)
{
    circom_file f;
    bytes_in header, labels;

    TRY(circom_file_read(&f, data, size, WHAT));
    TRY(circom_file_section(&f, SECTION_HEADER, "header", &header));
    TRY(circom_file_section(&f, SECTION_CONSTRAINTS, "constraints", constraints));
    TRY(circom_file_section(&f, SECTION_LABELS, "wire map", &labels));
    TRY(read_header(info, header));
    TRY(check_counts(info, constraints->size, labels.size));
    return check_no_gates(&f);
}

cuzk_status circom_r1cs_info_read(circom_r1cs_info *out, const uint8_t *data, size_t size)
{
    circom_r1cs_info info;
    bytes_in constraints;

    memset(&info, 0, sizeof info);
    TRY(read_all(&info, &constraints, data, size));
    *out = info;
    return CUZK_OK;
}

/* One linear combination; put false: counts its terms, true: takes them. */
static cuzk_status read_terms(r1cs_coeffs *c, bytes_in *in, uint32_t matrix, uint32_t row, bool put)
{
    uint32_t n, wire;
    const uint8_t *value;

    TRY(bytes_get_u32le(in, &n));
    if (n > bytes_left(in) / TERM_BYTES) {
        return FAIL_DATA(MALFORMED, "", "%u terms, the section has %zu more bytes", n,
                         bytes_left(in));
    }
    for (uint32_t i = 0; i < n; i++) {
        TRY(bytes_get_u32le(in, &wire));
        TRY(bytes_view(in, &value, 32));
        TRY(put ? r1cs_coeffs_put(c, matrix, row, wire, value)
                : r1cs_coeffs_count(c, matrix, row, wire));
    }
    return CUZK_OK;
}

static cuzk_status read_constraints(r1cs_coeffs *c, bytes_in in, uint32_t n, bool put)
{
    for (uint32_t row = 0; row < n; row++) {
        for (uint32_t matrix = 0; matrix < 3; matrix++) {
            cuzk_status st = read_terms(c, &in, matrix, row, put);

            if (st != CUZK_OK) {
                status_add_where(WHAT ", constraint %u, %c", row, "ABC"[matrix]);
                return st;
            }
        }
    }
    if (bytes_left(&in) != 0) {
        return FAIL_DATA(MALFORMED, WHAT, "%zu bytes after constraint %u, the last",
                         bytes_left(&in), n);
    }
    return CUZK_OK;
}

cuzk_status circom_r1cs_read(r1cs_system **out, const uint8_t *data, size_t size, cpu_table t,
                             mem *m)
{
    cuzk_status st = CUZK_OK;
    circom_r1cs_info info;
    bytes_in in;
    r1cs_coeffs *c = NULL;
    r1cs_coeffs_shape shape = {
        .name = WHAT, .n_matrices = 3, .form = R1CS_VALUE_PLAIN, .input_rows = true};

    TRY(read_all(&info, &in, data, size));
    shape.cv = curve_get(info.curve, t);
    shape.n_inputs = 1 + info.n_pub_out + info.n_pub_in; /* at most n_wires */
    shape.n_aux = info.n_wires - shape.n_inputs;
    shape.n_rows = info.n_constraints;
    TRY(r1cs_coeffs_begin(&c, &shape, m));
    TRY_OUT(read_constraints(c, in, info.n_constraints, false));
    TRY_OUT(r1cs_coeffs_counted(c));
    TRY_OUT(read_constraints(c, in, info.n_constraints, true));
    return r1cs_coeffs_end(out, c);
out:
    r1cs_coeffs_free(c);
    return st;
}
