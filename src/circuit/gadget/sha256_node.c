/*
 * circuit/gadget/sha256_node.c - SHA-256 as the hash of a Merkle node
 *
 * Source: spec/filecoin-circuits.md sections 6, 8, 9
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/sha256_node.h"

#include <string.h>

#include "base/hash.h"
#include "circuit/gadget/insert.h"

#define NODE_BITS 254 /* of a hash that become a node */

/* The template's note. */
typedef struct node_note {
    sha256_node_form form;
    sha256_plan block[2]; /* the children; the padding */
} node_note;

/* The second block of a message of 64 bytes. */
static const uint8_t padding[64] = {[0] = 0x80, [62] = 0x02};

/* ---- rows ---- */

/* 512 bits: two numbers of 255 bits, each filled up by a zero. */
static void children_block(boolean block[512], const gadget *g, const uint32_t child[2])
{
    uint32_t bits[NUM_BITS];

    for (unsigned k = 0; k < 2; k++) {
        num_to_bits(g, bits, child[k]);
        for (unsigned i = 0; i < NUM_BITS; i++) block[256 * k + i] = boolean_is(bits[i]);
        block[256 * k + NUM_BITS] = boolean_constant(false);
    }
}

static void hash_rows(node_note *note, const gadget *g, const uint32_t child[2])
{
    sha256_hash h = sha256_initial_hash();
    uint32_t bits[NODE_BITS];
    boolean block[512];

    children_block(block, g, child);
    sha256_compress_rows(g, &note->block[0], &h, block);
    for (unsigned k = 0; k < 512; k++)
        block[k] = boolean_constant((padding[k / 8] >> k % 8 & 1) != 0);
    sha256_compress_rows(g, &note->block[1], &h, block);
    for (unsigned k = 0; k < NODE_BITS; k++) bits[k] = h.bit[sha256_digest_at(k)].v >> 1;
    (void)num_pack(g, bits, NODE_BITS);
}

static void node_rows(node_note *note, const gadget *g)
{
    uint32_t child[2] = {r1cs_in(g->b, 0), r1cs_in(g->b, 1)};

    if (note->form != SHA256_NODE_PAIR) {
        bool own = note->form == SHA256_NODE_PATH;
        uint32_t bit = own ? bit_alloc(g) : r1cs_in(g->b, 1);
        uint32_t sibling = own ? r1cs_alloc(g->b) : r1cs_in(g->b, 2);

        insert_gadget(g, insert_plan_of(2), child, r1cs_in(g->b, 0), &bit, &sibling);
    }
    hash_rows(note, g, child);
}

cuzk_status sha256_node_template(uint32_t *tmpl, r1cs_system *sys, sha256_node_form form)
{
    static const struct {
        const char *name;
        uint32_t n_in;
    } forms[] = {
        [SHA256_NODE_PAIR] = {"sha256 pair", 2},
        [SHA256_NODE_STEP] = {"sha256 step", 3},
        [SHA256_NODE_PATH] = {"sha256 path", 1},
    };
    r1cs_builder *b = NULL;
    cuzk_status st = CUZK_OK;
    node_note *note;
    gadget g;

    note = mem_new(sys->m, 1, sizeof *note, &st);
    if (note == NULL) return st;
    note->form = form;
    TRY_OUT(r1cs_builder_new(&b, sys, forms[form].name, forms[form].n_in));
    g = gadget_of(b, sys->cv);
    node_rows(note, &g);
    r1cs_builder_note(b, note, sizeof *note);
    st = r1cs_builder_finish(b, tmpl);
out:
    r1cs_builder_free(b);
    mem_free(sys->m, note);
    return st;
}

r1cs_wire sha256_node_result(const r1cs_system *sys, uint32_t tmpl, r1cs_wire first_local)
{
    return first_local + sys->templates[tmpl].n_local - 1;
}

/* ---- values ---- */

static void clear_highest_bits(uint8_t node[32])
{
    node[31] &= 0x3f;
}

void sha256_node_hash(uint8_t out[32], const uint8_t left[32], const uint8_t right[32])
{
    uint8_t block[64];

    memcpy(block, left, 32);
    memcpy(block + 32, right, 32);
    sha256(out, block, sizeof block);
    clear_highest_bits(out);
}

static void put_elem(r1cs_assignment *w, uint32_t *at, const uint8_t bytes[32])
{
    scalar s;

    memcpy(s.b, bytes, sizeof s.b);
    /* not canonical: the caller broke the contract, and the rows will not hold */
    if (!w->sys->cv->fr_from_scalar(&w->elems[*at], &s)) w->elems[*at] = w->sys->cv->fr_zero;
    ++*at;
}

static void put_hash(bit_writer *out, const node_note *note, uint8_t node[32],
                     const uint8_t block[64])
{
    uint32_t h[8];

    bit_writer_put_bytes(out, block, NUM_BITS);
    bit_writer_put_bytes(out, block + 32, NUM_BITS);
    memcpy(h, sha256_initial, sizeof h);
    sha256_compress_values(&note->block[0], out, h, block);
    sha256_compress_values(&note->block[1], out, h, padding);
    sha256_digest_bytes(node, h);
    clear_highest_bits(node);
}

void sha256_node_values(r1cs_assignment *w, const r1cs_instance *inst, uint8_t out[32],
                        const uint8_t node[32], const uint8_t sibling[32], unsigned index)
{
    const node_note *note = w->sys->templates[inst->tmpl].note;
    r1cs_place place = r1cs_place_of(w->sys, inst);
    bit_writer bits = bit_writer_at(w->bits, place.bit_start);
    uint32_t at = place.elem_start;
    uint8_t block[64];

    memcpy(block, index == 0 ? node : sibling, 32);
    memcpy(block + 32, index == 0 ? sibling : node, 32);
    if (note->form == SHA256_NODE_PATH) {
        bit_writer_put(&bits, index == 0 ? 0 : 1, 1);
        put_elem(w, &at, sibling);
    }
    if (note->form != SHA256_NODE_PAIR) {
        put_elem(w, &at, block);
        put_elem(w, &at, block + 32);
    }
    put_hash(&bits, note, out, block);
    put_elem(w, &at, out);
    bit_writer_end(&bits);
}
