/*
 * unit/r1cs/test_circom_r1cs.c - circom's constraint systems: the fixtures with their witnesses, and damage
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include "r1cs/circom.h"

/* One linear combination of section 2, evaluated from the file's bytes alone. */
static fr eval_lc(const curve *cv, bytes_in *in, const fr *value)
{
    uint32_t n, wire;
    fr sum = cv->fr_zero, k;

    assert_status_ok(bytes_get_u32le(in, &n));
    for (uint32_t i = 0; i < n; i++) {
        scalar s;

        assert_status_ok(bytes_get_u32le(in, &wire));
        assert_status_ok(bytes_get(in, s.b, 32));
        assert_true(cv->fr_from_scalar(&k, &s));
        cv->fr_mul(&k, &k, &value[wire]);
        cv->fr_add(&sum, &sum, &k);
    }
    return sum;
}

/* First row of the file that the values do not satisfy; n: none. */
static uint32_t first_bad_row(const curve *cv, bytes_in in, uint32_t n, const fr *value)
{
    for (uint32_t row = 0; row < n; row++) {
        fr a = eval_lc(cv, &in, value), b = eval_lc(cv, &in, value), c = eval_lc(cv, &in, value);

        cv->fr_mul(&a, &a, &b);
        if (!cv->fr_eq(&a, &c)) return row;
    }
    assert_int_equal(bytes_left(&in), 0);
    return n;
}

static bytes_in constraints_of(const uint8_t *data, size_t size)
{
    circom_file f;
    bytes_in in;

    assert_status_ok(circom_file_read(&f, data, size, "r1cs"));
    assert_status_ok(circom_file_section(&f, 2, "constraints", &in));
    return in;
}

static fr *value_at(r1cs_assignment *w, uint32_t wire)
{
    return wire < w->n_inputs ? &w->inputs[wire] : &w->elems[wire - w->n_inputs];
}

/* Changes one wire after the other: the row that is named is the file's first that fails. */
static void change_wires(const r1cs_system *sys, r1cs_assignment *w, bytes_in in, fr *value)
{
    uint32_t n_wires = w->n_inputs + w->n_aux, step = 1 + n_wires / 60;
    const curve *cv = sys->cv;
    r1cs_fault fault;

    for (uint32_t i = 1; i < n_wires; i += step) {
        fr keep = value[i];
        uint32_t bad;

        cv->fr_add(&value[i], &keep, &cv->fr_one);
        *value_at(w, i) = value[i];
        bad = first_bad_row(cv, in, sys->n_rows, value);
        assert_status_ok(r1cs_check(sys, w, NULL, NULL, &fault));
        assert_int_equal(fault.found, bad < sys->n_rows);
        if (fault.found) assert_int_equal(fault.row, bad);
        value[i] = keep;
        *value_at(w, i) = keep;
    }
}

static void fixtures_are_satisfied(void **state)
{
    (void)state;
    for (size_t k = 0; k < support_n_circuits; k++) {
        const support_circuit *c = &support_circuits[k];
        const curve *cv = support_curve(c->id);
        mem *m = support_mem();
        size_t size, wtns_size;
        uint8_t *data = support_read(c, "circuit.r1cs", &size);
        uint8_t *wtns = support_read(c, "witness.wtns", &wtns_size);
        circom_r1cs_info info;
        r1cs_system *sys = NULL;
        r1cs_assignment *w = NULL;
        r1cs_fault fault;
        fr *value;

        print_message("%s\n", c->folder);
        assert_status_ok(circom_r1cs_info_read(&info, data, size));
        assert_int_equal(info.curve, c->id);
        assert_status_ok(circom_r1cs_read(&sys, data, size, cpu_table_best(), m));
        assert_int_equal(sys->n_inputs, 1 + info.n_pub_in + info.n_pub_out);
        assert_int_equal(sys->n_inputs + sys->n_aux, info.n_wires);
        assert_int_equal(sys->n_rows, info.n_constraints);
        assert_true(sys->input_rows);
        assert_int_equal(sys->n_instances, 1);
        assert_null(sys->is_elem);
        assert_status_ok(circom_wtns_read(&w, wtns, wtns_size, cv, info.n_wires,
                                          info.n_pub_in + info.n_pub_out, NULL, m));
        assert_status_ok(r1cs_check(sys, w, NULL, NULL, &fault));
        assert_false(fault.found);
        value = calloc(info.n_wires, sizeof *value);
        assert_non_null(value);
        for (uint32_t i = 0; i < info.n_wires; i++) value[i] = *value_at(w, i);
        change_wires(sys, w, constraints_of(data, size), value);
        free(value);
        r1cs_assignment_free(w);
        r1cs_free(sys);
        free(data);
        free(wtns);
        support_close(m);
    }
}

static void unsatisfied_fixture_names_row_0(void **state)
{
    static const support_circuit circuits[] = {{CURVE_ID_BN254, "circom/bn128/mult3"},
                                               {CURVE_ID_BLS12_381, "circom/bls12381/mult3"}};
    static const char *const bad[] = {"circom/bad/bn128-wtns-unsatisfied.wtns",
                                      "circom/bad/bls12381-wtns-unsatisfied.wtns"};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        mem *m = support_mem();
        size_t size, wtns_size;
        uint8_t *data = support_read(&circuits[k], "circuit.r1cs", &size);
        uint8_t *wtns = harness_read_file(harness_fixture(bad[k]), &wtns_size);
        r1cs_system *sys = NULL;
        r1cs_assignment *w = NULL;
        r1cs_fault fault;

        assert_status_ok(circom_r1cs_read(&sys, data, size, CPU_TABLE_GENERIC, m));
        assert_status_ok(circom_wtns_read(&w, wtns, wtns_size, sys->cv, 6, 2, NULL, m));
        assert_status_ok(r1cs_check(sys, w, NULL, NULL, &fault));
        assert_true(fault.found);
        assert_int_equal(fault.row, 0);
        assert_string_equal(fault.tmpl, "r1cs");
        r1cs_assignment_free(w);
        r1cs_free(sys);
        free(data);
        free(wtns);
        support_close(m);
    }
}

/* ---- damage ---- */

static void expect_refusal(const uint8_t *data, size_t size, cuzk_class klass, const char *text)
{
    mem *m = support_mem();
    r1cs_system *sys = NULL;

    assert_status_is(circom_r1cs_read(&sys, data, size, CPU_TABLE_GENERIC, m), CUZK_EDATA);
    assert_error_class(klass);
    assert_error_mentions(text);
    assert_null(sys);
    assert_true(mem_peak(m) < ((size_t)1 << 20)); /* limits come before memory */
    support_close(m);
}

static void refuses_bad_files(void **state)
{
    static const char *const bad[] = {"circom/bad/bn128-r1cs-truncated.r1cs",
                                      "circom/bad/bls12381-r1cs-truncated.r1cs"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        size_t size;
        uint8_t *data = harness_read_file(harness_fixture(bad[i]), &size);

        expect_refusal(data, size, CUZK_CLASS_MALFORMED, "the file has");
        free(data);
    }
}

/* A small file made here: x * x = y, y public; wires one, y, x. Where its parts begin. */
#define IMAGE 400
enum {
    HEADER = 24,
    N8 = 24,
    PRIME = 28,
    WIRES = 60,
    OUTPUTS = 64,
    PUBS = 68,
    PRVS = 72,
    N_ROWS = 84,
    BODY = 100,
    N_A = 100,
    WIRE_A = 104,
    COEFF_A = 108,
    N_B = 140,
    N_C = 180,
    WIRE_C = 184,
    COEFF_C = 188,
    MAP = 232,
    END = 256
};

static size_t small_file(uint8_t b[IMAGE])
{
    const curve *cv = support_curve(CURVE_ID_BN254);
    static const uint32_t wire[3] = {2, 2, 1};
    static const uint8_t magic[4] = {0x72, 0x31, 0x63, 0x73}; /* r1cs */

    memset(b, 0, IMAGE);
    memcpy(b, magic, sizeof magic);
    store_u32le(b + 4, 1);
    store_u32le(b + 8, 3);
    store_u32le(b + 12, 1);
    store_u64le(b + 16, 64);
    store_u32le(b + N8, 32);
    memcpy(b + PRIME, cv->r_le, 32);
    store_u32le(b + WIRES, 3);
    store_u32le(b + OUTPUTS, 1);
    store_u32le(b + PRVS, 1);
    store_u64le(b + 76, 3);
    store_u32le(b + N_ROWS, 1);
    store_u32le(b + 88, 2);
    store_u64le(b + 92, 120);
    for (size_t i = 0; i < 3; i++) {
        store_u32le(b + BODY + 40 * i, 1);
        store_u32le(b + BODY + 40 * i + 4, wire[i]);
        b[BODY + 40 * i + 8] = 1;
    }
    store_u32le(b + 220, 3);
    store_u64le(b + 224, 24);
    for (size_t i = 0; i < 3; i++) store_u64le(b + MAP + 8 * i, i);
    return END;
}

static void counts_that_lie(void **state)
{
    static const struct {
        size_t at;
        uint32_t v;
        cuzk_class klass;
        const char *text;
    } lies[] = {
        {N8, 0, CUZK_CLASS_MALFORMED, "field size 0"},
        {N8, 48, CUZK_CLASS_MALFORMED, "field size 48"},
        {PRIME, 3, CUZK_CLASS_MALFORMED, "prime"},
        {WIRES, 0, CUZK_CLASS_MALFORMED, "0 wires"},
        {WIRES, 2, CUZK_CLASS_MALFORMED, "2 wires"},
        {WIRES, 4, CUZK_CLASS_MALFORMED, "wire map of 24 bytes, 4 wires take 32"},
        {WIRES, UINT32_MAX, CUZK_CLASS_LIMIT, "4294967295 wires"},
        {WIRES, R1CS_MAX_VARS, CUZK_CLASS_MALFORMED, "wire map"},
        {OUTPUTS, UINT32_MAX, CUZK_CLASS_MALFORMED, "4294967295 outputs"},
        {PUBS, 1, CUZK_CLASS_MALFORMED, "1 public"},
        {PUBS, UINT32_MAX, CUZK_CLASS_MALFORMED, "public"},
        {PRVS, UINT32_MAX - 1, CUZK_CLASS_MALFORMED, "private"},
        {N_ROWS, 0, CUZK_CLASS_MALFORMED, "120 bytes after constraint 0"},
        {N_ROWS, 2, CUZK_CLASS_MALFORMED, "constraint 1, A"},
        {N_ROWS, 11, CUZK_CLASS_MALFORMED, "11 constraints in a section of 120 bytes"},
        {N_ROWS, UINT32_MAX, CUZK_CLASS_LIMIT, "4294967295 constraints"},
        {N_A, UINT32_MAX, CUZK_CLASS_MALFORMED, "4294967295 terms"},
        {N_C, 2, CUZK_CLASS_MALFORMED, "2 terms, the section has 36 more bytes"},
        {N_C, 0, CUZK_CLASS_MALFORMED, "36 bytes after constraint 1"},
        {WIRE_A, 3, CUZK_CLASS_MALFORMED, "wire 3, there are 3"},
        {WIRE_C, UINT32_MAX, CUZK_CLASS_MALFORMED, "constraint 0, C"},
    };
    uint8_t b[IMAGE];
    mem *m = support_mem();
    r1cs_system *sys = NULL;

    (void)state;
    assert_status_ok(circom_r1cs_read(&sys, b, small_file(b), CPU_TABLE_GENERIC, m));
    r1cs_free(sys);
    support_close(m);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        size_t size = small_file(b);

        store_u32le(b + lies[i].at, lies[i].v);
        expect_refusal(b, size, lies[i].klass, lies[i].text);
    }
    (void)small_file(b);
    memcpy(b + COEFF_C, support_curve(CURVE_ID_BN254)->r_le, 32);
    expect_refusal(b, END, CUZK_CLASS_MALFORMED, "value not below the scalar prime of bn254");
    assert_error_mentions("constraint 0, C");
}

static void header_of_wrong_size(void **state)
{
    uint8_t b[IMAGE];

    (void)state;
    (void)small_file(b);
    memmove(b + 89, b + 88, END - 88);
    store_u64le(b + 16, 65);
    expect_refusal(b, END + 1, CUZK_CLASS_MALFORMED, "header section: 65 bytes");
}

static size_t with_gates(uint8_t b[IMAGE], uint32_t id, uint64_t size, uint32_t count)
{
    size_t n = small_file(b);

    store_u32le(b + 8, 4);
    store_u32le(b + n, id);
    store_u64le(b + n + 4, size);
    store_u32le(b + n + 12, count);
    return n + 12 + size;
}

static void custom_gates(void **state)
{
    uint8_t b[IMAGE];

    (void)state;
    for (uint32_t id = 4; id <= 5; id++) {
        mem *m = support_mem();
        r1cs_system *sys = NULL;
        size_t n = with_gates(b, id, 4, 0);

        assert_status_ok(circom_r1cs_read(&sys, b, n, CPU_TABLE_GENERIC, m));
        r1cs_free(sys);
        n = with_gates(b, id, 0, 0);
        assert_status_ok(circom_r1cs_read(&sys, b, n, CPU_TABLE_GENERIC, m));
        r1cs_free(sys);
        support_close(m);
        n = with_gates(b, id, 4, 1);
        expect_refusal(b, n, CUZK_CLASS_SHAPE, "custom gates");
        n = with_gates(b, id, 8, 0);
        expect_refusal(b, n, CUZK_CLASS_SHAPE, "custom gates");
        n = with_gates(b, id, 3, 0);
        expect_refusal(b, n, CUZK_CLASS_MALFORMED, "");
    }
}

static void every_truncation_and_missing_section(void **state)
{
    uint8_t b[IMAGE];
    static const size_t ids[] = {12, 88, 220};

    (void)state;
    for (size_t n = 0; n < END; n++) {
        (void)small_file(b);
        expect_refusal(b, n, CUZK_CLASS_MALFORMED, "");
    }
    for (size_t i = 0; i < 3; i++) {
        (void)small_file(b);
        b[ids[i]] = 9;
        expect_refusal(b, END, CUZK_CLASS_MALFORMED, "no section");
    }
}

/* Any byte changed: a clean refusal, or a system. */
static void any_byte_changed(void **state)
{
    uint8_t b[IMAGE];

    (void)state;
    for (size_t i = 0; i < END; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            mem *m = support_mem();
            r1cs_system *sys = NULL;

            (void)small_file(b);
            b[i] ^= (uint8_t)(1u << bit);
            if (circom_r1cs_read(&sys, b, END, CPU_TABLE_GENERIC, m) == CUZK_OK) r1cs_free(sys);
            support_close(m);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures_are_satisfied),
        cmocka_unit_test(unsatisfied_fixture_names_row_0),
        cmocka_unit_test(refuses_bad_files),
        cmocka_unit_test(counts_that_lie),
        cmocka_unit_test(header_of_wrong_size),
        cmocka_unit_test(custom_gates),
        cmocka_unit_test(every_truncation_and_missing_section),
        cmocka_unit_test(any_byte_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
