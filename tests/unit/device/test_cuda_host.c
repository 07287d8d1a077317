/*
 * unit/device/test_cuda_host.c - the headers of device code, compiled for the host, against algebra; needs no GPU
 *
 * Points by every formula, windows joined, products of scalars; the plan of a sum within its memory; rows of a circuit in
 * slices.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cuda/cuda_abc.h"
#include "device/cuda/cuda_msm.h"
#include "unit/device/msm_support.h"

#define POINTS 24u

/* Neighbours that are equal, opposite and infinity, among random ones. */
static void fill(const group *g, uint8_t *out)
{
    any_point p = point_gen(g), q;
    fr k;

    for (size_t i = 0; i < POINTS; i++) {
        random_fr(g->cv, &k);
        p = point_mul(g, &p, &k);
        if (i % 6 == 1) memset(&p, 0, sizeof p);
        if (i % 6 == 2) p = point_gen(g);
        memcpy(out + i * g->size, &p, g->size);
        if (i % 6 == 3) {
            memcpy(out + i * g->size, out + (i - 1) * g->size, g->size);
        } else if (i % 6 == 4) {
            q = point_gen(g);
            q = point_neg(g, &q);
            memcpy(out + i * g->size, &q, g->size);
        }
        if (i % 6 == 1) p = point_gen(g);
    }
}

static void expect_point(const group *g, const uint8_t *got, const any_point *want)
{
    assert_bytes_equal(got, want, g->size);
}

static void test_formulas(void **state)
{
    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++)
        for (int g2 = 0; g2 < 2; g2++) {
            group g = group_of((curve_id)id, g2 == 1);
            const cu_group_ops *ops = cu_group_of((curve_id)id, g2 == 1);
            uint8_t *in = test_array(POINTS, g.size), *out = test_array((size_t)3 * POINTS, g.size);

            assert_int_equal(ops->point_size, g.size);
            fill(&g, in);
            ops->check_host(out, in, POINTS);
            for (size_t i = 0; i + 1 < POINTS; i++) {
                any_point a, b, sum, twice, more;
                memset(&a, 0, sizeof a);
                memset(&b, 0, sizeof b);
                memcpy(&a, in + i * g.size, g.size);
                memcpy(&b, in + (i + 1) * g.size, g.size);
                sum = point_add(&g, &a, &b);
                twice = point_add(&g, &a, &a);
                more = point_add(&g, &twice, &b);
                expect_point(&g, out + 3 * i * g.size, &sum);
                expect_point(&g, out + (3 * i + 1) * g.size, &twice);
                expect_point(&g, out + (3 * i + 2) * g.size, &more);
            }
            free(out);
            free(in);
        }
}

/* acc + 2^3 (W_0 + 2^5 W_1 + 2^10 W_2) */
static void test_windows(void **state)
{
    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++)
        for (int g2 = 0; g2 < 2; g2++) {
            group g = group_of((curve_id)id, g2 == 1);
            const cu_group_ops *ops = cu_group_of((curve_id)id, g2 == 1);
            uint8_t *in = test_array(POINTS, g.size), *sums = test_array(4, ops->sum_size);
            any_point got, want;

            memset(&got, 0, sizeof got);
            fill(&g, in);
            memset(&want, 0, sizeof want);
            memcpy(&want, in, g.size);
            for (size_t i = 0; i < 4; i++) {
                any_point w, t;
                fr power;
                memset(&w, 0, sizeof w);
                memcpy(&w, in + 6 * i * g.size, g.size);
                ops->from_affine(sums + i * ops->sum_size, &w);
                if (i == 0) continue;
                g.cv->fr_from_u64(&power, (uint64_t)1 << (3 + 5 * (i - 1)));
                t = point_mul(&g, &w, &power);
                want = point_add(&g, &want, &t);
            }
            ops->add_windows(sums, sums + ops->sum_size, 3, 3, 5);
            ops->to_affine(&got, sums);
            assert_points_equal(&g, &got, &want);
            free(sums);
            free(in);
        }
}

static void test_products(void **state)
{
    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        const curve *cv = curve_get((curve_id)id, CPU_TABLE_GENERIC);
        for (size_t i = 0; i < harness_iters(200); i++) {
            fr a, b, want;
            uint32_t x[8], y[8], got[8];
            random_fr(cv, &a);
            random_fr(cv, &b);
            cv->fr_mul(&want, &a, &b);
            memcpy(x, &a, sizeof x);
            memcpy(y, &b, sizeof y);
            cu_fr_of((curve_id)id)->host_mul(got, x, y);
            assert_bytes_equal(got, &want, sizeof want);
        }
    }
}

/* ---- lazy butterflies ---- */

/* x >= k r, as 256-bit numbers (k 1 or 2) */
static bool reaches(const curve *cv, const fr *x, unsigned k)
{
    fr m = {{0}};
    uint64_t carry = 0;

    memcpy(&m, cv->r_le, sizeof m);
    for (int i = 0; i < 4 && k == 2; i++) {
        uint64_t l = m.l[i];
        m.l[i] = l << 1 | carry;
        carry = l >> 63;
    }
    for (int i = 3; i >= 0; i--)
        if (x->l[i] != m.l[i]) return x->l[i] > m.l[i];
    return true;
}

/* x - r while it is not below k r */
static void reduce_below(const curve *cv, fr *x, unsigned k)
{
    fr m;

    memcpy(&m, cv->r_le, sizeof m);
    while (reaches(cv, x, k)) {
        uint64_t borrow = 0;
        for (int i = 0; i < 4; i++) {
            uint64_t a = x->l[i], b = m.l[i];
            x->l[i] = a - b - borrow;
            borrow = a < b || (a == b && borrow != 0);
        }
    }
}

static void any_number(const curve *cv, fr *x)
{
    uint64_t kind = harness_random_below(5);

    memset(x, kind == 0 ? 0xff : 0, sizeof *x);
    for (int i = 0; i < 4 && kind >= 3; i++) x->l[i] = harness_random_below(UINT64_MAX);
    if (kind == 2) memcpy(x, cv->r_le, sizeof *x);
}

static void check_split(const curve *cv, const fr *x, const fr *y, const fr *t, bool back)
{
    uint32_t in[3][8];
    fr a = *x, b = *y, u, v, got[2];

    memcpy(in[0], x, sizeof in[0]);
    memcpy(in[1], y, sizeof in[1]);
    memcpy(in[2], t, sizeof in[2]);
    cu_fr_of(cv->id)->host_split(in[0], in[1], in[2], back);
    memcpy(got, in, sizeof got);
    reduce_below(cv, &a, 1);
    reduce_below(cv, &b, 1);
    if (!back) cv->fr_mul(&b, &b, t);
    cv->fr_add(&u, &a, &b);
    cv->fr_sub(&v, &a, &b);
    if (back) cv->fr_mul(&v, &v, t);
    for (int i = 0; i < 2; i++) {
        if (back) assert_false(reaches(cv, &got[i], 2));
        reduce_below(cv, &got[i], 1);
    }
    assert_bytes_equal(&got[0], &u, sizeof u);
    assert_bytes_equal(&got[1], &v, sizeof v);
}

static void test_lazy(void **state)
{
    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++) {
        const curve *cv = curve_get((curve_id)id, CPU_TABLE_GENERIC);
        for (size_t i = 0; i < harness_iters(400); i++) {
            fr x, y, t;
            any_number(cv, &x);
            any_number(cv, &y);
            random_fr(cv, &t);
            if (i % 7 == 0) t = cv->fr_one;
            if (i % 7 == 1) cv->fr_neg(&t, &cv->fr_one);
            check_split(cv, &x, &y, &t, false);
            reduce_below(cv, &x, 2);
            reduce_below(cv, &y, 2);
            check_split(cv, &x, &y, &t, true);
        }
    }
}

/* Multiples of one point as the kernels make and write them: every form, lanes of several points, infinity among them. */
static void fixed_case(const group *g, curve_id id, unsigned c, int form)
{
    enum { N = 23, LANES = 5, FIRST = 100 };
    const cu_group_ops *ops = cu_group_of(id, g->g2);
    const point_enc enc = (point_enc)form;
    size_t half = (size_t)1 << (c - 1), size = g->cv->point_size(g->g2, enc),
           rows = half > N ? half : N;
    cu_digits d = {.c = c, .windows = (g->cv->fr_bits + c - 1) / c};
    uint8_t *points = test_array(d.windows, g->size),
            *table = test_array(d.windows * half, g->size);
    uint8_t *sums = test_array(rows, ops->sum_size), *prefix = test_array(rows, ops->fe_size);
    uint8_t *out = test_array(N, g->size);
    uint32_t *value = test_array(N, 32), x[8];
    unsigned long long none = UINT64_MAX;
    fr k[N];
    cu_write w = {.out = out,
                  .none = &none,
                  .sums = sums,
                  .prefix = prefix,
                  .n = N,
                  .first = FIRST,
                  .lanes = LANES,
                  .form = form};
    any_point p = point_gen(g), base;

    for (unsigned i = 0; i + 1 < d.windows; i++)
        d.bias[(i * c + c - 1) / 32] |= (uint32_t)1 << (i * c + c - 1) % 32;
    random_frs(g->cv, k, N);
    base = p = point_mul(g, &p, &k[0]);
    for (size_t i = 0; i < d.windows; i++) {
        memcpy(points + i * g->size, &p, g->size);
        for (unsigned b = 0; b < c; b++) p = point_add(g, &p, &p);
    }
    k[7] = k[12] = g->cv->fr_zero;
    k[8] = g->cv->fr_one;
    g->cv->fr_neg(&k[9], &g->cv->fr_one);
    g->cv->fr_from_u64(&k[10], half);
    g->cv->fr_from_u64(&k[11], half + 1);
    for (size_t i = 0; i < N; i++) {
        memcpy(x, &k[i], sizeof x);
        cu_fr_of(id)->host_value(value + 8 * i, x, &d);
    }
    ops->fixed_host(&w, table, points, value, &d);
    for (size_t i = N; i-- > 0;) {
        uint8_t want[192];
        p = point_mul(g, &base, &k[i]);
        if (g->g2) {
            g->cv->g2_write(want, &p.g2, enc);
        } else {
            g->cv->g1_write(want, &p.g1, enc);
        }
        assert_bytes_equal(out + i * size, want, size);
    }
    for (size_t i = 0; i < N; i++)
        if (g->cv->fr_is_zero(&k[i])) {
            assert_int_equal(none, FIRST + i);
            break;
        }
    free(value);
    free(out);
    free(prefix);
    free(sums);
    free(table);
    free(points);
}

static void test_fixed(void **state)
{
    static const unsigned cs[] = {4, 7, 8, 9};

    (void)state;
    for (unsigned id = 0; id < CURVE_IDS; id++)
        for (int g2 = 0; g2 < 2; g2++)
            for (size_t i = 0; i < sizeof cs / sizeof *cs; i++) {
                group g = group_of((curve_id)id, g2 == 1);
                int forms = id == CURVE_ID_BLS12_381 ? CU_WRITE_ZCASH_COMPRESSED : CU_WRITE_LEM;
                fixed_case(&g, (curve_id)id, cs[i], (int)i % (forms + 1));
            }
}

/* A plan keeps to the memory it is given, and is refused below some size, never made. */
static void test_plans(void **state)
{
    static const size_t sizes[] = {5, 64, 1000, 100000, (size_t)1 << 22, (size_t)1 << 27};
    cu_device cu = {.sms = 132, .name = "cuda:0"};
    unsigned made = 0, refused = 0;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned log_room = 20; log_room <= 37; log_room++) {
            dev_scalars k = {.n = sizes[i]};
            size_t room = (size_t)1 << log_room, point = log_room % 2 == 0 ? 96 : 0;
            cu_msm_plan p;
            if (cu_msm_plan_make(&p, &cu, &cu_g1_bls, &k, 255, room, point, 32) != CUZK_OK) {
                refused++;
                continue;
            }
            made++;
            assert_true(p.bytes <= room && p.entries < CU_MAX_ENTRIES);
            assert_true(p.chunk == k.n || (p.chunk % 64 == 0 && p.chunk < k.n));
            assert_true(p.windows * p.c >= 255 && p.group >= 1 && p.group <= p.windows);
            assert_true(p.max_elems <= p.chunk && p.max_elems > 0);
            assert_int_equal(((size_t)1 << (p.c - 1)) % p.seg_len, 0);
        }
    assert_true(made > 30 && refused > 10);
}

/* ---- rows in slices ---- */

#define MAX_TERMS 1100u
#define COEFFS 9u

/* Small numbers of both signs, the two ends of their range, what is beyond it. */
static void coefficients(const curve *cv, fr c[COEFFS], int64_t number[COEFFS])
{
    static const int64_t v[COEFFS] = {1, -1, 0, 2, -5, CU_COEFF_MAX, -CU_COEFF_MAX};

    for (unsigned i = 0; i < COEFFS; i++) {
        number[i] = v[i];
        cv->fr_from_u64(&c[i], (uint64_t)(v[i] < 0 ? -v[i] : v[i]));
        if (v[i] < 0) cv->fr_neg(&c[i], &c[i]);
    }
    cv->fr_from_u64(&c[7], (uint64_t)CU_COEFF_MAX + 1);
    cv->fr_from_u64(&c[8], UINT64_C(0x9e3779b97f4a7c15));
    number[7] = number[8] = INT64_MAX; /* none */
}

static void check_code(uint32_t code, uint32_t index, const int64_t number[COEFFS])
{
    if (number[index] == INT64_MAX) {
        assert_int_equal(code, index);
    } else {
        assert_true((code & CU_COEFF_INT) != 0);
        assert_int_equal((int32_t)(code << 1) / 2, number[index]);
    }
}

static uint32_t wire_of(const dev_template *t, uint32_t code)
{
    const uint32_t base[] = {0, 1, 1 + t->n_in, 1 + t->n_in + t->n_local};

    return base[code >> CU_WIRE_BITS] + (code & ((1u << CU_WIRE_BITS) - 1));
}

/* Every row is in one slice, with its terms and then with nothing; a slice has no longer rows than the one before. */
static void check_slices(const cu_rows *r, const dev_template *t, const uint32_t *code,
                         const int64_t number[COEFFS])
{
    uint32_t *seen = test_array(t->n_rows + 1, sizeof *seen), steps = 0, step[64];

    for (uint32_t i = 0; i < r->slices; i++) {
        uint32_t n = r->start[i + 1] - r->start[i];
        assert_int_equal(r->start[i], steps);
        if (i != 0 && n < MAX_TERMS - 100) assert_true(n <= r->start[i] - r->start[i - 1]);
        steps += n;
        for (uint32_t k = 0; k <= n; k++) {
            cu_rows_step(step, r, t, &t->a, code, i, k);
            for (uint32_t lane = 0; lane < 32; lane++) {
                uint32_t row = r->order[32 * i + lane], wire = step[2 * lane];
                uint32_t c = step[2 * lane + 1], len = 0;
                if (row != CU_NO_ROW) len = t->a.row_start[row + 1] - t->a.row_start[row];
                if (k >= len) {
                    assert_true(wire >> CU_WIRE_BITS == CU_WIRE_ONE && c == CU_COEFF_INT);
                    continue;
                }
                assert_true(k < n);
                assert_int_equal(wire_of(t, wire), t->a.wire[t->a.row_start[row] + k]);
                check_code(c, t->a.coeff[t->a.row_start[row] + k], number);
            }
        }
        for (uint32_t lane = 0; lane < 32; lane++)
            if (r->order[32 * i + lane] != CU_NO_ROW) seen[r->order[32 * i + lane]]++;
    }
    assert_int_equal(r->start[r->slices], r->steps);
    for (uint32_t i = 0; i < t->n_rows; i++) assert_int_equal(seen[i], 1);
    free(seen);
}

static void test_slices(void **state)
{
    static const uint32_t rows[] = {1, 31, 32, 33, 200};
    const curve *cv = curve_get(CURVE_ID_BLS12_381, CPU_TABLE_GENERIC);
    int64_t number[COEFFS];
    uint32_t *code;
    fr coeffs[COEFFS];
    mem *m;

    (void)state;
    assert_status_ok(mem_open(&m, "slices", 0, NULL));
    coefficients(cv, coeffs, number);
    assert_status_ok(cu_coeff_codes(&code, m, cv, coeffs, COEFFS));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dev_template t = {.n_in = 3, .n_local = 40, .n_pub = 2, .n_rows = rows[i]};
        uint32_t *start = test_array(rows[i] + 1, sizeof *start), n = 0;
        uint32_t *wire = test_array((size_t)rows[i] * MAX_TERMS, sizeof *wire);
        uint32_t *coeff = test_array((size_t)rows[i] * MAX_TERMS, sizeof *coeff);
        cu_rows r;

        for (uint32_t k = 0; k < rows[i]; k++) {
            uint32_t terms = harness_random_below(9) == 0 ? MAX_TERMS : 4;
            terms = (uint32_t)harness_random_below(terms);
            for (uint32_t j = 0; j < terms; j++, n++) {
                wire[n] = (uint32_t)harness_random_below(1 + 3 + 40 + 2);
                coeff[n] = (uint32_t)harness_random_below(COEFFS);
            }
            start[k + 1] = n;
        }
        t.a = (dev_matrix){start, wire, coeff};
        assert_status_ok(cu_rows_make(&r, m, start, t.n_rows));
        check_slices(&r, &t, code, number);
        cu_rows_free(&r);
        free(coeff);
        free(wire);
        free(start);
    }
    mem_free(m, code);
    mem_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas), cmocka_unit_test(test_windows),
        cmocka_unit_test(test_products), cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_plans),    cmocka_unit_test(test_slices),
        cmocka_unit_test(test_lazy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
