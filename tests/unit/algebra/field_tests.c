/*
 * unit/algebra/field_tests.c - every field, inputs with edges, and a model by plain integers
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "field_tests.h"

/* ifma's single values are adx's; its lanes have a test of their own, test_lanes.c */
#define FIELD_TABLES (CPU_TABLE_ADX + 1)
static const field_ops *const tables[][FIELD_TABLES] = {
    {field_ops_bls_generic, field_ops_bls_adx},
    {field_ops_bn_generic, field_ops_bn_adx},
    {field_ops_tiny_generic, field_ops_tiny_adx},
};
#define CURVES (sizeof tables / sizeof *tables)

void for_each_field(void (*f)(const field_ops *o))
{
    for (size_t c = 0; c < CURVES; c++)
        for (unsigned t = 0; t < FIELD_TABLES; t++)
            for (unsigned k = 0; k < 2; k++)
                if (cpu_table_supported((cpu_table)t)) f(&tables[c][t][k]);
}

void for_each_pair(void (*f)(const field_ops *judge, const field_ops *o))
{
    unsigned pairs = 0;
    for (size_t c = 0; c < CURVES; c++) {
        for (unsigned t = CPU_TABLE_GENERIC + 1; t < FIELD_TABLES; t++) {
            for (unsigned k = 0; k < 2; k++) {
                if (!cpu_table_supported((cpu_table)t)) continue;
                f(&tables[c][CPU_TABLE_GENERIC][k], &tables[c][t][k]);
                pairs++;
            }
        }
    }
    if (pairs == 0) harness_skip("this machine runs the generic table alone");
}

/* r = a - v or a + v as integers of n words */
static void nudge(uint64_t *r, const uint64_t *a, unsigned n, bool down, uint64_t v)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t x = a[i];
        r[i] = down ? x - v : x + v;
        v = (down ? r[i] > x : r[i] < x) ? 1 : 0;
    }
}

void edge(const field_ops *o, uint64_t *r, unsigned k)
{
    uint64_t m[NMAX];
    memcpy(m, o->modulus, o->n * sizeof *m);
    memset(r, 0, o->n * sizeof *r);
    switch (k) {
    case 0: return;
    case 1: r[0] = 1; return;
    case 2: r[0] = 2; return;
    case 3: nudge(r, m, o->n, true, 1); return;
    case 4: nudge(r, m, o->n, true, 2); return;
    case 5: memcpy(r, o->half, o->n * sizeof *r); return;
    case 6: nudge(r, o->half, o->n, false, 1); return;
    case 7: memcpy(r, o->mont_one, o->n * sizeof *r); return;
    case 8: nudge(r, o->mont_one, o->n, true, 1); return;
    case 9: nudge(r, o->mont_one, o->n, false, 1); break;
    case 10: memcpy(r, o->mont_r2, o->n * sizeof *r); return;
    case 11: /* the top word of m, less one, and ones below */
        memset(r, 0xff, o->n * sizeof *r);
        r[o->n - 1] = m[o->n - 1] - 1;
        break;
    case 12: r[o->n - 1] = m[o->n - 1]; break; /* zeros below the top word */
    case 13: r[o->n - 1] = m[o->n - 1] - 1; break;
    case 14: r[0] = UINT64_MAX; break;
    case 15: /* 2^k - 1, the longest below m */
        memset(r, 0xff, o->n * sizeof *r);
        model_shift(r, r, o->n, 64 * o->n - (o->bits - 1));
        return;
    default: harness_fail("edge %u", k);
    }
    model_mod(o, r, r, o->n);
}

void random_words(uint64_t *r, unsigned n)
{
    harness_random_bytes(r, n * sizeof *r);
}

void random_element(const field_ops *o, uint64_t *r)
{
    if (harness_random_below(4) == 0) {
        edge(o, r, (unsigned)harness_random_below(FIELD_EDGES));
        return;
    }
    do {
        random_words(r, o->n);
        model_shift(r, r, o->n, 64 * o->n - o->bits);
    } while (model_cmp(r, o->modulus, o->n) >= 0);
}

static void print_words(const uint64_t *a, unsigned n)
{
    for (unsigned i = n; i-- > 0;) printf("%016llx", (unsigned long long)a[i]);
    printf("\n");
}

void assert_words(const field_ops *o, const char *what, const uint64_t *a, const uint64_t *b,
                  unsigned n)
{
    if (memcmp(a, b, n * sizeof *a) == 0) return;
    print_words(a, n);
    print_words(b, n);
    harness_fail("%s, table %s: %s: the first is not the second", o->name, cpu_table_name(o->table),
                 what);
}

void assert_canonical(const field_ops *o, const char *what, const uint64_t *a)
{
    if (model_cmp(a, o->modulus, o->n) < 0) return;
    print_words(a, o->n);
    harness_fail("%s, table %s: %s: not canonical", o->name, cpu_table_name(o->table), what);
}

/* ---- the model ---- */

int model_cmp(const uint64_t *a, const uint64_t *b, unsigned n)
{
    for (unsigned i = n; i-- > 0;) {
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

void model_sub(const field_ops *o, uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    uint64_t t[NMAX], borrow = 0, carry = 0;
    for (unsigned i = 0; i < o->n; i++) {
        uint64_t x = a[i] - b[i];
        uint64_t out = a[i] < b[i] || x < borrow;
        t[i] = x - borrow;
        borrow = out;
    }
    for (unsigned i = 0; i < o->n; i++) {
        uint64_t x = borrow != 0 ? o->modulus[i] : 0, y = t[i] + x, z = y + carry;
        carry = y < x || z < carry;
        r[i] = z;
    }
}

void model_add(const field_ops *o, uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    uint64_t minus_b[NMAX] = {0};
    const uint64_t zero[NMAX] = {0};
    if (model_cmp(b, zero, o->n) == 0) {
        memmove(r, a, o->n * sizeof *r);
        return;
    }
    model_sub(o, minus_b, zero, b);
    model_sub(o, r, a, minus_b);
}

void model_mod(const field_ops *o, uint64_t *r, const uint64_t *w, unsigned words)
{
    uint64_t acc[NMAX] = {0}, one[NMAX] = {1};
    for (unsigned i = 64 * words; i-- > 0;) {
        model_add(o, acc, acc, acc);
        if ((w[i / 64] >> (i % 64) & 1) != 0) model_add(o, acc, acc, one);
    }
    memcpy(r, acc, o->n * sizeof *r);
}

void model_mul(const field_ops *o, uint64_t *r, const uint64_t *a, const uint64_t *b)
{
    uint64_t acc[NMAX] = {0};
    for (unsigned i = 64 * o->n; i-- > 0;) {
        model_add(o, acc, acc, acc);
        if ((b[i / 64] >> (i % 64) & 1) != 0) model_add(o, acc, acc, a);
    }
    memcpy(r, acc, o->n * sizeof *r);
}

void model_pow2(const field_ops *o, uint64_t *r, unsigned k)
{
    uint64_t acc[NMAX] = {1};
    while (k-- > 0) model_add(o, acc, acc, acc);
    memcpy(r, acc, o->n * sizeof *r);
}

void model_shift(uint64_t *r, const uint64_t *a, unsigned n, unsigned s)
{
    uint64_t t[2 * NMAX];
    for (unsigned i = 0; i < n; i++) {
        unsigned k = i + s / 64;
        uint64_t low = k < n ? a[k] : 0, high = k + 1 < n ? a[k + 1] : 0;
        t[i] = s % 64 == 0 ? low : low >> (s % 64) | high << (64 - s % 64);
    }
    memcpy(r, t, n * sizeof *r);
}
