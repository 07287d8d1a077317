/*
 * r1cs/finish.c - the end of building: which variables are bits, and the densities
 *
 * Densities are bellperson's: a variable counts when some row's linear combination has it with a
 * coefficient that is not zero, over global wires. An instance's own variables are nobody else's, so
 * they follow from the template. Passed-in wires may be equal to one another or to ONE and then
 * cancel; such an instance has its rows merged one by one.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdatomic.h>
#include <string.h>

#include "base/u128.h"
#include "r1cs/coeff_table.h"
#include "r1cs/terms.h"

/* What a template says about its wires: bitmaps, and a byte for each wire passed in. */
typedef struct summary {
    uint64_t *is_elem, *a_local, *b_local; /* n_local bits */
    uint64_t *b_pub;                       /* n_pub bits */
    uint8_t *in_used;                      /* n_in bytes: USED_A, USED_B */
    bool b_one;
} summary;
#define USED_A 1
#define USED_B 2

typedef struct scratch {
    summary *sum;        /* one a template */
    uint64_t *keys, *in; /* the longest row; the most wires passed in */
    bool bits;           /* some variable is a bit */
} scratch;

static size_t words_of(size_t bits)
{
    return (bits + 63) / 64;
}

static void bit_set(uint64_t *map, size_t i)
{
    map[i / 64] |= UINT64_C(1) << (i % 64);
}

/* dst[at..at+n) |= src[0..n); bits of src beyond n are zero. */
static void bits_or(uint64_t *dst, size_t at, const uint64_t *src, size_t n)
{
    unsigned s = (unsigned)(at % 64);

    dst += at / 64;
    for (size_t i = 0; i < words_of(n); i++) {
        dst[i] |= src[i] << s;
        if (s != 0 && src[i] >> (64 - s) != 0) dst[i + 1] |= src[i] >> (64 - s);
    }
}

static uint32_t bits_count(const uint64_t *map, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < words_of(n); i++) sum += u64_popcount(map[i]);
    return (uint32_t)sum;
}

static void note_wire(summary *s, const r1cs_template *t, uint32_t wire, uint8_t side)
{
    if (wire == 0) {
        if (side == USED_B) s->b_one = true;
        return;
    }
    wire--;
    if (wire < t->n_in) {
        s->in_used[wire] |= side;
        return;
    }
    wire -= t->n_in;
    if (wire < t->n_local) {
        bit_set(side == USED_A ? s->a_local : s->b_local, wire);
    } else if (side == USED_B) {
        bit_set(s->b_pub, wire - t->n_local);
    }
}

/* Like mem_new, these tell by false that memory is short, and *st why. */
static bool summarise(summary *s, const r1cs_template *t, mem *m, cuzk_status *st)
{
    const r1cs_matrix *x[2] = {&t->a, &t->b};

    s->is_elem = mem_new(m, words_of(t->n_local), sizeof(uint64_t), st);
    if (s->is_elem == NULL) return false;
    s->a_local = mem_new(m, words_of(t->n_local), sizeof(uint64_t), st);
    if (s->a_local == NULL) return false;
    s->b_local = mem_new(m, words_of(t->n_local), sizeof(uint64_t), st);
    if (s->b_local == NULL) return false;
    s->b_pub = mem_new(m, words_of(t->n_pub), sizeof(uint64_t), st);
    if (s->b_pub == NULL) return false;
    s->in_used = mem_new(m, t->n_in, 1, st);
    if (s->in_used == NULL) return false;

    for (uint32_t i = 0; i < t->n_local; i++) {
        if (t->local_is_elem == NULL || t->local_is_elem[i] != 0) bit_set(s->is_elem, i);
    }
    for (size_t j = 0; j < 2; j++) {
        for (size_t i = 0; i < x[j]->row_start[t->n_rows]; i++) {
            note_wire(s, t, x[j]->wire[i], j == 0 ? USED_A : USED_B);
        }
    }
    return true;
}

static void scratch_clear(scratch *w, const r1cs_system *sys)
{
    for (size_t i = 0; w->sum != NULL && i < sys->n_templates; i++) {
        mem_free(sys->m, w->sum[i].is_elem);
        mem_free(sys->m, w->sum[i].a_local);
        mem_free(sys->m, w->sum[i].b_local);
        mem_free(sys->m, w->sum[i].b_pub);
        mem_free(sys->m, w->sum[i].in_used);
    }
    mem_free(sys->m, w->sum);
    mem_free(sys->m, w->keys);
    mem_free(sys->m, w->in);
}

static bool scratch_init(scratch *w, const r1cs_system *sys, cuzk_status *st)
{
    uint32_t most_in = 0;

    w->sum = mem_new(sys->m, sys->n_templates, sizeof *w->sum, st);
    if (w->sum == NULL) return false;
    for (size_t i = 0; i < sys->n_templates; i++) {
        const r1cs_template *t = &sys->templates[i];

        if (!summarise(&w->sum[i], t, sys->m, st)) return false;
        if (t->n_in > most_in) most_in = t->n_in;
    }
    for (size_t i = 0; i < sys->n_instances; i++) {
        const r1cs_template *t = &sys->templates[sys->instances[i].tmpl];

        if (t->n_elem != t->n_local) w->bits = true;
    }
    w->keys = mem_new(sys->m, terms_longest_row(sys), sizeof *w->keys, st);
    if (w->keys == NULL) return false;
    w->in = mem_new(sys->m, (size_t)most_in + 1, sizeof *w->in, st);
    return w->in != NULL;
}

/* Some wire passed in is ONE, or passed in twice. */
static bool has_equal_wires(const r1cs_system *sys, const r1cs_instance *inst, uint64_t *in)
{
    uint32_t n = sys->templates[inst->tmpl].n_in;

    in[0] = 0; /* ONE, which every template has */
    for (uint32_t k = 0; k < n; k++) in[k + 1] = (uint64_t)sys->wires[inst->wires + k] << 32;
    return terms_sort(in, (size_t)n + 1);
}

static void mark(r1cs_system *sys, r1cs_wire wire, uint8_t side)
{
    uint32_t i = wire & ~R1CS_AUX;

    if ((wire & R1CS_AUX) != 0) {
        bit_set(side == USED_A ? sys->a_aux : sys->b_aux, i);
    } else if (side == USED_B) {
        bit_set(sys->b_input, i);
    }
}

static void densities_exact(r1cs_system *sys, const r1cs_instance *inst, uint64_t *keys)
{
    const r1cs_template *t = &sys->templates[inst->tmpl];
    const r1cs_matrix *x[2] = {&t->a, &t->b};

    for (size_t j = 0; j < 2; j++) {
        for (uint32_t row = 0; row < t->n_rows; row++) {
            size_t n = terms_row_len(x[j], row), pos = 0;
            term found;

            terms_row(keys, sys, inst, x[j], row);
            (void)terms_sort(keys, n); /* equal wires or not: terms_next merges them */
            while (terms_next(&found, sys->cv, sys->coeffs, keys, n, &pos)) {
                mark(sys, found.wire, j == 0 ? USED_A : USED_B);
            }
        }
    }
}

static void densities_of(r1cs_system *sys, const r1cs_instance *inst, const summary *s)
{
    const r1cs_template *t = &sys->templates[inst->tmpl];

    bits_or(sys->a_aux, inst->aux_start, s->a_local, t->n_local);
    bits_or(sys->b_aux, inst->aux_start, s->b_local, t->n_local);
    bits_or(sys->b_input, inst->pub_start, s->b_pub, t->n_pub);
    if (s->b_one) bit_set(sys->b_input, 0);
    for (uint32_t k = 0; k < t->n_in; k++) {
        r1cs_wire wire = sys->wires[inst->wires + k];

        if ((s->in_used[k] & USED_A) != 0) mark(sys, wire, USED_A);
        if ((s->in_used[k] & USED_B) != 0) mark(sys, wire, USED_B);
    }
}

/* is_elem and rank64 have an entry more than n_aux asks for, so that the rank of n_aux can be had too. */
static bool take_maps(r1cs_system *sys, bool bits, cuzk_status *st)
{
    size_t n = words_of(sys->n_aux), spare = n + 1;

    if (bits) {
        sys->is_elem = mem_new(sys->m, spare, sizeof *sys->is_elem, st);
        if (sys->is_elem == NULL) return false;
        sys->rank64 = mem_new(sys->m, spare, sizeof *sys->rank64, st);
        if (sys->rank64 == NULL) return false;
    }
    sys->a_aux = mem_new(sys->m, n, sizeof *sys->a_aux, st);
    if (sys->a_aux == NULL) return false;
    sys->b_aux = mem_new(sys->m, n, sizeof *sys->b_aux, st);
    if (sys->b_aux == NULL) return false;
    sys->b_input = mem_new(sys->m, words_of(sys->n_inputs), sizeof *sys->b_input, st);
    return sys->b_input != NULL;
}

static void count_all(r1cs_system *sys)
{
    size_t rank = 0;

    if (sys->is_elem != NULL) {
        for (size_t i = 0; i <= words_of(sys->n_aux); i++) {
            sys->rank64[i] = (uint32_t)rank;
            rank += u64_popcount(sys->is_elem[i]);
        }
    }
    sys->n_elem = sys->is_elem == NULL ? sys->n_aux : (uint32_t)rank;
    sys->n_a_aux = bits_count(sys->a_aux, sys->n_aux);
    sys->n_b_aux = bits_count(sys->b_aux, sys->n_aux);
    sys->n_b_input = bits_count(sys->b_input, sys->n_inputs);
}

static void give_maps_back(r1cs_system *sys)
{
    uint64_t **map[4] = {&sys->is_elem, &sys->a_aux, &sys->b_aux, &sys->b_input};

    for (size_t i = 0; i < 4; i++) {
        mem_free(sys->m, *map[i]);
        *map[i] = NULL;
    }
    mem_free(sys->m, sys->rank64);
    sys->rank64 = NULL;
}

/* From 1 on, so that 0 is no system's. */
static uint64_t next_id(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1; /* only a number */
}

cuzk_status r1cs_finish(r1cs_system *sys)
{
    cuzk_status st = CUZK_OK;
    scratch w = {0};

    if (sys->coeff_index == NULL) return FAIL(CUZK_EINVAL, "system %s is finished", sys->name);
    if (!scratch_init(&w, sys, &st) || !take_maps(sys, w.bits, &st)) goto out;
    for (size_t i = 0; i < sys->n_instances; i++) {
        const r1cs_instance *inst = &sys->instances[i];
        const summary *s = &w.sum[inst->tmpl];

        if (has_equal_wires(sys, inst, w.in)) {
            densities_exact(sys, inst, w.keys);
        } else {
            densities_of(sys, inst, s);
        }
        if (w.bits) {
            bits_or(sys->is_elem, inst->aux_start, s->is_elem, sys->templates[inst->tmpl].n_local);
        }
    }
    count_all(sys);
    coeff_table_close(sys);
    sys->id = next_id();
out:
    if (st != CUZK_OK) give_maps_back(sys);
    scratch_clear(&w, sys);
    return st;
}
