/*
 * unit/circuit/test_porep_all.c - PoRep circuits of all sectors, of the largest with one challenge; the reference's assignments
 *                                  of all kinds of PoRep; its damaged outputs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "porep_case.h"
#include "porep_rows.h"

static const porep_row rows[] = {
    {{"PoRep 4KiB", 40, 2786423, 2788733, 2773158, 716039,
      "d5a90de3471d6cb4e52b8c98d4b87433e1d9f5dbf44a0afea62d4a4287097029"},
     UINT64_C(4096),
     2,
     2,
     2788773,
     22,
     {0, 0, 0}},
    {{"PoRep 16KiB", 40, 2974867, 2977173, 2959930, 766963,
      "6825ed63d62c7afbb8b1fb2d25691c057e124fd150b78ffca3eeb6f3b12eda6a"},
     UINT64_C(16384),
     2,
     2,
     2977213,
     22,
     {0, 0, 0}},
    {{"PoRep 32KiB", 40, 3075617, 3077985, 3058180, 797481,
      "98076e135128c2457e7463f283a92ccc597eaddac7dc439a5532d1f4fcb4009b"},
     UINT64_C(32768),
     2,
     2,
     3078025,
     22,
     {0, 0, 0}},
    {{"PoRep 8MiB", 40, 3842449, 3844929, 3814996, 1011289,
      "b1fe5a4629fb8fc6684d6c90d6f8d6d32e5bccf6bc9439e4e8a9758e579328db"},
     UINT64_C(8388608),
     2,
     2,
     3844969,
     22,
     {0, 0, 0}},
    {{"PoRep 16MiB", 40, 3943199, 3945741, 3913246, 1041807,
      "3f9771852d0d19d49761c876199520f0204ff8ff07281ef38247ad1e63fba34f"},
     UINT64_C(16777216),
     2,
     2,
     3945781,
     22,
     {0, 0, 0}},
    {{"PoRep 512MiB", 40, 4420837, 4423433, 4385040, 1174173,
      "c7ade8c93707968e967cce4507669258eab20ff010e6dc1827d55544ee671cbb"},
     UINT64_C(536870912),
     2,
     2,
     4423473,
     23,
     {0, 0, 0}},
    {{"PoRep 1GiB", 40, 4521587, 4524245, 4483290, 1204691,
      "adf871d80ddc70fe9f406e12394fb8559a13fd95ff78eb351516c02929016588"},
     UINT64_C(1073741824),
     2,
     2,
     4524285,
     23,
     {11148523, 4528262, 9646208}},
    {{"PoRep 32GiB, 1 challenge", 22, 7232200, 7238236, 7208979, 1840033,
      "5d477993ad4d9f61d0bb3309e06fd6659635ddd6007f0b3fdf81feb9d4ed5ef6"},
     UINT64_C(34359738368),
     11,
     1,
     7238258,
     23,
     {17191638, 7240948, 15703749}},
    {{"PoRep 64GiB, 1 challenge", 22, 7282575, 7288642, 7258104, 1855292,
      "f76ab217216b44c128deeefe2982423a61a43517655eac6e7090da1ac0d52e3d"},
     UINT64_C(68719476736),
     11,
     1,
     7288664,
     23,
     {17329831, 7291416, 15806862}},
};

static void test_circuits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) porep_row_check(&rows[i]);
}

static const porep_case cases[] = {
    {"2kib/porep-v1", 2048, 2},          {"2kib/porep-synthetic", 2048, 2},
    {"2kib/porep-ni", 2048, 2},          {"4kib/porep", 4096, 2},
    {"16kib/porep", 16384, 2},           {"32kib/porep", 32768, 2},
    {"16kib/porep-11layers", 16384, 11}, {"32kib/porep-11layers", 32768, 11},
    {"8mib/porep", 8 << 20, 2},
};

static void test_assignments(void **state)
{
    pool *p = NULL;

    (void)state;
    assert_status_ok(pool_open(&p, 2, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) porep_case_check(&cases[i], p);
    pool_close(p);
}

/* Those of TABLE.md that agree with the statement but not with themselves. */
static const struct {
    const char *file;
    cuzk_class class;
    const char *where;
} bad[] = {
    {"porep-label-parent", CUZK_CLASS_REDUNDANT, "partition 0, challenge 0, layer 1 label"},
    {"porep-label-parent-l2", CUZK_CLASS_REDUNDANT, "partition 0, challenge 1, layer 2 label"},
    {"porep-column-row", CUZK_CLASS_REDUNDANT, "partition 0, challenge 0, column"},
    {"porep-drg-column-row", CUZK_CLASS_INCONSISTENT, "partition 0, challenge 1, drg parent 3"},
    {"porep-exp-path", CUZK_CLASS_INCONSISTENT, "partition 0, challenge 0, exp parent 7"},
    {"porep-r-path-index", CUZK_CLASS_INCONSISTENT, "partition 0, challenge 0, comm_r_last path"},
    {"porep-d-leaf", CUZK_CLASS_INCONSISTENT, "partition 0, challenge 1, comm_d path"},
    {"porep-column-index", CUZK_CLASS_REDUNDANT, "partition 0, challenge 0, column index"},
    {"porep-label-node", CUZK_CLASS_INCONSISTENT, "partition 0, challenge 0, node"},
    {"porep-label-layer", CUZK_CLASS_REDUNDANT, "partition 0, challenge 0, layer 1 label"},
    {"porep-comm-c-differs", CUZK_CLASS_INCONSISTENT, "partition 0, challenge 1, comm_c"},
};

static void test_bad_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mem *m = support_mem();
        porep_run run = porep_case_run(NULL, m);
        char file[64];
        porep_c1 *c1;

        (void)printf("%s\n", bad[i].file);
        (void)snprintf(file, sizeof file, "bad/%s.json", bad[i].file);
        c1 = porep_case_file(file, 2048, 2, m);
        assert_status_is(porep_c1_check(c1, 0, &run), CUZK_EDATA);
        assert_error_class(bad[i].class);
        assert_string_equal(cuzk_last_error()->where, bad[i].where);
        run.redundant = NULL;
        assert_int_equal(porep_c1_check(c1, 0, &run),
                         bad[i].class == CUZK_CLASS_REDUNDANT ? CUZK_OK : CUZK_EDATA);
        porep_c1_free(c1);
        support_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_circuits),
        cmocka_unit_test(test_assignments),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
