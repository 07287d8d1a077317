/*
 * unit/circuit/test_gadgets.c - every gadget's rows against the reference's constraint-system hash, and their witnesses
 *
 * Values: spec/filecoin-expected.md section 5 (bellpepper-core 0.2.1, rust-fil-proofs 87348a7).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "circuit/gadget/merkle.h"

/* ---- one template each ---- */

static void rows_bit(const gadget *g, unsigned n)
{
    uint32_t b[1];

    support_bits(g, b, n);
}

static void rows_and(const gadget *g, unsigned n)
{
    uint32_t b[2];

    support_bits(g, b, n);
    (void)bit_and(g, b[0], b[1]);
}

static void rows_nor(const gadget *g, unsigned n)
{
    uint32_t b[2];

    support_bits(g, b, n);
    (void)bit_nor(g, b[0], b[1]);
}

static void rows_pack(const gadget *g, unsigned n)
{
    uint32_t b[64];

    support_bits(g, b, n);
    num_pack_input(g, b, n);
}

static void rows_insert(const gadget *g, unsigned n)
{
    const insert_plan *plan = insert_plan_of(n);
    uint32_t siblings[7], node[1], b[3], out[8];

    support_numbers(g, siblings, n - 1);
    support_numbers(g, node, 1);
    support_bits(g, b, plan->index_bits);
    insert_gadget(g, plan, out, node[0], b, siblings);
}

static void rows_poseidon(const gadget *g, unsigned n)
{
    const poseidon *p = poseidon_of(support_poseidon(), n);
    uint32_t in[11];
    fr tag;

    support_numbers(g, in, n);
    poseidon_merkle_tag(p, &tag);
    (void)poseidon_gadget(g, p, in, &tag);
}

static void rows_randomness(const gadget *g, unsigned n)
{
    fr tag = support_u64(UINT64_C(1) << 40);
    uint32_t in[2];

    support_numbers(g, in, n);
    (void)poseidon_gadget(g, poseidon_of(support_poseidon(), n), in, &tag);
}

static const recipe recipes[] = {
    {{"bit_alloc", 1, 1, 1, 1, 1,
      "98d0daed948fd105b316b92d3bf903dd814f4f6d765d62d1e26c596ebd48e141"},
     rows_bit,
     1},
    {{"and", 1, 3, 3, 2, 2, "fe7ea60f0d9d43ebb809d1eea937a5e3db631ced98dd57760183d58862ce88f9"},
     rows_and,
     2},
    {{"nor", 1, 3, 3, 2, 2, "9a7ed77ccf2cd97a4ac397511b09ae98fe35264ca504189d90340096638d2893"},
     rows_nor,
     2},
    {{"pack_into_inputs(64)", 2, 64, 65, 64, 64,
      "0e7238471f4402dc32ca8354d8439889c3433f14c5130cce08f4f3a2a2b00e70"},
     rows_pack,
     64},
    {{"insert_2", 1, 5, 3, 3, 1,
      "a72021877d91846676feb988d2aefb8b83c450d1fc4f48af6d3482199dab9c8e"},
     rows_insert,
     2},
    {{"insert_4", 1, 14, 10, 10, 2,
      "f152e7ea60f71b6e2c4c057b70732119f02abe754ad3f9f92e3ac48e74c2e0ef"},
     rows_insert,
     4},
    {{"insert_8", 1, 33, 25, 23, 5,
      "bc8494df7736aefcd16c1366d6c07d246f1ba1ec52b6dd301da9d7fca4f1a208"},
     rows_insert,
     8},
    {{"poseidon arity2", 1, 313, 311, 234, 234,
      "658f013f99360e164ad8e7f96290944601cc064f93c153d9ea7ac1275927175f"},
     rows_poseidon,
     2},
    {{"poseidon arity4", 1, 381, 377, 285, 285,
      "2360602a7c4555d454b46891236273f4ae308090bc916fdcef1fb81d00ebbe70"},
     rows_poseidon,
     4},
    {{"poseidon arity8", 1, 513, 505, 384, 384,
      "ab50aeda63344f7125999ef5c4af7777380b9015ec82ad48bac2213e9353b163"},
     rows_poseidon,
     8},
    {{"poseidon arity11", 1, 609, 598, 456, 456,
      "e94a28106cbb9a718e525f0f2593ce3b138350047854ebcc3c83472ed482a6f6"},
     rows_poseidon,
     11},
    {{"poseidon arity2 gen_randomness tag", 1, 313, 311, 234, 234,
      "9675551c881122d99caf9a20a4bf87878e1863c432265a33e98e1c1a74e246a8"},
     rows_randomness,
     2},
};

static void test_each_gadget(void **state)
{
    (void)state;
    support_check_recipes(recipes, sizeof recipes / sizeof recipes[0]);
}

/* ---- inclusion ---- */

typedef struct por {
    uint32_t levels[6];
    unsigned n_levels;
    expected_system as_public, as_private; /* root an input too; not */
} por;

#define NO_PRIVATE \
    { \
        NULL, 0, 0, 0, 0, 0, NULL \
    }
static const por pors[] = {
    {{2, 2, 2, 2, 2, 2},
     6,
     {"por 2", 3, 1892, 1887, 1423, 1410,
      "e4a6b97ab322b5265befdbededdd16353db058e22cd88a9a9960f0f32efb95e9"},
     {"por 2", 2, 1892, 1886, 1423, 1410,
      "50591f837498dec42fd5f021c2ef48eaa3ab858a3aae9dbf522abae3b31d29a8"}},
    {{4, 4, 4},
     3,
     {"por 4", 3, 1172, 1164, 886, 861,
      "ec45a446c4037ab2077accf70eff6ac48a5beba219648491be3e67a3f4b0c68c"},
     {"por 4", 2, 1172, 1163, 886, 861,
      "2e0954a592b49c6cd0ce01f7a0ee913cddcc0fb964c7490bfb14a2c9511f0764"}},
    {{8, 8},
     2,
     {"por 8", 3, 1076, 1063, 815, 778,
      "3bd8cb4719e1ce8b020c078159a77bd5cf9d8eca04ed094eaca290c621f10a20"},
     {"por 8", 2, 1076, 1062, 815, 778,
      "a87d5c076c5882911c7073da19dba3a6bc1cfb7bd107afae8a18337734146519"}},
    {{8, 8, 2},
     3,
     {"por 8-2", 3, 1391, 1377, 1052, 1013,
      "a04df283d7f0ecff20e7c42f6bb497b2714c70c4124f5489e881c23e67814070"},
     NO_PRIVATE},
    {{8, 8, 8},
     3,
     {"por 8-8", 3, 1613, 1593, 1222, 1167,
      "eca5c6440650cc590e477789dbbcc685627355c9c5dc6008dcb9fc6bfb8d34b8"},
     NO_PRIVATE},
    {{8, 8, 4, 2},
     4,
     {"por 8-4-2", 3, 1781, 1764, 1347, 1300,
      "6badd752fa6a04dc492ae54080ea68de802e67510aaad087c7a83abb2158624a"},
     NO_PRIVATE},
    {{8, 8, 2, 4},
     4,
     {"por 8-2-4", 3, 1781, 1764, 1347, 1300,
      "ac74fcc017176bc18e77b5582225cf900dd5a8d3b82cd21462608906eb16baf1"},
     NO_PRIVATE},
    {{8, 8, 8, 2},
     4,
     {"por 8-8-2", 3, 1928, 1907, 1459, 1402,
      "1aaf5b3ff8221455ad5ba57746f23db956a2de780213b68d65d8ea0165607e84"},
     NO_PRIVATE},
};

/* A template of one variable, and of the row that makes its passed-in wire public. */
static uint32_t number_template(r1cs_system *sys)
{
    r1cs_builder *b = NULL;
    uint32_t tmpl;

    assert_status_ok(r1cs_builder_new(&b, sys, "number", 0));
    (void)r1cs_alloc(b);
    assert_status_ok(r1cs_builder_finish(b, &tmpl));
    r1cs_builder_free(b);
    return tmpl;
}

static uint32_t inputize_template(r1cs_system *sys)
{
    r1cs_builder *b = NULL;
    uint32_t tmpl;
    gadget g;

    assert_status_ok(r1cs_builder_new(&b, sys, "inputize", 1));
    g = gadget_of(b, support_curve());
    num_inputize(&g, r1cs_in(b, 0));
    assert_status_ok(r1cs_builder_finish(b, &tmpl));
    r1cs_builder_free(b);
    return tmpl;
}

/* The root is allocated between the index's row and the equality: so the inclusion is added by hand. */
static void add_por(r1cs_system *sys, const merkle_templates *t, bool is_public)
{
    uint32_t number = number_template(sys), inputize = inputize_template(sys);
    r1cs_wire node, root, own, index_bits[MERKLE_MAX_INDEX_BITS];
    unsigned n = 0;

    assert_status_ok(r1cs_add(sys, number, NULL, &node, NULL));
    for (unsigned l = 0; l < t->n_levels; l++) {
        assert_status_ok(r1cs_add(sys, t->path[t->levels[l]], &node, &own, NULL));
        for (unsigned k = 0; k < insert_plan_of(t->levels[l])->index_bits; k++)
            index_bits[n++] = own + k;
        node = own + sys->templates[t->path[t->levels[l]]].n_local - 1;
    }
    assert_status_ok(r1cs_add(sys, t->index, index_bits, NULL, NULL));
    assert_status_ok(r1cs_add(sys, number, NULL, &root, NULL));
    assert_status_ok(r1cs_add(sys, t->root, (const r1cs_wire[]){node, root}, NULL, NULL));
    if (is_public) assert_status_ok(r1cs_add(sys, inputize, &root, NULL, NULL));
}

static void check_por(const por *p, const expected_system *want, bool is_public)
{
    mem *m = support_mem();
    r1cs_system *sys = NULL;
    merkle_templates t;

    assert_status_ok(r1cs_new(&sys, support_curve(), want->name, m));
    assert_status_ok(merkle_templates_add(&t, sys, support_poseidon(), p->levels, p->n_levels));
    add_por(sys, &t, is_public);
    assert_status_ok(r1cs_finish(sys));
    support_check_system(sys, want);
    r1cs_free(sys);
    support_close(m);
}

static void test_inclusion(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pors / sizeof pors[0]; i++) {
        check_por(&pors[i], &pors[i].as_public, true);
        if (pors[i].as_private.name != NULL) check_por(&pors[i], &pors[i].as_private, false);
    }
}

static void test_levels_that_no_tree_has(void **state)
{
    static const uint32_t odd[] = {8, 3}, wide[] = {16};
    uint32_t many[MERKLE_MAX_LEVELS + 1] = {0};
    mem *m = support_mem();
    r1cs_system *sys = NULL;
    merkle_templates t;

    (void)state;
    assert_status_ok(r1cs_new(&sys, support_curve(), "odd", m));
    assert_status_is(merkle_templates_add(&t, sys, support_poseidon(), odd, 2), CUZK_EINVAL);
    assert_error_mentions("arity 3");
    assert_status_is(merkle_templates_add(&t, sys, support_poseidon(), wide, 1), CUZK_EINVAL);
    assert_status_is(merkle_templates_add(&t, sys, support_poseidon(), odd, 0), CUZK_EINVAL);
    assert_status_is(merkle_templates_add(&t, sys, support_poseidon(), many, MERKLE_MAX_LEVELS + 1),
                     CUZK_EINVAL);
    r1cs_free(sys);
    support_close(m);
}

/* ---- witnesses ---- */

/* insert_values puts the node at every index, and its bits are those of the rows. */
static void test_insert_values(void **state)
{
    static const uint32_t sizes[] = {2, 4, 8};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const insert_plan *plan = insert_plan_of(sizes[i]);

        for (unsigned index = 0; index < sizes[i]; index++) {
            fr node, siblings[7], picks[INSERT_MAX_PICKS];

            support_random_fr(&node);
            for (unsigned k = 0; k + 1 < sizes[i]; k++) support_random_fr(&siblings[k]);
            insert_values(plan, picks, &node, siblings, index);
            for (unsigned k = 0; k < sizes[i]; k++) {
                const fr *want = k == index ? &node : &siblings[k < index ? k : k - 1];

                assert_bytes_equal(&picks[plan->result[k]], want, sizeof *want);
            }
            assert_int_equal(insert_bits(plan, index) & (sizes[i] - 1), index);
        }
    }
    assert_null(insert_plan_of(16));
    assert_null(insert_plan_of(0));
}

/* A template whose passed-in wires are given values by "number" instances; the Poseidon trace satisfies its rows, and
   any other value in it does not. */
static void test_poseidon_rows_accept_the_trace_alone(void **state)
{
    static const unsigned arities[] = {2, 4, 8, 11};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const poseidon *p = poseidon_of(support_poseidon(), arities[i]);
        mem *m = support_mem();
        r1cs_system *sys = support_system_of("poseidon", rows_poseidon, arities[i], m);
        r1cs_assignment *w = NULL;
        r1cs_fault fault;
        uint32_t n = poseidon_trace_len(p);
        fr tag;

        assert_status_ok(r1cs_assignment_new(&w, sys, m));
        assert_int_equal(sys->n_elem, arities[i] + n);

        for (unsigned k = 0; k < arities[i]; k++) support_random_fr(&w->elems[k]);
        poseidon_merkle_tag(p, &tag);
        poseidon_trace(p, w->elems + arities[i], w->elems, &tag);
        assert_status_ok(r1cs_check(sys, w, NULL, NULL, &fault));
        assert_false(fault.found);
        for (size_t round = 0; round < harness_iters(20); round++) {
            fr *x = &w->elems[harness_random_below(arities[i] + n)], was = *x;

            support_random_fr(x);
            assert_status_ok(r1cs_check(sys, w, NULL, NULL, &fault));
            assert_true(fault.found);
            assert_string_equal(fault.tmpl, "poseidon");
            *x = was;
        }
        r1cs_assignment_free(w);
        r1cs_free(sys);
        support_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_gadget),
        cmocka_unit_test(test_inclusion),
        cmocka_unit_test(test_levels_that_no_tree_has),
        cmocka_unit_test(test_insert_values),
        cmocka_unit_test(test_poseidon_rows_accept_the_trace_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
