/*
 * unit/base/test_bytes.c - bounded reading, growing output, hexadecimal
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "base/bytes.h"

static void test_reads_in_order(void **state)
{
    static const uint8_t data[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
                                   0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10,
                                   0x11, 0x12, 0x13, 0x14, 0x15, 0x16};
    bytes_in b = bytes_in_of(data, sizeof data);
    uint8_t u8, two[2];
    uint32_t u32;
    uint64_t u64;
    const uint8_t *view;

    (void)state;
    assert_status_ok(bytes_get_u8(&b, &u8));
    assert_int_equal(u8, 1);
    assert_status_ok(bytes_get_u32le(&b, &u32));
    assert_int_equal(u32, 0x05040302);
    assert_status_ok(bytes_get_u32be(&b, &u32));
    assert_int_equal(u32, 0x06070809);
    assert_status_ok(bytes_get_u64le(&b, &u64));
    assert_true(u64 == UINT64_C(0x11100f0e0d0c0b0a));
    assert_status_ok(bytes_get(&b, two, 2));
    assert_int_equal(two[1], 0x13);
    assert_status_ok(bytes_view(&b, &view, 1));
    assert_ptr_equal(view, data + 19);
    assert_status_is(bytes_end(&b), CUZK_EDATA);
    assert_error_mentions("2 bytes left over at offset 20");
    assert_status_ok(bytes_skip(&b, 2));
    assert_status_ok(bytes_end(&b));
    assert_status_ok(bytes_skip(&b, 0));
    assert_status_ok(bytes_get(&b, NULL, 0));
}

/* One byte short: refused with the offset, and nothing moves or is written. */
static void test_one_byte_short(void **state)
{
    static const uint8_t data[8] = {0};
    uint8_t out[9] = {7}, u8 = 7;
    uint32_t u32 = 7;
    uint64_t u64 = 7;
    const uint8_t *view = out;

    (void)state;
    for (size_t size = 0; size < 8; size++) {
        bytes_in b = bytes_in_of(data, size);

        b.pos = size == 0 ? 0 : 1;
        assert_status_is(bytes_get_u64le(&b, &u64), CUZK_EDATA);
        assert_error_class(CUZK_CLASS_MALFORMED);
        assert_status_is(bytes_get(&b, out, size + 1), CUZK_EDATA);
        assert_status_is(bytes_view(&b, &view, size + 1), CUZK_EDATA);
        assert_status_is(bytes_skip(&b, SIZE_MAX), CUZK_EDATA);
        if (size < 5) {
            assert_status_is(bytes_get_u32le(&b, &u32), size == 4 + b.pos ? CUZK_OK : CUZK_EDATA);
            assert_status_is(bytes_get_u32be(&b, &u32), size == 4 + b.pos ? CUZK_OK : CUZK_EDATA);
        }
        assert_int_equal(b.pos, size == 0 ? 0 : 1);
    }
    {
        bytes_in b = bytes_in_of(data, 0);

        assert_status_is(bytes_get_u8(&b, &u8), CUZK_EDATA);
        assert_error_mentions("offset 0, 1 bytes wanted");
        b = bytes_in_of(NULL, 0);
        assert_status_ok(bytes_end(&b));
    }
    assert_int_equal(u8, 7);
    assert_int_equal(u32, 7);
    assert_true(u64 == 7);
    assert_int_equal(out[0], 7);
    assert_ptr_equal(view, out);
}

static void test_output_grows(void **state)
{
    mem *m = NULL;
    bytes_out o;
    uint8_t want[100000];

    (void)state;
    assert_status_ok(mem_open(&m, "t", 0, NULL));
    bytes_out_init(&o, m);
    for (size_t i = 0; i < sizeof want; i++) want[i] = (uint8_t)(i * 31);
    for (size_t i = 0, n = 0; i < sizeof want; i += n) {
        n = i % 777;
        if (n > sizeof want - i) n = sizeof want - i;
        if (n == 0) n = 1;
        bytes_put(&o, want + i, n);
    }
    assert_status_ok(bytes_out_status(&o));
    assert_int_equal(o.size, sizeof want);
    assert_bytes_equal(o.data, want, sizeof want);
    bytes_out_clear(&o);
    assert_int_equal(o.size, 0);
    assert_int_equal(mem_used(m), 0);

    bytes_put_u8(&o, 1);
    bytes_put_u32le(&o, 0x05040302);
    bytes_put_u64le(&o, UINT64_C(0x0d0c0b0a09080706));
    bytes_put_u32be(&o, 0x0e0f1011);
    bytes_put_u64be(&o, UINT64_C(0x1213141516171819));
    bytes_put(&o, NULL, 0);
    assert_hex_equal(o.data, o.size, "01 02030405 060708090a0b0c0d 0e0f1011 1213141516171819");
    bytes_out_clear(&o);
    mem_close(m);
}

static void test_printf(void **state)
{
    mem *m = NULL;
    bytes_out o;
    char text[600];

    (void)state;
    assert_status_ok(mem_open(&m, "t", 0, NULL));
    bytes_out_init(&o, m);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    bytes_printf(&o, "%s", "");
    bytes_printf(&o, "a=%d ", 5);
    bytes_printf(&o, "%s", text);
    bytes_printf(&o, "%c", 'e');
    assert_status_ok(bytes_out_status(&o));
    assert_int_equal(o.size, 4 + 599 + 1);
    assert_memory_equal(o.data, "a=5 xxx", 7);
    assert_int_equal(o.data[o.size - 1], 'e');
    bytes_out_clear(&o);
    mem_close(m);
}

/* The first failure stays, later output is not lost in the middle of it. */
static void test_output_errors_stick(void **state)
{
    mem *m = NULL;
    bytes_out o;

    (void)state;
    assert_status_ok(mem_open(&m, "t", 0, NULL));
    for (unsigned long k = 1; k <= 3; k++) {
        bytes_out_init(&o, m);
        mem_inject_fault(m, k);
        for (size_t i = 0; i < 2000; i++) {
            bytes_put_u8(&o, 1);
            bytes_printf(&o, "%d", 2);
        }
        assert_true(mem_fault_hit(m));
        assert_status_is(bytes_out_status(&o), CUZK_ENOMEM);
        assert_true(o.size < 4000);
        bytes_out_clear(&o);
        assert_status_ok(bytes_out_status(&o));
        assert_int_equal(mem_used(m), 0);
    }
    mem_inject_fault(m, 0);
    mem_close(m);
}

static void test_hex(void **state)
{
    static const uint8_t bytes[] = {0x00, 0x1f, 0xa0, 0xff};
    uint8_t out[4] = {9, 9, 9, 9};
    char text[9];

    (void)state;
    hex_encode(text, bytes, 4);
    assert_string_equal(text, "001fa0ff");
    hex_encode(text, bytes, 0);
    assert_string_equal(text, "");
    assert_true(hex_decode(out, 4, "001FA0ff", 8));
    assert_bytes_equal(out, bytes, 4);
    assert_true(hex_decode(out, 0, "", 0));
    memset(out, 9, sizeof out);
    assert_false(hex_decode(out, 4, "001fa0ff", 7));
    assert_false(hex_decode(out, 3, "001fa0ff", 8));
    assert_false(hex_decode(out, 4, "001fa0fg", 8));
    assert_false(hex_decode(out, 4, "001fa0f ", 8));
    assert_false(hex_decode(out, 4, "0x1fa0ff", 8));
    assert_false(hex_decode(out, 4, "001fa0f\xff", 8));
    for (size_t i = 0; i < 4; i++) assert_int_equal(out[i], 9); /* nothing before all is judged */
}

static void test_loads_and_stores(void **state)
{
    uint8_t b[17];

    (void)state;
    for (size_t at = 0; at < 8; at++) { /* any alignment */
        uint64_t v = harness_random_u64();

        memset(b, 0xee, sizeof b);
        store_u64le(b + at, v);
        assert_true(load_u64le(b + at) == v);
        assert_int_equal(b[at], v & 0xff);
        store_u64be(b + at, v);
        assert_true(load_u64be(b + at) == v);
        assert_int_equal(b[at], v >> 56);
        store_u32le(b + at, (uint32_t)v);
        assert_true(load_u32le(b + at) == (uint32_t)v);
        store_u32be(b + at, (uint32_t)v);
        assert_true(load_u32be(b + at) == (uint32_t)v);
        assert_int_equal(b[at + 8], 0xee);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_in_order),      cmocka_unit_test(test_one_byte_short),
        cmocka_unit_test(test_output_grows),        cmocka_unit_test(test_printf),
        cmocka_unit_test(test_output_errors_stick), cmocka_unit_test(test_hex),
        cmocka_unit_test(test_loads_and_stores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
