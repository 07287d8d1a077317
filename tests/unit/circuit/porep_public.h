/*
 * unit/circuit/porep_public.h - public inputs that follow from a PoRep statement, against the reference's
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_CIRCUIT_POREP_PUBLIC_H
#define UNIT_CIRCUIT_POREP_PUBLIC_H

#include "support.h"

#include "base/hash.h"
#include "circuit/filecoin/porep_impl.h"

static porep_statement read_statement(const char *folder)
{
    porep_statement st;
    char path[256];
    uint8_t *json;
    size_t size;

    (void)snprintf(path, sizeof path, "filecoin/%s/statement.json", folder);
    json = harness_read_file(harness_fixture(path), &size);
    assert_status_ok(porep_statement_read(&st, json, size));
    free(json);
    return st;
}

/* ---- public inputs ---- */

static void check_partition(const porep_derived *d, const expected_assignment *want, size_t k)
{
    const curve *cv = support_curve();
    size_t n = porep_n_public(d);
    fr *pub = calloc(n, sizeof *pub);
    uint8_t digest[32];
    sha256_ctx c;
    scalar s;

    assert_non_null(pub);
    assert_status_ok(porep_public_inputs(d, k, cv, pub));
    assert_int_equal(want->n_inputs, n + 1);
    assert_true(want->n_public == n || want->n_public == 0);
    sha256_init(&c);
    cv->fr_to_scalar(&s, &cv->fr_one);
    sha256_update(&c, s.b, sizeof s.b);
    for (size_t i = 0; i < n; i++) {
        uint8_t file[32];

        cv->fr_to_scalar(&s, &pub[i]);
        sha256_update(&c, s.b, sizeof s.b);
        if (want->n_public == 0) continue;
        assert_true(hex_decode(file, 32, want->public_inputs + 64 * i, 64));
        assert_bytes_equal(s.b, file, 32);
    }
    sha256_final(&c, digest);
    assert_hex_equal(digest, 32, want->sha256_inputs);
    free(pub);
}

/* Entry `at` of the statement's assignments is of partition k. */
static void check_entry(const char *folder, const porep_derived *d, size_t at, size_t k)
{
    expected_assignment want;

    (void)printf("%s, partition %zu\n", folder, k);
    expected_assignment_read(&want, folder, at);
    check_partition(d, &want, k);
    expected_assignment_clear(&want);
}

#endif
