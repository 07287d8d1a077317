/*
 * unit/engine/test_spread.c - a job on several devices: items side by side, one proof split, devices that fail
 *
 * The devices are CPUs that are taken as machines of their own, or what CUZK_TEST_DEVICE names.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/fault.h"
#include "engine/engine.h"
#include "engine/lanes.h"
#include "harness/harness.h"
#include "r1cs/circom.h"

#include <string.h>

#define ITEMS 7

typedef struct told {
    unsigned n;
    char message[512];
} told;

static void hear(void *ctx, cuzk_class klass, const char *where, const char *message)
{
    told *t = ctx;

    assert_int_equal(klass, CUZK_CLASS_DEVICE);
    assert_string_equal(where, "device");
    t->n++;
    (void)snprintf(t->message, sizeof t->message, "%s", message);
}

static cuzk_engine *open_engine(const char *devices, told *t)
{
    const char *named = getenv("CUZK_TEST_DEVICE");
    cuzk_config c = {.threads = 2, .device = named != NULL && devices[3] != 0 ? named : devices};
    cuzk_engine *e;

    c.warn = hear;
    c.ctx = t;
    memset(t, 0, sizeof *t);
    assert_status_ok(cuzk_engine_open(&e, &c));
    e->spread_cpus = true;
    e->split_log = 0;
    return e;
}

/* ---- items ---- */

typedef struct items {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    unsigned done[ITEMS], calls;
    device *on[ENGINE_MAX_DEVICES]; /* devices seen */
    unsigned n_on;
    unsigned meet;     /* an item waits until so many devices were seen */
    device *bad;       /* fails at each item; */
    bool all_bad;      /* all of them do; */
    unsigned first;    /* so many calls do, the first ones */
    cuzk_status how;   /* so */
    size_t wrong_item; /* fails with CUZK_EDATA; ITEMS: none */
} items;

static void items_init(items *x)
{
    memset(x, 0, sizeof *x);
    (void)pthread_mutex_init(&x->mu, NULL);
    (void)pthread_cond_init(&x->changed, NULL);
    x->wrong_item = ITEMS;
    x->how = CUZK_EDEVICE;
}

static void items_clear(items *x)
{
    (void)pthread_cond_destroy(&x->changed);
    (void)pthread_mutex_destroy(&x->mu);
}

static void see_locked(items *x, device *d)
{
    for (unsigned i = 0; i < x->n_on; i++)
        if (x->on[i] == d) return;
    x->on[x->n_on++] = d;
    (void)pthread_cond_broadcast(&x->changed);
}

static cuzk_status do_item(void *ctx, job *j, size_t i)
{
    items *x = ctx;
    device *d = dev_stream_device(j->s);
    cuzk_status st = CUZK_OK;

    (void)pthread_mutex_lock(&x->mu);
    bool is_bad = x->calls++ < x->first || x->all_bad || d == x->bad;
    see_locked(x, d);
    while (x->n_on < x->meet) (void)pthread_cond_wait(&x->changed, &x->mu);
    if (is_bad)
        st = FAIL(x->how, "device bad");
    else if (i == x->wrong_item)
        st = FAIL(CUZK_EDATA, "item %zu is wrong", i);
    else
        x->done[i]++;
    (void)pthread_mutex_unlock(&x->mu);
    return st;
}

static cuzk_status spread(cuzk_engine *e, items *x, size_t n)
{
    job j;

    assert_status_ok(job_begin(&j, e));
    cuzk_status st = engine_spread(&j, n, do_item, x);
    job_end(&j);
    return st;
}

static void expect_all(const items *x)
{
    for (unsigned i = 0; i < ITEMS; i++) assert_int_equal(x->done[i], 1);
}

static void test_items(void **state)
{
    told t;
    cuzk_engine *e = open_engine("cpu,cpu,cpu", &t);
    unsigned n = e->n_devices;
    items x;

    (void)state;
    items_init(&x);
    x.meet = n; /* all are at work at once */
    assert_status_ok(spread(e, &x, ITEMS));
    expect_all(&x);
    assert_int_equal(x.calls, ITEMS);
    assert_int_equal(x.n_on, n);
    items_clear(&x);

    items_init(&x); /* one, or none: on the calling thread's device */
    assert_status_ok(spread(e, &x, 0));
    assert_status_ok(spread(e, &x, 1));
    assert_int_equal(x.n_on, 1);
    assert_ptr_equal(x.on[0], e->dev);
    items_clear(&x);
    assert_int_equal(t.n, 0);
    cuzk_engine_close(e);

    e = open_engine("cpu,cpu,cpu", &t); /* CPUs share their cores: nothing is won */
    e->spread_cpus = false;
    items_init(&x);
    assert_status_ok(spread(e, &x, ITEMS));
    expect_all(&x);
    if (strcmp(device_name(e->dev), "cpu") == 0) assert_int_equal(x.n_on, 1);
    items_clear(&x);
    cuzk_engine_close(e);
}

/* Whichever device it is, and whether it breaks or has no room: the others do its items. */
static void test_device_that_fails(void **state)
{
    static const cuzk_status how[] = {CUZK_EDEVICE, CUZK_EBUDGET, CUZK_ENOMEM};
    told t;
    cuzk_engine *e = open_engine("cpu,cpu,cpu", &t);

    (void)state;
    for (unsigned i = 0; i < e->n_devices; i++) {
        items x;

        items_init(&x);
        x.how = how[i % 3];
        x.bad = e->devices[i];
        x.meet = e->n_devices;
        t.n = 0;
        assert_status_ok(spread(e, &x, ITEMS));
        expect_all(&x);
        assert_int_equal(x.calls, ITEMS + 1);
        assert_int_equal(t.n, 1);
        assert_string_equal(t.message, "device bad");
        items_clear(&x);
    }
    cuzk_engine_close(e);
}

static void test_all_fail(void **state)
{
    told t;
    cuzk_engine *e = open_engine("cpu,cpu,cpu", &t);
    items x;

    (void)state;
    items_init(&x);
    x.all_bad = true;
    assert_status_is(spread(e, &x, ITEMS), CUZK_EDEVICE);
    assert_string_equal(cuzk_last_error()->message, "device bad");
    assert_int_equal(t.n, 0);
    items_clear(&x);

    items_init(&x); /* no device's fault: nobody tries it again */
    x.wrong_item = 2;
    assert_status_is(spread(e, &x, ITEMS), CUZK_EDATA);
    assert_string_equal(cuzk_last_error()->message, "item 2 is wrong");
    assert_int_equal(x.done[2], 0);
    items_clear(&x);

    items_init(&x); /* and the engine goes on as if nothing had been */
    assert_status_ok(spread(e, &x, ITEMS));
    expect_all(&x);
    items_clear(&x);
    cuzk_engine_close(e);
}

/* Each wants the memory that the others have: the last one has it all, and is asked once more. */
static void test_no_room_side_by_side(void **state)
{
    told t;
    cuzk_engine *e = open_engine("cpu,cpu,cpu", &t);
    unsigned n = e->n_devices;
    items x;

    (void)state;
    items_init(&x);
    x.how = CUZK_EBUDGET;
    x.first = x.meet = n;
    assert_status_ok(spread(e, &x, ITEMS));
    expect_all(&x);
    assert_int_equal(x.calls, ITEMS + n);
    assert_int_equal(t.n, n - 1);
    items_clear(&x);

    items_init(&x); /* once */
    x.how = CUZK_ENOMEM;
    x.all_bad = true;
    x.meet = n;
    assert_status_is(spread(e, &x, ITEMS), CUZK_ENOMEM);
    assert_int_equal(x.calls, n + 1);
    items_clear(&x);

    items_init(&x); /* a broken device is not mended by others' leaving */
    x.all_bad = true;
    x.meet = n;
    assert_status_is(spread(e, &x, ITEMS), CUZK_EDEVICE);
    assert_int_equal(x.calls, n);
    items_clear(&x);
    cuzk_engine_close(e);
}

/* ---- helpers ---- */

typedef struct calls {
    unsigned n;
    device *d;
    cuzk_status st; /* what a call returns */
} calls;

static cuzk_status count_call(void *arg, dev_stream *s)
{
    calls *c = arg;

    c->n++;
    c->d = dev_stream_device(s);
    return c->st == CUZK_OK ? CUZK_OK : FAIL(c->st, "call %u", c->n);
}

static void test_helpers(void **state)
{
    told t;
    cuzk_engine *e = open_engine("cpu,cpu", &t);
    calls a = {0}, b = {0};
    cuzk_error why;
    helper *h, *other;

    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        a.n = b.n = 0;
        a.st = round % 2 == 0 ? CUZK_OK : CUZK_EDEVICE;
        h = helper_take(e->helpers, 1, e->cancel, 0);
        assert_non_null(h);
        assert_null(helper_take(e->helpers, 1, e->cancel, 0)); /* one at a time */
        other = helper_take(e->helpers, 0, e->cancel, 0);
        assert_non_null(other);
        if (round % 3 != 0) {
            helper_start(h, count_call, &a);
            helper_start(h, count_call, &a);
            helper_start(other, count_call, &b);
            helper_join(h);
            helper_join(other);
            assert_int_equal(a.n, 2);
            assert_int_equal(b.n, 1);
            assert_ptr_equal(a.d, e->devices[1]);
            assert_ptr_equal(b.d, e->devices[0]);
        }
        helper_join(h); /* again, or nothing was started: no wait */
        assert_int_equal(helper_put(h, &why), a.n == 0 ? CUZK_OK : a.st);
        if (a.n != 0 && a.st != CUZK_OK) assert_string_equal(why.message, "call 1");
        assert_int_equal(helper_put(other, NULL), CUZK_OK);
    }
    cuzk_engine_close(e);
    assert_int_equal(t.n, 0);
}

/* ---- proofs ---- */

static const char *params(void)
{
    static char dir[512];
    cuzk_engine *e;
    told t;

    if (dir[0] != 0) return dir;
    (void)snprintf(dir, sizeof dir, "%s", harness_temp_path("params"));
    e = open_engine("cpu", &t);
    assert_status_ok(
        cuzk_filecoin_setup(e, "window-2k", dir, harness_vector("filecoin/trapdoors.json")));
    cuzk_engine_close(e);
    return dir;
}

/* WindowPoSt of 2 KiB, three sectors in two partitions; partition -1: both. */
static void prove_window(cuzk_engine *e, int64_t partition)
{
    static char text[4][512];
    const char *inputs[3];
    groth16_trapdoors secrets;
    cuzk_fixed_rs rs;
    cuzk_filecoin_args a = {.kind = "window",
                            .inputs = inputs,
                            .n_inputs = 3,
                            .params_dir = params(),
                            .partition = partition,
                            .fixed = &rs};
    cuzk_buffer proof = {0};
    uint8_t *want;
    size_t n, from = partition < 0 ? 0 : (size_t)partition * GROTH16_PROOF_BYTES;

    (void)snprintf(text[3], sizeof text[3], "%s",
                   harness_vector("filecoin/2kib/window-v1_1/statement.json"));
    a.statement = text[3];
    for (unsigned i = 0; i < 3; i++) {
        char name[128];

        (void)snprintf(name, sizeof name, "filecoin/2kib/window-v1_1/vanilla-%u.bin", i);
        (void)snprintf(text[i], sizeof text[i], "%s", harness_vector(name));
        inputs[i] = text[i];
    }
    assert_status_ok(trapdoors_read(harness_vector("filecoin/trapdoors.json"),
                                    curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC), &secrets,
                                    &rs));
    assert_status_ok(cuzk_filecoin_prove(e, &a, &proof));
    want = harness_read_file(harness_vector("filecoin/2kib/window-v1_1/proof-fixed-rs.bin"), &n);
    assert_int_equal(n, 2 * GROTH16_PROOF_BYTES);
    assert_int_equal(proof.size, partition < 0 ? n : GROTH16_PROOF_BYTES);
    assert_memory_equal(proof.data, want + from, proof.size);
    free(want);
    cuzk_buffer_clear(&proof);
}

static void prove_circom(cuzk_engine *e)
{
    static char zkey[512], wtns[512];
    cuzk_circom_prove_args a = {.zkey = zkey, .wtns = wtns};
    cuzk_buffer proof = {0}, pub = {0};

    (void)snprintf(zkey, sizeof zkey, "%s", harness_vector("circom/bn128/merkle5/circuit.zkey"));
    (void)snprintf(wtns, sizeof wtns, "%s", harness_vector("circom/bn128/merkle5/witness.wtns"));
    assert_status_ok(cuzk_circom_prove(e, &a, &proof, &pub)); /* it verified it */
    cuzk_buffer_clear(&proof);
    cuzk_buffer_clear(&pub);
}

/* The golden bytes: partitions side by side, and one split over two and three devices. */
static void test_proofs(void **state)
{
    told t;
    cuzk_engine *e = open_engine("cpu,cpu", &t);

    (void)state;
    prove_window(e, -1);
    prove_window(e, 1);
    prove_circom(e);
    assert_int_equal(t.n, 0);
    cuzk_engine_close(e);
    e = open_engine("cpu,cpu,cpu", &t);
    prove_window(e, -1);
    prove_window(e, 0);
    prove_circom(e);
    assert_int_equal(t.n, 0);
    cuzk_engine_close(e);
}

/* A key that is made for the run lies on each device: its proof is split, and verified. */
static void bench(cuzk_engine *e, const char *circuit)
{
    cuzk_bench_args a = {.name = "prove", .circuit = circuit, .reps = 2};
    cuzk_buffer out = {0};

    assert_status_ok(cuzk_bench(e, &a, &out));
    assert_non_null(strstr((const char *)out.data, circuit));
    cuzk_buffer_clear(&out);
}

static void test_benchmarks(void **state)
{
    told t;
    cuzk_engine *e = open_engine("cpu,cpu", &t);

    (void)state;
    bench(e, "window-2k");
    bench(e, "synthetic-10");
    assert_int_equal(t.n, 0);
    cuzk_engine_close(e);
}

/* One start of a proof with so many lanes, its allocation number k failing. False: there are not so many. */
static bool start_in_lanes(job *j, helpers *x, const groth16_pk *pk, const file_map *wtns,
                           unsigned n_lanes, unsigned long k)
{
    cuzk_engine *e = j->e;
    groth16_prove_args a = {.pk = pk};
    lanes_taken lanes = {.n = 0};
    r1cs_assignment *w;
    groth16_job *started = NULL;
    cuzk_error why;
    mem *m;

    assert_status_ok(mem_open(&m, "proof", 0, e->m));
    assert_status_ok(circom_wtns_read(&w, wtns->data, wtns->size, pk->cv, pk->n_inputs + pk->n_aux,
                                      pk->n_inputs - 1, e->pool, e->m));
    a.w = w;
    a.m = m;
    for (unsigned i = 0; i < n_lanes; i++) {
        lanes.h[i] = helper_take(x, i, e->cancel, 0);
        assert_non_null(lanes.h[i]);
        lanes.offer[lanes.n++] = helper_offer(lanes.h[i], NULL);
    }
    mem_inject_fault(m, k);
    cuzk_status st = lanes_prove_start(&started, j->s, &a, &lanes, &why);
    bool hit = mem_fault_hit(m);
    mem_inject_fault(m, 0);
    assert_int_equal(lanes.n, 0);
    if (n_lanes != 0 || !hit)
        assert_status_ok(st);
    else
        assert_int_equal(st, CUZK_ENOMEM);
    groth16_job_free(started);
    r1cs_assignment_free(w);
    mem_close(m);
    return hit;
}

/* Without memory beside its lanes, wherever it was wanted, a proof is made without them; without lanes it is not tried twice. */
static void test_lanes_without_memory(void **state)
{
    told t;
    cuzk_engine *e = open_engine("cpu", &t);
    device *d[LANES] = {e->dev, e->dev, e->dev};
    groth16_pk *pk;
    file_map wtns;
    helpers *x;
    job j;

    (void)state;
    assert_status_ok(helpers_open(&x, d, LANES, e->rec));
    assert_status_ok(job_begin(&j, e));
    assert_status_ok(groth16_zkey_open(&pk, harness_vector("circom/bn128/merkle5/circuit.zkey"),
                                       e->table, e->pool, e->m));
    assert_status_ok(file_map_open(&wtns, harness_vector("circom/bn128/merkle5/witness.wtns")));
    for (unsigned n = 0; n <= LANES; n += LANES) {
        unsigned long k = 1;

        while (start_in_lanes(&j, x, pk, &wtns, n, k)) k++;
        assert_true(k > 1);
    }
    file_map_close(&wtns);
    engine_forget_key(e, pk, NULL);
    groth16_pk_free(pk);
    job_end(&j);
    helpers_close(x);
    cuzk_engine_close(e);
}

#ifdef CUZK_VERIFY
/* A helper's first call fails, its second, or both: the bytes are the same, with a warning. */
static void test_helper_faults(void **state)
{
    told t;
    cuzk_engine *e = open_engine("cpu,cpu", &t);

    (void)state;
    fault_arm("helper fault:1:1");
    prove_circom(e);
    assert_int_equal(t.n, 1);
    assert_non_null(strstr(t.message, "a fault of a helper"));
    fault_arm("helper fault:1:9");
    prove_circom(e);
    assert_int_equal(t.n, 2);
    fault_arm(NULL);
    prove_circom(e);
    assert_int_equal(t.n, 2);
    cuzk_engine_close(e);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),         cmocka_unit_test(test_device_that_fails),
        cmocka_unit_test(test_all_fail),      cmocka_unit_test(test_no_room_side_by_side),
        cmocka_unit_test(test_helpers),
#ifdef CUZK_VERIFY
        cmocka_unit_test(test_helper_faults),
#endif
        cmocka_unit_test(test_proofs),        cmocka_unit_test(test_lanes_without_memory),
        cmocka_unit_test(test_benchmarks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
