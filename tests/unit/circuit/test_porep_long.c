/*
 * unit/circuit/test_porep_long.c - PoRep partitions of 32 and 64 GiB sectors: 130 million rows
 *
 * Needs 300 MB of memory, some minutes, and python3: the 32 GiB C1 output is no fixture, but the fixtures' gen_vanilla.py makes
 * the very bytes that the reference was given.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "porep_case.h"
#include "porep_rows.h"

#include <spawn.h>
#include <sys/wait.h>

#include "base/hash.h"

static const porep_row rows[] = {
    {{"PoRep 32GiB", 328, 130169893, 130278541, 129753292, 33112281,
      "a790207ea0435359e7d5f286563586e3f9a3a286c97af2440f65a4a18063d9cb"},
     UINT64_C(34359738368),
     11,
     18,
     130278869,
     27,
     {309404723, 130327340, 282656500}},
    {{"PoRep 64GiB", 328, 131076643, 131185849, 130637542, 33386943,
      "7686117961498d7849ede7429233254b20e3b149011eca8674ca8e9ab0655af6"},
     UINT64_C(68719476736),
     11,
     18,
     131186177,
     27,
     {311892197, 131235764, 284512534}},
};

static void test_circuits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) porep_row_check(&rows[i]);
}

/* ---- assignments of 32 GiB ---- */

static const porep_case case_32g = {"32gib/porep", UINT64_C(34359738368), 11};

/* gen_vanilla.py lies in ../tools of the fixtures folder. */
static void tool_path(char *out, size_t size)
{
    static const char sums[] = "/filecoin/32gib/SHA256SUMS";
    const char *fixture = harness_fixture(sums + 1);
    int n = snprintf(out, size, "%.*s/../tools/gen_vanilla.py",
                     (int)(strlen(fixture) - strlen(sums)), fixture);

    assert_true(n > 0 && (size_t)n < size);
}

static void run_tool(char *tool, char *folder)
{
    extern char **environ;
    char python[] = "python3", kind[] = "porep", option[] = "--size", bytes[] = "32GiB",
         seed_option[] = "--seed", seed[] = "1";
    char *const argv[] = {python, tool, kind, option, bytes, seed_option, seed, folder, NULL};
    FILE *f = fopen(tool, "r");
    int status = -1;
    pid_t pid;

    if (f == NULL) harness_fail("no tool to make the C1 output of 32 GiB with: %s", tool);
    (void)fclose(f);
    assert_int_equal(posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        harness_fail("%s ended with wait status %d", tool, status);
}

/* Is it what the reference read? SHA256SUMS says. */
static void check_digest(const uint8_t *json, size_t size)
{
    static const char name[] = "  porep/c1.json\n";
    size_t sums_size;
    uint8_t *sums = harness_read_file(harness_fixture("filecoin/32gib/SHA256SUMS"), &sums_size);
    const char *line = strstr((const char *)sums, name);
    uint8_t digest[32];
    char want[65] = "";

    assert_non_null(line);
    assert_true(line - (const char *)sums >= 64);
    memcpy(want, line - 64, 64);
    sha256(digest, json, size);
    assert_hex_equal(digest, sizeof digest, want);
    free(sums);
}

/* The C1 output of 32 GiB and seed 1, which is its statement's. */
static porep_c1 *make_c1(mem *m)
{
    char tool[1024], folder[512], path[1024];
    porep_statement st;
    porep_derived d;
    porep_c1 *c1 = NULL;
    uint8_t *json;
    size_t size;

    tool_path(tool, sizeof tool);
    (void)snprintf(folder, sizeof folder, "%s", harness_temp_path("porep-32g"));
    run_tool(tool, folder);
    (void)snprintf(path, sizeof path, "%s/statement.json", folder);
    json = harness_read_file(path, &size);
    assert_status_ok(porep_statement_read(&st, json, size));
    free(json);
    (void)snprintf(path, sizeof path, "%s/c1.json", folder);
    json = harness_read_file(path, &size);
    check_digest(json, size);
    assert_status_ok(porep_c1_read(&c1, json, size, &st.shape, m));
    free(json);
    porep_derive(&d, &st);
    assert_status_ok(porep_check_statement(c1, &d));
    return c1;
}

/* The first and the last partition: the statement's first and second assignments. */
static void test_assignments_of_32_gib(void **state)
{
    static const uint32_t partitions[] = {0, 9};
    mem *m = support_mem();
    porep_c1 *c1 = make_c1(m);
    r1cs_system *sys = porep_case_system(&case_32g, m);
    pool *p = NULL;

    (void)state;
    assert_status_ok(pool_open(&p, 2, NULL));
    for (size_t i = 0; i < 2; i++) porep_case_partition(&case_32g, sys, c1, partitions[i], i, p);
    pool_close(p);
    r1cs_free(sys);
    porep_c1_free(c1);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_circuits),
        cmocka_unit_test(test_assignments_of_32_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
