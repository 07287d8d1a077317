/*
 * fuzz/fuzz_wtns.c - circom's .wtns: any bytes are refused cleanly or give canonical values
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/circom.h"

#include <string.h>

#define BUDGET ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

/* The values go back to the bytes that the file holds. */
static void use(const r1cs_assignment *w, const curve *cv, const uint8_t *data, size_t size)
{
    circom_file f;
    bytes_in in;

    must(circom_file_read(&f, data, size, "wtns") == CUZK_OK);
    must(circom_file_section(&f, 2, "values", &in) == CUZK_OK);
    for (uint32_t i = 0; i < w->n_inputs + w->n_aux; i++) {
        scalar s;
        fr v;

        r1cs_get(w, i < w->n_inputs ? i : R1CS_AUX | (i - w->n_inputs), &v);
        cv->fr_to_scalar(&s, &v);
        must(memcmp(s.b, in.data + (size_t)32 * i, 32) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mem *m = NULL;
    circom_wtns_info info;

    must(mem_open(&m, "fuzz", BUDGET, NULL) == CUZK_OK);
    if (circom_wtns_info_read(&info, data, size) == CUZK_OK) {
        const curve *cv = curve_get(info.curve, CPU_TABLE_GENERIC);
        r1cs_assignment *w = NULL;
        uint32_t n_public = info.n_values == 0 ? 0 : (info.n_values - 1) / 2;

        if (circom_wtns_read(&w, data, size, cv, info.n_values, n_public, NULL, m) == CUZK_OK) {
            use(w, cv, data, size);
        }
        r1cs_assignment_free(w);
    } else {
        must(cuzk_last_error()->status == CUZK_EDATA);
    }
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
