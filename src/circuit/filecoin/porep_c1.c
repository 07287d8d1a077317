/*
 * circuit/filecoin/porep_c1.c - a C1 output in memory: its making, its end, and what must hold of its values
 *
 * Source: spec/filecoin-formats.md section 2.4
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "circuit/filecoin/element.h"
#include "circuit/filecoin/porep_impl.h"

cuzk_status porep_c1_begin(porep_c1 *c1, uint32_t registered, const porep_shape *shape, size_t n)
{
    cuzk_status st = CUZK_OK;

    c1->size = shape->size;
    c1->registered = registered;
    c1->feature = porep_feature_of(registered);
    c1->drg_predecessor_last = registered < 5; /* API 1.0.0 */
    c1->n_partitions = porep_partitions(shape->size, c1->feature);
    c1->n_challenges = shape->size->porep_challenges;
    porep_layout_of(&c1->layout, shape->size, shape->layers);
    c1->hashes = mem_new(c1->m, n * c1->layout.n_hashes, sizeof *c1->hashes, &st);
    if (c1->hashes == NULL) return st;
    c1->numbers = mem_new(c1->m, n * c1->layout.n_numbers, sizeof *c1->numbers, &st);
    return c1->numbers == NULL ? st : CUZK_OK;
}

void porep_c1_free(porep_c1 *c1)
{
    if (c1 == NULL) return;
    mem_free(c1->m, c1->hashes);
    mem_free(c1->m, c1->numbers);
    mem_free(c1->m, c1);
}

cuzk_status porep_c1_check_values(const porep_c1 *c1)
{
    static const uint8_t zero[32];
    const struct {
        const char *name;
        const uint8_t *value;
        bool element, may_be_zero;
    } v[] = {{"comm_r", c1->comm_r, true, false},
             {"comm_d", c1->comm_d, true, false},
             {"replica_id", c1->replica_id, true, true},
             {"seed", c1->seed, false, false}};

    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        if (v[i].element && !fil_is_canonical(v[i].value))
            return FAIL_DATA(MALFORMED, v[i].name, "%s is not below the modulus", v[i].name);
        if (!v[i].may_be_zero && memcmp(v[i].value, zero, sizeof zero) == 0)
            return FAIL_DATA(MALFORMED, v[i].name, "%s is zero", v[i].name);
    }
    return CUZK_OK;
}
