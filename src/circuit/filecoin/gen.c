/*
 * circuit/filecoin/gen.c - random values by name, and the generators' common parts
 *
 * Source: spec/filecoin-formats.md section 1
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/gen_impl.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/u128.h"

/* ---- random values ---- */

static void draw(const fil_gen *g, uint8_t out[32], gen_what what, uint64_t a, uint64_t b,
                 uint64_t again)
{
    uint8_t name[56];

    store_u64le(name, g->seed);
    store_u64le(name + 8, (uint64_t)g->kind);
    store_u64le(name + 16, g->size->bytes);
    store_u64le(name + 24, (uint64_t)what);
    store_u64le(name + 32, a);
    store_u64le(name + 40, b);
    store_u64le(name + 48, again);
    sha256(out, name, sizeof name);
}

void gen_bytes(const fil_gen *g, uint8_t out[32], gen_what what, uint64_t a, uint64_t b)
{
    draw(g, out, what, a, b, 0);
    out[31] &= 0x3f;
}

void gen_element(const fil_gen *g, fr *out, gen_what what, uint64_t a, uint64_t b)
{
    const curve *cv = poseidon_set_curve(g->ps);
    scalar s;
    uint64_t again = 0;

    do {
        draw(g, s.b, what, a, b, again++);
        s.b[31] &= 0x7f;
    } while (!cv->fr_from_scalar(out, &s));
}

uint64_t gen_below(const fil_gen *g, uint64_t n, gen_what what, uint64_t a)
{
    uint8_t b[32];

    draw(g, b, what, a, 0, 0);
    return load_u64le(b) % n;
}

/* ---- common parts ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

size_t gen_sort_nodes(uint64_t *nodes, size_t n)
{
    size_t kept = 0;

    qsort(nodes, n, sizeof *nodes, by_value);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || nodes[i] != nodes[kept - 1]) nodes[kept++] = nodes[i];
    return kept;
}

unsigned gen_levels(const fil_size *s, uint32_t levels[FIL_MAX_LEVELS], unsigned *n_tops)
{
    *n_tops = (s->arity[1] != 0 ? 1u : 0u) + (s->arity[2] != 0 ? 1u : 0u);
    return fil_levels(s, levels);
}

cuzk_status gen_registered(const fil_gen *g, int64_t *number, unsigned *block, unsigned first,
                           unsigned n_blocks, unsigned usual)
{
    *block = usual;
    *number = g->size->registered < 0 ? -1 : (int64_t)(first + 5 * usual) + g->size->registered;
    if (g->registered < 0) return CUZK_OK;
    if (g->registered < (int64_t)first || g->registered >= (int64_t)(first + 5 * n_blocks))
        return FAIL(CUZK_EINVAL, "registered proof %" PRId64 ", those of %s are %u to %u",
                    g->registered, fil_kind_name(g->kind), first, first + 5 * n_blocks - 1);
    *block = (unsigned)(g->registered - (int64_t)first) / 5;
    if (g->size->registered >= 0 &&
        (g->registered - (int64_t)first) % 5 != (int64_t)g->size->registered)
        return FAIL(CUZK_EINVAL,
                    "registered proof %" PRId64 " is not of sectors of %" PRIu64 " bytes",
                    g->registered, g->size->bytes);
    *number = g->size->registered < 0 ? -1 : g->registered;
    return CUZK_OK;
}

void gen_put_hex(bytes_out *o, const char *name, const uint8_t b[32])
{
    char text[65];

    hex_encode(text, b, 32);
    bytes_printf(o, ",\n  \"%s\": \"%s\"", name, text);
}

cuzk_status gen_put_file(const fil_gen *g, const char *name, bytes_out *o)
{
    TRY(bytes_out_status(o));
    TRY(g->put(g->ctx, name, o->data, o->size));
    bytes_out_clear(o);
    return CUZK_OK;
}

cuzk_status fil_generate(const fil_gen *g)
{
    if (!fil_exists(g->kind, g->size))
        return FAIL(CUZK_EINVAL, "no %s circuit of size %s", fil_kind_name(g->kind), g->size->name);
    if (g->n_sectors != 0 && g->kind != FIL_WINDOW)
        return FAIL(CUZK_EINVAL, "%s is of one sector", fil_kind_name(g->kind));
    switch (g->kind) {
    case FIL_POREP: return gen_porep(g);
    case FIL_WINNING:
    case FIL_WINDOW: return gen_post(g);
    case FIL_UPDATE: return gen_update(g);
    case FIL_UPDATE_POSEIDON:
    case FIL_KINDS: break;
    }
    return FAIL(CUZK_EINVAL, "no inputs are made for %s", fil_kind_name(g->kind));
}
