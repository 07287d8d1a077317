/*
 * unit/engine/test_kept_vk.c - verifying under a key that the engine kept, and under one whose file has changed meanwhile
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/kept_vk.h"

#include <stdio.h>
#include <string.h>

#include "engine/filecoin.h"
#include "harness/harness.h"

#define HEAD_BYTES (3 * 96 + 3 * 192 + 4) /* of a .vk: what stands before its IC points */

static char vk_path[FIL_PATH_MAX];

static void write_vk(const uint8_t *data, size_t size)
{
    char next[FIL_PATH_MAX + 8];
    FILE *f;

    snprintf(next, sizeof next, "%s.new", vk_path);
    f = fopen(next, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rename(next, vk_path), 0);
}

static cuzk_status verify(cuzk_engine *e, bool *valid)
{
    cuzk_filecoin_args args = {.kind = "porep",
                               .statement =
                                   harness_fixture("filecoin/2kib/porep-v1_1/statement.json"),
                               .params_dir = harness_temp_dir(),
                               .partition = -1};
    return cuzk_filecoin_verify(e, &args, harness_fixture("filecoin/2kib/porep-v1_1/proof.bin"),
                                valid);
}

static void test_kept(void **state)
{
    cuzk_config config = {.threads = 1};
    const groth16_vk *first;
    const fil_ops *ops;
    const fil_size *shape;
    cuzk_engine *e;
    fil_kind kind;
    size_t size;
    bool valid = false;
    uint8_t *vk = harness_read_file(harness_fixture("filecoin/keys/porep-2kib.vk"), &size), t[96];

    (void)state;
    assert_status_ok(fil_circuit_parse(&kind, &shape, "porep-2k"));
    assert_status_ok(fil_ops_of(&ops, &kind, "porep"));
    assert_status_ok(fil_key_path(vk_path, harness_temp_dir(), kind, shape, ".vk"));
    write_vk(vk, size);
    assert_status_ok(cuzk_engine_open(&e, &config));
    assert_status_ok(verify(e, &valid));
    assert_true(valid);
    assert_non_null(e->kept);
    first = e->kept->vk;
    assert_status_ok(verify(e, &valid));
    assert_true(valid);
    assert_ptr_equal(e->kept->vk, first); /* not read again */

    memcpy(t, vk + HEAD_BYTES + 96,
           96); /* two IC points change places: a key of as many bytes, and another one */
    memcpy(vk + HEAD_BYTES + 96, vk + HEAD_BYTES + 192, 96);
    memcpy(vk + HEAD_BYTES + 192, t, 96);
    write_vk(vk, size);
    assert_status_ok(verify(e, &valid));
    assert_false(valid);
    write_vk(vk, size - 1);
    assert_status_is(verify(e, &valid), CUZK_EDATA);
    assert_int_equal(remove(vk_path), 0);
    assert_status_is(verify(e, &valid), CUZK_EIO);
    memcpy(vk + HEAD_BYTES + 192, vk + HEAD_BYTES + 96, 96);
    memcpy(vk + HEAD_BYTES + 96, t, 96);
    write_vk(vk, size);
    assert_status_ok(verify(e, &valid));
    assert_true(valid);
    cuzk_engine_close(e);
    free(vk);
}

/* The more often a key comes, the more of it is made ready; what a proof is found to be does not change. */
static void test_made_ready(void **state)
{
    cuzk_config config = {.threads = 1};
    cuzk_engine *e;
    size_t size;
    bool valid = false;
    uint8_t *vk = harness_read_file(harness_fixture("filecoin/keys/porep-2kib.vk"), &size);

    (void)state;
    write_vk(vk, size);
    assert_status_ok(cuzk_engine_open(&e, &config));
    for (unsigned n = 1; n <= 17; n++) {
        assert_status_ok(verify(e, &valid));
        assert_true(valid);
        assert_int_equal(e->kept->taken, n);
        assert_true((e->kept->vk->ready != NULL) == (n >= 2));
        if (n >= 2) assert_true((e->kept->vk->ready->ic != NULL) == (n >= 16));
    }
    cuzk_engine_close(e);
    free(vk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept),
                                       cmocka_unit_test(test_made_ready)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
