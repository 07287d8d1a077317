/*
 * unit/device/cuda/test_prove.c - whole proofs on a GPU: every call of the runtime fails in turn; a thousand proofs; small memories
 *
 * A proof that is let out has the CPU's bytes. Where there is no GPU the runtime is played (play.h): its proofs are wrong, so that none
 * may be let out, and only what is told and given back is judged.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <unistd.h>

#include "engine/engine.h"
#include "harness/harness.h"
#include "unit/device/cuda/play.h"

#define MIB ((size_t)1 << 20)
#define MANY 1000u
#define SETTLED 50u /* proofs after which nothing may grow */

static const cuzk_fixed_rs fixed_rs = {{7, 1, 2, 3}, {9, 4, 5, 6}};

static const char *part(const char *circuit, const char *file)
{
    static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER; /* the harness is for one thread */
    const char *path;
    char rel[128];

    (void)snprintf(rel, sizeof rel, "circom/%s/%s", circuit, file);
    (void)pthread_mutex_lock(&mu);
    path = harness_fixture(rel);
    (void)pthread_mutex_unlock(&mu);
    return path;
}

static cuzk_status prove(cuzk_engine *e, const char *circuit, const cuzk_fixed_rs *rs, char **out)
{
    cuzk_circom_prove_args args = {
        .zkey = part(circuit, "circuit.zkey"), .wtns = part(circuit, "witness.wtns"), .fixed = rs};
    cuzk_buffer proof = {0}, pub = {0};
    cuzk_status st = cuzk_circom_prove(e, &args, &proof, &pub);

    *out = NULL;
    if (st != CUZK_OK) {
        assert_null(proof.data);
        assert_null(pub.data);
        return st;
    }
    *out = strdup((const char *)proof.data);
    cuzk_buffer_clear(&proof);
    cuzk_buffer_clear(&pub);
    return st;
}

static cuzk_engine *open_engine(const char *name, size_t device_memory)
{
    cuzk_config c = {.threads = 2, .device = name, .device_memory = device_memory};
    cuzk_engine *e;

    assert_status_ok(cuzk_engine_open(&e, &c));
    return e;
}

static char *cpu_proof(const char *circuit)
{
    cuzk_engine *e = open_engine("cpu", 0);
    char *out;

    assert_status_ok(prove(e, circuit, &fixed_rs, &out));
    cuzk_engine_close(e);
    return out;
}

/* ---- faults ---- */

/* Without a fault: on a GPU the CPU's bytes, on a machine that is played nothing. */
static void assert_proves(cuzk_engine *e, const char *circuit, const char *want)
{
    char *got;
    cuzk_status st = prove(e, circuit, &fixed_rs, &got);

    if (play_is_real()) {
        if (st != CUZK_OK)
            harness_fail("after %s failed: %s", play_hit_name(), cuzk_last_error()->message);
        assert_string_equal(got, want);
    } else {
        assert_int_not_equal(st, CUZK_OK);
    }
    free(got);
}

/* One proof with its n-th call failing; false: it made fewer. */
static bool prove_failing(cuzk_engine *e, const char *circuit, const char *want, unsigned long n,
                          int err, bool sticks)
{
    size_t used = mem_used(e->m);
    char *got;

    play_fail(n, err, sticks);
    cuzk_status st = prove(e, circuit, &fixed_rs, &got);
    if (!play_hit()) {
        free(got);
        return false;
    }
    if (st == CUZK_OK) {
        assert_true(play_is_real());
        assert_string_equal(got, want);
    } else if (play_is_real() || st != CUZK_EDATA) { /* what is played does not verify */
        if (st != CUZK_EDEVICE && st != CUZK_ENOMEM && st != CUZK_EBUDGET)
            harness_fail("%s failed: %s: %s", play_hit_name(), cuzk_status_name(st),
                         cuzk_last_error()->message);
        assert_error_mentions("cuda:0");
    }
    free(got);
    assert_int_equal(mem_used(e->m), used);
    return true;
}

static void sweep(const char *circuit, int err, bool sticks, unsigned long most)
{
    char *want = cpu_proof(circuit);
    cuzk_engine *e = open_engine("cuda", 0);
    unsigned long step, calls;

    play_fail(0, 0, false);
    assert_proves(e, circuit, want);
    calls = play_count().calls;
    step = (calls + most - 1) / most;
    for (unsigned long n = 1; prove_failing(e, circuit, want, n, err, sticks); n += step) {
        if (sticks) {
            char *got;

            assert_status_is(prove(e, circuit, &fixed_rs, &got), CUZK_EDEVICE);
            free(got);
            assert_true(device_is_lost(e->dev));
            cuzk_engine_close(e);
            assert_all_given_back();
            play_heal();
            e = open_engine("cuda", 0);
        } else {
            assert_false(device_is_lost(e->dev));
        }
        if (!sticks || n % 4 == 1) assert_proves(e, circuit, want);
    }
    print_message("%s: %lu calls, every %lu-th failed\n", circuit, calls, step);
    play_heal();
    assert_proves(e, circuit, want);
    cuzk_engine_close(e);
    assert_all_given_back();
    free(want);
}

static void test_faults(void **state)
{
    unsigned long all = play_is_real() ? 400 : 100, some = play_is_real() ? 30 : 100;

    (void)state;
    play_start_up_check(false);
    sweep("bn128/mult3", cudaErrorLaunchOutOfResources, false, all);
    sweep("bls12381/mult3", cudaErrorMemoryAllocation, false, all);
    sweep("bls12381/merkle5", cudaErrorLaunchFailure, true, some);
    sweep("bn128/merkle5", cudaErrorMemoryAllocation, false, all / 4);
    play_start_up_check(true);
}

/* ---- faults beside another proof ---- */

/* One of two threads that prove on one device, with a call of either failing now and then. */
typedef struct prover {
    cuzk_engine *e;
    const char *circuit, *want;
    unsigned n, seed;
    unsigned right, wrong, refused,
        other;         /* proofs; failures of the device; failures of another kind */
    char message[256]; /* of the last of these */
} prover;

static void *prove_on(void *ctx)
{
    prover *p = ctx;

    for (unsigned i = 0; i < p->n; i++) {
        char *got;

        p->seed = p->seed * 1103515245u + 12345u;
        if (i % 3 != 2)
            play_fail(1 + (p->seed >> 8) % 1500,
                      i % 2 == 0 ? cudaErrorLaunchOutOfResources : cudaErrorMemoryAllocation,
                      false);
        cuzk_status st = prove(p->e, p->circuit, &fixed_rs, &got);
        if (st == CUZK_OK && strcmp(got, p->want) == 0) {
            p->right++;
        } else if (st == CUZK_OK) {
            p->wrong++;
        } else if (st == CUZK_EDEVICE || st == CUZK_ENOMEM || st == CUZK_EBUDGET) {
            p->refused++;
        } else {
            p->other++;
            (void)snprintf(p->message, sizeof p->message, "%.250s", cuzk_last_error()->message);
        }
        free(got);
    }
    return NULL;
}

/* What a failed proof gives back may be the other's next: nothing of it may still be written. */
static void test_beside(void **state)
{
    static const char *const circuits[] = {"bls12381/merkle5", "bn128/merkle5"};
    prover p[2];
    pthread_t threads[2];
    cuzk_engine *e;

    (void)state;
    play_start_up_check(false);
    play_heal();
    e = open_engine("cuda", 0);
    for (unsigned i = 0; i < 2; i++) {
        p[i] = (prover){.e = e,
                        .circuit = circuits[i],
                        .want = cpu_proof(circuits[i]),
                        .n = play_is_real() ? 300 : 40,
                        .seed = i};
        assert_int_equal(pthread_create(&threads[i], NULL, prove_on, &p[i]), 0);
    }
    for (unsigned i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    play_heal();
    for (unsigned i = 0; i < 2; i++) {
        print_message("%s beside another: %u proofs, %u refused by the device\n", p[i].circuit,
                      p[i].right, p[i].refused);
        assert_int_equal(p[i].wrong, 0);
        if (play_is_real() && p[i].other != 0)
            harness_fail("%u failed otherwise: %s", p[i].other, p[i].message);
        assert_true(p[i].right != 0 || !play_is_real());
        assert_proves(e, p[i].circuit, p[i].want);
        free((char *)(uintptr_t)p[i].want);
    }
    assert_true(p[0].refused + p[1].refused != 0);
    assert_false(device_is_lost(e->dev));
    cuzk_engine_close(e);
    assert_all_given_back();
    play_start_up_check(true);
}

/* ---- many proofs ---- */

static void need_gpu(void)
{
    if (!play_is_real()) harness_skip("no GPU");
}

/* Resident bytes of this process. */
static size_t resident(void)
{
    char line[128], *at;
    FILE *f = fopen("/proc/self/statm", "r");

    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    (void)fclose(f);
    at = strchr(line, ' '); /* behind the size */
    assert_non_null(at);
    return strtoul(at, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void make_many(const char *circuit, unsigned n, const cuzk_fixed_rs *rs)
{
    char *want = cpu_proof(circuit), *got;
    cuzk_engine *e = open_engine("cuda", 0);
    size_t used = 0, rss = 0, left = 0, left_then = 0, total;
    play_counts then = {0}, now;

    for (unsigned i = 0; i < n; i++) {
        assert_status_ok(prove(e, circuit, rs, &got)); /* has been verified */
        if (rs != NULL) {
            assert_string_equal(got, want);
        } else {
            assert_string_not_equal(got, want);
        }
        free(got);
        if (i + 1 != SETTLED) continue;
        then = play_count();
        used = mem_used(e->m);
        rss = resident();
        assert_int_equal(cudaMemGetInfo(&left_then, &total), cudaSuccess);
    }
    now = play_count();
    assert_int_equal(cudaMemGetInfo(&left, &total), cudaSuccess);
    print_message("%s: %u proofs; blocks %lu then %lu, free on the device %zu then %zu MiB, "
                  "resident %zu then %zu KiB\n",
                  circuit, n, then.blocks, now.blocks, left_then >> 20, left >> 20, rss >> 10,
                  resident() >> 10);
    assert_int_equal(now.blocks, then.blocks);
    assert_int_equal(now.bytes, then.bytes);
    assert_int_equal(now.pinned, then.pinned);
    assert_int_equal(now.streams, then.streams);
    assert_int_equal(now.events, then.events);
    assert_int_equal(mem_used(e->m), used);
    assert_true(left + 4 * MIB > left_then);
    assert_true(resident() < rss + 4 * MIB);
    cuzk_engine_close(e);
    assert_all_given_back();
    free(want);
}

/* Keys and circuits that are gone leave nothing on the device. */
static void test_nothing_stays(void **state)
{
    cuzk_engine *e;
    play_counts then = {0}, now;

    (void)state;
    play_start_up_check(false);
    play_heal();
    e = open_engine("cuda", 0);
    for (unsigned i = 0; i < 40; i++) {
        char *got;
        cuzk_status st = prove(e, "bls12381/mult3", &fixed_rs, &got);

        assert_int_equal(st == CUZK_OK, play_is_real());
        free(got);
        if (i == 9) then = play_count();
    }
    now = play_count();
    assert_int_equal(now.blocks, then.blocks);
    assert_int_equal(now.bytes, then.bytes);
    cuzk_engine_close(e);
    assert_all_given_back();
    play_start_up_check(true);
}

static void test_same_bytes(void **state)
{
    (void)state;
    need_gpu();
    make_many("bls12381/mult3", MANY, &fixed_rs);
    make_many("bn128/eddsa", MANY, &fixed_rs);
}

static void test_random(void **state)
{
    (void)state;
    need_gpu();
    make_many("bls12381/merkle5", MANY / 5, NULL);
    make_many("bn128/merkle5", MANY / 5, NULL);
}

/* ---- little memory ---- */

static void test_little_memory(void **state)
{
    static const char *const circuits[] = {"bls12381/merkle5", "bn128/eddsa"};
    static const size_t limits[] = {128, 144, 192, 256, 1024, 16384};

    (void)state;
    need_gpu();
    for (size_t c = 0; c < 2; c++) {
        char *want = cpu_proof(circuits[c]), *got;

        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            cuzk_engine *e = open_engine("cuda", limits[i] * MIB);
            assert_status_ok(prove(e, circuits[c], &fixed_rs, &got));
            assert_string_equal(got, want);
            free(got);
            cuzk_engine_close(e);
        }
        free(want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_nothing_stays), cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_random),        cmocka_unit_test(test_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
