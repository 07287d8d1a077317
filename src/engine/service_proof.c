/*
 * engine/service_proof.c - a partition's proof as bytes, and why one did not verify
 *
 * BLS12-381: A, B, C compressed, 192 bytes. BN254: A, B, C uncompressed and big-endian, 256 bytes, a coordinate of G2 with its
 * imaginary part first, as the precompiles of EIP-196 and EIP-197 take them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "engine/service.h"

#define BN_COORDINATE 32
#define BN_COORDINATES 8

/* Decimal digits as a big-endian number. */
static void from_decimal(uint8_t out[BN_COORDINATE], const char *digits)
{
    memset(out, 0, BN_COORDINATE);
    for (; *digits != 0; digits++) {
        unsigned carry = (unsigned)(*digits - '0');

        for (unsigned i = BN_COORDINATE; i-- > 0;) {
            carry += (unsigned)out[i] * 10;
            out[i] = (uint8_t)carry;
            carry >>= 8;
        }
    }
}

static void write_bn(uint8_t *out, const curve *cv, const groth16_proof *p)
{
    char text[CURVE_DEC_MAX];
    static const unsigned g2_order[] = {1, 0, 3, 2};

    for (unsigned k = 0; k < BN_COORDINATES; k++) {
        if (k < 2)
            cv->g1_coord_dec(text, &p->a, k);
        else if (k < 6)
            cv->g2_coord_dec(text, &p->b, g2_order[k - 2]);
        else
            cv->g1_coord_dec(text, &p->c, k - 6);
        from_decimal(out + k * BN_COORDINATE, text);
    }
}

static cuzk_status write_json(svc_part *p, const groth16_proof *proof)
{
    svc_job *j = p->job;
    const groth16_pk *pk = j->key.k->pk;
    bytes_out o[2];
    cuzk_status st;

    bytes_out_init(&o[0], j->s->m);
    bytes_out_init(&o[1], j->s->m);
    groth16_proof_to_json(&o[0], pk->cv, proof);
    groth16_public_to_json(&o[1], pk->cv, p->w->inputs + 1, p->w->n_inputs - 1);
    st = buffer_from_out(&j->proof_json, &o[0]);
    if (st == CUZK_OK) st = buffer_from_out(&j->public_json, &o[1]);
    bytes_out_clear(&o[0]);
    bytes_out_clear(&o[1]);
    return st;
}

cuzk_status svc_encode_proof(svc_part *p, const groth16_proof *proof)
{
    const curve *cv = p->job->key.k->pk->cv;
    bool bls = cv->id == CURVE_ID_BLS12_381;
    span sp = span_open(SPAN_ENCODE);
    cuzk_status st = CUZK_OK;

    p->proof_size = bls ? GROTH16_PROOF_BYTES : BN_COORDINATES * BN_COORDINATE;
    p->proof = malloc(p->proof_size);
    if (p->proof == NULL) {
        st = FAIL(CUZK_ENOMEM, "proof of %zu bytes: out of memory", p->proof_size);
    } else if (bls) {
        groth16_proof_write(p->proof, cv, proof);
    } else {
        write_bn(p->proof, cv, proof);
    }
    if (st == CUZK_OK && p->job->rq.kind == CUZK_GROTH16) st = write_json(p, proof);
    span_close(&sp);
    return st;
}

cuzk_status svc_explain(svc_part *p)
{
    svc_job *j = p->job;
    const key_entry *k = j->key.k;
    r1cs_fault fault = {0};
    char where[128];

    if (k->sys != NULL) TRY(r1cs_check(k->sys, p->w, j->s->e->pool, j->cancel, &fault));
    if (fault.found) {
        (void)snprintf(where, sizeof where, "row %u, gadget %s, instance %zu", fault.row,
                       fault.tmpl, fault.instance);
        return FAIL_DATA(UNSATISFIED, where, "the witness does not satisfy constraint %u",
                         fault.row);
    }
    if (k->sys == NULL)
        return status_fail(
                   __FILE__, __LINE__, CUZK_EBUG, CUZK_CLASS_UNSATISFIED, "witness",
                   "witness does not satisfy this key, or the key or the machine is faulty: "
                   "%u proofs did not verify (circuits.%s.r1cs tells, or cuzk inspect)",
                   p->attempts + 1, k->name),
               CUZK_EBUG; /* not the input's for sure: it may be tried again */
    return FAIL(
        CUZK_EBUG,
        "the proof of a satisfied circuit did not verify, %u times: a damaged key (cuzk params "
        "check), faulty hardware, or a bug",
        p->attempts + 1);
}
