/*
 * r1cs/terms.c - linear combinations as sorted keys
 *
 * Rows come nearly sorted, so an insertion sort that may make a few moves a key does them all; one
 * that asks for more (a file can hold any order) falls to a heap sort.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/terms.h"

#define MOVES_PER_KEY 8

static void sift_down(uint64_t *a, size_t root, size_t n)
{
    uint64_t x = a[root];
    size_t child;

    while ((child = 2 * root + 1) < n) {
        if (child + 1 < n && a[child] < a[child + 1]) child++;
        if (a[child] <= x) break;
        a[root] = a[child];
        root = child;
    }
    a[root] = x;
}

static void heap_sort(uint64_t *a, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift_down(a, i, n);
    for (size_t end = n; end-- > 1;) {
        uint64_t x = a[0];

        a[0] = a[end];
        a[end] = x;
        sift_down(a, 0, end);
    }
}

/* false: gave up, with the keys still a permutation of what they were. */
static bool insertion_sort(uint64_t *a, size_t n)
{
    size_t left = MOVES_PER_KEY * n;

    for (size_t i = 1; i < n; i++) {
        uint64_t x = a[i];
        size_t j = i;

        while (j > 0 && a[j - 1] > x) {
            a[j] = a[j - 1];
            j--;
        }
        a[j] = x;
        if (i - j > left) return false;
        left -= i - j;
    }
    return true;
}

bool terms_sort(uint64_t *keys, size_t n)
{
    if (!insertion_sort(keys, n)) heap_sort(keys, n);
    for (size_t i = 1; i < n; i++) {
        if (keys[i] >> 32 == keys[i - 1] >> 32) return true;
    }
    return false;
}

static bool is_zero(const fr *a)
{
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}

bool terms_next(term *t, const curve *cv, const fr *k, const uint64_t *keys, size_t n, size_t *pos)
{
    while (*pos < n) {
        uint64_t key = keys[(*pos)++];

        t->wire = (uint32_t)(key >> 32);
        t->coeff = (uint32_t)key;
        t->k = &k[t->coeff];
        if (*pos < n && keys[*pos] >> 32 == t->wire) {
            t->sum = *t->k;
            for (; *pos < n && keys[*pos] >> 32 == t->wire; (*pos)++) {
                cv->fr_add(&t->sum, &t->sum, &k[(uint32_t)keys[*pos]]);
            }
            t->coeff = TERM_SUM;
            t->k = &t->sum;
        }
        if (!is_zero(t->k)) return true;
    }
    return false;
}

void terms_row(uint64_t *keys, const r1cs_system *sys, const r1cs_instance *inst,
               const r1cs_matrix *x, uint32_t row)
{
    const r1cs_template *t = &sys->templates[inst->tmpl];
    size_t n = 0;

    for (size_t i = x->row_start[row]; i < x->row_start[row + 1]; i++) {
        keys[n++] = (uint64_t)terms_global(sys, t, inst, x->wire[i]) << 32 | x->coeff[i];
    }
}

size_t terms_longest_row(const r1cs_system *sys)
{
    size_t longest = 0;

    for (size_t k = 0; k < sys->n_templates; k++) {
        const r1cs_template *t = &sys->templates[k];
        const r1cs_matrix *x[3] = {&t->a, &t->b, &t->c};

        for (size_t j = 0; j < 3; j++) {
            for (uint32_t row = 0; x[j]->row_start != NULL && row < t->n_rows; row++) {
                size_t n = terms_row_len(x[j], row);

                if (n > longest) longest = n;
            }
        }
    }
    return longest;
}
