/*
 * app/client_request.c - a SubmitProofRequest from files and options
 *
 * Of a statement it takes the members that the message has; options that it has no place for are refused. Whether all
 * hold together is the daemon's to judge.
 * Source: spec/cli.md, S.json; spec/proving-api.md section 2, fields that Curio fills.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/client_request.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

typedef Cuzk__V1__SubmitProofRequest message;

#define UPDATE CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE
static const struct {
    const char *name, *registered;
    int kind;
    bool one; /* input: the message's vanilla_proof */
} kinds[] = {
    {"porep", "registered_seal_proof", CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT, true},
    {"update", "registered_update_proof", UPDATE, false},
    {"window", "registered_post_proof", CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION, false},
    {"winning", "registered_post_proof", CUZK__V1__PROOF_KIND__WINNING_POST, false},
};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static const char *const byte_names[] = {"randomness", "comm_r_old", "comm_r_new", "comm_d_new"};

/** "32GiB", "2048" */
static bool read_size(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    uint64_t v = 0;
    const char *at = text, *u;

    for (; *at >= '0' && *at <= '9'; at++) {
        if (v > (UINT64_MAX - 9) / 10) return false;
        v = v * 10 + (uint64_t)(*at - '0');
    }
    if (at == text) return false;
    u = *at == 0 ? NULL : strchr(units, *at);
    if (u != NULL) {
        unsigned shift = 10 * (unsigned)(u - units + 1);

        if (v > UINT64_MAX >> shift) return false;
        v <<= shift;
        at++;
        if (strcmp(at, "iB") == 0) at += 2;
    }
    *out = v;
    return *at == 0;
}

cuzk_status client_number(uint64_t *out, const char *name, const char *text)
{
    if (text[strspn(text, "0123456789")] == 0 && read_size(text, out)) return CUZK_OK;
    return FAIL_DATA(MALFORMED, name, "%s: \"%.40s\" is not a number", name, text);
}

cuzk_status client_size(uint64_t *out, const char *name, const char *text)
{
    if (read_size(text, out)) return CUZK_OK;
    return FAIL_DATA(MALFORMED, name, "%s: \"%.40s\" is not a size", name, text);
}

/** One field of a statement, under its name with '_' or '-'. *known: the message has it. */
static CUZK_STATUS set_field(client_request *q, size_t kind, const char *given, const char *text,
                             bool *known)
{
    message *m = &q->message;
    ProtobufCBinaryData *const bytes[] = {&m->randomness, &m->comm_r_old, &m->comm_r_new,
                                          &m->comm_d_new};
    char name[64];

    (void)snprintf(name, sizeof name, "%s", given);
    for (char *p = name; *p != 0; p++)
        if (*p == '-') *p = '_';
    *known = true;
    if (strcmp(name, "sector_size") == 0) return client_size(&m->sector_size, name, text);
    if (strcmp(name, "miner_id") == 0) return client_number(&m->miner_id, name, text);
    if (strcmp(name, "sector_number") == 0) return client_number(&m->sector_number, name, text);
    if (strcmp(name, kinds[kind].registered) == 0)
        return client_number(&m->registered_proof, name, text);
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(name, byte_names[i]) != 0) continue;
        if (!hex_decode(q->bytes[i], 32, text, strlen(text)))
            return FAIL_DATA(MALFORMED, byte_names[i], "%s: not 64 hexadecimal digits", name);
        *bytes[i] = (ProtobufCBinaryData){32, q->bytes[i]};
        return CUZK_OK;
    }
    *known = false;
    return CUZK_OK;
}

/** What the message has no place for is passed over (a PoRep's input says it itself), but not a whole statement. */
cuzk_status client_statement(const char *path, client_field_fn take, void *ctx)
{
    bool any = false, known;
    file_map map;
    json_in j;
    json_token key, t;
    char name[64], text[200];
    cuzk_status st;

    TRY(file_map_open(&map, path));
    TRY_OUT(json_init(&j, map.data, map.size));
    TRY_OUT(json_expect(&j, JSON_OBJECT, NULL, "statement"));
    for (;;) {
        size_t n;

        TRY_OUT(json_next(&j, &key));
        if (key.type != JSON_KEY) break;
        TRY_OUT(json_next(&j, &t));
        if (key.len >= sizeof name || t.len >= sizeof text ||
            (t.type != JSON_STRING && t.type != JSON_NUMBER)) {
            TRY_OUT(json_skip_rest(&j, &t));
            continue;
        }
        TRY_OUT(json_unescape(&key, name, &n));
        if (t.type == JSON_STRING)
            TRY_OUT(json_unescape(&t, text, &n));
        else
            (void)snprintf(text, sizeof text, "%.*s", (int)t.len,
                           t.text); /* digits, shorter than text */
        known = true;
        TRY_OUT(take(ctx, name, text, &known));
        any = any || known;
    }
    if (!any)
        st = FAIL_DATA(STATEMENT, path, "%s: no field of a statement of this kind in it", path);
out:
    file_map_close(&map);
    return st;
}

/** A field of --statement, of this kind. */
typedef struct statement_field {
    client_request *q;
    size_t kind;
} statement_field;

static cuzk_status take_field(void *ctx, const char *name, const char *text, bool *known)
{
    const statement_field *f = ctx;

    return set_field(f->q, f->kind, name, text, known);
}

static CUZK_STATUS map_inputs(client_request *q, const options *o)
{
    q->files = calloc(o->n_inputs + 1, sizeof *q->files);
    q->list = calloc(o->n_inputs + 1, sizeof *q->list);
    if (q->files == NULL || q->list == NULL) return FAIL(CUZK_ENOMEM, "submit: out of memory");
    for (; q->n_files < o->n_inputs; q->n_files++) {
        union {
            const uint8_t *in;
            uint8_t *out;
        } data;

        TRY(file_map_open(&q->files[q->n_files], o->inputs[q->n_files]));
        data.in = q->files[q->n_files].data;
        q->list[q->n_files] = (ProtobufCBinaryData){q->files[q->n_files].size, data.out};
    }
    return CUZK_OK;
}

char *client_text(const char *s)
{
    union {
        const char *in;
        char *out;
    } text = {s};
    return text.out;
}

static CUZK_STATUS read_circom(client_request *q, const options *o)
{
    message *m = &q->message;

    if (o->n_inputs != 1)
        return FAIL(CUZK_EINVAL, "--circuit wants one --input: a .wtns file, or input.json");
    size_t n = strlen(o->inputs[0]);
    m->proof_kind = CUZK__V1__PROOF_KIND__GROTH16;
    m->circuit = client_text(o->circuit);
    if (n > 5 && strcmp(o->inputs[0] + n - 5, ".json") == 0)
        m->input_json = q->list[0];
    else
        m->witness = q->list[0];
    return CUZK_OK;
}

static CUZK_STATUS read_filecoin(client_request *q, const options *o)
{
    message *m = &q->message;
    size_t kind = 0;

    while (kind < N_KINDS && strcmp(kinds[kind].name, o->kind) != 0) kind++;
    if (kind == N_KINDS)
        return FAIL(CUZK_EINVAL, "--kind %s: one of porep, winning, window, update", o->kind);
    m->proof_kind = (Cuzk__V1__ProofKind)kinds[kind].kind;
    statement_field f = {q, kind};
    if (o->statement != NULL) TRY(client_statement(o->statement, take_field, &f));
    for (size_t i = 0; i < o->n_fields; i++) {
        bool known;

        TRY(set_field(q, kind, o->fields[i].name, o->fields[i].value, &known));
        if (!known)
            return FAIL(CUZK_EINVAL, "--%s: not part of a request of this kind: the input says it",
                        o->fields[i].name);
    }
    if (o->partition > UINT32_MAX)
        return FAIL(CUZK_EINVAL, "--partition %lld: at most %u", (long long)o->partition,
                    UINT32_MAX);
    if (o->partition > 0) m->partition_index = (uint32_t)o->partition;
    if (kinds[kind].one) {
        if (o->n_inputs != 1) return FAIL(CUZK_EINVAL, "porep wants one --input, the C1 output");
        m->vanilla_proof = q->list[0];
    } else {
        m->n_vanilla_proofs = q->n_files;
        m->vanilla_proofs = q->list;
    }
    return CUZK_OK;
}

cuzk_status client_priority(Cuzk__V1__Priority *out, const char *name)
{
    static const char *const names[] = {"", "low", "normal", "high", "critical"};

    for (size_t i = 1; name != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *out = (Cuzk__V1__Priority)i;
        return CUZK_OK;
    }
    return name == NULL ? CUZK_OK
                        : FAIL(CUZK_EINVAL, "--priority %s: low, normal, high, critical", name);
}

cuzk_status client_request_read(client_request *q, const options *o)
{
    memset(q, 0, sizeof *q);
    cuzk__v1__submit_proof_request__init(&q->message);
    if (o->request_id != NULL) q->message.request_id = client_text(o->request_id);
    TRY(client_priority(&q->message.priority, o->priority));
    TRY(map_inputs(q, o));
    return o->kind == NULL ? read_circom(q, o) : read_filecoin(q, o);
}

void client_request_clear(client_request *q)
{
    for (size_t i = 0; i < q->n_files; i++) file_map_close(&q->files[i]);
    free(q->files);
    free(q->list);
    memset(q, 0, sizeof *q);
}
