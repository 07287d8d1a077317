/*
 * unit/circuit/test_catalog.c - names, sizes and shapes of Filecoin's circuits
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "circuit/filecoin/catalog.h"

/* spec/filecoin-expected.md section 4 (hashes of rust-fil-proofs' identifiers; 22 of them are in its parameters.json) */
static const struct {
    const char *circuit, *key;
} keys[] = {
    {"porep-2k", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
                 "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"},
    {"winning-2k", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                   "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e"},
    {"window-2k", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                  "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0"},
    {"update-2k", "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
                  "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194"},
    {"porep-4k", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-2-0-sha256_hasher-"
                 "71fadf776fff80d5977d027cdf5b4af941c75de6aafee6530ff15997f7173b9b"},
    {"winning-4k", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                   "1b919095872c3abb6e84fb6060425159f5ddd55c982df1853100e66919c70d34"},
    {"window-4k", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                  "cc42931263e38853659466f248a6d623b702bf9ec49f687b2a931cef727c1069"},
    {"update-4k", "v28-empty-sector-update-merkletree-poseidon_hasher-8-2-0-"
                  "86f9265ed999ecebd51ecb470f0ad59033c2f67efc0179811f60a8561bbf2fb7"},
    {"porep-16k", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
                  "5d6414be6742cfc2d41b04c9f12eacd8f78775cf01c1f5cdcf5b370808fe5b74"},
    {"winning-16k", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
                    "fb97aa10509b0b9a3663c412f4362c4899d88bc4fcd680ab5898a4b5c594c9ca"},
    {"window-16k", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
                   "457fef4290dae6633b426166ae92f2e7732fe528b75fec3226dc479ce7c95662"},
    {"update-16k", "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
                   "6c63c2c7caaffe0f5b745c60dfe539d35860b620686b52e138fb373ed5b68004"},
    {"porep-32k", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-"
                  "2a21b24b412f71b8441648d2cd849229afd278d96964baf1a0f2712f4afbadfd"},
    {"winning-32k", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
                    "46ced5cb1fda8c92490b22b2af7bd1adedace49a0a40539f96bea1082b740ebc"},
    {"window-32k", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
                   "0f2270b825bd80be1b341ad648b96c9cbf744a38c50921dc734e4a251a48447b"},
    {"update-32k", "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
                   "ac7ca4f57f12169edc7e40c5d842c15dc47662228f2c245c97d1ca4dffca0bdd"},
    {"porep-8m", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
                 "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb"},
    {"winning-8m", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                   "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331"},
    {"window-8m", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                  "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9"},
    {"update-8m", "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
                  "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63"},
    {"porep-16m", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-2-0-sha256_hasher-"
                  "86c715b389cbfdcb1c84b73e4bf276474652288a6aefcaa9f9600c21b0cff44e"},
    {"winning-16m", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                    "6f17428086c4e8ebe4fe3cb08be628669bf3e16652c22a78e1fa53e9e83feaf4"},
    {"window-16m", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                   "8feba84565cc48dcdb48c9b2957754a8b91e1bfa1fc1348791d1a3fda9b5ea09"},
    {"update-16m", "v28-empty-sector-update-merkletree-poseidon_hasher-8-2-0-"
                   "05c0e7da0d0341a1e5cb5ed6f34be85cc401bb05d23c10b207bae063b4aab9e3"},
    {"porep-512m", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_"
                   "hasher-6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472"},
    {"winning-512m", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                     "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781"},
    {"window-512m", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                    "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9"},
    {"update-512m", "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
                    "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c"},
    {"porep-1g", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-2-0-sha256_hasher-"
                 "002b03e3cbccd5d23c5f673a39ec4127ae31a1820be2faa32f72fdc75cf262c2"},
    {"winning-1g", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                   "bbd6dae94a7b8b69d4d020e0562f8640033a09b4a500ad3ab68f696fcf521519"},
    {"window-1g", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                  "f3aab9038a63efce6e3dc362dc6a7f7a01f078100441320740f23d626e3dd4cb"},
    {"porep-32g", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
                  "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820"},
    {"winning-32g", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
                    "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e"},
    {"window-32g", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
                   "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc"},
    {"update-32g", "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
                   "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"},
    {"porep-64g", "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-"
                  "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2"},
    {"winning-64g", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
                    "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c"},
    {"window-64g", "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
                   "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def"},
    {"update-64g", "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
                   "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7"},
    {"update-poseidon-32g", "v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-8-8-0-"
                            "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"},
    {"snap-poseidon-64g", "v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-8-8-2-"
                          "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7"},
};

static void test_key_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char name[256];
        const fil_size *size;
        fil_kind kind;

        assert_status_ok(fil_circuit_parse(&kind, &size, keys[i].circuit));
        assert_status_ok(fil_key_name(name, kind, size));
        assert_string_equal(name, keys[i].key);
    }
}

/* The names that gRPC and /status print are accepted too; what is not a circuit is refused by name. */
static void test_circuit_names(void **state)
{
    static const char *const bad[] = {"",
                                      "window",
                                      "window-",
                                      "window-3k",
                                      "wpost2k",
                                      "-2k",
                                      "post-2k",
                                      "windows-2k",
                                      "window-2K",
                                      "update-1g",
                                      "snap-1g",
                                      "update-poseidon-1g",
                                      "window-1k",
                                      "porep-8k",
                                      "winning-8k",
                                      "update-poseidon",
                                      "porep-2k-11l",
                                      "window-16k-11l",
                                      "update-16k-11l",
                                      "update--8k",
                                      "window-2k-",
                                      "porep-2kporep-2kporep-2kporep-2kporep-2kporep-2k"};
    const fil_size *size = NULL;
    fil_kind kind = FIL_KINDS;
    char name[256];
    size_t n;

    (void)state;
    assert_status_ok(fil_circuit_parse(&kind, &size, "wpost-32g"));
    assert_int_equal(kind, FIL_WINDOW);
    assert_int_equal(size->bytes, UINT64_C(32) << 30);
    assert_status_ok(fil_circuit_parse(&kind, &size, "snap-512m"));
    assert_int_equal(kind, FIL_UPDATE);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status_is(fil_circuit_parse(&kind, &size, bad[i]), CUZK_EINVAL);
        assert_error_mentions("winning-");
    }
    assert_status_ok(fil_circuit_parse(&kind, &size, "porep-32k-11l"));
    assert_int_equal(kind, FIL_POREP);
    assert_ptr_equal(size, fil_size_porep(32768, 11));
    assert_int_equal(size->porep_layers, 11);
    assert_ptr_equal(fil_size_porep(32768, 2), fil_size_by_bytes(32768));
    assert_ptr_equal(fil_size_porep(UINT64_C(32) << 30, 11), fil_size_by_bytes(UINT64_C(32) << 30));
    assert_null(fil_size_porep(2048, 11));
    assert_null(fil_size_porep(1024, 0));
    assert_null(fil_size_porep(2047, 2));
    assert_status_ok(fil_circuit_parse(&kind, &size, "update-poseidon-8k"));
    assert_int_equal(kind, FIL_UPDATE_POSEIDON);
    assert_int_equal(size->bytes, UINT64_C(8) << 10);
    assert_status_is(fil_key_name(name, FIL_UPDATE, fil_size_by_bytes(UINT64_C(1) << 30)),
                     CUZK_EINVAL);
    assert_status_is(fil_key_name(name, FIL_WINDOW, fil_size_by_bytes(UINT64_C(1) << 10)),
                     CUZK_EINVAL);

    for (unsigned k = 0; k < FIL_KINDS; k++) {
        assert_true(fil_kind_from_name(&kind, fil_kind_name((fil_kind)k)));
        assert_int_equal(kind, k);
    }
    assert_false(fil_kind_from_name(&kind, "seal"));

    (void)fil_sizes(&n);
    assert_int_equal(n, 12);
}

/* base levels of a path, and its indices cover the tree exactly */
static void test_levels_cover_the_tree(void **state)
{
    static const unsigned base[] = {1, 2, 2, 2, 2, 2, 6, 6, 8, 8, 9, 9}; /* circuits section 12 */
    size_t n;
    const fil_size *sizes = fil_sizes(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        uint32_t levels[FIL_MAX_LEVELS];
        unsigned n_levels = fil_levels(&sizes[i], levels), tops = 0;
        uint64_t leaves = 1;

        for (unsigned l = 0; l < n_levels; l++) leaves *= levels[l];
        assert_int_equal(leaves, UINT64_C(1) << sizes[i].nodes_log);
        assert_int_equal(leaves * 32, sizes[i].bytes);
        for (unsigned k = 1; k < 3; k++) tops += sizes[i].arity[k] != 0 ? 1 : 0;
        assert_int_equal(n_levels, base[i] + tops);
        assert_ptr_equal(fil_size_by_bytes(sizes[i].bytes), &sizes[i]);
    }
    assert_null(fil_size_by_bytes(0));
    assert_null(fil_size_by_bytes(3000));
}

static void test_arities(void **state)
{
    const fil_size *small = fil_size_by_bytes(2048), *large = fil_size_by_bytes((uint64_t)32 << 30);
    const uint32_t two_and_eight = 1u << 2 | 1u << 8;

    (void)state;
    assert_int_equal(fil_arities(FIL_WINDOW, small), two_and_eight);
    assert_int_equal(fil_arities(FIL_POREP, small), two_and_eight);
    assert_int_equal(fil_arities(FIL_UPDATE, large), two_and_eight);
    assert_int_equal(fil_arities(FIL_POREP, large), two_and_eight | 1u << 11);
}

static void test_post_shapes(void **state)
{
    size_t n;
    const fil_size *sizes = fil_sizes(&n);
    uint32_t sectors, challenges;

    (void)state;
    fil_post_shape(FIL_WINNING, &sizes[1], &sectors, &challenges);
    assert_int_equal(sectors, 66);
    assert_int_equal(challenges, 1);
    fil_post_shape(FIL_WINDOW, &sizes[10], &sectors, &challenges);
    assert_int_equal(sectors, 2349);
    assert_int_equal(challenges, 10);
}

static void test_published(void **state)
{
    size_t n, found = 0;
    const fil_size *sizes = fil_sizes(&n);

    (void)state;
    for (fil_kind k = 0; k < FIL_KINDS; k++)
        for (size_t i = 0; i < n; i++) {
            const char *params = fil_published_digest(k, &sizes[i], false);
            const char *vk = fil_published_digest(k, &sizes[i], true);
            bool want = sizes[i].registered >= (k == FIL_UPDATE_POSEIDON ? 3 : 0);
            assert_true((params != NULL) == want && (vk != NULL) == want);
            if (!want) continue;
            assert_true(strlen(params) == 32 && strlen(vk) == 32 && strcmp(params, vk) != 0);
            found++;
        }
    assert_int_equal(found, 22);
    assert_string_equal(
        fil_published_digest(FIL_WINNING, fil_size_by_bytes((uint64_t)32 << 30), false),
        "d84f79a16fe40e9e25a36e2107bb1ba0");
    assert_string_equal(
        fil_published_digest(FIL_POREP, fil_size_by_bytes((uint64_t)64 << 30), true),
        "a89884252c04c298d0b3c81bfd884164");
    assert_string_equal(
        fil_published_digest(FIL_UPDATE_POSEIDON, fil_size_by_bytes((uint64_t)32 << 30), true),
        "1ac05784f304129f74c5184190c1ec78");
}

static void test_key_find(void **state)
{
    const fil_size *size;
    fil_kind kind;
    char name[256];
    size_t n;
    const fil_size *sizes = fil_sizes(&n);

    (void)state;
    for (fil_kind k = 0; k < FIL_KINDS; k++)
        for (size_t i = 0; i < n; i++) {
            if (!fil_exists(k, &sizes[i])) continue;
            assert_status_ok(fil_key_name(name, k, &sizes[i]));
            assert_true(fil_key_find(&kind, &size, name));
            assert_int_equal(kind, k);
            assert_ptr_equal(size, &sizes[i]);
            name[strlen(name) - 1] ^= 1;
            assert_false(fil_key_find(&kind, &size, name));
        }
    assert_false(fil_key_find(&kind, &size, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_names),
        cmocka_unit_test(test_circuit_names),
        cmocka_unit_test(test_levels_cover_the_tree),
        cmocka_unit_test(test_arities),
        cmocka_unit_test(test_post_shapes),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_key_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
