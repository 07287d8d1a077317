/*
 * fuzz/fuzz_aggregate.c - aggregates and their powers: any bytes are refused cleanly, and what is read is written the same
 *
 * The first byte chooses: an aggregate, or powers.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "groth16/aggregate_int.h"

#define BUDGET ((size_t)64 << 20)
#define MAX_POINTS 512 /* checking points is slow: few alone */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

static void try_aggregate(const uint8_t *data, size_t size, const curve *cv, mem *m)
{
    cuzk_status st;
    agg_proof *p = mem_new(m, 1, sizeof *p, &st);

    must(p != NULL);
    st = agg_proof_read(p, data, size, cv, NULL, NULL);
    must(st == CUZK_OK || st == CUZK_EDATA);
    if (st == CUZK_OK) {
        bytes_out o;
        bytes_out_init(&o, m);
        must(agg_proof_write(&o, p, cv) == CUZK_OK);
        must(o.size == size && memcmp(o.data, data, size) == 0); /* one encoding an element */
        bytes_out_clear(&o);
    }
    mem_free(m, p);
}

static void try_powers(const uint8_t *data, size_t size, const curve *cv, mem *m)
{
    aggregate_srs *srs = NULL;
    aggregate_vk vk;
    cuzk_status st = aggregate_srs_read(&srs, data, size, cv, m);

    must(st == CUZK_OK || st == CUZK_EDATA);
    if (st != CUZK_OK) {
        must(srs == NULL);
        return;
    }
    st = aggregate_vk_read(&vk, srs);
    must(st == CUZK_OK || st == CUZK_EDATA);
    for (uint32_t n = 2; n <= 8; n *= 2) {
        aggregate_key *key;
        st = aggregate_key_new(&key, srs, n, false, NULL, NULL, m);
        must(st == CUZK_OK || st == CUZK_EDATA);
        if (st == CUZK_OK) {
            must(n <= aggregate_srs_capacity(srs));
            aggregate_key_free(key);
        }
    }
    if (aggregate_srs_points(srs) <= MAX_POINTS) {
        groth16_key_check o = {.subgroup = true};
        st = aggregate_srs_check(srs, &o, NULL);
        must(st == CUZK_OK || st == CUZK_EDATA);
    }
    aggregate_srs_free(srs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const curve *cv = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
    mem *m;

    if (size == 0) return 0;
    must(mem_open(&m, "fuzz", BUDGET, NULL) == CUZK_OK);
    if ((data[0] & 1) != 0)
        try_powers(data + 1, size - 1, cv, m);
    else
        try_aggregate(data + 1, size - 1, cv, m);
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
