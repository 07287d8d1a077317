/*
 * r1cs/coeff_table.c - the coefficient table of a system: opening, growing, adding
 *
 * Open addressing with linear steps, at most half full; a slot holds 32 bits of the hash, so that
 * a probe seldom looks at a value that is not the one sought.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/coeff_table.h"

#include "base/hash.h"
#include "r1cs/grow.h"

#define FIRST_SLOTS ((size_t)64)
#define MAX_COEFFS ((size_t)R1CS_MAX_VARS) /* an index + 1 and COEFF_ABSENT fit 32 bits */

static void put_slot(coeff_table_index *x, const fr *v, uint32_t at)
{
    uint64_t h = coeff_table_hash(x, v);
    size_t i = (size_t)h & x->mask;

    while (x->slots[i].at != 0) i = (i + 1) & x->mask;
    x->slots[i] = (coeff_table_slot){(uint32_t)(h >> 32), at};
}

/* Slots for n values; puts the values that the table has. */
static cuzk_status fill_slots(r1cs_system *sys, coeff_table_index *x, size_t n)
{
    cuzk_status st = CUZK_OK;
    size_t want = FIRST_SLOTS;
    coeff_table_slot *slots;

    while (want < 2 * n) want *= 2;
    slots = mem_new(sys->m, want, sizeof *slots, &st);
    if (slots == NULL) return st;
    mem_free(sys->m, x->slots);
    x->slots = slots;
    x->mask = want - 1;
    for (size_t i = 0; i < sys->n_coeffs; i++) put_slot(x, &sys->coeffs[i], (uint32_t)i + 1);
    return CUZK_OK;
}

cuzk_status coeff_table_reindex(r1cs_system *sys)
{
    cuzk_status st = CUZK_OK;
    coeff_table_index *x;

    coeff_table_close(sys);
    x = mem_new(sys->m, 1, sizeof *x, &st);
    if (x == NULL) return st;
    sys->coeff_index = x;
    if (os_random(x->key, sizeof x->key) != 0) {
        st = FAIL(CUZK_EIO, "the operating system gives no random bytes");
    } else {
        st = fill_slots(sys, x, sys->n_coeffs + 1);
    }
    if (st != CUZK_OK) coeff_table_close(sys);
    return st;
}

cuzk_status coeff_table_open(r1cs_system *sys)
{
    sys->n_coeffs = 0;
    return coeff_table_reindex(sys);
}

void coeff_table_close(r1cs_system *sys)
{
    coeff_table_index *x = sys->coeff_index;

    if (x == NULL) return;
    mem_free(sys->m, x->slots);
    mem_free(sys->m, x);
    sys->coeff_index = NULL;
}

cuzk_status coeff_table_add(r1cs_system *sys, const fr *v, uint32_t *index)
{
    cuzk_status st = CUZK_OK;
    coeff_table_index *x = sys->coeff_index;
    fr *c;

    if (sys->n_coeffs >= MAX_COEFFS) {
        return FAIL_DATA(LIMIT, sys->name, "more than %zu distinct coefficients", MAX_COEFFS);
    }
    c = r1cs_grow(sys->m, sys->coeffs, sys->n_coeffs, &sys->cap_coeffs, sys->n_coeffs + 1,
                  sizeof *c, &st);
    if (c == NULL) return st;
    sys->coeffs = c;
    if (2 * (sys->n_coeffs + 1) > x->mask + 1) TRY(fill_slots(sys, x, sys->n_coeffs + 1));
    sys->coeffs[sys->n_coeffs] = *v;
    sys->n_coeffs++;
    put_slot(x, v, (uint32_t)sys->n_coeffs);
    *index = (uint32_t)(sys->n_coeffs - 1);
    return CUZK_OK;
}

cuzk_status coeff_table_intern(r1cs_system *sys, const fr *v, uint32_t *index)
{
    *index = coeff_table_find(sys, v);
    return *index == COEFF_ABSENT ? coeff_table_add(sys, v, index) : CUZK_OK;
}
