/*
 * unit/r1cs/test_model.c - random systems against the plain rows that they stand for (model.h)
 *
 * Digest, densities, layout, values, and the first row that fails, on both curves, with equal and
 * constant wires passed in.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "model.h"

#include "base/hash.h"

typedef struct round_kind {
    curve_id id;
    bool bits;
} round_kind;

static bool occurs(const model *k, size_t side, size_t var)
{
    for (uint32_t r = 0; r < k->n_rows; r++) {
        if (!k->cv->fr_is_zero(&k->rows[r].lc[side][var])) return true;
    }
    return false;
}

static bool bit_at(const uint64_t *map, size_t i)
{
    return (map[i / 64] >> (i % 64) & 1) != 0;
}

static void check_densities(const model *k)
{
    const r1cs_system *sys = k->sys;
    uint32_t a = 0, b = 0, in = 0;

    for (uint32_t i = 0; i < k->n_aux; i++) {
        bool in_a = occurs(k, 0, MODEL_MAX_INPUTS + i), in_b = occurs(k, 1, MODEL_MAX_INPUTS + i);

        assert_int_equal(bit_at(sys->a_aux, i), in_a);
        assert_int_equal(bit_at(sys->b_aux, i), in_b);
        a += in_a;
        b += in_b;
    }
    for (uint32_t i = 0; i < k->n_inputs; i++) {
        assert_int_equal(bit_at(sys->b_input, i), occurs(k, 1, i));
        in += occurs(k, 1, i);
    }
    assert_int_equal(sys->n_a_aux, a);
    assert_int_equal(sys->n_b_aux, b);
    assert_int_equal(sys->n_b_input, in);
}

static void check_layout(const model *k)
{
    const r1cs_system *sys = k->sys;
    uint32_t n_elem = 0;

    for (uint32_t i = 0; i < k->n_aux; i++) {
        if (sys->is_elem != NULL) {
            assert_int_equal(bit_at(sys->is_elem, i), k->is_elem[i]);
            if (i % 64 == 0) assert_int_equal(sys->rank64[i / 64], n_elem);
        } else {
            assert_true(k->is_elem[i]);
        }
        n_elem += k->is_elem[i];
    }
    assert_int_equal(sys->n_elem, n_elem);
    for (size_t i = 0; i < sys->n_instances; i++) {
        const r1cs_instance *inst = &sys->instances[i];
        r1cs_place p = r1cs_place_of(sys, inst);

        n_elem = 0;
        for (uint32_t j = 0; j < inst->aux_start; j++) n_elem += k->is_elem[j];
        assert_int_equal(p.elem_start, n_elem);
        assert_int_equal(p.bit_start, inst->aux_start - n_elem);
    }
}

/* Rows of templates are sorted, merged, without zeros; coefficients without duplicates. */
static void check_form(const model *k)
{
    const r1cs_system *sys = k->sys;

    for (size_t i = 0; i < sys->n_templates; i++) {
        const r1cs_template *t = &sys->templates[i];
        const r1cs_matrix *x[3] = {&t->a, &t->b, &t->c};

        for (size_t j = 0; j < 3; j++) {
            assert_int_equal(x[j]->row_start[0], 0);
            for (uint32_t r = 0; r < t->n_rows; r++) {
                for (uint32_t e = x[j]->row_start[r]; e < x[j]->row_start[r + 1]; e++) {
                    assert_true(e == x[j]->row_start[r] || x[j]->wire[e - 1] < x[j]->wire[e]);
                    assert_true(x[j]->wire[e] <= t->n_in + t->n_local + t->n_pub);
                    assert_true(x[j]->coeff[e] < sys->n_coeffs);
                    assert_false(k->cv->fr_is_zero(&sys->coeffs[x[j]->coeff[e]]));
                }
            }
        }
    }
    for (size_t i = 0; i < sys->n_coeffs; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_false(k->cv->fr_eq(&sys->coeffs[i], &sys->coeffs[j]));
        }
    }
}

static void put_u64(blake2s_ctx *c, uint64_t v)
{
    uint8_t b[8];

    for (size_t i = 0; i < 8; i++) b[i] = (uint8_t)(v >> (56 - 8 * i));
    blake2s_update(c, b, 8);
}

static void model_hash(const model *k, uint8_t out[32])
{
    blake2s_ctx c;

    blake2s_init(&c, 32, NULL, 0);
    put_u64(&c, k->n_inputs);
    put_u64(&c, k->n_aux);
    put_u64(&c, k->n_rows);
    for (uint32_t r = 0; r < k->n_rows; r++) {
        for (size_t j = 0; j < 3; j++) {
            const fr *lc = k->rows[r].lc[j];
            uint64_t n = 0;

            for (size_t v = 0; v < MODEL_VARS; v++) n += !k->cv->fr_is_zero(&lc[v]);
            put_u64(&c, n);
            for (size_t v = 0; v < MODEL_VARS; v++) {
                bool aux = v >= MODEL_MAX_INPUTS;
                scalar s;

                if (k->cv->fr_is_zero(&lc[v])) continue;
                blake2s_update(&c, aux ? "A" : "I", 1);
                put_u64(&c, aux ? v - MODEL_MAX_INPUTS : v);
                k->cv->fr_to_scalar(&s, &lc[v]);
                for (size_t i = 0; i < 32; i++) blake2s_update(&c, &s.b[31 - i], 1);
            }
        }
    }
    blake2s_final(&c, out);
}

static void check_faults(const model *k, pool *p)
{
    fr *value = calloc(MODEL_VARS, sizeof *value);
    r1cs_assignment *w = model_assign(k, k->value);
    r1cs_fault fault;

    assert_non_null(value);
    for (uint32_t i = 0; i < k->n_inputs + k->n_aux; i++) {
        r1cs_wire wire = i < k->n_inputs ? i : R1CS_AUX | (i - k->n_inputs);
        fr got;

        r1cs_get(w, wire, &got);
        assert_true(k->cv->fr_eq(&got, &k->value[model_var(wire)]));
    }
    assert_status_ok(r1cs_check(k->sys, w, p, NULL, &fault));
    assert_false(fault.found);
    r1cs_assignment_free(w);

    for (size_t i = 0; i < 12 && k->n_aux > 0; i++) {
        uint32_t aux = (uint32_t)harness_random_below(k->n_aux), bad;
        fr *v = &value[MODEL_MAX_INPUTS + aux];

        memcpy(value, k->value, MODEL_VARS * sizeof *value);
        k->cv->fr_sub(v, &k->cv->fr_one, v); /* a bit stays a bit */
        bad = model_check(k, value);
        w = model_assign(k, value);
        assert_status_ok(r1cs_check(k->sys, w, p, NULL, &fault));
        assert_int_equal(fault.found, bad < k->n_rows);
        if (fault.found) {
            assert_int_equal(fault.row, bad);
            assert_string_equal(fault.tmpl, "random");
            assert_int_equal(k->sys->instances[fault.instance].row_start + fault.row_in_tmpl, bad);
        }
        r1cs_assignment_free(w);
    }
    free(value);
}

static void matches_the_model(void **state)
{
    const round_kind *kind = *state;
    const curve *cv = support_curve(kind->id);
    pool *p = NULL;

    assert_status_ok(pool_open(&p, 2, NULL));
    for (size_t i = 0; i < harness_iters(25); i++) {
        model *k = model_new(cv, kind->bits);
        uint8_t got[32], want[32];

        check_form(k);
        check_densities(k);
        check_layout(k);
        model_hash(k, want);
        assert_status_ok(r1cs_hash(k->sys, got));
        assert_bytes_equal(got, want, 32);
        assert_int_equal(model_check(k, k->value), k->n_rows);
        check_faults(k, i % 2 == 0 ? p : NULL);
        model_free(k);
    }
    pool_close(p);
}

int main(void)
{
    static round_kind bls = {CURVE_ID_BLS12_381, true}, bn = {CURVE_ID_BN254, true},
                      plain = {CURVE_ID_BN254, false};
    const struct CMUnitTest tests[] = {
        {"bls12-381, bits", matches_the_model, NULL, NULL, &bls},
        {"bn254, bits", matches_the_model, NULL, NULL, &bn},
        {"bn254, elements alone", matches_the_model, NULL, NULL, &plain},
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
