/*
 * unit/algebra/field_tests.h - what the tests of fields share: every field, inputs with edges, and a model by plain integers
 *
 * The model adds and doubles n-word integers and nothing else, so it shares no idea with the code under test.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_FIELD_TESTS_H
#define ALGEBRA_FIELD_TESTS_H

#include "field_ops.h"
#include "harness/harness.h"

#define NMAX FIELD_MAX_LIMBS

/** f for both fields of each curve on each CPU table that this machine runs. */
void for_each_field(void (*f)(const field_ops *o));
/** f for each field on the generic table, with the same field on each other table that this machine runs. */
void for_each_pair(void (*f)(const field_ops *judge, const field_ops *o));

/** Number of edge values of a field: limbs below m. */
#define FIELD_EDGES 16
/** Edge value k: 0, 1, 2, m-1, m-2, halves, R mod m, and its neighbours, all-ones patterns. */
void edge(const field_ops *o, uint64_t *r, unsigned k);
/** Uniform below m; one time in four an edge value. */
void random_element(const field_ops *o, uint64_t *r);
/** Any n words. */
void random_words(uint64_t *r, unsigned n);

/** Fails with the field's name, the operation and the values unless a = b. */
void assert_words(const field_ops *o, const char *what, const uint64_t *a, const uint64_t *b,
                  unsigned n);
/** The words of a below m. */
void assert_canonical(const field_ops *o, const char *what, const uint64_t *a);

/* ---- the model: integers below m, not in Montgomery form ---- */

int model_cmp(const uint64_t *a, const uint64_t *b, unsigned n);
void model_add(const field_ops *o, uint64_t *r, const uint64_t *a, const uint64_t *b);
void model_sub(const field_ops *o, uint64_t *r, const uint64_t *a, const uint64_t *b);
void model_mul(const field_ops *o, uint64_t *r, const uint64_t *a, const uint64_t *b);
/** r = w mod m for w of any number of words. */
void model_mod(const field_ops *o, uint64_t *r, const uint64_t *w, unsigned words);
/** r = 2^k mod m */
void model_pow2(const field_ops *o, uint64_t *r, unsigned k);
/** r = a >> s, n words */
void model_shift(uint64_t *r, const uint64_t *a, unsigned n, unsigned s);

#endif
