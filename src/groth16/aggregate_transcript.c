/*
 * groth16/aggregate_transcript.c - the challenges of an aggregate, by SHA-256
 *
 * Every challenge has a hash of its own: "snarkpack-v1", a tag, items plainly behind one another; earlier challenges enter as
 * scalars. A counter is appended until the digest, bit 255 cleared, is above 1 and below the group order.
 *
 * Source: spec/filecoin-aggregate.md section 3.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "groth16/aggregate_int.h"

typedef struct hashing {
    sha256_ctx h;
    const curve *cv;
    const batch_ops *b;
} hashing;

static void begin(hashing *x, const agg_transcript *t, const char *tag)
{
    static const char domain[] = "snarkpack-v1";

    x->cv = t->cv;
    x->b = t->b;
    sha256_init(&x->h);
    sha256_update(&x->h, domain, sizeof domain - 1);
    sha256_update(&x->h, tag, strlen(tag));
}

static void put_fr(hashing *x, const fr *a)
{
    scalar s;

    x->cv->fr_to_scalar(&s, a);
    sha256_update(&x->h, s.b, sizeof s.b);
}

static void put_g1(hashing *x, const g1_any *a)
{
    uint8_t b[48];

    x->cv->g1_write(b, a, POINT_ZCASH_COMPRESSED);
    sha256_update(&x->h, b, sizeof b);
}

static void put_g2(hashing *x, const g2_any *a)
{
    uint8_t b[96];

    x->cv->g2_write(b, a, POINT_ZCASH_COMPRESSED);
    sha256_update(&x->h, b, sizeof b);
}

static void put_gt(hashing *x, const gt_any *a)
{
    uint8_t b[GT_PLAIN_BYTES];

    x->b->gt_write_plain(b, a);
    sha256_update(&x->h, b, sizeof b);
}

/** Two values, one made with alpha and one with beta. */
static void put_gt2(hashing *x, const gt_any a[2])
{
    put_gt(x, &a[0]);
    put_gt(x, &a[1]);
}

static void put_round(hashing *x, const agg_round *d)
{
    put_gt(x, &d->zab_l);
    put_gt(x, &d->zab_r);
    put_g1(x, &d->zc_l);
    put_g1(x, &d->zc_r);
    put_gt2(x, d->tab_l);
    put_gt2(x, d->tab_r);
    put_gt2(x, d->tuc_l);
    put_gt2(x, d->tuc_r);
}

static void end(hashing *x, fr *out)
{
    fr one = x->cv->fr_one, v;
    scalar s;

    for (uint64_t k = 1;; k++) {
        uint8_t count[8];
        sha256_ctx now;
        store_u64be(count, k);
        sha256_update(&x->h, count, sizeof count);
        now = x->h;
        sha256_final(&now, s.b);
        s.b[31] &= 0x7f;
        if (!x->cv->fr_from_scalar(&v, &s)) continue;
        if (x->cv->fr_is_zero(&v) || x->cv->fr_eq(&v, &one)) continue;
        *out = v;
        return;
    }
}

void agg_challenge_r(agg_transcript *t, const agg_proof *p)
{
    hashing x;
    uint8_t size[8];

    begin(&x, t, "hcom");
    put_gt2(&x, p->com_ab);
    put_gt2(&x, p->com_c);
    end(&x, &t->c.hcom);

    begin(&x, t, "random-r");
    put_fr(&x, &t->c.hcom);
    store_u64le(size, AGGREGATE_STATEMENT);
    sha256_update(&x.h, size, sizeof size);
    sha256_update(&x.h, t->statement, AGGREGATE_STATEMENT);
    end(&x, &t->c.r);
}

void agg_challenge_first(agg_transcript *t, const agg_proof *p)
{
    hashing x;

    begin(&x, t, "gipa-0");
    put_fr(&x, &t->c.hcom);
    put_gt(&x, &p->ip_ab);
    put_g1(&x, &p->agg_c);
    put_fr(&x, &t->c.r);
    end(&x, &t->first);
}

void agg_challenge_round(agg_transcript *t, const agg_proof *p, unsigned i)
{
    hashing x;
    char tag[16];

    t->c.rounds = i + 1;
    if (i == 0 && t->version == AGGREGATE_V1) {
        t->c.x[0] = t->first;
        return;
    }
    (void)snprintf(tag, sizeof tag, "gipa-%u", i);
    begin(&x, t, tag);
    put_fr(&x, i == 0 ? &t->first : &t->c.x[i - 1]);
    put_round(&x, &p->round[i]);
    end(&x, &t->c.x[i]);
}

void agg_challenge_zeta(agg_transcript *t, const agg_proof *p, const fr *c_last)
{
    bool v2 = t->version == AGGREGATE_V2;
    hashing x;

    if (v2) {
        begin(&x, t, "gipa-extra-link");
        put_fr(&x, c_last);
        put_g1(&x, &p->a);
        put_g2(&x, &p->b);
        put_g1(&x, &p->c);
        put_round(&x, &p->round[p->log_n - 1]);
        end(&x, &t->c.extra);
    }
    begin(&x, t, "random-z");
    put_fr(&x, v2 ? &t->c.extra : c_last);
    put_g2(&x, &p->v[0]);
    put_g2(&x, &p->v[1]);
    put_g1(&x, &p->w[0]);
    put_g1(&x, &p->w[1]);
    if (v2) {
        put_g1(&x, &p->a);
        put_g2(&x, &p->b);
        put_g1(&x, &p->c);
    }
    end(&x, &t->c.zeta);
}

void agg_evaluate(fr *r, const curve *cv, const fr *y, unsigned l, const fr *s, const fr *x)
{
    fr acc = cv->fr_one, one = cv->fr_one, t, f;

    cv->fr_mul(&t, s, x);
    for (unsigned j = 0; j < l; j++) {
        cv->fr_mul(&f, &y[l - 1 - j], &t);
        cv->fr_add(&f, &f, &one);
        cv->fr_mul(&acc, &acc, &f);
        cv->fr_mul(&t, &t, &t);
    }
    *r = acc;
}
