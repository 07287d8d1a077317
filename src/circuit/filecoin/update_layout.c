/*
 * circuit/filecoin/update_layout.c - where in the assignment of a sector update things are
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>

#include "circuit/filecoin/update_impl.h"

void update_system_name(char name[UPDATE_NAME_MAX], const update_shape *s)
{
    (void)snprintf(name, UPDATE_NAME_MAX, "%s-%s", fil_kind_name(s->kind), s->size->name);
}

/* n elements from *next on; where they begin. */
static uint32_t take(uint32_t *next, uint32_t n)
{
    uint32_t at = *next;

    *next += n;
    return at;
}

static void place_head(update_layout *x, const update_shape *s, uint32_t trace)
{
    uint32_t next = 1; /* after the selector */

    if (s->kind == FIL_UPDATE) x->partition = take(&next, 1);
    x->comm_r_old = take(&next, 1);
    x->comm_d_new = take(&next, 1);
    x->comm_r_new = take(&next, 1);
    x->phi = take(&next, trace) + trace - 1;
    x->comm_c = take(&next, 1);
    x->root_r_old = take(&next, 1);
    x->root_r_new = take(&next, 1);
    x->apex = take(&next, s->n_apex);
    x->partition_siblings = take(&next, s->partition_bits);
    x->hash_r_old = take(&next, trace) + trace - 1;
    x->hash_r_new = take(&next, trace) + trace - 1;
    if (s->kind == FIL_UPDATE_POSEIDON) x->partition = take(&next, 1);
}

static void place_challenge(update_layout *x, uint32_t trace)
{
    uint32_t next = 2 * UPDATE_HIGH_CHOICES + 1;

    x->rho = take(&next, trace) + trace - 1;
    x->leaf_r_old = take(&next, 1);
    x->leaf_d_new = take(&next, 1);
    x->product = take(&next, 1);
    x->leaf_r_new = take(&next, 1);
    x->challenge_siblings = next;
}

/* Every path ends with an instance of "root". */
static void place_instances(update_layout *x, const update_shape *s)
{
    x->apex_tree = 1;
    x->partition_path = x->apex_tree + (s->n_apex == 0 ? 0 : s->n_apex - 1);
    x->draws = x->partition_path + (s->n_apex == 0 ? 0 : s->partition_bits + 1);
    x->challenges = x->draws + (size_t)2 * s->n_digests;
    x->r_old_steps = 1;
    x->r_new_siblings = x->r_old_steps + x->r_levels + 1;
    x->r_new_steps = x->r_new_siblings + 1;
    x->d_new_head = x->r_new_steps + x->r_levels + 1;
    x->d_new_steps = x->d_new_head + 1;
    x->per_challenge = x->d_new_steps + x->d_levels + 1;
    x->n_instances = x->challenges + s->n_challenges * x->per_challenge;
}

void update_layout_of(update_layout *out, const update_shape *s, const poseidon_set *ps)
{
    uint32_t trace = poseidon_trace_len(poseidon_of(ps, 2)), levels[FIL_MAX_LEVELS];

    *out = (update_layout){.r_levels = fil_levels(s->size, levels)};
    for (unsigned l = 0; l < out->r_levels; l++) out->r_siblings += levels[l] - 1;
    if (s->kind == FIL_UPDATE) {
        out->d_levels = s->drawn_bits - s->apex_bits;
        out->d_siblings = out->d_levels;
    } else {
        out->d_levels = out->r_levels;
        out->d_siblings = out->r_siblings;
    }
    place_head(out, s, trace);
    place_challenge(out, trace);
    place_instances(out, s);
}
