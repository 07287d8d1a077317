/*
 * fuzz/fuzz_proof_json.c - snarkjs's JSON files: any bytes are refused cleanly or make checked points
 *
 * The first byte picks the reader; what was read is written and read again, and must be the same.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "groth16/groth16.h"

#define BUDGET ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

static void proof(const curve *cv, const uint8_t *data, size_t size, mem *m)
{
    groth16_proof p, q;
    bytes_out o;

    if (groth16_proof_from_json(&p, cv, data, size) != CUZK_OK) return;
    bytes_out_init(&o, m);
    groth16_proof_to_json(&o, cv, &p);
    must(groth16_proof_from_json(&q, cv, o.data, o.size) == CUZK_OK);
    must(cv->g1_eq(&p.a, &q.a) && cv->g2_eq(&p.b, &q.b) && cv->g1_eq(&p.c, &q.c));
    bytes_out_clear(&o);
}

static void public_signals(const curve *cv, const uint8_t *data, size_t size, mem *m)
{
    fr *a, *b;
    size_t n, k;
    bytes_out o;

    if (groth16_public_from_json(&a, &n, cv, data, size, m) != CUZK_OK) return;
    bytes_out_init(&o, m);
    groth16_public_to_json(&o, cv, a, n);
    must(groth16_public_from_json(&b, &k, cv, o.data, o.size, m) == CUZK_OK);
    must(n == k && (n == 0 || memcmp(a, b, n * sizeof *a) == 0));
    bytes_out_clear(&o);
    mem_free(m, a);
    mem_free(m, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mem *m;
    groth16_vk *vk;

    if (size == 0) return 0;
    must(mem_open(&m, "fuzz", BUDGET, NULL) == CUZK_OK);
    const curve *cv =
        curve_get(data[0] & 1 ? CURVE_ID_BLS12_381 : CURVE_ID_BN254, CPU_TABLE_GENERIC);
    switch (data[0] >> 1 & 3) {
    case 0: proof(cv, data + 1, size - 1, m); break;
    case 1: public_signals(cv, data + 1, size - 1, m); break;
    default:
        if (groth16_vk_from_json(&vk, data + 1, size - 1, CPU_TABLE_GENERIC, m) == CUZK_OK)
            groth16_vk_free(vk);
    }
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
