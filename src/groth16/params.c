/*
 * groth16/params.c - bellperson's .params: the vk, then five lists of points; read by mapping
 *
 * The counts must be those of the circuit. Points of the lists are checked as a proof reads them (encoding, curve).
 *
 * Source: spec/filecoin-formats.md section 6.2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/u128.h"
#include "groth16/internal.h"

static cuzk_status take_list(bytes_in *in, dev_points *out, const char *name, const curve *cv,
                             bool g2)
{
    size_t size = cv->point_size(g2, POINT_ZCASH), offset = in->pos;
    const uint8_t *data;
    uint32_t n;

    TRY(bytes_get_u32be(in, &n));
    if (n > bytes_left(in) / size)
        return FAIL_DATA(MALFORMED, name,
                         "params list %s at offset %zu: %u points announced, %zu fit in the file",
                         name, offset, n, bytes_left(in) / size);
    TRY(bytes_view(in, &data, (size_t)n * size));
    *out = (dev_points){.data = data, .n = n, .enc = POINT_ZCASH, .g2 = g2};
    return CUZK_OK;
}

static cuzk_status take_lists(bytes_in *in, groth16_pk *pk)
{
    TRY(take_list(in, &pk->h, "h", pk->cv, false));
    TRY(take_list(in, &pk->l, "l", pk->cv, false));
    TRY(take_list(in, &pk->a, "a", pk->cv, false));
    TRY(take_list(in, &pk->b_g1, "b_g1", pk->cv, false));
    TRY(take_list(in, &pk->b_g2, "b_g2", pk->cv, true));
    return bytes_end(in);
}

static cuzk_status want(const char *name, size_t has, size_t need)
{
    if (has == need) return CUZK_OK;
    return FAIL_DATA(SHAPE, name, "key list %s has %zu points, the circuit needs %zu", name, has,
                     need);
}

static cuzk_status check_counts(const groth16_pk *pk, const r1cs_system *sys)
{
    TRY(want("ic", pk->vk->n_ic, sys->n_inputs));
    TRY(want("h", pk->h.n, ((size_t)1 << pk->log_n) - 1));
    TRY(want("l", pk->l.n, sys->n_aux));
    TRY(want("a", pk->a.n, (size_t)sys->n_inputs + sys->n_a_aux));
    TRY(want("b_g1", pk->b_g1.n, (size_t)sys->n_b_input + sys->n_b_aux));
    return want("b_g2", pk->b_g2.n, (size_t)sys->n_b_input + sys->n_b_aux);
}

cuzk_status groth16_params_open(groth16_pk **out, const char *path, const r1cs_system *sys, mem *m)
{
    cuzk_status st = CUZK_OK;
    size_t used;

    groth16_pk *pk = mem_new(m, 1, sizeof *pk, &st);
    if (pk == NULL) return st;
    pk->m = m;
    pk->cv = sys->cv;
    pk->form = GROTH16_BELLPERSON;
    pk->log_n = r1cs_log_domain(sys, 0);
    pk->n_inputs = sys->n_inputs;
    pk->n_aux = sys->n_aux;
    if (pk->log_n > DEV_MAX_LOG_N) {
        st = FAIL_DATA(LIMIT, "circuit", "domain 2^%u, limit 2^%u", pk->log_n, DEV_MAX_LOG_N);
        goto out;
    }
    TRY_OUT(file_map_open(&pk->file, path));
    TRY_OUT(groth16_vk_read(&pk->vk, pk->file.data, pk->file.size, &used, pk->cv, m));
    bytes_in in = bytes_in_of(pk->file.data, pk->file.size);
    in.pos = used;
    TRY_OUT(take_lists(&in, pk));
    TRY_OUT(check_counts(pk, sys));
    *out = pk;
    pk = NULL;
out:
    groth16_pk_free(pk);
    return st;
}

cuzk_status groth16_params_info_read(groth16_params_info *out, const uint8_t *data, size_t size)
{
    const curve *cv = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
    size_t vk_fixed =
        3 * cv->point_size(false, POINT_ZCASH) + 3 * cv->point_size(true, POINT_ZCASH);
    bytes_in in = bytes_in_of(data, size);
    groth16_pk pk = {.cv = cv};
    dev_points ic;

    TRY(bytes_skip(&in, vk_fixed));
    TRY(take_list(&in, &ic, "ic", cv, false));
    TRY(take_lists(&in, &pk));
    *out = (groth16_params_info){(uint32_t)ic.n,   (uint32_t)pk.h.n,    (uint32_t)pk.l.n,
                                 (uint32_t)pk.a.n, (uint32_t)pk.b_g1.n, (uint32_t)pk.b_g2.n};
    return CUZK_OK;
}
