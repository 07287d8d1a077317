/*
 * unit/app/test_rpc_request.c - requests as views: what protobuf-c packs is what we read; damaged ones are refused
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/rpc_int.h"
#include "harness/harness.h"
#include "wire/proto/proving.pb-c.h"

typedef Cuzk__V1__SubmitProofRequest message;
typedef Cuzk__V1__AggregateProofsRequest aggregation;
typedef Cuzk__V1__AggregateSector sector;

static uint8_t noise[300];

static ProtobufCBinaryData random_bytes(void)
{
    size_t n = harness_random_below(5) == 0 ? 0 : harness_random_below(200);
    size_t at = harness_random_below(100);

    return (ProtobufCBinaryData){n, noise + at};
}

static uint64_t random_number(void)
{
    return harness_random_u64() >> harness_random_below(64);
}

static void same(cuzk_bytes got, ProtobufCBinaryData want)
{
    assert_int_equal(got.size, want.len);
    if (want.len != 0) assert_memory_equal(got.data, want.data, want.len);
}

static void check(const rpc_request *q, const message *m)
{
    const cuzk_request *r = &q->r;

    assert_string_equal(r->request_id == NULL ? "" : r->request_id, m->request_id);
    assert_string_equal(r->circuit == NULL ? "" : r->circuit, m->circuit);
    assert_int_equal(r->kind, m->proof_kind);
    assert_int_equal(r->priority, m->priority);
    assert_int_equal(r->sector_size, m->sector_size);
    assert_int_equal(r->registered_proof, m->registered_proof);
    assert_int_equal(r->sector_number, m->sector_number);
    assert_int_equal(r->miner_id, m->miner_id);
    assert_int_equal(r->partition_index, m->partition_index);
    same(r->vanilla_proof, m->vanilla_proof);
    same(r->randomness, m->randomness);
    same(r->comm_r_old, m->comm_r_old);
    same(r->comm_r_new, m->comm_r_new);
    same(r->comm_d_new, m->comm_d_new);
    same(r->witness, m->witness);
    same(r->input_json, m->input_json);
    assert_int_equal(r->n_vanilla_proofs, m->n_vanilla_proofs);
    for (size_t i = 0; i < m->n_vanilla_proofs; i++)
        same(r->vanilla_proofs[i], m->vanilla_proofs[i]);
}

static void fill(message *m, ProtobufCBinaryData *proofs, char *id, char *circuit)
{
    static const int kinds[] = {0, 1, 2, 3, 4, 100};

    cuzk__v1__submit_proof_request__init(m);
    m->request_id = id;
    m->circuit = circuit;
    m->proof_kind = (Cuzk__V1__ProofKind)kinds[harness_random_below(6)];
    m->priority = (Cuzk__V1__Priority)harness_random_below(5);
    m->sector_size = random_number();
    m->registered_proof = random_number();
    m->sector_number = random_number();
    m->miner_id = random_number();
    m->partition_index = (uint32_t)random_number();
    m->vanilla_proof = random_bytes();
    m->randomness = random_bytes();
    m->comm_r_old = random_bytes();
    m->comm_r_new = random_bytes();
    m->comm_d_new = random_bytes();
    m->witness = random_bytes();
    m->input_json = random_bytes();
    m->n_vanilla_proofs = harness_random_below(41);
    for (size_t i = 0; i < m->n_vanilla_proofs; i++) proofs[i] = random_bytes();
    m->vanilla_proofs = proofs;
}

static void test_reads_what_is_packed(void **state)
{
    static ProtobufCBinaryData proofs[40];
    static uint8_t packed[20000];
    char id[] = "wdpost-1000-0-[1 2 3 \xe2\x82\xac]", circuit[] = "mult3", none[] = "";

    (void)state;
    harness_random_bytes(noise, sizeof noise);
    for (size_t round = 0; round < harness_iters(500); round++) {
        message m;
        Cuzk__V1__ProveRequest p = CUZK__V1__PROVE_REQUEST__INIT;
        rpc_request q;
        size_t n;

        fill(&m, proofs, round % 2 == 0 ? id : none, round % 3 == 0 ? circuit : none);
        n = cuzk__v1__submit_proof_request__pack(&m, packed);
        assert_status_ok(rpc_request_read(&q, bytes_in_of(packed, n), false));
        check(&q, &m);
        rpc_request_clear(&q);

        p.submit = &m;
        n = cuzk__v1__prove_request__pack(&p, packed);
        assert_status_ok(rpc_request_read(&q, bytes_in_of(packed, n), true));
        assert_true(q.has_submit);
        check(&q, &m);
        rpc_request_clear(&q);
        /* cut anywhere: read, or refused, as protobuf-c says */
        size_t cut = harness_random_below(n);
        Cuzk__V1__ProveRequest *u = cuzk__v1__prove_request__unpack(NULL, cut, packed);
        cuzk_status st = rpc_request_read(&q, bytes_in_of(packed, cut), true);
        assert_int_equal(st == CUZK_OK, u != NULL);
        rpc_request_clear(&q);
        if (u != NULL) cuzk__v1__prove_request__free_unpacked(u, NULL);
    }
}

static void test_merges_and_passes_over(void **state)
{
    /* kind 1, unknown field 50, kind 4, circuit "a", circuit "b" */
    static const uint8_t in[] = {0x10, 1,    0x92, 0x03, 2,    9,    9, 0x10, 4,
                                 0xa2, 0x06, 1,    'a',  0xa2, 0x06, 1, 'b'};
    rpc_request q;

    (void)state;
    assert_status_ok(rpc_request_read(&q, bytes_in_of(in, sizeof in), false));
    assert_int_equal(q.r.kind, 4);
    assert_string_equal(q.r.circuit, "b");
    rpc_request_clear(&q);
    assert_status_ok(rpc_request_read(&q, bytes_in_of(in, 0), true));
    assert_false(q.has_submit);
    rpc_request_clear(&q);
}

static void test_refuses(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } cases[] = {
        {"\x0a\x02\xff\xfe", 4, "request_id"},
        {"\x0a\x03"
         "a\0b",
         5, "request_id"},
        {"\x08\x01", 2, "request_id: wire type 0"},
        {"\x12\x01\x01", 3, "proof_kind: wire type 2"},
        {"\x52\x7f\x01", 3, "field 10: 127 bytes"},
        {"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "64 bits"},
        {"\x10", 1, "end of input"},
        {"\x03", 1, "field number 0"},
        {"\x0b", 1, "wire type 3"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rpc_request q;

        assert_status_is(rpc_request_read(&q, bytes_in_of(cases[i].bytes, cases[i].size), false),
                         CUZK_EDATA);
        assert_error_mentions(cases[i].text);
        rpc_request_clear(&q);
    }
}

/* ---- aggregates ---- */

#define SECTORS 40

static void fill_sector(sector *s)
{
    cuzk__v1__aggregate_sector__init(s);
    s->sector_number = random_number();
    s->miner_id = random_number();
    s->proof = random_bytes();
    s->ticket = random_bytes();
    s->seed = random_bytes();
    s->comm_d = random_bytes();
    s->comm_r = random_bytes();
    s->comm_r_old = random_bytes();
    s->comm_r_new = random_bytes();
    s->comm_d_new = random_bytes();
}

static void check_sector(const cuzk_sector *s, const sector *m)
{
    assert_int_equal(s->sector_number, m->sector_number);
    assert_int_equal(s->miner_id, m->miner_id);
    same(s->proof, m->proof);
    same(s->ticket, m->ticket);
    same(s->seed, m->seed);
    same(s->comm_d, m->comm_d);
    same(s->comm_r, m->comm_r);
    same(s->comm_r_old, m->comm_r_old);
    same(s->comm_r_new, m->comm_r_new);
    same(s->comm_d_new, m->comm_d_new);
}

static void check_aggregation(const rpc_aggregation *q, const aggregation *m)
{
    const cuzk_request *r = &q->r;

    assert_int_equal(r->kind, CUZK_AGGREGATE);
    assert_string_equal(r->request_id == NULL ? "" : r->request_id, m->request_id);
    assert_int_equal(r->aggregate_of, m->proof_kind);
    assert_int_equal(r->priority, m->priority);
    assert_int_equal(r->sector_size, m->sector_size);
    assert_int_equal(r->registered_proof, m->registered_proof);
    assert_int_equal(r->aggregate_version, m->aggregate_version);
    assert_int_equal(r->trust_inputs, m->trust_inputs);
    assert_int_equal(r->deadline_ms, m->deadline_ms);
    assert_int_equal(q->timeout_ms, m->timeout_ms);
    assert_int_equal(r->n_sectors, m->n_sectors);
    for (size_t i = 0; i < m->n_sectors; i++) check_sector(&r->sectors[i], m->sectors[i]);
}

static void test_reads_aggregations(void **state)
{
    static uint8_t packed[100000];
    static sector sectors[SECTORS];
    sector *list[SECTORS];
    char id[] = "agg-1000-1";

    (void)state;
    harness_random_bytes(noise, sizeof noise);
    for (size_t i = 0; i < SECTORS; i++) list[i] = &sectors[i];
    for (size_t round = 0; round < harness_iters(200); round++) {
        aggregation m = CUZK__V1__AGGREGATE_PROOFS_REQUEST__INIT;
        rpc_aggregation q;
        size_t n;

        if (round % 2 == 0) m.request_id = id;
        m.proof_kind = (Cuzk__V1__ProofKind)harness_random_below(5);
        m.priority = (Cuzk__V1__Priority)harness_random_below(5);
        m.sector_size = random_number();
        m.registered_proof = random_number();
        m.aggregate_version = (uint32_t)random_number();
        m.trust_inputs = round % 3 == 0;
        m.deadline_ms = random_number();
        m.timeout_ms = random_number();
        m.n_sectors = harness_random_below(SECTORS + 1);
        m.sectors = list;
        for (size_t i = 0; i < m.n_sectors; i++) fill_sector(&sectors[i]);
        n = cuzk__v1__aggregate_proofs_request__pack(&m, packed);
        assert_status_ok(rpc_aggregation_read(&q, bytes_in_of(packed, n)));
        check_aggregation(&q, &m);
        rpc_aggregation_clear(&q);
        /* cut anywhere: read, or refused, as protobuf-c says */
        size_t cut = harness_random_below(n + 1);
        aggregation *u = cuzk__v1__aggregate_proofs_request__unpack(NULL, cut, packed);
        cuzk_status st = rpc_aggregation_read(&q, bytes_in_of(packed, cut));
        assert_int_equal(st == CUZK_OK, u != NULL);
        rpc_aggregation_clear(&q);
        if (u != NULL) cuzk__v1__aggregate_proofs_request__free_unpacked(u, NULL);
    }
}

static void test_refuses_aggregations(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *where;
    } cases[] = {
        {"\x0a\x01\xff", 3, "request_id"},
        {"\x50\x01", 2, "sectors"},
        {"\x52\x00\x52\x03\xca\x01\x02", 7, "sectors[1]"}, /* ends in its seed */
        {"\x52\x03\xc8\x01\x02", 5, "sectors[0], seed"},   /* seed: a number */
        {"\xaa\x01\x00", 3, "trust_inputs"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rpc_aggregation q;

        assert_status_is(rpc_aggregation_read(&q, bytes_in_of(cases[i].bytes, cases[i].size)),
                         CUZK_EDATA);
        assert_string_equal(cuzk_last_error()->where, cases[i].where);
        rpc_aggregation_clear(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_is_packed), cmocka_unit_test(test_merges_and_passes_over),
        cmocka_unit_test(test_refuses), cmocka_unit_test(test_reads_aggregations),
        cmocka_unit_test(test_refuses_aggregations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
