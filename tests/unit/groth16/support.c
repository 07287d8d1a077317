/*
 * unit/groth16/support.c - a device, budgets and golden proofs for the tests of this room
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "base/json.h"

void rig_open(rig *r, cpu_table t, unsigned threads)
{
    r->table = t;
    assert_status_ok(mem_open(&r->m, "test", 0, NULL));
    assert_status_ok(pool_open(&r->pool, threads, NULL));
    device_config dc = {.name = "cpu", .table = t, .pool = r->pool, .m = r->m};
    assert_status_ok(device_open(&r->dev, &dc));
    assert_status_ok(dev_stream_open(&r->s, r->dev, NULL));
}

void rig_close(rig *r)
{
    dev_stream_close(r->s);
    device_close(r->dev);
    pool_close(r->pool);
    assert_int_equal(mem_used(r->m), 0);
    mem_close(r->m);
}

static void read_scalar(uint8_t out[32], json_in *j, const curve *cv)
{
    json_token t;
    fr x;
    scalar s;

    assert_status_ok(json_next(j, &t));
    assert_int_equal(t.type, JSON_STRING);
    assert_true(cv->fr_from_dec(&x, t.text, t.len));
    cv->fr_to_scalar(&s, &x);
    memcpy(out, s.b, 32);
}

/** The object whose '{' was just read: its r, s, and through the proof reader its points. */
static void read_vector(golden *g, json_in *j, size_t start, const curve *cv)
{
    json_token t;
    unsigned seen = 0;

    for (;;) {
        assert_status_ok(json_next(j, &t));
        if (t.type == JSON_OBJECT_END) break;
        if (json_is(&t, "r")) {
            read_scalar(g->rs.r, j, cv);
            seen |= 1;
        } else if (json_is(&t, "s")) {
            read_scalar(g->rs.s, j, cv);
            seen |= 2;
        } else {
            assert_status_ok(json_skip(j));
        }
    }
    assert_int_equal(seen, 3);
    assert_status_ok(groth16_proof_from_json(&g->proof, cv, j->data + start, j->pos - start));
}

size_t golden_read(golden out[GOLDEN_MAX], const char *path, const curve *cv)
{
    json_in j;
    json_token t;
    size_t size, n = 0;
    uint8_t *data = harness_read_file(path, &size);

    assert_status_ok(json_init(&j, data, size));
    assert_status_ok(json_next(&j, &t));
    while (json_next(&j, &t) == CUZK_OK && !json_is(&t, "vectors")) assert_status_ok(json_skip(&j));
    assert_status_ok(json_next(&j, &t));
    assert_int_equal(t.type, JSON_ARRAY);
    for (;;) {
        assert_status_ok(json_next(&j, &t));
        if (t.type == JSON_ARRAY_END) break;
        assert_true(n < GOLDEN_MAX);
        read_vector(&out[n++], &j, t.offset, cv);
    }
    free(data);
    return n;
}

void assert_proof_equal(const curve *cv, const groth16_proof *a, const groth16_proof *b)
{
    assert_true(cv->g1_eq(&a->a, &b->a));
    assert_true(cv->g2_eq(&a->b, &b->b));
    assert_true(cv->g1_eq(&a->c, &b->c));
}

const char *circom_case(const char *curve_name, const char *name, const char *file)
{
    char path[256];
    (void)snprintf(path, sizeof path, "circom/%s/%s/%s", curve_name, name, file);
    return harness_fixture(path);
}
