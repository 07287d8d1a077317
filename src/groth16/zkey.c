/*
 * groth16/zkey.c - snarkjs's proving key: read by mapping
 *
 * Checks at the door: container, header, primes, sizes of every section against the header, the points of the verifying
 * key in full, every coefficient entry. The other points are checked as a proof reads them.
 *
 * Source: spec/circom-formats.md section 4.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/u128.h"
#include "groth16/internal.h"
#include "r1cs/circom.h"
#include "r1cs/coeffs.h"

#include <string.h>

#define ZKEY_GROTH16 1
#define ZKEY_ENTRY 44

enum {
    SEC_PROTOCOL = 1,
    SEC_HEADER,
    SEC_IC,
    SEC_COEFFS,
    SEC_A,
    SEC_B1,
    SEC_B2,
    SEC_C,
    SEC_H,
    SEC_RECORD
};

typedef struct zkey_header {
    const curve *cv;
    uint32_t n_vars, n_public, domain_size;
    unsigned log_n;
    const uint8_t *alpha1, *beta1, *beta2, *gamma2, *delta1, *delta2;
} zkey_header;

void groth16_pk_free(groth16_pk *pk)
{
    if (pk == NULL) return;
    mem *m = pk->m;
    dev_points *const lists[] = {&pk->h, &pk->l, &pk->a, &pk->b_g1, &pk->b_g2};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) dev_points_free(lists[i]);
    groth16_vk_free(pk->vk);
    r1cs_free(pk->coeffs);
    derived_free(pk->derived, m);
    file_map_close(&pk->file);
    mem_free(m, pk);
}

static cuzk_status read_protocol(const circom_file *f)
{
    bytes_in in;
    uint32_t id;

    TRY(circom_file_section(f, SEC_PROTOCOL, "protocol", &in));
    TRY(bytes_get_u32le(&in, &id));
    TRY(bytes_end(&in));
    if (id != ZKEY_GROTH16)
        return FAIL_DATA(SHAPE, "section 1",
                         "zkey section 1: protocol %u, only 1 (groth16) is supported", id);
    return CUZK_OK;
}

/** Curve from q and r of the header. */
static cuzk_status read_primes(bytes_in *in, cpu_table table, const curve **cv)
{
    uint32_t n8q, n8r;
    const uint8_t *q, *r;
    curve_id id;

    TRY(bytes_get_u32le(in, &n8q));
    if (n8q != 32 && n8q != 48)
        return FAIL_DATA(MALFORMED, "section 2", "zkey n8q is %u, must be 32 or 48", n8q);
    TRY(bytes_view(in, &q, n8q));
    TRY(bytes_get_u32le(in, &n8r));
    if (n8r != 32) return FAIL_DATA(MALFORMED, "section 2", "zkey n8r is %u, must be 32", n8r);
    TRY(bytes_view(in, &r, n8r));
    if (!circom_curve_of_prime(&id, r))
        return FAIL_DATA(MALFORMED, "section 2",
                         "zkey r is the group order of neither bn128 nor bls12381");
    *cv = curve_get(id, table);
    if ((*cv)->fp_size != n8q || memcmp(q, (*cv)->p_le, n8q) != 0)
        return FAIL_DATA(MALFORMED, "section 2", "zkey q is not the base prime of %s",
                         (*cv)->json_name);
    return CUZK_OK;
}

static cuzk_status check_counts(const zkey_header *h)
{
    if (h->n_vars == 0 || h->n_vars > R1CS_MAX_VARS || h->n_public >= h->n_vars)
        return FAIL_DATA(MALFORMED, "section 2", "zkey: %u public signals among %u wires",
                         h->n_public, h->n_vars);
    if (h->domain_size < 2 || (h->domain_size & (h->domain_size - 1)) != 0)
        return FAIL_DATA(MALFORMED, "section 2",
                         "zkey domain size %u is not a power of two from 2 on", h->domain_size);
    unsigned limit =
        h->cv->two_adicity - 1 < DEV_MAX_LOG_N ? h->cv->two_adicity - 1 : DEV_MAX_LOG_N;
    if (h->log_n > limit)
        return FAIL_DATA(LIMIT, "section 2", "zkey domain size 2^%u, limit 2^%u on %s", h->log_n,
                         limit, h->cv->json_name);
    return CUZK_OK;
}

static cuzk_status read_header(zkey_header *h, const circom_file *f, cpu_table table)
{
    bytes_in in;

    TRY(circom_file_section(f, SEC_HEADER, "header", &in));
    TRY(read_primes(&in, table, &h->cv));
    TRY(bytes_get_u32le(&in, &h->n_vars));
    TRY(bytes_get_u32le(&in, &h->n_public));
    TRY(bytes_get_u32le(&in, &h->domain_size));
    TRY(bytes_view(&in, &h->alpha1, h->cv->g1_size));
    TRY(bytes_view(&in, &h->beta1, h->cv->g1_size));
    TRY(bytes_view(&in, &h->beta2, h->cv->g2_size));
    TRY(bytes_view(&in, &h->gamma2, h->cv->g2_size));
    TRY(bytes_view(&in, &h->delta1, h->cv->g1_size));
    TRY(bytes_view(&in, &h->delta2, h->cv->g2_size));
    TRY(bytes_end(&in));
    h->log_n = u64_bits(h->domain_size) - 1;
    return check_counts(h);
}

/** A section of exactly n points. */
static cuzk_status points(dev_points *out, const circom_file *f, uint32_t id, const char *name,
                          const curve *cv, bool g2, size_t n)
{
    size_t size = g2 ? cv->g2_size : cv->g1_size, want;
    bytes_in in;

    TRY(circom_file_section(f, id, name, &in));
    if (!size_mul(&want, n, size) || bytes_left(&in) != want)
        return FAIL_DATA(MALFORMED, name,
                         "zkey section %u (%s) has %zu bytes, %zu points of %zu need %zu", id, name,
                         bytes_left(&in), n, size, n * size);
    *out = (dev_points){
        .data = in.data + in.pos, .n = n, .enc = POINT_LEM, .g2 = g2, .id = dev_points_id()};
    return CUZK_OK;
}

static cuzk_status read_sections(groth16_pk *pk, const circom_file *f, const zkey_header *h)
{
    TRY(points(&pk->a, f, SEC_A, "A", h->cv, false, h->n_vars));
    TRY(points(&pk->b_g1, f, SEC_B1, "B1", h->cv, false, h->n_vars));
    TRY(points(&pk->b_g2, f, SEC_B2, "B2", h->cv, true, h->n_vars));
    TRY(points(&pk->l, f, SEC_C, "C", h->cv, false, h->n_vars - h->n_public - 1));
    return points(&pk->h, f, SEC_H, "H", h->cv, false, h->domain_size);
}

static cuzk_status read_vk(groth16_pk *pk, const circom_file *f, const zkey_header *h)
{
    const curve *cv = h->cv;
    dev_points ic;

    TRY(points(&ic, f, SEC_IC, "IC", cv, false, (size_t)h->n_public + 1));
    TRY(vk_new(&pk->vk, cv, h->n_public + 1, pk->m));
    TRY(point_g1(&pk->vk->alpha_g1, cv, h->alpha1, POINT_LEM, "zkey alpha1"));
    TRY(point_g1(&pk->vk->beta_g1, cv, h->beta1, POINT_LEM, "zkey beta1"));
    TRY(point_g2(&pk->vk->beta_g2, cv, h->beta2, POINT_LEM, "zkey beta2"));
    TRY(point_g2(&pk->vk->gamma_g2, cv, h->gamma2, POINT_LEM, "zkey gamma2"));
    TRY(point_g1(&pk->vk->delta_g1, cv, h->delta1, POINT_LEM, "zkey delta1"));
    TRY(point_g2(&pk->vk->delta_g2, cv, h->delta2, POINT_LEM, "zkey delta2"));
    TRY(points_g1(pk->vk->ic, cv, ic.data, (size_t)h->n_public + 1, POINT_LEM, "zkey IC"));
    return CUZK_OK;
}

static cuzk_status coeff_entries(const circom_file *f, const uint8_t **entries, uint32_t *n)
{
    bytes_in in;

    TRY(circom_file_section(f, SEC_COEFFS, "coefficients", &in));
    TRY(bytes_get_u32le(&in, n));
    if (bytes_left(&in) != (size_t)*n * ZKEY_ENTRY)
        return FAIL_DATA(MALFORMED, "section 4",
                         "zkey section 4: %u coefficients need %zu bytes, the section has %zu", *n,
                         (size_t)*n * ZKEY_ENTRY, bytes_left(&in));
    *entries = in.data + in.pos;
    return CUZK_OK;
}

cuzk_status groth16_zkey_info_read(groth16_zkey_info *out, const uint8_t *data, size_t size)
{
    circom_file f;
    zkey_header h;
    const uint8_t *entries;
    bytes_in in;

    TRY(circom_file_read(&f, data, size, "zkey"));
    TRY(read_protocol(&f));
    TRY(read_header(&h, &f, CPU_TABLE_GENERIC));
    *out = (groth16_zkey_info){h.cv->id, h.n_vars, h.n_public, h.domain_size, 0, 0};
    TRY(coeff_entries(&f, &entries, &out->n_coeffs));
    if (circom_file_has(&f, SEC_RECORD)) {
        TRY(circom_file_section(&f, SEC_RECORD, "ceremony record", &in));
        TRY(bytes_skip(&in, 64));
        TRY(bytes_get_u32le(&in, &out->n_contributions));
    }
    return CUZK_OK;
}

cuzk_status groth16_zkey_open(groth16_pk **out, const char *path, cpu_table table, pool *p, mem *m)
{
    cuzk_status st = CUZK_OK;
    circom_file f;
    zkey_header h;
    const uint8_t *entries;
    uint32_t n_entries;
    (void)p;

    groth16_pk *pk = mem_new(m, 1, sizeof *pk, &st);
    if (pk == NULL) return st;
    pk->m = m;
    pk->form = GROTH16_SNARKJS;
    TRY_OUT(file_map_open(&pk->file, path));
    TRY_OUT(circom_file_read(&f, pk->file.data, pk->file.size, "zkey"));
    TRY_OUT(read_protocol(&f));
    TRY_OUT(read_header(&h, &f, table));
    pk->cv = h.cv;
    pk->log_n = h.log_n;
    pk->n_inputs = h.n_public + 1;
    pk->n_aux = h.n_vars - pk->n_inputs;
    TRY_OUT(read_sections(pk, &f, &h));
    groth16_pk_one_set(pk);
    TRY_OUT(coeff_entries(&f, &entries, &n_entries));
    TRY_OUT(read_vk(pk, &f, &h));
    TRY_OUT(r1cs_from_zkey(&pk->coeffs, h.cv, pk->n_inputs, pk->n_aux, h.domain_size, entries,
                           n_entries, m));
    *out = pk;
    pk = NULL;
out:
    groth16_pk_free(pk);
    return st;
}
