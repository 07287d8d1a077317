/*
 * app/client_jobs.c - submit, wait, cancel
 *
 * A submit that waits does so by SubmitProof and AwaitProof, so that a client that is stopped leaves its job where it is.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "app/client_aggregate.h"
#include "app/client_request.h"
#include "app/commands.h"
#include "app/outputs.h"
#include "wire/proto/proving.pb-c.h"

typedef Cuzk__V1__AwaitProofResponse result;
#define IS(r, x) ((int)(r)->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__##x)

/** The exit code of a class. */
static int code_of_class(const char *name)
{
    if (strcmp(name, "io") == 0 || strcmp(name, "resource") == 0) return 4;
    if (strcmp(name, "device") == 0) return 5;
    return strcmp(name, "bug") == 0 ? 70 : 3;
}

/** The class of a job's failure, which AwaitProof does not tell: asked for, and "malformed" where the answer is not to be had. */
static void class_of_job(client *c, const char *job, char *out, size_t size)
{
    char path[13000], *body;
    size_t n;

    out[0] = 0;
    c->silent = true;
    if (client_job_path(path, sizeof path, "/jobs/", job, "") &&
        client_document(c, path, &body, &n) == 0) {
        client_member(out, size, body, n, "error.class");
        free(body);
    }
    c->silent = false;
    if (out[0] == 0) (void)snprintf(out, size, "malformed");
}

static cuzk_status write_proof(const options *o, const result *r)
{
    ProtobufCBinaryData p = r->proof_json.len != 0 ? r->proof_json : r->proof;
    const output proof = {o->proof, p.data, p.len},
                 pub = {o->public_json, r->public_json.data, r->public_json.len};

    if (pub.path != NULL && pub.size == 0)
        return FAIL(CUZK_EINVAL, "--public: job %s is of Filecoin, with no public signals",
                    r->job_id);
    return outputs_write(&pub, &proof);
}

static void print_times(const options *o, const result *r)
{
    static const char *const names[] = {"queue_wait_ms", "srs_load_ms",    "decode_ms",
                                        "synthesis_ms",  "gpu_compute_ms", "verify_ms",
                                        "store_ms",      "rest_ms",        "total_ms"};
    const uint64_t v[] = {r->queue_wait_ms, r->srs_load_ms,    r->decode_ms,
                          r->synthesis_ms,  r->gpu_compute_ms, r->verify_ms,
                          r->store_ms,      r->rest_ms,        r->total_ms};

    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        if (o->json)
            printf(",\"%s\":%llu", names[i], (unsigned long long)v[i]);
        else if (o->time)
            fprintf(stderr, "%-16s %9llu\n", names[i], (unsigned long long)v[i]);
    }
}

static int show_completed(const client *c, const result *r)
{
    const options *o = c->r->o;
    cuzk_status st = write_proof(o, r);

    if (st != CUZK_OK) return report_failure(c->r, st);
    if (o->json) {
        printf("{\"ok\":true,\"status\":\"completed\",\"job_id\":");
        report_json_string(r->job_id);
        print_times(o, r);
        printf(",\"proof_bytes\":%zu}\n", r->proof.len);
        return 0;
    }
    print_times(o, r);
    printf("%s: completed in %llu ms%s%s\n", r->job_id, (unsigned long long)r->total_ms,
           o->proof == NULL ? "" : ", proof in ", o->proof == NULL ? "" : o->proof);
    return 0;
}

static int show_result(client *c, const char *job, const result *r)
{
    char class_name[32], text[1200];

    if (IS(r, COMPLETED)) return show_completed(c, r);
    if (IS(r, FAILED)) {
        class_of_job(c, job, class_name, sizeof class_name);
        (void)snprintf(text, sizeof text, "%s has failed: %s", job, r->error_message);
        return client_failed(c, class_name, text, code_of_class(class_name));
    }
    (void)snprintf(text, sizeof text, "%s %s", job,
                   IS(r, CANCELLED) ? "was cancelled" : "has not ended yet");
    return client_failed(c, IS(r, CANCELLED) ? "resource" : "limit", text, CLIENT_REFUSED);
}

static int wait_for(client *c, const char *job)
{
    Cuzk__V1__AwaitProofRequest q = CUZK__V1__AWAIT_PROOF_REQUEST__INIT;
    union {
        const char *in;
        char *out;
    } id = {job};
    greply reply;
    result *a;
    int code;

    q.job_id = id.out;
    q.timeout_ms = c->r->o->timeout_ms;
    code = client_call(c, "cuzk.v1.ProvingEngine/AwaitProof", &q.base, &reply);
    if (code != 0) return code;
    a = cuzk__v1__await_proof_response__unpack(NULL, reply.size, reply.data);
    greply_clear(&reply);
    if (a == NULL) return client_garbled(c);
    code = show_result(c, job, a);
    cuzk__v1__await_proof_response__free_unpacked(a, NULL);
    return code;
}

static int submitted(client *c, const Cuzk__V1__SubmitProofResponse *a)
{
    const options *o = c->r->o;

    if (!o->asynchronous) {
        if (!o->json && !o->quiet) fprintf(stderr, "%s: accepted\n", a->job_id);
        return wait_for(c, a->job_id);
    }
    if (o->json) {
        printf("{\"ok\":true,\"status\":\"accepted\",\"job_id\":");
        report_json_string(a->job_id);
        printf(",\"queue_position\":%u,\"device\":", a->queue_position);
        report_json_string(a->assigned_gpu);
        printf("}\n");
    } else {
        printf("%s\n", a->job_id);
    }
    return 0;
}

/** Waits for the job, or says its name. */
static int aggregate_admitted(client *c, const result *a)
{
    Cuzk__V1__SubmitProofResponse s = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
    char none[] = "";

    s.job_id = a->job_id;
    s.assigned_gpu = none;
    return submitted(c, &s);
}

static int submit_aggregate(client *c)
{
    client_aggregate q;
    Cuzk__V1__AggregateProofsResponse *a;
    greply reply = {.size = 0};
    cuzk_status st = client_aggregate_read(&q, c->r->o);
    int code;

    if (st != CUZK_OK)
        code = report_failure(c->r, st);
    else
        code = client_call(c, "cuzk.v1.ProvingEngine/AggregateProofs", &q.message.base, &reply);
    client_aggregate_clear(&q);
    if (code != 0) return code;
    a = cuzk__v1__aggregate_proofs_response__unpack(NULL, reply.size, reply.data);
    greply_clear(&reply);
    if (a == NULL) return client_garbled(c);
    code = a->result == NULL ? client_garbled(c) : aggregate_admitted(c, a->result);
    cuzk__v1__aggregate_proofs_response__free_unpacked(a, NULL);
    return code;
}

static int submit(client *c)
{
    client_request q;
    Cuzk__V1__SubmitProofResponse *a;
    greply reply = {.size = 0};
    cuzk_status st = client_request_read(&q, c->r->o);
    int code;

    if (st != CUZK_OK) {
        code = report_failure(c->r, st);
    } else {
        code = client_call(c, "cuzk.v1.ProvingEngine/SubmitProof", &q.message.base, &reply);
    }
    client_request_clear(&q);
    if (code != 0) return code;
    a = cuzk__v1__submit_proof_response__unpack(NULL, reply.size, reply.data);
    greply_clear(&reply);
    if (a == NULL) return client_garbled(c);
    code = submitted(c, a);
    cuzk__v1__submit_proof_response__free_unpacked(a, NULL);
    return code;
}

/** What is wrong with the command line: nothing is taken and then ignored. */
static int check_submit(report *r)
{
    static const char client_options[] = "--address --tls-ca --config --json --quiet --request-id "
                                         "--priority --async --timeout --time --proof --public ";
    static const struct sort {
        const char *what, *names;
    } sorts[] = {{"a circom job", "--circuit --input"},
                 {"a Filecoin job", "--kind --input --statement FIELDS --partition"},
                 {"an aggregate", "--statements --proofs --aggregate-version --trust-inputs"}},
      *w;
    const options *o = r->o;
    char names[300];

    if (o->n_args != 0) return command_usage(r, "takes options alone");
    if ((o->kind != NULL) + (o->circuit != NULL) + (o->n_statements != 0) != 1)
        return command_usage(r, "wants --kind (Filecoin), --circuit (circom), or --statements and "
                                "--proofs (an aggregate)");
    w = o->circuit != NULL ? &sorts[0] : o->kind != NULL ? &sorts[1] : &sorts[2];
    (void)snprintf(names, sizeof names, "%s%s", client_options, w->names);
    if (!options_allow(o, w->what, names)) return 2;
    if (o->circuit == NULL && o->public_json != NULL)
        return command_usage(r, "--public is for circom jobs");
    if (o->asynchronous &&
        (o->proof != NULL || o->public_json != NULL || o->timeout_ms != 0 || o->time))
        return command_usage(r, "--proof, --public, --timeout and --time are for a job that is "
                                "waited for; --async does not (cuzk wait)");
    return outputs_check(r, 0, o->proof, o->public_json);
}

int command_submit(report *r)
{
    client c;
    int code;

    code = check_submit(r);
    if (code != 0) return code;
    code = client_open(&c, r);
    if (code == 0) code = r->o->n_statements != 0 ? submit_aggregate(&c) : submit(&c);
    client_close(&c);
    return code;
}

static int cancel_job(client *c, const char *job)
{
    Cuzk__V1__CancelProofRequest q = CUZK__V1__CANCEL_PROOF_REQUEST__INIT;
    Cuzk__V1__CancelProofResponse *a;
    union {
        const char *in;
        char *out;
    } id = {job};
    greply reply;
    int code;

    q.job_id = id.out;
    code = client_call(c, "cuzk.v1.ProvingEngine/CancelProof", &q.base, &reply);
    if (code != 0) return code;
    a = cuzk__v1__cancel_proof_response__unpack(NULL, reply.size, reply.data);
    greply_clear(&reply);
    if (a == NULL) return client_garbled(c);
    if (c->r->o->json)
        printf("{\"ok\":true,\"was_running\":%s}\n", a->was_running != 0 ? "true" : "false");
    else
        printf("%s %s\n", job, a->was_running != 0 ? "is being stopped" : "was not running");
    cuzk__v1__cancel_proof_response__free_unpacked(a, NULL);
    return 0;
}

static int with_job(report *r, int (*fn)(client *c, const char *job))
{
    client c;
    int code;

    if (r->o->n_args != 1) return command_usage(r, "wants the id of one job");
    code = client_open(&c, r);
    if (code == 0) code = fn(&c, r->o->args[0]);
    client_close(&c);
    return code;
}

int command_wait(report *r)
{
    int code = outputs_check(r, 0, r->o->proof, r->o->public_json);

    return code != 0 ? code : with_job(r, wait_for);
}

int command_cancel(report *r)
{
    return with_job(r, cancel_job);
}
