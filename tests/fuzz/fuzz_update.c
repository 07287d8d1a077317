/*
 * fuzz/fuzz_update.c - vanilla update proofs: any bytes are refused cleanly, and with the same words whether checked or synthesised
 *
 * The first byte chooses kind and sector size; the rest is a partition's proof. The statement is the one of the corpus's sound
 * proof of 2 KiB, so that mutations of it reach the Merkle paths.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/update.h"

#include <string.h>

#include "base/bytes.h"

#define BUDGET ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

/* Made once, for all inputs; never freed: the process ends with them. */
static mem *shared;
static poseidon_set *constants;
static r1cs_system *systems[2][2]; /* kind, size; made when first wanted */

static void make_constants(void)
{
    if (constants != NULL) return;
    must(mem_open(&shared, "shared", 0, NULL) == CUZK_OK);
    must(poseidon_set_new(&constants, cpu_table_best(), shared) == CUZK_OK);
}

static const r1cs_system *system_of(const update_shape *s, size_t k, size_t size)
{
    if (systems[k][size] == NULL)
        must(update_system_of(&systems[k][size], constants, s->kind, s->size, shared) == CUZK_OK);
    return systems[k][size];
}

/* Both ways through the check agree; what passes it satisfies every row. */
static void use(const update_vanilla *v, const r1cs_system *sys, const fil_redundant *r, mem *m)
{
    r1cs_assignment *w = NULL;
    r1cs_fault fault;
    cuzk_error first;
    cuzk_status st = update_vanilla_check(v, r, NULL, NULL);

    first = *cuzk_last_error();
    must(update_synthesize(&w, sys, v, r, NULL, NULL, m) == st);
    must((w != NULL) == (st == CUZK_OK));
    if (st == CUZK_OK) {
        must(r1cs_check(sys, w, NULL, NULL, &fault) == CUZK_OK && !fault.found);
    } else {
        must(st == CUZK_EDATA);
        must(strcmp(first.where, cuzk_last_error()->where) == 0);
        must(strcmp(first.message, cuzk_last_error()->message) == 0);
    }
    r1cs_assignment_free(w);
}

static void hash(uint8_t out[32], const char *hex)
{
    must(hex_decode(out, 32, hex, 64));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {2048, 1024};
    const fil_redundant r = {.strict = size > 0 && (data[0] & 4) != 0};
    update_statement st = {0};
    update_vanilla *v = NULL;
    mem *m = NULL;
    size_t k, s;

    if (size == 0) return 0;
    make_constants();
    k = data[0] & 1;
    s = data[0] >> 1 & 1;
    must(mem_open(&m, "fuzz", BUDGET, NULL) == CUZK_OK);
    must(update_shape_of(&st.shape, k == 0 ? FIL_UPDATE : FIL_UPDATE_POSEIDON,
                         fil_size_by_bytes(sizes[s])) == CUZK_OK);
    /* 2kib/update */
    hash(st.comm_r_old, "7214d54c925c436ba176730fe4fc278d66d85b760d6d4cc15b32d17cef12ab32");
    hash(st.comm_r_new, "d3a2ce6c054ef5c047d8684c7c2dba4239bfb3a68cfb1c5951d302428a8f5255");
    hash(st.comm_d_new, "5fc137a2915793de21c5691e8815302e8fa0a69d51f58bdf883513d39ff81133");
    if (update_vanilla_read(&v, &st, 0, data + 1, size - 1, constants, m) == CUZK_OK) {
        use(v, system_of(&st.shape, k, s), &r, m);
    } else {
        must(v == NULL && cuzk_last_error()->status == CUZK_EDATA);
    }
    update_vanilla_free(v);
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
