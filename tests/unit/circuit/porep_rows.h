/*
 * unit/circuit/porep_rows.h - what the reference's PoRep circuits are: counts, densities, constraint-system hashes
 *
 * Source: spec/filecoin-expected.md sections 3, 3.1, 3.2 (production) and 5 (upstream's test shapes).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_CIRCUIT_POREP_ROWS_H
#define UNIT_CIRCUIT_POREP_ROWS_H

#include "support.h"

#include "circuit/filecoin/porep.h"

/** n_rows are those of the circuit; total_rows and log_domain with the input rows. */
typedef struct porep_row {
    expected_system want;
    uint64_t bytes; /* of a sector */
    uint32_t layers, n_challenges, total_rows;
    unsigned log_domain;
    uint64_t n_terms[3];
} porep_row;

static inline void porep_row_check(const porep_row *r)
{
    mem *m = support_mem();
    r1cs_system *sys = NULL;

    assert_status_ok(porep_system_new(&sys, support_poseidon(), r->want.name,
                                      fil_size_by_bytes(r->bytes), r->layers, r->n_challenges, m));
    support_check_system(sys, &r->want);
    assert_int_equal(sys->n_b_input, 1);
    assert_int_equal(r1cs_total_rows(sys), r->total_rows);
    assert_int_equal(r1cs_log_domain(sys, 0), r->log_domain);
    support_check_terms(sys, r->n_terms);
    r1cs_free(sys);
    support_close(m);
}

#endif
