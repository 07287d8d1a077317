/*
 * app/client.c - reaching a daemon: address, call, failures
 *
 * Source: spec/cli.md.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/client.h"

#include <stdio.h>
#include <string.h>

#include "app/config.h"
#include "base/json.h"
#include "wire/proto/proving.pb-c.h"

/** What reaches a daemon of this machine that listens there: one that listens everywhere is asked by loopback. */
static void reach(char *out, size_t size, const char *listen, bool tls)
{
    static const char *const any[][2] = {{"0.0.0.0:", "127.0.0.1:"}, {"[::]:", "[::1]:"}};
    const char *host = "", *at = listen;

    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(any[i][0]);

        if (strncmp(listen, any[i][0], n) != 0) continue;
        host = any[i][1];
        at = listen + n;
    }
    (void)snprintf(out, size, "%s%s%s", tls ? "tls://" : "", host, at);
}

/** --address, else of an explicit --config its first daemon.listen, else CUZK_ADDRESS, else the default configuration's. */
static cuzk_status find_address(char *out, size_t size, const options *o)
{
    const char *given = o->address;
    const config_source source = {.path = o->config};
    config *c;

    if (given == NULL && o->config == NULL) given = secure_getenv("CUZK_ADDRESS");
    if (given != NULL && given[0] != 0) {
        (void)snprintf(out, size, "%s", given);
        return CUZK_OK;
    }
    TRY(config_read(&c, &source));
    const char *a = c->listen.n == 0 ? "" : c->listen.item[0];
    bool tls = c->tls_cert[0] != 0 && strncmp(a, "unix:", 5) != 0 && strstr(a, "://") == NULL;
    reach(out, size, a, tls);
    config_free(c);
    return CUZK_OK;
}

int client_open(client *c, report *r)
{
    const char *token = secure_getenv("CUZK_TOKEN");
    cuzk_status st;

    memset(c, 0, sizeof *c);
    c->r = r;
    st = find_address(c->address, sizeof c->address, r->o);
    if (st != CUZK_OK) return report_failure(r, st);
    const gclient_config how = {
        .address = c->address,
        .tls_ca = r->o->tls_ca,
        .token = token != NULL && token[0] != 0 ? token : NULL,
    };
    st = gclient_open(&c->g, &how);
    return st == CUZK_OK ? 0 : report_failure(r, st);
}

void client_close(client *c)
{
    gclient_close(c->g);
    c->g = NULL;
}

int client_failed(const client *c, const char *class_name, const char *message, int code)
{
    if (c->silent) return code;
    if (c->r->o->json) {
        printf("{\"ok\":false,\"class\":\"%s\",\"where\":", class_name);
        report_json_string(c->address);
        printf(",\"message\":");
        report_json_string(message);
        printf("}\n");
    } else {
        fprintf(stderr, "cuzk %s: %s\n", c->r->o->command, message);
    }
    return code;
}

int client_garbled(const client *c)
{
    return client_failed(c, "malformed", "the daemon's answer cannot be read", CLIENT_REFUSED);
}

static const char *class_of(gcode code)
{
    switch (code) {
    case GCODE_INVALID_ARGUMENT: return "malformed";
    case GCODE_NOT_FOUND: return "statement";
    case GCODE_FAILED_PRECONDITION: return "inconsistent";
    case GCODE_RESOURCE_EXHAUSTED: return "limit";
    case GCODE_INTERNAL:
    case GCODE_UNIMPLEMENTED: return "bug";
    case GCODE_OK:
    case GCODE_CANCELLED:
    case GCODE_UNKNOWN:
    case GCODE_DEADLINE_EXCEEDED:
    case GCODE_PERMISSION_DENIED:
    case GCODE_ABORTED:
    case GCODE_UNAVAILABLE:
    case GCODE_UNAUTHENTICATED: break;
    }
    return "io";
}

int client_call(client *c, const char *method, const ProtobufCMessage *q, greply *out)
{
    size_t size = protobuf_c_message_get_packed_size(q);
    uint8_t *data = malloc(size + 1);
    char path[128], text[sizeof out->text + sizeof c->address + 80];
    cuzk_status st;

    memset(out, 0, sizeof *out);
    if (data == NULL) return client_failed(c, "resource", "out of memory", 4);
    (void)protobuf_c_message_pack(q, data);
    (void)snprintf(path, sizeof path, "/%s", method);
    st = gclient_call(c->g, path, data, size, NULL, out);
    free(data);
    if (st == CUZK_EIO) {
        (void)snprintf(text, sizeof text, "no daemon answers (%s)", cuzk_last_error()->message);
        return client_failed(c, "io", text, CLIENT_REFUSED);
    }
    if (st != CUZK_OK && c->silent) return CLIENT_REFUSED;
    if (st != CUZK_OK) return report_failure(c->r, st);
    if (out->code == GCODE_OK) return 0;
    return client_failed(c, class_of(out->code), out->text, CLIENT_REFUSED);
}

int client_document(client *c, const char *path, char **body, size_t *size)
{
    Cuzk__V1__GetRequest q = CUZK__V1__GET_REQUEST__INIT;
    Cuzk__V1__GetResponse *a;
    union {
        const char *in;
        char *out;
    } text = {path};
    greply reply;
    int code;

    q.path = text.out;
    code = client_call(c, "cuzk.v1.Operator/Get", &q.base, &reply);
    if (code != 0) return code;
    a = cuzk__v1__get_response__unpack(NULL, reply.size, reply.data);
    greply_clear(&reply);
    if (a == NULL) return client_garbled(c);
    *size = a->body.len;
    *body = malloc(a->body.len + 1);
    if (*body != NULL) {
        if (a->body.len != 0) memcpy(*body, a->body.data, a->body.len);
        (*body)[a->body.len] = 0;
    }
    cuzk__v1__get_response__free_unpacked(a, NULL);
    return *body == NULL ? client_failed(c, "resource", "out of memory", 4) : 0;
}

bool client_job_path(char *out, size_t size, const char *prefix, const char *id, const char *rest)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t n = strlen(prefix);

    if (n + 3 * strlen(id) + strlen(rest) >= size) return false;
    (void)snprintf(out, size, "%s", prefix);
    for (; *id != 0; id++) {
        if (strchr(plain, *id) != NULL)
            out[n++] = *id;
        else
            n += (size_t)snprintf(out + n, size - n, "%%%02X", (unsigned)(unsigned char)*id);
    }
    (void)snprintf(out + n, size - n, "%s", rest);
    return true;
}

/** Where the value of a member begins, from its object's first token on; false: it is not there. */
static bool find_member(json_in *j, const char *name, size_t len, json_token *value)
{
    json_token t;
    char key[64];

    if (len >= sizeof key) return false;
    memcpy(key, name, len);
    key[len] = 0;
    while (json_next(j, &t) == CUZK_OK && t.type == JSON_KEY) {
        if (json_is(&t, key)) return json_next(j, value) == CUZK_OK;
        if (json_skip(j) != CUZK_OK) return false;
    }
    return false;
}

void client_member(char *out, size_t size, const char *json, size_t json_size, const char *path)
{
    json_in j;
    json_token t;

    out[0] = 0;
    if (json_init(&j, json, json_size) != CUZK_OK || json_next(&j, &t) != CUZK_OK) return;
    for (;;) {
        size_t len = strcspn(path, ".");

        if (t.type != JSON_OBJECT || !find_member(&j, path, len, &t)) return;
        if (path[len] == 0) break;
        path += len + 1;
    }
    if (t.type == JSON_STRING && t.len < size) {
        size_t n;

        if (json_unescape(&t, out, &n) != CUZK_OK) out[0] = 0;
    } else if (t.type == JSON_NUMBER && t.len < size) {
        memcpy(out, t.text, t.len);
        out[t.len] = 0;
    } else if (t.type == JSON_TRUE || t.type == JSON_FALSE) {
        (void)snprintf(out, size, "%s", t.type == JSON_TRUE ? "true" : "false");
    }
}
