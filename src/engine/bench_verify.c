/*
 * engine/bench_verify.c - `cuzk bench verify`: proofs from bytes to a verdict, the key prepared
 *
 *     verify porep-32g        a PoRep of 32 GiB, ten partitions, from its statement's text and the proof's bytes
 *     verify 100 porep-32g    100 single proofs under the same key, from bytes and public inputs
 *     verify window-32g       one partition of a WindowPoSt: 25,839 public inputs
 *
 * Keys and proofs are simulated (groth16/simulate.h): what a verifier does depends on neither. Before it is timed, each case has to say
 * yes; and no, when one public input is changed.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/bench.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/filecoin.h"
#include "groth16/simulate.h"

#define REPS 20
#define SINGLE 100
#define WINDOW_INPUTS 25839

static const char statement[] =
    "{\"sector_size\": 34359738368, \"layers\": 11, \"registered_seal_proof\": 8, \"miner_id\": "
    "1000, "
    "\"sector_number\": 42, "
    "\"ticket\": \"0101010101010101010101010101010101010101010101010101010101010101\", "
    "\"seed\": \"0202020202020202020202020202020202020202020202020202020202020202\", "
    "\"comm_d\": \"0303030303030303030303030303030303030303030303030303030303030303\", "
    "\"comm_r\": \"0404040404040404040404040404040404040404040404040404040404040404\"}";

/** A case: n proofs of a key, as bytes, and their inputs. */
typedef struct verify_case {
    job *j;
    groth16_sim *sim;
    size_t n, n_pub;
    fr *pub;
    uint8_t *bytes;
    bool from_statement; /* inputs are derived anew in each run */
    bench_row row;
} verify_case;

static const curve *curve_of(const verify_case *c)
{
    return curve_get(CURVE_ID_BLS12_381, c->j->e->table);
}

/* ---- the statement ---- */

static cuzk_status open_statement(fil_job *f, const verify_case *c)
{
    *f = (fil_job){.env = &c->j->e->env, .cv = curve_of(c)};
    TRY(fil_ops_of(&f->ops, &f->kind, "porep"));
    return f->ops->read_statement(f, (const uint8_t *)statement, sizeof statement - 1);
}

/** Public inputs of all partitions, to pub (room for n * n_pub). */
static cuzk_status derive(const verify_case *c, fr *pub)
{
    fil_job f;
    cuzk_status st = open_statement(&f, c);

    for (size_t k = 0; st == CUZK_OK && k < c->n; k++)
        st = f.ops->public_inputs(&f, k, pub + k * c->n_pub);
    if (f.ops != NULL) f.ops->clear(&f);
    return st;
}

/* ---- making a case ---- */

static void clear_case(verify_case *c)
{
    mem *m = c->j->e->m;

    mem_free(m, c->bytes);
    mem_free(m, c->pub);
    c->bytes = NULL;
    c->pub = NULL;
}

static cuzk_status make_proofs(verify_case *c)
{
    mem *m = c->j->e->m;
    const curve *cv = curve_of(c);
    cuzk_status st = CUZK_OK;

    c->pub = mem_new(m, c->n * c->n_pub, sizeof *c->pub, &st);
    if (c->pub == NULL) return st;
    c->bytes = mem_new(m, c->n, GROTH16_PROOF_BYTES, &st);
    if (c->bytes == NULL) return st;
    if (c->from_statement) {
        TRY(derive(c, c->pub));
    } else {
        for (size_t i = 0; i < c->n * c->n_pub; i++)
            if (!cv->fr_random(&c->pub[i])) return FAIL(CUZK_EIO, "no randomness");
    }
    for (size_t k = 0; k < c->n; k++) {
        groth16_proof p;
        TRY(groth16_sim_prove(&p, c->sim, c->pub + k * c->n_pub));
        groth16_proof_write(c->bytes + k * GROTH16_PROOF_BYTES, cv, &p);
    }
    return CUZK_OK;
}

/* ---- what is measured ---- */

static cuzk_status verify(const verify_case *c, fr *pub, groth16_proof *p, bool *valid)
{
    size_t bad;
    span sp = span_open(SPAN_READ_INPUT);
    cuzk_status st = groth16_proofs_read(p, curve_of(c), c->bytes, c->n, &bad);

    if (st == CUZK_OK && c->from_statement) st = derive(c, pub);
    span_close(&sp);
    TRY(st);
    sp = span_open(SPAN_VERIFY);
    st = groth16_verify_batch(c->j->s, c->sim->vk, p, c->n, pub, valid);
    span_close(&sp);
    return st;
}

/** One changed input, of the last proof, has to be seen. */
static cuzk_status refuses(const verify_case *c, groth16_proof *p)
{
    const curve *cv = curve_of(c);
    fr *x = &c->pub[c->n * c->n_pub - 1], was = *x;
    bool valid = true;

    cv->fr_add(x, x, &cv->fr_one);
    cuzk_status st = groth16_verify_batch(c->j->s, c->sim->vk, p, c->n, c->pub, &valid);
    *x = was;
    TRY(st);
    return valid ? FAIL(CUZK_EBUG, "%s: a wrong input was not seen", c->row.name) : CUZK_OK;
}

static cuzk_status measure(verify_case *c, groth16_proof *p)
{
    mem *m = c->j->e->m;
    bench_row *row = &c->row;
    bool valid = false;

    mem_reset_peak(m);
    size_t before = mem_used(m);
    for (unsigned i = 0; i <= row->reps; i++) { /* the first is warm-up */
        uint64_t from = clock_ns();
        TRY(verify(c, c->pub, p, &valid));
        if (i > 0) row->ns[i - 1] = clock_ns() - from;
        if (!valid) return FAIL(CUZK_EBUG, "%s: valid proofs did not verify", row->name);
    }
    row->peak = mem_peak(m) - before;
    row->n = c->n;
    row->n_facts = 0;
    row->facts[row->n_facts++] = (bench_fact){"proofs", c->n};
    row->facts[row->n_facts++] = (bench_fact){"inputs", c->n_pub};
    span sp = span_open(SPAN_BENCH);
    cuzk_status st = refuses(c, p);
    span_close(&sp);
    return st;
}

static cuzk_status run_case(verify_case *c, bench_report *r)
{
    mem *m = c->j->e->m;
    cuzk_status st = CUZK_OK;
    groth16_proof *p = mem_new(m, c->n, sizeof *p, &st);
    span sp = span_open(SPAN_BENCH);

    if (p != NULL) st = make_proofs(c);
    span_close(&sp);
    if (st == CUZK_OK) st = measure(c, p);
    if (st == CUZK_OK) bench_report_row(r, &c->row);
    clear_case(c);
    mem_free(m, p);
    return st;
}

static cuzk_status open_key(verify_case *c, size_t n_pub)
{
    span sp = span_open(SPAN_BENCH);
    cuzk_status st;

    groth16_sim_close(c->sim);
    c->sim = NULL;
    c->n_pub = n_pub;
    st = groth16_sim_open(&c->sim, c->j->s, curve_of(c), (uint32_t)n_pub + 1, c->j->e->m);
    if (st == CUZK_OK) st = groth16_vk_prepare(c->sim->vk, c->j->s);
    span_close(&sp);
    return st;
}

static cuzk_status run_porep(verify_case *c, bench_report *r)
{
    fil_job f;
    cuzk_status st = open_statement(&f, c);

    if (st == CUZK_OK) st = open_key(c, f.n_public);
    c->n = f.n_partitions;
    if (f.ops != NULL) f.ops->clear(&f);
    TRY(st);
    c->from_statement = true;
    (void)snprintf(c->row.name, sizeof c->row.name, "verify porep-32g");
    TRY(run_case(c, r));
    c->from_statement = false;
    c->n = SINGLE;
    (void)snprintf(c->row.name, sizeof c->row.name, "verify %d porep-32g", SINGLE);
    return run_case(c, r);
}

static cuzk_status run_window(verify_case *c, bench_report *r)
{
    TRY(open_key(c, WINDOW_INPUTS));
    c->n = 1;
    (void)snprintf(c->row.name, sizeof c->row.name, "verify window-32g");
    return run_case(c, r);
}

cuzk_status bench_verify(job *j, const cuzk_bench_args *a, bench_report *r)
{
    verify_case c = {.j = j, .row = {.reps = a->reps == 0 ? REPS : a->reps}};

    if (a->circuit != NULL || a->curve != NULL || a->group != NULL || a->log_n != 0)
        return FAIL(CUZK_EINVAL, "bench verify takes no circuit, curve, group and size of its own");
    cuzk_status st = run_porep(&c, r);
    if (st == CUZK_OK) st = run_window(&c, r);
    groth16_sim_close(c.sim);
    return st;
}
