/*
 * groth16/derived.c - the file of a key's derived points: layout, header, mapping, checksum
 *
 * Source: docs/formats/derived.md.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"
#include "groth16/internal.h"

#include <string.h>

#define VERSION 1u
#define SUMMED 56u /* bytes of the header that the checksum is of too */
#define POINT_BYTES 96u
#define SUM_STEP ((size_t)16 << 20)

static const uint8_t magic[8] = {'c', 'u', 'z', 'k', 'd', 'e', 'r', 'v'};

static derived_layout lay_out(unsigned log_n, uint64_t n_vars)
{
    derived_layout x = {.h = DERIVED_HEADER};

    x.l = x.h + ((uint64_t)1 << log_n) * POINT_BYTES;
    x.size = x.l + n_vars * POINT_BYTES;
    return x;
}

derived_layout derived_layout_of(const groth16_pk *pk)
{
    return lay_out(pk->log_n, (uint64_t)pk->n_inputs + pk->n_aux);
}

static void put_fixed(uint8_t out[DERIVED_HEADER], const groth16_pk *pk,
                      const uint8_t source[GROTH16_SOURCE_BYTES])
{
    memset(out, 0, DERIVED_HEADER);
    memcpy(out, magic, sizeof magic);
    store_u32le(out + 8, VERSION);
    store_u32le(out + 12, pk->log_n);
    store_u32le(out + 16, pk->n_inputs);
    store_u32le(out + 20, pk->n_aux);
    memcpy(out + 24, source, GROTH16_SOURCE_BYTES);
}

/** BLAKE2b-256 of the header's first bytes and of all points. */
static cuzk_status sum_of(uint8_t out[GROTH16_DERIVED_SUM], const uint8_t header[DERIVED_HEADER],
                          const uint8_t *points, uint64_t size, const cancel *c)
{
    blake2b_ctx b;

    blake2b_init(&b, GROTH16_DERIVED_SUM, NULL, 0);
    blake2b_update(&b, header, SUMMED);
    for (uint64_t at = 0; at < size; at += SUM_STEP) {
        TRY(cancel_check(c));
        blake2b_update(&b, points + at, size - at < SUM_STEP ? (size_t)(size - at) : SUM_STEP);
    }
    blake2b_final(&b, out);
    return CUZK_OK;
}

cuzk_status derived_header(uint8_t out[DERIVED_HEADER], const groth16_pk *pk,
                           const uint8_t source[GROTH16_SOURCE_BYTES], const uint8_t *data,
                           const cancel *c)
{
    put_fixed(out, pk, source);
    return sum_of(out + SUMMED, out, data + DERIVED_HEADER,
                  derived_layout_of(pk).size - DERIVED_HEADER, c);
}

void derived_free(groth16_derived *x, mem *m)
{
    if (x == NULL) return;
    file_map_close(&x->file);
    mem_free(m, x);
}

static cuzk_status check_header(const file_map *f, const groth16_pk *pk,
                                const uint8_t source[GROTH16_SOURCE_BYTES])
{
    uint64_t size = derived_layout_of(pk).size;
    uint8_t want[DERIVED_HEADER];

    put_fixed(want, pk, source);
    if (f->size < DERIVED_HEADER || memcmp(f->data, want, 12) != 0)
        return FAIL_DATA(MALFORMED, "header", "%s is no derived key of version %u", f->path,
                         VERSION);
    if (memcmp(f->data + 12, want + 12, SUMMED - 12) != 0)
        return FAIL_DATA(INCONSISTENT, "header",
                         "%s was made of another key than the one beside it", f->path);
    if (f->size != size)
        return FAIL_DATA(MALFORMED, "size", "%s has %zu bytes, must have %llu", f->path, f->size,
                         (unsigned long long)size);
    return CUZK_OK;
}

cuzk_status groth16_derived_open(groth16_pk *pk, const char *path,
                                 const uint8_t source[GROTH16_SOURCE_BYTES])
{
    derived_layout at = derived_layout_of(pk);
    cuzk_status st = CUZK_OK;
    groth16_derived *x = mem_new(pk->m, 1, sizeof *x, &st);

    if (x == NULL) return st;
    TRY_OUT(file_map_open(&x->file, path));
    TRY_OUT(check_header(&x->file, pk, source));
    x->h = (dev_points){.data = x->file.data + at.h, .n = (size_t)1 << pk->log_n, .enc = POINT_LEM};
    x->l = (dev_points){
        .data = x->file.data + at.l, .n = (size_t)pk->n_inputs + pk->n_aux, .enc = POINT_LEM};
    derived_free(pk->derived, pk->m);
    pk->derived = x;
    x = NULL;
out:
    derived_free(x, pk->m);
    return st;
}

bool groth16_is_derived(const uint8_t *data, size_t size)
{
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

cuzk_status groth16_derived_info_read(groth16_derived_info *out, const uint8_t *data, size_t size,
                                      const cancel *c)
{
    uint8_t sum[GROTH16_DERIVED_SUM];
    groth16_derived_info x;
    span sp;

    if (size < DERIVED_HEADER || !groth16_is_derived(data, size) ||
        load_u32le(data + 8) != VERSION || load_u32le(data + 12) > DEV_MAX_LOG_N)
        return FAIL_DATA(MALFORMED, "header", "no header of derived points, version %u", VERSION);
    x = (groth16_derived_info){.log_n = load_u32le(data + 12),
                               .n_inputs = load_u32le(data + 16),
                               .n_aux = load_u32le(data + 20)};
    memcpy(x.source, data + 24, GROTH16_SOURCE_BYTES);
    memcpy(x.sum, data + SUMMED, sizeof x.sum);
    if (size != lay_out(x.log_n, (uint64_t)x.n_inputs + x.n_aux).size)
        return FAIL_DATA(MALFORMED, "size",
                         "%zu bytes are not those of 2^%u rows, %u and %u variables", size, x.log_n,
                         x.n_inputs, x.n_aux);
    sp = span_open(SPAN_READ_KEY);
    cuzk_status st = sum_of(sum, data, data + DERIVED_HEADER, size - DERIVED_HEADER, c);
    span_close(&sp);
    TRY(st);
    if (memcmp(sum, data + SUMMED, sizeof sum) != 0)
        return FAIL_DATA(MALFORMED, "checksum", "damaged: the checksum of derived points differs");
    *out = x;
    return CUZK_OK;
}
