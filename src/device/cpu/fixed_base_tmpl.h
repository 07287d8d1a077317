/*
 * device/cpu/fixed_base_tmpl.h - additions of table entries for one group; included by msm_tmpl.h
 *
 * Both functions are batches of affine additions (msm_batch_tmpl.h): a table row doubles in length with each batch, and
 * a block of results takes one entry each from a row.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* row[j] = (j + 1) base: from m points, row[m + i] = row[i] + row[m - 1] */
static void MSM_G(table_row)(void *row_out, const void *base, size_t half, void *scratch)
{
    MSM_G(block) *k = scratch;
    MSM_G(cell) *row = row_out;

    MSM_G(batch_init)(&k->batch, true);
    if (!MSM_G(cell_load)(&row[0], base, false)) MSM_G(cell_set_inf)(&row[0]);
    for (size_t m = 1; m < half; m *= 2) {
        size_t n = half - m < m ? half - m : m;
        for (size_t i = 0; i < n; i++) {
            row[m + i] = row[i];
            MSM_G(batch_add)(&k->batch, &row[m + i], &row[m - 1]);
            if (k->batch.n == MSM_PAIRS) MSM_G(batch_finish)(&k->batch);
        }
        MSM_G(batch_finish)(&k->batch);
    }
}

static void MSM_G(shift)(void *next, const void *base, unsigned c)
{
    MSM_G(jac) j;

    MSM_G(jac_from_affine)(&j, base);
    for (unsigned i = 0; i < c; i++) MSM_G(jac_dbl)(&j, &j);
    MSM_G(to_affine)(next, &j);
}

/* A negative digit's point is negated in a copy. */
static void MSM_G(table_add)(void *acc_inout, const void *row_in, const int32_t *d, size_t n,
                             void *scratch)
{
    MSM_G(block) *k = scratch;
    MSM_G(cell) *acc = acc_inout;
    const MSM_G(cell) *row = row_in;

    MSM_G(batch_init)(&k->batch, true);
    for (size_t i = 0; i < n; i++) {
        const MSM_G(cell) * q;
        if (i + MSM_AHEAD < n && d[i + MSM_AHEAD] != 0) {
            const int32_t a = d[i + MSM_AHEAD];
            const char *ahead = (const char *)&row[(a < 0 ? -a : a) - 1];
            for (size_t line = 0; line < sizeof *q; line += 64) U128_PREFETCH(ahead + line);
        }
        if (d[i] == 0) continue;
        if (d[i] > 0) {
            q = &row[d[i] - 1];
        } else {
            MSM_G(cell_neg)(&k->buf[i], &row[-d[i] - 1]);
            q = &k->buf[i];
        }
        MSM_G(batch_add)(&k->batch, &acc[i], q);
    }
    MSM_G(batch_finish)(&k->batch);
}
