/*
 * engine/filecoin.h - one table of operations a kind of Filecoin proof, and what they work on
 *
 * A kind is a file of its own, filecoin_KIND.c; nothing else in this room knows the kinds apart.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_FILECOIN_H
#define ENGINE_FILECOIN_H

#include "circuit/filecoin/catalog.h"
#include "circuit/filecoin/redundant.h"
#include "circuit/poseidon.h"
#include "engine/engine.h"

typedef struct fil_ops fil_ops;

/** What all partitions of a proof share. */
typedef struct fil_job {
    const job_env *env;
    const fil_ops *ops;
    fil_kind kind;
    const curve *cv;
    fil_redundant redundant;
    bool single; /* one partition is asked for: its inputs may be the only ones */

    /* by read_statement; NULL: none yet */
    void *statement;
    const fil_size *size;
    size_t n_partitions, n_public; /* n_public: inputs of a partition, without ONE */

    /* when proving */
    file_map *files; /* the inputs, in the order given */
    size_t n_files;
    void *input; /* what read_inputs made of them; NULL: nothing */
    poseidon_set *ps;
    r1cs_system *sys; /* not when only checking, as the key */
    groth16_pk *pk;
} fil_job;

/** What an aggregate takes of a sector: what it hashes, and what all sectors of one must have in common. */
typedef struct fil_binding {
    uint8_t bytes[100];
    size_t size;
    bool non_interactive;
    uint32_t group; /* equal in all sectors */
} fil_binding;

struct fil_ops {
    CUZK_STATUS (*read_statement)(fil_job *f, const uint8_t *json, size_t size);
    /** Public inputs of partition k: n_public. */
    CUZK_STATUS (*public_inputs)(const fil_job *f, size_t k, fr *out);
    /** The circuit of a partition. */
    CUZK_STATUS(*system)
    (r1cs_system **out, const poseidon_set *ps, fil_kind kind, const fil_size *s, mem *m);
    /** Decodes inputs that are of all partitions. NULL: each partition has its own. */
    CUZK_STATUS (*read_inputs)(fil_job *f);
    /** The native check of partition k. */
    CUZK_STATUS (*check)(const fil_job *f, size_t k);
    /** The check, with the assignment that comes of it. */
    CUZK_STATUS (*synthesise)(const fil_job *f, size_t k, r1cs_assignment **w);
    /** NULL: proofs of this kind are not aggregated. */
    void (*binding)(const fil_job *f, fil_binding *out);
    void (*clear)(fil_job *f); /* statement and input; either may be NULL */
};

extern const fil_ops fil_post_ops, fil_porep_ops, fil_update_ops;

struct porep_c1;
/** The C1 output of a PoRep, read already: moved to f, and compared with its statement. */
CUZK_STATUS fil_porep_take(fil_job *f, struct porep_c1 *c1);

/** CUZK_EINVAL: unknown. */
CUZK_STATUS fil_ops_of(const fil_ops **ops, fil_kind *kind, const char *name);

/** DIR/NAME.vk, for proofs of f->n_public inputs. */
CUZK_STATUS fil_read_vk(groth16_vk **vk, const fil_job *f, const char *dir);

/** Why a proof of a checked witness did not verify: a row (unsatisfied), a point of the key (malformed), or a bug. */
CUZK_STATUS fil_explain(const fil_job *f, const r1cs_assignment *w);
/** The witness's public inputs are the statement's: what a verifier will use. */
CUZK_STATUS fil_compare_public(const fil_job *f, size_t k, const r1cs_assignment *w);

#define FIL_PATH_MAX 4096
/** Path of a circuit's key: DIR/v28-...EXT. */
CUZK_STATUS fil_key_path(char out[FIL_PATH_MAX], const char *dir, fil_kind kind,
                         const fil_size *size, const char *ext);

#endif
