/*
 * unit/circuit/support.c - what the tests of circuits share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "support.h"

#include <inttypes.h>

#include "base/hash.h"
#include "base/json.h"

/* ---- budgets, constants, values ---- */

mem *support_mem(void)
{
    mem *m = NULL;

    assert_status_ok(mem_open(&m, "test", 0, NULL));
    return m;
}

void support_close(mem *m)
{
    assert_int_equal(mem_used(m), 0);
    mem_close(m);
}

const curve *support_curve(void)
{
    return curve_get(CURVE_ID_BLS12_381, cpu_table_best());
}

static mem *shared_mem;
static poseidon_set *shared_set;

static void free_shared(void)
{
    poseidon_set_free(shared_set);
    mem_close(shared_mem);
}

const poseidon_set *support_poseidon(void)
{
    if (shared_set == NULL) {
        shared_mem = support_mem();
        assert_status_ok(poseidon_set_new(&shared_set, cpu_table_best(), shared_mem));
        assert_int_equal(atexit(free_shared), 0);
    }
    return shared_set;
}

fr support_u64(uint64_t v)
{
    fr r;

    support_curve()->fr_from_u64(&r, v);
    return r;
}

fr support_fr(const char *big_endian_hex)
{
    uint8_t b[32];
    scalar s;
    fr r;

    harness_from_hex(b, sizeof b, big_endian_hex);
    for (size_t i = 0; i < 32; i++) s.b[i] = b[31 - i];
    assert_true(support_curve()->fr_from_scalar(&r, &s));
    return r;
}

void support_random_fr(fr *out)
{
    scalar s;

    do {
        harness_random_bytes(s.b, sizeof s.b);
        s.b[31] &= 0x7f;
    } while (!support_curve()->fr_from_scalar(out, &s));
}

/* ---- systems ---- */

void support_check_system(const r1cs_system *sys, const expected_system *want)
{
    uint8_t hash[32];

    (void)printf("%s\n", want->name);
    assert_int_equal(sys->n_inputs, want->n_inputs);
    assert_int_equal(sys->n_aux, want->n_aux);
    assert_int_equal(sys->n_rows, want->n_rows);
    assert_int_equal(sys->n_a_aux, want->n_a_aux);
    assert_int_equal(sys->n_b_aux, want->n_b_aux);
    assert_true(sys->n_b_input <= 1); /* ONE, or nothing */
    if (want->hash == NULL) return;   /* not known */
    assert_status_ok(r1cs_hash(sys, hash));
    assert_hex_equal(hash, sizeof hash, want->hash);
}

void support_check_terms(const r1cs_system *sys, const uint64_t want[3])
{
    uint64_t n[3] = {0, 0, 0};

    for (size_t i = 0; i < sys->n_instances; i++) {
        const r1cs_template *t = &sys->templates[sys->instances[i].tmpl];

        n[0] += t->a.row_start[t->n_rows];
        n[1] += t->b.row_start[t->n_rows];
        n[2] += t->c.row_start[t->n_rows];
    }
    for (size_t k = 0; k < 3; k++)
        if (want[k] != 0) assert_int_equal(n[k], want[k]);
}

r1cs_system *support_system_of(const char *name, void (*rows)(const gadget *g, unsigned n),
                               unsigned n, mem *m)
{
    r1cs_system *sys = NULL;
    r1cs_builder *b = NULL;
    uint32_t tmpl;
    gadget g;

    assert_status_ok(r1cs_new(&sys, support_curve(), name, m));
    assert_status_ok(r1cs_builder_new(&b, sys, name, 0));
    g = gadget_of(b, support_curve());
    rows(&g, n);
    assert_status_ok(r1cs_builder_finish(b, &tmpl));
    r1cs_builder_free(b);
    assert_status_ok(r1cs_add(sys, tmpl, NULL, NULL, NULL));
    assert_status_ok(r1cs_finish(sys));
    return sys;
}

void support_numbers(const gadget *g, uint32_t *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++) out[i] = r1cs_alloc(g->b);
}

void support_bits(const gadget *g, uint32_t *out, unsigned n)
{
    for (unsigned i = 0; i < n; i++) out[i] = bit_alloc(g);
}

void support_check_recipes(const recipe *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mem *m = support_mem();
        r1cs_system *sys = support_system_of(r[i].want.name, r[i].rows, r[i].n, m);

        support_check_system(sys, &r[i].want);
        r1cs_free(sys);
        support_close(m);
    }
}

/* ---- systems of several templates ---- */

void support_rows_number(const gadget *g, unsigned n)
{
    for (unsigned i = 0; i < n; i++) (void)r1cs_alloc(g->b);
}

void support_rows_bits(const gadget *g, unsigned n)
{
    for (unsigned i = 0; i < n; i++) (void)bit_alloc(g);
}

/* Adds a template that takes nothing in, and one instance of it; its first variable. */
r1cs_wire support_add_own(r1cs_system *sys, void (*rows)(const gadget *g, unsigned n), unsigned n)
{
    r1cs_builder *b = NULL;
    r1cs_wire first;
    uint32_t tmpl;
    gadget g;

    assert_status_ok(r1cs_builder_new(&b, sys, "own", 0));
    g = gadget_of(b, support_curve());
    rows(&g, n);
    assert_status_ok(r1cs_builder_finish(b, &tmpl));
    r1cs_builder_free(b);
    assert_status_ok(r1cs_add(sys, tmpl, NULL, &first, NULL));
    return first;
}

r1cs_system *support_system_new(const char *name, mem *m)
{
    r1cs_system *sys = NULL;

    assert_status_ok(r1cs_new(&sys, support_curve(), name, m));
    return sys;
}

void support_holds(const r1cs_system *sys, const r1cs_assignment *w)
{
    r1cs_fault fault;

    assert_status_ok(r1cs_check(sys, w, NULL, NULL, &fault));
    if (fault.found)
        harness_fail("row %u of instance %zu (%s) does not hold", fault.row_in_tmpl, fault.instance,
                     fault.tmpl);
}

/* Any bit that is turned breaks a row. */
void support_bits_matter(const r1cs_system *sys, r1cs_assignment *w)
{
    size_t n = sys->n_aux - sys->n_elem;

    for (size_t round = 0; round < harness_iters(5); round++) {
        size_t at = harness_random_below(n);
        r1cs_fault fault;

        w->bits[at / 64] ^= UINT64_C(1) << at % 64;
        assert_status_ok(r1cs_check(sys, w, NULL, NULL, &fault));
        assert_true(fault.found);
        w->bits[at / 64] ^= UINT64_C(1) << at % 64;
    }
}

void support_random_node(uint8_t node[32])
{
    scalar s;
    fr x;

    support_random_fr(&x);
    support_curve()->fr_to_scalar(&s, &x);
    memcpy(node, s.b, 32);
}

fr support_fr_of(const uint8_t node[32])
{
    scalar s;
    fr x;

    memcpy(s.b, node, 32);
    assert_true(support_curve()->fr_from_scalar(&x, &s));
    return x;
}

/* ---- cases ---- */

void post_case_open(post_case *c, const char *folder, fil_kind kind, mem *m)
{
    char path[256];
    uint8_t *json;
    size_t size;

    *c = (post_case){.folder = folder, .kind = kind};
    (void)snprintf(path, sizeof path, "filecoin/%s/statement.json", folder);
    json = harness_read_file(harness_fixture(path), &size);
    assert_status_ok(post_statement_read(&c->st, json, size, kind, m));
    free(json);
    c->files = calloc(c->st->n_sectors, sizeof *c->files);
    c->inputs = calloc(c->st->n_sectors, sizeof *c->inputs);
    assert_non_null(c->files);
    assert_non_null(c->inputs);
    for (size_t i = 0; i < c->st->n_sectors; i++) {
        (void)snprintf(path, sizeof path, "filecoin/%s/vanilla-%zu.bin", folder, i);
        c->files[i] = harness_read_file(harness_fixture(path), &c->inputs[i].size);
        c->inputs[i].data = c->files[i];
    }
}

void post_case_close(post_case *c)
{
    for (size_t i = 0; i < c->st->n_sectors; i++) free(c->files[i]);
    free(c->files);
    free(c->inputs);
    post_statement_free(c->st);
}

post_vanilla *post_case_read(const post_case *c, size_t partition, mem *m)
{
    post_vanilla *v = NULL;
    size_t first, n;

    post_partition_sectors(c->st, partition, &first, &n);
    assert_status_ok(
        post_vanilla_read(&v, c->st, partition, c->inputs + first, n, support_poseidon(), m));
    return v;
}

/* ---- expected assignments ---- */

static void next(json_in *j, json_token *t)
{
    assert_status_ok(json_next(j, t));
}

/* Strings of `digits` characters each, joined. */
static char *read_strings(json_in *j, size_t digits, size_t *n)
{
    char *all = NULL;
    json_token t;

    *n = 0;
    for (next(j, &t); next(j, &t), t.type != JSON_ARRAY_END; (*n)++) {
        assert_int_equal(t.len, digits);
        all = realloc(all, (*n + 1) * digits + 1);
        assert_non_null(all);
        memcpy(all + *n * digits, t.text, digits);
        all[(*n + 1) * digits] = '\0';
    }
    return all;
}

static void read_number(json_in *j, uint64_t *out)
{
    json_token t;

    next(j, &t);
    assert_status_ok(json_u64(&t, UINT64_MAX, out, "count"));
}

static void read_digest(json_in *j, char out[65])
{
    json_token t;

    next(j, &t);
    assert_int_equal(t.len, 64);
    memcpy(out, t.text, 64);
    out[64] = '\0';
}

/* One object of assignment[], its first brace read already. */
static void read_assignment(expected_assignment *e, json_in *j)
{
    json_token k;

    for (next(j, &k); k.type == JSON_KEY; next(j, &k)) {
        if (json_is(&k, "inputs"))
            read_number(j, &e->n_inputs);
        else if (json_is(&k, "aux"))
            read_number(j, &e->n_aux);
        else if (json_is(&k, "aux_zero"))
            read_number(j, &e->n_zero);
        else if (json_is(&k, "aux_one"))
            read_number(j, &e->n_one);
        else if (json_is(&k, "sha256_inputs_then_aux"))
            read_digest(j, e->sha256_all);
        else if (json_is(&k, "sha256_inputs"))
            read_digest(j, e->sha256_inputs);
        else if (json_is(&k, "aux_chunk_sha256_first8bytes"))
            e->chunks = read_strings(j, 16, &e->n_chunks);
        else if (json_is(&k, "public_inputs"))
            e->public_inputs = read_strings(j, 64, &e->n_public);
        else
            assert_status_ok(json_skip(j));
    }
}

void expected_assignment_read(expected_assignment *e, const char *folder, size_t partition)
{
    char path[256];
    json_in j;
    json_token t;
    size_t size, at = 0;
    uint8_t *json;

    *e = (expected_assignment){0};
    (void)snprintf(path, sizeof path, "filecoin/%s/statement.json", folder);
    json = harness_read_file(harness_fixture(path), &size);
    assert_status_ok(json_init(&j, json, size));
    for (next(&j, &t); next(&j, &t), t.type == JSON_KEY;) {
        if (!json_is(&t, "assignment")) {
            assert_status_ok(json_skip(&j));
            continue;
        }
        for (next(&j, &t); next(&j, &t), t.type == JSON_OBJECT; at++) {
            expected_assignment one = {0};

            read_assignment(at == partition ? e : &one, &j);
            expected_assignment_clear(&one);
        }
    }
    free(json);
    assert_true(at > partition);
}

void expected_assignment_clear(expected_assignment *e)
{
    free(e->chunks);
    free(e->public_inputs);
    *e = (expected_assignment){0};
}

/* ---- assignments ---- */

#define CHUNK 65536

static void digest_is(sha256_ctx *c, const char *want, const char *what)
{
    uint8_t digest[32];

    sha256_final(c, digest);
    harness_hex_equal(digest, sizeof digest, want, what, __FILE__, __LINE__);
}

/* aux in chunks into `all`; counts zeros and ones; compares each chunk's digest. */
static void check_aux(const r1cs_assignment *w, sha256_ctx *all, const expected_assignment *want)
{
    const curve *cv = support_curve();
    uint64_t zeros = 0, ones = 0;
    uint8_t digest[32], expected[8];
    scalar *chunk = calloc(CHUNK, sizeof *chunk);

    assert_non_null(chunk);
    for (uint32_t at = 0; at < w->n_aux; at += CHUNK) {
        uint32_t n = w->n_aux - at < CHUNK ? w->n_aux - at : CHUNK;
        size_t k = at / CHUNK;

        for (uint32_t i = 0; i < n; i++) {
            fr x;

            r1cs_get(w, R1CS_AUX | (at + i), &x);
            zeros += cv->fr_is_zero(&x) ? 1 : 0;
            ones += cv->fr_eq(&x, &cv->fr_one) ? 1 : 0;
            cv->fr_to_scalar(&chunk[i], &x);
        }
        sha256_update(all, chunk, n * sizeof *chunk);
        sha256(digest, chunk, n * sizeof *chunk);
        assert_true(k < want->n_chunks);
        assert_true(hex_decode(expected, 8, want->chunks + 16 * k, 16));
        if (memcmp(expected, digest, 8) != 0)
            harness_fail("chunk %zu of %zu differs: aux %" PRIu32 "..", k, want->n_chunks, at);
    }
    free(chunk);
    assert_int_equal(zeros, want->n_zero);
    assert_int_equal(ones, want->n_one);
}

void support_check_assignment(const r1cs_system *sys, const r1cs_assignment *w,
                              const expected_assignment *want)
{
    const curve *cv = support_curve();
    sha256_ctx all, inputs;

    assert_int_equal(sys->n_inputs, want->n_inputs);
    assert_int_equal(sys->n_aux, want->n_aux);
    sha256_init(&inputs);
    for (uint32_t i = 0; i < w->n_inputs; i++) {
        scalar s;

        cv->fr_to_scalar(&s, &w->inputs[i]);
        sha256_update(&inputs, s.b, sizeof s.b);
    }
    all = inputs;
    digest_is(&inputs, want->sha256_inputs, "inputs");
    check_aux(w, &all, want);
    digest_is(&all, want->sha256_all, "inputs, then aux");
}

/* The inputs after ONE are those derived from the statement, and those that statement.json has. */
static void check_public_inputs(const r1cs_assignment *w, const post_case *c, size_t partition,
                                const expected_assignment *want)
{
    size_t n = post_n_public(c->st);
    fr *derived = calloc(n, sizeof *derived);

    assert_non_null(derived);
    assert_int_equal(w->n_inputs, n + 1);
    assert_status_ok(post_public_inputs(c->st, partition, support_curve(), derived));
    assert_bytes_equal(w->inputs + 1, derived, n * sizeof *derived);
    assert_true(want->n_public == n || want->n_public == 0);
    for (size_t i = 0; i < want->n_public; i++) {
        scalar got, file;

        support_curve()->fr_to_scalar(&got, &derived[i]);
        assert_true(hex_decode(file.b, 32, want->public_inputs + 64 * i, 64));
        assert_bytes_equal(got.b, file.b, 32);
    }
    free(derived);
}

void support_check_case(const char *folder, fil_kind kind, pool *p)
{
    mem *m = support_mem();
    r1cs_system *sys = NULL;
    post_case c;

    (void)printf("%s\n", folder);
    post_case_open(&c, folder, kind, m);
    assert_status_ok(post_system_of(&sys, support_poseidon(), kind, c.st->size, m));
    for (size_t k = 0; k < post_partitions(c.st); k++) {
        post_vanilla *v = post_case_read(&c, k, m);
        r1cs_assignment *w = NULL;
        r1cs_fault fault;
        expected_assignment want;

        expected_assignment_read(&want, folder, k);
        assert_status_ok(post_vanilla_check(v, p, NULL));
        assert_status_ok(post_synthesize(&w, sys, v, p, NULL, m));
        post_vanilla_free(v);
        support_check_assignment(sys, w, &want);
        check_public_inputs(w, &c, k, &want);
        assert_status_ok(r1cs_check(sys, w, p, NULL, &fault));
        assert_false(fault.found);
        r1cs_assignment_free(w);
        expected_assignment_clear(&want);
    }
    r1cs_free(sys);
    post_case_close(&c);
    support_close(m);
}
