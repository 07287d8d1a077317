/*
 * unit/circuit/test_sha256_node.c - nodes of trees of SHA-256: rows against the reference's hashes, values against the rows
 *
 * Values: spec/filecoin-expected.md section 5 (bellpepper-core 0.2.1, rust-fil-proofs 87348a7).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "circuit/gadget/merkle.h"
#include "circuit/gadget/sha256_node.h"

static void test_pair(void **state)
{
    static const expected_system want = {
        "sha256 hash2",
        1,
        45333,
        45379,
        45330,
        11498,
        "17fd4b5ddd5b8fe8759308f1b1b019e3a9e00d179d227b5e64580e48a233b91e"};
    mem *m = support_mem();
    r1cs_system *sys = support_system_new("pair", m);
    r1cs_assignment *w = NULL;
    r1cs_wire in[2], first, result;
    uint8_t left[32], right[32], out[32], plain[32];
    uint32_t tmpl;
    fr node, value;

    (void)state;
    for (unsigned i = 0; i < 2; i++) in[i] = support_add_own(sys, support_rows_number, 1);
    assert_status_ok(sha256_node_template(&tmpl, sys, SHA256_NODE_PAIR));
    assert_status_ok(r1cs_add(sys, tmpl, in, &first, NULL));
    result = sha256_node_result(sys, tmpl, first);
    assert_status_ok(r1cs_finish(sys));
    support_check_system(sys, &want);

    assert_status_ok(r1cs_assignment_new(&w, sys, m));
    support_random_node(left);
    support_random_node(right);
    w->elems[0] = support_fr_of(left);
    w->elems[1] = support_fr_of(right);
    sha256_node_values(w, &sys->instances[2], out, left, right, 0);
    support_holds(sys, w);
    support_bits_matter(sys, w);
    sha256_node_hash(plain, left, right);
    assert_bytes_equal(out, plain, 32);
    r1cs_get(w, result, &value);
    node = support_fr_of(out);
    assert_bytes_equal(&value, &node, sizeof node);
    r1cs_assignment_free(w);
    r1cs_free(sys);
    support_close(m);
}

/* A step whose bit and sibling are somebody else's: both places, and the result of one the next one's node. */
static void test_step(void **state)
{
    mem *m = support_mem();
    r1cs_system *sys = support_system_new("step", m);
    r1cs_assignment *w = NULL;
    r1cs_wire bits, node, sibling, first;
    uint8_t at[32], other[32], want[32];
    uint32_t tmpl;

    (void)state;
    bits = support_add_own(sys, support_rows_bits, 2);
    node = support_add_own(sys, support_rows_number, 1);
    sibling = support_add_own(sys, support_rows_number, 1);
    assert_status_ok(sha256_node_template(&tmpl, sys, SHA256_NODE_STEP));
    for (unsigned i = 0; i < 2; i++) {
        assert_status_ok(
            r1cs_add(sys, tmpl, (const r1cs_wire[]){node, bits + i, sibling}, &first, NULL));
        node = sha256_node_result(sys, tmpl, first);
    }
    assert_status_ok(r1cs_finish(sys));
    assert_status_ok(r1cs_assignment_new(&w, sys, m));
    support_random_node(at);
    support_random_node(other);
    w->elems[0] = support_fr_of(at);
    w->elems[1] = support_fr_of(other);
    w->bits[0] |= 2; /* the second index bit */
    sha256_node_hash(want, at, other);
    sha256_node_values(w, &sys->instances[3], at, at, other, 0);
    assert_bytes_equal(at, want, 32);
    sha256_node_hash(want, other, at);
    sha256_node_values(w, &sys->instances[4], at, at, other, 1);
    assert_bytes_equal(at, want, 32);
    support_holds(sys, w);
    r1cs_assignment_free(w);
    r1cs_free(sys);
    support_close(m);
}

static void rows_root_is_input(const gadget *g, unsigned n)
{
    for (unsigned i = 0; i < n; i++) num_inputize(g, r1cs_in(g->b, i));
}

static r1cs_system *inclusion_system(mem *m)
{
    static const uint32_t levels[] = {8, 8};
    r1cs_system *sys = support_system_new("por", m);
    r1cs_wire node, root, own, index_bits[MERKLE_MAX_INDEX_BITS];
    merkle_templates poseidon_tree, t;
    r1cs_builder *b = NULL;
    uint32_t public_root;
    gadget g;

    assert_status_ok(merkle_templates_add(&poseidon_tree, sys, support_poseidon(), levels, 2));
    assert_status_ok(merkle_sha256_templates_add(&t, sys, &poseidon_tree));
    assert_int_equal(t.n_levels, 6);
    node = support_add_own(sys, support_rows_number, 1);
    for (unsigned l = 0; l < t.n_levels; l++) {
        assert_status_ok(r1cs_add(sys, t.path[2], &node, &own, NULL));
        index_bits[l] = own;
        node = own + sys->templates[t.path[2]].n_local - 1;
    }
    assert_status_ok(r1cs_add(sys, t.index, index_bits, NULL, NULL));
    root = support_add_own(sys, support_rows_number, 1);
    assert_status_ok(r1cs_add(sys, t.root, (const r1cs_wire[]){node, root}, NULL, NULL));
    assert_status_ok(r1cs_builder_new(&b, sys, "public root", 1));
    g = gadget_of(b, support_curve());
    rows_root_is_input(&g, 1);
    assert_status_ok(r1cs_builder_finish(b, &public_root));
    r1cs_builder_free(b);
    assert_status_ok(r1cs_add(sys, public_root, &root, NULL, NULL));
    assert_status_ok(r1cs_finish(sys));
    return sys;
}

static void test_inclusion(void **state)
{
    static const expected_system want = {
        "por sha256 2",
        3,
        272012,
        272295,
        271999,
        68994,
        "06101b213e985a06aa97367fb756d504912d2edfa7169fe7390f3563e2b7bdbf"};
    mem *m = support_mem();
    r1cs_system *sys = inclusion_system(m);
    r1cs_assignment *w = NULL;
    uint8_t node[32];
    unsigned index = (unsigned)harness_random_below(64);

    (void)state;
    support_check_system(sys, &want);
    assert_status_ok(r1cs_assignment_new(&w, sys, m));
    support_random_node(node);
    w->elems[0] = support_fr_of(node);
    for (unsigned l = 0; l < 6; l++) {
        uint8_t sibling[32];

        support_random_node(sibling);
        sha256_node_values(w, &sys->instances[1 + l], node, node, sibling, index >> l & 1);
    }
    w->elems[sys->n_elem - 1] = support_fr_of(node);
    w->inputs[1] = support_u64(index);
    w->inputs[2] = support_fr_of(node);
    support_holds(sys, w);
    r1cs_assignment_free(w);
    r1cs_free(sys);
    support_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_inclusion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
