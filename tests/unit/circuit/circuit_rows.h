/*
 * unit/circuit/circuit_rows.h - what the reference's circuits are: counts, densities, constraint-system hashes
 *
 * Source: spec/filecoin-expected.md sections 3, 3.1 (production) and 5 (upstream's test shapes).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_CIRCUIT_CIRCUIT_ROWS_H
#define UNIT_CIRCUIT_CIRCUIT_ROWS_H

#include "support.h"

#include "circuit/filecoin/update.h"

/** n_rows are those of the circuit; total_rows and log_domain with the input rows. */
typedef struct circuit_row {
    expected_system want;
    const char *circuit; /* name in the catalogue */
    uint32_t total_rows;
    unsigned log_domain;
    uint64_t n_terms[3]; /* of A, B, C without the input rows' (section 3.2); 0: not given */
} circuit_row;

static inline cuzk_status circuit_row_system(r1cs_system **out, fil_kind kind, const fil_size *size,
                                             mem *m)
{
    bool update = kind == FIL_UPDATE || kind == FIL_UPDATE_POSEIDON;

    return (update ? update_system_of : post_system_of)(out, support_poseidon(), kind, size, m);
}

static inline void circuit_row_check(const circuit_row *r)
{
    mem *m = support_mem();
    r1cs_system *sys = NULL;
    fil_kind kind;
    const fil_size *size;

    assert_status_ok(fil_circuit_parse(&kind, &size, r->circuit));
    assert_status_ok(circuit_row_system(&sys, kind, size, m));
    assert_string_equal(sys->name, r->circuit);
    support_check_system(sys, &r->want);
    assert_int_equal(sys->n_b_input, 1);
    assert_int_equal(r1cs_total_rows(sys), r->total_rows);
    assert_int_equal(r1cs_log_domain(sys, 0), r->log_domain);
    support_check_terms(sys, r->n_terms);
    r1cs_free(sys);
    support_close(m);
}

#endif
