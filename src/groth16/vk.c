/*
 * groth16/vk.c - verifying keys in bellperson's binary form, and the binary proof
 *
 * Every point that comes in is canonical, on its curve, in its subgroup and not infinity: the checked types go inward.
 * Source: spec/filecoin-formats.md 5, 6.1, 6.4.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/groth16.h"
#include "groth16/internal.h"

#include <string.h>

#define VK_MAX_IC (1u << 27)

void groth16_vk_free(groth16_vk *vk)
{
    if (vk == NULL) return;
    mem *m = vk->m;
    if (vk->ready != NULL) {
        dev_multiples_free(vk->ready->alpha);
        dev_multiples_free(vk->ready->ic);
    }
    mem_free(m, vk->ready);
    mem_free(m, vk->ic);
    mem_free(m, vk);
}

void groth16_vk_ic(const groth16_vk *vk, uint32_t i, g1_any *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out, vk->ic + (size_t)i * vk->cv->g1_size, vk->cv->g1_size);
}

cuzk_status vk_new(groth16_vk **out, const curve *cv, uint32_t n_ic, mem *m)
{
    cuzk_status st;
    groth16_vk *vk = mem_new(m, 1, sizeof *vk, &st);
    if (vk == NULL) return st;
    vk->cv = cv;
    vk->m = m;
    vk->n_ic = n_ic;
    vk->ic = mem_new(m, n_ic, cv->g1_size, &st);
    if (vk->ic == NULL) {
        groth16_vk_free(vk);
        return st;
    }
    *out = vk;
    return CUZK_OK;
}

void vk_alpha_beta(const groth16_vk *vk, gt_any *r)
{
    if (vk->ready != NULL)
        *r = vk->ready->alpha_beta;
    else
        vk->cv->pairing(r, &vk->alpha_g1, &vk->beta_g2);
}

static cuzk_status make_ready(groth16_vk *vk)
{
    const curve *cv = vk->cv;
    cuzk_status st;
    groth16_vk_ready *ready = mem_new(vk->m, 1, sizeof *ready, &st);

    if (ready == NULL) return st;
    cv->g2_prepare(&ready->gamma, &vk->gamma_g2);
    cv->g2_prepare(&ready->delta, &vk->delta_g2);
    vk_alpha_beta(vk, &ready->alpha_beta);
    vk->ready = ready;
    return CUZK_OK;
}

/** *t: multiples of n points at `points`, once made not again. */
static cuzk_status make_multiples(dev_multiples **t, const groth16_vk *vk, const void *points,
                                  size_t n, dev_stream *s)
{
    const dev_points p = {.data = points, .n = n, .enc = POINT_LEM, .trusted = true};

    if (*t != NULL) return CUZK_OK;
    return dev_multiples_new(t, s, vk->cv->id, &p, GROTH16_IC_MULTIPLES, vk->m);
}

cuzk_status groth16_vk_prepare(groth16_vk *vk, dev_stream *s)
{
    cuzk_status st = CUZK_OK;
    span sp = span_open(SPAN_READ_KEY);

    if (vk->ready == NULL) st = make_ready(vk);
    if (s != NULL && vk->ready != NULL) {
        st = make_multiples(&vk->ready->ic, vk, vk->ic, vk->n_ic, s);
        if (st == CUZK_OK && vk->ready->ic != NULL)
            st = make_multiples(&vk->ready->alpha, vk, &vk->alpha_g1, 1, s);
    }
    span_close(&sp);
    return st;
}

static cuzk_status take_g1(bytes_in *in, const curve *cv, g1_any *out, const char *what)
{
    const uint8_t *p;
    TRY(bytes_view(in, &p, cv->point_size(false, POINT_ZCASH)));
    return point_g1(out, cv, p, POINT_ZCASH, what);
}

static cuzk_status take_g2(bytes_in *in, const curve *cv, g2_any *out, const char *what)
{
    const uint8_t *p;
    TRY(bytes_view(in, &p, cv->point_size(true, POINT_ZCASH)));
    return point_g2(out, cv, p, POINT_ZCASH, what);
}

static cuzk_status read_header(bytes_in *in, groth16_vk *vk)
{
    const curve *cv = vk->cv;
    TRY(take_g1(in, cv, &vk->alpha_g1, "vk alpha_g1"));
    TRY(take_g1(in, cv, &vk->beta_g1, "vk beta_g1"));
    TRY(take_g2(in, cv, &vk->beta_g2, "vk beta_g2"));
    TRY(take_g2(in, cv, &vk->gamma_g2, "vk gamma_g2"));
    TRY(take_g1(in, cv, &vk->delta_g1, "vk delta_g1"));
    return take_g2(in, cv, &vk->delta_g2, "vk delta_g2");
}

cuzk_status groth16_vk_read(groth16_vk **out, const uint8_t *data, size_t size, size_t *used,
                            const curve *cv, mem *m)
{
    cuzk_status st = CUZK_OK;
    bytes_in in = bytes_in_of(data, size);
    groth16_vk head = {.cv = cv}, *vk = NULL;
    size_t g1_size = cv->point_size(false, POINT_ZCASH);
    const uint8_t *ic;
    uint32_t n;

    TRY(read_header(&in, &head));
    TRY(bytes_get_u32be(&in, &n));
    if (n == 0 || n > VK_MAX_IC || n > bytes_left(&in) / g1_size)
        return FAIL_DATA(MALFORMED, "vk ic",
                         "vk: %u ic points announced, limit %zu (what the file can hold)", n,
                         bytes_left(&in) / g1_size);
    TRY(vk_new(&vk, cv, n, m));
    if (vk == NULL) return FAIL(CUZK_EBUG, "vk: not made");
    head.ic = vk->ic;
    head.n_ic = n;
    head.m = m;
    *vk = head;
    TRY_OUT(bytes_view(&in, &ic, n * g1_size));
    TRY_OUT(points_g1(vk->ic, cv, ic, n, POINT_ZCASH, "vk ic"));
    if (used != NULL) {
        *used = in.pos;
    } else if (bytes_left(&in) != 0) {
        st = FAIL_DATA(MALFORMED, "vk", "vk: %zu trailing bytes at offset %zu", bytes_left(&in),
                       in.pos);
        goto out;
    }
    *out = vk;
    vk = NULL;
out:
    groth16_vk_free(vk);
    return st;
}

static void put_g1(bytes_out *o, const curve *cv, const g1_any *p)
{
    uint8_t b[96];
    cv->g1_write(b, p, POINT_ZCASH);
    bytes_put(o, b, cv->point_size(false, POINT_ZCASH));
}

static void put_g2(bytes_out *o, const curve *cv, const g2_any *p)
{
    uint8_t b[192];
    cv->g2_write(b, p, POINT_ZCASH);
    bytes_put(o, b, cv->point_size(true, POINT_ZCASH));
}

void groth16_vk_write(bytes_out *o, const groth16_vk *vk)
{
    const curve *cv = vk->cv;
    put_g1(o, cv, &vk->alpha_g1);
    put_g1(o, cv, &vk->beta_g1);
    put_g2(o, cv, &vk->beta_g2);
    put_g2(o, cv, &vk->gamma_g2);
    put_g1(o, cv, &vk->delta_g1);
    put_g2(o, cv, &vk->delta_g2);
    bytes_put_u32be(o, vk->n_ic);
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        g1_any p;
        groth16_vk_ic(vk, i, &p);
        put_g1(o, cv, &p);
    }
}

cuzk_status groth16_proof_read(groth16_proof *out, const curve *cv,
                               const uint8_t in[GROTH16_PROOF_BYTES])
{
    groth16_proof p;
    size_t g1_size = cv->point_size(false, POINT_ZCASH_COMPRESSED);
    size_t g2_size = cv->point_size(true, POINT_ZCASH_COMPRESSED);

    TRY(point_g1(&p.a, cv, in, POINT_ZCASH_COMPRESSED, "proof A"));
    TRY(point_g2(&p.b, cv, in + g1_size, POINT_ZCASH_COMPRESSED, "proof B"));
    TRY(point_g1(&p.c, cv, in + g1_size + g2_size, POINT_ZCASH_COMPRESSED, "proof C"));
    *out = p;
    return CUZK_OK;
}

void groth16_proof_write(uint8_t out[GROTH16_PROOF_BYTES], const curve *cv, const groth16_proof *p)
{
    size_t g1_size = cv->point_size(false, POINT_ZCASH_COMPRESSED);
    size_t g2_size = cv->point_size(true, POINT_ZCASH_COMPRESSED);

    cv->g1_write(out, &p->a, POINT_ZCASH_COMPRESSED);
    cv->g2_write(out + g1_size, &p->b, POINT_ZCASH_COMPRESSED);
    cv->g1_write(out + g1_size + g2_size, &p->c, POINT_ZCASH_COMPRESSED);
}
