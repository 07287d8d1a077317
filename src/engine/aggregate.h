/*
 * engine/aggregate.h - aggregates of Filecoin's proofs: where the powers are, what is bound, what is checked
 *
 * Source: spec/filecoin-aggregate.md sections 2.3 and 4.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_AGGREGATE_H
#define ENGINE_AGGREGATE_H

#include "base/hash.h"
#include "engine/filecoin.h"
#include "groth16/aggregate.h"

/** Powers, with what is known of their file. */
typedef struct agg_powers {
    aggregate_srs *srs;
    bool trusted; /* every point was found in its subgroup (`params check --deep`) */
} agg_powers;

/** path, or where it is NULL the network's file in dir. A file with the network's name and other bytes is a warning. */
CUZK_STATUS agg_powers_open(agg_powers *out, cuzk_engine *e, const char *dir, const char *path);
void agg_powers_close(agg_powers *p);
/** CUZK_EDATA (limit): they do not reach to n proofs. */
CUZK_STATUS agg_powers_reach(const agg_powers *p, size_t n);

/** Proofs of one circuit, sector by sector, with what they are of. */
typedef struct agg_list {
    const job_env *env;
    const curve *cv;
    size_t n_sectors;  /* that will come */
    bool with_proofs;  /* else statements alone, to verify an aggregate */
    size_t n_added, n; /* sectors so far; proofs (partitions) */

    /* of the first sector: the others' must be the same */
    fil_kind kind;
    const fil_size *size;
    size_t n_partitions, n_public;
    fil_binding first;

    groth16_proof *proofs;
    fr *pub; /* n x n_public */
    sha256_ctx bound;
} agg_list;

void agg_list_init(agg_list *l, const job_env *env, const curve *cv, size_t n_sectors,
                   bool with_proofs);
void agg_list_clear(agg_list *l);
/** The next sector: f has its statement read; proofs: 192 bytes a partition. CUZK_EDATA: not of the circuit of those before
 *  (shape), too many (limit), malformed; where: "sector 3", "sector 3, partition 1". */
CUZK_STATUS agg_list_add(agg_list *l, const fil_job *f, const uint8_t *proofs, size_t size);

/** Bytes that a list of n proofs with n_public inputs each takes, its keys, its checks and its aggregate. */
uint64_t agg_list_size(size_t n, size_t n_public);

/** Each proof alone. CUZK_EDATA, class unsatisfied: names the first that does not verify. */
CUZK_STATUS agg_list_check(const agg_list *l, dev_stream *s, const groth16_vk *vk);
/** Appends the aggregate. With a vk, for proofs that were checked, it is verified before (CUZK_EDATA: bad powers). */
CUZK_STATUS agg_list_prove(bytes_out *out, const agg_list *l, const agg_powers *p, dev_stream *s,
                           aggregate_version version, const groth16_vk *vk);
CUZK_STATUS agg_list_verify(bool *valid, const agg_list *l, const agg_powers *p, dev_stream *s,
                            aggregate_version version, const groth16_vk *vk, const uint8_t *proof,
                            size_t size);

/** The network's form of a non-interactive PoRep: parts, its circuits' proofs, each verified already, as one aggregate (V2). */
CUZK_STATUS fil_aggregate_ni(bytes_out *out, dev_stream *s, const fil_job *f, const agg_powers *p,
                             const bytes_out *parts);
CUZK_STATUS fil_verify_ni(bool *valid, dev_stream *s, const fil_job *f, const agg_powers *p,
                          const groth16_vk *vk, const uint8_t *proof, size_t size);
/** Whether the statement's proof is the aggregate of its circuits' proofs. */
bool fil_is_ni(const fil_job *f);

#endif
