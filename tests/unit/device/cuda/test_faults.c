/*
 * unit/device/cuda/test_faults.c - every call of the CUDA runtime fails in turn: a clean status that names it, nothing left behind
 *
 * Each operation is made again and again, its first call failing, then its second, until it makes no more. Three kinds: no memory;
 * a failure that does not stick, after which the device must do the same work rightly at once; one that sticks, after which it must
 * be out of use. On a GPU results are compared with the CPU's; elsewhere the runtime is played (play.h).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <cuda_runtime_api.h>

#include "device/cuda/cuda_int.h"
#include "unit/device/cuda/play.h"
#include "unit/device/msm_support.h"

#define MAX_OUT ((size_t)1 << 18)
#define N_NTT ((size_t)1 << 12) /* 128 KiB: goes through the stage */
#define LOG_N_NTT 12u
#define N_SUM ((size_t)300)
#define N_FIXED ((size_t)70)

/* A device with all that it stands on. */
typedef struct world {
    mem *m;
    pool *p;
    device *d;
    dev_stream *s;
} world;

/* What an operation works on; the same for all runs. */
static struct {
    group g1, g2;
    bases b1, b2;
    values k1, k2;
    fr *x, *y;
    uint8_t want[MAX_OUT], got[MAX_OUT];
} input;

static cuzk_status world_open(world *w, const char *name)
{
    device_config config = {.name = name, .table = CPU_TABLE_GENERIC};
    cuzk_status st;

    *w = (world){0};
    assert_status_ok(mem_open(&w->m, "test", 0, NULL));
    assert_status_ok(pool_open(&w->p, 1, NULL));
    config.pool = w->p;
    config.m = w->m;
    st = device_open(&w->d, &config);
    if (st == CUZK_OK) st = dev_stream_open(&w->s, w->d, NULL);
    return st;
}

/* Also after a failure; nothing may be left. */
static void world_close(world *w)
{
    dev_stream_close(w->s);
    device_close(w->d);
    pool_close(w->p);
    assert_int_equal(mem_used(w->m), 0);
    mem_close(w->m);
    *w = (world){0};
}

/* Device memory that nothing holds which may hold some beyond a call. */
static void assert_nothing_stray(const world *w)
{
    cu_device *cu = w->d->impl;

    for (const cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++)
        if (k->id != 0 && (k->r.users != 0 || !k->ready || k->filling))
            harness_fail("after %s failed: a record of kind %d has %u users", play_hit_name(),
                         (int)k->kind, k->r.users);
    for (const cu_block *b = cu->blocks; b < cu->blocks + CU_BLOCKS; b++) {
        bool held = b->p == NULL || !b->taken;
        for (const cu_kept *k = cu->kept; k < cu->kept + CU_KEPT; k++) held |= k->data == b->p;
        for (const cu_domain *x = cu->domains; x < cu->domains + CU_DOMAINS; x++) {
            held |= (void *)x->table == b->p;
            for (int i = 0; i < POWERS_KINDS; i++) held |= (void *)x->powers[i] == b->p;
        }
        if (!held)
            harness_fail("after %s failed: a block of %zu bytes is held by nothing",
                         play_hit_name(), b->size);
    }
    for (const cu_domain *x = cu->domains; x < cu->domains + CU_DOMAINS; x++)
        if (x->users != 0)
            harness_fail("after %s failed: a domain has %u users", play_hit_name(), x->users);
}

/* ---- operations: each leaves what it computed in out, the same on every device ---- */

typedef cuzk_status (*op_fn)(world *w, uint8_t *out);

/* Transforms there and back, with a shift of this run, so that the domain is a new one; then the quotient and a product. */
static cuzk_status run_vectors(world *w, uint8_t *out)
{
    static uint64_t shift_of_run = 2;
    const curve *cv = input.g1.cv;
    dev_buf *v[3] = {0};
    ntt_domain *dom = NULL;
    fr shift;
    cuzk_status st = CUZK_OK;

    cv->fr_from_u64(&shift, ++shift_of_run);
    for (int i = 0; i < 3; i++) TRY_OUT(dev_buf_new(&v[i], w->d, N_NTT));
    for (int i = 0; i < 3; i++)
        TRY_OUT(dev_upload(w->s, v[i], 0, i == 1 ? input.y : input.x, N_NTT));
    TRY_OUT(ntt_domain_new(&dom, w->d, cv->id, 7, LOG_N_NTT, &shift));
    TRY_OUT(dev_ntt(w->s, v[0], dom, NTT_TO_COSET));
    TRY_OUT(dev_ntt(w->s, v[0], dom, NTT_COSET_INVERSE));
    TRY_OUT(dev_ntt(w->s, v[0], dom, NTT_COSET_FORWARD));
    TRY_OUT(dev_ntt(w->s, v[0], dom, NTT_COSET_INVERSE));
    TRY_OUT(dev_ntt(w->s, v[0], dom, NTT_FORWARD));
    TRY_OUT(dev_ntt(w->s, v[2], dom, NTT_INVERSE));
    TRY_OUT(dev_ntt(w->s, v[2], dom, NTT_FORWARD));
    TRY_OUT(dev_quotient(w->s, v[0], v[1], v[2], N_NTT, cv->id, &input.y[1]));
    TRY_OUT(dev_mul(w->s, v[0], v[0], v[1], N_NTT, cv->id));
    TRY_OUT(dev_download(w->s, (fr *)(void *)out, v[0], 0, N_NTT));
    st = dev_sync(w->s);
out:
    ntt_domain_free(dom);
    for (int i = 0; i < 3; i++) dev_buf_free(v[i]);
    return st;
}

/* Everything has an id, of this run, so that each of its parts is brought in and kept. */
static cuzk_status run_sum(world *w, uint8_t *out, const bases *b, const values *v)
{
    dev_points points = {
        .data = b->lem, .n = b->n, .enc = POINT_LEM, .g2 = b->g->g2, .id = dev_points_id()};
    dev_scalars k = v->packed;
    any_point r;
    cuzk_status st;

    memset(&r, 0, sizeof r);
    k.id = dev_points_id();
    k.layout_id = dev_points_id();
    k.select_id = dev_points_id();
    if (b->g->g2)
        st = dev_msm_g2(w->s, &r.g2, b->g->cv->id, &points, 0, &k);
    else
        st = dev_msm_g1(w->s, &r.g1, b->g->cv->id, &points, 0, &k);
    dev_forget(w->d, k.id);
    dev_points_forget(w->d, points.id);
    if (st == CUZK_OK) memcpy(out, &r, b->g->size);
    return st;
}

static cuzk_status run_sum_g1(world *w, uint8_t *out)
{
    return run_sum(w, out, &input.b1, &input.k1);
}

static cuzk_status run_sum_g2(world *w, uint8_t *out)
{
    return run_sum(w, out, &input.b2, &input.k2);
}

/* Nothing has an id: all is brought for the one call. Scalars of a buffer as well. */
static cuzk_status run_sum_once(world *w, uint8_t *out)
{
    dev_points points = {.data = input.b1.lem, .n = N_SUM, .enc = POINT_LEM};
    curve_id id = input.g1.cv->id;
    dev_buf *b = NULL;
    g1_any r[2];
    cuzk_status st;

    memset(r, 0, sizeof r);
    TRY(dev_msm_g1(w->s, &r[0], id, &points, 0, &input.k1.packed));
    TRY_OUT(dev_buf_new(&b, w->d, N_SUM));
    TRY_OUT(dev_upload(w->s, b, 0, input.x, N_SUM));
    TRY_OUT(dev_msm_g1_buf(w->s, &r[1], id, &points, 0, b, N_SUM));
    memcpy(out, r, sizeof r);
out:
    dev_buf_free(b);
    return st;
}

/* Two instances of a template with C, some of whose variables are bits. */
static cuzk_status run_abc(world *w, uint8_t *out)
{
    static const uint32_t start[] = {0, 2, 3, 5}, wire[] = {0, 2, 3, 1, 4},
                          coeff[] = {0, 1, 2, 0, 2};
    static const uint32_t wires[] = {1, DEV_WIRE_AUX | 2};
    static const dev_instance inst[] = {{0, 0, 1, 0, 0}, {0, 3, 1, 3, 1}};
    const dev_matrix m = {start, wire, coeff};
    const dev_template t = {.n_in = 1, .n_local = 3, .n_rows = 3, .a = m, .b = m, .c = m};
    const curve *cv = input.g1.cv;
    static const uint64_t bits[] = {1}, is_elem[] = {0x2d}; /* elements 0, 2, 3, 5 */
    static const uint32_t rank64[] = {0};
    fr coeffs[3] = {cv->fr_one, cv->fr_one, input.x[9]}, inputs[2] = {cv->fr_one, input.x[3]};
    dev_system sys = {.id = cv->id,
                      .n_inputs = 2,
                      .n_aux = 6,
                      .n_rows = 6,
                      .input_rows = true,
                      .templates = &t,
                      .n_templates = 1,
                      .instances = inst,
                      .n_instances = 2,
                      .wires = wires,
                      .coeffs = coeffs,
                      .n_coeffs = 3,
                      .shape_id = dev_points_id()};
    dev_scalars aux = {.n = 6,
                       .elems = input.y,
                       .bits = bits,
                       .is_elem = is_elem,
                       .rank64 = rank64,
                       .id = dev_points_id(),
                       .layout_id = dev_points_id()};
    dev_buf *v[3] = {0};
    cuzk_status st = CUZK_OK;

    cv->fr_neg(&coeffs[1], &cv->fr_one);
    for (int i = 0; i < 3; i++) TRY_OUT(dev_buf_new(&v[i], w->d, 16));
    TRY_OUT(dev_abc(w->s, v[0], v[1], v[2], &sys, inputs, &aux));
    for (int i = 0; i < 3; i++)
        TRY_OUT(dev_download(w->s, (fr *)(void *)(out + (size_t)i * 16 * sizeof(fr)), v[i], 0, 16));
    st = dev_sync(w->s);
out:
    for (int i = 0; i < 3; i++) dev_buf_free(v[i]);
    dev_forget(w->d, aux.id);
    return st;
}

/* Multiples of a point to the host, others to stay, and a sum over those. */
static cuzk_status run_fixed(world *w, uint8_t *out)
{
    const curve *cv = input.g1.cv;
    dev_points kept = {0};
    dev_scalars k = {.n = N_FIXED, .elems = input.y};
    dev_fixed *f = NULL;
    g1_any r;
    size_t none;
    cuzk_status st;

    memset(&r, 0, sizeof r);
    TRY_OUT(dev_fixed_new(&f, w->s, cv->id, false, &cv->g1_gen, N_FIXED));
    TRY_OUT(dev_fixed_mul(w->s, out, POINT_ZCASH, f, input.x, N_FIXED, &none));
    TRY_OUT(dev_points_new(&kept, w->d, cv->id, false, N_FIXED));
    TRY_OUT(dev_fixed_keep(w->s, &kept, 0, f, input.x, N_FIXED, &none));
    TRY_OUT(dev_msm_g1(w->s, &r, cv->id, &kept, 0, &k));
    memcpy(out + N_FIXED * cv->point_size(false, POINT_ZCASH), &r, cv->g1_size);
out:
    dev_points_free(&kept);
    dev_fixed_free(f);
    return st;
}

/* A device beside the other, opened and closed. */
static cuzk_status run_open(world *w, uint8_t *out)
{
    world other;
    cuzk_status st = world_open(&other, device_name(w->d));

    out[0] = 1;
    world_close(&other);
    return st;
}

static const struct {
    const char *name;
    op_fn run;
} ops[] = {{"vectors", run_vectors},    {"a sum in G1", run_sum_g1},
           {"a sum in G2", run_sum_g2}, {"sums of what is not kept", run_sum_once},
           {"a, b, c", run_abc},        {"multiples", run_fixed},
           {"opening", run_open}};
#define N_OPS (sizeof ops / sizeof *ops)

/* As a proof does it, with the device's time measured. */
static cuzk_status run_op(world *w, op_fn run, uint8_t *out)
{
    dev_work_begin(w->s);
    cuzk_status st = run(w, out);
    dev_work_end(w->s);
    return st;
}

/* ---- the sweep ---- */

typedef struct fault_kind {
    int err;
    bool sticks;
} fault_kind;

/* What is told of a failure: which device, and what it said. */
static void assert_told(cuzk_status st, const fault_kind *f)
{
    const cuzk_error *e = cuzk_last_error();

    if (st != CUZK_ENOMEM && st != CUZK_EDEVICE && st != CUZK_EBUDGET)
        harness_fail("%s failed: status %s", play_hit_name(), cuzk_status_name(st));
    if (f->err != cudaErrorMemoryAllocation && st != CUZK_EDEVICE)
        harness_fail("%s failed, no lack of memory: %s", play_hit_name(), e->message);
    if (strstr(e->message, "cuda") == NULL)
        harness_fail("%s failed: the message names no device: %s", play_hit_name(), e->message);
}

static void assert_works(world *w, op_fn run, const char *name)
{
    memset(input.got, 0, sizeof input.got);
    cuzk_status st = run_op(w, run, input.got);
    if (st != CUZK_OK)
        harness_fail("%s, after %s failed: %s", name, play_hit_name(), cuzk_last_error()->message);
    if (play_is_real()) assert_bytes_equal(input.got, input.want, sizeof input.got);
}

/* The device is the same as before. */
static void check_goes_on(world *w, op_fn run, const char *name)
{
    if (device_is_lost(w->d))
        harness_fail("%s: lost by a failure of %s that does not stick", name, play_hit_name());
    assert_nothing_stray(w);
    assert_works(w, run, name);
    assert_nothing_stray(w);
}

/* It is out of use, says so, and gives everything back all the same. */
static void check_lost(world *w, op_fn run, const char *name)
{
    cuzk_status st = run_op(w, run, input.got);

    if (st != CUZK_EDEVICE)
        harness_fail("%s: works on a lost device after %s", name, play_hit_name());
    if (run != run_open && !device_is_lost(w->d))
        harness_fail("%s: the device is not lost by %s", name, play_hit_name());
    world_close(w);
    assert_all_given_back();
    play_heal();
    assert_status_ok(world_open(w, "cuda"));
}

/* Calls that one run makes. */
static unsigned long count_calls(world *w, op_fn run, const char *name)
{
    play_fail(0, 0, false);
    assert_works(w, run, name);
    return play_count().calls;
}

static void sweep(world *w, unsigned i, const fault_kind *f, unsigned long step)
{
    unsigned long n = 1 + step / 2;

    for (;; n += step) {
        play_fail(n, f->err, f->sticks);
        memset(input.got, 0, sizeof input.got);
        cuzk_status st = run_op(w, ops[i].run, input.got);
        if (!play_hit()) break;
        if (st != CUZK_OK) assert_told(st, f);
        if (st == CUZK_OK && play_is_real())
            assert_bytes_equal(input.got, input.want, sizeof input.got);
        if (f->sticks) {
            check_lost(w, ops[i].run, ops[i].name);
        } else {
            check_goes_on(w, ops[i].run, ops[i].name);
        }
    }
    play_heal();
    assert_works(w, ops[i].run, ops[i].name);
}

/* A device that is opened again costs time on a GPU: some hundred of these. */
static unsigned long step_of(unsigned long calls, bool sticks, bool opens)
{
    unsigned long most = !play_is_real() ? 100000 : sticks || opens ? 50 : 600;

    return calls <= most ? 1 : (calls + most - 1) / most;
}

static void test_op(unsigned i)
{
    static const fault_kind kinds[] = {{cudaErrorMemoryAllocation, false},
                                       {cudaErrorLaunchOutOfResources, false},
                                       {cudaErrorIllegalAddress, true},
                                       {cudaErrorECCUncorrectable, true}};
    world w;

    play_fake(false, NULL);
    play_heal();
    assert_status_ok(world_open(&w, "cpu"));
    memset(input.want, 0, sizeof input.want);
    assert_status_ok(ops[i].run(&w, input.want));
    world_close(&w);

    play_start_up_check(play_is_real() && ops[i].run == run_open);
    assert_status_ok(world_open(&w, "cuda"));
    unsigned long calls = count_calls(&w, ops[i].run, ops[i].name);
    assert_true(calls > 5);
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        sweep(&w, i, &kinds[k], step_of(calls, kinds[k].sticks, ops[i].run == run_open));
    print_message("%s: %lu calls, each failed in %zu ways\n", ops[i].name, calls,
                  sizeof kinds / sizeof *kinds);
    world_close(&w);
    assert_all_given_back();
}

#define OP_TEST(i, name) \
    static void test_##name(void **state) \
    { \
        (void)state; \
        test_op(i); \
    }
OP_TEST(0, vectors)
OP_TEST(1, sum_g1)
OP_TEST(2, sum_g2)
OP_TEST(3, sum_once)
OP_TEST(4, abc)
OP_TEST(5, multiples)
OP_TEST(6, opening)

/* More seams between kernels than are kept, and the wait in which they are read fails: the last of them is overwritten, not what
 * lies behind. */
static void test_many_marks(void **state)
{
    dev_buf *b = NULL;
    unsigned done = 0;
    world w;

    (void)state;
    play_heal();
    play_start_up_check(false);
    assert_status_ok(world_open(&w, "cuda"));
    assert_status_ok(dev_buf_new(&b, w.d, 64));
    dev_work_begin(w.s);
    play_fail_of("cudaStreamSynchronize", 1, cudaErrorIllegalAddress, true);
    for (unsigned i = 0; i < 3 * CU_MARKS; i++)
        done += dev_mul(w.s, b, b, b, 64, CURVE_ID_BN254) == CUZK_OK ? 1 : 0;
    assert_true(play_hit());
    assert_in_range(done, CU_MARKS / 2 - 2, CU_MARKS / 2);
    dev_work_end(w.s);
    play_heal();
    assert_status_is(dev_sync(w.s), CUZK_EDEVICE);
    dev_buf_free(b);
    world_close(&w);

    assert_status_ok(world_open(&w, "cuda"));
    assert_status_ok(dev_buf_new(&b, w.d, 64));
    dev_work_begin(w.s);
    for (unsigned long n = 1; n < 8; n++) { /* a failure that does not stick: only time is lost */
        play_fail_of("cudaStreamSynchronize", n, cudaErrorLaunchOutOfResources, false);
        for (unsigned i = 0; i < 4 * CU_MARKS; i++)
            assert_status_ok(dev_mul(w.s, b, b, b, 64, CURVE_ID_BN254));
        assert_true(play_hit() || n > 2);
    }
    play_heal();
    dev_work_end(w.s);
    dev_buf_free(b);
    world_close(&w);
    assert_all_given_back();
}

/* A machine that computes wrongly is refused, and every failure on the way to that is a clean one. */
static void test_start_up_check(void **state)
{
    world w;
    unsigned long n = 1;

    (void)state;
    play_fake(true, NULL);
    play_start_up_check(true);
    for (;; n++) {
        play_fail(n, cudaErrorLaunchOutOfResources, false);
        cuzk_status st = world_open(&w, "cuda");
        bool hit = play_hit();
        assert_status_is(st, CUZK_EDEVICE);
        if (!hit) assert_error_mentions("computes wrongly");
        world_close(&w);
        assert_all_given_back();
        if (!hit) break;
    }
    assert_true(n > 20);
    play_fake(false, NULL);
}

static int set_up(void **state)
{
    (void)state;
    input.g1 = group_of(CURVE_ID_BLS12_381, false);
    input.g2 = group_of(CURVE_ID_BLS12_381, true);
    input.x = test_array(N_NTT, sizeof(fr));
    input.y = test_array(N_NTT, sizeof(fr));
    random_frs(input.g1.cv, input.x, N_NTT);
    random_frs(input.g1.cv, input.y, N_NTT);
    for (int i = 0; i < 2; i++) {
        values *k = i == 0 ? &input.k1 : &input.k2;
        bases_init(i == 0 ? &input.b1 : &input.b2, i == 0 ? &input.g1 : &input.g2, N_SUM, 0);
        values_init(k, input.g1.cv, N_SUM);
        for (size_t j = 0; j < N_SUM; j++) {
            k->selected[j] = j % 5 != 2;
            k->is_bit[j] = j % 3 == 1;
            if (k->is_bit[j]) k->v[j] = j % 2 == 0 ? input.g1.cv->fr_one : input.g1.cv->fr_zero;
        }
        values_pack(k);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bases_clear(&input.b1);
    bases_clear(&input.b2);
    values_clear(&input.k1);
    values_clear(&input.k2);
    free(input.x);
    free(input.y);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),    cmocka_unit_test(test_sum_g1),
        cmocka_unit_test(test_sum_g2),     cmocka_unit_test(test_sum_once),
        cmocka_unit_test(test_abc),        cmocka_unit_test(test_multiples),
        cmocka_unit_test(test_opening),    cmocka_unit_test(test_start_up_check),
        cmocka_unit_test(test_many_marks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
