/*
 * circuit/poseidon.c - Poseidon's objects: sizes, life, and which kernel hashes
 *
 * The constants are made in poseidon_constants.c, the hash in poseidon_tmpl.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/poseidon.h"

#include "base/u128.h"
#include "circuit/poseidon_impl.h"

/* arity, partial rounds */
static const unsigned arities[][2] = {{2, 55}, {4, 56}, {8, 57}, {11, 57}};
#define N_ARITIES (sizeof arities / sizeof arities[0])

struct poseidon_set {
    mem *m;
    const curve *cv;
    poseidon *of[N_ARITIES];
};

static unsigned partial_rounds(unsigned arity)
{
    for (size_t i = 0; i < N_ARITIES; i++)
        if (arities[i][0] == arity) return arities[i][1];
    return 0;
}

static cuzk_status allocate(poseidon *p)
{
    size_t t = p->t;
    struct {
        fr **to;
        size_t n;
    } arrays[] = {{&p->keys, p->n_keys},   {&p->mds, t * t},
                  {&p->pre_sparse, t * t}, {&p->sparse, p->n_partial * (2 * t - 1)},
                  {&p->mds_cols, t * t},   {&p->pre_sparse_cols, t * t}};
    cuzk_status st = CUZK_OK;

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i].to = mem_new(p->m, arrays[i].n, sizeof(fr), &st);
        if (*arrays[i].to == NULL) return st;
    }
    return st;
}

/* The lanes' constants and their arrays, in one block. */
static cuzk_status allocate_scaled(poseidon *p)
{
    size_t n = 2 * (size_t)p->n_keys + 3 * p->n_partial + 1;
    cuzk_status st = CUZK_OK;
    poseidon_scaled *s = mem_new(p->m, 1, sizeof *s + n * sizeof(poseidon_limbs), &st);

    if (s == NULL) return st;
    s->keys = (poseidon_limbs *)(s + 1);
    s->true_keys = s->keys + p->n_keys;
    s->fix = s->true_keys + p->n_keys;
    s->rescale = s->fix + p->n_partial;
    s->unscale = s->rescale + p->n_partial;
    p->scaled = s;
    return CUZK_OK;
}

static void transpose(fr *r, const fr *a, unsigned t)
{
    for (unsigned i = 0; i < t; i++)
        for (unsigned j = 0; j < t; j++) r[j * t + i] = a[i * t + j];
}

static const poseidon_kernel *kernel_of(cpu_table t)
{
#if defined(__x86_64__)
    if (t != CPU_TABLE_GENERIC) return &poseidon_kernel_adx;
#endif
    (void)t; /* one table is all there is elsewhere */
    return &poseidon_kernel_generic;
}

static const poseidon_lanes_kernel *lanes_of(cpu_table t)
{
#if defined(__x86_64__)
    if (t == CPU_TABLE_IFMA) return &poseidon_lanes_ifma;
#endif
    (void)t;
    return NULL;
}

cuzk_status poseidon_new(poseidon **out, cpu_table table, unsigned arity, mem *m)
{
    const curve *cv = curve_get(CURVE_ID_BLS12_381, table);
    unsigned n_partial = partial_rounds(arity);
    cuzk_status st = CUZK_OK;
    poseidon *p;

    if (n_partial == 0) return FAIL(CUZK_EINVAL, "poseidon: arity %u, allowed 2, 4, 8, 11", arity);
    p = mem_new(m, 1, sizeof *p, &st);
    if (p == NULL) return st;
    p->m = m;
    p->cv = cv;
    p->kernel = kernel_of(table);
    p->lanes = lanes_of(table);
    p->arity = arity;
    p->t = arity + 1;
    p->n_partial = n_partial;
    p->n_keys = POSEIDON_FULL_ROUNDS * p->t + n_partial;
    cv->fr_from_u64(&p->merkle_tag, (UINT64_C(1) << arity) - 1);

    TRY_OUT(allocate(p));
    TRY_OUT(poseidon_make_constants(p));
    transpose(p->mds_cols, p->mds, p->t);
    transpose(p->pre_sparse_cols, p->pre_sparse, p->t);
    if (p->lanes != NULL) {
        TRY_OUT(allocate_scaled(p));
        p->lanes->prepare(p, p->scaled);
    }
    *out = p;
    p = NULL;
out:
    poseidon_free(p);
    return st;
}

void poseidon_free(poseidon *p)
{
    if (p == NULL) return;
    mem_free(p->m, p->keys);
    mem_free(p->m, p->mds);
    mem_free(p->m, p->pre_sparse);
    mem_free(p->m, p->sparse);
    mem_free(p->m, p->mds_cols);
    mem_free(p->m, p->pre_sparse_cols);
    mem_free(p->m, p->scaled);
    mem_free(p->m, p);
}

unsigned poseidon_arity(const poseidon *p)
{
    return p->arity;
}

const curve *poseidon_curve(const poseidon *p)
{
    return p->cv;
}

void poseidon_merkle_tag(const poseidon *p, fr *tag)
{
    *tag = p->merkle_tag;
}

void poseidon_hash(const poseidon *p, fr *out, const fr *in, const fr *tag)
{
    p->kernel->hash(p, out, in, tag);
}

void poseidon_trace(const poseidon *p, fr *trace, const fr *in, const fr *tag)
{
    p->kernel->trace(p, trace, in, tag);
}

/* One alone is for the ordinary kernel: eight lanes take as long as some two of it. Lanes without an input repeat the first. */
void poseidon_hash_many(const poseidon *p, unsigned n, fr *const *out, const fr *const *in,
                        const fr *tag)
{
    const fr *in8[POSEIDON_LANES];
    fr *out8[POSEIDON_LANES], unused;

    VERIFY(n <= POSEIDON_LANES);
    if (p->lanes == NULL || n < 2) {
        for (unsigned i = 0; i < n; i++) poseidon_hash(p, out[i], in[i], tag);
        return;
    }
    for (unsigned i = 0; i < POSEIDON_LANES; i++) {
        in8[i] = in[i < n ? i : 0];
        out8[i] = i < n ? out[i] : &unused;
    }
    p->lanes->hash(p, out8, in8, tag);
}

void poseidon_trace_many(const poseidon *p, unsigned n, fr *const *traces, const fr *const *in,
                         const fr *tag)
{
    const fr *in8[POSEIDON_LANES];
    fr *to8[POSEIDON_LANES];

    VERIFY(n <= POSEIDON_LANES);
    if (p->lanes == NULL || n < 2) {
        for (unsigned i = 0; i < n; i++) poseidon_trace(p, traces[i], in[i], tag);
        return;
    }
    for (unsigned i = 0; i < POSEIDON_LANES; i++) {
        in8[i] = in[i < n ? i : 0];
        to8[i] = traces[i < n ? i : 0]; /* the same values once more */
    }
    p->lanes->trace(p, to8, in8, tag);
}

/* Three variables for each S-box of the first round but the tag's, four for all others, one for the hash. */
uint32_t poseidon_trace_len(const poseidon *p)
{
    return 3 * p->arity + 4 * p->t * (POSEIDON_FULL_ROUNDS - 1) + 4 * p->n_partial + 1;
}

cuzk_status poseidon_set_new(poseidon_set **out, cpu_table table, mem *m)
{
    return poseidon_set_new_of(out, table, UINT32_MAX, m);
}

cuzk_status poseidon_set_new_of(poseidon_set **out, cpu_table table, uint32_t arities_wanted,
                                mem *m)
{
    cuzk_status st = CUZK_OK;
    poseidon_set *ps = mem_new(m, 1, sizeof *ps, &st);

    if (ps == NULL) return st;
    ps->m = m;
    ps->cv = curve_get(CURVE_ID_BLS12_381, table);
    for (size_t i = 0; i < N_ARITIES; i++) {
        if ((arities_wanted >> arities[i][0] & 1) == 0) continue;
        st = poseidon_new(&ps->of[i], table, arities[i][0], m);
        if (st != CUZK_OK) {
            poseidon_set_free(ps);
            return st;
        }
    }
    *out = ps;
    return CUZK_OK;
}

void poseidon_set_free(poseidon_set *ps)
{
    if (ps == NULL) return;
    for (size_t i = 0; i < N_ARITIES; i++) poseidon_free(ps->of[i]);
    mem_free(ps->m, ps);
}

const curve *poseidon_set_curve(const poseidon_set *ps)
{
    return ps->cv;
}

const poseidon *poseidon_of(const poseidon_set *ps, unsigned arity)
{
    for (size_t i = 0; i < N_ARITIES; i++)
        if (arities[i][0] == arity) return ps->of[i];
    return NULL;
}
