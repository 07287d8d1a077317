/*
 * circuit/filecoin/climb.c - the values of many inclusions in Poseidon Merkle trees
 *
 * Equal nodes are found by comparing: positions first, then lists. Paths are at most some thousands and a level's positions
 * seldom equal, so this costs little beside the hashes.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/climb.h"

#include <string.h>

#include "circuit/filecoin/element.h"

/* One level of a run. */
typedef struct level {
    climb *c;
    const void *ctx;
    unsigned l;
    const poseidon *p;
    const insert_plan *plan;
    fr tag;
} level;

size_t climb_workspace(uint32_t n)
{
    return n * (sizeof(fr[INSERT_MAX_SIZE]) + sizeof(fr) + sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

void climb_init(climb *c, void *workspace, const poseidon_set *ps, const uint32_t *levels,
                unsigned n_levels, uint32_t n, climb_step_fn step)
{
    *c = (climb){.ps = ps, .levels = levels, .n_levels = n_levels, .n = n, .step = step};
    c->list = (fr(*)[INSERT_MAX_SIZE])workspace;
    c->node = (fr *)(c->list + n);
    c->position = (uint64_t *)(c->node + n);
    c->like = (uint32_t *)(c->position + n);
    c->todo = c->like + n;
}

static climb_step step_of(const level *x, uint32_t n)
{
    climb_step s = {0};

    x->c->step(x->ctx, n, x->l, &s);
    return s;
}

/* The children of path n's next node, and in the assignment the siblings and picks. */
static void take_siblings(const level *x, uint32_t n)
{
    const curve *cv = poseidon_set_curve(x->c->ps);
    fr *node = &x->c->node[n], *list = x->c->list[n], siblings[INSERT_MAX_SIZE - 1];
    unsigned n_siblings = x->plan->size - 1u;
    climb_step s = step_of(x, n);

    for (unsigned i = 0; i < n_siblings; i++)
        fil_load_fr(cv, &siblings[i], s.siblings + (size_t)32 * i);
    memcpy(list, siblings, s.index * sizeof *list);
    list[s.index] = *node;
    memcpy(&list[s.index + 1], &siblings[s.index], (n_siblings - s.index) * sizeof *list);
    if (s.siblings_to != NULL) memcpy(s.siblings_to, siblings, n_siblings * sizeof *siblings);
    if (s.picks_to != NULL) insert_values(x->plan, s.picks_to, node, siblings, s.index);
    x->c->position[n] >>= x->plan->index_bits;
}

/* The first path whose list is n's. */
static uint32_t first_like(const level *x, uint32_t n)
{
    const climb *c = x->c;

    for (uint32_t i = 0; i < n; i++)
        if (c->position[i] == c->position[n] && c->like[i] == i &&
            memcmp(c->list[i], c->list[n], x->plan->size * sizeof(fr)) == 0)
            return i;
    return n;
}

static fr *trace_of(const level *x, uint32_t n)
{
    climb_step s = step_of(x, n);

    return s.picks_to == NULL ? NULL : s.picks_to + x->plan->n_picks;
}

static cuzk_status hash_batch(void *ctx, size_t batch, unsigned worker)
{
    const level *x = ctx;
    const climb *c = x->c;
    const uint32_t *todo = c->todo + batch * POSEIDON_LANES;
    uint32_t left = c->n_todo - (uint32_t)batch * POSEIDON_LANES;
    unsigned n = left < POSEIDON_LANES ? (unsigned)left : POSEIDON_LANES;
    fr *nodes[POSEIDON_LANES] = {NULL}, *traces[POSEIDON_LANES] = {NULL};
    const fr *lists[POSEIDON_LANES] = {NULL};

    (void)worker; /* it needs nothing of its own */
    for (unsigned i = 0; i < n; i++) {
        nodes[i] = &c->node[todo[i]];
        lists[i] = c->list[todo[i]];
        traces[i] = trace_of(x, todo[i]);
    }
    if (traces[0] == NULL) { /* then all are */
        poseidon_hash_many(x->p, n, nodes, lists, &x->tag);
        return CUZK_OK;
    }
    poseidon_trace_many(x->p, n, traces, lists, &x->tag);
    for (unsigned i = 0; i < n; i++) *nodes[i] = traces[i][poseidon_trace_len(x->p) - 1];
    return CUZK_OK;
}

static void copy_hash(const level *x, uint32_t n, uint32_t from)
{
    fr *trace = trace_of(x, n);

    x->c->node[n] = x->c->node[from];
    if (trace != NULL) memcpy(trace, trace_of(x, from), poseidon_trace_len(x->p) * sizeof(fr));
}

static cuzk_status climb_level(level *x, pool *p, const cancel *stop)
{
    climb *c = x->c;

    c->n_todo = 0;
    for (uint32_t n = 0; n < c->n; n++) {
        take_siblings(x, n);
        c->like[n] = first_like(x, n);
        if (c->like[n] == n) c->todo[c->n_todo++] = n;
    }
    TRY(pool_run(p, stop, (c->n_todo + POSEIDON_LANES - 1) / POSEIDON_LANES, hash_batch, x));
    for (uint32_t n = 0; n < c->n; n++)
        if (c->like[n] != n) copy_hash(x, n, c->like[n]);
    return CUZK_OK;
}

cuzk_status climb_run(climb *c, const void *ctx, pool *p, const cancel *stop)
{
    for (unsigned l = 0; l < c->n_levels; l++) {
        level x = {.c = c, .ctx = ctx, .l = l};

        x.p = poseidon_of(c->ps, c->levels[l]);
        x.plan = insert_plan_of(c->levels[l]);
        poseidon_merkle_tag(x.p, &x.tag);
        TRY(climb_level(&x, p, stop));
    }
    return CUZK_OK;
}
