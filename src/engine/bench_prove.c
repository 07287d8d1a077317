/*
 * engine/bench_prove.c - `cuzk bench prove --circuit NAME`: a whole Filecoin proof with inputs and a key that are made for the run
 *
 * The key is made on each device where it is used, from secrets that nobody keeps, unless there is a folder of keys; inputs are
 * those of `gen`. Each repetition proves all partitions, from vanilla proofs in memory, and verifies them together as their
 * receiver would: encoded proofs, public inputs from the statement alone. There is no warm-up: the first partition's times
 * hold what is done once.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/bench_inputs.h"
#include "engine/bench_keys.h"
#include "engine/key_store.h"

/* A step that each partition takes: its times are one row. */
typedef enum step { STEP_SYNTH, STEP_DEVICE, STEP_FINISH, STEPS } step;
static const char *const step_names[STEPS] = {"synthesis", "device", "finish"};

typedef struct prove_bench {
    job *j;
    const cuzk_bench_args *a;
    bench_inputs in;
    bench_report *r;
    bench_row row[STEPS];          /* of partitions */
    bench_row whole, verify, once; /* once: what is done one time */
    groth16_proof *proofs;
    fr *pub;
    bench_keys keys;    /* made for the run */
    pthread_mutex_t mu; /* guards row: partitions are proved on several devices at once */
} prove_bench;

/* ---- what is done once ---- */

static cuzk_status open_key(prove_bench *b)
{
    cuzk_engine *e = b->j->e;
    fil_job *f = &b->in.f;
    char path[FIL_PATH_MAX];

    TRY(fil_key_path(path, b->a->params_dir, f->kind, f->size, ".params"));
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st = key_trust(e, b->a->params_dir, f->kind, f->size);
    if (st == CUZK_OK) st = groth16_params_open(&f->pk, path, f->cv, f->sys, e->m);
    span_close(&sp);
    return st;
}

static cuzk_status shape_and_key(prove_bench *b)
{
    fil_job *f = &b->in.f;
    mem *m = b->j->e->m;
    bool made = b->a->params_dir == NULL;
    span sp = span_open(SPAN_SHAPE);
    cuzk_status st = f->ops->system(&f->sys, f->ps, f->kind, f->size, m);

    span_close(&sp);
    TRY(st);
    bench_row_begin(&b->once, made ? "setup" : "open key", b->a->circuit, r1cs_total_rows(f->sys));
    mem_reset_peak(m);
    size_t before = mem_used(m);
    uint64_t from = clock_ns();
    sp = span_open(made ? SPAN_SETUP : SPAN_READ_KEY);
    st = made ? bench_keys_make(&b->keys, b->j, f->sys) : open_key(b);
    span_close(&sp);
    TRY(st);
    if (made) f->pk = b->keys.pk[0]; /* until they are freed */
    bench_row_time(&b->once, from);
    b->once.peak = mem_peak(m) - before;
    bench_row_fact(&b->once, "points", groth16_pk_points(f->pk));
    bench_report_row(b->r, &b->once);
    return CUZK_OK;
}

static cuzk_status inputs(prove_bench *b)
{
    uint64_t from = clock_ns();
    cuzk_status st;

    bench_row_begin(&b->once, "inputs", b->a->circuit, 0);
    TRY(bench_inputs_make(&b->in));
    bench_row_time(&b->once, from);
    b->once.n = b->in.input_bytes;
    bench_report_row(b->r, &b->once);
    span sp = span_open(SPAN_READ_INPUT);
    st = bench_inputs_read(&b->in);
    span_close(&sp);
    return st;
}

/* ---- a proof ---- */

static void step_time(prove_bench *b, step s, uint64_t from)
{
    (void)pthread_mutex_lock(&b->mu);
    bench_row_time(&b->row[s], from);
    (void)pthread_mutex_unlock(&b->mu);
}

/* Both phases; the proof is not let out before all partitions have been verified. */
static cuzk_status prove_one(prove_bench *b, job *j, const r1cs_assignment *w, groth16_proof *out)
{
    groth16_prove_args args = {
        .pk = bench_key_of(j, b->in.f.pk), .sys = b->in.f.sys, .w = w, .m = b->in.f.env->m};
    groth16_job *started;
    uint64_t from = clock_ns();
    cuzk_status st;
    span sp = span_open(SPAN_PROVE);

    st = engine_prove_start(&started, j, &args);
    if (st == CUZK_OK) {
        step_time(b, STEP_DEVICE, from);
        from = clock_ns();
        st = groth16_prove_finish(out, started);
        step_time(b, STEP_FINISH, from);
    }
    span_close(&sp);
    return st;
}

static cuzk_status prove_partition(void *ctx, job *j, size_t k)
{
    prove_bench *b = ctx;
    fil_job *f = &b->in.f;
    r1cs_assignment *w = NULL;
    uint64_t from = clock_ns();
    cuzk_status st;

    span_context(0, (int32_t)k);
    engine_progress(j->e, "partitions", k, f->n_partitions);
    TRY(f->ops->synthesise(f, k, &w));
    step_time(b, STEP_SYNTH, from);
    TRY_OUT(fil_compare_public(f, k, w));
    st = prove_one(b, j, w, &b->proofs[k]);
out:;
    span sp = span_open(SPAN_FREE);
    r1cs_assignment_free(w);
    span_close(&sp);
    return st;
}

/* As the receiver of the bytes does. */
static cuzk_status verify(prove_bench *b)
{
    const fil_job *f = &b->in.f;
    uint8_t bytes[GROTH16_PROOF_BYTES];
    uint64_t from = clock_ns();
    bool valid = false;

    for (size_t k = 0; k < f->n_partitions; k++) {
        groth16_proof_write(bytes, f->cv, &b->proofs[k]);
        TRY(groth16_proof_read(&b->proofs[k], f->cv, bytes));
        TRY(f->ops->public_inputs(f, k, b->pub + k * f->n_public));
    }
    TRY(groth16_verify_batch(b->j->host, f->pk->vk, b->proofs, f->n_partitions, b->pub, &valid));
    if (!valid) return FAIL(CUZK_EBUG, "proving benchmark: a proof does not verify");
    bench_row_time(&b->verify, from);
    return CUZK_OK;
}

static cuzk_status prove_all(prove_bench *b)
{
    size_t n = b->in.f.n_partitions;
    uint64_t from = clock_ns();

    TRY(engine_spread(b->j, n, prove_partition, b));
    engine_progress(b->j->e, "partitions", n, n);
    span sp = span_open(SPAN_VERIFY);
    cuzk_status st = verify(b);
    span_close(&sp);
    if (st == CUZK_OK) bench_row_time(&b->whole, from);
    return st;
}

/* ---- the benchmark ---- */

static cuzk_status room_for_proofs(prove_bench *b)
{
    const fil_job *f = &b->in.f;
    mem *m = b->j->e->m;
    cuzk_status st;

    b->proofs = mem_new(m, f->n_partitions, sizeof *b->proofs, &st);
    if (b->proofs == NULL) return st;
    b->pub = mem_new(m, f->n_partitions * f->n_public, sizeof *b->pub, &st);
    return b->pub == NULL ? st : CUZK_OK;
}

static void report(prove_bench *b)
{
    const fil_job *f = &b->in.f;

    for (step i = 0; i < STEPS; i++) bench_report_row(b->r, &b->row[i]);
    bench_report_row(b->r, &b->verify);
    bench_row_fact(&b->whole, "partitions", f->n_partitions);
    bench_row_fact(&b->whole, "rows", r1cs_total_rows(f->sys));
    bench_row_fact(&b->whole, "aux", f->sys->n_aux);
    bench_row_fact(&b->whole, "witness_bytes", r1cs_assignment_size(f->sys));
    bench_row_fact(&b->whole, "points", groth16_pk_points(f->pk));
    bench_report_row(b->r, &b->whole);
}

static cuzk_status run(prove_bench *b)
{
    mem *m = b->j->e->m;
    unsigned reps = b->a->reps == 0 ? 1 : b->a->reps;
    size_t before;

    TRY(shape_and_key(b));
    TRY(inputs(b));
    TRY(room_for_proofs(b));
    for (step i = 0; i < STEPS; i++) bench_row_begin(&b->row[i], step_names[i], b->a->circuit, 1);
    bench_row_begin(&b->verify, "verify", b->a->circuit, b->in.f.n_partitions);
    bench_row_begin(&b->whole, "prove", b->a->circuit, b->in.f.n_partitions);
    mem_reset_peak(m);
    before = mem_used(m);
    for (unsigned i = 0; i < reps; i++) TRY(prove_all(b));
    b->whole.peak = mem_peak(m) - before;
    report(b);
    return CUZK_OK;
}

cuzk_status bench_prove(job *j, const cuzk_bench_args *a, bench_report *r)
{
    prove_bench *b;
    cuzk_status st;

    if (a->circuit == NULL)
        return FAIL(CUZK_EINVAL, "bench prove needs a circuit (--circuit porep-32g)");
    if (a->group != NULL || a->log_n != 0)
        return FAIL(CUZK_EINVAL, "bench prove takes no group and size of its own");
    if (a->beside != NULL) return bench_beside(j, a, r);
    if (bench_is_synthetic(a->circuit)) return bench_synthetic(j, a, r);
    if (a->curve != NULL)
        return FAIL(CUZK_EINVAL, "bench prove: the curve of %.40s is bls12-381", a->circuit);
    b = mem_new(j->e->m, 1, sizeof *b, &st); /* rows hold many times */
    if (b == NULL) return st;
    b->j = j;
    b->a = a;
    b->r = r;
    if (pthread_mutex_init(&b->mu, NULL) != 0) {
        mem_free(j->e->m, b);
        return FAIL(CUZK_ENOMEM, "proving benchmark: no mutex");
    }
    st = bench_inputs_open(&b->in, j, a->circuit);
    if (st == CUZK_OK) st = run(b);
    span sp = span_open(SPAN_FREE);
    mem_free(j->e->m, b->proofs);
    mem_free(j->e->m, b->pub);
    if (b->keys.pk[0] != NULL) b->in.f.pk = NULL;
    bench_keys_free(&b->keys, j);
    bench_inputs_close(&b->in);
    (void)pthread_mutex_destroy(&b->mu);
    mem_free(j->e->m, b);
    span_close(&sp);
    return st;
}
