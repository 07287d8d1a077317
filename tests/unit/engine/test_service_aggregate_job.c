/*
 * unit/engine/test_service_aggregate_job.c - proofs that come with a request become one: the reference's bytes, refusals, restart, cancel
 *
 * The fixtures' seals, updates and a non-interactive PoRep's circuits, in folders of keys that hold verifying keys and powers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <sys/stat.h>

#include "base/fault.h"
#include "circuit/filecoin/porep.h"
#include "circuit/filecoin/update.h"
#include "engine/aggregate.h"
#include "engine/service.h"
#include "service_support.h"

#define DIR "filecoin/2kib/"
#define SRS DIR "aggregate/srs-16.srs"
#define MANY 17
#define GIB ((uint64_t)1 << 30)

/* ---- a service that aggregates ---- */

static void copy_key(const char *dir, fil_kind kind, const char *from)
{
    char path[FIL_PATH_MAX];
    size_t size;
    uint8_t *data = harness_read_file(harness_fixture(from), &size);

    assert_status_ok(fil_key_path(path, dir, kind, fil_size_by_bytes(2048), ".vk"));
    harness_write_file(path, data, size);
    free(data);
}

static const char *params(const char *name, bool powers)
{
    const char *dir = harness_temp_path(name);
    char path[1024];
    size_t size;

    assert_int_equal(mkdir(dir, 0700), 0);
    copy_key(dir, FIL_POREP, "filecoin/keys/porep-2kib.vk");
    copy_key(dir, FIL_UPDATE, "filecoin/keys/update-2kib.vk");
    if (!powers) return dir;
    uint8_t *srs = harness_read_file(harness_fixture(SRS), &size);
    (void)snprintf(path, sizeof path, "%s/%s", dir, FIL_SRS_NAME);
    harness_write_file(path, srs, size);
    free(srs);
    return dir;
}

static void start(test_service *t, const char *dir, const char *db, uint64_t memory)
{
    cuzk_config ec = {.threads = 2, .device = "cpu"};
    cuzk_service_config c = {.params_dir = dir,
                             .store = db,
                             .memory_total = memory,
                             .memory_critical = memory / 4,
                             .tunables.synthesis_at_once = 2};

    assert_status_ok(cuzk_engine_open(&t->e, &ec));
    assert_status_ok(cuzk_service_open(&t->s, t->e, &c));
}

/* ---- requests ---- */

typedef struct request {
    cuzk_request r;
    cuzk_sector sectors[MANY];
    porep_statement seal;
    update_statement update;
    uint8_t *proofs[2]; /* the second: of the same, by another's randomness */
    size_t size;
} request;

static void init(request *q, const char *id, uint32_t of, uint64_t registered, size_t n)
{
    q->r = (cuzk_request){.request_id = id,
                          .kind = CUZK_AGGREGATE,
                          .aggregate_of = of,
                          .sector_size = 2048,
                          .registered_proof = registered,
                          .sectors = q->sectors,
                          .n_sectors = n};
}

static cuzk_bytes hash_at(const uint8_t b[32])
{
    return (cuzk_bytes){b, 32};
}

/* n of the two proofs of one statement, in turn; name: a seal's folder */
static void seals(request *q, const char *id, const char *name, uint64_t registered, size_t n)
{
    static const char *const files[] = {"proof-fixed-rs.bin", "proof.bin"};
    char path[128];
    size_t size;

    memset(q, 0, sizeof *q);
    init(q, id, CUZK_POREP, registered, n);
    (void)snprintf(path, sizeof path, DIR "%s/statement.json", name);
    uint8_t *json = harness_read_file(harness_fixture(path), &size);
    assert_status_ok(porep_statement_read(&q->seal, json, size));
    free(json);
    for (size_t i = 0; i < n; i++) {
        if (i < 2) {
            (void)snprintf(path, sizeof path, DIR "%s/%s", name, files[i]);
            q->proofs[i] = harness_read_file(harness_fixture(path), &q->size);
        }
        q->sectors[i] = (cuzk_sector){.sector_number = q->seal.sector_number,
                                      .miner_id = q->seal.miner_id,
                                      .ticket = hash_at(q->seal.ticket),
                                      .seed = hash_at(q->seal.seed),
                                      .comm_d = hash_at(q->seal.comm_d),
                                      .comm_r = hash_at(q->seal.comm_r),
                                      .proof = {q->proofs[i % 2], q->size}};
    }
}

static void updates(request *q, const char *id, size_t n)
{
    static const char *const files[] = {DIR "update/proof-fixed-rs.bin", DIR "update/proof.bin"};
    size_t size;

    memset(q, 0, sizeof *q);
    init(q, id, CUZK_UPDATE, 0, n);
    q->r.sector_size = 0;
    uint8_t *json = harness_read_file(harness_fixture(DIR "update/statement.json"), &size);
    assert_status_ok(update_statement_read(&q->update, json, size, FIL_UPDATE));
    free(json);
    for (size_t i = 0; i < n; i++) {
        if (i < 2) q->proofs[i] = harness_read_file(harness_fixture(files[i]), &q->size);
        q->sectors[i] = (cuzk_sector){.comm_r_old = hash_at(q->update.comm_r_old),
                                      .comm_r_new = hash_at(q->update.comm_r_new),
                                      .comm_d_new = hash_at(q->update.comm_d_new),
                                      .proof = {q->proofs[i % 2], q->size}};
    }
}

static void clear(request *q)
{
    free(q->proofs[0]);
    free(q->proofs[1]);
}

/* ---- what comes out ---- */

static void run(test_service *t, const request *q, told *what)
{
    cuzk_ticket k;

    assert_status_ok(cuzk_job_submit(t->s, &q->r, &k));
    wait_for_job(t->s, k.job_id, 600000, what);
}

static void completes(test_service *t, const request *q, told *what)
{
    run(t, q, what);
    if (what->state != CUZK_JOB_COMPLETED)
        harness_fail("%s: %s", q->r.request_id, what->error.message);
}

static void is_file(const told *what, const char *file)
{
    size_t size;
    uint8_t *want = harness_read_file(harness_fixture(file), &size);

    assert_int_equal(what->proof_size, size);
    assert_bytes_equal(what->proof, want, size);
    free(want);
}

static void has_digest(const told *what, const char *hex)
{
    uint8_t digest[32];

    sha256(digest, what->proof, what->proof_size);
    assert_hex_equal(digest, 32, hex);
}

static void the_references_bytes(void **state)
{
    test_service t;
    request q;
    told what;
    cuzk_ticket k;
    (void)state;

    start(&t, params("bytes", true), NULL, GIB);
    seals(&q, "two", "porep-v1_1", 5, 2);
    completes(&t, &q, &what);
    is_file(&what, DIR "aggregate/two-seals-v2.bin");
    q.r.aggregate_version = 2; /* is what 0 is */
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_true(k.known);
    q.r.aggregate_version = 1;
    completes(&t, &q, &what);
    is_file(&what, DIR "aggregate/two-seals-v1.bin");
    q.r.n_sectors = 1;
    completes(&t, &q, &what);
    has_digest(&what, "6234757c83006c55b97bf5a73c7aa62528185b607c7860554fcf18ffaf96d4f2");
    clear(&q);

    seals(&q, "ni", "porep-ni", 15, 1);
    completes(&t, &q, &what);
    is_file(&what, DIR "porep-ni/proof-aggregate-v2.bin");
    clear(&q);

    updates(&q, "updates", 3);
    completes(&t, &q, &what);
    has_digest(&what, "6193f01ef5a3a12ce376439ab413516afea3f387efe702b0199fd4d46068a055");
    assert_int_equal(what.times.device_ms, 0);
    char *row = document(t.s, "/jobs/updates");
    assert_non_null(strstr(row, "\"kind\":\"aggregate\""));
    free(row);
    char *metrics = document(t.s, "/metrics");
    assert_non_null(strstr(metrics, "cuzk_proofs_completed{proof_kind=\"aggregate\"} 5\n"));
    free(metrics);
    clear(&q);

    /* what was reserved was enough, and the keys were not touched */
    seals(&q, "sixteen", "porep-v1_1", 5, 16);
    completes(&t, &q, &what);
    has_digest(&what, "56cbabbb231da5261167012ba3908d41506d1741e323a06d6c3f7deeaeeb1596");
    assert_true(service_of(t.s)->counts.estimate_n == 6);
    assert_true(service_of(t.s)->counts.estimate_error_max <= 0);
    clear(&q);
    service_stop(&t);
}

/* ---- refused at once ---- */

static void refused(test_service *t, const request *q, const char *where, const char *tells)
{
    cuzk_ticket k;

    assert_status_is(cuzk_job_submit(t->s, &q->r, &k), CUZK_EINVAL);
    assert_string_equal(cuzk_last_error()->where, where);
    assert_error_mentions(tells);
}

static void refused_at_once(void **state)
{
    test_service t;
    request q;
    (void)state;

    start(&t, params("refused", true), NULL, GIB);
    seals(&q, "bad", "porep-v1_1", 5, 3);
    q.r.aggregate_of = CUZK_WINDOW;
    refused(&t, &q, "proof_kind", "not aggregated");
    q.r.aggregate_of = CUZK_POREP;
    q.r.aggregate_version = 3;
    refused(&t, &q, "aggregate_version", "version 3");
    q.r.aggregate_version = 0;
    q.r.registered_proof = 20;
    refused(&t, &q, "registered_proof", "20");
    q.r.registered_proof = 6;
    refused(&t, &q, "registered_proof", "not of sectors of 2048 bytes");
    q.r.registered_proof = 5;
    q.r.sector_size = 0;
    refused(&t, &q, "sector_size", "sector_size is 0");
    q.r.sector_size = 2048;
    q.r.n_sectors = 0;
    refused(&t, &q, "sectors", "nothing to aggregate");
    q.r.n_sectors = AGGREGATE_MAX + 1;
    refused(&t, &q, "sectors", "limit of an aggregate 16384");
    q.r.n_sectors = 3;
    q.sectors[2].proof.size = 0;
    refused(&t, &q, "sectors[2].proof", "its statement and its proof");
    q.sectors[2].proof.size = 192;
    q.sectors[1].seed.size = 31;
    refused(&t, &q, "sectors[1].seed", "31 bytes, expected 32");
    q.sectors[1].seed.size = 0;
    refused(&t, &q, "sectors[1].seed", "0 bytes, expected 32");
    q.sectors[1].seed.size = 32;
    q.sectors[1].comm_r_old = q.sectors[1].seed;
    refused(&t, &q, "sectors[1].comm_r_old", "the proofs are seals'");
    clear(&q);
    updates(&q, "bad", 1);
    q.r.aggregate_version = 1;
    refused(&t, &q, "aggregate_version", "version 2 alone");
    clear(&q);
    service_stop(&t);
}

static void says_where_powers_are_looked_for(void **state)
{
    test_service t;
    request q;
    char path[1024];
    const char *dir = params("powerless", false);
    (void)state;

    (void)snprintf(path, sizeof path, "%s/%s is not there", dir, FIL_SRS_NAME);
    start(&t, dir, NULL, GIB);
    seals(&q, "two", "porep-v1_1", 5, 2);
    refused(&t, &q, "srs", path);
    clear(&q);
    service_stop(&t);
}

/* ---- jobs that fail ---- */

static void fails(test_service *t, const request *q, cuzk_class klass, const char *tells)
{
    told what;

    run(t, q, &what);
    assert_int_equal(what.state, CUZK_JOB_FAILED);
    if (strstr(what.error.message, tells) == NULL && strstr(what.error.where, tells) == NULL)
        harness_fail("%s, %s: no %s", what.error.where, what.error.message, tells);
    assert_int_equal(what.error.klass, klass);
    assert_int_equal(what.proof_size, 0);
}

static void bad_inputs(void **state)
{
    test_service t;
    request q, other;
    told what;
    uint8_t zero[32] = {0};
    (void)state;

    start(&t, params("inputs", true), NULL, GIB);
    seals(&q, "bad", "porep-v1_1", 5, MANY);
    fails(&t, &q, CUZK_CLASS_LIMIT, "reaches to 16 proofs, 17 are padded to 32");
    q.r.n_sectors = 5;
    q.sectors[3].sector_number++;
    fails(&t, &q, CUZK_CLASS_UNSATISFIED, "proof 3 (sector 3, partition 0) does not verify");
    q.r.trust_inputs = true; /* found out after, and named all the same */
    fails(&t, &q, CUZK_CLASS_UNSATISFIED, "proof 3 (sector 3, partition 0) does not verify");
    q.sectors[3].sector_number--;
    completes(&t, &q, &what);
    q.sectors[4].proof.size = 191;
    fails(&t, &q, CUZK_CLASS_SHAPE, "proof of 191 bytes, 1 partitions have 192");
    q.sectors[4].proof.size = 192;
    q.proofs[1][0] ^= 0x80;
    fails(&t, &q, CUZK_CLASS_MALFORMED, "sector 1, partition 0");
    q.proofs[1][0] ^= 0x80;
    q.sectors[2].comm_d = hash_at(zero);
    fails(&t, &q, CUZK_CLASS_MALFORMED, "sector 2");
    q.sectors[2].comm_d = q.sectors[1].comm_d;

    updates(&other, "key", 1); /* proofs of another key */
    q.r.trust_inputs = false;
    q.sectors[1].proof = other.sectors[0].proof;
    fails(&t, &q, CUZK_CLASS_UNSATISFIED, "proof 1 (sector 1, partition 0)");
    clear(&other);
    clear(&q);

    seals(&q, "ni", "porep-ni", 15, 1);
    q.r.aggregate_version = 1;
    fails(&t, &q, CUZK_CLASS_SHAPE, "version 2 alone");
    clear(&q);
    service_stop(&t);
}

/* The file that is there is not what it should be. */
static void other_powers(void **state)
{
    const char *dir = params("powers", true);
    char path[1024];
    test_service t;
    request q;
    told what;
    size_t size;
    (void)state;

    (void)snprintf(path, sizeof path, "%s/%s", dir, FIL_SRS_NAME);
    uint8_t *srs = harness_read_file(path, &size), kept[48];
    uint8_t *third = srs + 4 + 2 * 48; /* alpha^2 is now g^(alpha^5) */
    memcpy(kept, third, 48);
    memcpy(third, third + 3 * 48, 48);
    harness_write_file(path, srs, size);
    start(&t, dir, NULL, GIB);
    seals(&q, "four", "porep-v1_1", 5, 3);
    fails(&t, &q, CUZK_CLASS_IO, "does not hold powers of two secrets");
    memcpy(third, kept, 48); /* put right: the same request is tried again */
    harness_write_file(path, srs, size);
    completes(&t, &q, &what);
    free(srs);
    clear(&q);
    service_stop(&t);
}

static void no_verifying_key(void **state)
{
    const char *dir = params("keyless", true);
    char path[FIL_PATH_MAX];
    test_service t;
    request q;
    (void)state;

    assert_status_ok(fil_key_path(path, dir, FIL_POREP, fil_size_by_bytes(2048), ".vk"));
    assert_int_equal(remove(path), 0);
    start(&t, dir, NULL, GIB);
    seals(&q, "two", "porep-v1_1", 5, 2);
    fails(&t, &q, CUZK_CLASS_IO, ".vk");
    clear(&q);
    service_stop(&t);
}

static void never_fits(void **state)
{
    test_service t;
    request q;
    (void)state;

    start(&t, params("small", true), NULL, (uint64_t)400 << 10);
    seals(&q, "sixteen", "porep-v1_1", 5, 16);
    fails(&t, &q, CUZK_CLASS_RESOURCE, "memory");
    clear(&q);
    service_stop(&t);
}

/* ---- stopped ---- */

static void held_back(void **state)
{
    test_service t;
    request q;
    told what;
    cuzk_ticket k;
    bool running;
    (void)state;

    start(&t, params("held", true), NULL, GIB);
    stage_hold(service_of(t.s)->synthesis, true);
    seals(&q, "two", "porep-v1_1", 5, 2);
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &running));
    wait_for_job(t.s, k.job_id, 60000, &what);
    assert_int_equal(what.state, CUZK_JOB_CANCELLED);
    stage_hold(service_of(t.s)->synthesis, false);
    completes(&t, &q, &what); /* a new attempt under the same id */
    is_file(&what, DIR "aggregate/two-seals-v2.bin");
    clear(&q);
    service_stop(&t);
}

/* What an aggregate takes is known before it is let in: a second one need not wait for the first one's end. */
static void side_by_side(void **state)
{
    test_service t;
    request q[2];
    cuzk_ticket k[2];
    told what;
    stage_state at = {0};
    (void)state;

    start(&t, params("beside", true), NULL, GIB);
    stage_hold(service_of(t.s)->synthesis, true);
    for (size_t i = 0; i < 2; i++) {
        seals(&q[i], i == 0 ? "first" : "second", "porep-v1_1", 5, 2);
        assert_status_ok(cuzk_job_submit(t.s, &q[i].r, &k[i]));
    }
    for (unsigned tries = 0; tries < 6000 && at.waiting < 2; tries++) {
        service_pause(20);
        stage_get(service_of(t.s)->synthesis, &at);
    }
    assert_int_equal(at.waiting, 2);
    stage_hold(service_of(t.s)->synthesis, false);
    for (size_t i = 0; i < 2; i++) {
        wait_for_job(t.s, k[i].job_id, 600000, &what);
        is_file(&what, DIR "aggregate/two-seals-v2.bin");
        clear(&q[i]);
    }
    service_stop(&t);
}

static void resumed(void **state)
{
    const char *dir = params("resumed", true);
    char db[512];
    test_service t;
    request q;
    told what;
    cuzk_ticket k;
    (void)state;

    (void)snprintf(db, sizeof db, "%s", harness_temp_path("jobs.db"));
    start(&t, dir, db, GIB);
    if (service_of(t.s)->store == NULL) {
        service_stop(&t);
        return;
    }
    stage_hold(service_of(t.s)->synthesis, true); /* nothing of it ends before the end */
    seals(&q, "two", "porep-v1_1", 5, 2);
    q.r.aggregate_version = 1;
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    service_stop(&t);

    start(&t, dir, db, GIB);
    wait_for_job(t.s, "two", 600000, &what);
    assert_int_equal(what.state, CUZK_JOB_COMPLETED);
    is_file(&what, DIR "aggregate/two-seals-v1.bin");
    service_stop(&t);

    start(&t, dir, db, GIB); /* its result outlives the process, and its request is known */
    assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
    assert_true(k.known);
    wait_for_job(t.s, "two", 600000, &what);
    is_file(&what, DIR "aggregate/two-seals-v1.bin");
    clear(&q);
    service_stop(&t);
}

#ifdef CUZK_VERIFY
/* Cancelled, and the service closed, while it works: the stall is long enough that a look falls into it, or it is tried again. */
static void in_the_middle(void **state)
{
    const char *dir = params("middle", true);
    test_service t;
    request q;
    told what;
    cuzk_ticket k;
    bool running, seen = false;
    (void)state;

    start(&t, dir, NULL, GIB);
    seals(&q, "two", "porep-v1_1", 5, 2);
    for (unsigned tries = 0; tries < 20 && !seen; tries++) {
        q.sectors[0].miner_id++; /* another job, that would fail */
        q.r.trust_inputs = true;
        fault_arm("aggregate:400");
        assert_status_ok(cuzk_job_submit(t.s, &q.r, &k));
        for (unsigned look = 0; look < 4000; look++) {
            char *s = document(t.s, "/status");
            bool ended = strstr(s, "\"phase\":\"aggregating\"") != NULL;
            free(s);
            if (ended) break;
            service_pause(1);
        }
        assert_status_ok(cuzk_job_cancel(t.s, k.job_id, &running));
        wait_for_job(t.s, k.job_id, 60000, &what);
        seen = running && what.state == CUZK_JOB_CANCELLED;
        fault_arm(NULL);
    }
    assert_true(seen);
    clear(&q);
    service_stop(&t);
}

static void self_check(void **state)
{
    test_service t;
    request q;
    told what;
    (void)state;

    start(&t, params("check", true), NULL, GIB);
    seals(&q, "two", "porep-v1_1", 5, 2);
    fault_arm("aggregate self check:1");
    fails(&t, &q, CUZK_CLASS_IO, "does not verify, though every proof does");
    fault_arm(NULL);
    completes(&t, &q, &what);
    clear(&q);
    service_stop(&t);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_references_bytes),
        cmocka_unit_test(refused_at_once),
        cmocka_unit_test(says_where_powers_are_looked_for),
        cmocka_unit_test(bad_inputs),
        cmocka_unit_test(other_powers),
        cmocka_unit_test(no_verifying_key),
        cmocka_unit_test(never_fits),
        cmocka_unit_test(held_back),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(resumed),
#ifdef CUZK_VERIFY
        cmocka_unit_test(in_the_middle),
        cmocka_unit_test(self_check),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
