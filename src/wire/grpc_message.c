/*
 * wire/grpc_message.c - a message that has come, in one piece: copied together, or inflated up to the limit
 *
 * The library would inflate a message whole before it looks at its size (1.51: 1 MB of zeros becomes 1 GB); so it is told to leave that
 * to us. Source: RFC 1950 (`deflate`), RFC 1952 (`gzip`).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>
#include <zlib.h>

#include "wire/grpc_internal.h"

/** Room for `size` bytes more than the n there are, in a block of the server's requests. */
static CUZK_STATUS grow(gserver *s, uint8_t **data, size_t *cap, size_t n)
{
    uint64_t limit = atomic_load_explicit(&s->max_inflight, memory_order_relaxed);
    uint64_t held = mem_used(s->requests);
    size_t want = *cap == 0 ? n : 2 * *cap;
    cuzk_status st = CUZK_OK;
    uint8_t *more;

    if (want > s->max_message) want = (size_t)s->max_message;
    if (want > limit || held > limit - want)
        return FAIL(CUZK_EBUDGET,
                    "requests in memory: %llu bytes and this one of %zu, limit %llu "
                    "(daemon.max_inflight_bytes)",
                    (unsigned long long)held, want, (unsigned long long)limit);
    more = mem_new(s->requests, want + 1, 1, &st);
    if (more == NULL) return FAIL(CUZK_ENOMEM, "no memory for a message of %zu bytes", want);
    if (*data != NULL) memcpy(more, *data, *cap);
    mem_free(s->requests, *data);
    *data = more;
    *cap = want;
    return CUZK_OK;
}

static CUZK_STATUS copy_all(gserver *s, grpc_byte_buffer *in, uint8_t **data, size_t *size)
{
    size_t n = grpc_byte_buffer_length(in), cap = 0, at = 0;
    grpc_byte_buffer_reader reader;
    grpc_slice slice;

    TRY(grow(s, data, &cap, n));
    if (grpc_byte_buffer_reader_init(&reader, in) == 0)
        return FAIL(CUZK_EDATA, "a message that cannot be read");
    while (grpc_byte_buffer_reader_next(&reader, &slice) != 0) {
        size_t k = GRPC_SLICE_LENGTH(slice);

        if (k > n - at) k = n - at;
        memcpy(*data + at, GRPC_SLICE_START_PTR(slice), k);
        at += k;
        grpc_slice_unref(slice);
    }
    grpc_byte_buffer_reader_destroy(&reader);
    *size = at;
    return CUZK_OK;
}

/** One slice through z; *ended: the end of the compressed data was in it. */
static CUZK_STATUS inflate_slice(gserver *s, z_stream *z, grpc_slice *slice, uint8_t **data,
                                 size_t *cap, size_t *size, bool *ended)
{
    z->next_in = GRPC_SLICE_START_PTR(*slice);
    z->avail_in = (uInt)GRPC_SLICE_LENGTH(*slice);
    while (z->avail_in != 0 && !*ended) {
        uint8_t beyond;
        bool full = *size == s->max_message;

        if (!full && *size == *cap) TRY(grow(s, data, cap, *cap));
        z->next_out = full ? &beyond : *data + *size;
        z->avail_out = full ? 1 : (uInt)(*cap - *size);
        uInt room = z->avail_out;
        int rc = inflate(z, Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return FAIL(CUZK_EDATA, "a compressed message that cannot be inflated: %s",
                        z->msg == NULL ? "damaged" : z->msg);
        if (full && z->avail_out == 0)
            return FAIL(CUZK_EBUDGET,
                        "inflated, the message is larger than %llu bytes (daemon.max_message)",
                        (unsigned long long)s->max_message);
        if (!full) *size += room - z->avail_out;
        *ended = rc == Z_STREAM_END;
        if (rc == Z_BUF_ERROR && z->avail_in != 0 && room == z->avail_out && room != 0)
            return FAIL(CUZK_EDATA, "a compressed message that cannot be inflated");
    }
    return CUZK_OK;
}

static CUZK_STATUS inflate_all(gserver *s, grpc_byte_buffer *in, uint8_t **data, size_t *size)
{
    size_t cap = 0, guess = 4 * grpc_byte_buffer_length(in) + 4096;
    grpc_byte_buffer_reader reader;
    grpc_slice slice;
    z_stream z;
    bool ended = false;
    cuzk_status st;

    TRY(grow(s, data, &cap, guess));
    memset(&z, 0, sizeof z);
    if (inflateInit2(&z, 15 + 32) != Z_OK)
        return FAIL(CUZK_ENOMEM, "no memory to inflate a message");
    st = grpc_byte_buffer_reader_init(&reader, in) != 0
             ? CUZK_OK
             : FAIL(CUZK_EDATA, "a message that cannot be read");
    while (st == CUZK_OK && grpc_byte_buffer_reader_next(&reader, &slice) != 0) {
        st = inflate_slice(s, &z, &slice, data, &cap, size, &ended);
        grpc_slice_unref(slice);
    }
    grpc_byte_buffer_reader_destroy(&reader);
    (void)inflateEnd(&z);
    if (st == CUZK_OK && !ended) st = FAIL(CUZK_EDATA, "a compressed message that ends too early");
    return st;
}

cuzk_status gmessage_read(gserver *s, grpc_byte_buffer *in, uint8_t **out, size_t *out_size)
{
    uint8_t *data = NULL;
    size_t size = 0;
    cuzk_status st;

    if (in->type == GRPC_BB_RAW && in->data.raw.compression != GRPC_COMPRESS_NONE)
        st = inflate_all(s, in, &data, &size);
    else
        st = copy_all(s, in, &data, &size);
    if (st != CUZK_OK) {
        mem_free(s->requests, data);
        return st;
    }
    *out = data;
    *out_size = size;
    return CUZK_OK;
}
