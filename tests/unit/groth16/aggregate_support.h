/*
 * unit/groth16/aggregate_support.h - the fixtures' proofs with their statements, and powers, for tests of aggregates
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef AGGREGATE_SUPPORT_H
#define AGGREGATE_SUPPORT_H

#include "groth16/aggregate.h"
#include "support.h"

#define AGG_DIR "filecoin/2kib/aggregate/"
#define AGG_ALPHA "36de3d7ad3e65d51776dc73c707d6ab3d7683ff8255791266ffb3117d088df06"
#define AGG_BETA "732d24ca3db5cb3ad271c882a340b8217b0f7b90ad579f2e671cb81e36c1f922"

/** A list of proofs under one key, with the public inputs of each. */
typedef struct agg_case {
    rig *r;
    const curve *cv;
    groth16_vk *vk;
    groth16_proof *proofs;
    fr *pub;
    size_t n, n_pub;
    uint8_t statement[32];
} agg_case;

/** n seals a, b, a, b, ... of porep-v1_1; the statement has seed and comm_r once a proof. */
void agg_seals(agg_case *c, rig *r, size_t n);
/** n updates ua, ub, ua, ... */
void agg_updates(agg_case *c, rig *r, size_t n);
/** The 13 partitions of porep-ni, over again until there are n. */
void agg_ni(agg_case *c, rig *r, size_t n);
void agg_case_clear(agg_case *c);

/** The fixture's powers. */
void agg_fixture_srs(aggregate_srs **srs, const rig *r);
/** As many powers of the fixture's secrets. */
void agg_made_srs(aggregate_srs **srs, const rig *r, uint32_t powers);

/** Aggregates; the caller clears out. */
cuzk_status agg_prove(bytes_out *out, const agg_case *c, const aggregate_srs *srs,
                      aggregate_version v, aggregate_challenges *seen);
/** Verifies against the case as it is. */
cuzk_status agg_verify(bool *valid, const agg_case *c, const aggregate_srs *srs,
                       aggregate_version v, const uint8_t *proof, size_t size,
                       aggregate_challenges *seen);

#endif
