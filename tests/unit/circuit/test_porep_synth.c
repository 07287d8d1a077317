/*
 * unit/circuit/test_porep_synth.c - assignments of small PoReps equal the reference's; damaged outputs are refused with their place
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "porep_case.h"

#include <inttypes.h>

static const porep_case v1_1 = {"2kib/porep-v1_1", 2048, 2};

static void test_2_kib(void **state)
{
    (void)state;
    porep_case_check(&v1_1, NULL);
}

/* Several threads write what one does. */
static void test_threads(void **state)
{
    mem *m = support_mem();
    porep_c1 *c1 = porep_case_read(&v1_1, m);
    r1cs_system *sys = porep_case_system(&v1_1, m);
    size_t words = (sys->n_aux - sys->n_elem + 63) / 64;
    porep_run run = porep_case_run(NULL, m);
    r1cs_assignment *alone = NULL, *w = NULL;
    pool *p = NULL;

    (void)state;
    assert_status_ok(porep_synthesize(&alone, sys, c1, 0, &run));
    assert_status_ok(pool_open(&p, 4, NULL));
    run.p = p;
    for (size_t round = 0; round < harness_iters(3); round++) {
        assert_status_ok(porep_synthesize(&w, sys, c1, 0, &run));
        assert_bytes_equal(w->inputs, alone->inputs, sys->n_inputs * sizeof *w->inputs);
        assert_bytes_equal(w->elems, alone->elems, sys->n_elem * sizeof *w->elems);
        assert_bytes_equal(w->bits, alone->bits, words * sizeof *w->bits);
        r1cs_assignment_free(w);
    }
    pool_close(p);
    r1cs_assignment_free(alone);
    r1cs_free(sys);
    porep_c1_free(c1);
    support_close(m);
}

/* ---- damage ---- */

enum { HASH, NUMBER };

/* One bit of a hash, or a number made another; where it is said to be. */
typedef struct damage {
    const char *name;
    cuzk_class class;
    int kind;
    uint32_t challenge;
    uint32_t (*at)(const porep_layout *l);
    const char *where;
} damage;

static uint32_t drg_row(const porep_layout *l)
{
    return l->columns[1 + 3].rows;
}

static uint32_t exp_sibling(const porep_layout *l)
{
    return l->columns[1 + POREP_DRG_PARENTS + 7].path.siblings + 9;
}

static uint32_t exp_index(const porep_layout *l)
{
    return l->columns[1 + POREP_DRG_PARENTS + 2].path.indices + 1;
}

static uint32_t data_leaf(const porep_layout *l)
{
    return l->d.leaf;
}

static uint32_t data_sibling(const porep_layout *l)
{
    return l->d.siblings + l->d_levels - 1;
}

static uint32_t data_index(const porep_layout *l)
{
    return l->d.indices;
}

static uint32_t replica_sibling(const porep_layout *l)
{
    return l->r.siblings;
}

static uint32_t replica_index(const porep_layout *l)
{
    return l->r.indices;
}

static uint32_t replica_root(const porep_layout *l)
{
    return l->r.root;
}

static uint32_t own_sibling(const porep_layout *l)
{
    return l->columns[0].path.siblings + 13;
}

static uint32_t own_index(const porep_layout *l)
{
    return l->columns[0].path.indices;
}

static uint32_t own_root(const porep_layout *l)
{
    return l->columns[0].path.root;
}

static uint32_t first_node(const porep_layout *l)
{
    return l->nodes + 1;
}

static uint32_t first_layer(const porep_layout *l)
{
    return l->nodes;
}

static uint32_t second_node(const porep_layout *l)
{
    return l->nodes + 3;
}

static uint32_t encoding_node(const porep_layout *l)
{
    return l->nodes + 2 * l->layers + 1;
}

static uint32_t first_parent(const porep_layout *l)
{
    return l->labels + 4;
}

static uint32_t second_parent(const porep_layout *l)
{
    return l->labels + POREP_PARENTS + 36;
}

static uint32_t encoding_parent(const porep_layout *l)
{
    return l->labels + l->layers * POREP_PARENTS;
}

static uint32_t own_row(const porep_layout *l)
{
    return l->columns[0].rows;
}

static uint32_t own_column_index(const porep_layout *l)
{
    return l->columns[0].index;
}

static uint32_t own_leaf(const porep_layout *l)
{
    return l->columns[0].path.leaf;
}

static uint32_t drg_column_index(const porep_layout *l)
{
    return l->columns[1 + 5].index;
}

static uint32_t exp_leaf(const porep_layout *l)
{
    return l->columns[1 + POREP_DRG_PARENTS].path.leaf;
}

static uint32_t exp_root(const porep_layout *l)
{
    return l->columns[1 + POREP_DRG_PARENTS].path.root;
}

static uint32_t data_root(const porep_layout *l)
{
    return l->d.root;
}

static uint32_t replica_leaf(const porep_layout *l)
{
    return l->r.leaf;
}

#define BAD CUZK_CLASS_INCONSISTENT
#define COPY CUZK_CLASS_REDUNDANT
static const damage damages[] = {
    {"row of a drg parent", BAD, HASH, 1, drg_row, "partition 0, challenge 1, drg parent 3"},
    {"sibling of an exp parent", BAD, HASH, 0, exp_sibling,
     "partition 0, challenge 0, exp parent 7"},
    {"index of an exp parent", BAD, NUMBER, 0, exp_index, "partition 0, challenge 0, exp parent 2"},
    {"data leaf", BAD, HASH, 1, data_leaf, "partition 0, challenge 1, comm_d path"},
    {"data sibling", BAD, HASH, 0, data_sibling, "partition 0, challenge 0, comm_d path"},
    {"data index", BAD, NUMBER, 0, data_index, "partition 0, challenge 0, comm_d path"},
    {"replica sibling", BAD, HASH, 0, replica_sibling,
     "partition 0, challenge 0, comm_r_last path"},
    {"replica index", BAD, NUMBER, 0, replica_index, "partition 0, challenge 0, comm_r_last path"},
    {"replica root", BAD, HASH, 1, replica_root, "partition 0, challenge 1, comm_r_last"},
    {"first replica root", BAD, HASH, 0, replica_root, "partition 0"},
    {"own sibling", BAD, HASH, 1, own_sibling, "partition 0, challenge 1, column"},
    {"own index", BAD, NUMBER, 1, own_index, "partition 0, challenge 1, column"},
    {"own root", BAD, HASH, 1, own_root, "partition 0, challenge 1, comm_c"},
    {"first own root", BAD, HASH, 0, own_root, "partition 0"},
    {"node", BAD, NUMBER, 0, first_node, "partition 0, challenge 0, node"},
    {"layer", COPY, NUMBER, 0, first_layer, "partition 0, challenge 0, layer 1 label"},
    {"second node", COPY, NUMBER, 1, second_node, "partition 0, challenge 1, layer 2 label"},
    {"encoding node", COPY, NUMBER, 1, encoding_node, "partition 0, challenge 1, encoding proof"},
    {"parent", COPY, HASH, 0, first_parent, "partition 0, challenge 0, layer 1 label"},
    {"parent of layer 2", COPY, HASH, 1, second_parent, "partition 0, challenge 1, layer 2 label"},
    {"encoding parent", COPY, HASH, 1, encoding_parent, "partition 0, challenge 1, encoding proof"},
    {"own row", COPY, HASH, 0, own_row, "partition 0, challenge 0, column"},
    {"own column index", COPY, NUMBER, 0, own_column_index,
     "partition 0, challenge 0, column index"},
    {"own leaf", COPY, HASH, 1, own_leaf, "partition 0, challenge 1, column"},
    {"drg column index", COPY, NUMBER, 0, drg_column_index,
     "partition 0, challenge 0, drg parent 5 index"},
    {"exp leaf", COPY, HASH, 0, exp_leaf, "partition 0, challenge 0, exp parent 0"},
    {"exp root", COPY, HASH, 0, exp_root, "partition 0, challenge 0, exp parent 0"},
    {"data root", COPY, HASH, 1, data_root, "partition 0, challenge 1, comm_d path"},
    {"replica leaf", COPY, HASH, 1, replica_leaf, "partition 0, challenge 1, comm_r_last path"},
};

/* Does the damage, or undoes it. */
static void turn(const porep_c1 *c1, const damage *d)
{
    uint32_t at = d->at(&c1->layout);

    if (d->kind == HASH) {
        uint8_t *hash = c1->hashes[d->challenge * c1->layout.n_hashes + at];

        hash[5] ^= 4;
    } else {
        c1->numbers[d->challenge * c1->layout.n_numbers + at] ^= 1;
    }
}

static void assert_refused(cuzk_status st, const damage *d)
{
    assert_status_is(st, CUZK_EDATA);
    assert_error_class(d->class);
    assert_string_equal(cuzk_last_error()->where, d->where);
}

/* What a warning said. */
typedef struct heard {
    unsigned n;
    char where[128];
} heard;

static void hear(void *ctx, cuzk_class class, const char *where, const char *message)
{
    heard *h = ctx;

    assert_int_equal(class, CUZK_CLASS_REDUNDANT);
    assert_true(message[0] != '\0');
    (void)snprintf(h->where, sizeof h->where, "%s", where);
    h->n++;
}

/* One damage at a time: refused, or with a redundant one warned of and strictly refused; with the assignment too. */
static void test_damage(void **state)
{
    mem *m = support_mem();
    porep_c1 *c1 = porep_case_read(&v1_1, m);
    r1cs_system *sys = porep_case_system(&v1_1, m);

    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const damage *d = &damages[i];
        heard h = {0};
        const fil_redundant lenient = {.warn = hear, .ctx = &h};
        porep_run run = porep_case_run(NULL, m);
        r1cs_assignment *w = NULL;

        (void)printf("%s\n", d->name);
        turn(c1, d);
        assert_refused(porep_c1_check(c1, 0, &run), d);
        run.redundant = &lenient;
        if (d->class == COPY) {
            assert_status_ok(porep_c1_check(c1, 0, &run));
            assert_int_equal(h.n, 1);
            assert_string_equal(h.where, d->where);
            run.redundant = NULL;
            assert_status_ok(porep_c1_check(c1, 0, &run));
        } else {
            assert_refused(porep_c1_check(c1, 0, &run), d);
            assert_refused(porep_synthesize(&w, sys, c1, 0, &run), d);
            assert_null(w);
            assert_int_equal(h.n, 0);
        }
        turn(c1, d);
    }
    r1cs_free(sys);
    porep_c1_free(c1);
    support_close(m);
}

/* ---- misuse, faults, cancelling ---- */

static void test_other_systems_and_partitions(void **state)
{
    static const porep_case other = {"other", 4096, 2};
    mem *m = support_mem();
    porep_c1 *c1 = porep_case_read(&v1_1, m);
    r1cs_system *sys = porep_case_system(&other, m);
    porep_run run = porep_case_run(NULL, m);
    r1cs_assignment *w = NULL;

    (void)state;
    assert_status_is(porep_synthesize(&w, sys, c1, 0, &run), CUZK_EINVAL);
    assert_status_is(porep_synthesize(&w, sys, c1, 1, &run), CUZK_EINVAL);
    assert_status_is(porep_c1_check(c1, 1, &run), CUZK_EINVAL);
    r1cs_free(sys);
    porep_c1_free(c1);
    support_close(m);
}

static void test_every_failing_allocation(void **state)
{
    mem *m = support_mem();
    porep_c1 *c1 = porep_case_read(&v1_1, m);
    r1cs_system *sys = porep_case_system(&v1_1, m);

    (void)state;
    for (unsigned long k = 1;; k++) {
        mem *low = support_mem();
        porep_run run = porep_case_run(NULL, low);
        r1cs_assignment *w = NULL;
        cuzk_status st;

        mem_inject_fault(low, k);
        st = porep_synthesize(&w, sys, c1, 0, &run);
        if (!mem_fault_hit(low)) {
            assert_status_ok(st);
            r1cs_assignment_free(w);
            support_close(low);
            assert_true(k > 5);
            break;
        }
        assert_status_is(st, CUZK_ENOMEM);
        assert_null(w);
        support_close(low);
    }
    r1cs_free(sys);
    porep_c1_free(c1);
    support_close(m);
}

static void test_cancel(void **state)
{
    mem *m = support_mem();
    porep_c1 *c1 = porep_case_read(&v1_1, m);
    porep_run run = porep_case_run(NULL, m);
    cancel *stop = NULL;

    (void)state;
    assert_status_ok(cancel_new(&stop));
    cancel_request(stop);
    run.stop = stop;
    assert_status_is(porep_c1_check(c1, 0, &run), CUZK_ECANCELLED);
    cancel_free(stop);
    porep_c1_free(c1);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_2_kib),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_other_systems_and_partitions),
        cmocka_unit_test(test_every_failing_allocation),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
