/*
 * unit/circuit/test_gen.c - made-up inputs pass the native check and satisfy their circuits; the seed decides them; what is refused
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "gen_support.h"

static void test_rows_hold(void **state)
{
    (void)state;
    gen_holds(FIL_WINNING, "2k", -1, 1, NULL);
    gen_holds(FIL_WINDOW, "2k", -1, 2, NULL);
    gen_holds(FIL_UPDATE, "2k", -1, 1, NULL);
    gen_holds(FIL_POREP, "2k", -1, 1, NULL);
}

/* One shape each with a sub tree, a top tree, more partitions, eleven layers; old API versions; sealed sectors. */
static void test_shapes_pass_the_check(void **state)
{
    static const char *const sizes[] = {"4k", "32k", "8m", "32g", "64g"};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        gen_holds(FIL_WINNING, sizes[i], -1, 0, NULL);
        gen_holds(FIL_WINDOW, sizes[i], -1, 0, NULL);
        gen_holds(FIL_UPDATE, sizes[i], -1, 0, NULL);
    }
    gen_holds(FIL_POREP, "4k", -1, 0, NULL);
    gen_holds(FIL_POREP, "32k", -1, 0, NULL);
    gen_holds(FIL_WINDOW, "2k", 5, 1, NULL);
    gen_holds(FIL_POREP, "2k", 0, 0, NULL);
    gen_holds(FIL_POREP, "2k", 10, 0, NULL);
    gen_holds(FIL_POREP, "2k", 15, 0, NULL);
}

static bool same(const gen_files *a, const gen_files *b)
{
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->size[i] != b->size[i] || memcmp(a->data[i], b->data[i], a->size[i]) != 0)
            return false;
    return true;
}

static void test_the_seed_decides(void **state)
{
    static const fil_kind kinds[] = {FIL_POREP, FIL_WINNING, FIL_WINDOW, FIL_UPDATE};
    pool *p = NULL;

    (void)state;
    assert_status_ok(pool_open(&p, 3, NULL));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        mem *m = support_mem();
        gen_files a, b, c;

        assert_status_ok(gen_run(&a, kinds[i], "2k", -1, 0, 1, NULL, m));
        assert_status_ok(gen_run(&b, kinds[i], "2k", -1, 0, 1, p, m));
        assert_status_ok(gen_run(&c, kinds[i], "2k", -1, 0, 2, NULL, m));
        assert_true(same(&a, &b));
        assert_false(same(&a, &c));
        gen_files_clear(&a);
        gen_files_clear(&b);
        gen_files_clear(&c);
        support_close(m);
    }
    pool_close(p);
}

static void refused(fil_kind kind, const char *size, int64_t registered, uint32_t n_sectors,
                    const char *says)
{
    mem *m = support_mem();
    gen_files f;

    assert_int_equal(gen_run(&f, kind, size, registered, n_sectors, 1, NULL, m), CUZK_EINVAL);
    if (strstr(cuzk_last_error()->message, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", cuzk_last_error()->message, says);
    assert_int_equal(f.n, 0);
    support_close(m);
}

static void test_refusals(void **state)
{
    (void)state;
    refused(FIL_POREP, "32g", 13, 0, "sealed, up to 8 MiB");
    refused(FIL_POREP, "16m", 15, 0, "sealed, up to 8 MiB");
    refused(FIL_POREP, "2k", 6, 0, "not of sectors of 2048 bytes");
    refused(FIL_POREP, "2k", 20, 0, "0 to 19");
    refused(FIL_WINDOW, "2k", 0, 0, "5 to 14");
    refused(FIL_WINNING, "2k", 5, 0, "0 to 4");
    refused(FIL_WINNING, "2k", -1, 2, "one sector");
    refused(FIL_UPDATE, "1g", -1, 0, "no update circuit");
    refused(FIL_WINDOW, "8k", -1, 0, "no window circuit");
}

static void test_every_allocation_can_fail(void **state)
{
    static const fil_kind kinds[] = {FIL_POREP, FIL_WINDOW, FIL_UPDATE};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        mem *m = support_mem();

        for (unsigned long k = 1;; k++) {
            gen_files f;
            cuzk_status st;
            bool hit;

            mem_inject_fault(m, k);
            st = gen_run(&f, kinds[i], "2k", -1, 1 * (kinds[i] == FIL_WINDOW), 1, NULL, m);
            hit = mem_fault_hit(m);
            mem_inject_fault(m, 0);
            gen_files_clear(&f);
            assert_int_equal(mem_used(m), 0);
            if (!hit) {
                assert_status_ok(st);
                break;
            }
            assert_int_equal(st, CUZK_ENOMEM);
        }
        support_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_hold),
        cmocka_unit_test(test_shapes_pass_the_check),
        cmocka_unit_test(test_the_seed_decides),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_every_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
