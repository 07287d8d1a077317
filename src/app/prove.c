/*
 * app/prove.c - `cuzk prove`, and what `bench prove` shares with it
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/prove.h"

#include <stdio.h>
#include <string.h>

#include "app/commands.h"
#include "app/outputs.h"

static int read_circom(prove_request *q, report *r, size_t first, bool bench)
{
    const options *o = q->o;
    size_t n = o->n_args < first ? 0 : o->n_args - first;

    if (!options_allow(o, "a proof without --kind", "COMMON --r1cs --trapdoors --reps"))
        return 2; /* --reps: bench's alone */
    if (n != 4 && (n != 2 || !bench))
        return command_usage(r, bench ? "KEY.zkey WITNESS.wtns [PROOF.json PUBLIC.json] expected"
                                      : "KEY.zkey WITNESS.wtns PROOF.json PUBLIC.json expected");
    q->circom = (cuzk_circom_prove_args){
        .zkey = o->args[first], .wtns = o->args[first + 1], .r1cs = o->r1cs};
    if (n == 4) {
        q->proof_path = o->args[first + 2];
        q->public_path = o->args[first + 3];
    }
    return outputs_check(r, first + 2, q->proof_path, q->public_path);
}

static int read_filecoin(prove_request *q, report *r, size_t first, bool bench)
{
    const options *o = q->o;

    if (!options_allow(
            o, "a proof with --kind",
            "COMMON --kind --input --statement FIELDS --params --proof --partition --strict "
            "--check-only --circuit-proofs --srs --trapdoors --derived --reps"))
        return 2; /* --reps: bench's alone */
    if (o->n_args != first)
        return command_usage(r, "with --kind there are no arguments but options");
    if ((o->statement == NULL && o->n_fields == 0) || o->n_inputs == 0)
        return command_usage(r, "--statement and --input are needed");
    if (!o->check_only && o->params == NULL) return command_usage(r, "--params is needed");
    if (!o->check_only && !bench && o->proof == NULL)
        return command_usage(r, "--params and --proof are needed");
    q->filecoin = (cuzk_filecoin_args){
        .kind = o->kind,
        .statement = o->statement,
        .fields = o->fields,
        .n_fields = o->n_fields,
        .inputs = o->inputs,
        .n_inputs = o->n_inputs,
        .params_dir = o->params,
        .partition = o->partition,
        .strict = o->strict,
        .check_only = o->check_only,
        .circuit_proofs = o->circuit_proofs,
        .srs = o->srs,
    };
    q->proof_path = o->check_only ? NULL : o->proof;
    return outputs_check(r, 0, q->proof_path, NULL);
}

int prove_read(prove_request *q, report *r, size_t first, bool bench)
{
    const options *o = r->o;
    int code;

    *q = (prove_request){.o = o};
    code = o->kind == NULL ? read_circom(q, r, first, bench) : read_filecoin(q, r, first, bench);
    if (code != 0 || o->trapdoors == NULL) return code;
    cuzk_status st = cuzk_trapdoors_rs(o->trapdoors, &q->rs);
    if (st != CUZK_OK) return report_failure(r, st);
    q->circom.fixed = q->filecoin.fixed = &q->rs;
    return 0;
}

static void clear_results(prove_request *q)
{
    cuzk_buffer *const all[] = {&q->proof, &q->pub};

    for (size_t i = 0; i < 2; i++) {
        if (all[i]->data != NULL) cuzk_buffer_clear(all[i]);
        *all[i] = (cuzk_buffer){0};
    }
}

cuzk_status prove_run(prove_request *q, cuzk_engine *e)
{
    clear_results(q);
    return q->o->kind == NULL ? cuzk_circom_prove(e, &q->circom, &q->proof, &q->pub)
                              : cuzk_filecoin_prove(e, &q->filecoin, &q->proof);
}

cuzk_status prove_write(const prove_request *q)
{
    const output proof = {q->proof_path, q->proof.data, q->proof.size},
                 pub = {q->public_path, q->pub.data, q->pub.size};

    return outputs_write(&pub, &proof);
}

void prove_clear(prove_request *q)
{
    clear_results(q);
    explicit_bzero(&q->rs, sizeof q->rs);
}

int command_prove(report *r, cuzk_engine *e)
{
    prove_request q;
    char members[64] = "";
    int code = prove_read(&q, r, 0, false);
    cuzk_status st;

    if (code == 0) {
        st = prove_run(&q, e);
        if (st == CUZK_OK) st = prove_write(&q);
        if (st == CUZK_OK && r->o->kind != NULL)
            (void)snprintf(members, sizeof members, ",\"proof_bytes\":%zu", q.proof.size);
        code = st != CUZK_OK
                   ? report_failure(r, st)
                   : report_done(r, e, members,
                                 r->o->check_only ? "inputs are right" : "proved and verified");
    }
    prove_clear(&q);
    return code;
}
