/*
 * base/bytes.h - bounded cursors: all parsing and emitting goes through these
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "base/mem.h"

/** A view to read from; `pos` <= `size` always. Failures name the offset: "end of input at offset 120, 8 bytes wanted". */
typedef struct bytes_in {
    const uint8_t *data;
    size_t size, pos;
} bytes_in;

static inline bytes_in bytes_in_of(const void *data, size_t size)
{
    bytes_in b = {(const uint8_t *)data, size, 0};
    return b;
}
static inline size_t bytes_left(const bytes_in *b)
{
    return b->size - b->pos;
}

CUZK_STATUS bytes_get(bytes_in *b, void *out, size_t n);
/** *out points into the view: n bytes, borrowed as long as the view's memory. */
CUZK_STATUS bytes_view(bytes_in *b, const uint8_t **out, size_t n);
CUZK_STATUS bytes_skip(bytes_in *b, size_t n);
CUZK_STATUS bytes_get_u8(bytes_in *b, uint8_t *v);
CUZK_STATUS bytes_get_u32le(bytes_in *b, uint32_t *v);
CUZK_STATUS bytes_get_u64le(bytes_in *b, uint64_t *v);
CUZK_STATUS bytes_get_u32be(bytes_in *b, uint32_t *v);
/** Error unless everything was read. */
CUZK_STATUS bytes_end(const bytes_in *b);

/** A growable output in a mem budget. Errors stick: check once with bytes_out_status. */
typedef struct bytes_out {
    mem *m;
    uint8_t *data;
    size_t size, cap;
    cuzk_status st;
} bytes_out;

void bytes_out_init(bytes_out *o, mem *m);
void bytes_out_clear(bytes_out *o);
void bytes_put(bytes_out *o, const void *p, size_t n);
void bytes_put_u8(bytes_out *o, uint8_t v);
void bytes_put_u32le(bytes_out *o, uint32_t v);
void bytes_put_u64le(bytes_out *o, uint64_t v);
void bytes_put_u32be(bytes_out *o, uint32_t v);
void bytes_put_u64be(bytes_out *o, uint64_t v);
void bytes_printf(bytes_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
CUZK_STATUS bytes_out_status(const bytes_out *o);

/* loads and stores at any alignment */
static inline uint32_t load_u32le(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t load_u64le(const uint8_t *p)
{
    return (uint64_t)load_u32le(p) | (uint64_t)load_u32le(p + 4) << 32;
}

static inline uint32_t load_u32be(const uint8_t *p)
{
    return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

static inline uint64_t load_u64be(const uint8_t *p)
{
    return (uint64_t)load_u32be(p + 4) | (uint64_t)load_u32be(p) << 32;
}

static inline void store_u32le(uint8_t *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) p[i] = (uint8_t)(v >> 8 * i);
}

static inline void store_u64le(uint8_t *p, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++) p[i] = (uint8_t)(v >> 8 * i);
}

static inline void store_u32be(uint8_t *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) p[i] = (uint8_t)(v >> 8 * (3 - i));
}

static inline void store_u64be(uint8_t *p, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++) p[i] = (uint8_t)(v >> 8 * (7 - i));
}

/** out[2n+1] from n bytes; lower case. */
void hex_encode(char *out, const uint8_t *in, size_t n);
/** Exactly 2n hex digits; false otherwise. */
bool hex_decode(uint8_t *out, size_t n, const char *in, size_t in_len);

#endif
