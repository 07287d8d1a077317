/*
 * groth16/setup_params.c - a bellperson key from given secrets: .params and .vk, or a key that lives on a device alone
 *
 * With the standard generators; byte for byte what bellperson's generate_parameters gives for the same secrets.
 * The counts of all lists are known before, so each chunk of variables is done once and its points go to where they
 * belong in the file. Work is numbered: chunks of h, then chunks of variables; a checkpoint says how many are done.
 *
 * Source: spec/filecoin-formats.md 6.1, 6.2, 8.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/setup.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/u128.h"

#define CHECKPOINT_NS UINT64_C(15000000000)
#define POWERS_OF_TASK 4096

/* in the file's order */
typedef enum list_id { LIST_H, LIST_L, LIST_A, LIST_B1, LIST_B2, LISTS } list_id;
static const char *const list_names[LISTS] = {"h", "l", "a", "b_g1", "b_g2"};

typedef struct params_out {
    emitter e;
    const r1cs_system *sys;
    size_t n; /* domain */
    uint32_t count[LISTS];
    uint64_t offset[LISTS]; /* of the first point */
    uint64_t size;          /* of the file */
    fr z_delta;             /* (tau^n - 1) / delta */
    fr delta_inv;
    file_part *f;
    groth16_pk *pk; /* not NULL: points go to its lists, not to a file */
    size_t at_var;  /* the variable that next_a and next_b are of */
    uint64_t next_a, next_b;
    uint64_t chunks, done;
    bool saved; /* a checkpoint is in the file */
} params_out;

static size_t point_bytes(const params_out *x, list_id list)
{
    return x->e.cv->point_size(list == LIST_B2, POINT_ZCASH);
}

static void lay_out(params_out *x)
{
    const r1cs_system *sys = x->sys;
    size_t g1 = sys->cv->point_size(false, POINT_ZCASH),
           g2 = sys->cv->point_size(true, POINT_ZCASH);

    x->count[LIST_H] = (uint32_t)(x->n - 1);
    x->count[LIST_L] = sys->n_aux;
    x->count[LIST_A] = sys->n_inputs + sys->n_a_aux;
    x->count[LIST_B1] = x->count[LIST_B2] = sys->n_b_input + sys->n_b_aux;
    x->size = 3 * (uint64_t)g1 + 3 * (uint64_t)g2 + 4 + (uint64_t)sys->n_inputs * g1; /* the vk */
    for (list_id i = 0; i < LISTS; i++) {
        x->offset[i] = x->size + 4;
        x->size += 4 + (uint64_t)x->count[i] * (i == LIST_B2 ? g2 : g1);
        x->e.total += x->count[i];
    }
}

/* ---- chunks ---- */

static dev_points *list_of(groth16_pk *pk, list_id list)
{
    dev_points *const lists[LISTS] = {&pk->h, &pk->l, &pk->a, &pk->b_g1, &pk->b_g2};
    return lists[list];
}

static cuzk_status put_points(params_out *x, list_id list, const fr *k, size_t n, uint64_t at)
{
    if (n == 0) return CUZK_OK;
    if (x->pk != NULL) return emit_keep(&x->e, list_of(x->pk, list), k, n, list_names[list], at);
    TRY(emit_points(&x->e, list == LIST_B2, k, n, false, list_names[list], at));
    span sp = span_open(SPAN_WRITE);
    cuzk_status st = file_part_write(x->f, x->offset[list] + at * point_bytes(x, list), x->e.buf,
                                     n * point_bytes(x, list));
    span_close(&sp);
    return st;
}

typedef struct powers_run {
    const params_out *x;
    uint64_t first;
    size_t n;
} powers_run;

static cuzk_status some_powers(void *ctx, size_t task, unsigned worker)
{
    const powers_run *r = ctx;
    const curve *cv = r->x->e.cv;
    size_t from = task * POWERS_OF_TASK,
           to = from + POWERS_OF_TASK < r->n ? from + POWERS_OF_TASK : r->n;
    fr k;
    (void)worker;

    cv->fr_pow_var(&k, &r->x->e.t->tau, r->first + from);
    cv->fr_mul(&k, &k, &r->x->z_delta);
    for (size_t i = from; i < to; i++) {
        r->x->e.k[i] = k;
        cv->fr_mul(&k, &k, &r->x->e.t->tau);
    }
    explicit_bzero(&k, sizeof k);
    return CUZK_OK;
}

/** h[i] = g1 * (tau^i (tau^n - 1) / delta), i < n - 1. */
static cuzk_status do_h(params_out *x, uint64_t first)
{
    uint64_t left = x->count[LIST_H] - first;
    powers_run r = {x, first, left < x->e.cap ? (size_t)left : x->e.cap};
    span sp = span_open(SPAN_SETUP_QAP);
    cuzk_status st = pool_run(x->e.p, x->e.o->cancel, (r.n + POWERS_OF_TASK - 1) / POWERS_OF_TASK,
                              some_powers, &r);

    span_close(&sp);
    TRY(st);
    return put_points(x, LIST_H, x->e.k, r.n, first);
}

/** List a has all inputs and the auxiliary variables that occur in A; the b's have those that occur in B. */
static bool in_list(const r1cs_system *sys, list_id list, size_t i)
{
    const uint64_t *bits = list == LIST_A ? sys->a_aux : sys->b_aux;
    size_t at = i - sys->n_inputs;

    if (i < sys->n_inputs) {
        if (list == LIST_A) return true;
        bits = sys->b_input;
        at = i;
    }
    return (bits[at / 64] >> (at % 64) & 1) != 0;
}

static uint64_t count_below(const uint64_t *bits, size_t n)
{
    uint64_t c = 0;

    for (size_t i = 0; i < n / 64; i++) c += u64_popcount(bits[i]);
    if (n % 64 != 0) c += u64_popcount(bits[n / 64] & (((uint64_t)1 << (n % 64)) - 1));
    return c;
}

/** Index in its list of the first variable from `i` on that is in it. */
static uint64_t list_index(const r1cs_system *sys, list_id list, size_t i)
{
    bool a = list == LIST_A;
    size_t n_in = i < sys->n_inputs ? i : sys->n_inputs;

    return (a ? n_in : count_below(sys->b_input, n_in)) +
           count_below(a ? sys->a_aux : sys->b_aux, i - n_in);
}

/** next_a and next_b are of variable `from`; counted anew only where a setup goes on. */
static void seek(params_out *x, size_t from)
{
    if (from == x->at_var && from != 0) return;
    x->next_a = list_index(x->sys, LIST_A, from);
    x->next_b = list_index(x->sys, LIST_B1, from);
    x->at_var = from;
}

/** Drops from the columns of variables [from, ...) those that are not in the list. */
static size_t select_in(const params_out *x, list_id list, fr *column, size_t from, size_t n)
{
    size_t fill = 0;

    for (size_t i = 0; i < n; i++)
        if (in_list(x->sys, list, from + i)) column[fill++] = column[i];
    return fill;
}

/** l, a, b_g1, b_g2 of the variables from `from` on. */
static cuzk_status do_variables(params_out *x, size_t from)
{
    emitter *e = &x->e;
    size_t n = e->n_vars - from < e->cap ? e->n_vars - from : e->cap;
    size_t inputs = from < e->n_inputs ? e->n_inputs - from : 0, fill;

    if (inputs > n) inputs = n;
    TRY(emit_columns(e, from, from + n));
    TRY(emit_combine(e, &x->delta_inv, n));
    TRY(put_points(x, LIST_L, e->k + inputs, n - inputs, from + inputs - e->n_inputs));
    seek(x, from);
    fill = select_in(x, LIST_A, e->u, from, n);
    TRY(put_points(x, LIST_A, e->u, fill, x->next_a));
    x->next_a += fill;
    fill = select_in(x, LIST_B1, e->v, from, n);
    TRY(put_points(x, LIST_B1, e->v, fill, x->next_b));
    TRY(put_points(x, LIST_B2, e->v, fill, x->next_b));
    x->next_b += fill;
    x->at_var = from + n;
    return CUZK_OK;
}

static uint64_t chunks_of(uint64_t n, size_t cap)
{
    return (n + cap - 1) / cap;
}

/** Points of the chunks that an earlier run did. */
static void count_done(params_out *x)
{
    size_t cap = x->e.cap, from;
    uint64_t h = chunks_of(x->count[LIST_H], cap);

    if (x->done <= h) {
        x->e.done = x->done * cap < x->count[LIST_H] ? x->done * cap : x->count[LIST_H];
        return;
    }
    from = (size_t)(x->done - h) * cap;
    if (from > x->e.n_vars) from = x->e.n_vars;
    x->e.done = x->count[LIST_H] + (from < x->e.n_inputs ? 0 : from - x->e.n_inputs) +
                list_index(x->sys, LIST_A, from) + 2 * list_index(x->sys, LIST_B1, from);
}

static cuzk_status checkpoint(params_out *x)
{
    span sp = span_open(SPAN_WRITE);
    cuzk_status st = file_part_checkpoint(x->f, x->done);
    span_close(&sp);
    x->saved = x->saved || st == CUZK_OK;
    return st;
}

static cuzk_status do_chunks(params_out *x)
{
    const groth16_setup_opts *o = x->e.o;
    uint64_t h = chunks_of(x->count[LIST_H], x->e.cap), last = clock_ns();
    uint64_t every = o->checkpoint_ns != 0 ? o->checkpoint_ns : CHECKPOINT_NS;

    x->chunks = h + chunks_of(x->e.n_vars, x->e.cap);
    count_done(x);
    while (x->done < x->chunks) {
        TRY(x->done < h ? do_h(x, x->done * x->e.cap)
                        : do_variables(x, (size_t)(x->done - h) * x->e.cap));
        x->done++;
        if (x->f != NULL && o->resume && clock_ns() - last > every) {
            TRY(checkpoint(x));
            last = clock_ns();
        }
    }
    return CUZK_OK;
}

/* ---- file ---- */

/** What the work is: the secrets, the circuit, and how it is cut in chunks. */
static cuzk_status work_tag(const params_out *x, uint8_t tag[32])
{
    static const char what[] = "cuzk setup params 1";
    const groth16_trapdoors *t = x->e.t;
    const fr *const secrets[] = {&t->tau, &t->alpha, &t->beta, &t->gamma, &t->delta};
    sha256_ctx c;
    uint8_t hash[32];
    uint64_t cap = x->e.cap;

    r1cs_blocks_hash(x->sys, hash);
    sha256_init(&c);
    sha256_update(&c, what, sizeof what);
    for (size_t i = 0; i < 5; i++) {
        scalar s;
        x->e.cv->fr_to_scalar(&s, secrets[i]);
        sha256_update(&c, s.b, sizeof s.b);
        explicit_bzero(&s, sizeof s);
    }
    sha256_update(&c, hash, sizeof hash);
    sha256_update(&c, &cap, sizeof cap);
    sha256_final(&c, tag);
    explicit_bzero(&c, sizeof c);
    if (x->e.o->resume || os_random(hash, sizeof hash) == 0) {
        /* secrets that will be forgotten: nobody goes on with this work */
        for (size_t i = 0; i < sizeof hash && !x->e.o->resume; i++) tag[i] ^= hash[i];
        return CUZK_OK;
    }
    return FAIL(CUZK_EIO, "the system's random generator failed");
}

static cuzk_status open_file(params_out *x, const char *path)
{
    uint8_t tag[32];

    TRY(work_tag(x, tag));
    TRY(file_part_open(&x->f, path, x->size, tag, &x->done));
    x->saved = x->done != 0;
    for (list_id i = 0; i < LISTS; i++) {
        uint8_t count[4];
        store_u32be(count, x->count[i]);
        TRY(file_part_write(x->f, x->offset[i] - 4, count, sizeof count));
    }
    return CUZK_OK;
}

/** All bytes are in the part file: the caller looks at them, then both files get their names, the key last. */
static cuzk_status finish(params_out *x, const char *vk_path, const bytes_out *vk)
{
    const groth16_setup_opts *o = x->e.o;

    if (o->resume) TRY(checkpoint(x)); /* whatever fails now, nothing of it is done again */
    if (o->written != NULL)
        TRY(o->written(o->ctx, file_part_path(x->f), x->size, vk->data, vk->size));
    span sp = span_open(SPAN_WRITE);
    cuzk_status st = file_write_whole(vk_path, vk->data, vk->size);
    if (st == CUZK_OK) {
        st = file_part_commit(x->f);
        x->f = NULL;
    }
    span_close(&sp);
    return st;
}

/** Not what the work is made of, but the machine: another time it may do. */
static bool may_pass(cuzk_status st)
{
    return st == CUZK_ECANCELLED || st == CUZK_EIO || st == CUZK_ENOMEM || st == CUZK_EBUDGET ||
           st == CUZK_EDEVICE || st == CUZK_ETIMEOUT;
}

/** A setup of known secrets that was stopped, or failed for want of something, can be gone on with; else nothing is left. */
static void leave(params_out *x, cuzk_status st)
{
    bool keep = may_pass(st) && x->f != NULL && x->e.o->resume;
    cuzk_error err;

    if (keep) {
        err = *cuzk_last_error();
        keep = checkpoint(x) == CUZK_OK || x->saved;
        (void)status_adopt(&err); /* why we stop matters more than what became of the checkpoint */
    }
    file_part_close(x->f, keep);
}

/** Sizes, constants, columns and tables; x->e has what the caller knows. */
static cuzk_status begin(params_out *x)
{
    const r1cs_system *sys = x->sys;
    const groth16_trapdoors *t = x->e.t;
    const curve *cv = sys->cv;
    unsigned log_n = r1cs_log_domain(sys, 0);

    if (log_n > DEV_MAX_LOG_N)
        return FAIL_DATA(LIMIT, "circuit", "domain 2^%u, limit 2^%u", log_n, DEV_MAX_LOG_N);
    x->n = (size_t)1 << log_n;
    x->e.cv = cv;
    lay_out(x);
    cv->fr_inv(&x->delta_inv, &t->delta);
    cv->fr_pow_var(&x->z_delta, &t->tau, x->n);
    cv->fr_sub(&x->z_delta, &x->z_delta, &cv->fr_one);
    cv->fr_mul(&x->z_delta, &x->z_delta, &x->delta_inv);
    return emitter_open(&x->e, sys, 7, log_n, x->e.total - x->count[LIST_B2], x->count[LIST_B2]);
}

static void end(params_out *x)
{
    explicit_bzero(&x->delta_inv, sizeof x->delta_inv);
    explicit_bzero(&x->z_delta, sizeof x->z_delta);
    emitter_close(&x->e);
}

cuzk_status groth16_setup_params(dev_stream *s, const r1cs_system *sys, const groth16_trapdoors *t,
                                 const char *params_path, const char *vk_path,
                                 const groth16_setup_opts *o, pool *p, mem *m)
{
    cuzk_status st = CUZK_OK;
    params_out x = {.e = {.s = s, .enc = POINT_ZCASH, .o = o, .t = t, .p = p, .m = m}, .sys = sys};
    groth16_vk *vk = NULL;
    bytes_out vk_bytes;

    bytes_out_init(&vk_bytes, m);
    TRY_OUT(begin(&x));
    TRY_OUT(open_file(&x, params_path));
    TRY_OUT(setup_vk(&vk, &x.e));
    groth16_vk_write(&vk_bytes, vk);
    TRY_OUT(bytes_out_status(&vk_bytes));
    TRY_OUT(file_part_write(x.f, 0, vk_bytes.data, vk_bytes.size));
    TRY_OUT(do_chunks(&x));
    st = finish(&x, vk_path, &vk_bytes);
out:
    leave(&x, st);
    end(&x);
    bytes_out_clear(&vk_bytes);
    groth16_vk_free(vk);
    return st;
}

cuzk_status groth16_setup_memory(groth16_pk **out, dev_stream *s, const r1cs_system *sys,
                                 const groth16_trapdoors *t, const groth16_setup_opts *o, pool *p,
                                 mem *m)
{
    cuzk_status st = CUZK_OK;
    params_out x = {.e = {.s = s, .enc = POINT_LEM, .o = o, .t = t, .p = p, .m = m}, .sys = sys};
    groth16_pk *pk = mem_new(m, 1, sizeof *pk, &st);

    if (pk == NULL) return st;
    pk->m = m;
    pk->cv = sys->cv;
    pk->form = GROTH16_BELLPERSON;
    pk->n_inputs = sys->n_inputs;
    pk->n_aux = sys->n_aux;
    pk->log_n = r1cs_log_domain(sys, 0);
    x.pk = pk;
    TRY_OUT(begin(&x));
    for (list_id i = 0; i < LISTS; i++)
        TRY_OUT(dev_points_new(list_of(pk, i), dev_stream_device(s), sys->cv->id, i == LIST_B2,
                               x.count[i]));
    TRY_OUT(setup_vk(&pk->vk, &x.e));
    TRY_OUT(do_chunks(&x));
    *out = pk;
    pk = NULL;
out:
    end(&x);
    groth16_pk_free(pk);
    return st;
}
