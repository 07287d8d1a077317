/*
 * circuit/gadget/sha256_block.c - one compression as a template
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/gadget/sha256_block.h"

#include <string.h>

/* The template's note. */
typedef struct block_note {
    bool initial;
    uint32_t n_block; /* wires of the block passed in */
    uint32_t hash
        [8]; /* local at which each word of the next hash begins; its 32 bits follow one another */
    sha256_plan plan;
} block_note;

static void block_of(boolean block[512], const r1cs_builder *b, const sha256_pattern *p,
                     uint32_t first_wire)
{
    uint32_t next = first_wire;

    for (unsigned k = 0; k < 512; k++) {
        if ((p->wire[k / 8] >> k % 8 & 1) != 0)
            block[k] = boolean_is(r1cs_in(b, next++));
        else
            block[k] = boolean_constant((p->value[k / 8] >> k % 8 & 1) != 0);
    }
}

static uint32_t count_wires(const sha256_pattern *p)
{
    uint32_t n = 0;

    for (size_t i = 0; i < 64; i++) n += u64_popcount(p->wire[i]);
    return n;
}

static void block_rows(block_note *note, const gadget *g, const sha256_pattern *p, uint32_t n_in)
{
    sha256_hash h = sha256_initial_hash();
    boolean block[512];

    if (!p->initial)
        for (unsigned i = 0; i < 256; i++) h.bit[i] = boolean_is(r1cs_in(g->b, i));
    block_of(block, g->b, p, p->initial ? 0 : 256);
    sha256_compress_rows(g, &note->plan, &h, block);
    for (unsigned i = 0; i < 8; i++) note->hash[i] = (h.bit[32 * i].v >> 1) - (1 + n_in);
}

cuzk_status sha256_block_template(uint32_t *tmpl, r1cs_system *sys, const char *name,
                                  const sha256_pattern *p)
{
    uint32_t n_block = count_wires(p), n_in = n_block + (p->initial ? 0 : 256);
    r1cs_builder *b = NULL;
    block_note *note;
    cuzk_status st = CUZK_OK;
    gadget g;

    if (n_in == 0) return FAIL(CUZK_EINVAL, "template %s: a hash of constants alone", name);
    note = mem_new(sys->m, 1, sizeof *note, &st);
    if (note == NULL) return st;
    TRY_OUT(r1cs_builder_new(&b, sys, name, n_in));
    g = gadget_of(b, sys->cv);
    note->initial = p->initial;
    note->n_block = n_block;
    block_rows(note, &g, p, n_in);
    r1cs_builder_note(b, note, sizeof *note);
    st = r1cs_builder_finish(b, tmpl);
out:
    r1cs_builder_free(b);
    mem_free(sys->m, note);
    return st;
}

cuzk_status sha256_block_add(r1cs_system *sys, uint32_t tmpl, r1cs_wire h[256],
                             const r1cs_wire *block)
{
    const block_note *note = sys->templates[tmpl].note;
    r1cs_wire in[256 + 512], first;
    size_t n = 0;

    if (!note->initial) {
        memcpy(in, h, 256 * sizeof *in);
        n = 256;
    }
    memcpy(in + n, block, note->n_block * sizeof *in);
    TRY(r1cs_add(sys, tmpl, in, &first, NULL));
    for (unsigned i = 0; i < 256; i++) h[i] = first + note->hash[i / 32] + i % 32;
    return CUZK_OK;
}

void sha256_block_values(r1cs_assignment *w, const r1cs_instance *inst, uint32_t h[8],
                         const uint8_t block[64])
{
    const block_note *note = w->sys->templates[inst->tmpl].note;
    bit_writer out = bit_writer_at(w->bits, r1cs_place_of(w->sys, inst).bit_start);

    sha256_compress_values(&note->plan, &out, h, block);
    bit_writer_end(&out);
}
