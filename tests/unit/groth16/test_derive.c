/*
 * unit/groth16/test_derive.c - derived points of a key: the same proofs as without, and files that are refused
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "r1cs/assignment.h"
#include "support.h"

#define LINKS 25u /* 128 rows with the inputs' */

static const uint8_t source[GROTH16_SOURCE_BYTES] = "the key of this test";

/** A chain of instances; link i takes z of the one before (the first: a value of the block before it). */
typedef struct chain {
    rig r;
    const curve *cv;
    r1cs_system *sys;
    r1cs_assignment *w;
    groth16_pk *pk;
    cuzk_fixed_rs rs;
} chain;

static fr number(const curve *cv, uint64_t v)
{
    fr x;
    cv->fr_from_u64(&x, v);
    return x;
}

static void add(const curve *cv, r1cs_builder *b, r1cs_lc *lc, uint32_t wire, int k)
{
    fr x = number(cv, (uint64_t)(k < 0 ? -k : k));
    if (k < 0) cv->fr_neg(&x, &x);
    r1cs_lc_add(b, lc, wire, &x);
}

/** in x; locals y, bit, z; public p:
 *    x x = y        bit (1 - bit) = 0 (no C)      (y + 3 bit) (x + 1) = 5 z + y - x      z 1 = p - 7 + 2 bit */
static uint32_t link_template(const curve *cv, r1cs_system *sys)
{
    r1cs_builder *b;
    uint32_t index;

    assert_status_ok(r1cs_builder_new(&b, sys, "link", 1));
    uint32_t x = r1cs_in(b, 0), y = r1cs_alloc(b), bit = r1cs_alloc_bit(b), z = r1cs_alloc(b);
    uint32_t p = r1cs_alloc_input(b);
    r1cs_lc *lx = r1cs_lc_wire(b, x), *ly = r1cs_lc_wire(b, y), *lbit = r1cs_lc_wire(b, bit);
    r1cs_lc *no = r1cs_lc_wire(b, 0), *u = r1cs_lc_copy(b, ly), *v = r1cs_lc_copy(b, lx);
    r1cs_lc *c3 = r1cs_lc_copy(b, ly), *c4 = r1cs_lc_wire(b, p);
    add(cv, b, no, bit, -1);
    add(cv, b, u, bit, 3);
    add(cv, b, v, 0, 1);
    add(cv, b, c3, z, 5);
    add(cv, b, c3, x, -1);
    add(cv, b, c4, 0, -7);
    add(cv, b, c4, bit, 2);
    r1cs_enforce(b, lx, lx, ly);
    r1cs_enforce(b, lbit, no, NULL);
    r1cs_enforce(b, u, v, c3);
    r1cs_enforce(b, r1cs_lc_wire(b, z), r1cs_lc_wire(b, 0), c4);
    assert_status_ok(r1cs_builder_finish(b, &index));
    r1cs_builder_free(b);
    return index;
}

/** local x0, public p: x0 x0 = p */
static uint32_t first_template(r1cs_system *sys)
{
    r1cs_builder *b;
    uint32_t index;

    assert_status_ok(r1cs_builder_new(&b, sys, "first", 0));
    uint32_t x = r1cs_alloc(b), p = r1cs_alloc_input(b);
    r1cs_enforce(b, r1cs_lc_wire(b, x), r1cs_lc_wire(b, x), r1cs_lc_wire(b, p));
    assert_status_ok(r1cs_builder_finish(b, &index));
    r1cs_builder_free(b);
    return index;
}

/** Values that satisfy it; x0 = 3. */
static void chain_values(chain *c, uint32_t links)
{
    const curve *cv = c->cv;
    fr x = number(cv, 3), y, z, t, fifth = number(cv, 5);

    cv->fr_inv(&fifth, &fifth);
    c->w->elems[0] = x;
    cv->fr_mul(&c->w->inputs[1], &x, &x);
    for (uint32_t i = 0; i < links; i++) {
        bool bit = i % 3 == 1;
        cv->fr_mul(&y, &x, &x);
        t = number(cv, bit ? 3 : 0);
        cv->fr_add(&t, &t, &y);
        cv->fr_add(&z, &x, &cv->fr_one);
        cv->fr_mul(&z, &z, &t);
        cv->fr_sub(&z, &z, &y);
        cv->fr_add(&z, &z, &x);
        cv->fr_mul(&z, &z, &fifth);
        c->w->elems[1 + 2 * i] = y;
        c->w->elems[2 + 2 * i] = z;
        if (bit) c->w->bits[i / 64] |= (uint64_t)1 << (i % 64);
        t = number(cv, bit ? 5 : 7);
        cv->fr_add(&c->w->inputs[2 + i], &z, &t);
        x = z;
    }
}

static void chain_open(chain *c, cpu_table table, uint32_t links)
{
    groth16_trapdoors t;
    groth16_setup_opts o = {0};
    r1cs_fault fault;
    r1cs_wire x;
    const char *params = harness_temp_path("chain.params");

    rig_open(&c->r, table, 2);
    c->cv = curve_get(CURVE_ID_BLS12_381, table);
    fixture_trapdoors(&t, &c->rs, c->cv);
    assert_status_ok(r1cs_new(&c->sys, c->cv, "chain", c->r.m));
    uint32_t first = first_template(c->sys), next = link_template(c->cv, c->sys);
    assert_status_ok(r1cs_add(c->sys, first, NULL, &x, NULL));
    for (uint32_t i = 0; i < links; i++) {
        assert_status_ok(r1cs_add(c->sys, next, &(r1cs_wire){x}, &x, NULL));
        x += 2; /* its z */
    }
    assert_status_ok(r1cs_finish(c->sys));
    assert_status_ok(r1cs_assignment_new(&c->w, c->sys, c->r.m));
    chain_values(c, links);
    assert_status_ok(r1cs_check(c->sys, c->w, c->r.pool, NULL, &fault));
    assert_false(fault.found);
    assert_status_ok(groth16_setup_params(c->r.s, c->sys, &t, params, harness_temp_path("chain.vk"),
                                          &o, c->r.pool, c->r.m));
    assert_status_ok(groth16_params_open(&c->pk, params, c->cv, c->sys, c->r.m));
}

static void chain_close(chain *c)
{
    groth16_pk_free(c->pk);
    r1cs_assignment_free(c->w);
    r1cs_free(c->sys);
    rig_close(&c->r);
}

static cuzk_status derive(chain *c, const char *path, const groth16_setup_opts *o)
{
    return groth16_derive(c->r.s, c->pk, c->sys, source, path, o, c->r.pool, c->r.m);
}

static bool prove(chain *c, groth16_proof *p)
{
    groth16_prove_args args = {.pk = c->pk, .sys = c->sys, .w = c->w, .fixed = &c->rs, .m = c->r.m};
    groth16_job *job;
    bool valid;

    assert_status_ok(groth16_prove_start(&job, c->r.s, &args));
    assert_status_ok(groth16_prove_finish(p, job));
    assert_status_ok(
        groth16_verify(c->r.s, c->pk->vk, p, c->w->inputs + 1, c->w->n_inputs - 1, &valid));
    return valid;
}

static cuzk_status check_file(const chain *c, groth16_derived_info *info)
{
    const file_map *f = &c->pk->derived->file;
    return groth16_derived_info_read(info, f->data, f->size, NULL);
}

/** With and without derived points the same proof: of a witness that satisfies the circuit, and of one that does not. */
static void same_proofs(chain *c, const char *path)
{
    groth16_derived_info info;
    groth16_proof plain, broken, p;
    fr was = c->w->elems[7];
    size_t with, without;

    assert_true(prove(c, &plain));
    c->cv->fr_add(&c->w->elems[7], &was, &c->cv->fr_one);
    assert_false(prove(c, &broken));
    c->w->elems[7] = was;
    without = groth16_prove_size(c->pk, c->sys);
    assert_status_ok(groth16_derived_open(c->pk, path, source));
    assert_status_ok(check_file(c, &info));
    assert_int_equal(info.log_n, c->pk->log_n);
    assert_int_equal(info.n_inputs, c->pk->n_inputs);
    assert_int_equal(info.n_aux, c->pk->n_aux);
    assert_memory_equal(info.source, source, sizeof source);
    with = groth16_prove_size(c->pk, c->sys);
    assert_int_equal(without - with, sizeof(fr) << c->pk->log_n);
    assert_true(prove(c, &p));
    assert_proof_equal(c->cv, &p, &plain);
    c->cv->fr_add(&c->w->elems[7], &was, &c->cv->fr_one);
    assert_false(prove(c, &p));
    assert_proof_equal(c->cv, &p, &broken);
    c->w->elems[7] = was;
}

static void test_same_proofs(void **state)
{
    (void)state;
    for (cpu_table t = 0; t < CPU_TABLES; t++) {
        groth16_setup_opts o = {0};
        const char *path = harness_temp_path("chain.derived");
        chain c;

        if (!cpu_table_supported(t)) continue;
        chain_open(&c, t, LINKS);
        assert_int_equal(c.pk->log_n, 7);
        assert_status_ok(derive(&c, path, &o));
        same_proofs(&c, path);
        chain_close(&c);
    }
}

/** However a derivation is cut in steps, the bytes are the same. */
static void test_steps(void **state)
{
    const char *path = harness_temp_path("chain.derived"),
               *other = harness_temp_path("cut.derived");
    groth16_setup_opts o = {0};
    size_t size, n;
    chain c;
    (void)state;

    chain_open(&c, cpu_table_best(), LINKS);
    assert_status_ok(derive(&c, path, &o));
    uint8_t *want = harness_read_file(path, &size);
    assert_int_equal(size, 96u * (1 + (1u << c.pk->log_n) + c.pk->n_inputs + c.pk->n_aux));
    for (o.log_step = 1; o.log_step < 7; o.log_step++) {
        assert_status_ok(derive(&c, other, &o));
        uint8_t *got = harness_read_file(other, &n);
        assert_int_equal(n, size);
        assert_bytes_equal(got, want, size);
        free(got);
    }
    free(want);
    chain_close(&c);
}

/* ---- stopped, killed ---- */

typedef struct stop_at {
    cancel *c;
    uint64_t limit, first, total;
    bool kill;
} stop_at;

static void on_progress(void *ctx, const char *step, uint64_t done, uint64_t total)
{
    stop_at *x = ctx;
    (void)step;

    if (x->first == 0) x->first = done;
    x->total = total;
    assert_true(done <= total);
    if (done < x->limit) return;
    if (x->kill) (void)kill(getpid(), SIGKILL);
    cancel_request(x->c);
}

/* log_step 4: 8 blocks a pass, and one range: 33 steps */
static stop_at attempt(chain *c, const char *path, uint64_t limit, cuzk_status want)
{
    stop_at stop = {.limit = limit};
    groth16_setup_opts o = {.progress = on_progress, .ctx = &stop, .log_step = 4};

    assert_status_ok(cancel_new(&stop.c));
    o.cancel = stop.c;
    assert_status_is(derive(c, path, &o), want);
    cancel_free(stop.c);
    return stop;
}

static void assert_gone(const char *path, const char *suffix)
{
    char name[512];
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    assert_false(file_exists(name));
}

static void test_stopped(void **state)
{
    const char *path = harness_temp_path("stopped.derived");
    stop_at a;
    chain c;
    (void)state;

    chain_open(&c, cpu_table_best(), LINKS);
    for (uint64_t at = 1; at < 33; at += 5) {
        a = attempt(&c, path, at, CUZK_ECANCELLED);
        assert_int_equal(a.first, at == 1 ? 1 : at - 4);
        assert_int_equal(a.total, 33);
        assert_false(file_exists(path));
    }
    a = attempt(&c, path, UINT64_MAX, CUZK_OK);
    assert_int_equal(a.first, 32);
    assert_gone(path, ".part");
    assert_gone(path, ".scratch.part");
    same_proofs(&c, path);
    chain_close(&c);
}

/** Killed at step `at`, when the last mark is where points begin to be overwritten, or none. */
static void killed_at(uint64_t at, const char *path)
{
    int how;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        chain c;
        stop_at stop = {.limit = at, .kill = true};
        groth16_setup_opts o = {
            .progress = on_progress, .ctx = &stop, .log_step = 4, .checkpoint_ns = UINT64_MAX};
        chain_open(&c, cpu_table_best(), LINKS);
        (void)!derive(&c, path, &o);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

static void test_killed(void **state)
{
    static const struct {
        uint64_t at, first;
    } cases[] = {{10, 1}, {17, 1}, {18, 18}, {26, 18}, {33, 18}};
    const char *path = harness_temp_path("killed.derived");
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        chain c;
        killed_at(cases[i].at, path);
        assert_false(file_exists(path));
        chain_open(&c, cpu_table_best(), LINKS);
        assert_int_equal(attempt(&c, path, UINT64_MAX, CUZK_OK).first, cases[i].first);
        same_proofs(&c, path);
        chain_close(&c);
        assert_int_equal(remove(path), 0);
    }
}

/* ---- what is refused ---- */

static void refused(chain *c, const char *path, const uint8_t from[GROTH16_SOURCE_BYTES],
                    cuzk_class klass)
{
    assert_status_is(groth16_derived_open(c->pk, path, from), CUZK_EDATA);
    assert_error_class(klass);
    assert_null(c->pk->derived);
}

static void test_refused(void **state)
{
    const char *path = harness_temp_path("chain.derived"), *bad = harness_temp_path("bad.derived");
    uint8_t other[GROTH16_SOURCE_BYTES];
    groth16_derived_info info;
    groth16_setup_opts o = {0};
    groth16_job *job;
    size_t size;
    chain c;
    (void)state;

    chain_open(&c, cpu_table_best(), LINKS);
    assert_status_ok(derive(&c, path, &o));
    memcpy(other, source, sizeof other);
    other[31] ^= 1;
    refused(&c, path, other, CUZK_CLASS_INCONSISTENT);
    uint8_t *data = harness_read_file(path, &size);
    static const size_t cuts[] = {0, 11, 95, 96, 1000};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        harness_write_file(bad, data, cuts[i]);
        refused(&c, bad, source, CUZK_CLASS_MALFORMED);
    }
    for (size_t i = 0; i < 24; i++) { /* magic, version, counts */
        data[i] ^= 1;
        harness_write_file(bad, data, size);
        refused(&c, bad, source, i < 12 ? CUZK_CLASS_MALFORMED : CUZK_CLASS_INCONSISTENT);
        data[i] ^= 1;
    }
    static const size_t flips[] = {56, 87, 96, 10000, SIZE_MAX};
    for (size_t i = 0; i < sizeof flips / sizeof flips[0]; i++) {
        size_t at = flips[i] < size ? flips[i] : size - 1;
        data[at] ^= 1;
        harness_write_file(bad, data, size);
        data[at] ^= 1;
        assert_status_ok(groth16_derived_open(c.pk, bad, source));
        assert_status_is(check_file(&c, &info), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
    }
    /* whoever does not look at the checksum meets a point that is none; its file is the last of the loop */
    groth16_prove_args args = {.pk = c.pk, .sys = c.sys, .w = c.w, .m = c.r.m};
    assert_status_is(groth16_prove_start(&job, c.r.s, &args), CUZK_EDATA);
    free(data);
    chain_close(&c);
}

/** Some point of the curve outside the subgroup, as a .params has it. */
static void outside_point(uint8_t out[96], const curve *cv)
{
    uint8_t in[48] = {0x80};
    g1_any p;

    do {
        in[47]++;
        assert_true(in[47] != 0);
    } while (cv->g1_read(&p, in, POINT_ZCASH_COMPRESSED) != POINT_OK || cv->g1_in_subgroup(&p));
    cv->g1_write(out, &p, POINT_ZCASH);
}

/** A key with a point outside the subgroup, whose multiples by equal scalars differ, gives no derived points. */
static void test_outside_subgroup(void **state)
{
    const char *path = harness_temp_path("outside.derived");
    groth16_setup_opts o = {0};
    chain c;
    (void)state;

    chain_open(&c, cpu_table_best(), LINKS);
    const uint8_t *was = c.pk->h.data;
    uint8_t *own = test_malloc(c.pk->h.n * 96);
    memcpy(own, was, c.pk->h.n * 96);
    outside_point(own + 96, c.cv);
    c.pk->h.data = own;
    assert_status_is(derive(&c, path, &o), CUZK_EDATA);
    assert_error_class(CUZK_CLASS_INCONSISTENT);
    assert_gone(path, "");
    assert_gone(path, ".part");
    c.pk->h.data = was;
    test_free(own);
    chain_close(&c);
}

/** A list that is no list of points ends the work by its name. */
static void test_malformed_key(void **state)
{
    const char *path = harness_temp_path("malformed.derived");
    groth16_setup_opts o = {0};
    chain c;
    (void)state;

    chain_open(&c, cpu_table_best(), LINKS);
    dev_points *const lists[] = {&c.pk->h, &c.pk->l};
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *was = lists[i]->data;
        uint8_t *own = test_malloc(lists[i]->n * 96);
        memcpy(own, was, lists[i]->n * 96);
        own[7 * 96 + 50] ^= 1;
        lists[i]->data = own;
        assert_status_is(derive(&c, path, &o), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
        assert_error_mentions(i == 0 ? "h[7]" : "l[7]");
        lists[i]->data = was;
        test_free(own);
    }
    chain_close(&c);
}

static void test_allocation_faults(void **state)
{
    const char *path = harness_temp_path("faults.derived");
    groth16_setup_opts o = {0};
    bool hit = true;
    chain c;
    (void)state;

    chain_open(&c, cpu_table_best(), 2);
    for (unsigned long k = 1; hit; k++) {
        mem_inject_fault(c.r.m, k);
        cuzk_status st = derive(&c, path, &o);
        hit = mem_fault_hit(c.r.m);
        mem_inject_fault(c.r.m, 0);
        assert_true(hit ? st == CUZK_ENOMEM || st == CUZK_EBUDGET : st == CUZK_OK);
        assert_true(hit || k > 5); /* what was done is gone on with */
    }
    assert_gone(path, ".part");
    assert_gone(path, ".scratch.part");
    chain_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_proofs),   cmocka_unit_test(test_steps),
        cmocka_unit_test(test_stopped),       cmocka_unit_test(test_killed),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_outside_subgroup),
        cmocka_unit_test(test_malformed_key), cmocka_unit_test(test_allocation_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
