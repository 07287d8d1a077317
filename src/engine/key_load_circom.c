/*
 * engine/key_load_circom.c - a zkey, and the rows of its circuit where an .r1cs is configured
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/fault.h"
#include "engine/keys_int.h"
#include "r1cs/circom.h"

static cuzk_status read_r1cs(keys *s, key_entry *k)
{
    file_map f;
    const groth16_pk *pk = k->pk;

    if (k->r1cs == NULL) return CUZK_OK;
    TRY(file_map_open(&f, k->r1cs));
    cuzk_status st = circom_r1cs_read(&k->sys, f.data, f.size, s->c.e->table, k->m);
    file_map_close(&f);
    TRY(st);
    if (k->sys->cv->id != pk->cv->id || k->sys->n_inputs != pk->n_inputs ||
        k->sys->n_aux != pk->n_aux)
        return FAIL_DATA(SHAPE, "circuit", "%s is not the circuit of %s: %u and %u wires", k->r1cs,
                         k->zkey, k->sys->n_inputs + k->sys->n_aux, pk->n_inputs + pk->n_aux);
    return CUZK_OK;
}

cuzk_status key_load_circom(keys *s, key_entry *k)
{
    cuzk_engine *e = s->c.e;
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st;

    fault_stall("key load");
    st = groth16_zkey_open(&k->pk, k->zkey, e->table, e->pool, k->m);
    span_close(&sp);
    TRY(st);
    sp = span_open(SPAN_READ_CIRCUIT);
    st = read_r1cs(s, k);
    span_close(&sp);
    TRY(st);
    TRY(groth16_vk_prepare(k->pk->vk, NULL)); /* its proofs are verified here */
    k->witness_bytes = mem_cost((size_t)k->pk->n_aux * sizeof(fr)) +
                       mem_cost((size_t)k->pk->n_inputs * sizeof(fr)) + mem_cost(4096);
    k->prove_bytes = key_first_estimate(s, k->pk, k->pk->coeffs);
    return CUZK_OK;
}
