/*
 * circuit/filecoin/update_redundant.c - fields of a sector update's vanilla proof that no circuit reads
 *
 * The circuit walks with the challenges that it draws, from leaf fields to the roots of challenge 0. So a proof is valid whatever
 * index fields and the other root fields say, and whatever d_new's siblings are within the apex tree.
 *
 * Source: spec/filecoin-circuits.md section 11.2, end
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "circuit/filecoin/update_impl.h"

/* One Merkle proof of a challenge. */
typedef struct place {
    const update_vanilla *v;
    const fil_redundant *r;
    uint32_t n;
    uint64_t challenge;
    const char *name;
    const bincode_proof *form;
    const uint8_t *proof;
} place;

static cuzk_status found(const place *x, const char *what)
{
    char where[96];

    (void)snprintf(where, sizeof where, "partition %zu, challenge %" PRIu32 ", %s", x->v->partition,
                   x->n, x->name);
    return fil_redundant_found(x->r, where, "%s; the circuit does not read it", what);
}

static cuzk_status check_index(const place *x)
{
    uint64_t index = bincode_leaf_index(x->form, x->proof);
    char what[96];

    if (index == x->challenge) return CUZK_OK;
    (void)snprintf(what, sizeof what,
                   "the index fields say leaf %" PRIu64 ", challenged is %" PRIu64, index,
                   x->challenge);
    return found(x, what);
}

static cuzk_status check_root(const place *x, const uint8_t root[32])
{
    if (memcmp(x->proof + x->form->root, root, 32) == 0) return CUZK_OK;
    return found(x, "the root field is not the tree's root");
}

/* The siblings between the apex leaf and the apex tree's root are nodes of that tree. */
static cuzk_status check_apex_siblings(const place *x, const uint8_t (*tree)[32])
{
    const update_shape *s = &x->v->st->shape;
    unsigned first = s->drawn_bits - s->apex_bits;
    uint64_t node = x->challenge >> first & (s->n_apex - 1);

    for (unsigned l = 0; l < s->apex_bits; l++, node >>= 1) {
        const uint8_t *sibling = x->proof + x->form->siblings[first + l];

        if (memcmp(sibling, tree[node ^ 1], 32) != 0)
            TRY(found(x, "a sibling is not the node of the tree of apex leafs"));
        tree += s->n_apex >> l;
    }
    return CUZK_OK;
}

static cuzk_status check_challenge(const update_vanilla *v, uint32_t n, uint64_t challenge,
                                   const uint8_t (*tree)[32], const fil_redundant *r)
{
    const uint8_t *first = v->data + v->challenges, *at = first + n * v->challenge_size;
    place x = {.v = v, .r = r, .n = n, .challenge = challenge};

    x.name = "r_old";
    x.form = &v->r;
    x.proof = at + v->r_old;
    TRY(check_index(&x));
    TRY(check_root(&x, first + v->r_old + v->r.root));
    x.name = "d_new";
    x.form = &v->d;
    x.proof = at + v->d_new;
    TRY(check_index(&x));
    TRY(check_root(&x, v->st->comm_d_new));
    TRY(check_apex_siblings(&x, tree));
    x.name = "r_new";
    x.form = &v->r;
    x.proof = at + v->r_new;
    TRY(check_index(&x));
    return check_root(&x, first + v->r_new + v->r.root);
}

cuzk_status update_redundant(const update_vanilla *v, const uint64_t *challenges,
                             const uint8_t (*tree)[32], const fil_redundant *r)
{
    for (uint32_t n = 0; n < v->st->shape.n_challenges; n++)
        TRY(check_challenge(v, n, challenges[n], tree, r));
    return CUZK_OK;
}
