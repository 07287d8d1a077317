/*
 * fuzz/fuzz_r1cs.c - circom's .r1cs: any bytes are refused cleanly or make a whole system
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/circom.h"

#define BUDGET ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

/* What was read can be used: hashed, and checked against a witness of nothing but ONE. */
static void use(const r1cs_system *sys, const circom_r1cs_info *info, mem *m)
{
    r1cs_assignment *w = NULL;
    r1cs_fault fault;
    uint8_t digest[32];

    must(sys->cv->id == info->curve);
    must(sys->n_inputs + sys->n_aux == info->n_wires);
    must(sys->n_rows == info->n_constraints);
    must(r1cs_hash(sys, digest) == CUZK_OK);
    if (r1cs_assignment_new(&w, sys, m) != CUZK_OK) return; /* the budget */
    must(r1cs_check(sys, w, NULL, NULL, &fault) == CUZK_OK);
    must(!fault.found || fault.row < sys->n_rows);
    r1cs_assignment_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mem *m = NULL;
    r1cs_system *sys = NULL;
    circom_r1cs_info info;
    cuzk_status st, info_st;

    must(mem_open(&m, "fuzz", BUDGET, NULL) == CUZK_OK);
    info_st = circom_r1cs_info_read(&info, data, size);
    st = circom_r1cs_read(&sys, data, size, CPU_TABLE_GENERIC, m);
    must(st == CUZK_OK || st == CUZK_EDATA || st == CUZK_EBUDGET);
    if (st == CUZK_OK) {
        must(info_st == CUZK_OK);
        use(sys, &info, m);
    }
    r1cs_free(sys);
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
