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
    *out = (dev_points){.data = data, .n = n, .enc = POINT_ZCASH, .g2 = g2, .id = dev_points_id()};
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
    TRY(want("h", pk->h.n, ((size_t)1 << r1cs_log_domain(sys, 0)) - 1));
    TRY(want("l", pk->l.n, sys->n_aux));
    TRY(want("a", pk->a.n, (size_t)sys->n_inputs + sys->n_a_aux));
    TRY(want("b_g1", pk->b_g1.n, (size_t)sys->n_b_input + sys->n_b_aux));
    return want("b_g2", pk->b_g2.n, (size_t)sys->n_b_input + sys->n_b_aux);
}

cuzk_status groth16_params_open(groth16_pk **out, const char *path, const curve *cv,
                                const r1cs_system *sys, mem *m)
{
    cuzk_status st = CUZK_OK;
    size_t used;

    groth16_pk *pk = mem_new(m, 1, sizeof *pk, &st);
    if (pk == NULL) return st;
    pk->m = m;
    pk->cv = cv;
    pk->form = GROTH16_BELLPERSON;
    TRY_OUT(file_map_open(&pk->file, path));
    TRY_OUT(groth16_vk_read(&pk->vk, pk->file.data, pk->file.size, &used, pk->cv, m));
    bytes_in in = bytes_in_of(pk->file.data, pk->file.size);
    in.pos = used;
    TRY_OUT(take_lists(&in, pk));
    pk->n_inputs = pk->vk->n_ic;
    pk->n_aux = (uint32_t)pk->l.n;
    pk->log_n = u64_bits(pk->h.n);
    if (sys != NULL) TRY_OUT(check_counts(pk, sys));
    if (pk->h.n + 1 != (size_t)1 << pk->log_n || pk->log_n > DEV_MAX_LOG_N) {
        st = FAIL_DATA(
            MALFORMED, "h",
            "key list h has %zu points, must be a power of two less one, at most 2^%u - 1", pk->h.n,
            DEV_MAX_LOG_N);
        goto out;
    }
    groth16_pk_one_set(pk);
    *out = pk;
    pk = NULL;
out:
    groth16_pk_free(pk);
    return st;
}
