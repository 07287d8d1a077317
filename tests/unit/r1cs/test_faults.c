/*
 * unit/r1cs/test_faults.c - the k-th allocation fails, for every k: a clean status, nothing left behind
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "r1cs/circom.h"
#include "r1cs/coeffs.h"

typedef cuzk_status (*scenario_fn)(mem *m);

/* Enough terms and instances that every array grows more than once. */
static cuzk_status build(mem *m)
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    cuzk_status st;
    r1cs_system *sys = NULL;
    r1cs_builder *b = NULL;
    r1cs_assignment *w = NULL;
    r1cs_wire in[2] = {0, 0}, first;
    uint32_t index[2] = {0, 0};
    uint8_t digest[32];

    st = r1cs_new(&sys, cv, "faults", m);
    for (uint32_t k = 0; st == CUZK_OK && k < 2; k++) {
        r1cs_lc *sum;

        st = r1cs_builder_new(&b, sys, "faults", k == 0 ? 0 : 2);
        if (st != CUZK_OK) break;
        sum = r1cs_lc_new(b);
        for (uint32_t i = 0; i < 40; i++) {
            fr f = support_u64(cv, i + 5);

            r1cs_lc_add(b, sum, i % 2 == 0 ? r1cs_alloc(b) : r1cs_alloc_bit(b), &f);
            r1cs_lc_add(b, sum, r1cs_alloc_input(b), &f);
            if (k == 1) r1cs_lc_add(b, sum, r1cs_in(b, i % 2), &f);
            r1cs_enforce(b, sum, r1cs_lc_copy(b, sum), sum);
        }
        r1cs_builder_note(b, in, sizeof in);
        st = r1cs_builder_finish(b, &index[k]);
        r1cs_builder_free(b);
    }
    for (size_t i = 0; st == CUZK_OK && i < 40; i++) {
        st = r1cs_add(sys, index[i % 2], in, &first, NULL);
        in[0] = first;
        in[1] = i % 4 == 0 ? first : first + 1;
    }
    if (st == CUZK_OK) st = r1cs_finish(sys);
    if (st == CUZK_OK) st = r1cs_hash(sys, digest);
    if (st == CUZK_OK) st = r1cs_assignment_new(&w, sys, m);
    r1cs_assignment_free(w);
    r1cs_free(sys);
    return st;
}

static cuzk_status read_file(mem *m, const char *name, bool zkey)
{
    const support_circuit c = {CURVE_ID_BN254, "circom/bn128/hints"};
    size_t size;
    uint8_t *data = support_read(&c, name, &size);
    r1cs_system *sys = NULL;
    r1cs_assignment *w = NULL;
    cuzk_status st;

    if (zkey) {
        circom_file f;
        bytes_in in;

        assert_status_ok(circom_file_read(&f, data, size, "zkey"));
        assert_status_ok(circom_file_section(&f, 4, "coefficients", &in));
        st = r1cs_from_zkey(&sys, support_curve(c.id), 2, 854, 1024, in.data + 4,
                            (in.size - 4) / 44, m);
    } else if (strstr(name, "wtns") != NULL) {
        st = circom_wtns_read(&w, data, size, support_curve(c.id), 856, 1, NULL, m);
    } else {
        st = circom_r1cs_read(&sys, data, size, cpu_table_best(), m);
    }
    r1cs_assignment_free(w);
    r1cs_free(sys);
    free(data);
    return st;
}

static cuzk_status read_r1cs(mem *m)
{
    return read_file(m, "circuit.r1cs", false);
}

static cuzk_status read_wtns(mem *m)
{
    return read_file(m, "witness.wtns", false);
}

static cuzk_status read_zkey(mem *m)
{
    return read_file(m, "circuit.zkey", true);
}

/* Terms that cancel and repeat, so that the table of sums is needed. */
static cuzk_status read_duplicates(mem *m)
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    r1cs_system *sys = NULL;
    enum { N = 200 };
    uint8_t entries[N * 44];
    cuzk_status st;

    memset(entries, 0, sizeof entries);
    for (uint32_t i = 0; i < N; i++) {
        uint8_t *e = entries + (size_t)44 * i;

        store_u32le(e, i % 2);
        store_u32le(e + 4, i / 40);
        store_u32le(e + 8, i % 7);
        store_u32le(e + 12, i);
    }
    st = r1cs_from_zkey(&sys, cv, 2, 9, 64, entries, N, m);
    r1cs_free(sys);
    return st;
}

static void every_allocation_fails_once(void **state)
{
    static const struct {
        const char *name;
        scenario_fn run;
    } scenarios[] = {{"build", build},
                     {"r1cs", read_r1cs},
                     {"wtns", read_wtns},
                     {"zkey", read_zkey},
                     {"duplicates", read_duplicates}};

    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        unsigned long k = 1;

        for (;; k++) {
            mem *m = support_mem();
            cuzk_status st;
            bool hit;

            mem_inject_fault(m, k);
            st = scenarios[i].run(m);
            hit = mem_fault_hit(m);
            support_close(m);
            if (!hit) {
                assert_int_equal(st, CUZK_OK);
                break;
            }
            assert_int_equal(st, CUZK_ENOMEM);
            assert_error_class(CUZK_CLASS_RESOURCE);
        }
        print_message("%s: %lu allocations\n", scenarios[i].name, k - 1);
        assert_true(k > 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
