/*
 * bench/bench_curve.c - what a curve table does a few times a proof: pairings, products of a point, checks, decoding
 *
 * Cases: <curve> <operation> <table>, n operations on n distinct points; the remark gives one operation. "check 3" and
 * "check 4" are the products of a verifier with and without e(alpha, beta) at hand.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "bench/runner.h"

#include "algebra/curve.h"

enum { POINTS = 16, PAIRS = 4 };

typedef struct subject {
    const curve *c;
    size_t pairs; /* of a check */
    g1_any p[POINTS], g1_out;
    g2_any q[POINTS], g2_out;
    g1_any check_p[PAIRS]; /* a_i G and the point that makes the product 1, for `pairs` */
    fr k[POINTS];
    gt_any e;
    uint8_t g1_bytes[POINTS][96], g2_bytes[POINTS][192];
    point_enc enc;
} subject;

static void random_scalar(const curve *c, fr *r, uint64_t *seed)
{
    scalar s;
    do {
        for (size_t i = 0; i < sizeof s.b; i++) s.b[i] = (uint8_t)bench_random(seed);
        s.b[31] &= 0x7f;
    } while (!c->fr_from_scalar(r, &s));
}

static void fill(subject *t)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < POINTS; i++) {
        fr a, b;
        random_scalar(t->c, &a, &seed);
        random_scalar(t->c, &b, &seed);
        random_scalar(t->c, &t->k[i], &seed);
        t->c->g1_mul(&t->p[i], &t->c->g1_gen, &a);
        t->c->g2_mul(&t->q[i], &t->c->g2_gen, &b);
    }
}

/* The last of `pairs` factors undoes the others: e(a_i G, b_i H) with known a_i, b_i. */
static void fill_check(subject *t, size_t pairs)
{
    const curve *c = t->c;
    fr sum = c->fr_zero, a, b;
    uint64_t seed = 7;

    t->pairs = pairs;
    for (size_t i = 0; i + 1 < pairs; i++) {
        random_scalar(c, &a, &seed);
        random_scalar(c, &b, &seed);
        c->g1_mul(&t->check_p[i], &c->g1_gen, &a);
        c->g2_mul(&t->q[i], &c->g2_gen, &b);
        c->fr_mul(&a, &a, &b);
        c->fr_sub(&sum, &sum, &a);
    }
    random_scalar(c, &b, &seed);
    c->g2_mul(&t->q[pairs - 1], &c->g2_gen, &b);
    c->fr_inv(&b, &b);
    c->fr_mul(&sum, &sum, &b);
    c->g1_mul(&t->check_p[pairs - 1], &c->g1_gen, &sum);
}

static void run_pairing(void *ctx)
{
    subject *t = ctx;
    for (size_t i = 0; i < POINTS; i++) t->c->pairing(&t->e, &t->p[i], &t->q[i]);
}

static void run_check(void *ctx)
{
    const subject *t = ctx;
    bench_need(t->c->pairing_check(t->check_p, t->q, t->pairs), "the product of pairings is not 1");
}

static void run_g1_mul(void *ctx)
{
    subject *t = ctx;
    for (size_t i = 0; i < POINTS; i++) t->c->g1_mul(&t->g1_out, &t->p[i], &t->k[i]);
}

static void run_g2_mul(void *ctx)
{
    subject *t = ctx;
    for (size_t i = 0; i < POINTS; i++) t->c->g2_mul(&t->g2_out, &t->q[i], &t->k[i]);
}

static void run_g1_subgroup(void *ctx)
{
    const subject *t = ctx;
    for (size_t i = 0; i < POINTS; i++) bench_need(t->c->g1_in_subgroup(&t->p[i]), "not in G1");
}

static void run_g2_subgroup(void *ctx)
{
    const subject *t = ctx;
    for (size_t i = 0; i < POINTS; i++) bench_need(t->c->g2_in_subgroup(&t->q[i]), "not in G2");
}

static void run_g1_read(void *ctx)
{
    subject *t = ctx;
    for (size_t i = 0; i < POINTS; i++) {
        bench_need(t->c->g1_read(&t->g1_out, t->g1_bytes[i], t->enc) == POINT_OK, "g1 encoding");
        bench_need(t->c->g1_eq(&t->g1_out, &t->p[i]), "g1 point");
    }
}

static void run_g2_read(void *ctx)
{
    subject *t = ctx;
    for (size_t i = 0; i < POINTS; i++) {
        bench_need(t->c->g2_read(&t->g2_out, t->g2_bytes[i], t->enc) == POINT_OK, "g2 encoding");
        bench_need(t->c->g2_eq(&t->g2_out, &t->q[i]), "g2 point");
    }
}

static void run(const bench_options *o, subject *t, const char *what, void (*fn)(void *), size_t n)
{
    char name[96];
    double ns;
    snprintf(name, sizeof name, "%s %s %s", t->c->name, what, cpu_table_name(t->c->table));
    ns = bench_case(o, name, n, fn, t, 0);
    if (ns > 0) printf("#   %.3f us each\n", ns / (double)n / 1000);
}

static void bench_reads(const bench_options *o, subject *t)
{
    static const struct {
        point_enc enc;
        const char *g1, *g2;
    } forms[] = {{POINT_LEM, "g1 read", "g2 read"},
                 {POINT_ZCASH, "g1 read zcash", "g2 read zcash"},
                 {POINT_ZCASH_COMPRESSED, "g1 decompress", "g2 decompress"}};
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        if (t->c->point_size(false, forms[f].enc) == 0) continue;
        t->enc = forms[f].enc;
        for (size_t i = 0; i < POINTS; i++) {
            t->c->g1_write(t->g1_bytes[i], &t->p[i], t->enc);
            t->c->g2_write(t->g2_bytes[i], &t->q[i], t->enc);
        }
        run(o, t, forms[f].g1, run_g1_read, POINTS);
        run(o, t, forms[f].g2, run_g2_read, POINTS);
    }
}

int main(int argc, char **argv)
{
    bench_options o = bench_start(argc, argv, "curve tables");

    for (unsigned id = 0; id < CURVE_IDS; id++) {
        for (unsigned table = 0; table < CPU_TABLES; table++) {
            static subject t;
            if (!cpu_table_supported((cpu_table)table)) continue;
            t.c = curve_get((curve_id)id, (cpu_table)table);
            fill(&t);
            run(&o, &t, "pairing", run_pairing, POINTS);
            run(&o, &t, "g1 mul", run_g1_mul, POINTS);
            run(&o, &t, "g2 mul", run_g2_mul, POINTS);
            run(&o, &t, "g1 subgroup", run_g1_subgroup, POINTS);
            run(&o, &t, "g2 subgroup", run_g2_subgroup, POINTS);
            bench_reads(&o, &t);
            fill_check(&t, 3);
            run(&o, &t, "check 3", run_check, 1);
            fill_check(&t, 4);
            run(&o, &t, "check 4", run_check, 1);
        }
    }
    return 0;
}
