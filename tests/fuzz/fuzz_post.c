/*
 * fuzz/fuzz_post.c - vanilla PoSt proofs: any bytes are refused cleanly, and with the same words whether checked or synthesised
 *
 * The first two bytes choose kind and sector size; the rest is one sector's proof. The statement is the one that fits the
 * corpus's sound proofs (number, comm_r and challenges are taken as the proof has them, as far as that goes), so that
 * mutations of those reach the Merkle paths.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/post.h"

#include <string.h>

#define BUDGET ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

/* Made once, for all inputs; never freed: the process ends with them. */
static mem *shared;
static poseidon_set *constants;
static r1cs_system *systems[2][4]; /* kind, size; made when first wanted */

static void make_constants(void)
{
    if (constants != NULL) return;
    must(mem_open(&shared, "shared", 0, NULL) == CUZK_OK);
    must(poseidon_set_new(&constants, cpu_table_best(), shared) == CUZK_OK);
}

static const r1cs_system *system_of(const post_statement *st, size_t k, size_t s)
{
    if (systems[k][s] == NULL)
        must(post_system_of(&systems[k][s], constants, st->kind, st->size, shared) == CUZK_OK);
    return systems[k][s];
}

/* Both ways through the check agree; what passes it satisfies every row. */
static void use(const post_vanilla *v, const r1cs_system *sys, mem *m)
{
    r1cs_assignment *w = NULL;
    r1cs_fault fault;
    cuzk_error first;
    cuzk_status st = post_vanilla_check(v, NULL, NULL);

    first = *cuzk_last_error();
    must(post_synthesize(&w, sys, v, NULL, NULL, m) == st);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t randomness[32] = {0x33, 0x99, 0xae, 0x34, 0xd3, 0xf3, 0xe1, 0x6b, 0xc8,
                                           0x6c, 0x5e, 0x90, 0xad, 0x38, 0xce, 0x56, 0x46, 0x54,
                                           0xe9, 0x16, 0x2f, 0x23, 0x42, 0x72, 0x99, 0x58, 0xa9,
                                           0x10, 0x18, 0x51, 0x53, 0x36}; /* 2kib/window-v1_1 */
    static const uint64_t sizes[] = {2048, 4096, 16384, 32768};
    post_sector_statement sector = {0};
    post_statement st = {
        .kind = FIL_WINDOW, .api = FIL_API_1_2_0, .sectors = &sector, .n_sectors = 1};
    post_vanilla *v = NULL;
    post_input in;
    mem *m = NULL;

    if (size < 2) return 0;
    make_constants();
    must(mem_open(&m, "fuzz", BUDGET, NULL) == CUZK_OK);
    in = (post_input){data + 2, size - 2};
    if ((data[0] & 1) != 0) st.kind = FIL_WINNING;
    st.size = fil_size_by_bytes(sizes[data[1] % 4]);
    st.m = m;
    memcpy(st.randomness, randomness, sizeof randomness);
    if (in.size >= 40) {
        for (size_t i = 0; i < 8; i++) sector.sector_number |= (uint64_t)in.data[i] << 8 * i;
        memcpy(sector.comm_r, in.data + 8, 32);
    }
    if (post_vanilla_read(&v, &st, 0, &in, 1, constants, m) == CUZK_OK) {
        use(v, system_of(&st, data[0] & 1, data[1] % 4), m);
    } else {
        must(v == NULL && cuzk_last_error()->status == CUZK_EDATA);
    }
    post_vanilla_free(v);
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
