/*
 * unit/circuit/porep_case.h - PoRep cases of fixtures/filecoin: read, synthesised, compared with the reference's assignment
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_CIRCUIT_POREP_CASE_H
#define UNIT_CIRCUIT_POREP_CASE_H

#include "support.h"

#include "circuit/filecoin/porep_witness.h"

typedef struct porep_case {
    const char *folder; /* "2kib/porep-v1" */
    uint64_t bytes;     /* of a sector */
    uint32_t layers;
} porep_case;

static inline porep_c1 *porep_case_file(const char *file, uint64_t bytes, uint32_t layers, mem *m)
{
    const porep_shape shape = {fil_size_porep(bytes, layers), layers};
    porep_c1 *c1 = NULL;
    char path[256];
    size_t size;
    uint8_t *json;

    (void)snprintf(path, sizeof path, "filecoin/%s", file);
    json = harness_read_file(harness_fixture(path), &size);
    assert_status_ok(porep_c1_read(&c1, json, size, &shape, m));
    free(json);
    return c1;
}

static inline porep_c1 *porep_case_read(const porep_case *c, mem *m)
{
    char file[128];

    (void)snprintf(file, sizeof file, "%s/c1.json", c->folder);
    return porep_case_file(file, c->bytes, c->layers, m);
}

static inline r1cs_system *porep_case_system(const porep_case *c, mem *m)
{
    const fil_size *s = fil_size_porep(c->bytes, c->layers);
    r1cs_system *sys = NULL;

    assert_status_ok(porep_system_new(&sys, support_poseidon(), c->folder, s, c->layers,
                                      s->porep_challenges, m));
    return sys;
}

/** Any fault in what the circuit does not read fails the test. */
static const fil_redundant porep_case_strict = {.strict = true};

static inline porep_run porep_case_run(pool *p, mem *m)
{
    return (porep_run){.ps = support_poseidon(), .redundant = &porep_case_strict, .p = p, .m = m};
}

/** Partition k of a case: checked alone and with the assignment, which is assignment[entry] of the reference's, and the rows
 *  hold. */
static inline void porep_case_partition(const porep_case *c, const r1cs_system *sys,
                                        const porep_c1 *c1, uint32_t k, size_t entry, pool *p)
{
    mem *m = support_mem(); /* of the synthesis alone */
    const porep_run run = porep_case_run(p, m);
    r1cs_assignment *w = NULL;
    r1cs_fault fault;
    expected_assignment want;

    expected_assignment_read(&want, c->folder, entry);
    assert_status_ok(porep_c1_check(c1, k, &run));
    assert_int_equal(mem_peak(m), porep_check_size(c1));
    assert_status_ok(porep_synthesize(&w, sys, c1, k, &run));
    assert_int_equal(mem_peak(m), porep_check_size(c1) + r1cs_assignment_size(sys));
    support_check_assignment(sys, w, &want);
    assert_status_ok(r1cs_check(sys, w, p, NULL, &fault));
    assert_false(fault.found);
    r1cs_assignment_free(w);
    expected_assignment_clear(&want);
    support_close(m);
}

static inline void porep_case_check(const porep_case *c, pool *p)
{
    mem *m = support_mem();
    porep_c1 *c1 = porep_case_read(c, m);
    r1cs_system *sys = porep_case_system(c, m);

    (void)printf("%s\n", c->folder);
    for (uint32_t k = 0; k < c1->n_partitions; k++) porep_case_partition(c, sys, c1, k, k, p);
    r1cs_free(sys);
    porep_c1_free(c1);
    support_close(m);
}

#endif
