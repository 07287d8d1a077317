/*
 * circuit/filecoin/porep_statement.c - what follows from a PoRep statement: replica_id, challenges, public inputs
 *
 * Source: spec/filecoin-formats.md sections 1.1, 2.5, 3.1; spec/filecoin-circuits.md sections 10.1, 10.2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "circuit/filecoin/element.h"
#include "circuit/filecoin/porep_impl.h"

#define PUBLIC_OF_ALL 3        /* replica_id, comm_d, comm_r */
#define PUBLIC_OF_CHALLENGE 18 /* indices in D, of 14 parents, the challenge, in R, in C */
#define MAX_SYNTHETIC_LOG 18
#define CHACHA_ROUNDS 20

/* ---- identities ---- */

void porep_id_of(uint8_t out[32], uint32_t registered)
{
    memset(out, 0, 32);
    store_u64le(out, registered); /* then a nonce, 0 */
}

/* LEB128, padded with zeros. */
static void prover_id(uint8_t out[32], uint64_t miner)
{
    size_t n = 0;

    memset(out, 0, 32);
    for (; miner >= 0x80; miner >>= 7) out[n++] = (uint8_t)(miner | 0x80);
    out[n] = (uint8_t)miner;
}

static void replica_id(uint8_t out[32], const porep_statement *st)
{
    uint8_t in[136];

    prover_id(in, st->miner_id);
    store_u64be(in + 32, st->sector_number);
    memcpy(in + 40, st->ticket, 32);
    memcpy(in + 72, st->comm_d, 32);
    porep_id_of(in + 104, st->registered);
    sha256(out, in, sizeof in);
    out[31] &= 0x3f;
}

/* ---- challenges ---- */

/* 32 little-endian bytes modulo nodes - 1, plus 1. */
static uint32_t to_challenge(const uint8_t x[32], uint32_t nodes_log)
{
    uint64_t m = (UINT64_C(1) << nodes_log) - 1, r = 0;

    for (size_t i = 8; i-- > 0;) r = (r << 32 | load_u32le(x + 4 * i)) % m;
    return (uint32_t)r + 1;
}

static void keyed(uint8_t out[32], const char *tag, const uint8_t replica[32], const uint8_t x[32])
{
    blake2b_ctx c;

    blake2b_init(&c, 32, tag, strlen(tag));
    blake2b_update(&c, replica, 32);
    blake2b_update(&c, x, 32);
    blake2b_final(&c, out);
}

void porep_synthetic_keys(porep_derived *d)
{
    keyed(d->generation_key, "filecoin.io|PoRep|1|Synthetic|1|Generation", d->replica_id,
          d->st.comm_r);
    keyed(d->selection_key, "filecoin.io|PoRep|1|Synthetic|1|Selection", d->replica_id, d->st.seed);
}

/* Block of the stream that synthetic challenges come from. */
static void stream_block(uint8_t out[64], const uint8_t key[32], uint32_t block)
{
    static const uint8_t nonce[12] = "synth-porep";
    const uint32_t counter_nonce[4] = {block, load_u32le(nonce), load_u32le(nonce + 4),
                                       load_u32le(nonce + 8)};

    chacha_block(out, key, counter_nonce, CHACHA_ROUNDS);
}

uint32_t porep_synthetic_node(const uint8_t generation_key[32], uint32_t s, uint32_t nodes_log)
{
    uint8_t block[64];

    stream_block(block, generation_key, s / 2);
    return to_challenge(block + 32 * ((size_t)s % 2), nodes_log);
}

uint32_t porep_synthetic_index(const uint8_t selection_key[32], uint32_t j, uint32_t n_synth)
{
    uint8_t block[64];

    stream_block(block, selection_key, j / 16);
    return load_u32le(block + 4 * ((size_t)j % 16)) % n_synth;
}

/* Challenge j by SHA-256 of a tag, two hashes and j. */
static uint32_t hashed(const char *tag, const uint8_t replica[32], const uint8_t x[32], uint32_t j,
                       uint32_t nodes_log)
{
    sha256_ctx c;
    uint8_t number[4], hash[32];

    store_u32le(number, j);
    sha256_init(&c);
    sha256_update(&c, tag, strlen(tag));
    sha256_update(&c, replica, 32);
    sha256_update(&c, x, 32);
    sha256_update(&c, number, sizeof number);
    sha256_final(&c, hash);
    return to_challenge(hash, nodes_log);
}

uint32_t porep_challenge(const porep_derived *d, uint32_t partition, uint32_t i)
{
    uint32_t j = partition * d->n_challenges + i, nodes_log = d->graph.nodes_log, s;

    switch (d->feature) {
    case POREP_INTERACTIVE: return hashed("", d->replica_id, d->st.seed, j, nodes_log);
    case POREP_NON_INTERACTIVE:
        return hashed("filecoin.io|PoRep|1|NonInteractive|1", d->replica_id, d->st.comm_r, j,
                      nodes_log);
    case POREP_SYNTHETIC: break;
    }
    s = nodes_log < MAX_SYNTHETIC_LOG ? nodes_log : MAX_SYNTHETIC_LOG;
    return porep_synthetic_node(
        d->generation_key, porep_synthetic_index(d->selection_key, j, UINT32_C(1) << s), nodes_log);
}

void porep_challenges_of(porep_challenges *out, const porep_derived *d, uint32_t partition,
                         uint32_t from)
{
    uint32_t left = d->n_challenges - from, room = sizeof out->node / sizeof out->node[0];

    out->n = left < room ? left : room;
    for (uint32_t i = 0; i < out->n; i++) out->node[i] = porep_challenge(d, partition, from + i);
    porep_exp_parents_many(&d->graph, out->node, out->n, out->exp);
}

/* ---- all of it ---- */

void porep_derive(porep_derived *out, const porep_statement *st)
{
    const fil_size *s = st->shape.size;

    *out = (porep_derived){.st = *st,
                           .feature = porep_feature_of(st->registered),
                           .n_challenges = s->porep_challenges};
    out->n_partitions = porep_partitions(s, out->feature);
    replica_id(out->replica_id, st);
    porep_graph_init(&out->graph, s, st->registered);
    porep_synthetic_keys(out);
}

size_t porep_n_public(const porep_derived *d)
{
    return PUBLIC_OF_ALL + (size_t)PUBLIC_OF_CHALLENGE * d->n_challenges;
}

static fr *put_challenge(const porep_derived *d, const curve *cv, uint32_t challenge,
                         const uint32_t exp[POREP_EXP_PARENTS], fr *out)
{
    uint32_t drg[POREP_DRG_PARENTS];
    fr node;

    porep_drg_parents(&d->graph, challenge, drg);
    cv->fr_from_u64(&node, challenge);
    *out++ = node;
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++) cv->fr_from_u64(out++, drg[i]);
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) cv->fr_from_u64(out++, exp[i]);
    for (unsigned i = 0; i < 3; i++) *out++ = node;
    return out;
}

cuzk_status porep_public_inputs(const porep_derived *d, size_t partition, const curve *cv, fr *out)
{
    const uint8_t *const hashes[PUBLIC_OF_ALL] = {d->replica_id, d->st.comm_d, d->st.comm_r};
    porep_challenges c;

    if (partition >= d->n_partitions)
        return FAIL(CUZK_EINVAL, "partition %zu, there are %" PRIu32, partition, d->n_partitions);
    for (unsigned i = 0; i < PUBLIC_OF_ALL; i++) fil_load_fr(cv, out++, hashes[i]);
    for (uint32_t from = 0; from < d->n_challenges; from += c.n) {
        porep_challenges_of(&c, d, (uint32_t)partition, from);
        for (uint32_t i = 0; i < c.n; i++) out = put_challenge(d, cv, c.node[i], c.exp[i], out);
    }
    return CUZK_OK;
}
