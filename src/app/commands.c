/*
 * app/commands.c - verify, aggregate, setup, params, inspect: arguments to cuzk.h and back
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/commands.h"
#include "app/outputs.h"
#include "app/pretty.h"

#include <stdio.h>
#include <string.h>

int command_usage(const report *r, const char *text)
{
    return report_usage(r->o, text, NULL);
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

    if (!options_allow(o, "a proof with --kind",
                       "COMMON --kind --statement FIELDS --params --proof --partition "
                       "--circuit-proofs --srs"))
        return 2;
    if (o->n_args != 0) return command_usage(r, "with --kind there are no arguments but options");
    if ((o->statement == NULL && o->n_fields == 0) || o->params == NULL || o->proof == NULL)
        return command_usage(r, "--statement, --params and --proof are needed");
    int code = outputs_check(r, 0, NULL, NULL);
    if (code != 0) return code;
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

    if (!options_allow(o, "--aggregate",
                       "COMMON --aggregate --statements --params --srs --proof "
                       "--aggregate-version"))
        return 2;
    if (o->n_args != 0) return command_usage(r, "with --aggregate there are only options");
    if (o->n_statements == 0 || o->params == NULL || o->proof == NULL)
        return command_usage(r, "--statements, --params and --proof are needed");
    int code = outputs_check(r, 0, NULL, NULL);
    if (code != 0) return code;
    cuzk_status st = cuzk_filecoin_verify_aggregate(e, &args, o->proof, &valid);
    return st == CUZK_OK ? report_verdict(r, e, valid) : report_failure(r, st);
}

int command_verify(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    bool valid = false;

    if (o->aggregate) return verify_aggregate(r, e);
    if (o->kind != NULL) return verify_filecoin(r, e);
    if (!options_allow(o, "a proof without --kind and --aggregate", "COMMON")) return 2;
    if (o->n_args != 3) return command_usage(r, "VK.json PUBLIC.json PROOF.json expected");
    int code = outputs_check(r, 3, NULL, NULL);
    if (code != 0) return code;
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
    int code = outputs_check(r, 0, o->output, NULL);
    if (code != 0) return code;
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
    int code;

    if (o->circuit != NULL) {
        if (o->n_args != 0 || o->params == NULL)
            return command_usage(r, "--circuit NAME --params DIR expected");
        code = outputs_check(r, 0, NULL, NULL);
        if (code != 0) return code;
        st = cuzk_filecoin_setup(e, o->circuit, o->params, o->trapdoors);
    } else {
        if (!options_allow(o, "a setup without --circuit", "COMMON")) return 2;
        if (o->n_args < 2 || o->n_args > 3)
            return command_usage(r, "CIRCUIT.r1cs KEY.zkey [VK.json] expected");
        code = outputs_check(r, 1, o->args[1], o->n_args == 3 ? o->args[2] : NULL);
        if (code != 0) return code;
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
static int print_object(report *r, cuzk_engine *e, cuzk_buffer *json, cuzk_status st)
{
    int code = st == CUZK_OK ? 0 : st == CUZK_EIO ? 4 : 3;
    cuzk_status traced = report_trace(r, e);

    report_clear(r);
    if (traced != CUZK_OK && st == CUZK_OK) {
        code = report_failure(r, traced);
    } else {
        if (r->o->json)
            printf("%s\n", (const char *)json->data);
        else
            pretty_print(json->data, json->size);
        if (r->o->time) report_time(e);
    }
    cuzk_buffer_clear(json);
    return code;
}

static int params_derive(report *r, cuzk_engine *e, const char *dir)
{
    const options *o = r->o;

    if (o->circuit == NULL || o->deep)
        return command_usage(r, "derive --circuit NAME [--params DIR] expected");
    cuzk_status st = cuzk_params_derive(e, o->circuit, o->params != NULL ? o->params : dir);
    if (st == CUZK_ECANCELLED && !o->json) fprintf(stderr, "the same command goes on from here\n");
    if (st != CUZK_OK) return report_failure(r, st);
    return report_done(r, e, "", "derived points written");
}

int command_params(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    const char *dir = secure_getenv("FIL_PROOFS_PARAMETER_CACHE");
    cuzk_buffer json = {0};

    if (dir == NULL || *dir == 0) dir = "/var/tmp/filecoin-proof-parameters";
    if (o->n_args == 1 && strcmp(o->args[0], "derive") == 0) return params_derive(r, e, dir);
    if (o->n_args < 1 || o->n_args > 2 || strcmp(o->args[0], "check") != 0 || o->circuit != NULL ||
        o->params != NULL)
        return command_usage(r, "check [DIR], or derive --circuit NAME, expected");
    if (o->n_args == 2) dir = o->args[1];
    int code = outputs_check(r, 0, NULL, NULL);
    if (code != 0) return code;
    cuzk_status st = cuzk_params_check(e, dir, o->deep, &json);
    if (json.data == NULL) return report_failure(r, st);
    return print_object(r, e, &json, st);
}

int command_inspect(report *r, cuzk_engine *e)
{
    cuzk_buffer json = {0};

    if (r->o->n_args != 1) return command_usage(r, "one FILE expected");
    int code = outputs_check(r, 1, NULL, NULL);
    if (code != 0) return code;
    cuzk_status st = cuzk_inspect(e, r->o->args[0], &json);
    if (json.data == NULL) return report_failure(r, st);
    return print_object(r, e, &json, st);
}
