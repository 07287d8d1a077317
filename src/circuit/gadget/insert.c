/*
 * circuit/gadget/insert.c - the plans of insertion, and what follows from them
 *
 * Source: spec/filecoin-circuits.md section 8
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/insert.h"

/* operands: the node, its siblings, the k-th pick */
enum { A, B, C, D, E, F, G, H };
#define P(k) (INSERT_MAX_SIZE + (k))
/* conditions */
enum { B0, B1, B2, NOR, AND };

static const insert_plan plans[] = {
    {.size = 2,
     .index_bits = 1,
     .n_bits = 1,
     .n_picks = 2,
     .picks = {{B0, B, A}, {B0, A, B}},
     .result = {0, 1}},
    {.size = 4,
     .index_bits = 2,
     .n_bits = 2,
     .n_picks = 8,
     .picks = {{B0, B, A},
               {B1, B, P(0)},
               {B0, A, B},
               {B1, C, P(2)},
               {B0, D, A},
               {B1, P(4), C},
               {B0, A, D},
               {B1, P(6), D}},
     .result = {1, 3, 5, 7}},
    {.size = 8,
     .index_bits = 3,
     .n_bits = 5,
     .n_picks = 20,
     .picks = {{NOR, A, B}, {B2, B, P(0)},                  /* 0 */
               {B0, A, B},  {B1, C, P(2)},  {B2, C, P(3)},  /* 1 */
               {B0, D, A},  {B1, P(5), C},  {B2, D, P(6)},  /* 2 */
               {AND, A, D}, {B2, E, P(8)},                  /* 3 */
               {NOR, A, F}, {B2, P(10), E},                 /* 4 */
               {B0, A, F},  {B1, G, P(12)}, {B2, P(13), F}, /* 5 */
               {B0, H, A},  {B1, P(15), G}, {B2, P(16), G}, /* 6 */
               {AND, A, H}, {B2, P(18), H}},                /* 7 */
     .result = {1, 4, 7, 9, 11, 14, 17, 19}},
};

const insert_plan *insert_plan_of(uint32_t size)
{
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        if (plans[i].size == size) return &plans[i];
    return NULL;
}

void insert_gadget(const gadget *g, const insert_plan *p, uint32_t *out, uint32_t node,
                   const uint32_t *bits, const uint32_t *siblings)
{
    uint32_t operand[INSERT_MAX_SIZE + INSERT_MAX_PICKS] = {node}, cond[INSERT_MAX_BITS];

    for (unsigned i = 1; i < p->size; i++) operand[i] = siblings[i - 1];
    for (unsigned i = 0; i < p->index_bits; i++) cond[i] = bits[i];
    if (p->n_bits > p->index_bits) {
        cond[NOR] = bit_nor(g, bits[0], bits[1]);
        cond[AND] = bit_and(g, bits[0], bits[1]);
    }
    for (unsigned k = 0; k < p->n_picks; k++) {
        const insert_pick *s = &p->picks[k];

        operand[P(k)] = num_pick(g, cond[s->cond], operand[s->x], operand[s->y]);
    }
    for (unsigned i = 0; i < p->size; i++) out[i] = operand[P(p->result[i])];
}

unsigned insert_bits(const insert_plan *p, unsigned index)
{
    unsigned low = index & 3;

    if (p->n_bits == p->index_bits) return index;
    return index | (low == 0 ? 1u << NOR : 0) | (low == 3 ? 1u << AND : 0);
}

void insert_values(const insert_plan *p, fr *picks, const fr *node, const fr *siblings,
                   unsigned index)
{
    unsigned bits = insert_bits(p, index);

    for (unsigned k = 0; k < p->n_picks; k++) {
        const insert_pick *s = &p->picks[k];
        unsigned from = (bits >> s->cond & 1) != 0 ? s->x : s->y;

        if (from >= INSERT_MAX_SIZE)
            picks[k] = picks[from - INSERT_MAX_SIZE];
        else
            picks[k] = from == A ? *node : siblings[from - 1];
    }
}
