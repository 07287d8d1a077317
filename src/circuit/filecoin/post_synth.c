/*
 * circuit/filecoin/post_synth.c - checks vanilla proofs and writes the assignment, in one pass
 *
 * Some sectors at a time, so that Poseidon's lanes are full: level by level for all their challenges (climb.h). With an assignment,
 * hashes write all their intermediate values right into their places; without, the same walk hashes alone.
 *
 * Work is split by groups of sectors, or, when there are fewer sectors than threads, by nodes of a level. Elements of different nodes
 * never share memory; bits do share words, so one thread sets them all at the end (a few for each node).
 *
 * Source: spec/filecoin-formats.md section 3.4 (what is checked), spec/filecoin-circuits.md section 11.1 (order)
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "circuit/filecoin/climb.h"
#include "circuit/filecoin/post_impl.h"
#include "circuit/gadget/merkle.h"

#define SECTOR_ELEMS 3 /* comm_r_last, comm_c, comm_r; then the trace of their hash */
#define COMM_R_AT 2

typedef struct job {
    /* fixed after init */
    const post_vanilla *v;
    const curve *cv;
    const r1cs_system *sys;
    r1cs_assignment *w; /* NULL: check alone */
    uint32_t circuit_sectors, circuit_challenges;
    bool winning; /* challenge n of the sector is circuit sector n */
    size_t group; /* sectors that are climbed together */
    pool *inner;  /* for the nodes of a level; NULL: groups are the tasks */
    const cancel *cancel;
    climb *climbs; /* one a worker, for the challenges of a group */
} job;

/* ---- where things are ---- */

static const uint8_t *proof_of(const job *j, size_t sector, uint32_t n)
{
    const post_vanilla *v = j->v;

    return v->data[sector] + v->proofs + n * v->path.size;
}

/* Elements of the k-th instance of a circuit sector. */
static fr *elems_of(const job *j, uint32_t circuit_sector, size_t k)
{
    size_t per = post_sector_instances(j->circuit_challenges, j->v->path.n_levels);

    return j->w->elems +
           r1cs_place_of(j->sys, &j->sys->instances[circuit_sector * per + k]).elem_start;
}

/* The k-th instance of challenge n of a sector: 0 the leaf, then the path elements. */
static fr *challenge_elems(const job *j, size_t sector, uint32_t n, size_t k)
{
    uint32_t s = j->winning ? n : (uint32_t)sector, c = j->winning ? 0 : n;

    return elems_of(j, s, 1 + c * post_challenge_instances(j->v->path.n_levels) + k);
}

/* Public inputs of a circuit sector: comm_r, then its challenges. */
static fr *inputs_of(const job *j, uint32_t circuit_sector)
{
    return j->w->inputs + 1 + (size_t)circuit_sector * (1 + j->circuit_challenges);
}

/* ---- the sector's own values ---- */

static cuzk_status check_against_statement(const job *j, size_t sector)
{
    const post_vanilla *v = j->v;
    const post_sector_statement *want = &v->st->sectors[v->first + sector];
    const uint8_t *comm_r = v->data[sector] + 8;
    uint64_t number = load_u64le(v->data[sector]);
    char got_text[65], want_text[65];

    if (number == want->sector_number && memcmp(comm_r, want->comm_r, sizeof want->comm_r) == 0)
        return CUZK_OK;
    hex_encode(got_text, comm_r, 32);
    hex_encode(want_text, want->comm_r, 32);
    if (number != want->sector_number)
        (void)FAIL_DATA(STATEMENT, "", "sector number %" PRIu64 ", the statement has %" PRIu64,
                        number, want->sector_number);
    else
        (void)FAIL_DATA(STATEMENT, "", "comm_r %s, the statement has %s", got_text, want_text);
    status_add_where("sector %zu", v->first + sector);
    return CUZK_EDATA;
}

/* comm_r is not the hash: because comm_r_last is not what the paths' root fields say, or for another reason. */
static cuzk_status comm_r_fault(const job *j, size_t sector, const fr *comm_c, const fr *comm_r)
{
    const poseidon *p = poseidon_of(j->v->ps, 2);
    fr tag, hash, in[2] = {*comm_c};
    bool root_fits;

    fil_load_fr(j->cv, &in[1], proof_of(j, sector, 0) + j->v->path.root);
    poseidon_merkle_tag(p, &tag);
    poseidon_hash(p, &hash, in, &tag);
    root_fits = j->cv->fr_eq(&hash, comm_r);
    (void)FAIL_DATA(INCONSISTENT, "", "%s",
                    root_fits ? "comm_r_last differs from the root of the paths, which fits comm_r"
                              : "comm_r is not the hash of comm_c and comm_r_last");
    status_add_where("sector %zu", j->v->first + sector);
    return CUZK_EDATA;
}

static cuzk_status sector_head(const job *j, size_t sector)
{
    const poseidon *p = poseidon_of(j->v->ps, 2);
    const uint8_t *data = j->v->data[sector];
    fr tag, hash, comm_r, in[2]; /* in: comm_c, comm_r_last */

    TRY(check_against_statement(j, sector));
    fil_load_fr(j->cv, &comm_r, data + 8);
    fil_load_fr(j->cv, &in[0], data + j->v->comm_c);
    fil_load_fr(j->cv, &in[1], data + j->v->comm_r_last);
    poseidon_merkle_tag(p, &tag);
    if (j->w == NULL) {
        poseidon_hash(p, &hash, in, &tag);
    } else {
        fr *e = elems_of(j, (uint32_t)sector, 0);

        e[0] = in[1];
        e[1] = in[0];
        e[COMM_R_AT] = comm_r;
        poseidon_trace(p, &e[SECTOR_ELEMS], in, &tag);
        hash = e[SECTOR_ELEMS + poseidon_trace_len(p) - 1];
    }
    return j->cv->fr_eq(&hash, &comm_r) ? CUZK_OK : comm_r_fault(j, sector, &in[0], &comm_r);
}

/* ---- paths ---- */

/* Sectors that are climbed together; challenge n of the k-th is path k * n_proofs + n. */
typedef struct sectors_job {
    const job *j;
    size_t first;
} sectors_job;

static void step(const void *ctx, uint32_t path_at, unsigned l, climb_step *out)
{
    const sectors_job *x = ctx;
    const bincode_proof *path = &x->j->v->path;
    size_t sector = x->first + path_at / x->j->v->n_proofs;
    uint32_t n = path_at % x->j->v->n_proofs;
    const uint8_t *proof = proof_of(x->j, sector, n);

    out->siblings = proof + path->siblings[l];
    out->index = bincode_index(path, proof, l);
    if (x->j->w == NULL) return;
    out->siblings_to = challenge_elems(x->j, sector, n, 1 + l);
    out->picks_to = out->siblings_to + path->levels[l] - 1;
}

static void add_paths(const job *j, climb *c, size_t sector)
{
    for (uint32_t n = 0; n < j->v->n_proofs; n++, c->n++) {
        const uint8_t *proof = proof_of(j, sector, n);

        fil_load_fr(j->cv, &c->node[c->n], proof + j->v->path.leaf);
        c->position[c->n] = bincode_leaf_index(&j->v->path, proof);
        if (j->w != NULL) *challenge_elems(j, sector, n, 0) = c->node[c->n];
    }
}

/* What challenge n's path came to. */
static cuzk_status check_path(const job *j, const fr *found, size_t sector, uint32_t n)
{
    const post_vanilla *v = j->v;
    const uint8_t *proof = proof_of(j, sector, n), *comm_r_last = v->data[sector] + v->comm_r_last;
    uint64_t got = bincode_leaf_index(&j->v->path, proof), want;
    size_t at = v->first + sector;
    fr root;

    fil_load_fr(j->cv, &root, comm_r_last);
    want = post_challenge(v->st, v->st->sectors[at].sector_number, at, n);
    if (memcmp(proof + v->path.root, comm_r_last, 32) != 0)
        (void)FAIL_DATA(INCONSISTENT, "", "the root field of the path differs from comm_r_last");
    else if (!j->cv->fr_eq(found, &root))
        (void)FAIL_DATA(INCONSISTENT, "", "the path does not lead from its leaf to comm_r_last");
    else if (got != want)
        (void)FAIL_DATA(STATEMENT, "",
                        "leaf %" PRIu64 ", but sector %" PRIu64 " is challenged at %" PRIu64, got,
                        v->st->sectors[at].sector_number, want);
    else
        return CUZK_OK;
    status_add_where("sector %zu, challenge %" PRIu32, at, n);
    return CUZK_EDATA;
}

/* A sector's fault comes before those of the sectors after it: a head that is wrong is told when the paths before it are right. */
static cuzk_status walk_group(void *ctx, size_t group, unsigned worker)
{
    const job *j = ctx;
    const sectors_job x = {j, group * j->group};
    climb *c = &j->climbs[worker];
    size_t end = x.first + j->group, sector;
    const fr *found = c->node;

    if (end > j->v->n_sectors) end = j->v->n_sectors;
    c->n = 0;
    for (sector = x.first; sector < end && sector_head(j, sector) == CUZK_OK; sector++)
        add_paths(j, c, sector);
    TRY(climb_run(c, &x, j->inner, j->cancel));
    for (size_t s = x.first; s < sector; s++)
        for (uint32_t n = 0; n < j->v->n_proofs; n++) TRY(check_path(j, found++, s, n));
    return sector < end ? sector_head(j, sector) : CUZK_OK;
}

/* ---- what is left of the assignment ---- */

static size_t sector_elems(const job *j)
{
    return j->sys->n_elem / j->circuit_sectors;
}

/* Circuit sector i is a copy of the last sector that has proofs. */
static cuzk_status repeat_sector(void *ctx, size_t i, unsigned worker)
{
    const job *j = ctx;
    uint32_t last = (uint32_t)j->v->n_sectors - 1;

    (void)worker; /* it needs nothing of its own */
    memcpy(elems_of(j, last + 1 + (uint32_t)i, 0), elems_of(j, last, 0),
           sector_elems(j) * sizeof(fr));
    return CUZK_OK;
}

static cuzk_status repeat_sectors(job *j, pool *p)
{
    size_t head;

    if (!j->winning)
        return pool_run(p, j->cancel, j->circuit_sectors - j->v->n_sectors, repeat_sector, j);
    head = SECTOR_ELEMS + poseidon_trace_len(poseidon_of(j->v->ps, 2));
    for (uint32_t s = 1; s < j->circuit_sectors; s++)
        memcpy(elems_of(j, s, 0), elems_of(j, 0, 0), head * sizeof(fr));
    return CUZK_OK;
}

static void set_bits(uint64_t *words, uint32_t at, uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++, at++) words[at / 64] |= (value >> i & 1) << at % 64;
}

/* Index bits of one challenge, and its public input. */
static void put_index(const job *j, uint32_t circuit_sector, uint32_t c)
{
    const post_vanilla *v = j->v;
    size_t per = post_sector_instances(j->circuit_challenges, v->path.n_levels);
    size_t inst = circuit_sector * per + 1 + c * post_challenge_instances(v->path.n_levels) + 1;
    size_t sector = circuit_sector < v->n_sectors ? circuit_sector : v->n_sectors - 1;
    const uint8_t *proof = proof_of(j, j->winning ? 0 : sector, j->winning ? circuit_sector : c);

    for (unsigned l = 0; l < v->path.n_levels; l++) {
        const insert_plan *plan = insert_plan_of(v->path.levels[l]);

        set_bits(j->w->bits, r1cs_place_of(j->sys, &j->sys->instances[inst + l]).bit_start,
                 insert_bits(plan, bincode_index(&v->path, proof, l)), plan->n_bits);
    }
    j->cv->fr_from_u64(&inputs_of(j, circuit_sector)[1 + c],
                       bincode_leaf_index(&j->v->path, proof));
}

static void put_indices(const job *j)
{
    for (uint32_t s = 0; s < j->circuit_sectors; s++) {
        *inputs_of(j, s) = elems_of(j, s, 0)[COMM_R_AT];
        for (uint32_t c = 0; c < j->circuit_challenges; c++) put_index(j, s, c);
    }
}

/* ---- one run ---- */

/* Sectors of a group: not so many that threads are left without. */
static size_t group_size(const post_vanilla *v, const pool *p)
{
    size_t share = v->n_sectors / pool_threads(p);

    if (share == 0) share = v->n_sectors; /* a group at a time, all threads in it */
    return share < POSEIDON_LANES ? share : POSEIDON_LANES;
}

static size_t group_workspace(const post_vanilla *v, size_t group)
{
    return climb_workspace((uint32_t)group * v->n_proofs);
}

size_t post_check_size(const post_vanilla *v, const pool *p)
{
    size_t threads = pool_threads(p);

    return mem_cost(threads * sizeof(climb)) +
           mem_cost(threads * group_workspace(v, group_size(v, p)));
}

static cuzk_status walk(job *j, pool *p)
{
    const post_vanilla *v = j->v;
    size_t n_groups = (v->n_sectors + j->group - 1) / j->group;

    if (v->n_sectors >= pool_threads(p)) return pool_run(p, j->cancel, n_groups, walk_group, j);
    j->inner = p;
    for (size_t i = 0; i < n_groups; i++) TRY(walk_group(j, i, 0));
    return CUZK_OK;
}

static cuzk_status run(job *j, pool *p, const cancel *c, mem *m)
{
    const post_vanilla *v = j->v;
    unsigned threads = pool_threads(p);
    size_t group = group_size(v, p), per = group_workspace(v, group);
    cuzk_status st = CUZK_OK;
    uint8_t *memory = NULL;

    j->cv = poseidon_set_curve(v->ps);
    j->winning = v->st->kind == FIL_WINNING;
    j->cancel = c;
    j->group = group;
    fil_post_shape(v->st->kind, v->st->size, &j->circuit_sectors, &j->circuit_challenges);
    j->climbs = mem_new(m, threads, sizeof *j->climbs, &st);
    if (j->climbs == NULL) return st;
    memory = mem_new(m, threads, per, &st);
    if (memory == NULL) goto out;
    for (unsigned i = 0; i < threads; i++)
        climb_init(&j->climbs[i], memory + i * per, v->ps, v->path.levels, v->path.n_levels,
                   (uint32_t)group * v->n_proofs, step);
    TRY_OUT(walk(j, p));
    if (j->w != NULL) {
        TRY_OUT(repeat_sectors(j, p));
        put_indices(j);
    }
out:
    if (memory != NULL) explicit_bzero(memory, threads * per);
    mem_free(m, memory);
    mem_free(m, j->climbs);
    return st;
}

cuzk_status post_vanilla_check(const post_vanilla *v, pool *p, const cancel *c)
{
    job j = {.v = v};

    return run(&j, p, c, v->m);
}

/* sys has the places that v's values will be written to. */
static bool fits(const r1cs_system *sys, const post_vanilla *v, uint32_t n_sectors,
                 uint32_t n_challenges)
{
    size_t per = post_sector_instances(n_challenges, v->path.n_levels);
    uint64_t elems = 1; /* of a challenge: the leaf, then its path */

    if (sys->n_inputs != 1 + post_n_public(v->st) || sys->n_instances != n_sectors * per)
        return false;
    for (unsigned l = 0; l < v->path.n_levels; l++) {
        uint32_t n = merkle_path_elems(poseidon_of(v->ps, v->path.levels[l]));

        if (sys->templates[sys->instances[2 + l].tmpl].n_elem != n) return false;
        elems += n;
    }
    elems = SECTOR_ELEMS + poseidon_trace_len(poseidon_of(v->ps, 2)) + n_challenges * elems;
    return sys->n_elem == n_sectors * elems;
}

cuzk_status post_synthesize(r1cs_assignment **out, const r1cs_system *sys, const post_vanilla *v,
                            pool *p, const cancel *c, mem *m)
{
    r1cs_assignment *w = NULL;
    job j = {.v = v, .sys = sys};
    uint32_t n_sectors, n_challenges;
    cuzk_status st;

    fil_post_shape(v->st->kind, v->st->size, &n_sectors, &n_challenges);
    if (!fits(sys, v, n_sectors, n_challenges))
        return FAIL(CUZK_EINVAL, "system %s is not that of %s-%s", sys->name,
                    fil_kind_name(v->st->kind), v->st->size->name);
    TRY(r1cs_assignment_new(&w, sys, m));
    j.w = w;
    st = run(&j, p, c, m);
    if (st != CUZK_OK) {
        r1cs_assignment_free(w);
        return st;
    }
    *out = w;
    return CUZK_OK;
}
