/*
 * unit/circuit/gen_support.c - inputs made by fil_generate, taken all the way to satisfied rows
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "gen_support.h"

#include <stdio.h>

#include "circuit/filecoin/porep_witness.h"
#include "circuit/filecoin/update.h"

static const fil_redundant strict = {.strict = true};

static cuzk_status keep(void *ctx, const char *name, const void *data, size_t size)
{
    gen_files *f = ctx;

    assert_in_range(f->n, 0, GEN_MAX_FILES - 1);
    (void)snprintf(f->name[f->n], sizeof f->name[0], "%s", name);
    f->data[f->n] = malloc(size);
    assert_non_null(f->data[f->n]);
    memcpy(f->data[f->n], data, size);
    f->size[f->n++] = size;
    return CUZK_OK;
}

static const fil_size *size_named(const char *name)
{
    size_t n;
    const fil_size *s = fil_sizes(&n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(s[i].name, name) == 0) return &s[i];
    fail_msg("no size %s", name);
    return NULL;
}

cuzk_status gen_run(gen_files *f, fil_kind kind, const char *size, int64_t registered,
                    uint32_t n_sectors, uint64_t seed, pool *p, mem *m)
{
    fil_gen g = {.kind = kind,
                 .size = size_named(size),
                 .registered = registered,
                 .n_sectors = n_sectors,
                 .seed = seed,
                 .ps = support_poseidon(),
                 .pool = p,
                 .m = m,
                 .put = keep,
                 .ctx = f};

    memset(f, 0, sizeof *f);
    return fil_generate(&g);
}

void gen_files_clear(gen_files *f)
{
    for (size_t i = 0; i < f->n; i++) free(f->data[i]);
    f->n = 0;
}

size_t gen_find(const gen_files *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->name[i], name) == 0) return i;
    fail_msg("no file %s", name);
    return 0;
}

static void holds(const r1cs_system *sys, const r1cs_assignment *w, const fr *pub, size_t n,
                  pool *p)
{
    r1cs_fault fault;

    assert_int_equal(w->n_inputs, n + 1);
    assert_memory_equal(pub, w->inputs + 1, n * sizeof *pub);
    assert_status_ok(r1cs_check(sys, w, p, NULL, &fault));
    assert_false(fault.found);
}

static void porep_holds(const gen_files *f, size_t n_rows, pool *p, mem *m)
{
    size_t s = gen_find(f, "statement.json"), c = gen_find(f, "c1.json");
    porep_run run = {support_poseidon(), &strict, p, NULL, m};
    porep_statement st;
    porep_derived d;
    porep_c1 *c1 = NULL;
    r1cs_system *sys = NULL;

    assert_status_ok(porep_statement_read(&st, f->data[s], f->size[s]));
    porep_derive(&d, &st);
    assert_status_ok(porep_c1_read(&c1, f->data[c], f->size[c], &st.shape, m));
    assert_status_ok(porep_check_statement(c1, &d));
    for (uint32_t k = 0; k < c1->n_partitions; k++) assert_status_ok(porep_c1_check(c1, k, &run));
    if (n_rows > 0)
        assert_status_ok(porep_system_new(&sys, support_poseidon(), "gen", st.shape.size,
                                          st.shape.layers, c1->n_challenges, m));
    for (uint32_t k = 0; k < n_rows; k++) {
        size_t n = porep_n_public(&d);
        fr *pub = calloc(n, sizeof *pub);
        r1cs_assignment *w = NULL;

        assert_non_null(pub);
        assert_status_ok(porep_public_inputs(&d, k, support_curve(), pub));
        assert_status_ok(porep_synthesize(&w, sys, c1, k, &run));
        holds(sys, w, pub, n, p);
        r1cs_assignment_free(w);
        free(pub);
    }
    r1cs_free(sys);
    porep_c1_free(c1);
}

static void update_holds(const gen_files *f, size_t n_rows, pool *p, mem *m)
{
    size_t s = gen_find(f, "statement.json");
    update_statement st;
    r1cs_system *sys = NULL;

    assert_status_ok(update_statement_read(&st, f->data[s], f->size[s], FIL_UPDATE));
    if (n_rows > 0)
        assert_status_ok(update_system_of(&sys, support_poseidon(), FIL_UPDATE, st.shape.size, m));
    for (uint32_t k = 0; k < st.shape.n_partitions; k++) {
        update_vanilla *v = NULL;
        r1cs_assignment *w = NULL;
        fr pub[UPDATE_N_PUBLIC];

        assert_status_ok(
            update_vanilla_read(&v, &st, k, f->data[k], f->size[k], support_poseidon(), m));
        assert_status_ok(update_vanilla_check(v, &strict, p, NULL));
        if (k < n_rows) {
            assert_status_ok(update_public_inputs(&st, k, support_curve(), pub));
            assert_status_ok(update_synthesize(&w, sys, v, &strict, p, NULL, m));
            holds(sys, w, pub, UPDATE_N_PUBLIC, p);
            r1cs_assignment_free(w);
        }
        update_vanilla_free(v);
    }
    r1cs_free(sys);
}

static void post_holds(const gen_files *f, fil_kind kind, size_t n_rows, pool *p, mem *m)
{
    size_t s = gen_find(f, "statement.json");
    post_statement *st = NULL;
    r1cs_system *sys = NULL;
    post_input inputs[GEN_MAX_FILES];

    assert_status_ok(post_statement_read(&st, f->data[s], f->size[s], kind, m));
    for (size_t i = 0; i < f->n; i++) inputs[i] = (post_input){f->data[i], f->size[i]};
    if (n_rows > 0) assert_status_ok(post_system_of(&sys, support_poseidon(), kind, st->size, m));
    for (size_t k = 0; k < post_partitions(st); k++) {
        size_t first, n, n_pub = post_n_public(st);
        post_vanilla *v = NULL;
        r1cs_assignment *w = NULL;
        fr *pub = calloc(n_pub, sizeof *pub);

        assert_non_null(pub);
        post_partition_sectors(st, k, &first, &n);
        assert_status_ok(post_vanilla_read(&v, st, k, inputs + first, n, support_poseidon(), m));
        assert_status_ok(post_vanilla_check(v, p, NULL));
        if (k < n_rows) {
            assert_status_ok(post_public_inputs(st, k, support_curve(), pub));
            assert_status_ok(post_synthesize(&w, sys, v, p, NULL, m));
            holds(sys, w, pub, n_pub, p);
            r1cs_assignment_free(w);
        }
        post_vanilla_free(v);
        free(pub);
    }
    r1cs_free(sys);
    post_statement_free(st);
}

void gen_holds(fil_kind kind, const char *size, int64_t registered, size_t n_rows, pool *p)
{
    mem *m = support_mem();
    gen_files f;

    assert_status_ok(gen_run(&f, kind, size, registered, 0, 7, p, m));
    if (kind == FIL_POREP)
        porep_holds(&f, n_rows, p, m);
    else if (kind == FIL_UPDATE)
        update_holds(&f, n_rows, p, m);
    else
        post_holds(&f, kind, n_rows, p, m);
    gen_files_clear(&f);
    support_close(m);
}
