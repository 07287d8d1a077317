/*
 * unit/groth16/test_setup_resume.c - a setup that is stopped or killed is gone on with, and gives the same key
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "circuit/filecoin/post.h"
#include "support.h"

/** A setup that ends after `limit` points: asked to stop, or killed. */
typedef struct stop_at {
    cancel *c;
    uint64_t limit, first, last; /* first and last number of points told */
    bool kill;
} stop_at;

static void on_progress(void *ctx, const char *step, uint64_t done, uint64_t total)
{
    stop_at *x = ctx;
    (void)step;

    if (x->first == 0) x->first = done;
    x->last = done;
    assert_true(done <= total);
    if (done < x->limit) return;
    if (x->kill) (void)kill(getpid(), SIGKILL);
    cancel_request(x->c);
}

typedef struct resume_rig {
    rig r;
    r1cs_system *sys;
    poseidon_set *ps;
    groth16_trapdoors t;
    const char *params, *vk;
    char part[512];
} resume_rig;

static void resume_open(resume_rig *x)
{
    cuzk_fixed_rs rs;
    const curve *cv = curve_get(CURVE_ID_BLS12_381, cpu_table_best());

    rig_open(&x->r, cpu_table_best(), 2);
    fixture_trapdoors(&x->t, &rs, cv);
    assert_status_ok(poseidon_set_new(&x->ps, cpu_table_best(), x->r.m));
    assert_status_ok(post_system_of(&x->sys, x->ps, FIL_WINDOW, fil_size_by_bytes(2048), x->r.m));
    x->params = harness_temp_path("resume.params");
    x->vk = harness_temp_path("resume.vk");
    (void)snprintf(x->part, sizeof x->part, "%s.part", x->params);
    (void)remove(x->params);
}

static void resume_close(resume_rig *x)
{
    r1cs_free(x->sys);
    poseidon_set_free(x->ps);
    rig_close(&x->r);
}

/** Points that an attempt stopped after `limit` points begins with and ends with. */
static stop_at attempt(resume_rig *x, uint64_t limit, bool resume, cuzk_status want)
{
    stop_at stop = {.limit = limit};
    groth16_setup_opts o = {
        .progress = on_progress, .ctx = &stop, .resume = resume, .checkpoint_ns = 1};

    assert_status_ok(cancel_new(&stop.c));
    o.cancel = stop.c;
    assert_status_is(
        groth16_setup_params(x->r.s, x->sys, &x->t, x->params, x->vk, &o, x->r.pool, x->r.m), want);
    cancel_free(stop.c);
    return stop;
}

static void test_resume(void **state)
{
    resume_rig x;
    (void)state;

    resume_open(&x);
    /* h is one chunk, then all variables another: the second attempt begins with l */
    stop_at a = attempt(&x, 1, true, CUZK_ECANCELLED);
    assert_int_equal(a.first, (1 << 15) - 1);
    assert_true(file_exists(x.part));
    assert_false(file_exists(x.params));
    a = attempt(&x, UINT64_MAX, true, CUZK_OK);
    assert_true(a.first > 1 << 15);
    assert_false(file_exists(x.part));
    assert_file_sha256(x.params, "window-2kib", "params");
    assert_file_sha256(x.vk, "window-2kib", "vk");

    /* other secrets are other work */
    attempt(&x, 1, true, CUZK_ECANCELLED);
    fr tau = x.t.tau;
    x.sys->cv->fr_add(&x.t.tau, &tau, &tau);
    a = attempt(&x, 1, true, CUZK_ECANCELLED);
    assert_int_equal(a.first, (1 << 15) - 1);
    x.t.tau = tau;
    /* secrets that will be forgotten: nothing stays, and nothing is gone on with */
    a = attempt(&x, 1, false, CUZK_ECANCELLED);
    assert_int_equal(a.first, (1 << 15) - 1);
    assert_false(file_exists(x.part));
    assert_file_sha256(x.params, "window-2kib", "params"); /* the former key stands */
    resume_close(&x);
}

static cuzk_status fail_with(void *ctx, const char *part_path, uint64_t size, const uint8_t *vk,
                             size_t vk_size)
{
    const cuzk_status *st = ctx;
    (void)part_path, (void)size, (void)vk, (void)vk_size;

    return FAIL(*st, "when all is written");
}

/* One that fails at its very end: where another time it may do, nothing is done again. */
static void test_fails(void **state)
{
    static const struct {
        cuzk_status st;
        bool kept;
    } cases[] = {{CUZK_EIO, true}, {CUZK_EDEVICE, true}, {CUZK_EDATA, false}};
    resume_rig x;
    (void)state;

    resume_open(&x);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_status st = cases[i].st;
        groth16_setup_opts o = {.ctx = &st, .resume = true, .written = fail_with};

        assert_status_is(
            groth16_setup_params(x.r.s, x.sys, &x.t, x.params, x.vk, &o, x.r.pool, x.r.m), st);
        assert_error_mentions("when all is written");
        assert_int_equal(file_exists(x.part), cases[i].kept);
    }
    assert_false(file_exists(x.params));
    (void)remove(x.vk);
    assert_status_ok(file_make_dir(x.vk));
    (void)attempt(&x, UINT64_MAX, true, CUZK_EIO);
    assert_true(file_exists(x.part));
    assert_int_equal(rmdir(x.vk), 0);
    stop_at a = attempt(&x, 1, true, CUZK_OK);
    assert_int_equal(a.last, 0); /* no point was made again */
    assert_file_sha256(x.params, "window-2kib", "params");
    assert_file_sha256(x.vk, "window-2kib", "vk");
    resume_close(&x);
}

/* Killed at any place, the key comes out the same. */
static void test_killed(void **state)
{
    static const uint64_t limits[] = {1, 1 << 15, 60000};
    (void)state;

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int how;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            resume_rig x;
            stop_at stop = {.limit = limits[i], .kill = true};
            groth16_setup_opts o = {
                .progress = on_progress, .ctx = &stop, .resume = true, .checkpoint_ns = 1};
            resume_open(&x);
            (void)!groth16_setup_params(x.r.s, x.sys, &x.t, x.params, x.vk, &o, x.r.pool, x.r.m);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        resume_rig x;
        resume_open(&x);
        assert_false(file_exists(x.params));
        stop_at a = attempt(&x, UINT64_MAX, true, CUZK_OK);
        assert_true((a.first > 1 << 15) == (limits[i] >= 1 << 15));
        assert_file_sha256(x.params, "window-2kib", "params");
        assert_false(file_exists(x.part));
        resume_close(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_fails),
        cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
