/*
 * unit/base/test_mem.c - budgets, their limits and parents, faults, arenas
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <pthread.h>

#include "base/mem.h"

#define MIB ((size_t)1 << 20)

static mem *open_mem(const char *name, size_t limit, mem *parent)
{
    mem *m = NULL;

    assert_status_ok(mem_open(&m, name, limit, parent));
    return m;
}

static uint8_t *take(mem *m, size_t n, size_t size)
{
    cuzk_status st = CUZK_EBUG;
    uint8_t *p = mem_new(m, n, size, &st);

    assert_status_ok(st);
    assert_non_null(p);
    return p;
}

static void test_zeroed_and_aligned(void **state)
{
    static const size_t sizes[] = {0,           1,       63,          64,          65,
                                   4095,        4096,    MIB,         2 * MIB - 1, 2 * MIB,
                                   2 * MIB + 1, 5 * MIB, 8 * MIB + 17};
    mem *m = open_mem("t", 0, NULL);

    (void)state;
    for (size_t round = 0; round < 2;
         round++) { /* the second time the memory has been used before */
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            size_t size = sizes[i];
            uint8_t *p = take(m, 1, size);

            assert_int_equal((uintptr_t)p % 64, 0);
            assert_int_equal(mem_used(m), mem_cost(size));
            for (size_t k = 0; k < size; k++)
                if (p[k] != 0) harness_fail("size %zu: byte %zu is not 0", size, k);
            memset(p, 0xa5, size);
            mem_free(m, p);
            assert_int_equal(mem_used(m), 0);
        }
    }
    mem_close(m);
}

static void test_cost_covers_size(void **state)
{
    static const size_t sizes[] = {0, 1, 64, 65, 2 * MIB - 1, 2 * MIB, 3 * MIB + 1};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_true(mem_cost(sizes[i]) > sizes[i]);
        assert_true(mem_cost(sizes[i]) <= sizes[i] + 8192);
    }
    assert_true(mem_cost(SIZE_MAX) == SIZE_MAX);
}

static void test_limit(void **state)
{
    size_t cost = mem_cost(1000);
    mem *m = open_mem("small", 2 * cost, NULL);
    cuzk_status st = CUZK_OK;
    uint8_t *a = take(m, 10, 100), *b = take(m, 1, 1000);

    (void)state;
    assert_null(mem_new(m, 1, 1, &st));
    assert_status_is(st, CUZK_EBUDGET);
    assert_error_class(CUZK_CLASS_RESOURCE);
    assert_error_mentions("small");
    assert_int_equal(mem_used(m), 2 * cost);
    mem_free(m, a);
    a = take(m, 1, 1000);
    mem_free(m, a);
    mem_free(m, b);
    assert_null(mem_new(m, 1, 1 << 20, &st));
    assert_status_is(st, CUZK_EBUDGET);
    assert_int_equal(mem_used(m), 0);
    assert_int_equal(mem_peak(m), 2 * cost);
    mem_reset_peak(m);
    assert_int_equal(mem_peak(m), 0);
    mem_close(m);
}

static void test_sizes_that_overflow(void **state)
{
    mem *m = open_mem("t", 0, NULL);
    cuzk_status st = CUZK_OK;

    (void)state;
    assert_null(mem_new(m, SIZE_MAX, 2, &st));
    assert_status_is(st, CUZK_ENOMEM);
    st = CUZK_OK;
    assert_null(mem_new(m, SIZE_MAX / 2 + 1, 2, &st)); /* the product is 0 modulo 2^64 */
    assert_status_is(st, CUZK_ENOMEM);
    st = CUZK_OK;
    assert_null(mem_new(m, 1, SIZE_MAX, &st));
    assert_status_is(st, CUZK_ENOMEM);
    st = CUZK_OK;
    assert_null(mem_new(m, 1, SIZE_MAX / 8, &st)); /* more than the address space */
    assert_status_is(st, CUZK_ENOMEM);
    assert_int_equal(mem_used(m), 0);
    mem_close(m);
}

static void test_parent_is_charged(void **state)
{
    size_t cost = mem_cost(4096);
    mem *root = open_mem("root", 3 * cost, NULL);
    mem *a = open_mem("a", 0, root), *b = open_mem("b", 2 * cost, a);
    cuzk_status st = CUZK_OK;
    uint8_t *p = take(a, 1, 4096), *q = take(b, 1, 4096), *r;

    (void)state;
    assert_int_equal(mem_used(b), cost);
    assert_int_equal(mem_used(a), 2 * cost);
    assert_int_equal(mem_used(root), 2 * cost);
    /* b and a have room, root has not: nothing stays charged */
    r = take(root, 1, 4096);
    assert_null(mem_new(b, 1, 4096, &st));
    assert_status_is(st, CUZK_EBUDGET);
    assert_error_mentions("root");
    assert_int_equal(mem_used(b), cost);
    assert_int_equal(mem_used(a), 2 * cost);
    assert_int_equal(mem_peak(root), 3 * cost);
    mem_free(root, r);
    mem_free(b, q);
    mem_free(a, p);
    assert_int_equal(mem_used(root), 0);
    assert_int_equal(mem_peak(b), cost);
    mem_close(b);
    mem_close(a);
    mem_close(root);
}

static void test_fault_fires_once_at_k(void **state)
{
    mem *root = open_mem("root", 0, NULL), *m = open_mem("below", 0, root);

    (void)state;
    for (unsigned long k = 1; k <= 4; k++) {
        void *p[5];
        cuzk_status st = CUZK_OK;

        mem_inject_fault(root, k);
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(mem_fault_hit(root), i >= k);
            p[i] = mem_new(i % 2 == 0 ? m : root, 1, 8, &st);
            if (i + 1 == k) {
                assert_null(p[i]);
                assert_status_is(st, CUZK_ENOMEM);
            } else {
                assert_non_null(p[i]);
            }
        }
        for (size_t i = 0; i < 5; i++) mem_free(i % 2 == 0 ? m : root, p[i]);
        assert_int_equal(mem_used(root), 0);
    }
    mem_inject_fault(root, 1);
    assert_false(mem_fault_hit(root));
    mem_inject_fault(root, 0);
    mem_free(m, take(m, 1, 1));
    assert_false(mem_fault_hit(root));
    mem_close(m);
    mem_close(root);
}

static void test_free_of_null(void **state)
{
    mem *m = open_mem("t", 0, NULL);

    (void)state;
    mem_free(m, NULL);
    mem_close(m);
    mem_close(NULL);
}

typedef struct hammer {
    mem *m;
    size_t refused;
} hammer;

static void *hammer_main(void *arg)
{
    hammer *h = arg;

    for (size_t i = 0; i < 2000; i++) {
        cuzk_status st = CUZK_OK;
        void *p = mem_new(h->m, 1, 1000 + i % 7 * 64, &st);

        if (p == NULL) h->refused++;
        mem_free(h->m, p);
    }
    return NULL;
}

/* Four threads, room for two blocks: whatever they do, the limit holds and all comes back. */
static void test_threads(void **state)
{
    size_t limit = 2 * mem_cost(1000);
    mem *root = open_mem("root", limit, NULL), *m = open_mem("m", 0, root);
    pthread_t t[4];
    hammer h[4];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        h[i] = (hammer){m, 0};
        assert_int_equal(pthread_create(&t[i], NULL, hammer_main, &h[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) assert_int_equal(pthread_join(t[i], NULL), 0);
    assert_int_equal(mem_used(m), 0);
    assert_int_equal(mem_used(root), 0);
    assert_true(mem_peak(root) <= limit);
    assert_true(mem_peak(root) >= mem_cost(1000));
    mem_close(m);
    mem_close(root);
}

static void test_arena(void **state)
{
    mem *m = open_mem("t", 0, NULL);
    arena a;
    uint8_t *p, *q;

    (void)state;
    assert_status_ok(arena_init(&a, m, 256));
    p = arena_take(&a, 1);
    q = arena_take(&a, 64);
    assert_int_equal((uintptr_t)p % 64, 0);
    assert_int_equal(q - p, 64);
    for (size_t i = 0; i < 64; i++) assert_int_equal(q[i], 0);
    assert_null(arena_take(&a, 129));
    assert_null(arena_take(&a, SIZE_MAX));
    assert_non_null(arena_take(&a, 128));
    assert_non_null(arena_take(&a, 0));
    assert_null(arena_take(&a, 1));
    arena_clear(&a);
    assert_int_equal(mem_used(m), 0);
    arena_clear(&a);

    assert_status_ok(arena_init(&a, m, 0));
    assert_null(arena_take(&a, 1));
    arena_clear(&a);

    mem_inject_fault(m, 1);
    assert_status_is(arena_init(&a, m, 256), CUZK_ENOMEM);
    assert_null(arena_take(&a, 1));
    arena_clear(&a);
    mem_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed_and_aligned),
        cmocka_unit_test(test_cost_covers_size),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_sizes_that_overflow),
        cmocka_unit_test(test_parent_is_charged),
        cmocka_unit_test(test_fault_fires_once_at_k),
        cmocka_unit_test(test_free_of_null),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_arena),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
