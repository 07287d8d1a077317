/*
 * circuit/filecoin/porep_synth.c - computes what a PoRep partition's circuit computes, and writes it down
 *
 * First, all at once: data paths, columns' hashes, labels (a label needs its parents' rows alone, which the C1 output has). Then
 * what needs labels. Then all paths in trees C and R, level by level (climb.h). At last indices and public inputs. With an
 * assignment every hash writes its values right into their places; without, the same walk hashes alone.
 *
 * Bits: tasks append theirs by bit_writer.h; index bits of Poseidon paths, a few each, are set by one thread at the end.
 *
 * Source: spec/filecoin-circuits.md section 10
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "circuit/filecoin/element.h"
#include "circuit/filecoin/porep_job.h"
#include "circuit/gadget/merkle.h"
#include "circuit/gadget/sha256_block.h"
#include "circuit/gadget/sha256_node.h"

/* elements of "partition" */
enum { REPLICA_ID, COMM_D, COMM_R, COMM_R_LAST, COMM_C, COMM_R_TRACE };
#define PARTITION_INPUTS 3
#define CHALLENGE_INPUTS \
    (2 + POREP_COLUMNS + 2) /* tree D, the columns, the challenge, trees R and C */

/* ---- where things are ---- */

static const r1cs_instance *instance(const porep_job *j, uint32_t challenge, uint32_t place)
{
    return &j->sys->instances[1 + (size_t)challenge * j->places.n + place];
}

static fr *elems_of(const porep_job *j, const r1cs_instance *inst)
{
    return j->w->elems + r1cs_place_of(j->sys, inst).elem_start;
}

static fr *elems(const porep_job *j, uint32_t challenge, uint32_t place)
{
    return elems_of(j, instance(j, challenge, place));
}

static bit_writer bits_of(const porep_job *j, const r1cs_instance *inst)
{
    return bit_writer_at(j->w->bits, r1cs_place_of(j->sys, inst).bit_start);
}

static const uint8_t (*hashes(const porep_job *j, uint32_t challenge))[32]
{
    return porep_hashes(j->c1, j->partition, challenge);
}

static const uint64_t *numbers(const porep_job *j, uint32_t challenge)
{
    return porep_numbers(j->c1, j->partition, challenge);
}

/* The first of the instances of path k, one a level. */
static uint32_t path_place(const porep_job *j, unsigned k)
{
    if (k == POREP_OWN_PATH) return j->places.c;
    if (k == POREP_REPLICA_PATH) return j->places.r;
    return j->places.columns + (k - 1) * j->places.column_stride + 1;
}

uint64_t porep_leaf(const porep_layout *l, const porep_path_at *at, const uint64_t *numbers_of)
{
    uint64_t leaf = 0;
    unsigned shift = 0;

    for (unsigned i = 0; i < l->n_levels; i++) {
        leaf |= numbers_of[at->indices + i] << shift;
        shift += insert_plan_of(l->levels[i])->index_bits;
    }
    return leaf;
}

uint64_t porep_data_leaf(const porep_layout *l, const uint64_t *numbers_of)
{
    uint64_t leaf = 0;

    for (unsigned i = 0; i < l->d_levels; i++) leaf |= numbers_of[l->d.indices + i] << i;
    return leaf;
}

/* ---- hashes ---- */

/* The Merkle hash; its trace goes to `trace`, unless that is NULL. */
static fr merkle_hash(const poseidon *p, fr *trace, const fr *in)
{
    fr tag, hash;

    poseidon_merkle_tag(p, &tag);
    if (trace == NULL) {
        poseidon_hash(p, &hash, in, &tag);
        return hash;
    }
    poseidon_trace(p, trace, in, &tag);
    return trace[poseidon_trace_len(p) - 1];
}

static cuzk_status write_partition(const porep_job *j)
{
    const porep_layout *l = j->l;
    const poseidon *p = poseidon_of(j->run->ps, 2);
    const porep_c1 *c1 = j->c1;
    fr e[COMM_R_TRACE], *to = NULL, hash;

    fil_load_fr(j->cv, &e[REPLICA_ID], c1->replica_id);
    fil_load_fr(j->cv, &e[COMM_D], c1->comm_d);
    fil_load_fr(j->cv, &e[COMM_R], c1->comm_r);
    fil_load_fr(j->cv, &e[COMM_R_LAST], hashes(j, 0)[l->r.root]);
    fil_load_fr(j->cv, &e[COMM_C], hashes(j, 0)[l->columns[0].path.root]);
    if (j->w != NULL) {
        const r1cs_instance *inst = &j->sys->instances[0];
        bit_writer bits = bits_of(j, inst);

        to = elems_of(j, inst);
        memcpy(to, e, sizeof e);
        memcpy(j->w->inputs + 1, e, PARTITION_INPUTS * sizeof e[0]);
        bit_writer_put_bytes(&bits, c1->replica_id, NUM_BITS);
        bit_writer_end(&bits);
        to += COMM_R_TRACE;
    }
    hash = merkle_hash(p, to, (const fr[]){e[COMM_C], e[COMM_R_LAST]});
    if (j->cv->fr_eq(&hash, &e[COMM_R])) return CUZK_OK;
    (void)FAIL_DATA(INCONSISTENT, "", "comm_r is not the hash of comm_c and comm_r_last");
    status_add_where("partition %u", j->partition);
    return CUZK_EDATA;
}

/* data_leaf, and its path to the root of tree D. */
static void write_data(const porep_job *j, uint32_t challenge)
{
    const porep_path_at *at = &j->l->d;
    const uint8_t(*h)[32] = hashes(j, challenge);
    const uint64_t *index = numbers(j, challenge) + at->indices;
    uint8_t *node = j->found[challenge].d_root;

    memcpy(node, h[at->leaf], 32);
    if (j->w != NULL) fil_load_fr(j->cv, elems(j, challenge, j->places.leaf), node);
    for (unsigned l = 0; l < j->l->d_levels; l++) {
        const uint8_t *sibling = h[at->siblings + l];

        if (j->w != NULL)
            sha256_node_values(j->w, instance(j, challenge, j->places.d + l), node, node, sibling,
                               (unsigned)index[l]);
        else if (index[l] == 0)
            sha256_node_hash(node, node, sibling);
        else
            sha256_node_hash(node, sibling, node);
    }
}

/* Columns that are hashed together. */
typedef struct columns {
    unsigned n;
    fr rows[POSEIDON_LANES][POREP_MAX_LAYERS];
    fr *hash[POSEIDON_LANES],
        *trace[POSEIDON_LANES]; /* where they go; trace: NULL without an assignment */
} columns;

static void hash_columns(const porep_job *j, const columns *c)
{
    const poseidon *p = poseidon_of(j->run->ps, j->l->layers);
    const fr *in[POSEIDON_LANES] = {NULL};
    fr tag;

    for (unsigned i = 0; i < c->n; i++) in[i] = c->rows[i];
    poseidon_merkle_tag(p, &tag);
    if (j->w == NULL) {
        poseidon_hash_many(p, c->n, c->hash, in, &tag);
        return;
    }
    poseidon_trace_many(p, c->n, c->trace, in, &tag);
    for (unsigned i = 0; i < c->n; i++) *c->hash[i] = c->trace[i][poseidon_trace_len(p) - 1];
}

/* Batches of POSEIDON_LANES. */
static size_t batches(size_t n)
{
    return (n + POSEIDON_LANES - 1) / POSEIDON_LANES;
}

static unsigned batch_size(size_t n, size_t batch)
{
    size_t left = n - batch * POSEIDON_LANES;

    return left < POSEIDON_LANES ? (unsigned)left : POSEIDON_LANES;
}

/* Rows and hashes of the parents' columns, numbered challenge by challenge: POSEIDON_LANES of them. */
static void write_columns(const porep_job *j, size_t batch)
{
    columns c = {.n = batch_size((size_t)j->c1->n_challenges * POREP_COLUMNS, batch)};

    for (unsigned i = 0; i < c.n; i++) {
        size_t at = batch * POSEIDON_LANES + i;
        uint32_t challenge = (uint32_t)(at / POREP_COLUMNS), k = (uint32_t)(at % POREP_COLUMNS);
        const uint8_t(*row)[32] = hashes(j, challenge) + j->l->columns[1 + k].rows;

        for (uint32_t r = 0; r < j->l->layers; r++) fil_load_fr(j->cv, &c.rows[i][r], row[r]);
        c.hash[i] = &j->found[challenge].column[1 + k];
        if (j->w == NULL) continue;
        c.trace[i] = elems(j, challenge, j->places.columns + k * j->places.column_stride);
        memcpy(c.trace[i], c.rows[i], j->l->layers * sizeof(fr));
        c.trace[i] += j->l->layers;
    }
    hash_columns(j, &c);
}

/* ---- labels ---- */

/* The padded message of a label, block after block. */
typedef uint8_t label_message[POREP_LABEL_BLOCKS * 64];

static void fill_message(label_message m, const porep_job *j, uint32_t challenge, uint32_t layer)
{
    const uint8_t(*h)[32] = hashes(j, challenge);
    uint8_t *at = m + 64;

    memset(m, 0, sizeof(label_message));
    memcpy(m, j->c1->replica_id, 32);
    store_u32be(m + 32, layer);
    store_u64be(m + 36, porep_node(j->l, numbers(j, challenge)));
    for (unsigned i = 0; i < POREP_PARENTS; i++, at += 32) {
        unsigned k = porep_label_column(layer, i);

        memcpy(at, h[j->l->columns[1 + k].rows + porep_label_row(layer, k)], 32);
    }
    *at = 0x80;
    store_u64be(m + sizeof(label_message) - 8, POREP_LABEL_BYTES * 8);
}

static void write_label(const porep_job *j, uint32_t challenge, uint32_t layer)
{
    uint32_t place = porep_layer_place(&j->places, layer), h[8];
    uint8_t *label = j->found[challenge].label[layer - 1];
    label_message m;

    fill_message(m, j, challenge, layer);
    if (j->w == NULL) {
        sha256(label, m, POREP_LABEL_BYTES);
        label[31] &= 0x3f;
        return;
    }
    for (unsigned k = 0; k < porep_label_columns(layer); k++) {
        bit_writer bits = bits_of(j, instance(j, challenge, place++));

        bit_writer_put_bytes(&bits, m + 64 + 32 * k,
                             NUM_BITS); /* the first parents are the columns */
        bit_writer_end(&bits);
    }
    memcpy(h, sha256_initial, sizeof h);
    for (unsigned b = 0; b < POREP_LABEL_BLOCKS; b++)
        sha256_block_values(j->w, instance(j, challenge, place++), h, m + 64 * b);
    sha256_digest_bytes(label, h);
    label[31] &= 0x3f;
    fil_load_fr(j->cv, elems(j, challenge, place), label);
}

/* What needs labels, of POSEIDON_LANES challenges: the replica's node, the hash of the challenge's own column. */
static cuzk_status write_own(void *ctx, size_t batch, unsigned worker)
{
    const porep_job *j = ctx;
    uint32_t layers = j->l->layers;
    columns c = {.n = batch_size(j->c1->n_challenges, batch)};

    (void)worker; /* it needs nothing of its own */
    for (unsigned i = 0; i < c.n; i++) {
        uint32_t challenge = (uint32_t)(batch * POSEIDON_LANES + i);
        porep_found *f = &j->found[challenge];
        fr data;

        for (uint32_t l = 0; l < layers; l++) fil_load_fr(j->cv, &c.rows[i][l], f->label[l]);
        fil_load_fr(j->cv, &data, hashes(j, challenge)[j->l->d.leaf]);
        j->cv->fr_add(&f->encoded, &c.rows[i][layers - 1], &data);
        c.hash[i] = &f->column[0];
        if (j->w == NULL) continue;
        c.trace[i] = elems(j, challenge, j->places.labels);
        *elems(j, challenge, j->places.encode) = f->encoded;
    }
    hash_columns(j, &c);
    return CUZK_OK;
}

/* ---- the first tasks ---- */

/* Columns first, then each challenge's data path and labels. */
static cuzk_status write_part(void *ctx, size_t task, unsigned worker)
{
    const porep_job *j = ctx;
    size_t n_columns = batches((size_t)j->c1->n_challenges * POREP_COLUMNS);
    uint32_t challenge, part;

    (void)worker; /* it needs nothing of its own */
    if (task < n_columns) {
        write_columns(j, task);
        return CUZK_OK;
    }
    challenge = (uint32_t)((task - n_columns) / (1 + j->l->layers));
    part = (uint32_t)((task - n_columns) % (1 + j->l->layers));
    if (part == 0)
        write_data(j, challenge);
    else
        write_label(j, challenge, part);
    return CUZK_OK;
}

/* ---- paths in trees C and R ---- */

static void step(const void *ctx, uint32_t path, unsigned l, climb_step *out)
{
    const porep_job *j = ctx;
    uint32_t challenge = path / POREP_CLIMBS, k = path % POREP_CLIMBS;
    const porep_path_at *at = porep_path(j, k);

    out->siblings = hashes(j, challenge)[at->siblings + j->siblings_at[l]];
    out->index = (unsigned)numbers(j, challenge)[at->indices + l];
    if (j->w == NULL) return;
    out->siblings_to = elems(j, challenge, path_place(j, k) + l);
    out->picks_to = out->siblings_to + j->l->levels[l] - 1;
}

static cuzk_status climb_all(porep_job *j)
{
    for (uint32_t i = 0; i < j->c1->n_challenges; i++) {
        const porep_found *f = &j->found[i];
        uint32_t first = i * POREP_CLIMBS;

        memcpy(&j->climb.node[first], f->column, sizeof f->column);
        j->climb.node[first + POREP_REPLICA_PATH] = f->encoded;
        for (unsigned k = 0; k < POREP_CLIMBS; k++)
            j->climb.position[first + k] = porep_leaf(j->l, porep_path(j, k), numbers(j, i));
    }
    return climb_run(&j->climb, j, j->run->p, j->run->stop);
}

/* ---- bits of indices, public inputs ---- */

static void set_bits(uint64_t *words, uint32_t at, uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++, at++) words[at / 64] |= (value >> i & 1) << at % 64;
}

static void put_input(const porep_job *j, const r1cs_instance *inst, uint64_t value)
{
    j->cv->fr_from_u64(&j->w->inputs[inst->pub_start], value);
}

static void put_challenge(const porep_job *j, uint32_t challenge)
{
    const porep_layout *l = j->l;
    const uint64_t *n = numbers(j, challenge);
    const r1cs_instance *node = instance(j, challenge, j->places.challenge);

    put_input(j, instance(j, challenge, j->places.d + l->d_levels), porep_data_leaf(l, n));
    for (unsigned k = 0; k < POREP_CLIMBS; k++) {
        const porep_path_at *at = porep_path(j, k);
        uint32_t place = path_place(j, k);

        for (unsigned i = 0; i < l->n_levels; i++) {
            const insert_plan *plan = insert_plan_of(l->levels[i]);
            const r1cs_instance *inst = instance(j, challenge, place + i);

            set_bits(j->w->bits, r1cs_place_of(j->sys, inst).bit_start,
                     insert_bits(plan, (unsigned)n[at->indices + i]), plan->n_bits);
        }
        put_input(j, instance(j, challenge, place + l->n_levels), porep_leaf(l, at, n));
    }
    set_bits(j->w->bits, r1cs_place_of(j->sys, node).bit_start, porep_node(l, n), 64);
    put_input(j, node, porep_node(l, n));
}

/* ---- one run ---- */

size_t porep_check_size(const porep_c1 *c1)
{
    size_t n = c1->n_challenges;

    return mem_cost(n * sizeof(porep_found)) +
           mem_cost(climb_workspace((uint32_t)n * POREP_CLIMBS));
}

static cuzk_status compute(porep_job *j)
{
    uint32_t n = j->c1->n_challenges;

    TRY(write_partition(j));
    TRY(pool_run(j->run->p, j->run->stop,
                 batches((size_t)n * POREP_COLUMNS) + (size_t)n * (1 + j->l->layers), write_part,
                 j));
    TRY(pool_run(j->run->p, j->run->stop, batches(n), write_own, j));
    TRY(climb_all(j));
    TRY(porep_check_found(j));
    return porep_check_redundant(j);
}

static cuzk_status run_job(porep_job *j)
{
    uint32_t n = j->c1->n_challenges, at = 0;
    size_t climb_size = climb_workspace(n * POREP_CLIMBS);
    cuzk_status st = CUZK_OK;
    void *workspace = NULL;

    j->l = &j->c1->layout;
    j->cv = poseidon_set_curve(j->run->ps);
    porep_places_of(&j->places, j->l);
    for (unsigned l = 0; l < j->l->n_levels; l++) {
        j->siblings_at[l] = at;
        at += j->l->levels[l] - 1;
    }
    j->found = mem_new(j->run->m, n, sizeof *j->found, &st);
    if (j->found == NULL) return st;
    workspace = mem_new(j->run->m, 1, climb_size, &st);
    if (workspace == NULL) goto out;
    climb_init(&j->climb, workspace, j->run->ps, j->l->levels, j->l->n_levels, n * POREP_CLIMBS,
               step);
    TRY_OUT(compute(j));
    for (uint32_t i = 0; i < n && j->w != NULL; i++) put_challenge(j, i);
out:
    if (workspace != NULL) explicit_bzero(workspace, climb_size);
    explicit_bzero(j->found, n * sizeof *j->found);
    mem_free(j->run->m, workspace);
    mem_free(j->run->m, j->found);
    return st;
}

static cuzk_status check_partition(const porep_c1 *c1, uint32_t partition)
{
    if (partition < c1->n_partitions) return CUZK_OK;
    return FAIL(CUZK_EINVAL, "partition %u, there are %u", partition, c1->n_partitions);
}

cuzk_status porep_c1_check(const porep_c1 *c1, uint32_t partition, const porep_run *run)
{
    porep_job j = {.c1 = c1, .partition = partition, .run = run};

    TRY(check_partition(c1, partition));
    return run_job(&j);
}

/* sys has the places that the output's values will be written to. */
static bool fits(const r1cs_system *sys, const porep_c1 *c1, const poseidon_set *ps)
{
    const porep_layout *l = &c1->layout;
    uint32_t n = c1->n_challenges, column = poseidon_trace_len(poseidon_of(ps, l->layers));
    uint64_t path = 0, one;
    porep_places places;

    porep_places_of(&places, l);
    for (unsigned i = 0; i < l->n_levels; i++)
        path += merkle_path_elems(poseidon_of(ps, l->levels[i]));
    /* leaf, data path, columns, labels, the replica's node, labels' hash; paths */
    one = 1 + 4 * (uint64_t)l->d_levels + POREP_COLUMNS * (l->layers + column) + l->layers + 1 +
          column + POREP_CLIMBS * path;
    return sys->n_inputs == 1 + PARTITION_INPUTS + n * CHALLENGE_INPUTS &&
           sys->n_instances == 1 + (size_t)n * places.n &&
           sys->n_elem == COMM_R_TRACE + poseidon_trace_len(poseidon_of(ps, 2)) + n * one;
}

cuzk_status porep_synthesize(r1cs_assignment **out, const r1cs_system *sys, const porep_c1 *c1,
                             uint32_t partition, const porep_run *run)
{
    porep_job j = {.c1 = c1, .partition = partition, .run = run, .sys = sys};
    cuzk_status st;

    TRY(check_partition(c1, partition));
    if (!fits(sys, c1, run->ps))
        return FAIL(CUZK_EINVAL, "system %s is not that of a PoRep of %s, %u layers", sys->name,
                    c1->size->name, c1->layout.layers);
    TRY(r1cs_assignment_new(&j.w, sys, run->m));
    st = run_job(&j);
    if (st != CUZK_OK) {
        r1cs_assignment_free(j.w);
        return st;
    }
    *out = j.w;
    return CUZK_OK;
}
