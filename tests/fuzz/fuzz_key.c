/*
 * fuzz/fuzz_key.c - .zkey, .params, .vk, derived points and proof bytes: any bytes are refused cleanly
 *
 * Keys are read by mapping, so the bytes go through a file in memory.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "groth16/prove.h"

#define BUDGET ((size_t)64 << 20)
#define MAX_POINTS 256 /* checking points is slow: small keys alone */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

static void try_key(const char *path, const curve *cv, bool zkey, mem *m)
{
    groth16_pk *pk = NULL;
    cuzk_status st = zkey ? groth16_zkey_open(&pk, path, CPU_TABLE_GENERIC, NULL, m)
                          : groth16_params_open(&pk, path, cv, NULL, m);

    must(st == CUZK_OK || st == CUZK_EDATA || st == CUZK_EBUDGET);
    if (st != CUZK_OK) {
        must(pk == NULL);
        return;
    }
    if (pk->a.n + pk->h.n + pk->b_g2.n <= MAX_POINTS) {
        st = groth16_pk_check(pk, &(groth16_key_check){.subgroup = true}, NULL);
        must(st == CUZK_OK || st == CUZK_EDATA);
    }
    groth16_pk_free(pk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const curve *cv = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
    char path[64];
    mem *m;
    groth16_vk *vk;
    groth16_derived_info derived;
    groth16_proof p;
    cuzk_status st;
    int fd;

    if (size >= GROTH16_PROOF_BYTES && groth16_proof_read(&p, cv, data) == CUZK_OK) {
        uint8_t again[GROTH16_PROOF_BYTES];
        groth16_proof_write(again, cv, &p);
        must(memcmp(again, data, sizeof again) == 0); /* one encoding a point */
    }
    must(mem_open(&m, "fuzz", BUDGET, NULL) == CUZK_OK);
    if (groth16_vk_read(&vk, data, size, NULL, cv, m) == CUZK_OK) groth16_vk_free(vk);
    st = groth16_derived_info_read(&derived, data, size, NULL);
    must(st == CUZK_OK || st == CUZK_EDATA);
    fd = memfd_create("fuzz", 0);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    try_key(path, cv, true, m);
    try_key(path, cv, false, m);
    must(close(fd) == 0);
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
