/*
 * circuit/filecoin/update_synth.c - checks a sector update's vanilla proof and writes the assignment, in one pass
 *
 * First what all challenges share: commitments, the apex tree, the digests. Then encodings, eight challenges at a time, and each
 * challenge's path in tree D, a task each; then all paths in Poseidon trees together (climb.h). What a challenge gets wrong is noted and judged at the end, in
 * the order of challenges. With an assignment, hashes write their intermediate values right into their places; without, the
 * same walk hashes alone. Bits go through bit writers, so that tasks may share words.
 *
 * Nodes of tree D are hashed challenge by challenge: above the apex leafs they are shared (the apex tree), below hardly ever.
 *
 * Source: spec/filecoin-circuits.md sections 11.2 and 11.3 (order), spec/filecoin-formats.md section 3.5 (what is checked)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "circuit/filecoin/climb.h"
#include "circuit/filecoin/element.h"
#include "circuit/filecoin/update_impl.h"
#include "circuit/gadget/select.h"
#include "circuit/gadget/sha256_node.h"

#define MAX_TREES 3 /* r_old, r_new, and d_new where it is a Poseidon tree too */

/* What is wrong with a challenge, in the order in which it is told. */
enum {
    BAD_R_OLD = 1,
    BAD_ENCODING = 2,
    BAD_R_NEW = 4,
    BAD_D_NEW = 8,
    BAD_PARTITION_PATH = 16,
};

typedef struct job {
    /* fixed after init */
    const update_vanilla *v;
    const update_shape *s;
    const curve *cv;
    const r1cs_system *sys;
    r1cs_assignment *w; /* NULL: check alone */
    update_layout at;
    uint32_t trace; /* elements of a Poseidon trace of arity 2 */
    pool *pool;
    const cancel *cancel;
    /* made one after the other */
    fr comm_r_new, phi, root_r_old, root_r_new, root_d_new, apex[UPDATE_MAX_APEX_LEAFS];
    uint8_t (*tree)[32]; /* apex tree, row after row from the leafs on, the root last */
    uint64_t *challenge;
    uint8_t *bad; /* of each challenge */
    climb climb;
    /* of the row of the apex tree that is being hashed */
    size_t row_from, row_to;
} job;

/* ---- where things are ---- */

static const uint8_t *proof_at(const job *j, uint32_t n, size_t which)
{
    return j->v->data + j->v->challenges + n * j->v->challenge_size + which;
}

static const r1cs_instance *instance(const job *j, size_t k)
{
    return &j->sys->instances[k];
}

/* Elements of instance k. */
static fr *elems_of(const job *j, size_t k)
{
    return j->w->elems + r1cs_place_of(j->sys, instance(j, k)).elem_start;
}

static size_t challenge_instance(const job *j, uint32_t n, size_t k)
{
    return j->at.challenges + n * j->at.per_challenge + k;
}

static bit_writer bits_of(const job *j, size_t k)
{
    return bit_writer_at(j->w->bits, r1cs_place_of(j->sys, instance(j, k)).bit_start);
}

/* 32 bytes of the input, which may be a file that changes meanwhile: never more than 255 bits. */
static void load_node(uint8_t out[32], const uint8_t *b)
{
    memcpy(out, b, 32);
    out[31] &= 0x7f;
}

/* ---- Poseidon of two elements ---- */

/* Hash of a and b; its trace ends at hash_at where that is not NULL. */
static fr hash2(const job *j, fr *hash_at, const fr *a, const fr *b, const fr *tag)
{
    const poseidon *p = poseidon_of(j->v->ps, 2);
    const fr in[2] = {*a, *b};
    fr out;

    if (hash_at == NULL) {
        poseidon_hash(p, &out, in, tag);
        return out;
    }
    poseidon_trace(p, hash_at - (j->trace - 1), in, tag);
    return *hash_at;
}

static fr random2(const job *j, fr *hash_at, const fr *a, const fr *b)
{
    fr tag = update_random_tag(j->cv);

    return hash2(j, hash_at, a, b, &tag);
}

/* ---- what all challenges share ---- */

static void put_head_bits(const job *j, uint64_t selector)
{
    bit_writer out = bits_of(j, 0);

    bit_writer_put(&out, selector, j->s->partition_bits + UPDATE_HIGH_CHOICES);
    bit_writer_end(&out);
}

/* The first public input, the commitments and apex leafs; e: elements of the head. */
static void put_head(const job *j, fr *e, const fr *comm_c)
{
    const update_layout *at = &j->at;
    const fr *in = j->w->inputs + 1;
    uint64_t selector = update_selector(j->s, j->v->partition);

    e[0] = in[0];
    put_head_bits(j, selector);
    j->cv->fr_from_u64(&e[at->partition], j->v->partition);
    e[at->comm_r_old] = in[1];
    e[at->comm_d_new] = in[2];
    e[at->comm_r_new] = in[3];
    e[at->comm_c] = *comm_c;
    e[at->root_r_old] = j->root_r_old;
    e[at->root_r_new] = j->root_r_new;
    memcpy(&e[at->apex], j->apex, j->s->n_apex * sizeof *e);
}

static cuzk_status comm_fault(const job *j, const char *comm, const char *root)
{
    (void)FAIL_DATA(STATEMENT, "", "%s is not the hash of comm_c and the root of challenge 0's %s",
                    comm, root);
    status_add_where("partition %zu", j->v->partition);
    return CUZK_EDATA;
}

static cuzk_status head(job *j)
{
    const update_vanilla *v = j->v;
    fr pub[UPDATE_N_PUBLIC], comm_c, tag, *e = j->w == NULL ? NULL : elems_of(j, 0), hash;

    TRY(update_public_inputs(v->st, v->partition, j->cv, pub));
    fil_load_fr(j->cv, &comm_c, v->data);
    fil_load_fr(j->cv, &j->root_r_old, proof_at(j, 0, v->r_old) + v->r.root);
    fil_load_fr(j->cv, &j->root_r_new, proof_at(j, 0, v->r_new) + v->r.root);
    for (uint32_t i = 0; i < j->s->n_apex; i++)
        fil_load_fr(j->cv, &j->apex[i], v->data + v->apex + (size_t)32 * i);
    j->root_d_new = pub[2];
    j->comm_r_new = pub[3];
    if (e != NULL) {
        memcpy(j->w->inputs + 1, pub, sizeof pub);
        put_head(j, e, &comm_c);
    }
    j->phi = random2(j, e == NULL ? NULL : &e[j->at.phi], &pub[2], &pub[1]);
    poseidon_merkle_tag(poseidon_of(v->ps, 2), &tag);
    hash = hash2(j, e == NULL ? NULL : &e[j->at.hash_r_old], &comm_c, &j->root_r_old, &tag);
    if (!j->cv->fr_eq(&hash, &pub[1])) return comm_fault(j, "comm_r_old", "r_old");
    hash = hash2(j, e == NULL ? NULL : &e[j->at.hash_r_new], &comm_c, &j->root_r_new, &tag);
    if (!j->cv->fr_eq(&hash, &pub[3])) return comm_fault(j, "comm_r_new", "r_new");
    return CUZK_OK;
}

/* Node i of the row that is being hashed. */
static cuzk_status hash_pair(void *ctx, size_t i, unsigned worker)
{
    const job *j = ctx;
    const uint8_t(*pair)[32] = (const uint8_t(*)[32])j->tree + j->row_from + 2 * i;
    size_t to = j->row_to + i;

    (void)worker; /* it needs nothing of its own */
    if (j->w == NULL)
        sha256_node_hash(j->tree[to], pair[0], pair[1]);
    else
        sha256_node_values(j->w, instance(j, j->at.apex_tree + to - j->s->n_apex), j->tree[to],
                           pair[0], pair[1], 0);
    return CUZK_OK;
}

/* The sibling at a level of challenge n's d_new. */
static const uint8_t *d_sibling(const job *j, uint32_t n, unsigned level)
{
    return proof_at(j, n, j->v->d_new) + j->v->d.siblings[level];
}

/* A step in tree D: node becomes the one above it. With an assignment the sibling goes to *sibling_to, the rest to instance k. */
static void step_d(const job *j, size_t k, fr *sibling_to, uint8_t node[32], const uint8_t *from,
                   unsigned index)
{
    uint8_t sibling[32];

    load_node(sibling, from);
    if (j->w == NULL) {
        sha256_node_hash(node, index == 0 ? node : sibling, index == 0 ? sibling : node);
        return;
    }
    fil_load_fr(j->cv, sibling_to, sibling);
    sha256_node_values(j->w, instance(j, k), node, node, sibling, index);
}

/* From the apex tree's root along the partition's path; siblings are those of challenge 0. */
static cuzk_status climb_partition(job *j)
{
    fr *siblings = j->w == NULL ? NULL : elems_of(j, 0) + j->at.partition_siblings;
    uint8_t node[32];

    memcpy(node, j->tree[2 * j->s->n_apex - 2], 32);
    for (unsigned l = 0; l < j->s->partition_bits; l++)
        step_d(j, j->at.partition_path + l, j->w == NULL ? NULL : siblings++, node,
               d_sibling(j, 0, j->s->drawn_bits + l), j->v->partition >> l & 1);
    if (memcmp(node, j->v->st->comm_d_new, 32) == 0) return CUZK_OK;
    (void)FAIL_DATA(INCONSISTENT, "", "the root of the apex leafs does not lead to comm_d_new");
    status_add_where("partition %zu, apex leafs", j->v->partition);
    return CUZK_EDATA;
}

static cuzk_status apex_tree(job *j)
{
    uint32_t n = j->s->n_apex;

    if (n == 0) return CUZK_OK;
    for (uint32_t i = 0; i < n; i++)
        load_node(j->tree[i], j->v->data + j->v->apex + (size_t)32 * i);
    j->row_from = 0;
    j->row_to = n;
    for (n /= 2; n > 0; n /= 2) {
        TRY(pool_run(j->pool, j->cancel, n, hash_pair, j));
        j->row_from = j->row_to;
        j->row_to += n;
    }
    return climb_partition(j);
}

/* Digests as update_challenges draws them, with their traces. */
static void put_draws(const job *j)
{
    for (uint32_t k = 0; k < j->s->n_digests; k++) {
        size_t inst = j->at.draws + (size_t)2 * k;
        fr *number = elems_of(j, inst), digest;
        bit_writer out = bits_of(j, inst + 1);
        scalar s;

        j->cv->fr_from_u64(number, j->v->partition * j->s->n_digests + k);
        digest = random2(j, elems_of(j, inst + 1) + j->trace - 1, &j->comm_r_new, number);
        j->cv->fr_to_scalar(&s, &digest);
        bit_writer_put_bytes(&out, s.b, NUM_BITS);
        bit_writer_end(&out);
    }
}

/* ---- a challenge ---- */

/* The number that chooses rho; e: elements of the challenge, or NULL. */
static fr high_bits(const job *j, uint64_t challenge, fr *e)
{
    const update_shape *s = j->s;
    fr high;

    j->cv->fr_from_u64(&high, update_high(s, challenge));
    if (e == NULL) return high;
    for (uint32_t k = 0; k < UPDATE_HIGH_CHOICES; k++) {
        j->cv->fr_from_u64(e++, challenge >> (s->size->nodes_log - s->high[k]));
        *e++ = k == s->high_choice ? high : j->cv->fr_zero;
    }
    *e = high;
    return high;
}

/* Leafs, from the old one and the data to the new one, which the paths start at. */
static void encode(const job *j, uint32_t n, const fr *rho)
{
    const update_vanilla *v = j->v;
    fr *e = j->w == NULL ? NULL : elems_of(j, challenge_instance(j, n, 0)), *node = j->climb.node;
    fr d, product, want;

    fil_load_fr(j->cv, &d, proof_at(j, n, v->d_new) + v->d.leaf);
    fil_load_fr(j->cv, &node[n], proof_at(j, n, v->r_old) + v->r.leaf);
    fil_load_fr(j->cv, &want, proof_at(j, n, v->r_new) + v->r.leaf);
    j->cv->fr_mul(&product, &d, rho);
    j->cv->fr_add(&node[j->s->n_challenges + n], &node[n], &product);
    if (j->s->kind == FIL_UPDATE_POSEIDON) node[2 * j->s->n_challenges + n] = d;
    if (!j->cv->fr_eq(&node[j->s->n_challenges + n], &want)) j->bad[n] |= BAD_ENCODING;
    if (e == NULL) return;
    e[j->at.leaf_r_old] = node[n];
    e[j->at.leaf_d_new] = d;
    e[j->at.product] = product;
    e[j->at.leaf_r_new] = node[j->s->n_challenges + n];
}

/* rho and leafs of POSEIDON_LANES challenges. */
static cuzk_status encode_batch(void *ctx, size_t batch, unsigned worker)
{
    const job *j = ctx;
    const poseidon *p = poseidon_of(j->v->ps, 2);
    uint32_t first = (uint32_t)batch * POSEIDON_LANES, left = j->s->n_challenges - first;
    unsigned n = left < POSEIDON_LANES ? left : POSEIDON_LANES;
    fr in[POSEIDON_LANES][2], rho[POSEIDON_LANES], tag = update_random_tag(j->cv);
    fr *to[POSEIDON_LANES] = {NULL};
    const fr *from[POSEIDON_LANES] = {NULL};

    (void)worker; /* it needs nothing of its own */
    for (unsigned i = 0; i < n; i++) {
        fr *e = j->w == NULL ? NULL : elems_of(j, challenge_instance(j, first + i, 0));

        in[i][0] = j->phi;
        in[i][1] = high_bits(j, j->challenge[first + i], e);
        from[i] = in[i];
        to[i] = e == NULL ? &rho[i] : &e[j->at.rho] - (j->trace - 1);
    }
    if (j->w == NULL)
        poseidon_hash_many(p, n, to, from, &tag);
    else
        poseidon_trace_many(p, n, to, from, &tag);
    for (unsigned i = 0; i < n; i++)
        encode(j, first + i, j->w == NULL ? &rho[i] : to[i] + (j->trace - 1));
    return CUZK_OK;
}

/* From the data's leaf up to its apex leaf. */
static void climb_d(const job *j, uint32_t n)
{
    uint64_t index = j->challenge[n];
    unsigned leaf = (unsigned)(index >> j->at.d_levels) & (j->s->n_apex - 1);
    size_t steps = challenge_instance(j, n, j->at.d_new_steps);
    fr *siblings = NULL;
    uint8_t node[32];

    if (j->w != NULL) {
        siblings = elems_of(j, challenge_instance(j, n, j->at.d_new_head));
        select_values(siblings, j->apex, j->s->apex_bits, leaf);
        siblings += j->s->n_apex - 1;
    }
    load_node(node, proof_at(j, n, j->v->d_new) + j->v->d.leaf);
    for (unsigned l = 0; l < j->at.d_levels; l++, index >>= 1)
        step_d(j, steps + l, j->w == NULL ? NULL : siblings++, node, d_sibling(j, n, l), index & 1);
    if (memcmp(node, j->tree[leaf], 32) != 0) j->bad[n] |= BAD_D_NEW;
    for (unsigned l = j->s->drawn_bits; l < j->v->d.n_levels; l++)
        if (memcmp(d_sibling(j, n, l), d_sibling(j, 0, l), 32) != 0)
            j->bad[n] |= BAD_PARTITION_PATH;
}

/* Bits of the steps of a path in a Poseidon tree: insertion's products. */
static void put_path_bits(const job *j, size_t steps, uint64_t index)
{
    for (unsigned l = 0; l < j->at.r_levels; l++) {
        const insert_plan *plan = insert_plan_of(j->v->r.levels[l]);
        unsigned products = plan->n_bits - plan->index_bits;
        bit_writer out = bits_of(j, steps + l);

        bit_writer_put(&out,
                       insert_bits(plan, (unsigned)index & (plan->size - 1u)) >> plan->index_bits,
                       products);
        bit_writer_end(&out);
        index >>= plan->index_bits;
    }
}

static cuzk_status walk_challenge(void *ctx, size_t n, unsigned worker)
{
    const job *j = ctx;
    uint32_t c = (uint32_t)n;

    (void)worker; /* it needs nothing of its own */
    if (j->s->kind == FIL_UPDATE) climb_d(j, c);
    for (uint32_t t = 0; t < j->climb.n / j->s->n_challenges; t++)
        j->climb.position[t * j->s->n_challenges + c] = j->challenge[c];
    if (j->w == NULL) return CUZK_OK;
    put_path_bits(j, challenge_instance(j, c, j->at.r_old_steps), j->challenge[c]);
    put_path_bits(j, challenge_instance(j, c, j->at.r_new_steps), j->challenge[c]);
    if (j->s->kind == FIL_UPDATE_POSEIDON)
        put_path_bits(j, challenge_instance(j, c, j->at.d_new_steps), j->challenge[c]);
    return CUZK_OK;
}

/* ---- paths in Poseidon trees: those of all challenges in r_old, then in r_new, then perhaps in d_new ---- */

static unsigned index_at(const bincode_proof *p, uint64_t challenge, unsigned level)
{
    for (unsigned l = 0; l < level; l++) challenge /= p->levels[l];
    return (unsigned)challenge & (p->levels[level] - 1);
}

static void step(const void *ctx, uint32_t path, unsigned l, climb_step *out)
{
    const job *j = ctx;
    const bincode_proof *p = &j->v->r;
    const size_t proofs[MAX_TREES] = {j->v->r_old, j->v->r_new, j->v->d_new};
    const size_t siblings[MAX_TREES] = {0, j->at.r_new_siblings, j->at.d_new_head};
    const size_t steps[MAX_TREES] = {j->at.r_old_steps, j->at.r_new_steps, j->at.d_new_steps};
    uint32_t tree = path / j->s->n_challenges, n = path % j->s->n_challenges;
    fr *e;

    out->siblings = proof_at(j, n, proofs[tree]) + p->siblings[l];
    out->index = index_at(p, j->challenge[n], l);
    if (j->w == NULL) return;
    e = elems_of(j, challenge_instance(j, n, siblings[tree]));
    if (tree == 0) e += j->at.challenge_siblings;
    for (unsigned below = 0; below < l; below++) e += p->levels[below] - 1;
    out->siblings_to = e;
    out->picks_to = elems_of(j, challenge_instance(j, n, steps[tree] + l));
}

static void judge_paths(const job *j)
{
    const fr *roots[MAX_TREES] = {&j->root_r_old, &j->root_r_new, &j->root_d_new};
    static const uint8_t bad[MAX_TREES] = {BAD_R_OLD, BAD_R_NEW, BAD_D_NEW};

    for (uint32_t path = 0; path < j->climb.n; path++) {
        uint32_t tree = path / j->s->n_challenges;

        if (!j->cv->fr_eq(&j->climb.node[path], roots[tree]))
            j->bad[path % j->s->n_challenges] |= bad[tree];
    }
}

static cuzk_status judge(const job *j, uint32_t n)
{
    static const struct {
        uint8_t bad;
        const char *place, *text;
    } faults[] = {
        {BAD_R_OLD, "r_old", "the path does not lead from its leaf to the root of challenge 0"},
        {BAD_ENCODING, "r_new", "the leaf is not the old one plus the data's times rho"},
        {BAD_R_NEW, "r_new", "the path does not lead from its leaf to the root of challenge 0"},
        {BAD_D_NEW, "d_new", "the path does not lead from its leaf into the tree of comm_d_new"},
        {BAD_PARTITION_PATH, "d_new", "the partition's path is not that of challenge 0"},
    };

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        if ((j->bad[n] & faults[i].bad) == 0) continue;
        (void)FAIL_DATA(INCONSISTENT, "", "%s", faults[i].text);
        status_add_where("partition %zu, challenge %" PRIu32 ", %s", j->v->partition, n,
                         faults[i].place);
        return CUZK_EDATA;
    }
    return CUZK_OK;
}

/* ---- one run ---- */

static uint32_t trees_of(const update_shape *s)
{
    return s->kind == FIL_UPDATE ? 2 : MAX_TREES;
}

/* Bytes of what a run keeps: the climb's, challenges, the apex tree, faults. */
static size_t scratch_size(const update_shape *s)
{
    return climb_workspace(trees_of(s) * s->n_challenges) +
           s->n_challenges * (sizeof(uint64_t) + 1) + (size_t)2 * s->n_apex * sizeof(uint8_t[32]);
}

size_t update_check_size(const update_vanilla *v)
{
    return mem_cost(scratch_size(&v->st->shape));
}

static void init(job *j, uint8_t *scratch)
{
    uint32_t n = j->s->n_challenges, n_paths = trees_of(j->s) * n;

    climb_init(&j->climb, scratch, j->v->ps, j->v->r.levels, j->v->r.n_levels, n_paths, step);
    scratch += climb_workspace(n_paths);
    j->challenge = (uint64_t *)(void *)scratch;
    scratch += n * sizeof *j->challenge;
    j->tree = (uint8_t(*)[32])(void *)scratch;
    j->bad = scratch + (size_t)2 * j->s->n_apex * sizeof *j->tree;
}

static cuzk_status walk(job *j, const fil_redundant *r)
{
    uint32_t n = j->s->n_challenges;

    TRY(head(j));
    TRY(apex_tree(j));
    update_challenges(j->v->st, j->v->partition, j->v->ps, j->challenge);
    if (j->w != NULL) put_draws(j);
    TRY(pool_run(j->pool, j->cancel, (n + POSEIDON_LANES - 1) / POSEIDON_LANES, encode_batch, j));
    TRY(pool_run(j->pool, j->cancel, n, walk_challenge, j));
    TRY(climb_run(&j->climb, j, j->pool, j->cancel));
    judge_paths(j);
    for (uint32_t i = 0; i < n; i++) TRY(judge(j, i));
    return update_redundant(j->v, j->challenge, (const uint8_t(*)[32])j->tree, r);
}

static cuzk_status run(job *j, const fil_redundant *r, mem *m)
{
    size_t size = scratch_size(&j->v->st->shape);
    cuzk_status st = CUZK_OK;
    uint8_t *scratch = mem_new(m, 1, size, &st);

    if (scratch == NULL) return st;
    j->s = &j->v->st->shape;
    j->cv = poseidon_set_curve(j->v->ps);
    j->trace = poseidon_trace_len(poseidon_of(j->v->ps, 2));
    update_layout_of(&j->at, j->s, j->v->ps);
    init(j, scratch);
    st = walk(j, r);
    explicit_bzero(scratch, size);
    mem_free(m, scratch);
    return st;
}

cuzk_status update_vanilla_check(const update_vanilla *v, const fil_redundant *r, pool *p,
                                 const cancel *c)
{
    job j = {.v = v, .pool = p, .cancel = c};

    return run(&j, r, v->m);
}

cuzk_status update_synthesize(r1cs_assignment **out, const r1cs_system *sys,
                              const update_vanilla *v, const fil_redundant *r, pool *p,
                              const cancel *c, mem *m)
{
    job j = {.v = v, .sys = sys, .pool = p, .cancel = c};
    char name[UPDATE_NAME_MAX];
    r1cs_assignment *w = NULL;
    cuzk_status st;

    update_layout_of(&j.at, &v->st->shape, v->ps);
    update_system_name(name, &v->st->shape);
    if (strcmp(sys->name, name) != 0 || sys->n_instances != j.at.n_instances)
        return FAIL(CUZK_EINVAL, "system %s is not that of %s", sys->name, name);
    TRY(r1cs_assignment_new(&w, sys, m));
    j.w = w;
    st = run(&j, r, m);
    if (st != CUZK_OK) {
        r1cs_assignment_free(w);
        return st;
    }
    *out = w;
    return CUZK_OK;
}
