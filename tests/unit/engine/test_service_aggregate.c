/*
 * unit/engine/test_service_aggregate.c - non-interactive PoReps in the service: admitted with powers alone; parts to aggregate
 *
 * Without a proving key (a gigabyte): a job goes as far as its key, and the last step is done on a job made by hand, whose
 * partitions have the fixture's proofs.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <sys/stat.h>

#include "base/clock.h"
#include "engine/aggregate.h"
#include "engine/service.h"
#include "service_support.h"

#define NI "filecoin/2kib/porep-ni/"
#define SRS "filecoin/2kib/aggregate/srs-16.srs"

/** A folder of keys with powers: the fixture's, its first four alone, or none. */
static const char *params(const char *name, size_t powers)
{
    const char *dir = harness_temp_path(name);
    char path[1024];
    size_t size, at = 0, out = 0;

    assert_int_equal(mkdir(dir, 0700), 0);
    if (powers == 0) return dir;
    uint8_t *srs = harness_read_file(harness_fixture(SRS), &size);
    for (unsigned v = 0; v < 4; v++) {
        size_t point = v < 2 ? 48 : 96, n = load_u32be(srs + at);
        store_u32be(srs + out, (uint32_t)powers);
        memmove(srs + out + 4, srs + at + 4, powers * point);
        at += 4 + n * point;
        out += 4 + powers * point;
    }
    (void)snprintf(path, sizeof path, "%s/%s", dir, FIL_SRS_NAME);
    harness_write_file(path, srs, out);
    free(srs);
    return dir;
}

static void start(test_service *t, const char *dir)
{
    cuzk_config ec = {.threads = 2, .device = "cpu"};
    cuzk_service_config c = {
        .params_dir = dir, .memory_total = (uint64_t)4 << 30, .memory_critical = (uint64_t)1 << 30};

    assert_status_ok(cuzk_engine_open(&t->e, &ec));
    assert_status_ok(cuzk_service_open(&t->s, t->e, &c));
}

static cuzk_request request(uint8_t **c1)
{
    size_t size;

    *c1 = harness_read_file(harness_fixture(NI "c1.json"), &size);
    return (cuzk_request){.request_id = "ni",
                          .kind = CUZK_POREP,
                          .sector_size = 2048,
                          .registered_proof = 15,
                          .miner_id = 297250,
                          .sector_number = 464793,
                          .vanilla_proof = {*c1, size}};
}

static void needs_powers(void **state)
{
    test_service t;
    cuzk_ticket k;
    uint8_t *c1;
    cuzk_request r = request(&c1);
    (void)state;

    start(&t, params("none", 0));
    assert_status_is(cuzk_job_submit(t.s, &r, &k), CUZK_EINVAL);
    assert_error_mentions("aggregation not supported");
    assert_error_mentions(FIL_SRS_NAME);
    service_stop(&t);
    free(c1);
}

/** What becomes of the request in a folder with so many powers. */
static void outcome(const char *name, size_t powers, cuzk_class klass, const char *tells)
{
    test_service t;
    cuzk_ticket k;
    uint8_t *c1;
    cuzk_request r = request(&c1);
    told what;

    start(&t, params(name, powers));
    assert_status_ok(cuzk_job_submit(t.s, &r, &k));
    wait_for_job(t.s, k.job_id, 60000, &what);
    assert_int_equal(what.state, CUZK_JOB_FAILED);
    if (strstr(what.error.message, tells) == NULL) harness_fail("%s", what.error.message);
    assert_int_equal(what.error.klass, klass);
    service_stop(&t);
    free(c1);
}

static void powers_are_looked_at_first(void **state)
{
    (void)state;
    outcome("few", 4, CUZK_CLASS_LIMIT, "the srs reaches to 2 proofs, 13 are padded to 16");
    outcome("enough", 32, CUZK_CLASS_IO, ".params"); /* as far as the key */
}

/* ---- the last step ---- */

static void take_statement(svc_job *j)
{
    size_t size;
    uint8_t *json = harness_read_file(harness_fixture(NI "statement.json"), &size);

    j->fil = (fil_job){.env = &j->env, .cv = curve_get(CURVE_ID_BLS12_381, j->env.table)};
    assert_status_ok(fil_ops_of(&j->fil.ops, &j->fil.kind, "porep"));
    assert_status_ok(j->fil.ops->read_statement(&j->fil, json, size));
    free(json);
}

static void parts_to_aggregate(void **state)
{
    cuzk_config ec = {.threads = 2, .device = "cpu"};
    service s = {.c = {.params_dir = params("parts", 32)}, .mu = PTHREAD_MUTEX_INITIALIZER};
    groth16_pk pk = {0};
    svc_part parts[13] = {{0}};
    svc_job *j;
    size_t size, vk_size, want_size;
    (void)state;

    uint8_t *proofs = harness_read_file(harness_fixture(NI "proof-fixed-rs.bin"), &size);
    uint8_t *want = harness_read_file(harness_fixture(NI "proof-aggregate-v2.bin"), &want_size);
    uint8_t *vk = harness_read_file(harness_fixture("filecoin/keys/porep-2kib.vk"), &vk_size);
    assert_status_ok(cuzk_engine_open(&s.e, &ec));
    assert_status_ok(mem_open(&s.m, "service", 0, s.e->m));
    assert_status_ok(gate_new(&s.gate));
    assert_status_ok(svc_job_new(&j, &s));
    j->rq.kind = CUZK_POREP;
    j->priority = CUZK_NORMAL;
    take_statement(j);
    assert_true(svc_is_aggregate(j));
    assert_status_ok(svc_check_powers(j));
    assert_status_ok(groth16_vk_read(&pk.vk, vk, vk_size, NULL, j->fil.cv, j->m));
    j->fil.pk = &pk;
    j->n_parts = 13;
    j->parts = parts;
    for (size_t k = 0; k < 13; k++) {
        parts[k].proof = proofs + k * GROTH16_PROOF_BYTES;
        parts[k].proof_size = GROTH16_PROOF_BYTES;
    }
    job_clock_start(&j->clock, clock_ns());
    assert_status_ok(svc_aggregate(j));
    assert_int_equal(j->proof_size, want_size);
    assert_bytes_equal(j->proof, want, want_size);
    free(j->proof);
    j->proof = NULL;

    /* two partitions' proofs exchanged: what comes out does not verify, and does not come out */
    parts[3].proof = proofs;
    assert_status_is(svc_aggregate(j), CUZK_EDATA);
    assert_null(j->proof);

    j->parts = NULL;
    j->n_parts = 0;
    groth16_vk_free(pk.vk);
    svc_undecode(j);
    svc_job_free(j);
    gate_free(s.gate);
    mem_close(s.m);
    cuzk_engine_close(s.e);
    free(vk);
    free(want);
    free(proofs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_powers),
        cmocka_unit_test(powers_are_looked_at_first),
        cmocka_unit_test(parts_to_aggregate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
