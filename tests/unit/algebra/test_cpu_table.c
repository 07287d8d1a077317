/*
 * unit/algebra/test_cpu_table.c - names and choice of CPU tables
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/cpu_table.h"
#include "algebra/self_test.h"
#include "harness/harness.h"

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(cpu_table_name(CPU_TABLE_GENERIC), "generic");
    assert_string_equal(cpu_table_name(CPU_TABLE_ADX), "adx");
    assert_string_equal(cpu_table_name(CPU_TABLE_IFMA), "ifma");
    assert_string_equal(cpu_table_name(CPU_TABLES), "?");
    assert_string_equal(cpu_table_feature(CPU_TABLE_IFMA), "avx512ifma");
    assert_string_equal(cpu_table_feature(CPU_TABLES), "?");
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        cpu_table out = CPU_TABLES;
        assert_true(cpu_table_from_name(&out, cpu_table_name((cpu_table)t)));
        assert_int_equal(out, t);
    }
}

static void test_wrong_names(void **state)
{
    static const char *const wrong[] = {"", "ADX", "adx ", "avx", "?", "generi", "generic1"};
    cpu_table out = CPU_TABLES;
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_false(cpu_table_from_name(&out, wrong[k]));
    assert_int_equal(out, CPU_TABLES);
}

static void test_choice(void **state)
{
    cpu_table best = cpu_table_best();
    (void)state;
    assert_true(cpu_table_supported(CPU_TABLE_GENERIC));
    assert_false(cpu_table_supported(CPU_TABLES));
    assert_true(cpu_table_supported(best));
    for (unsigned t = (unsigned)best + 1; t < CPU_TABLES; t++)
        assert_false(cpu_table_supported((cpu_table)t));
    for (unsigned t = 0; t <= CPU_TABLES; t++)
        assert_int_equal(cpu_table_refusal((cpu_table)t) == NULL,
                         cpu_table_supported((cpu_table)t));
    assert_non_null(cpu_table_refusal(CPU_TABLES));
}

/* ---- self-tests: a table that is wrong in one product is refused ---- */

static void (*right_fp_ring)(uint64_t ring[CURVE_RING_WORDS], size_t n);
static void (*right_fr_ring)(fr ring[16], size_t n);

static void wrong_fp_ring(uint64_t ring[CURVE_RING_WORDS], size_t n)
{
    right_fp_ring(ring, n);
    ring[7] ^= 1;
}

static void wrong_fr_ring(fr ring[16], size_t n)
{
    right_fr_ring(ring, n);
    ring[15].l[3] ^= (uint64_t)1 << 63;
}

static void test_self_test(void **state)
{
    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        const curve *judge = curve_get((curve_id)id, CPU_TABLE_GENERIC);
        curve wrong = *judge;

        assert_true(self_test_curve(judge, &wrong));
        right_fp_ring = judge->fp_ring;
        wrong.fp_ring = wrong_fp_ring;
        assert_false(self_test_curve(judge, &wrong));
        wrong.fp_ring = judge->fp_ring;
        right_fr_ring = judge->fr_ring;
        wrong.fr_ring = wrong_fr_ring;
        assert_false(self_test_curve(judge, &wrong));
    }
}

/* Whether a line of flags has all of the words. */
static bool has_all(const char *line, const char *const *words, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        char word[32];
        (void)snprintf(word, sizeof word, " %s ", words[k]);
        if (strstr(line, word) == NULL) return false;
    }
    return true;
}

/* The kernel reads the same CPUID; and hides what it does not save. */
static void test_as_the_kernel_says(void **state)
{
    static const char *const adx[] = {"adx", "bmi2"};
    static const char *const ifma[] = {"adx",        "bmi2",       "avx512f",
                                       "avx512dq",   "avx512bw",   "avx512vl",
                                       "avx512ifma", "avx512vbmi", "avx512_vbmi2"};
    char line[4096] = "";
    bool flags = false;
    FILE *f = fopen("/proc/cpuinfo", "r");
    (void)state;

    if (f == NULL) harness_skip("no /proc/cpuinfo");
    while (!flags && fgets(line, sizeof line, f) != NULL) flags = strncmp(line, "flags", 5) == 0;
    (void)fclose(f); /* only read */
    if (!flags) harness_skip("/proc/cpuinfo has no line of flags");
    line[strcspn(line, "\n")] = ' ';
    assert_int_equal(cpu_table_supported(CPU_TABLE_ADX),
                     has_all(line, adx, sizeof adx / sizeof *adx));
    assert_int_equal(cpu_table_supported(CPU_TABLE_IFMA),
                     has_all(line, ifma, sizeof ifma / sizeof *ifma));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_wrong_names),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_self_test),
        cmocka_unit_test(test_as_the_kernel_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
