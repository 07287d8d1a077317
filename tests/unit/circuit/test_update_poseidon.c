/*
 * unit/circuit/test_update_poseidon.c - the Poseidon variant of sector updates: a made-up sector of 1 KiB
 *
 * The reference publishes no vanilla proofs of it. So trees are made here, from the text of spec/filecoin-formats.md 3.5 and 4; the
 * judge is the circuit, whose hash is the reference's (test_update_circuit.c): every row holds, and none after a bent value.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "update_support.h"

#include "base/bytes.h"

#define NODES 32 /* 8-4-0: base trees of 8 leafs, four of them */
#define PROOF_SIZE (4 + (8 + 8 + 7 * 32 + 8) + (8 + 8 + 3 * 32 + 8) + 64)
#define FILE_SIZE (32 + 8 + 10 * 3 * PROOF_SIZE)

typedef struct tree {
    fr leaf[NODES], base[4], root;
} tree;

static fr hash(const fr *in, unsigned arity)
{
    const poseidon *p = poseidon_of(support_poseidon(), arity);
    fr tag, out;

    poseidon_merkle_tag(p, &tag);
    poseidon_hash(p, &out, in, &tag);
    return out;
}

static void grow(tree *t)
{
    for (unsigned i = 0; i < 4; i++) t->base[i] = hash(&t->leaf[(size_t)8 * i], 8);
    t->root = hash(t->base, 4);
}

static void to_bytes(uint8_t out[32], const fr *x)
{
    scalar s;

    support_curve()->fr_to_scalar(&s, x);
    memcpy(out, s.b, 32);
}

static void put_fr(bytes_out *o, const fr *x)
{
    uint8_t b[32];

    to_bytes(b, x);
    bytes_put(o, b, 32);
}

/* A path of one element: the siblings of list[index]. */
static void put_path(bytes_out *o, const fr *list, unsigned arity, unsigned index)
{
    bytes_put_u64le(o, 1);
    bytes_put_u64le(o, arity - 1);
    for (unsigned i = 0; i < arity; i++)
        if (i != index) put_fr(o, &list[i]);
    bytes_put_u64le(o, index);
}

static void put_proof(bytes_out *o, const tree *t, uint64_t leaf)
{
    bytes_put_u32le(o, 1); /* Sub */
    put_path(o, &t->leaf[leaf / 8 * 8], 8, leaf % 8);
    put_path(o, t->base, 4, (unsigned)(leaf / 8));
    put_fr(o, &t->root);
    put_fr(o, &t->leaf[leaf]);
}

typedef struct sector {
    mem *m;
    update_statement st;
    bytes_out file;
} sector;

static void encode(sector *s, tree *new, const tree *old, const tree *data)
{
    const curve *cv = support_curve();
    fr phi, rho;

    update_phi(&s->st, support_poseidon(), &phi);
    for (uint64_t i = 0; i < NODES; i++) {
        update_rho(&s->st, support_poseidon(), &phi, i, &rho);
        cv->fr_mul(&rho, &rho, &data->leaf[i]);
        cv->fr_add(&new->leaf[i], &old->leaf[i], &rho);
    }
    grow(new);
}

static void sector_open(sector *s)
{
    static tree old, data, new;
    uint64_t challenges[10];
    fr pair[2], comm;

    *s = (sector){.m = support_mem()};
    assert_status_ok(
        update_shape_of(&s->st.shape, FIL_UPDATE_POSEIDON, fil_size_by_bytes(UINT64_C(1024))));
    for (size_t i = 0; i < NODES; i++) {
        support_random_fr(&old.leaf[i]);
        support_random_fr(&data.leaf[i]);
    }
    grow(&old);
    grow(&data);
    support_random_fr(&pair[0]); /* comm_c */
    pair[1] = old.root;
    comm = hash(pair, 2);
    to_bytes(s->st.comm_r_old, &comm);
    to_bytes(s->st.comm_d_new, &data.root);
    encode(s, &new, &old, &data);
    pair[1] = new.root;
    comm = hash(pair, 2);
    to_bytes(s->st.comm_r_new, &comm);

    bytes_out_init(&s->file, s->m);
    put_fr(&s->file, &pair[0]);
    bytes_put_u64le(&s->file, 10);
    update_challenges(&s->st, 0, support_poseidon(), challenges);
    for (size_t i = 0; i < 10; i++) {
        put_proof(&s->file, &old, challenges[i]);
        put_proof(&s->file, &data, challenges[i]);
        put_proof(&s->file, &new, challenges[i]);
    }
    assert_status_ok(bytes_out_status(&s->file));
    assert_int_equal(s->file.size, FILE_SIZE);
}

static cuzk_status synthesise(const sector *s, const r1cs_system *sys, const fil_redundant *r)
{
    update_vanilla *v = NULL;
    r1cs_assignment *w = NULL;
    cuzk_status st;

    assert_status_ok(
        update_vanilla_read(&v, &s->st, 0, s->file.data, s->file.size, support_poseidon(), s->m));
    st = update_vanilla_check(v, r, NULL, NULL);
    assert_int_equal(update_synthesize(&w, sys, v, r, NULL, NULL, s->m), st);
    if (st == CUZK_OK) support_holds(sys, w);
    r1cs_assignment_free(w);
    update_vanilla_free(v);
    return st;
}

/* One bit of the data tree's part of challenge 4: the class and place that it gets. */
static const struct {
    size_t at;
    cuzk_class klass;
    const char *mentions;
} bends[] = {
    {PROOF_SIZE - 32, CUZK_CLASS_INCONSISTENT, "the old one plus"},               /* leaf */
    {4 + 8 + 8 + 6 * 32, CUZK_CLASS_INCONSISTENT, "into the tree of comm_d_new"}, /* sibling */
    {4 + 8 + 8 + 7 * 32, CUZK_CLASS_REDUNDANT, "index fields"},                   /* index */
    {PROOF_SIZE - 64, CUZK_CLASS_REDUNDANT, "root field"},                        /* root */
};

static void test_a_sector_of_1_kib(void **state)
{
    const fil_redundant strict = {.strict = true};
    r1cs_system *sys = NULL;
    sector s;

    (void)state;
    sector_open(&s);
    assert_status_ok(
        update_system_of(&sys, support_poseidon(), FIL_UPDATE_POSEIDON, s.st.shape.size, s.m));
    assert_status_ok(synthesise(&s, sys, &strict));
    for (size_t i = 0; i < sizeof bends / sizeof bends[0]; i++) {
        uint8_t *at = s.file.data + 40 + (size_t)(4 * 3 + 1) * PROOF_SIZE + bends[i].at;

        *at ^= 1;
        assert_status_is(synthesise(&s, sys, &strict), CUZK_EDATA);
        assert_error_class(bends[i].klass);
        assert_error_mentions("partition 0, challenge 4");
        assert_error_mentions(bends[i].mentions);
        if (bends[i].klass == CUZK_CLASS_REDUNDANT) assert_status_ok(synthesise(&s, sys, NULL));
        *at ^= 1;
    }
    bytes_out_clear(&s.file);
    r1cs_free(sys);
    support_close(s.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sector_of_1_kib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
