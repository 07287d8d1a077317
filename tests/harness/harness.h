/*
 * harness/harness.h - what test programs use beyond cmocka: checks, seeded random, paths, skips
 *
 * A test program is a main with cmocka_run_group_tests; it includes this header alone. Every check ends
 * the test at once. Paths and temporary files live until the program exits. Environment:
 *   CUZK_TEST_SEED   seed of the random stream (printed at the start; by default a fresh one)
 *   CUZK_TEST_ITERS  rounds of randomised tests, instead of each test's own number
 *   CUZK_TEST_LEVEL  check (default), all, long: how large a test makes its inputs
 *   CUZK_FIXTURES    the fixtures folder, instead of the one found by CMake
 *   CI               "true": what is missing fails instead of being skipped
 * Not for use from several threads at a time.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HARNESS_HARNESS_H
#define HARNESS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuzk.h"

/* ---- checks ---- */

/** expr is CUZK_OK; otherwise its status, cuzk_last_error's text, place and source line are printed. */
#define assert_status_ok(expr) harness_status_ok((expr), #expr, __FILE__, __LINE__)
/** expr is exactly `want` (CUZK_EDATA, ...). */
#define assert_status_is(expr, want) harness_status_is((expr), (want), #expr, __FILE__, __LINE__)
/** cuzk_last_error()->klass is `want`: right after a failing call. */
#define assert_error_class(want) harness_error_class((want), __FILE__, __LINE__)
/** The last error's place or message contains `text`. */
#define assert_error_mentions(text) harness_error_mentions((text), __FILE__, __LINE__)
/** The size bytes at `got` are those of the hex text `want` (either case, spaces allowed). */
#define assert_hex_equal(got, size, want) \
    harness_hex_equal((got), (size), (want), #got, __FILE__, __LINE__)
/** The size bytes at `got` and `want` are equal; prints both in hex around the first difference. */
#define assert_bytes_equal(got, want, size) \
    harness_bytes_equal((got), (want), (size), #got, __FILE__, __LINE__)

void harness_status_ok(cuzk_status st, const char *expr, const char *file, int line);
void harness_status_is(cuzk_status st, cuzk_status want, const char *expr, const char *file,
                       int line);
void harness_error_class(cuzk_class want, const char *file, int line);
void harness_error_mentions(const char *text, const char *file, int line);
void harness_hex_equal(const void *got, size_t size, const char *want, const char *expr,
                       const char *file, int line);
void harness_bytes_equal(const void *got, const void *want, size_t size, const char *expr,
                         const char *file, int line);

/* ---- seeded random ---- */

uint64_t harness_seed(void);
uint64_t harness_random_u64(void);
/** Uniform in 0..n-1; n > 0. */
uint64_t harness_random_below(uint64_t n);
void harness_random_bytes(void *out, size_t size);
/** Rounds for a randomised test: `normal`, or CUZK_TEST_ITERS. */
size_t harness_iters(size_t normal);

enum harness_level { HARNESS_CHECK, HARNESS_ALL, HARNESS_LONG };
enum harness_level harness_level(void);

/* ---- files ---- */

/** Path below the fixtures folder ("circom/bn128/mult3/circuit.zkey"), else below tests/vectors, where copies of the small
 *  ones are. Missing in both: the test is skipped, or fails in CI. */
const char *harness_fixture(const char *rel);
/** Path below tests/vectors; a missing one fails the test. */
const char *harness_vector(const char *rel);
/** A folder of this program alone, removed at exit. */
const char *harness_temp_dir(void);
/** A path in that folder; nothing is created. */
const char *harness_temp_path(const char *name);
/** The whole file, with a NUL beyond its end; the caller frees it. A failure fails the test. */
uint8_t *harness_read_file(const char *path, size_t *size);
void harness_write_file(const char *path, const void *data, size_t size);
/** Bytes of hex text into out, exactly size of them; anything else fails the test. */
void harness_from_hex(void *out, size_t size, const char *hex);

/* ---- skips: each says why, and is counted ---- */

/** Ends the test as skipped: this machine lacks a CPU feature or a GPU. */
void harness_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/** Ends the test as skipped because a file or tool is missing; with CI=true it fails. */
void harness_missing(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/** Ends the test as failed. */
void harness_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
