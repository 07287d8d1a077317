/*
 * unit/app/test_rpc_ni_long.c - a non-interactive C1 goes in by gRPC, and the aggregate of the reference comes out to the byte
 *
 * The whole way: Prove over a socket, the service, thirteen partitions, their aggregate. Only the two blinding scalars are not the
 * system's: groth16_prove_start is wrapped by the linker and gets those of the fixture. The key (a gigabyte) is made here, a minute,
 * or lies in the folder CUZK_TEST_PARAMS, made with the fixture's secrets.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <sys/stat.h>
#include <unistd.h>

#include "app/rpc.h"
#include "engine/filecoin.h"
#include "harness/harness.h"
#include "wire/access.h"
#include "wire/grpc_client.h"
#include "wire/proto/proving.pb-c.h"

#define NI "filecoin/2kib/porep-ni/"
#define SRS "filecoin/2kib/aggregate/srs-16.srs"

static cuzk_fixed_rs blinding;

CUZK_STATUS __real_groth16_prove_start(groth16_job **out, dev_stream *s,
                                       const groth16_prove_args *args);
CUZK_STATUS __wrap_groth16_prove_start(groth16_job **out, dev_stream *s,
                                       const groth16_prove_args *args);

cuzk_status __wrap_groth16_prove_start(groth16_job **out, dev_stream *s,
                                       const groth16_prove_args *args)
{
    groth16_prove_args known = *args;

    assert_null(args->fixed);
    known.fixed = &blinding;
    return __real_groth16_prove_start(out, s, &known);
}

/* ---- the daemon's parts ---- */

typedef struct faces {
    cuzk_engine *e;
    cuzk_service *s;
    access_list *access;
    rpc *r;
    gclient *client;
} faces;

static void copy(const char *to, const char *name, const char *from)
{
    char path[1024];
    size_t size;
    uint8_t *data = harness_read_file(from, &size);

    (void)snprintf(path, sizeof path, "%s/%s", to, name);
    harness_write_file(path, data, size);
    free(data);
}

/** A folder with the key and the powers. */
static const char *params(cuzk_engine *e, const char *trapdoors)
{
    const char *made = getenv("CUZK_TEST_PARAMS"), *dir = harness_temp_path("params");
    char from[FIL_PATH_MAX], to[FIL_PATH_MAX];
    static const char *const ends[] = {".params", ".vk"};

    assert_int_equal(mkdir(dir, 0700), 0);
    if (made == NULL) assert_status_ok(cuzk_filecoin_setup(e, "porep-2k", dir, trapdoors));
    for (unsigned i = 0; made != NULL && i < 2; i++) {
        assert_status_ok(fil_key_path(from, made, FIL_POREP, fil_size_by_bytes(2048), ends[i]));
        assert_status_ok(fil_key_path(to, dir, FIL_POREP, fil_size_by_bytes(2048), ends[i]));
        assert_int_equal(symlink(from, to), 0);
    }
    copy(dir, FIL_SRS_NAME, harness_fixture(SRS));
    return dir;
}

static void start(faces *d)
{
    static char address[256];
    static const char *listen[] = {address};
    char trapdoors[512];
    cuzk_config ec = {.threads = 2, .device = "cpu"};

    (void)snprintf(trapdoors, sizeof trapdoors, "%s", harness_fixture("filecoin/trapdoors.json"));
    (void)snprintf(address, sizeof address, "unix://%s", harness_temp_path("rpc.sock"));
    assert_status_ok(cuzk_trapdoors_rs(trapdoors, &blinding));
    assert_status_ok(cuzk_engine_open(&d->e, &ec));
    cuzk_service_config c = {.params_dir = params(d->e, trapdoors), .tunables.retries = 1};
    assert_status_ok(cuzk_service_open(&d->s, d->e, &c));
    assert_status_ok(access_open(&d->access, &(access_config){0}));
    assert_status_ok(rpc_start(
        &d->r, &(rpc_config){.listen = listen, .n_listen = 1, .access = d->access}, d->s));
    assert_status_ok(gclient_open(&d->client, &(gclient_config){.address = address}));
}

static void stop(faces *d)
{
    gclient_close(d->client);
    rpc_stop(d->r, 1000);
    access_close(d->access);
    cuzk_service_close(d->s);
    cuzk_engine_close(d->e);
}

static Cuzk__V1__ProveResponse *prove(faces *d, const Cuzk__V1__ProveRequest *q)
{
    size_t size = cuzk__v1__prove_request__get_packed_size(q);
    uint8_t *packed = malloc(size);
    Cuzk__V1__ProveResponse *a;
    greply reply;

    assert_non_null(packed);
    (void)cuzk__v1__prove_request__pack(q, packed);
    assert_status_ok(gclient_call(d->client, "/cuzk.v1.ProvingEngine/Prove", packed, size,
                                  &(gcall_options){0}, &reply));
    free(packed);
    if (reply.code != GCODE_OK) harness_fail("%d %s", (int)reply.code, reply.text);
    a = cuzk__v1__prove_response__unpack(NULL, reply.size, reply.data);
    assert_non_null(a);
    greply_clear(&reply);
    return a;
}

static void the_references_aggregate(void **state)
{
    Cuzk__V1__SubmitProofRequest s = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    Cuzk__V1__ProveRequest q = CUZK__V1__PROVE_REQUEST__INIT;
    char id[] = "porep-297250-464793";
    size_t size;
    faces d;
    (void)state;

    uint8_t *c1 = harness_read_file(harness_fixture(NI "c1.json"), &s.vanilla_proof.len);
    uint8_t *want = harness_read_file(harness_fixture(NI "proof-aggregate-v2.bin"), &size);
    s.vanilla_proof.data = c1;
    s.request_id = id;
    s.proof_kind = CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
    s.sector_size = 2048;
    s.registered_proof = 15;
    s.miner_id = 297250;
    s.sector_number = 464793;
    q.submit = &s;
    start(&d);
    Cuzk__V1__ProveResponse *a = prove(&d, &q);
    if (a->result->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED)
        harness_fail("%s", a->result->error_message);
    assert_int_equal(a->result->proof.len, size);
    assert_bytes_equal(a->result->proof.data, want, size);
    cuzk__v1__prove_response__free_unpacked(a, NULL);
    stop(&d);
    free(want);
    free(c1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_references_aggregate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
