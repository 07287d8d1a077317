/*
 * groth16/aggregate_codec.c - an aggregate from and to bytes
 *
 * One list of fields in the order of the bytes, for reading and writing both. Elements are decoded by several threads: each
 * value of the pairing takes a subgroup test.
 *
 * Source: spec/filecoin-aggregate.md sections 1 and 6.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>

#include "base/u128.h"
#include "groth16/aggregate_int.h"

#define G1_BYTES 48u
#define G2_BYTES 96u
#define FIELDS_MAX (17 + 12 * AGGREGATE_MAX_LOG)
#define N_AT AGGREGATE_COUNT_AT
#define FIXED_BYTES (N_AT + 4 + 480 + 288)
#define ROUND_BYTES (10 * GT_BYTES + 2 * G1_BYTES)

_Static_assert(N_AT == 5 * GT_BYTES + G1_BYTES, "behind five values of the pairing and a point");

typedef enum field_kind { FIELD_GT, FIELD_G1, FIELD_G2 } field_kind;

typedef struct field {
    const char *name;
    int round; /* -1: of the whole */
    field_kind kind;
    void *at;
    size_t offset;
} field;

typedef struct field_list {
    field f[FIELDS_MAX];
    size_t n, size;
} field_list;

static void add(field_list *l, const char *name, int round, field_kind kind, void *at)
{
    static const size_t sizes[] = {GT_BYTES, G1_BYTES, G2_BYTES};

    l->f[l->n++] = (field){name, round, kind, at, l->size};
    l->size += sizes[kind];
}

static void list_fields(field_list *l, agg_proof *p)
{
    l->n = l->size = 0;
    add(l, "com_ab.0", -1, FIELD_GT, &p->com_ab[0]);
    add(l, "com_ab.1", -1, FIELD_GT, &p->com_ab[1]);
    add(l, "com_c.0", -1, FIELD_GT, &p->com_c[0]);
    add(l, "com_c.1", -1, FIELD_GT, &p->com_c[1]);
    add(l, "ip_ab", -1, FIELD_GT, &p->ip_ab);
    add(l, "agg_c", -1, FIELD_G1, &p->agg_c);
    l->size += 4; /* n */
    for (unsigned i = 0; i < p->log_n; i++) {
        add(l, "tab_l.0", (int)i, FIELD_GT, &p->round[i].tab_l[0]);
        add(l, "tab_l.1", (int)i, FIELD_GT, &p->round[i].tab_l[1]);
        add(l, "tab_r.0", (int)i, FIELD_GT, &p->round[i].tab_r[0]);
        add(l, "tab_r.1", (int)i, FIELD_GT, &p->round[i].tab_r[1]);
    }
    for (unsigned i = 0; i < p->log_n; i++) {
        add(l, "tuc_l.0", (int)i, FIELD_GT, &p->round[i].tuc_l[0]);
        add(l, "tuc_l.1", (int)i, FIELD_GT, &p->round[i].tuc_l[1]);
        add(l, "tuc_r.0", (int)i, FIELD_GT, &p->round[i].tuc_r[0]);
        add(l, "tuc_r.1", (int)i, FIELD_GT, &p->round[i].tuc_r[1]);
    }
    for (unsigned i = 0; i < p->log_n; i++) {
        add(l, "zab_l", (int)i, FIELD_GT, &p->round[i].zab_l);
        add(l, "zab_r", (int)i, FIELD_GT, &p->round[i].zab_r);
    }
    for (unsigned i = 0; i < p->log_n; i++) {
        add(l, "zc_l", (int)i, FIELD_G1, &p->round[i].zc_l);
        add(l, "zc_r", (int)i, FIELD_G1, &p->round[i].zc_r);
    }
    add(l, "final_a", -1, FIELD_G1, &p->a);
    add(l, "final_b", -1, FIELD_G2, &p->b);
    add(l, "final_c", -1, FIELD_G1, &p->c);
    add(l, "final_v.0", -1, FIELD_G2, &p->v[0]);
    add(l, "final_v.1", -1, FIELD_G2, &p->v[1]);
    add(l, "final_w.0", -1, FIELD_G1, &p->w[0]);
    add(l, "final_w.1", -1, FIELD_G1, &p->w[1]);
    add(l, "pi_v.0", -1, FIELD_G2, &p->pv[0]);
    add(l, "pi_v.1", -1, FIELD_G2, &p->pv[1]);
    add(l, "pi_w.0", -1, FIELD_G1, &p->pw[0]);
    add(l, "pi_w.1", -1, FIELD_G1, &p->pw[1]);
}

static void field_name(char out[48], const field *f)
{
    if (f->round < 0)
        (void)snprintf(out, 48, "aggregate %s", f->name);
    else
        (void)snprintf(out, 48, "aggregate round %d, %s", f->round, f->name);
}

size_t aggregate_size(uint32_t n)
{
    return FIXED_BYTES + (size_t)ROUND_BYTES * (u64_bits(n) - 1);
}

/* ---- read ---- */

typedef struct reading {
    const curve *cv;
    const batch_ops *b;
    const uint8_t *data;
    const field_list *list;
} reading;

static const char *point_fault(point_err e, bool in_subgroup)
{
    if (e != POINT_OK) return point_err_text(e);
    return in_subgroup ? NULL : "not in the subgroup of order r";
}

static cuzk_status read_field(void *ctx, size_t i, unsigned worker)
{
    const reading *x = ctx;
    const field *f = &x->list->f[i];
    const uint8_t *in = x->data + f->offset;
    const char *fault = NULL;
    gt_err ge;
    point_err pe;
    char name[48];
    (void)worker;

    switch (f->kind) {
    case FIELD_GT:
        ge = x->b->gt_read(f->at, in);
        if (ge != GT_OK) fault = gt_err_text(ge);
        break;
    case FIELD_G1:
        pe = x->cv->g1_read(f->at, in, POINT_ZCASH_COMPRESSED);
        fault = point_fault(pe, pe == POINT_OK && x->cv->g1_in_subgroup(f->at));
        break;
    case FIELD_G2:
        pe = x->cv->g2_read(f->at, in, POINT_ZCASH_COMPRESSED);
        fault = point_fault(pe, pe == POINT_OK && x->cv->g2_in_subgroup(f->at));
        break;
    }
    if (fault == NULL) return CUZK_OK;
    field_name(name, f);
    return FAIL_DATA(MALFORMED, name, "%s: %s", name, fault);
}

cuzk_status agg_proof_read(agg_proof *out, const uint8_t *data, size_t size, const curve *cv,
                           pool *p, const cancel *stop)
{
    field_list list;
    reading x = {cv, batch_get(cv->table), data, &list};
    uint32_t n;

    if (size < N_AT + 4)
        return FAIL_DATA(MALFORMED, "aggregate", "aggregate of %zu bytes, the shortest has %zu",
                         size, aggregate_size(2));
    n = load_u32le(data + N_AT);
    if (n < 2 || (n & (n - 1)) != 0)
        return FAIL_DATA(MALFORMED, "aggregate n",
                         "aggregate of %u proofs: a power of two above 1 is expected", n);
    if (n > AGGREGATE_MAX)
        return FAIL_DATA(LIMIT, "aggregate n", "aggregate of %u proofs, limit %u", n,
                         AGGREGATE_MAX);
    if (size != aggregate_size(n))
        return FAIL_DATA(MALFORMED, "aggregate", "aggregate of %zu bytes, one of %u proofs has %zu",
                         size, n, aggregate_size(n));
    out->n = n;
    out->log_n = u64_bits(n) - 1;
    list_fields(&list, out);
    VERIFY(list.size == size);
    return pool_run(p, stop, list.n, read_field, &x);
}

cuzk_status aggregate_inspect(uint32_t *n, const uint8_t *proof, size_t size, cpu_table t, pool *p,
                              mem *m)
{
    cuzk_status st;
    agg_proof *a = mem_new(m, 1, sizeof *a, &st);

    if (a == NULL) return st;
    st = agg_proof_read(a, proof, size, curve_get(CURVE_ID_BLS12_381, t), p, NULL);
    if (st == CUZK_OK) *n = a->n;
    mem_free(m, a);
    return st;
}

/* ---- write ---- */

static cuzk_status write_fields(bytes_out *o, const field_list *list, uint32_t n, const curve *cv)
{
    const batch_ops *b = batch_get(cv->table);
    uint8_t buf[GT_BYTES];
    char name[48];

    for (size_t i = 0; i < list->n; i++) {
        const field *f = &list->f[i];
        if (f->offset == N_AT + 4) bytes_put_u32le(o, n);
        switch (f->kind) {
        case FIELD_GT:
            if (!b->gt_write(buf, f->at)) {
                field_name(name, f);
                return FAIL_DATA(SHAPE, name, "%s is 1, which has no encoding", name);
            }
            bytes_put(o, buf, GT_BYTES);
            break;
        case FIELD_G1:
            cv->g1_write(buf, f->at, POINT_ZCASH_COMPRESSED);
            bytes_put(o, buf, G1_BYTES);
            break;
        case FIELD_G2:
            cv->g2_write(buf, f->at, POINT_ZCASH_COMPRESSED);
            bytes_put(o, buf, G2_BYTES);
            break;
        }
    }
    return bytes_out_status(o);
}

cuzk_status agg_proof_write(bytes_out *o, agg_proof *p, const curve *cv)
{
    size_t before = o->size;
    field_list list;

    list_fields(&list, p);
    cuzk_status st = write_fields(o, &list, p->n, cv);
    if (st != CUZK_OK) o->size = before;
    return st;
}
