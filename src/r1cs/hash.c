/*
 * r1cs/hash.c - the digest of a system: BLAKE2s-256 over counts, rows and coefficients
 *
 * For every row and matrix the reference hashes the number of terms, then per term a letter, an
 * index and the coefficient, 41 bytes. The coefficients' bytes are made once; terms are written to
 * a buffer that the hash takes when it is full.
 *
 * Source: spec/filecoin-expected.md section 2.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "base/hash.h"
#include "r1cs/terms.h"

#define TERM_BYTES 41
#define BUFFER ((size_t)16 << 10)

typedef struct coeff_bytes {
    uint8_t b[32];
} coeff_bytes;

typedef struct hasher {
    const r1cs_system *sys;
    coeff_bytes *enc; /* of each coefficient, big-endian */
    uint64_t *keys;   /* of the longest row */
    blake2s_ctx ctx;
    size_t used;
    uint8_t buf[BUFFER];
} hasher;

static void encode(coeff_bytes *out, const curve *cv, const fr *k)
{
    scalar s;

    cv->fr_to_scalar(&s, k);
    for (size_t i = 0; i < 32; i++) out->b[i] = s.b[31 - i];
}

static void flush(hasher *h)
{
    blake2s_update(&h->ctx, h->buf, h->used);
    h->used = 0;
}

static void put_u64(hasher *h, uint64_t v)
{
    if (BUFFER - h->used < sizeof v) flush(h);
    store_u64be(h->buf + h->used, v);
    h->used += sizeof v;
}

static void put_term(hasher *h, uint32_t wire, const coeff_bytes *k)
{
    uint8_t *p;

    if (BUFFER - h->used < TERM_BYTES) flush(h);
    p = h->buf + h->used;
    p[0] = (wire & R1CS_AUX) != 0 ? 'A' : 'I';
    store_u64be(p + 1, wire & ~R1CS_AUX);
    memcpy(p + 9, k->b, sizeof k->b);
    h->used += TERM_BYTES;
}

/* A row in which wires of the template are the same global wire. */
static void put_merged(hasher *h, size_t n)
{
    const r1cs_system *sys = h->sys;
    size_t pos = 0, count = 0;
    coeff_bytes sum;
    term t;

    while (terms_next(&t, sys->cv, sys->coeffs, h->keys, n, &pos)) count++;
    put_u64(h, count);
    pos = 0;
    while (terms_next(&t, sys->cv, sys->coeffs, h->keys, n, &pos)) {
        if (t.coeff == TERM_SUM) encode(&sum, sys->cv, t.k);
        put_term(h, t.wire, t.coeff == TERM_SUM ? &sum : &h->enc[t.coeff]);
    }
}

static void put_row(hasher *h, const r1cs_instance *inst, const r1cs_matrix *x, uint32_t row)
{
    size_t n = terms_row_len(x, row);

    terms_row(h->keys, h->sys, inst, x, row);
    if (terms_sort(h->keys, n)) {
        put_merged(h, n);
        return;
    }
    put_u64(h, n);
    for (size_t i = 0; i < n; i++) {
        put_term(h, (uint32_t)(h->keys[i] >> 32), &h->enc[(uint32_t)h->keys[i]]);
    }
}

static cuzk_status check_known(const r1cs_system *sys)
{
    for (size_t i = 0; i < sys->n_templates; i++) {
        if (sys->templates[i].c.row_start == NULL) {
            return FAIL(CUZK_EINVAL, "system %s: matrix C of %s is not known", sys->name,
                        sys->templates[i].name);
        }
    }
    return CUZK_OK;
}

cuzk_status r1cs_hash(const r1cs_system *sys, uint8_t out[32])
{
    cuzk_status st = CUZK_OK;
    hasher *h;

    TRY(check_known(sys));
    h = mem_new(sys->m, 1, sizeof *h, &st);
    if (h == NULL) return st;
    h->sys = sys;
    h->enc = mem_new(sys->m, sys->n_coeffs, sizeof *h->enc, &st);
    if (h->enc == NULL) goto out;
    h->keys = mem_new(sys->m, terms_longest_row(sys), sizeof *h->keys, &st);
    if (h->keys == NULL) goto out;
    for (size_t i = 0; i < sys->n_coeffs; i++) encode(&h->enc[i], sys->cv, &sys->coeffs[i]);

    blake2s_init(&h->ctx, 32, NULL, 0);
    put_u64(h, sys->n_inputs);
    put_u64(h, sys->n_aux);
    put_u64(h, sys->n_rows);
    for (size_t i = 0; i < sys->n_instances; i++) {
        const r1cs_instance *inst = &sys->instances[i];
        const r1cs_template *t = &sys->templates[inst->tmpl];

        for (uint32_t row = 0; row < t->n_rows; row++) {
            put_row(h, inst, &t->a, row);
            put_row(h, inst, &t->b, row);
            put_row(h, inst, &t->c, row);
        }
    }
    flush(h);
    blake2s_final(&h->ctx, out);
out:
    mem_free(sys->m, h->enc);
    mem_free(sys->m, h->keys);
    mem_free(sys->m, h);
    return st;
}
