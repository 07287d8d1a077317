/*
 * unit/groth16/support.c - a device, budgets and golden proofs for the tests of this room
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "base/hash.h"

#include "base/json.h"

/* the backend whose tests these are */
#ifndef RIG_DEVICE
#    define RIG_DEVICE "cpu"
#endif

static void open_device(device **d, const device_config *config)
{
    cuzk_status st = device_open(d, config);

    if (st == CUZK_EDEVICE && strcmp(config->name, "cpu") != 0 &&
        strncmp(cuzk_last_error()->message, "device cuda: no ", 16) == 0)
        harness_skip("no GPU: %s", cuzk_last_error()->message);
    assert_status_ok(st);
}

static void open_named(rig *r, const char *name, cpu_table t, unsigned threads)
{
    r->table = t;
    assert_status_ok(mem_open(&r->m, "test", 0, NULL));
    assert_status_ok(pool_open(&r->pool, threads, NULL));
    device_config dc = {.name = name, .table = t, .pool = r->pool, .m = r->m};
    open_device(&r->dev, &dc);
    assert_status_ok(dev_stream_open(&r->s, r->dev, NULL));
}

void rig_open(rig *r, cpu_table t, unsigned threads)
{
    open_named(r, RIG_DEVICE, t, threads);
}

void rig_open_other(rig *r, cpu_table t, unsigned threads, unsigned k)
{
    char name[32];
    unsigned n = 0;

    assert_status_ok(device_count(&n, RIG_DEVICE));
    if (strcmp(RIG_DEVICE, "cpu") == 0 || n < 2) {
        rig_open(r, t, threads);
        return;
    }
    (void)snprintf(name, sizeof name, "%s:%u", RIG_DEVICE, (k + 1) % n);
    open_named(r, name, t, threads);
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

/** 32 bytes of a member of trapdoors.json's values. */
static void trapdoor(fr *out, const curve *cv, const char *name)
{
    size_t size;
    char *text = (char *)harness_read_file(harness_fixture("filecoin/trapdoors.json"), &size);
    char key[32];
    scalar s;

    (void)snprintf(key, sizeof key, "\"%s\": \"", name);
    const char *at = strstr(text, key);
    assert_non_null(at);
    assert_true(hex_decode(s.b, 32, at + strlen(key), 64));
    assert_true(cv->fr_from_scalar(out, &s));
    free(text);
}

void fixture_trapdoors(groth16_trapdoors *t, cuzk_fixed_rs *rs, const curve *cv)
{
    fr r, s;
    scalar k;

    trapdoor(&t->tau, cv, "tau");
    trapdoor(&t->alpha, cv, "alpha");
    trapdoor(&t->beta, cv, "beta");
    trapdoor(&t->gamma, cv, "gamma");
    trapdoor(&t->delta, cv, "delta");
    trapdoor(&r, cv, "r");
    trapdoor(&s, cv, "s");
    cv->fr_to_scalar(&k, &r);
    memcpy(rs->r, k.b, 32);
    cv->fr_to_scalar(&k, &s);
    memcpy(rs->s, k.b, 32);
}

/** The member "sha256" that follows "params": { or "vk": { in a keys/NAME.params.json. */
static void expected_sha256(char out[65], const char *name, const char *object)
{
    char rel[96], key[32];
    size_t size;

    (void)snprintf(rel, sizeof rel, "filecoin/keys/%s.params.json", name);
    char *text = (char *)harness_read_file(harness_fixture(rel), &size);
    (void)snprintf(key, sizeof key, "\"%s\": {", object);
    const char *at = strstr(text, key);
    assert_non_null(at);
    at = strstr(at, "\"sha256\": \"");
    assert_non_null(at);
    memcpy(out, at + 11, 64);
    out[64] = 0;
    free(text);
}

void assert_file_sha256(const char *path, const char *name, const char *object)
{
    file_map f;
    uint8_t h[32];
    char got[65], want[65];

    assert_status_ok(file_map_open(&f, path));
    sha256(h, f.data, f.size);
    file_map_close(&f);
    hex_encode(got, h, 32);
    expected_sha256(want, name, object);
    assert_string_equal(got, want);
}
