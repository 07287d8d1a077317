/*
 * circuit/filecoin/porep_witness.h - from a C1 output to an assignment, checked while it is written
 *
 * A partition at a time. What is checked is whether the output agrees with itself and with its own comm_d, comm_r and replica_id:
 * paths in trees D, R and C, columns, labels made again from their parents, comm_r's preimage. Whether it is the output that a
 * statement asks for is porep_check_statement's question.
 *
 * Errors: CUZK_EDATA of class inconsistent; `where`: "partition 0, challenge 1, drg parent 3"; the first in the order of challenges
 * (path after path as the circuit has them). What the circuit never reads is compared last, and a difference is
 * redundant (redundant.h).
 *
 * Source: spec/filecoin-circuits.md section 10; spec/filecoin-formats.md section 2.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_POREP_WITNESS_H
#define CIRCUIT_FILECOIN_POREP_WITNESS_H

#include "base/pool.h"
#include "circuit/filecoin/porep.h"
#include "circuit/filecoin/redundant.h"

/** How to run. */
typedef struct porep_run {
    const poseidon_set *ps;
    const fil_redundant *redundant; /* NULL: nobody wants to know */
    pool *p;
    const cancel *stop;
    mem *m;
} porep_run;

/** Checks a partition. Takes porep_check_size for a while. */
CUZK_STATUS porep_c1_check(const porep_c1 *c1, uint32_t partition, const porep_run *run);
/** The same check, with all that it computes written into the assignment of the partition's circuit: sys is porep_system_new of the
 *  output's size, layers and challenges. No assignment comes of a partition that does not hold. Takes
 *  r1cs_assignment_size(sys), and porep_check_size for a while. */
CUZK_STATUS porep_synthesize(r1cs_assignment **out, const r1cs_system *sys, const porep_c1 *c1,
                             uint32_t partition, const porep_run *run);
/** Bytes that a check takes from its budget while it runs. */
size_t porep_check_size(const porep_c1 *c1);

#endif
