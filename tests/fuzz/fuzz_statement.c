/*
 * fuzz/fuzz_statement.c - statements of PoSt, PoRep and updates: any bytes are refused cleanly or give a statement with public inputs
 *
 * The first byte chooses the kind, the rest is the JSON.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/porep.h"
#include "circuit/filecoin/post.h"
#include "circuit/filecoin/update.h"

#define BUDGET ((size_t)64 << 20)
#define MAX_PUBLIC 30000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

static void use(const post_statement *st)
{
    static fr inputs[MAX_PUBLIC];
    const curve *cv = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
    size_t n = post_n_public(st), partitions = post_partitions(st);

    must(st->size != NULL && st->n_sectors > 0 && partitions > 0 && n <= MAX_PUBLIC);
    must(post_public_inputs(st, 0, cv, inputs) == CUZK_OK);
    must(post_public_inputs(st, partitions - 1, cv, inputs) == CUZK_OK);
    must(post_public_inputs(st, partitions, cv, inputs) == CUZK_EINVAL);
}

static void update(const uint8_t *json, size_t size)
{
    fr inputs[UPDATE_N_PUBLIC];
    const curve *cv = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
    update_statement st;

    if (update_statement_read(&st, json, size, FIL_UPDATE) != CUZK_OK) {
        must(cuzk_last_error()->status == CUZK_EDATA);
        return;
    }
    must(st.shape.size != NULL && st.shape.n_partitions > 0);
    must(update_public_inputs(&st, st.shape.n_partitions - 1, cv, inputs) == CUZK_OK);
}

static void porep(const uint8_t *json, size_t size)
{
    static fr inputs[MAX_PUBLIC];
    const curve *cv = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
    porep_statement st;
    porep_derived d;

    if (porep_statement_read(&st, json, size) != CUZK_OK) {
        must(cuzk_last_error()->status == CUZK_EDATA);
        return;
    }
    porep_derive(&d, &st);
    must(d.n_partitions > 0 && porep_n_public(&d) <= MAX_PUBLIC);
    must(porep_public_inputs(&d, d.n_partitions - 1, cv, inputs) == CUZK_OK);
    must(porep_public_inputs(&d, d.n_partitions, cv, inputs) == CUZK_EINVAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mem *m = NULL;
    post_statement *st = NULL;

    if (size == 0) return 0;
    if ((data[0] & 4) != 0) {
        porep(data + 1, size - 1);
        return 0;
    }
    if ((data[0] & 2) != 0) {
        update(data + 1, size - 1);
        return 0;
    }
    must(mem_open(&m, "fuzz", BUDGET, NULL) == CUZK_OK);
    if (post_statement_read(&st, data + 1, size - 1, (data[0] & 1) != 0 ? FIL_WINNING : FIL_WINDOW,
                            m) == CUZK_OK) {
        use(st);
    } else {
        must(st == NULL);
        must(cuzk_last_error()->status == CUZK_EDATA || cuzk_last_error()->status == CUZK_EBUDGET);
    }
    post_statement_free(st);
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
