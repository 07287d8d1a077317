/*
 * app/commands.c - prove, verify, setup, params, inspect: arguments to cuzk.h and back
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/commands.h"
#include "app/pretty.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int command_usage(const report *r, const char *text)
{
    return report_usage(r->o, text, NULL);
}

/** Both files or none: the second is written first under its temporary name only when the first is certain. */
static cuzk_status write_pair(const char *path1, const cuzk_buffer *b1, const char *path2,
                              const cuzk_buffer *b2)
{
    file_out *f1, *f2 = NULL;
    cuzk_status st;

    TRY(file_out_open(&f1, path1));
    TRY_OUT(file_out_open(&f2, path2));
    TRY_OUT(file_out_write(f1, b1->data, b1->size));
    TRY_OUT(file_out_write(f2, b2->data, b2->size));
    st = file_out_commit(f2);
    f2 = NULL;
    if (st == CUZK_OK) {
        st = file_out_commit(f1);
        f1 = NULL;
        if (st != CUZK_OK) (void)unlink(path2); /* a public.json without its proof would mislead */
    }
out:
    file_out_abort(f1);
    file_out_abort(f2);
    return st;
}

static const cuzk_fixed_rs *fixed_rs(const options *o, cuzk_fixed_rs *rs, cuzk_status *st)
{
    *st = CUZK_OK;
    if (o->trapdoors == NULL) return NULL;
    *st = cuzk_trapdoors_rs(o->trapdoors, rs);
    return rs;
}

static int prove_circom(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    cuzk_buffer proof, pub;
    cuzk_fixed_rs rs;
    cuzk_status st;
    cuzk_circom_prove_args args = {.zkey = o->args[0], .wtns = o->args[1], .r1cs = o->r1cs};

    if (o->n_args != 4)
        return command_usage(r, "KEY.zkey WITNESS.wtns PROOF.json PUBLIC.json expected");
    if (o->statement != NULL || o->n_fields != 0 || o->n_inputs != 0 || o->proof != NULL ||
        o->params != NULL || o->partition >= 0 || o->strict || o->check_only || o->circuit_proofs ||
        o->srs != NULL)
        return command_usage(r, "options of Filecoin proofs need --kind");
    args.fixed = fixed_rs(o, &rs, &st);
    if (st == CUZK_OK) st = cuzk_circom_prove(e, &args, &proof, &pub);
    if (st != CUZK_OK) return report_failure(r, st);
    st = write_pair(o->args[2], &proof, o->args[3], &pub);
    cuzk_buffer_clear(&proof);
    cuzk_buffer_clear(&pub);
    if (st != CUZK_OK) return report_failure(r, st);
    return report_done(r, e, "", "proved and verified");
}

static int prove_filecoin(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    cuzk_buffer proof;
    cuzk_fixed_rs rs;
    cuzk_status st;
    char members[64];
    cuzk_filecoin_args args = {
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

    if (o->n_args != 0) return command_usage(r, "with --kind there are no arguments but options");
    if (o->r1cs != NULL) return command_usage(r, "--r1cs is for circom proofs");
    if ((o->statement == NULL && o->n_fields == 0) || o->n_inputs == 0)
        return command_usage(r, "--statement and --input are needed");
    if (!o->check_only && (o->params == NULL || o->proof == NULL))
        return command_usage(r, "--params and --proof are needed");
    args.fixed = fixed_rs(o, &rs, &st);
    if (st == CUZK_OK) st = cuzk_filecoin_prove(e, &args, &proof);
    if (st != CUZK_OK) return report_failure(r, st);
    snprintf(members, sizeof members, ",\"proof_bytes\":%zu", proof.size);
    if (!o->check_only) st = file_write_whole(o->proof, proof.data, proof.size);
    cuzk_buffer_clear(&proof);
    if (st != CUZK_OK) return report_failure(r, st);
    return report_done(r, e, members, o->check_only ? "inputs are right" : "proved and verified");
}

int command_prove(report *r, cuzk_engine *e)
{
    return r->o->kind == NULL ? prove_circom(r, e) : prove_filecoin(r, e);
}

static int verify_filecoin(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    bool valid = false;
    cuzk_filecoin_args args = {.kind = o->kind,
                               .statement = o->statement,
                               .fields = o->fields,
                               .n_fields = o->n_fields,
                               .params_dir = o->params,
                               .partition = o->partition,
                               .circuit_proofs = o->circuit_proofs,
                               .srs = o->srs};

    if (o->n_args != 0) return command_usage(r, "with --kind there are no arguments but options");
    if ((o->statement == NULL && o->n_fields == 0) || o->params == NULL || o->proof == NULL)
        return command_usage(r, "--statement, --params and --proof are needed");
    cuzk_status st = cuzk_filecoin_verify(e, &args, o->proof, &valid);
    return st == CUZK_OK ? report_verdict(r, e, valid) : report_failure(r, st);
}

static cuzk_aggregate_args aggregate_args(const options *o)
{
    return (cuzk_aggregate_args){
        .statements = o->statements,
        .n_statements = o->n_statements,
        .proofs = o->proofs,
        .n_proofs = o->n_proofs,
        .params_dir = o->params,
        .srs = o->srs,
        .version = o->aggregate_version == 0 ? 2 : o->aggregate_version,
        .trust_inputs = o->trust_inputs,
    };
}

static int verify_aggregate(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    cuzk_aggregate_args args = aggregate_args(o);
    bool valid = false;

    if (o->n_args != 0 || o->kind != NULL || o->statement != NULL || o->n_fields != 0 ||
        o->partition >= 0 || o->circuit_proofs)
        return command_usage(r, "with --aggregate: --statements, --params, --srs, --proof");
    if (o->n_statements == 0 || o->params == NULL || o->proof == NULL)
        return command_usage(r, "--statements, --params and --proof are needed");
    cuzk_status st = cuzk_filecoin_verify_aggregate(e, &args, o->proof, &valid);
    return st == CUZK_OK ? report_verdict(r, e, valid) : report_failure(r, st);
}

int command_verify(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    bool valid = false;

    if (o->aggregate) return verify_aggregate(r, e);
    if (o->n_statements != 0 || o->aggregate_version != 0)
        return command_usage(r, "--statements and --aggregate-version need --aggregate");
    if (o->kind != NULL) return verify_filecoin(r, e);
    if (o->n_args != 3) return command_usage(r, "VK.json PUBLIC.json PROOF.json expected");
    if (o->statement != NULL || o->n_fields != 0 || o->params != NULL || o->proof != NULL ||
        o->partition >= 0 || o->circuit_proofs || o->srs != NULL)
        return command_usage(r, "options of Filecoin proofs need --kind");
    cuzk_status st = cuzk_circom_verify(e, o->args[0], o->args[1], o->args[2], &valid);
    return st == CUZK_OK ? report_verdict(r, e, valid) : report_failure(r, st);
}

int command_aggregate(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    cuzk_aggregate_args args = aggregate_args(o);
    cuzk_buffer out;
    char members[96];

    if (o->n_args != 0) return command_usage(r, "no arguments but options");
    if (o->n_statements == 0 || o->n_proofs == 0 || o->output == NULL)
        return command_usage(r, "--statements, --proofs and --output (-o) are needed");
    if (o->params == NULL && (!o->trust_inputs || o->srs == NULL))
        return command_usage(r, "--params is needed, but with --srs and --trust-inputs");
    cuzk_status st = cuzk_filecoin_aggregate(e, &args, &out);
    if (st != CUZK_OK) return report_failure(r, st);
    snprintf(members, sizeof members, ",\"sectors\":%zu,\"aggregate_bytes\":%zu", o->n_statements,
             out.size);
    st = file_write_whole(o->output, out.data, out.size);
    cuzk_buffer_clear(&out);
    if (st != CUZK_OK) return report_failure(r, st);
    return report_done(r, e, members,
                       o->trust_inputs ? "aggregated, not verified" : "aggregated and verified");
}

int command_setup(report *r, cuzk_engine *e)
{
    static const char notice[] =
        "single-party setup: whoever ran it can forge proofs; for tests and demonstrations only";
    const options *o = r->o;
    cuzk_status st;

    if (o->circuit != NULL) {
        if (o->n_args != 0 || o->params == NULL)
            return command_usage(r, "--circuit NAME --params DIR expected");
        st = cuzk_filecoin_setup(e, o->circuit, o->params, o->trapdoors);
    } else {
        if (o->n_args < 2 || o->n_args > 3)
            return command_usage(r, "CIRCUIT.r1cs KEY.zkey [VK.json] expected");
        if (o->params != NULL || o->trapdoors != NULL)
            return command_usage(r, "--params and --trapdoors need --circuit");
        st = cuzk_circom_setup(e, o->args[0], o->args[1], o->n_args == 3 ? o->args[2] : NULL);
    }
    if (st == CUZK_ECANCELLED && o->trapdoors != NULL && !o->json)
        fprintf(stderr, "the same command goes on from here\n");
    if (st != CUZK_OK) return report_failure(r, st);
    if (!o->json) fprintf(stderr, "warning: %s\n", notice);
    return report_done(r, e,
                       ",\"notice\":\"single-party setup, for tests and demonstrations only\"",
                       "key written");
}

/** Prints a result that is one JSON object; it says itself whether all is well. */
static int print_object(const report *r, cuzk_buffer *json, cuzk_status st)
{
    int code = st == CUZK_OK ? 0 : st == CUZK_EIO ? 4 : 3;

    if (r->o->json)
        printf("%s\n", (const char *)json->data);
    else
        pretty_print(json->data, json->size);
    cuzk_buffer_clear(json);
    return fflush(stdout) == 0 ? code : 4;
}

int command_params(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    const char *dir = secure_getenv("FIL_PROOFS_PARAMETER_CACHE");
    cuzk_buffer json = {0};

    if (o->n_args < 1 || o->n_args > 2 || strcmp(o->args[0], "check") != 0)
        return command_usage(r, "check [DIR] expected");
    if (dir == NULL || *dir == 0) dir = "/var/tmp/filecoin-proof-parameters";
    if (o->n_args == 2) dir = o->args[1];
    cuzk_status st = cuzk_params_check(e, dir, o->deep, &json);
    if (json.data == NULL) return report_failure(r, st);
    report_clear(r);
    return print_object(r, &json, st);
}

int command_inspect(report *r, cuzk_engine *e)
{
    cuzk_buffer json = {0};

    if (r->o->n_args != 1) return command_usage(r, "one FILE expected");
    cuzk_status st = cuzk_inspect(e, r->o->args[0], &json);
    if (json.data == NULL) return report_failure(r, st);
    return print_object(r, &json, st);
}
