/*
 * engine/bench_synthetic.c - `cuzk bench prove --circuit synthetic-22`: a proof of 2^22 constraints over full-width values
 *
 * Row k says (x_k-1 + 3 x_k-2) (x_k-1 + x_k-2) = x_k, from two secret values on; the last product is the public input. No value is small,
 * and each variable but the last occurs in A, B and C: what a circom circuit costs at most. Rows are those of one template, again and
 * again. With the two rows of the inputs there are 2^22 constraints, so the domain is full.
 *
 * The key is made for the run. A repetition begins with the witness in memory and ends with the proof's bytes (snarkjs's JSON); each is
 * verified, outside its time. The first one is warm-up.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench.h"
#include "engine/bench_keys.h"

#include <string.h>

#include "base/clock.h"

#define PREFIX "synthetic-"
#define MIN_LOG 3u
#define MAX_LOG 26u
#define BLOCK_ROWS ((uint32_t)4096)
#define INPUT_ROWS 2u /* ONE and the last product */
#define REPS 10

typedef enum step { STEP_DEVICE, STEP_FINISH, STEP_BYTES, STEP_VERIFY, STEPS } step;
static const char *const step_names[STEPS] = {"device", "finish", "encode", "verify"};

typedef struct synthetic {
    job *j;
    const char *name;
    const curve *cv;
    uint32_t n_rows; /* of products */
    r1cs_system *sys;
    r1cs_assignment *w;
    bench_keys keys;
    const groth16_pk *pk; /* that of the proof's device */
    bench_report *r;
    bench_row row[STEPS], whole, once;
} synthetic;

bool bench_is_synthetic(const char *circuit)
{
    return strncmp(circuit, PREFIX, sizeof PREFIX - 1) == 0;
}

static cuzk_status read_name(synthetic *b, const cuzk_bench_args *a)
{
    const char *p = a->circuit + sizeof PREFIX - 1;
    curve_id id = CURVE_ID_BN254;
    unsigned log_n = 0;

    if (a->params_dir != NULL)
        return FAIL(CUZK_EINVAL, "the key of %.40s is made for the run", a->circuit);
    if (a->curve != NULL && !curve_id_from_name(&id, a->curve))
        return FAIL(CUZK_EINVAL, "unknown curve %s; known: bn254, bls12-381", a->curve);
    for (; *p >= '0' && *p <= '9' && log_n < 100; p++) log_n = 10 * log_n + (unsigned)(*p - '0');
    if (*p != 0 || log_n < MIN_LOG || log_n > MAX_LOG)
        return FAIL(CUZK_EINVAL, "circuit %.40s: %s%u to %s%u are known", a->circuit, PREFIX,
                    MIN_LOG, PREFIX, MAX_LOG);
    b->cv = curve_get(id, b->j->e->table);
    b->n_rows = ((uint32_t)1 << log_n) - INPUT_ROWS;
    return CUZK_OK;
}

/* ---- the circuit ---- */

/* (b + 3 a) (b + a) = c */
static void add_row(r1cs_builder *t, const curve *cv, uint32_t a, uint32_t b, uint32_t c)
{
    r1cs_lc *x = r1cs_lc_wire(t, b), *y = r1cs_lc_wire(t, b), *z = r1cs_lc_wire(t, c);
    fr three;

    cv->fr_from_u64(&three, 3);
    r1cs_lc_add(t, x, a, &three);
    r1cs_lc_add(t, y, a, &cv->fr_one);
    r1cs_enforce(t, x, y, z);
    r1cs_lc_free(t, x);
    r1cs_lc_free(t, y);
    r1cs_lc_free(t, z);
}

/* A template of n rows: the first one has the values before as its own, the last one's last product is public. */
static cuzk_status add_template(synthetic *b, uint32_t n, bool first, bool last, uint32_t *index)
{
    r1cs_builder *t;

    TRY(r1cs_builder_new(&t, b->sys, "products", first ? 0 : 2));
    uint32_t x = first ? r1cs_alloc(t) : r1cs_in(t, 0), y = first ? r1cs_alloc(t) : r1cs_in(t, 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t z = last && i + 1 == n ? r1cs_alloc_input(t) : r1cs_alloc(t);
        add_row(t, b->cv, x, y, z);
        x = y;
        y = z;
    }
    cuzk_status st = r1cs_builder_finish(t, index);
    r1cs_builder_free(t);
    return st;
}

static cuzk_status add_block(synthetic *b, uint32_t tmpl, uint32_t n, r1cs_wire before[2])
{
    r1cs_wire own;

    TRY(r1cs_add(b->sys, tmpl, before, &own, NULL));
    before[0] = own + n - 2; /* of the last block, which has one less, they are not asked for */
    before[1] = own + n - 1;
    return CUZK_OK;
}

static cuzk_status shape(synthetic *b)
{
    uint32_t n = b->n_rows, all = BLOCK_ROWS < n / 3 ? BLOCK_ROWS : n / 3;
    uint32_t first, middle, last, blocks = n / all, rest = n - (blocks - 1) * all;
    r1cs_wire before[2];

    TRY(r1cs_new(&b->sys, b->cv, b->name, b->j->e->m));
    TRY(add_template(b, all, true, false, &first));
    TRY(add_template(b, all, false, false, &middle));
    TRY(add_template(b, rest, false, true, &last));
    TRY(add_block(b, first, all + 2, before));
    for (uint32_t i = 1; i + 1 < blocks; i++) TRY(add_block(b, middle, all, before));
    TRY(add_block(b, last, rest, before));
    return r1cs_finish(b->sys);
}

/* x_0 and x_1 by the seed, the rest as the rows say. */
static cuzk_status fill(synthetic *b)
{
    const curve *cv = b->cv;
    fr *x, three, p, q;

    TRY(r1cs_assignment_new(&b->w, b->sys, b->j->e->m));
    x = b->w->elems;
    cv->fr_from_u64(&three, 3);
    bench_random(cv, x, 2, 1);
    for (uint32_t k = 2; k < b->n_rows + 2; k++) {
        cv->fr_mul(&p, &x[k - 2], &three);
        cv->fr_add(&p, &p, &x[k - 1]);
        cv->fr_add(&q, &x[k - 1], &x[k - 2]);
        cv->fr_mul(k < b->w->n_elems ? &x[k] : &b->w->inputs[1], &p, &q);
    }
    return CUZK_OK;
}

/* ---- what is done once ---- */

static void tell_once(synthetic *b, uint64_t from, size_t before)
{
    bench_row_time(&b->once, from);
    b->once.peak = mem_peak(b->j->e->m) - before;
    bench_report_row(b->r, &b->once);
}

static cuzk_status make_key(synthetic *b)
{
    mem *m = b->j->e->m;
    span sp = span_open(SPAN_SHAPE);
    cuzk_status st = shape(b);

    span_close(&sp);
    TRY(st);
    bench_row_begin(&b->once, "setup", b->name, r1cs_total_rows(b->sys));
    mem_reset_peak(m);
    size_t before = mem_used(m);
    uint64_t from = clock_ns();
    sp = span_open(SPAN_SETUP);
    st = bench_keys_make(&b->keys, b->j, b->sys);
    span_close(&sp);
    TRY(st);
    b->pk = b->keys.pk[0];
    bench_row_fact(&b->once, "points", groth16_pk_points(b->pk));
    tell_once(b, from, before);
    return CUZK_OK;
}

static cuzk_status make_witness(synthetic *b)
{
    cuzk_engine *e = b->j->e;
    r1cs_fault fault;
    uint64_t from = clock_ns();

    bench_row_begin(&b->once, "witness", b->name, b->n_rows + 2);
    mem_reset_peak(e->m);
    size_t before = mem_used(e->m);
    span sp = span_open(SPAN_GENERATE);
    cuzk_status st = fill(b);
    span_close(&sp);
    TRY(st);
    tell_once(b, from, before);
    sp = span_open(SPAN_CHECK_R1CS);
    st = r1cs_check(b->sys, b->w, e->pool, e->cancel, &fault);
    span_close(&sp);
    TRY(st);
    return fault.found ? FAIL(CUZK_EBUG, "proving benchmark: row %u does not hold", fault.row)
                       : CUZK_OK;
}

/* ---- a proof ---- */

/* As its receiver does: from the bytes. */
static cuzk_status verify(synthetic *b, const bytes_out *json)
{
    groth16_proof p;
    bool valid = false;
    span sp = span_open(SPAN_VERIFY);
    cuzk_status st = groth16_proof_from_json(&p, b->cv, json->data, json->size);

    if (st == CUZK_OK)
        st =
            groth16_verify(b->j->host, b->pk->vk, &p, b->w->inputs + 1, b->w->n_inputs - 1, &valid);
    span_close(&sp);
    TRY(st);
    return valid ? CUZK_OK : FAIL(CUZK_EBUG, "proving benchmark: a proof does not verify");
}

static cuzk_status prove(synthetic *b, bytes_out *json, uint64_t at[STEPS])
{
    groth16_prove_args args = {.pk = b->pk, .sys = b->sys, .w = b->w, .m = b->j->e->m};
    groth16_job *started;
    groth16_proof p;
    span sp = span_open(SPAN_PROVE);
    cuzk_status st = engine_prove_start(&started, b->j, &args);

    at[STEP_FINISH] = clock_ns();
    if (st == CUZK_OK) st = groth16_prove_finish(&p, started);
    at[STEP_BYTES] = clock_ns();
    span_close(&sp);
    TRY(st);
    sp = span_open(SPAN_ENCODE);
    groth16_proof_to_json(json, b->cv, &p);
    span_close(&sp);
    return bytes_out_status(json);
}

static void note(bench_row *row, uint64_t from, uint64_t to)
{
    if (row->reps < BENCH_MAX_REPS) row->ns[row->reps++] = to - from;
}

static cuzk_status prove_and_verify(synthetic *b, bool warm_up)
{
    uint64_t at[STEPS + 1];
    bytes_out json;

    bytes_out_init(&json, b->j->e->m);
    at[STEP_DEVICE] = clock_ns();
    cuzk_status st = prove(b, &json, at);
    at[STEP_VERIFY] = clock_ns();
    if (st == CUZK_OK) st = verify(b, &json);
    at[STEPS] = clock_ns();
    bytes_out_clear(&json);
    if (st != CUZK_OK || warm_up) return st;
    for (step i = 0; i < STEPS; i++) note(&b->row[i], at[i], at[i + 1]);
    note(&b->whole, at[STEP_DEVICE], at[STEP_VERIFY]);
    return CUZK_OK;
}

static cuzk_status run(synthetic *b, unsigned reps)
{
    mem *m = b->j->e->m;
    size_t before;

    TRY(make_key(b));
    TRY(make_witness(b));
    for (step i = 0; i < STEPS; i++) bench_row_begin(&b->row[i], step_names[i], b->name, 1);
    bench_row_begin(&b->whole, "prove", b->name, r1cs_total_rows(b->sys));
    mem_reset_peak(m);
    before = mem_used(m);
    for (unsigned i = 0; i <= reps; i++) {
        engine_progress(b->j->e, "proofs", i, reps + 1);
        TRY(prove_and_verify(b, i == 0));
    }
    b->whole.peak = mem_peak(m) - before;
    for (step i = 0; i < STEPS; i++) bench_report_row(b->r, &b->row[i]);
    bench_row_fact(&b->whole, "aux", b->sys->n_aux);
    bench_row_fact(&b->whole, "witness_bytes", r1cs_assignment_size(b->sys));
    bench_row_fact(&b->whole, "points", groth16_pk_points(b->pk));
    bench_report_row(b->r, &b->whole);
    return CUZK_OK;
}

cuzk_status bench_synthetic(job *j, const cuzk_bench_args *a, bench_report *r)
{
    mem *m = j->e->m;
    synthetic *b;
    cuzk_status st;

    b = mem_new(m, 1, sizeof *b, &st); /* rows hold many times */
    if (b == NULL) return st;
    b->j = j;
    b->name = a->circuit;
    b->r = r;
    st = read_name(b, a);
    if (st == CUZK_OK) st = run(b, a->reps == 0 ? REPS : a->reps);
    span sp = span_open(SPAN_FREE);
    bench_keys_free(&b->keys, b->j);
    r1cs_assignment_free(b->w);
    r1cs_free(b->sys);
    mem_free(m, b);
    span_close(&sp);
    return st;
}
