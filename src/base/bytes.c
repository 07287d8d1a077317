/*
 * base/bytes.c - bounded cursors for reading and writing, hexadecimal
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/bytes.h"

#include "base/u128.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CAP ((size_t)256)

/* ---- reading ---- */

cuzk_status bytes_view(bytes_in *b, const uint8_t **out, size_t n)
{
    if (n > bytes_left(b))
        return FAIL(CUZK_EDATA, "end of input at offset %zu, %zu bytes wanted at offset %zu",
                    b->size, n, b->pos);
    *out = b->data + b->pos;
    b->pos += n;
    return CUZK_OK;
}

cuzk_status bytes_skip(bytes_in *b, size_t n)
{
    const uint8_t *p;

    return bytes_view(b, &p, n);
}

cuzk_status bytes_get(bytes_in *b, void *out, size_t n)
{
    const uint8_t *p;

    TRY(bytes_view(b, &p, n));
    if (n != 0) memcpy(out, p, n);
    return CUZK_OK;
}

cuzk_status bytes_get_u8(bytes_in *b, uint8_t *v)
{
    const uint8_t *p;

    TRY(bytes_view(b, &p, 1));
    *v = *p;
    return CUZK_OK;
}

cuzk_status bytes_get_u32le(bytes_in *b, uint32_t *v)
{
    const uint8_t *p;

    TRY(bytes_view(b, &p, 4));
    *v = load_u32le(p);
    return CUZK_OK;
}

cuzk_status bytes_get_u64le(bytes_in *b, uint64_t *v)
{
    const uint8_t *p;

    TRY(bytes_view(b, &p, 8));
    *v = load_u64le(p);
    return CUZK_OK;
}

cuzk_status bytes_get_u32be(bytes_in *b, uint32_t *v)
{
    const uint8_t *p;

    TRY(bytes_view(b, &p, 4));
    *v = load_u32be(p);
    return CUZK_OK;
}

cuzk_status bytes_end(const bytes_in *b)
{
    if (b->pos != b->size)
        return FAIL(CUZK_EDATA, "%zu bytes left over at offset %zu", bytes_left(b), b->pos);
    return CUZK_OK;
}

/* ---- writing ---- */

void bytes_out_init(bytes_out *o, mem *m)
{
    o->m = m;
    o->data = NULL;
    o->size = o->cap = 0;
    o->st = CUZK_OK;
}

void bytes_out_clear(bytes_out *o)
{
    mem_free(o->m, o->data);
    bytes_out_init(o, o->m);
}

/* Room for n more bytes; NULL after a failure, now or earlier. */
static uint8_t *room(bytes_out *o, size_t n)
{
    size_t need, cap;
    uint8_t *p;

    if (o->st != CUZK_OK) return NULL;
    if (n <= o->cap - o->size) return o->data + o->size;
    if (!size_add(&need, o->size, n) || need > SIZE_MAX / 4) {
        o->st = FAIL(CUZK_ENOMEM, "output of %zu and %zu more bytes", o->size, n);
        return NULL;
    }
    for (cap = o->cap == 0 ? FIRST_CAP : o->cap; cap < need;) cap *= 2;
    p = mem_new(o->m, cap, 1, &o->st);
    if (p == NULL) return NULL;
    if (o->size != 0) memcpy(p, o->data, o->size);
    mem_free(o->m, o->data);
    o->data = p;
    o->cap = cap;
    return p + o->size;
}

void bytes_put(bytes_out *o, const void *p, size_t n)
{
    uint8_t *to = room(o, n);

    if (to == NULL || n == 0) return;
    memcpy(to, p, n);
    o->size += n;
}

void bytes_put_u8(bytes_out *o, uint8_t v)
{
    bytes_put(o, &v, 1);
}

void bytes_put_u32le(bytes_out *o, uint32_t v)
{
    uint8_t b[4];

    store_u32le(b, v);
    bytes_put(o, b, sizeof b);
}

void bytes_put_u64le(bytes_out *o, uint64_t v)
{
    uint8_t b[8];

    store_u64le(b, v);
    bytes_put(o, b, sizeof b);
}

void bytes_put_u32be(bytes_out *o, uint32_t v)
{
    uint8_t b[4];

    store_u32be(b, v);
    bytes_put(o, b, sizeof b);
}

void bytes_put_u64be(bytes_out *o, uint64_t v)
{
    uint8_t b[8];

    store_u64be(b, v);
    bytes_put(o, b, sizeof b);
}

void bytes_printf(bytes_out *o, const char *fmt, ...)
{
    va_list ap;
    int n;
    uint8_t *to;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0) {
        if (o->st == CUZK_OK) o->st = FAIL(CUZK_EINVAL, "a format that cannot be printed");
        return;
    }
    to = room(o, (size_t)n + 1);
    if (to == NULL) return;
    va_start(ap, fmt);
    (void)vsnprintf((char *)to, (size_t)n + 1, fmt, ap); /* measured just above */
    va_end(ap);
    o->size += (size_t)n;
}

cuzk_status bytes_out_status(const bytes_out *o)
{
    return o->st;
}

/* ---- hexadecimal ---- */

void hex_encode(char *out, const uint8_t *in, size_t n)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[in[i] >> 4];
        out[2 * i + 1] = digits[in[i] & 15];
    }
    out[2 * n] = '\0';
}

/* 16 for what is no digit */
static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return 16;
}

bool hex_decode(uint8_t *out, size_t n, const char *in, size_t in_len)
{
    if (in_len % 2 != 0 || in_len / 2 != n) return false;
    for (size_t i = 0; i < n; i++) /* judge first: out changes only on success */
        if (hex_digit(in[2 * i]) > 15 || hex_digit(in[2 * i + 1]) > 15) return false;
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(hex_digit(in[2 * i]) << 4 | hex_digit(in[2 * i + 1]));
    return true;
}
