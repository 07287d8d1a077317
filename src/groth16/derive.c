/*
 * groth16/derive.c - making the derived form of a bellperson key
 *
 * With h[i], i < n - 1, the key's points and Z the domain's polynomial, constant on the coset 7 <w>:
 *     H sum  = 1/Z * sum over i of ([i-th coefficient of a b's values on the coset] - [of c's on the domain]) h[i]
 *            = sum over k of (a b)(7 w^k) h'_k - sum over rows k of c_k v_k
 *     h'_k   = sum over i of w^(-i k) (1/(n Z) 7^-i h[i])        v_k = sum over i of w^(-i k) (1/(n Z) h[i])
 * and c = C w: v is folded into the key's l (l'_j = l_j - sum over k of C[k, j] v_k), and into points of the inputs, which have no l.
 * Nothing here asks whether a b = c on the domain, nor for a coefficient n - 1: for any w both forms give the same point.
 *
 * Phases, in numbered steps: v's first pass (to a file beside), its second (to where h' will be), l', h''s two passes. v is negated.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/derive.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"

#define CHECKPOINT_NS UINT64_C(15000000000)
#define LOG_BLOCK 16u /* 6 MiB of points; a step takes some 20 s of one core */

typedef struct deriver {
    const groth16_pk *pk;
    const groth16_setup_opts *o;
    const uint8_t *source;
    pool *p;
    mem *m;
    derived_layout at;
    point_transform t;
    point_columns columns;
    fr v_scale, h_scale, h_step;
    file_part *f, *beside;   /* the result; points between two passes */
    uint64_t blocks, ranges; /* steps of a pass; of l' */
    uint64_t steps, done;
} deriver;

/* ---- steps ---- */

static cuzk_status first_pass(deriver *x, bool v, uint64_t block)
{
    x->t.scale = v ? x->v_scale : x->h_scale;
    x->t.step = v ? x->pk->cv->fr_one : x->h_step;
    return point_transform_first(&x->t, x->beside, 0, block);
}

static cuzk_status second_pass(deriver *x, uint64_t block)
{
    file_map in;

    TRY(file_map_open(&in, file_part_path(x->beside)));
    cuzk_status st = point_transform_second(&x->t, in.data, x->f, x->at.h, block);
    file_map_close(&in);
    return st;
}

static cuzk_status do_columns(deriver *x, uint64_t range)
{
    const point_columns *c = &x->columns;
    size_t from = (size_t)range * c->cap, n = c->n - from < c->cap ? c->n - from : c->cap;
    cuzk_status st;
    file_map in;
    g1_any *out = mem_new(x->m, n, sizeof *out, &st);

    if (out == NULL) return st;
    st = file_map_open(&in, file_part_path(x->f));
    if (st == CUZK_OK) {
        st = point_columns_range(c, out, in.data + x->at.h, from, n, x->p, x->o->cancel);
        file_map_close(&in);
    }
    if (st == CUZK_OK)
        st = file_part_write(x->f, x->at.l + from * sizeof *out, out, n * sizeof *out);
    mem_free(x->m, out);
    return st;
}

static cuzk_status do_step(deriver *x, uint64_t step)
{
    if (step < x->blocks) return first_pass(x, true, step);
    step -= x->blocks;
    if (step < x->blocks) return second_pass(x, step);
    step -= x->blocks;
    if (step < x->ranges) return do_columns(x, step);
    step -= x->ranges;
    return step < x->blocks ? first_pass(x, false, step) : second_pass(x, step - x->blocks);
}

/** The points between passes are safe before anybody relies on them. */
static cuzk_status checkpoint(deriver *x)
{
    span sp = span_open(SPAN_WRITE);
    cuzk_status st = file_part_checkpoint(x->beside, x->done);
    if (st == CUZK_OK) st = file_part_checkpoint(x->f, x->done);
    span_close(&sp);
    return st;
}

static cuzk_status do_steps(deriver *x)
{
    uint64_t every = x->o->checkpoint_ns != 0 ? x->o->checkpoint_ns : CHECKPOINT_NS;
    uint64_t last = clock_ns();

    while (x->done < x->steps) {
        TRY(cancel_check(x->o->cancel));
        span sp = span_open(SPAN_SETUP_POINTS);
        cuzk_status st = do_step(x, x->done);
        span_close(&sp);
        TRY(st);
        x->done++;
        if (x->o->progress != NULL) x->o->progress(x->o->ctx, "derive", x->done, x->steps);
        /* from here on v, and what was beside, is overwritten: no earlier step can be begun again */
        bool turn = x->done == 2 * x->blocks + x->ranges;
        if (turn || clock_ns() - last > every) {
            TRY(checkpoint(x));
            last = clock_ns();
        }
    }
    return CUZK_OK;
}

/* ---- files ---- */

/** What the work is: the key, the circuit, and how it is cut in steps. */
static void work_tag(const deriver *x, uint8_t tag[32])
{
    static const char what[] = "cuzk derive 1";
    const uint64_t cut[] = {x->t.log_block, x->columns.cap};
    uint8_t hash[32];
    sha256_ctx c;

    r1cs_blocks_hash(x->columns.sys, hash);
    sha256_init(&c);
    sha256_update(&c, what, sizeof what);
    sha256_update(&c, x->source, GROTH16_SOURCE_BYTES);
    sha256_update(&c, hash, sizeof hash);
    sha256_update(&c, cut, sizeof cut);
    sha256_final(&c, tag);
}

static cuzk_status open_files(deriver *x, const char *path)
{
    uint64_t n = (uint64_t)1 << x->pk->log_n, beside;
    size_t size = strlen(path) + sizeof ".scratch";
    uint8_t tag[32];
    cuzk_status st;
    char *name = mem_new(x->m, size, 1, &st);

    if (name == NULL) return st;
    (void)snprintf(name, size, "%s.scratch", path);
    work_tag(x, tag);
    st = file_part_open(&x->f, path, x->at.size, tag, &x->done);
    if (st == CUZK_OK) st = file_part_open(&x->beside, name, n * x->pk->cv->g1_size, tag, &beside);
    mem_free(x->m, name);
    TRY(st);
    if (beside < x->done) x->done = beside; /* it was removed, or the other mark was never made */
    return CUZK_OK;
}

/** All points are in the part file: they are compared, get their header, and the file its name. */
static cuzk_status finish(deriver *x, dev_stream *s)
{
    uint8_t header[DERIVED_HEADER];
    file_map in;

    TRY(file_map_open(&in, file_part_path(x->f)));
    const dev_points h = {
        .data = in.data + x->at.h, .n = (size_t)1 << x->pk->log_n, .enc = POINT_LEM};
    const dev_points l = {.data = in.data + x->at.l, .n = x->columns.n, .enc = POINT_LEM};
    span sp = span_open(SPAN_SETUP_POINTS);
    cuzk_status st = derived_compare(s, x->pk, x->columns.sys, &h, &l, x->m);
    if (st == CUZK_OK) st = derived_header(header, x->pk, x->source, in.data, x->o->cancel);
    span_close(&sp);
    file_map_close(&in);
    TRY(st);
    TRY(file_part_write(x->f, 0, header, sizeof header));
    st = file_part_commit(x->f);
    x->f = NULL;
    return st;
}

/** Work that was asked to stop, or that wants memory or disk, can be gone on with; points that are not right leave nothing. */
static void leave(deriver *x, cuzk_status st)
{
    bool keep = st != CUZK_OK && st != CUZK_EDATA && x->f != NULL && x->beside != NULL;
    cuzk_error err;

    if (keep) {
        err = *cuzk_last_error();
        keep = checkpoint(x) == CUZK_OK;
        (void)status_adopt(&err); /* why we stop matters more than what became of the checkpoint */
    }
    file_part_close(x->beside, keep);
    file_part_close(x->f, keep);
}

/* ---- entry point ---- */

/** 1/(n Z), its negative, and 1/7. */
static void constants(deriver *x)
{
    const curve *cv = x->pk->cv;
    fr n;

    coset_z_inverse(cv, x->pk->log_n, &x->h_scale);
    cv->fr_from_u64(&n, (uint64_t)1 << x->pk->log_n);
    cv->fr_inv(&n, &n);
    cv->fr_mul(&x->h_scale, &x->h_scale, &n);
    cv->fr_neg(&x->v_scale, &x->h_scale);
    cv->fr_from_u64(&x->h_step, BELLPERSON_GENERATOR);
    cv->fr_inv(&x->h_step, &x->h_step);
}

static cuzk_status check_args(const dev_stream *s, const groth16_pk *pk, const r1cs_system *sys)
{
    device_info info;

    device_info_get(dev_stream_device(s), &info);
    if (pk->form != GROTH16_BELLPERSON || pk->h.data == NULL || pk->l.data == NULL || info.gpu)
        return FAIL(CUZK_EINVAL, "only keys of bellperson's form that the host sees are derived");
    if (pk->n_inputs != sys->n_inputs || pk->n_aux != sys->n_aux ||
        pk->log_n != r1cs_log_domain(sys, 0))
        return FAIL(CUZK_EINVAL, "the key is not of this circuit");
    return CUZK_OK;
}

cuzk_status groth16_derive(dev_stream *s, const groth16_pk *pk, const r1cs_system *sys,
                           const uint8_t source[GROTH16_SOURCE_BYTES], const char *path,
                           const groth16_setup_opts *o, pool *p, mem *m)
{
    deriver x = {.pk = pk, .o = o, .source = source, .p = p, .m = m, .at = derived_layout_of(pk)};
    cuzk_status st = CUZK_OK;

    TRY(check_args(s, pk, sys));
    constants(&x);
    point_columns_init(&x.columns, pk, sys);
    TRY_OUT(point_transform_open(&x.t, pk, o->log_step != 0 ? o->log_step : LOG_BLOCK, p, o->cancel,
                                 m));
    x.blocks = point_transform_blocks(&x.t);
    x.ranges = (x.columns.n + x.columns.cap - 1) / x.columns.cap;
    x.steps = 4 * x.blocks + x.ranges;
    TRY_OUT(open_files(&x, path));
    TRY_OUT(do_steps(&x));
    st = finish(&x, s);
out:
    leave(&x, st);
    point_transform_close(&x.t);
    return st;
}
