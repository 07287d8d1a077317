/*
 * unit/circuit/test_poseidon.c - constants, hashes and traces against published values
 *
 * Values: spec/filecoin-expected.md sections 1 and 6 (neptune 11.0.0; curio's lib/proof/post_vproof_test.go).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "base/hash.h"
#include "circuit/poseidon_impl.h"

typedef struct expected_constants {
    unsigned arity;
    uint32_t n_rc, n_keys, trace_len;
    const char *tag, *hash; /* H(0, 1, .., arity - 1) under the Merkle tag */
    const char *first_rc, *last_rc, *first_key, *tag_post_key, *last_key;
    const char *rc_digest, *keys_digest, *pre_sparse_digest, *sparse_digest; /* BLAKE2s */
} expected_constants;

static const expected_constants expected[] = {
    {2, 189, 79, 311, "0000000000000000000000000000000000000000000000000000000000000003",
     "396508d75e76a56b739e0fd902efe161a6fba9339d05a69d2e203c369a02e7ff",
     "669f064bfa3ae17a23bd51861dbb4a24501eac92a2758b36a7320a009d6ed3d8",
     "60dfbfa5d5dd06351a917a05466e5884ed12e38ec24d5bb80be0abe065395e5c",
     "669f064bfa3ae17a23bd51861dbb4a24501eac92a2758b36a7320a009d6ed3d8",
     "0bfc421d38531805382624c9d2d2d02b1f2f5590316c401b2f5f56ca2f12a0d1",
     "1c84e3e9450113a4b5489decd8dcc8b25f057797f37899354931a0eea88d7d5d",
     "e64f39845b8161b7a9eca5e84d4c771683a2107140741872bb32295350957d89",
     "cdd104969c31097e956039d1b7a7ca588a0e2674e37e9dd9b0c625ae3f549c41",
     "c3a4e8c8bb3e0f0c32d2830e333a1083c6393a0befffede494a5e70ce84b8d6a",
     "db4c3114e197dcd0f57f2d4b9da2981a243066f6c9fb091f874f142470208e40"},
    {4, 320, 96, 377, "000000000000000000000000000000000000000000000000000000000000000f",
     "58a54b10a9e5848a00db3c6579229399fb6b4605bf1327ec019814ff6662075d",
     "45c919736a0e5f2ef32c4c7d0a338eb1fed3d9e317b7580921072285c7e215ca",
     "34e974d8cb3be2818f7a6a121a5c6057ed5037226d29e56d20a5ff71a4bec6eb",
     "45c919736a0e5f2ef32c4c7d0a338eb1fed3d9e317b7580921072285c7e215ca",
     "725ed083647390443e9c6d2deb5ad1984682815793b63dc1587b6496f954ec63",
     "107d3b9de9f95ada46df77005c3abfdbee812882bbb35c09d296572c2af30e2d",
     "5b1b7d8a64e78a799e55f458337647aba4d1005fc2c994cb83078354cf4444ee",
     "86a74e0dbec567b45f89e55363cb872708d530315212d57f69f7b42c2a14b26c",
     "8b52f1b6c0db7c6afa62d91767f0f12adf1e400bbdb461e6a0759e258274a36d",
     "6ada5dfce75ded7bfb28bf2d31c57f1e88f334ad26bfa262faea9fafea09fb8b"},
    {8, 585, 129, 505, "00000000000000000000000000000000000000000000000000000000000000ff",
     "2394611da3a5de5512010042116770774b682e9d9cc4aed92a9934f56d38a5e6",
     "6ce90d12c4045fe08c3caddb776dd84ac52b4ae7e48cd49443984154f2f4c2f9",
     "3b3a75eb91b0f723bcc4ab7e449e4a011b8960063efe74670c05e545519d9a8c",
     "6ce90d12c4045fe08c3caddb776dd84ac52b4ae7e48cd49443984154f2f4c2f9",
     "3d60b7f170f1dc97472bc3a15c1fdf425fd4d52c7d629a9c8e2c0447b6f38bc6",
     "1ef936f03c337433c2e5f3570555397ed790517b32bebaa823ab1c9d7f374cb3",
     "4892fa58f97bfee4693e800835cffd3a7595e3f63ff7c8fe2eac747657dc75f9",
     "78daa85778ba3f3c4bafdce0f03afaba7a64cbc44700f4d02f9f5ceb56d31d51",
     "ec7f48d4d6ca70fa6192d16aa7fe9936614b7272919901848bdbd8ed6c62c981",
     "af517c98f5f96bc08f57f384aaac7538f5e56f38664f8467c8fb62e654d76dae"},
    {11, 780, 153, 598, "00000000000000000000000000000000000000000000000000000000000007ff",
     "0c0fc1b2e5227f286ca537e232ebe87a09f3dcd8ccb08fc1cee3bbc32b693163",
     "1f6c9576e648b5047399bfc5f38902e0d506f18e0f3ab77de6de096bd089bce4",
     "4543ca937ff30a73db73c95cf11b2f641c744cc5d6a08d197c29ea4e2aab6a16",
     "1f6c9576e648b5047399bfc5f38902e0d506f18e0f3ab77de6de096bd089bce4",
     "70c6ae20bd1d18d3dbb95f5a9694b328e69dd419e6279ae116ac934a94aa7906",
     "09bb1cbe3152cbfb7eaccdd4be6a977e2b4985915f147b902f7c73bf6b0e4ca1",
     "4b474d7a82eebc5a43832b11a810e84921a10adcb8431b958175c603062df40b",
     "a3d5077ccb551e6d2e9f8cf91af6c09fe1429a3afd7c03fcd8650b50045b1810",
     "c23da83adba5cc00389cd5259d4524771a6b8cb21848357b432a1da1f3297ba9",
     "6ee4e84d56caa0e33048279c701e97d84c0afa822082cf6c980b91d10b4d39cf"},
};
#define N_EXPECTED (sizeof expected / sizeof expected[0])
#define TRACE_MAX 600

static void digest_is(const fr *a, size_t n, const char *want)
{
    blake2s_ctx c;
    uint8_t digest[32];

    blake2s_init(&c, 32, NULL, 0);
    for (size_t i = 0; i < n; i++) {
        scalar s;

        support_curve()->fr_to_scalar(&s, &a[i]);
        blake2s_update(&c, s.b, sizeof s.b);
    }
    blake2s_final(&c, digest);
    assert_hex_equal(digest, sizeof digest, want);
}

static void fr_is(const fr *got, const char *want)
{
    fr w = support_fr(want);

    assert_bytes_equal(got, &w, sizeof w);
}

static void test_constants_are_the_published_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXPECTED; i++) {
        const expected_constants *e = &expected[i];
        const poseidon *p = poseidon_of(support_poseidon(), e->arity);
        static fr rc[1024];
        unsigned t = e->arity + 1;

        assert_int_equal(e->n_rc, t * (POSEIDON_FULL_ROUNDS + p->n_partial));
        poseidon_round_constants(support_curve(), rc, e->n_rc, t, p->n_partial);
        fr_is(&rc[0], e->first_rc);
        fr_is(&rc[e->n_rc - 1], e->last_rc);
        digest_is(rc, e->n_rc, e->rc_digest);

        assert_int_equal(p->n_keys, e->n_keys);
        fr_is(&p->keys[0], e->first_key);
        fr_is(&p->keys[t], e->tag_post_key);
        fr_is(&p->keys[e->n_keys - 1], e->last_key);
        digest_is(p->keys, p->n_keys, e->keys_digest);
        digest_is(p->pre_sparse, (size_t)t * t, e->pre_sparse_digest);
        digest_is(p->sparse, (size_t)p->n_partial * (2 * t - 1), e->sparse_digest);
    }
}

static void test_hashes_are_the_published_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXPECTED; i++) {
        const poseidon *p = poseidon_of(support_poseidon(), expected[i].arity);
        fr in[POSEIDON_MAX_T], tag, out;

        assert_int_equal(poseidon_arity(p), expected[i].arity);
        assert_int_equal(poseidon_trace_len(p), expected[i].trace_len);
        poseidon_merkle_tag(p, &tag);
        fr_is(&tag, expected[i].tag);
        for (unsigned k = 0; k < expected[i].arity; k++) in[k] = support_u64(k);
        poseidon_hash(p, &out, in, &tag);
        fr_is(&out, expected[i].hash);
    }
}

/* A binary tree over the leaves 1, 0, 0, 1; and another tag. */
static void test_binary_hashes(void **state)
{
    const poseidon *p = poseidon_of(support_poseidon(), 2);
    fr zero = support_u64(0), one = support_u64(1), node[2], root, tag;

    (void)state;
    poseidon_merkle_tag(p, &tag);
    poseidon_hash(p, &node[0], (const fr[]){one, zero}, &tag);
    fr_is(&node[0], "042f94ffbe786bc393c003cc74a24f26ec5907b3dc3094afb339ff6079800b5e");
    poseidon_hash(p, &node[1], (const fr[]){zero, one}, &tag);
    poseidon_hash(p, &root, node, &tag);
    fr_is(&root, "1effebb7b26ad9eb30eb6385ae6b74ae77cc72b8cb2b5ad2efbb8be3e291e671");

    tag = support_u64(UINT64_C(1) << 40);
    poseidon_hash(p, &root, (const fr[]){zero, one}, &tag);
    fr_is(&root, "314a35c4e7f0924ead1fc58134a0fe25e3580bea397367c7e5a74ec4bc077758");
}

static void test_hash_of_a_real_node(void **state)
{
    static const char *const in_hex[8] = {
        "f743111428ecda9b74a18826f1cc62d48ae1510de17e58645997559f86442f31",
        "197a6efa37086e3a37108f8460c52bc810e2781aff0091bfd7b74e3f6f752f02",
        "01c2c12f7930bbb59e3b36dae1c694b33ac6b3f199ec32a8665fadb8338f4f21",
        "bbe672a853f65cdb2563339ca61d6ad648473b4b4ce44bf3a48486424b865a2d",
        "937d57295f488cea8099f5525958f1af39c6241614b917835292e8e2314cf908",
        "3272570cd8ba38c1183629ca72d5e9149d76786ed22c1d591db3d2bccfa7d308",
        "2d3fc90e11aaf601bd1beae80fc3aba15a9e1f886d8140533ce36cda3dd9f936",
        "0a017e264d0728bfcd2edb3c6c60cc5a05a02af31a71cdd7bb2da27616f5f630"};
    const poseidon *p = poseidon_of(support_poseidon(), 8);
    const curve *cv = support_curve();
    fr in[8], out, tag;
    scalar s;

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        harness_from_hex(s.b, sizeof s.b, in_hex[i]);
        assert_true(cv->fr_from_scalar(&in[i], &s));
    }
    poseidon_merkle_tag(p, &tag);
    poseidon_hash(p, &out, in, &tag);
    cv->fr_to_scalar(&s, &out);
    assert_hex_equal(s.b, sizeof s.b,
                     "0737ca506df7d4544f8512df35aaa07ed8a40691e96ae868c23320220fec6866");
}

/* The permutation as it is defined: round constants, S-boxes, Cauchy matrix; no compressed keys. */
static void textbook_hash(const poseidon *p, fr *out, const fr *in, const fr *tag)
{
    const curve *cv = p->cv;
    static fr rc[1024];
    unsigned t = p->t, n_rounds = POSEIDON_FULL_ROUNDS + p->n_partial;
    fr s[POSEIDON_MAX_T], next[POSEIDON_MAX_T], inverse[2 * POSEIDON_MAX_T];

    for (unsigned k = t; k < 3 * t - 1; k++) {
        inverse[k - t] = support_u64(k);
        cv->fr_inv(&inverse[k - t], &inverse[k - t]);
    }
    poseidon_round_constants(cv, rc, t * n_rounds, t, p->n_partial);
    s[0] = *tag;
    memcpy(&s[1], in, p->arity * sizeof s[0]);
    for (unsigned r = 0; r < n_rounds; r++) {
        bool full = r < 4 || r >= n_rounds - 4;

        for (unsigned i = 0; i < t; i++) {
            cv->fr_add(&s[i], &s[i], &rc[r * t + i]);
            if (i == 0 || full) cv->fr_pow_var(&s[i], &s[i], 5);
        }
        for (unsigned j = 0; j < t; j++) {
            next[j] = cv->fr_zero;
            for (unsigned i = 0; i < t; i++) {
                fr x;

                cv->fr_mul(&x, &inverse[i + j], &s[i]);
                cv->fr_add(&next[j], &next[j], &x);
            }
        }
        memcpy(s, next, t * sizeof s[0]);
    }
    *out = s[1];
}

static void test_equals_the_textbook_on_every_table(void **state)
{
    (void)state;
    for (unsigned table = 0; table < CPU_TABLES; table++) {
        mem *m;

        if (!cpu_table_supported((cpu_table)table)) continue;
        m = support_mem();
        for (size_t i = 0; i < N_EXPECTED; i++) {
            poseidon *p = NULL;
            fr in[POSEIDON_MAX_T], tag, got, want, trace[TRACE_MAX];

            assert_status_ok(poseidon_new(&p, (cpu_table)table, expected[i].arity, m));
            for (size_t round = 0; round < harness_iters(4); round++) {
                for (unsigned k = 0; k < expected[i].arity; k++) support_random_fr(&in[k]);
                support_random_fr(&tag);
                if (round == 0) /* the largest values there are */
                    for (unsigned k = 0; k < expected[i].arity; k++)
                        p->cv->fr_neg(&in[k], &p->cv->fr_one);
                textbook_hash(p, &want, in, &tag);
                poseidon_hash(p, &got, in, &tag);
                assert_bytes_equal(&got, &want, sizeof got);
                poseidon_trace(p, trace, in, &tag);
                assert_bytes_equal(&trace[poseidon_trace_len(p) - 1], &want, sizeof want);
            }
            poseidon_free(p);
        }
        support_close(m);
    }
}

/* Eight inputs with the edges among them; hashes, traces and tag of the portable kernel. */
typedef struct batch {
    fr in[POSEIDON_LANES][POSEIDON_MAX_T], tag;
    fr trace[POSEIDON_LANES][TRACE_MAX];
} batch;

static void batch_fill(batch *b, const poseidon *portable, size_t round)
{
    const curve *cv = portable->cv;

    support_random_fr(&b->tag);
    for (unsigned n = 0; n < POSEIDON_LANES; n++) {
        for (unsigned k = 0; k < portable->arity; k++) {
            support_random_fr(&b->in[n][k]);
            if (round % 2 == 0 && n == 1) cv->fr_neg(&b->in[n][k], &cv->fr_one);
            if (round % 2 == 0 && n == 2) b->in[n][k] = cv->fr_zero;
            if (round % 2 == 0 && n == 4) memset(&b->in[n][k], 0, sizeof(fr) / 2);
            /* the largest words there are, whatever they mean */
            if (round % 2 == 0 && n == 5) cv->fr_neg(&b->in[n][k], &(fr){{1}});
        }
        if (round == 1) cv->fr_neg(&b->tag, &(fr){{1}});
        poseidon_trace(portable, b->trace[n], b->in[n], &b->tag);
    }
}

static void check_batch(const poseidon *p, const batch *b, unsigned n)
{
    static fr traces[POSEIDON_LANES][TRACE_MAX];
    uint32_t len = poseidon_trace_len(p);
    fr out[POSEIDON_LANES], *outs[POSEIDON_LANES], *to[POSEIDON_LANES];
    const fr *in[POSEIDON_LANES];

    memset(out, 0xaa, sizeof out);
    memset(traces, 0xaa, sizeof traces);
    for (unsigned i = 0; i < n; i++) {
        in[i] = b->in[i];
        outs[i] = &out[i];
        to[i] = traces[i];
    }
    poseidon_hash_many(p, n, outs, in, &b->tag);
    poseidon_trace_many(p, n, to, in, &b->tag);
    for (unsigned i = 0; i < n; i++) {
        assert_bytes_equal(traces[i], b->trace[i], len * sizeof(fr));
        assert_bytes_equal(&out[i], &b->trace[i][len - 1], sizeof(fr));
        for (size_t k = 0; k < sizeof(fr); k++)
            assert_int_equal(((const uint8_t *)&traces[i][len])[k], 0xaa);
    }
    for (size_t k = n * sizeof(fr); k < sizeof out; k++)
        assert_int_equal(((const uint8_t *)out)[k], 0xaa);
}

static void test_many_at_once_equal_the_portable_one(void **state)
{
    static batch b;

    (void)state;
    for (unsigned table = 0; table < CPU_TABLES; table++) {
        mem *m;

        if (!cpu_table_supported((cpu_table)table)) {
            print_message("table %s: not on this machine\n", cpu_table_name((cpu_table)table));
            continue;
        }
        m = support_mem();
        for (size_t i = 0; i < N_EXPECTED; i++) {
            poseidon *p = NULL, *portable = NULL;

            assert_status_ok(poseidon_new(&p, (cpu_table)table, expected[i].arity, m));
            assert_status_ok(poseidon_new(&portable, CPU_TABLE_GENERIC, expected[i].arity, m));
            for (size_t round = 0; round < harness_iters(4); round++) {
                batch_fill(&b, portable, round);
                for (unsigned n = 0; n <= POSEIDON_LANES; n++) check_batch(p, &b, n);
            }
            poseidon_free(p);
            poseidon_free(portable);
        }
        support_close(m);
    }
}

static void test_refuses_what_does_not_exist(void **state)
{
    mem *m = support_mem();
    poseidon *p = NULL;

    (void)state;
    assert_status_is(poseidon_new(&p, CPU_TABLE_GENERIC, 3, m), CUZK_EINVAL);
    assert_error_mentions("arity 3");
    assert_null(p);
    assert_null(poseidon_of(support_poseidon(), 16));
    support_close(m);
}

static void test_a_set_of_some(void **state)
{
    mem *m = support_mem();
    poseidon_set *ps;

    (void)state;
    assert_status_ok(poseidon_set_new_of(&ps, cpu_table_best(), 1u << 2 | 1u << 8, m));
    assert_non_null(poseidon_of(ps, 2));
    assert_int_equal(poseidon_arity(poseidon_of(ps, 8)), 8);
    assert_null(poseidon_of(ps, 4));
    assert_null(poseidon_of(ps, 11));
    poseidon_set_free(ps);
    support_close(m);
}

static void test_every_failing_allocation(void **state)
{
    (void)state;
    for (unsigned long k = 1;; k++) {
        mem *m = support_mem();
        poseidon_set *ps = NULL;
        cuzk_status st;

        mem_inject_fault(m, k);
        st = poseidon_set_new(&ps, cpu_table_best(), m);
        if (!mem_fault_hit(m)) {
            assert_status_ok(st);
            poseidon_set_free(ps);
            support_close(m);
            assert_true(k > 20);
            return;
        }
        assert_status_is(st, CUZK_ENOMEM);
        assert_null(ps);
        support_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_the_published_ones),
        cmocka_unit_test(test_hashes_are_the_published_ones),
        cmocka_unit_test(test_binary_hashes),
        cmocka_unit_test(test_hash_of_a_real_node),
        cmocka_unit_test(test_equals_the_textbook_on_every_table),
        cmocka_unit_test(test_many_at_once_equal_the_portable_one),
        cmocka_unit_test(test_refuses_what_does_not_exist),
        cmocka_unit_test(test_a_set_of_some),
        cmocka_unit_test(test_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
