/*
 * unit/circuit/update_support.c - case folders of sector updates
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "update_support.h"

#include "base/bytes.h"

static uint8_t *read_file(const char *folder, const char *name, size_t *size)
{
    char path[256];

    (void)snprintf(path, sizeof path, "filecoin/%s/%s", folder, name);
    return harness_read_file(harness_fixture(path), size);
}

void update_case_statement(update_statement *st, const char *folder)
{
    size_t size;
    uint8_t *json = read_file(folder, "statement.json", &size);

    assert_status_ok(update_statement_read(st, json, size, FIL_UPDATE));
    free(json);
}

uint8_t *update_case_read(const char *folder, size_t partition, size_t *size)
{
    char name[32];

    (void)snprintf(name, sizeof name, "partition-%zu.bin", partition);
    return read_file(folder, name, size);
}

void update_count_warning(void *ctx, cuzk_class klass, const char *where, const char *message)
{
    unsigned *n = ctx;

    (void)printf("warning: %s: %s\n", where, message);
    assert_int_equal(klass, CUZK_CLASS_REDUNDANT);
    ++*n;
}

static void check_public_inputs(const r1cs_assignment *w, const update_statement *st,
                                size_t partition, const expected_assignment *want)
{
    fr derived[UPDATE_N_PUBLIC];

    assert_int_equal(w->n_inputs, 1 + UPDATE_N_PUBLIC);
    assert_status_ok(update_public_inputs(st, partition, support_curve(), derived));
    assert_bytes_equal(w->inputs + 1, derived, sizeof derived);
    assert_int_equal(want->n_public, UPDATE_N_PUBLIC);
    for (size_t i = 0; i < UPDATE_N_PUBLIC; i++) {
        scalar got, file;

        support_curve()->fr_to_scalar(&got, &derived[i]);
        assert_true(hex_decode(file.b, 32, want->public_inputs + 64 * i, 64));
        assert_bytes_equal(got.b, file.b, 32);
    }
}

static void check_partition(const char *folder, size_t partition, size_t entry,
                            const update_statement *st, const r1cs_system *sys, pool *p)
{
    mem *m = support_mem();
    unsigned warnings = 0;
    fil_redundant r = {.warn = update_count_warning, .ctx = &warnings};
    update_vanilla *v = NULL;
    r1cs_assignment *w = NULL;
    expected_assignment want;
    r1cs_fault fault;
    size_t size;
    uint8_t *file = update_case_read(folder, partition, &size);

    (void)printf("%s, partition %zu\n", folder, partition);
    expected_assignment_read(&want, folder, entry);
    assert_status_ok(update_vanilla_read(&v, st, partition, file, size, support_poseidon(), m));
    assert_status_ok(update_vanilla_check(v, &r, p, NULL));
    assert_status_ok(update_synthesize(&w, sys, v, &r, p, NULL, m));
    assert_int_equal(warnings, 0);
    update_vanilla_free(v);
    support_check_assignment(sys, w, &want);
    check_public_inputs(w, st, partition, &want);
    assert_status_ok(r1cs_check(sys, w, p, NULL, &fault));
    assert_false(fault.found);
    r1cs_assignment_free(w);
    expected_assignment_clear(&want);
    free(file);
    support_close(m);
}

void update_check_case(const char *folder, const size_t *entries, size_t n, pool *p)
{
    mem *m = support_mem();
    update_statement st;
    r1cs_system *sys = NULL;

    update_case_statement(&st, folder);
    assert_status_ok(update_system_of(&sys, support_poseidon(), st.shape.kind, st.shape.size, m));
    for (size_t i = 0; i < n; i++) check_partition(folder, entries[i], i, &st, sys, p);
    r1cs_free(sys);
    support_close(m);
}
