/*
 * unit/groth16/test_verify.c - batches of proofs: what is valid, and that one wrong thing anywhere is seen, whatever of the key was made ready; proofs
 * read many at a time
 *
 * Keys and proofs are simulated (groth16/simulate.h); proofs of real circuits are verified in test_proof_json, test_prove and test_setup.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "groth16/simulate.h"
#include "support.h"

#define MOST 42 /* more than FEW of verify.c: groups of eight, and two */

typedef struct batch {
    groth16_sim *sim;
    const curve *cv;
    size_t n_pub;
    groth16_proof p[MOST];
    fr *pub;
} batch;

static void batch_open(batch *b, rig *r, curve_id id, size_t n_pub)
{
    cuzk_status st;

    b->cv = curve_get(id, r->table);
    b->n_pub = n_pub;
    assert_status_ok(groth16_sim_open(&b->sim, r->s, b->cv, (uint32_t)n_pub + 1, r->m));
    b->pub = mem_new(r->m, MOST * n_pub + 1, sizeof *b->pub, &st);
    assert_non_null(b->pub);
    for (size_t i = 0; i < MOST * n_pub; i++)
        if (i % 5 != 2) assert_true(b->cv->fr_random(&b->pub[i])); /* else 0 */
    for (size_t j = 0; j < MOST; j++)
        assert_status_ok(groth16_sim_prove(&b->p[j], b->sim, b->pub + j * n_pub));
}

/* How a key may be: as it was read; with lines; with multiples of its points too. */
enum { AS_READ, LINES, ALL, LEVELS };

static void prepare(const batch *b, rig *r, int level)
{
    if (level >= LINES) assert_status_ok(groth16_vk_prepare(b->sim->vk, NULL));
    if (level >= ALL) {
        const groth16_vk_ready *lines = b->sim->vk->ready;
        assert_status_ok(groth16_vk_prepare(b->sim->vk, r->s));
        assert_ptr_equal(b->sim->vk->ready, lines);
        assert_non_null(lines->ic);
        assert_non_null(lines->alpha);
    }
}

static void batch_close(batch *b, rig *r)
{
    mem_free(r->m, b->pub);
    groth16_sim_close(b->sim);
}

static bool verifies(const batch *b, rig *r, size_t from, size_t n)
{
    bool valid = false;
    assert_status_ok(
        groth16_verify_batch(r->s, b->sim->vk, b->p + from, n, b->pub + from * b->n_pub, &valid));
    return valid;
}

static void for_each_key(void (*f)(rig *r, curve_id id))
{
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        rig r;
        if (!cpu_table_supported((cpu_table)t)) continue;
        rig_open(&r, (cpu_table)t, 1);
        for (unsigned id = 0; id < CURVE_IDS; id++) f(&r, (curve_id)id);
        rig_close(&r);
    }
}

static void valid_with(rig *r, curve_id id)
{
    static const size_t inputs[] = {0, 1, 7, 40}, sizes[] = {1, 2, 6, 7, 8, 9, 16, 33, MOST};
    batch b;

    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        batch_open(&b, r, id, inputs[i]);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            if (i != 1 && k % 3 != 0) continue; /* it takes its time */
            prepare(&b, r, (int)(k * LEVELS / (sizeof sizes / sizeof sizes[0])));
            assert_true(verifies(&b, r, MOST - sizes[k], sizes[k]));
        }
        b.p[3] = b.p[2]; /* the same proof twice, with the same inputs */
        for (size_t k = 0; k < b.n_pub; k++) b.pub[3 * b.n_pub + k] = b.pub[2 * b.n_pub + k];
        assert_true(verifies(&b, r, 0, 8));
        batch_close(&b, r);
    }
}

/* All levels of one key, at one proof, a few, and as many as a sum of the device takes. */
static void levels_with(rig *r, curve_id id)
{
    static const size_t sizes[] = {1, 3, 8, 10, 34};
    batch b;

    batch_open(&b, r, id, 5);
    for (int level = 0; level < LEVELS; level++) {
        prepare(&b, r, level);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            fr *x = &b.pub[5 * (sizes[k] - 1) + k], was = *x;
            assert_true(verifies(&b, r, 0, sizes[k]));
            b.cv->fr_add(x, x, &b.cv->fr_one);
            assert_false(verifies(&b, r, 0, sizes[k]));
            *x = was;
        }
    }
    batch_close(&b, r);
}

static void test_levels(void **state)
{
    (void)state;
    for_each_key(levels_with);
}

static void test_valid(void **state)
{
    (void)state;
    for_each_key(valid_with);
}

/* One wrong point or input of one proof, wherever it stands; and two that would cancel out under equal weights. */
static void wrong_with(rig *r, curve_id id)
{
    const size_t n = 10;
    batch b;

    batch_open(&b, r, id, 3);
    assert_true(verifies(&b, r, 0, n));
    for (size_t j = 0; j < n; j++) {
        const groth16_proof kept = b.p[j];
        fr *x = &b.pub[3 * j + j % 3], was = *x;

        prepare(&b, r, (int)(j * LEVELS / n));
        switch (j % 4) {
        case 0: b.cv->g1_neg(&b.p[j].a, &kept.a); break;
        case 1: b.cv->g2_add(&b.p[j].b, &kept.b, &b.cv->g2_gen); break;
        case 2: b.cv->g1_add(&b.p[j].c, &kept.c, &b.cv->g1_gen); break;
        default: b.cv->fr_add(x, x, &b.cv->fr_one); break;
        }
        assert_false(verifies(&b, r, 0, n));
        assert_false(verifies(&b, r, j, 1));
        b.p[j] = kept;
        *x = was;
    }
    b.cv->g1_add(&b.p[1].c, &b.p[1].c, &b.cv->g1_gen);
    g1_any minus;
    b.cv->g1_neg(&minus, &b.cv->g1_gen);
    b.cv->g1_add(&b.p[2].c, &b.p[2].c, &minus);
    assert_false(verifies(&b, r, 0, n));
    batch_close(&b, r);
}

static void test_wrong(void **state)
{
    (void)state;
    for_each_key(wrong_with);
}

/* A proof with an infinity is no proof that a reader lets through; a batch is not confused by one. */
static void infinity_with(rig *r, curve_id id)
{
    batch b;

    batch_open(&b, r, id, 2);
    for (int level = 0; level < LEVELS; level++) {
        const groth16_proof a = b.p[4], c = b.p[5];
        prepare(&b, r, level);
        memset(&b.p[4].a, 0, sizeof b.p[4].a);
        assert_false(verifies(&b, r, 0, 9));
        assert_false(verifies(&b, r, 4, 1));
        memset(&b.p[5].c, 0, sizeof b.p[5].c);
        assert_false(verifies(&b, r, 5, 9));
        b.p[4] = a;
        b.p[5] = c;
    }
    batch_close(&b, r);
}

static void test_infinity(void **state)
{
    (void)state;
    for_each_key(infinity_with);
}

/* A key that could not be made ready verifies as before; and is ready once there is memory. */
static void test_no_memory(void **state)
{
    unsigned long fault = 0;
    cuzk_status st;
    batch b;
    rig r;

    (void)state;
    rig_open(&r, CPU_TABLE_GENERIC, 1);
    batch_open(&b, &r, CURVE_ID_BN254, 2);
    do {
        mem_inject_fault(r.m, ++fault);
        st = groth16_vk_prepare(b.sim->vk, r.s);
        mem_inject_fault(r.m, 0);
        if (st != CUZK_OK) assert_status_is(st, CUZK_ENOMEM);
        assert_true(verifies(&b, &r, 0, 2));
    } while (st != CUZK_OK);
    assert_true(fault > 3);
    assert_non_null(b.sim->vk->ready->ic);
    batch_close(&b, &r);
    rig_close(&r);
}

/* ---- reading ---- */

static void read_with(rig *r, curve_id id)
{
    uint8_t bytes[MOST][GROTH16_PROOF_BYTES];
    groth16_proof got[MOST];
    batch b;
    size_t bad;

    if (id != CURVE_ID_BLS12_381) return;
    batch_open(&b, r, id, 1);
    for (size_t j = 0; j < MOST; j++) groth16_proof_write(bytes[j], b.cv, &b.p[j]);
    for (size_t n = 0; n <= MOST; n += n < 10 ? 1 : 8) {
        memset(got, 0, sizeof got);
        assert_status_ok(groth16_proofs_read(got, b.cv, bytes[0], n, &bad));
        for (size_t j = 0; j < n; j++) assert_proof_equal(b.cv, &got[j], &b.p[j]);
    }
    for (size_t j = 0; j < MOST; j++) { /* what the reader of one says, with the place */
        static const size_t at[] = {0, 48 + 96 + 3, 48 + 50, 48, 47, 190};
        groth16_proof one;
        cuzk_error e;
        size_t k = at[j % 6];
        uint8_t was = bytes[j][k];

        bytes[j][k] ^= (uint8_t)(j % 2 == 0 ? 0x40 : 0x05);
        assert_status_is(groth16_proof_read(&one, b.cv, bytes[j]), CUZK_EDATA);
        e = *cuzk_last_error();
        bad = MOST;
        assert_status_is(groth16_proofs_read(got, b.cv, bytes[0], MOST, &bad), CUZK_EDATA);
        assert_int_equal(bad, j);
        assert_string_equal(cuzk_last_error()->message, e.message);
        bytes[j][k] = was;
    }
    batch_close(&b, r);
}

static void test_read(void **state)
{
    (void)state;
    for_each_key(read_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),     cmocka_unit_test(test_levels),
        cmocka_unit_test(test_wrong),     cmocka_unit_test(test_infinity),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
