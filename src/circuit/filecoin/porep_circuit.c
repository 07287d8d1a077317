/*
 * circuit/filecoin/porep_circuit.c - StackedDRG PoRep as a constraint system
 *
 * Source: spec/filecoin-circuits.md section 10
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "circuit/filecoin/porep_places.h"
#include "circuit/gadget/merkle.h"
#include "circuit/gadget/sha256_block.h"

/* the templates of a system, and what its instances share */
typedef struct circuit {
    r1cs_system *sys;
    const poseidon_set *ps;
    const porep_layout *l;
    uint32_t partition, leaf, column, challenge, bits, first[POREP_MAX_LAYERS], middle, last, label,
        encode, labels;
    merkle_templates d, cr; /* tree D; trees C and R */
    r1cs_wire comm_d, comm_r_last, comm_c, replica_id_bits[NUM_BITS];
} circuit;

/* ---- templates ---- */

static uint32_t merkle_hash(const gadget *g, const poseidon *p, const uint32_t *in)
{
    fr tag;

    poseidon_merkle_tag(p, &tag);
    return poseidon_gadget(g, p, in, &tag);
}

/* own: replica_id, its bits, comm_d, comm_r, comm_r_last, comm_c, the hash */
static void partition_rows(const gadget *g, const circuit *c)
{
    uint32_t replica_id = r1cs_alloc(g->b), bits[NUM_BITS], comm_d, comm_r, in[2];

    num_inputize(g, replica_id);
    num_to_bits(g, bits, replica_id);
    comm_d = r1cs_alloc(g->b);
    num_inputize(g, comm_d);
    comm_r = r1cs_alloc(g->b);
    num_inputize(g, comm_r);
    in[1] = r1cs_alloc(g->b);
    in[0] = r1cs_alloc(g->b);
    num_equal(g, comm_r, merkle_hash(g, poseidon_of(c->ps, 2), in));
}

static void leaf_rows(const gadget *g, const circuit *c)
{
    (void)c;
    (void)r1cs_alloc(g->b); /* its wire is the template's only one */
}

/* own: the rows, the hash */
static void column_rows(const gadget *g, const circuit *c)
{
    uint32_t rows[POREP_MAX_LAYERS];

    for (uint32_t i = 0; i < c->l->layers; i++) rows[i] = r1cs_alloc(g->b);
    (void)merkle_hash(g, poseidon_of(c->ps, c->l->layers), rows);
}

/* in: the labels; own: the hash */
static void labels_rows(const gadget *g, const circuit *c)
{
    uint32_t rows[POREP_MAX_LAYERS];

    for (uint32_t i = 0; i < c->l->layers; i++) rows[i] = r1cs_in(g->b, i);
    (void)merkle_hash(g, poseidon_of(c->ps, c->l->layers), rows);
}

static void challenge_rows(const gadget *g, const circuit *c)
{
    uint32_t bits[64];

    (void)c;
    for (unsigned i = 0; i < 64; i++) bits[i] = bit_alloc(g);
    num_pack_input(g, bits, 64);
}

static void bits_rows(const gadget *g, const circuit *c)
{
    uint32_t bits[NUM_BITS];

    (void)c;
    num_to_bits(g, bits, r1cs_in(g->b, 0));
}

/* in: the 256 bits of a finished hash; own: the label */
static void label_rows(const gadget *g, const circuit *c)
{
    uint32_t bits[NUM_BITS - 1];

    (void)c;
    for (unsigned k = 0; k < NUM_BITS - 1; k++) bits[k] = r1cs_in(g->b, sha256_digest_at(k));
    (void)num_pack(g, bits, NUM_BITS - 1);
}

/* in: label, data; own: their sum */
static void encode_rows(const gadget *g, const circuit *c)
{
    r1cs_lc *sum = r1cs_lc_wire(g->b, r1cs_in(g->b, 0));

    (void)c;
    r1cs_lc_add(g->b, sum, r1cs_in(g->b, 1), &g->cv->fr_one);
    gadget_row(g, sum, r1cs_lc_wire(g->b, 0), r1cs_lc_wire(g->b, r1cs_alloc(g->b)));
}

static cuzk_status add_template(uint32_t *index, const circuit *c, const char *name, uint32_t n_in,
                                void (*rows)(const gadget *g, const circuit *c))
{
    r1cs_builder *b = NULL;
    gadget g;
    cuzk_status st;

    TRY(r1cs_builder_new(&b, c->sys, name, n_in));
    g = gadget_of(b, c->sys->cv);
    rows(&g, c);
    st = r1cs_builder_finish(b, index);
    r1cs_builder_free(b);
    return st;
}

/* 32 bytes of a number: its 255 bits, and one that is 0. */
static void number_wires(uint8_t wire[32])
{
    memset(wire, 0xff, 32);
    wire[31] = 0x7f;
}

/* A label's message: replica id, layer (4 bytes), node (8), zeros up to 64; the parents. Numbers are big-endian. */
static cuzk_status add_blocks(circuit *c)
{
    sha256_pattern first = {.initial = true}, middle = {0}, last = {0};

    number_wires(first.wire);
    memset(first.wire + 36, 0xff, 8);
    for (uint32_t l = 0; l < c->l->layers; l++) {
        first.value[35] = (uint8_t)(l + 1);
        TRY(sha256_block_template(&c->first[l], c->sys, "label first block", &first));
    }
    number_wires(middle.wire);
    number_wires(middle.wire + 32);
    TRY(sha256_block_template(&c->middle, c->sys, "label block", &middle));
    number_wires(last.wire);
    last.value[32] = 0x80; /* padding, and the length in bits */
    last.value[62] = (POREP_LABEL_BYTES * 8) >> 8;
    last.value[63] = (POREP_LABEL_BYTES * 8) & 0xff;
    return sha256_block_template(&c->last, c->sys, "label last block", &last);
}

static cuzk_status add_templates(circuit *c)
{
    TRY(add_template(&c->partition, c, "partition", 0, partition_rows));
    TRY(add_template(&c->leaf, c, "leaf", 0, leaf_rows));
    TRY(add_template(&c->column, c, "column", 0, column_rows));
    TRY(add_template(&c->challenge, c, "challenge", 0, challenge_rows));
    TRY(add_template(&c->bits, c, "bits", 1, bits_rows));
    TRY(add_template(&c->label, c, "label", 256, label_rows));
    TRY(add_template(&c->encode, c, "encode", 2, encode_rows));
    TRY(add_template(&c->labels, c, "labels", c->l->layers, labels_rows));
    TRY(merkle_templates_add(&c->cr, c->sys, c->ps, c->l->levels, c->l->n_levels));
    TRY(merkle_sha256_templates_add(&c->d, c->sys, &c->cr));
    return add_blocks(c);
}

/* ---- instances ---- */

static r1cs_wire last_local(const circuit *c, uint32_t tmpl, r1cs_wire first)
{
    return first + c->sys->templates[tmpl].n_local - 1;
}

static cuzk_status add_partition(circuit *c)
{
    r1cs_wire own;

    TRY(r1cs_add(c->sys, c->partition, NULL, &own, NULL));
    for (r1cs_wire i = 0; i < NUM_BITS; i++) c->replica_id_bits[i] = own + 1 + i;
    own += 1 + NUM_BITS;
    c->comm_d = own;
    c->comm_r_last = own + 2;
    c->comm_c = own + 3;
    return CUZK_OK;
}

/* Wires of the numbers passed in, as a block takes them. */
static cuzk_status add_bits(const circuit *c, r1cs_wire *out, r1cs_wire number)
{
    r1cs_wire own;

    TRY(r1cs_add(c->sys, c->bits, &number, &own, NULL));
    for (r1cs_wire i = 0; i < NUM_BITS; i++) out[i] = own + i;
    return CUZK_OK;
}

typedef struct label_in {
    const r1cs_wire *columns;                   /* first row of each column */
    const r1cs_wire *node;                      /* 64 bits, lowest first */
    r1cs_wire parents[POREP_COLUMNS][NUM_BITS]; /* of the layer at hand */
} label_in;

static cuzk_status add_first_block(const circuit *c, const label_in *in, uint32_t layer,
                                   r1cs_wire h[256])
{
    r1cs_wire block[NUM_BITS + 64];

    memcpy(block, c->replica_id_bits, sizeof c->replica_id_bits);
    for (unsigned i = 0; i < 64; i++) block[NUM_BITS + i] = in->node[(56 - i / 8 * 8) + i % 8];
    return sha256_block_add(c->sys, c->first[layer - 1], h, block);
}

static cuzk_status add_label(const circuit *c, label_in *in, uint32_t layer, r1cs_wire *label)
{
    r1cs_wire h[256], block[2 * NUM_BITS];

    for (unsigned k = 0; k < porep_label_columns(layer); k++)
        TRY(add_bits(c, in->parents[k], in->columns[k] + porep_label_row(layer, k)));
    TRY(add_first_block(c, in, layer, h));
    for (unsigned i = 0; i < POREP_PARENTS; i += 2) {
        bool is_last = i + 1 == POREP_PARENTS;

        memcpy(block, in->parents[porep_label_column(layer, i)], sizeof in->parents[0]);
        memcpy(block + NUM_BITS, in->parents[porep_label_column(layer, i + 1)],
               sizeof in->parents[0]); /* the last block does not take them */
        TRY(sha256_block_add(c->sys, is_last ? c->last : c->middle, h, block));
    }
    return r1cs_add(c->sys, c->label, h, label, NULL);
}

static cuzk_status add_columns(const circuit *c, r1cs_wire *columns)
{
    for (unsigned k = 0; k < POREP_COLUMNS; k++) {
        TRY(r1cs_add(c->sys, c->column, NULL, &columns[k], NULL));
        TRY(merkle_add(c->sys, &c->cr, last_local(c, c->column, columns[k]), c->comm_c));
    }
    return CUZK_OK;
}

static cuzk_status add_challenge(const circuit *c, label_in *in)
{
    r1cs_wire columns[POREP_COLUMNS], bits[64], labels[POREP_MAX_LAYERS], data, own;

    TRY(r1cs_add(c->sys, c->leaf, NULL, &data, NULL));
    TRY(merkle_add(c->sys, &c->d, data, c->comm_d));
    TRY(add_columns(c, columns));
    TRY(r1cs_add(c->sys, c->challenge, NULL, &own, NULL));
    for (r1cs_wire i = 0; i < 64; i++) bits[i] = own + i;
    in->columns = columns;
    in->node = bits;
    for (uint32_t l = 1; l <= c->l->layers; l++) TRY(add_label(c, in, l, &labels[l - 1]));
    TRY(r1cs_add(c->sys, c->encode, (const r1cs_wire[]){labels[c->l->layers - 1], data}, &own,
                 NULL));
    TRY(merkle_add(c->sys, &c->cr, own, c->comm_r_last));
    TRY(r1cs_add(c->sys, c->labels, labels, &own, NULL));
    return merkle_add(c->sys, &c->cr, last_local(c, c->labels, own), c->comm_c);
}

void porep_places_of(porep_places *out, const porep_layout *l)
{
    uint32_t inclusion = l->n_levels + 2;

    *out = (porep_places){.leaf = 0, .d = 1};
    out->columns = out->d + l->d_levels + 2;
    out->column_stride = 1 + inclusion;
    out->challenge = out->columns + POREP_COLUMNS * out->column_stride;
    out->layers = out->challenge + 1;
    out->encode = porep_layer_place(out, l->layers + 1);
    out->r = out->encode + 1;
    out->labels = out->r + inclusion;
    out->c = out->labels + 1;
    out->n = out->c + inclusion;
}

static cuzk_status build(circuit *c, label_in *in, uint32_t n_challenges)
{
    porep_places places;

    porep_places_of(&places, c->l);
    TRY(add_templates(c));
    TRY(add_partition(c));
    for (uint32_t i = 0; i < n_challenges; i++) TRY(add_challenge(c, in));
    VERIFY(c->sys->n_instances == 1 + (size_t)n_challenges * places.n);
    return r1cs_finish(c->sys);
}

cuzk_status porep_system_of(r1cs_system **out, const poseidon_set *ps, const char *name,
                            const porep_layout *l, uint32_t n_challenges, mem *m)
{
    circuit c = {.ps = ps, .l = l};
    label_in *in = NULL;
    cuzk_status st = CUZK_OK;

    if (l->layers != 2 && l->layers != POREP_MAX_LAYERS)
        return FAIL(CUZK_EINVAL, "PoRep of %u layers, allowed 2 and 11", l->layers);
    TRY(r1cs_new(&c.sys, poseidon_set_curve(ps), name, m));
    in = mem_new(m, 1, sizeof *in, &st);
    if (in == NULL) goto out;
    TRY_OUT(build(&c, in, n_challenges));
    *out = c.sys;
    c.sys = NULL;
out:
    mem_free(m, in);
    r1cs_free(c.sys);
    return st;
}

cuzk_status porep_system_new(r1cs_system **out, const poseidon_set *ps, const char *name,
                             const fil_size *s, uint32_t layers, uint32_t n_challenges, mem *m)
{
    porep_layout l;

    if (s->porep_layers == 0) return FAIL(CUZK_EINVAL, "no PoRep of sectors of size %s", s->name);
    porep_layout_of(&l, s, layers);
    return porep_system_of(out, ps, name, &l, n_challenges, m);
}
