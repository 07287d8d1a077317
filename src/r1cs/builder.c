/*
 * r1cs/builder.c - a template under construction: variables, linear combinations, rows
 *
 * A linear combination is a list of terms in the order of arrival; equal wires are merged and zeros
 * dropped when a row is made of it, and before the list grows. So building one of n terms costs
 * n log n at worst, and adding one combination to another again and again stays within the number
 * of wires. Lists that are outgrown or freed are kept by size and used again.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/system.h"

#include <string.h>

#include "base/u128.h"
#include "r1cs/coeff_table.h"
#include "r1cs/grow.h"
#include "r1cs/template.h"
#include "r1cs/terms.h"

#define PUB UINT32_C(0x80000000) /* handle of a public input until finish gives it its wire */
#define NO_WIRE UINT32_MAX
#define FIRST_TERMS_LOG 2
#define MAX_TERMS_LOG 30
#define CHUNK ((size_t)64 << 10)

/* cap terms = 2^cap_log: their coefficients, then their wires, in one block. */
struct r1cs_lc {
    fr *k;
    uint32_t *wire;
    uint32_t n;
    uint8_t cap_log;
    bool merged;   /* wires ascend without repetition */
    r1cs_lc *next; /* in the list of free ones */
};

typedef struct chunk {
    struct chunk *next;
    size_t size, used; /* of the bytes that follow */
} chunk;

/* Rows of one matrix so far. */
typedef struct rows {
    uint32_t *row_start, *wire, *coeff;
    size_t cap_start, n, cap_wire, cap_coeff;
} rows;

struct r1cs_builder {
    r1cs_system *sys;
    mem *m;
    cuzk_status st; /* the first failure; nothing happens after it */
    bool finished;
    char name[64];
    uint32_t n_in, n_local, n_pub, n_rows, n_elem;
    uint8_t *is_elem;
    size_t cap_elem;
    rows row[3];
    void *note;
    chunk *chunks;
    void *spare[MAX_TERMS_LOG + 1]; /* blocks of 2^i terms; the first word links them */
    r1cs_lc *spare_lc;
    uint64_t *keys; /* scratch of the longest combination */
    size_t cap_keys;
    r1cs_lc dead; /* what the constructors return after a failure */
};

/* ---- memory ---- */

static void fail(r1cs_builder *b, cuzk_status st)
{
    if (b->st == CUZK_OK) b->st = st;
}

/* size bytes, 8-byte aligned, that live as long as the builder; NULL after recording the failure. */
static void *take(r1cs_builder *b, size_t size)
{
    chunk *c = b->chunks;
    cuzk_status st = CUZK_OK;
    void *p;

    size = (size + 7) & ~(size_t)7;
    if (c == NULL || c->size - c->used < size) {
        size_t room = size > CHUNK ? size : CHUNK;

        c = mem_new(b->m, 1, sizeof *c + room, &st);
        if (c == NULL) {
            fail(b, st);
            return NULL;
        }
        c->size = room;
        c->next = b->chunks;
        b->chunks = c;
    }
    p = (uint8_t *)(c + 1) + c->used;
    c->used += size;
    return p;
}

static void block_put(r1cs_builder *b, void *block, unsigned log)
{
    memcpy(block, &b->spare[log], sizeof b->spare[log]);
    b->spare[log] = block;
}

static void *block_take(r1cs_builder *b, unsigned log)
{
    void *block = b->spare[log];

    if (block == NULL) return take(b, (sizeof(fr) + sizeof(uint32_t)) << log);
    memcpy(&b->spare[log], block, sizeof b->spare[log]);
    return block;
}

/* Gives lc a block of 2^log terms, with the terms that it has. */
static bool set_cap(r1cs_builder *b, r1cs_lc *lc, unsigned log)
{
    fr *k;
    uint32_t *wire;

    if (log > MAX_TERMS_LOG) {
        fail(b,
             FAIL_DATA(LIMIT, b->name, "a linear combination of over 2^%d terms", MAX_TERMS_LOG));
        return false;
    }
    k = block_take(b, log);
    if (k == NULL) return false;
    wire = (uint32_t *)(k + ((size_t)1 << log));
    if (lc->k != NULL) {
        memcpy(k, lc->k, lc->n * sizeof *k);
        memcpy(wire, lc->wire, lc->n * sizeof *wire);
        block_put(b, lc->k, lc->cap_log);
    }
    lc->k = k;
    lc->wire = wire;
    lc->cap_log = (uint8_t)log;
    return true;
}

/* Keys of lc's terms, sorted. */
static bool sort_lc(r1cs_builder *b, const r1cs_lc *lc)
{
    cuzk_status st = CUZK_OK;
    uint64_t *keys = r1cs_grow(b->m, b->keys, 0, &b->cap_keys, lc->n, sizeof *keys, &st);

    if (keys == NULL) {
        fail(b, st);
        return false;
    }
    b->keys = keys;
    for (uint32_t i = 0; i < lc->n; i++) keys[i] = (uint64_t)lc->wire[i] << 32 | i;
    if (!lc->merged) (void)terms_sort(keys, lc->n); /* terms_next merges what is equal */
    return true;
}

/* Room for one more term: by merging what is there, else by a larger block. */
static bool make_room(r1cs_builder *b, r1cs_lc *lc)
{
    r1cs_lc old = *lc;
    size_t pos = 0;
    term t;

    if (lc->k != NULL && lc->n < (uint32_t)1 << lc->cap_log) return true;
    if (lc->k == NULL) return set_cap(b, lc, FIRST_TERMS_LOG);
    if (lc->merged) return set_cap(b, lc, lc->cap_log + 1u);

    if (!sort_lc(b, lc)) return false;
    lc->k = NULL;
    lc->n = 0;
    if (!set_cap(b, lc, old.cap_log + 1u)) {
        *lc = old;
        return false;
    }
    while (terms_next(&t, b->sys->cv, old.k, b->keys, old.n, &pos)) {
        lc->k[lc->n] = *t.k;
        lc->wire[lc->n++] = t.wire;
    }
    lc->merged = true;
    block_put(b, old.k, old.cap_log);
    /* A list that merges well keeps its size: the larger block goes back. */
    if (lc->n <= (uint32_t)1 << (old.cap_log - 1)) return set_cap(b, lc, old.cap_log);
    return true;
}

/* ---- variables ---- */

cuzk_status r1cs_builder_new(r1cs_builder **out, r1cs_system *sys, const char *name, uint32_t n_in)
{
    cuzk_status st = CUZK_OK;
    r1cs_builder *b;

    if (sys->coeff_index == NULL) return FAIL(CUZK_EINVAL, "system %s is finished", sys->name);
    if (n_in > R1CS_MAX_VARS - 1) {
        return FAIL(CUZK_EINVAL, "template %s: %u wires passed in, limit %u", name, n_in,
                    R1CS_MAX_VARS - 1);
    }
    b = mem_new(sys->m, 1, sizeof *b, &st);
    if (b == NULL) return st;
    b->m = sys->m;
    b->sys = sys;
    b->n_in = n_in;
    memcpy(b->name, name, strnlen(name, sizeof b->name - 1));
    *out = b;
    return CUZK_OK;
}

void r1cs_builder_free(r1cs_builder *b)
{
    chunk *next;

    if (b == NULL) return;
    for (chunk *c = b->chunks; c != NULL; c = next) {
        next = c->next;
        mem_free(b->m, c);
    }
    for (size_t i = 0; i < 3; i++) {
        mem_free(b->m, b->row[i].row_start);
        mem_free(b->m, b->row[i].wire);
        mem_free(b->m, b->row[i].coeff);
    }
    mem_free(b->m, b->is_elem);
    mem_free(b->m, b->note);
    mem_free(b->m, b->keys);
    mem_free(b->m, b);
}

/* The builder still takes orders. */
static bool alive(r1cs_builder *b)
{
    if (b->st == CUZK_OK && (b->finished || b->sys->coeff_index == NULL)) {
        fail(b, FAIL(CUZK_EINVAL, "template %s, or its system, is finished", b->name));
    }
    return b->st == CUZK_OK;
}

uint32_t r1cs_in(const r1cs_builder *b, uint32_t k)
{
    return k < b->n_in ? 1 + k : NO_WIRE;
}

/* The template's wires, all together, stay below PUB. */
static bool has_room(r1cs_builder *b)
{
    if (!alive(b)) return false;
    if ((uint64_t)b->n_in + b->n_local + b->n_pub + 1 >= R1CS_MAX_VARS) {
        fail(b, FAIL_DATA(LIMIT, b->name, "more than %u wires in a template", R1CS_MAX_VARS));
        return false;
    }
    return true;
}

static uint32_t alloc_local(r1cs_builder *b, bool elem)
{
    cuzk_status st = CUZK_OK;
    uint8_t *p;

    if (!has_room(b)) return NO_WIRE;
    p = r1cs_grow(b->m, b->is_elem, b->n_local, &b->cap_elem, (size_t)b->n_local + 1, 1, &st);
    if (p == NULL) {
        fail(b, st);
        return NO_WIRE;
    }
    b->is_elem = p;
    p[b->n_local] = elem ? 1 : 0;
    if (elem) b->n_elem++;
    return 1 + b->n_in + b->n_local++;
}

uint32_t r1cs_alloc(r1cs_builder *b)
{
    return alloc_local(b, true);
}

uint32_t r1cs_alloc_bit(r1cs_builder *b)
{
    return alloc_local(b, false);
}

uint32_t r1cs_alloc_input(r1cs_builder *b)
{
    if (!has_room(b)) return NO_WIRE;
    return PUB | b->n_pub++;
}

uint32_t r1cs_builder_n_local(const r1cs_builder *b)
{
    return b->n_local;
}

void r1cs_builder_note(r1cs_builder *b, const void *note, size_t size)
{
    cuzk_status st = CUZK_OK;

    if (!alive(b)) return;
    if (b->note != NULL) {
        fail(b, FAIL(CUZK_EINVAL, "template %s has a note", b->name));
        return;
    }
    b->note = mem_new(b->m, 1, size, &st);
    if (b->note == NULL)
        fail(b, st);
    else
        memcpy(b->note, note, size);
}

/* ---- linear combinations ---- */

r1cs_lc *r1cs_lc_new(r1cs_builder *b)
{
    r1cs_lc *lc = b->spare_lc;

    if (!alive(b)) return &b->dead;
    if (lc != NULL) {
        b->spare_lc = lc->next;
    } else {
        lc = take(b, sizeof *lc);
        if (lc == NULL) return &b->dead;
    }
    *lc = (r1cs_lc){.merged = true};
    return lc;
}

void r1cs_lc_free(r1cs_builder *b, r1cs_lc *lc)
{
    if (lc == NULL || lc == &b->dead) return;
    if (lc->k != NULL) block_put(b, lc->k, lc->cap_log);
    *lc = (r1cs_lc){.next = b->spare_lc};
    b->spare_lc = lc;
}

/* A term whose wire is known to be there. */
static void push(r1cs_builder *b, r1cs_lc *lc, uint32_t wire, const fr *k)
{
    const curve *cv = b->sys->cv;

    if (lc->n > 0 && lc->wire[lc->n - 1] == wire) {
        cv->fr_add(&lc->k[lc->n - 1], &lc->k[lc->n - 1], k);
        return;
    }
    if (!make_room(b, lc)) return;
    if (lc->n > 0 && lc->wire[lc->n - 1] >= wire) lc->merged = false;
    lc->k[lc->n] = *k;
    lc->wire[lc->n++] = wire;
}

void r1cs_lc_add(r1cs_builder *b, r1cs_lc *lc, uint32_t wire, const fr *k)
{
    fr value = *k; /* k may point into lc */
    bool known = (wire & PUB) != 0 ? (wire & ~PUB) < b->n_pub : wire <= b->n_in + b->n_local;

    if (!alive(b)) return;
    if (!known) {
        fail(b, FAIL(CUZK_EINVAL, "template %s: no wire %u", b->name, wire));
        return;
    }
    push(b, lc, wire, &value);
}

r1cs_lc *r1cs_lc_wire(r1cs_builder *b, uint32_t wire)
{
    r1cs_lc *lc = r1cs_lc_new(b);

    r1cs_lc_add(b, lc, wire, &b->sys->cv->fr_one);
    return lc;
}

r1cs_lc *r1cs_lc_copy(r1cs_builder *b, const r1cs_lc *a)
{
    r1cs_lc *lc = r1cs_lc_new(b);

    r1cs_lc_add_lc(b, lc, a, NULL);
    return lc;
}

void r1cs_lc_add_lc(r1cs_builder *b, r1cs_lc *lc, const r1cs_lc *a, const fr *k)
{
    const curve *cv = b->sys->cv;

    if (!alive(b)) return;
    if (lc == a) { /* lc *= 1 + k */
        fr factor;

        cv->fr_add(&factor, &cv->fr_one, k == NULL ? &cv->fr_one : k);
        for (uint32_t i = 0; i < lc->n; i++) cv->fr_mul(&lc->k[i], &lc->k[i], &factor);
        return;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        fr value = a->k[i];

        if (k != NULL) cv->fr_mul(&value, &value, k);
        push(b, lc, a->wire[i], &value);
        if (b->st != CUZK_OK) return;
    }
}

/* ---- rows ---- */

static cuzk_status push_term(r1cs_builder *b, rows *x, const term *t)
{
    cuzk_status st = CUZK_OK;
    uint32_t index;
    uint32_t *p;

    if (x->n >= UINT32_MAX) {
        return FAIL_DATA(LIMIT, b->name, "more than %u terms in a matrix", UINT32_MAX);
    }
    TRY(coeff_table_intern(b->sys, t->k, &index));
    p = r1cs_grow(b->m, x->wire, x->n, &x->cap_wire, x->n + 1, sizeof *p, &st);
    if (p == NULL) return st;
    x->wire = p;
    p = r1cs_grow(b->m, x->coeff, x->n, &x->cap_coeff, x->n + 1, sizeof *p, &st);
    if (p == NULL) return st;
    x->coeff = p;
    x->wire[x->n] = t->wire;
    x->coeff[x->n++] = index;
    return CUZK_OK;
}

static cuzk_status push_row(r1cs_builder *b, rows *x, const r1cs_lc *lc)
{
    cuzk_status st = CUZK_OK;
    size_t pos = 0;
    uint32_t *p;
    term t;

    p = r1cs_grow(b->m, x->row_start, b->n_rows, &x->cap_start, (size_t)b->n_rows + 1, sizeof *p,
                  &st);
    if (p == NULL) return st;
    x->row_start = p;
    p[b->n_rows] = (uint32_t)x->n;
    if (lc == NULL || lc->n == 0) return CUZK_OK;
    if (!sort_lc(b, lc)) return b->st;
    while (terms_next(&t, b->sys->cv, lc->k, b->keys, lc->n, &pos)) TRY(push_term(b, x, &t));
    return CUZK_OK;
}

void r1cs_enforce(r1cs_builder *b, const r1cs_lc *a, const r1cs_lc *bb, const r1cs_lc *c)
{
    const r1cs_lc *lc[3] = {a, bb, c};

    if (!alive(b)) return;
    if (b->n_rows >= R1CS_MAX_VARS) {
        fail(b, FAIL_DATA(LIMIT, b->name, "more than %u rows in a template", R1CS_MAX_VARS));
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        cuzk_status st = push_row(b, &b->row[i], lc[i]);

        if (st != CUZK_OK) {
            fail(b, st);
            return;
        }
    }
    b->n_rows++;
}

/* ---- finish ---- */

static cuzk_status copy_rows(r1cs_matrix *out, const r1cs_builder *b, const rows *x)
{
    cuzk_status st = CUZK_OK;
    uint32_t first_pub = 1 + b->n_in + b->n_local;

    out->row_start = mem_new(b->m, (size_t)b->n_rows + 1, sizeof *out->row_start, &st);
    if (out->row_start == NULL) return st;
    out->wire = mem_new(b->m, x->n, sizeof *out->wire, &st);
    if (out->wire == NULL) return st;
    out->coeff = mem_new(b->m, x->n, sizeof *out->coeff, &st);
    if (out->coeff == NULL) return st;

    for (uint32_t i = 0; i < b->n_rows; i++) out->row_start[i] = x->row_start[i];
    out->row_start[b->n_rows] = (uint32_t)x->n;
    for (size_t i = 0; i < x->n; i++) {
        uint32_t wire = x->wire[i];

        out->wire[i] = (wire & PUB) != 0 ? first_pub + (wire & ~PUB) : wire;
        out->coeff[i] = x->coeff[i];
    }
    return CUZK_OK;
}

/* The name lies behind the flags, in their block. */
static cuzk_status copy_flags(r1cs_template *t, const r1cs_builder *b)
{
    cuzk_status st = CUZK_OK;
    size_t len = strlen(b->name) + 1;

    t->local_is_elem = mem_new(b->m, (size_t)b->n_local + len, 1, &st);
    if (t->local_is_elem == NULL) return st;
    if (b->n_local > 0) memcpy(t->local_is_elem, b->is_elem, b->n_local);
    memcpy(t->local_is_elem + b->n_local, b->name, len);
    t->name = (const char *)t->local_is_elem + b->n_local;
    return CUZK_OK;
}

cuzk_status r1cs_builder_finish(r1cs_builder *b, uint32_t *index)
{
    cuzk_status st = CUZK_OK;
    r1cs_template t = {0};

    if (!alive(b)) return b->st;
    t.n_in = b->n_in;
    t.n_local = b->n_local;
    t.n_pub = b->n_pub;
    t.n_rows = b->n_rows;
    t.n_elem = b->n_elem;
    TRY_OUT(copy_flags(&t, b));
    TRY_OUT(copy_rows(&t.a, b, &b->row[0]));
    TRY_OUT(copy_rows(&t.b, b, &b->row[1]));
    TRY_OUT(copy_rows(&t.c, b, &b->row[2]));
    t.note = b->note;
    b->note = NULL; /* the template's now */
    TRY_OUT(r1cs_template_push(b->sys, &t, index));
    b->finished = true;
out:
    if (st != CUZK_OK) fail(b, st);
    r1cs_template_clear(b->m, &t);
    return st;
}
