/*
 * r1cs/circom_wtns.c - circom's .wtns: a witness as plain values
 *
 * Source: spec/circom-formats.md section 3.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "r1cs/circom.h"

#define WHAT "wtns"
#define SECTION_HEADER 1u
#define SECTION_VALUES 2u
#define HEADER_BYTES 40
#define VALUE_BYTES 32u
#define VALUES_PER_TASK 4096u

static cuzk_status read_all(circom_wtns_info *info, bytes_in *values, const uint8_t *data,
                            size_t size)
{
    circom_file f;
    bytes_in in;
    uint32_t n8;
    uint8_t prime[32];

    TRY(circom_file_read(&f, data, size, WHAT));
    TRY(circom_file_section(&f, SECTION_HEADER, "header", &in));
    TRY(circom_file_section(&f, SECTION_VALUES, "values", values));
    if (in.size != HEADER_BYTES) {
        return FAIL_DATA(MALFORMED, WHAT, "header section: %zu bytes, must be %d", in.size,
                         HEADER_BYTES);
    }
    TRY(bytes_get_u32le(&in, &n8));
    if (n8 != VALUE_BYTES) {
        return FAIL_DATA(MALFORMED, WHAT, "field size %u, must be %u", n8, VALUE_BYTES);
    }
    TRY(bytes_get(&in, prime, sizeof prime));
    if (!circom_curve_of_prime(&info->curve, prime)) {
        return FAIL_DATA(MALFORMED, WHAT,
                         "prime is the scalar field of neither bn254 nor bls12-381");
    }
    TRY(bytes_get_u32le(&in, &info->n_values));
    if ((uint64_t)info->n_values * VALUE_BYTES != values->size) {
        return FAIL_DATA(MALFORMED, WHAT, "%u values in a section of %zu bytes, they take %llu",
                         info->n_values, values->size,
                         (unsigned long long)info->n_values * VALUE_BYTES);
    }
    return CUZK_OK;
}

cuzk_status circom_wtns_info_read(circom_wtns_info *out, const uint8_t *data, size_t size)
{
    circom_wtns_info info;
    bytes_in values;

    memset(&info, 0, sizeof info);
    TRY(read_all(&info, &values, data, size));
    *out = info;
    return CUZK_OK;
}

typedef struct conversion {
    const curve *cv;
    const uint8_t *values;
    r1cs_assignment *w;
} conversion;

static cuzk_status convert(void *ctx, size_t task, unsigned worker)
{
    const conversion *k = ctx;
    r1cs_assignment *w = k->w;
    size_t n = (size_t)w->n_inputs + w->n_aux, i = task * VALUES_PER_TASK;
    size_t end = n - i < VALUES_PER_TASK ? n : i + VALUES_PER_TASK;

    (void)worker;
    for (; i < end; i++) {
        fr *to = i < w->n_inputs ? &w->inputs[i] : &w->elems[i - w->n_inputs];
        scalar s;

        memcpy(s.b, k->values + i * VALUE_BYTES, VALUE_BYTES);
        if (!k->cv->fr_from_scalar(to, &s)) {
            return FAIL_DATA(MALFORMED, WHAT, "value %zu is not below the scalar prime of %s", i,
                             k->cv->name);
        }
    }
    return CUZK_OK;
}

static cuzk_status check_match(const circom_wtns_info *info, const curve *cv, uint32_t n_wires)
{
    if (info->curve != cv->id) {
        return FAIL_DATA(SHAPE, WHAT,
                         "witness over the scalar field of %s, the circuit is over %s's",
                         curve_get(info->curve, CPU_TABLE_GENERIC)->name, cv->name);
    }
    if (info->n_values != n_wires) {
        return FAIL_DATA(SHAPE, WHAT, "witness of %u values, the circuit has %u wires",
                         info->n_values, n_wires);
    }
    return CUZK_OK;
}

cuzk_status circom_wtns_read(r1cs_assignment **out, const uint8_t *data, size_t size,
                             const curve *cv, uint32_t n_wires, uint32_t n_public, pool *p, mem *m)
{
    cuzk_status st = CUZK_OK;
    circom_wtns_info info;
    bytes_in values;
    conversion k = {.cv = cv};
    size_t tasks = ((size_t)n_wires + VALUES_PER_TASK - 1) / VALUES_PER_TASK;

    TRY(read_all(&info, &values, data, size));
    TRY(check_match(&info, cv, n_wires));
    if (n_public >= n_wires) {
        return FAIL_DATA(SHAPE, WHAT, "witness of %u values, %u are public", n_wires, n_public);
    }
    TRY(r1cs_assignment_new_plain(&k.w, cv, n_public + 1, n_wires - n_public - 1, m));
    k.values = values.data;
    TRY_OUT(pool_run(p, NULL, tasks, convert, &k));
    if (!cv->fr_eq(&k.w->inputs[0], &cv->fr_one)) {
        st = FAIL_DATA(MALFORMED, WHAT, "value 0 is not 1");
        goto out;
    }
    *out = k.w;
    return CUZK_OK;
out:
    r1cs_assignment_free(k.w);
    return st;
}
