/*
 * r1cs/coeff_table.h - the coefficient table of a system: values without duplicates, found by their hash
 *
 * The index hashes the 32 bytes of a value with a key of its own, so that a file cannot be made to collide. What the
 * bytes mean is the caller's: coeffs.c fills the table with a file's values and converts it afterwards.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef R1CS_COEFF_TABLE_H
#define R1CS_COEFF_TABLE_H

#include "base/u128.h"
#include "r1cs/system.h"

#define COEFF_ABSENT UINT32_MAX

typedef struct coeff_table_slot {
    uint32_t tag; /* other bits of the hash */
    uint32_t at;  /* index + 1; 0: free */
} coeff_table_slot;

typedef struct coeff_table_index {
    size_t mask; /* slots - 1, a power of two at least twice the number of values */
    uint64_t key[5];
    coeff_table_slot *slots;
} coeff_table_index;

/** An empty table of sys (n_coeffs = 0) with an index. */
CUZK_STATUS coeff_table_open(r1cs_system *sys);
/** Gives the index back; the values stay. */
void coeff_table_close(r1cs_system *sys);
/** Makes the index anew from the values there. */
CUZK_STATUS coeff_table_reindex(r1cs_system *sys);
/** Appends a value that is absent. */
CUZK_STATUS coeff_table_add(r1cs_system *sys, const fr *v, uint32_t *index);
/** Finds or appends. */
CUZK_STATUS coeff_table_intern(r1cs_system *sys, const fr *v, uint32_t *index);

static inline uint64_t coeff_table_mix(uint64_t a, uint64_t b)
{
    u128 p = (u128)a * b;

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t coeff_table_hash(const coeff_table_index *x, const fr *v)
{
    uint64_t h = coeff_table_mix(v->l[0] ^ x->key[0], v->l[1] ^ x->key[1]);

    h ^= coeff_table_mix(v->l[2] ^ x->key[2], v->l[3] ^ x->key[3]);
    return coeff_table_mix(h ^ x->key[4], x->key[0] | 1);
}

/** Index of v, or COEFF_ABSENT. */
static inline uint32_t coeff_table_find(const r1cs_system *sys, const fr *v)
{
    const coeff_table_index *x = (const coeff_table_index *)sys->coeff_index;
    uint64_t h = coeff_table_hash(x, v);
    uint32_t tag = (uint32_t)(h >> 32);

    for (size_t i = (size_t)h & x->mask; x->slots[i].at != 0; i = (i + 1) & x->mask) {
        const fr *c;

        if (x->slots[i].tag != tag) continue;
        c = &sys->coeffs[x->slots[i].at - 1];
        if (((c->l[0] ^ v->l[0]) | (c->l[1] ^ v->l[1]) | (c->l[2] ^ v->l[2]) |
             (c->l[3] ^ v->l[3])) == 0)
            return x->slots[i].at - 1;
    }
    return COEFF_ABSENT;
}

#endif
