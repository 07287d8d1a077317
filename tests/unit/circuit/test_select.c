/*
 * unit/circuit/test_select.c - selection, products and sums: rows against the reference's hashes, and the values of selections
 *
 * Values: spec/filecoin-expected.md section 5 (rust-fil-proofs 87348a7).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "circuit/gadget/select.h"

static void rows_select(const gadget *g, unsigned n)
{
    uint32_t from[1u << SELECT_MAX_BITS], bits[SELECT_MAX_BITS];

    support_numbers(g, from, 1u << n);
    support_bits(g, bits, n);
    (void)select_gadget(g, from, bits, n);
}

static void rows_label_r_new(const gadget *g, unsigned n)
{
    uint32_t x[3], sum[2];

    support_numbers(g, x, n);
    sum[0] = x[0];
    sum[1] = num_mul(g, x[1], x[2]);
    (void)num_sum(g, sum, 2);
}

static const recipe recipes[] = {
    {{"select_2", 1, 4, 2, 3, 1,
      "443aa001800853fa1fc31100c4faf2c30405595977ca3719f695e70cb9792995"},
     rows_select,
     1},
    {{"select_4", 1, 9, 5, 8, 2,
      "54520031ac73e38b871dc07f455527f63e0e7eeee5263602a9b7578155bdad5c"},
     rows_select,
     2},
    {{"select_8", 1, 18, 10, 17, 3,
      "947ef30b1c67bfdbbabf8c7f14efcbb1f4d43a41877d4ab403f8eb925d186587"},
     rows_select,
     3},
    {{"select_128", 1, 262, 134, 261, 7,
      "f46b561e0d4346a301e148ffeaf58b65fcfb3c1c783f04db82cd6d2c03ba59e9"},
     rows_select,
     7},
    {{"label_r_new", 1, 5, 2, 3, 1,
      "d90394a910389caf2cb4a8fc5484be8a6a2c931a1d449fd71ab3ae4ffdf579d3"},
     rows_label_r_new,
     3},
};

static void test_rows(void **state)
{
    (void)state;
    support_check_recipes(recipes, sizeof recipes / sizeof recipes[0]);
}

/* The last pick is from[index], and the rows accept the picks, but no other value of any of them. */
static void test_values(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 4; n++) {
        mem *m = support_mem();
        r1cs_system *sys = support_system_of("select", rows_select, n, m);
        r1cs_assignment *w = NULL;
        unsigned size = 1u << n;

        assert_status_ok(r1cs_assignment_new(&w, sys, m));
        for (unsigned i = 0; i < size; i++) support_random_fr(&w->elems[i]);
        for (unsigned index = 0; index < size; index++) {
            fr *picks = &w->elems[size], kept;
            unsigned at = (unsigned)harness_random_below(size - 1);
            r1cs_fault fault;

            w->bits[0] = index;
            select_values(picks, w->elems, n, index);
            assert_bytes_equal(&picks[size - 2], &w->elems[index], sizeof(fr));
            support_holds(sys, w);
            kept = picks[at];
            support_random_fr(&picks[at]);
            assert_status_ok(r1cs_check(sys, w, NULL, NULL, &fault));
            assert_true(fault.found);
            picks[at] = kept;
        }
        r1cs_assignment_free(w);
        r1cs_free(sys);
        support_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
