/*
 * wire/grpc_client.c - a gRPC client on the C core
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/grpc_client.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "wire/grpc_library.h"

#define MAX_PEM (1 << 20)
#define POLL_MS 100

struct gclient {
    grpc_channel *channel;
    grpc_completion_queue *cq;
    char *authorization; /* NULL: none */
    char address[256];
    bool gzip;
};

static void library_log(gpr_log_func_args *args)
{
    (void)args;
}

static CUZK_STATUS read_text(char **out, const char *path)
{
    file_map map;

    *out = NULL;
    if (path == NULL) return CUZK_OK;
    TRY(file_map_open(&map, path));
    if (map.size <= MAX_PEM) *out = strndup((const char *)map.data, map.size);
    file_map_close(&map);
    if (*out == NULL) return FAIL_DATA(LIMIT, path, "%s: not a PEM file", path);
    return CUZK_OK;
}

static CUZK_STATUS credentials(grpc_channel_credentials **out, const gclient_config *config,
                               bool tls)
{
    char *ca = NULL, *cert = NULL, *key = NULL;
    cuzk_status st = CUZK_OK;

    if (!tls) {
        *out = grpc_insecure_credentials_create();
        return CUZK_OK;
    }
    TRY_OUT(read_text(&ca, config->tls_ca));
    TRY_OUT(read_text(&cert, config->tls_cert));
    TRY_OUT(read_text(&key, config->tls_key));
    grpc_ssl_pem_key_cert_pair pair = {key, cert};
    *out =
        grpc_ssl_credentials_create_ex(ca, cert != NULL && key != NULL ? &pair : NULL, NULL, NULL);
    if (*out == NULL) st = FAIL(CUZK_EIO, "TLS: the certificates cannot be used");
out:
    free(ca);
    free(cert);
    if (key != NULL) explicit_bzero(key, strlen(key));
    free(key);
    return st;
}

static grpc_arg integer(const char *key, int value)
{
    union {
        const char *in;
        char *out;
    } name = {key};
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = name.out, .value.integer = value};
}

static CUZK_STATUS set_token(gclient *c, const char *token)
{
    size_t n;

    if (token == NULL) return CUZK_OK;
    n = strlen(token) + 8;
    c->authorization = malloc(n);
    if (c->authorization == NULL) return FAIL(CUZK_ENOMEM, "client: out of memory");
    (void)snprintf(c->authorization, n, "Bearer %s", token);
    return CUZK_OK;
}

cuzk_status gclient_open(gclient **out, const gclient_config *config)
{
    bool tls = strncmp(config->address, "tls://", 6) == 0;
    bool scheme = tls || strncmp(config->address, "tcp://", 6) == 0;
    const char *target = scheme ? config->address + 6 : config->address;
    grpc_channel_credentials *creds = NULL;
    cuzk_status st = CUZK_OK;
    gclient *c;

    TRY(grpc_library_load());
    c = calloc(1, sizeof *c);
    if (c == NULL) return FAIL(CUZK_ENOMEM, "client: out of memory");
    gpr_set_log_function(library_log);
    grpc_init();
    (void)snprintf(c->address, sizeof c->address, "%s", config->address);
    c->gzip = config->gzip;
    TRY_OUT(set_token(c, config->token));
    TRY_OUT(credentials(&creds, config, tls));
    grpc_arg args[4] = {
        integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1),
        integer(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1), integer("grpc.enable_http_proxy", 0),
        integer("grpc.enable_retries", 0), /* a call that was lost is the caller's to repeat */
    };
    grpc_channel_args list = {sizeof args / sizeof args[0], args};
    c->channel = grpc_channel_create(target, creds, &list);
    c->cq = grpc_completion_queue_create_for_pluck(NULL);
    grpc_channel_credentials_release(creds);
    *out = c;
    c = NULL;
out:
    gclient_close(c);
    return st;
}

void gclient_close(gclient *c)
{
    if (c == NULL) return;
    if (c->cq != NULL) {
        grpc_completion_queue_shutdown(c->cq);
        grpc_completion_queue_destroy(c->cq);
    }
    if (c->channel != NULL) grpc_channel_destroy(c->channel);
    if (c->authorization != NULL) explicit_bzero(c->authorization, strlen(c->authorization));
    free(c->authorization);
    grpc_shutdown();
    free(c);
}

void greply_clear(greply *r)
{
    free(r->data);
    r->data = NULL;
    r->size = 0;
}

/** What the library fills while a call is under way. */
typedef struct pending {
    grpc_call *call;
    grpc_metadata_array initial, trailing;
    grpc_byte_buffer *sent, *received;
    grpc_status_code code;
    grpc_slice text;
} pending;

static CUZK_STATUS start(gclient *c, pending *p, const void *data, size_t size, bool lasting)
{
    grpc_slice body = lasting ? grpc_slice_from_static_buffer(data, size)
                              : grpc_slice_from_copied_buffer(data, size);
    grpc_metadata headers[2];
    size_t n = 0;
    grpc_op ops[6];

    memset(headers, 0, sizeof headers);
    memset(ops, 0, sizeof ops);
    if (c->authorization != NULL) {
        headers[n].key = grpc_slice_from_static_string("authorization");
        headers[n++].value = grpc_slice_from_static_string(c->authorization);
    }
    if (c->gzip) {
        headers[n].key = grpc_slice_from_static_string("grpc-internal-encoding-request");
        headers[n++].value = grpc_slice_from_static_string("gzip");
    }
    p->sent = grpc_raw_byte_buffer_create(&body, 1);
    grpc_slice_unref(body);
    ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
    ops[0].data.send_initial_metadata.count = n;
    ops[0].data.send_initial_metadata.metadata = headers;
    ops[1].op = GRPC_OP_SEND_MESSAGE;
    ops[1].data.send_message.send_message = p->sent;
    ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &p->initial;
    ops[4].op = GRPC_OP_RECV_MESSAGE;
    ops[4].data.recv_message.recv_message = &p->received;
    ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
    ops[5].data.recv_status_on_client.trailing_metadata = &p->trailing;
    ops[5].data.recv_status_on_client.status = &p->code;
    ops[5].data.recv_status_on_client.status_details = &p->text;
    if (grpc_call_start_batch(p->call, ops, 6, p, NULL) != GRPC_CALL_OK)
        return FAIL(CUZK_EIO, "%s: the call cannot be started", c->address);
    return CUZK_OK;
}

/** Until the call is over. True: stop has cancelled it. */
static bool await(gclient *c, pending *p, const gcall_options *o)
{
    bool stopped = false;

    for (;;) {
        gpr_timespec until =
            gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(POLL_MS, GPR_TIMESPAN));
        grpc_event e = grpc_completion_queue_pluck(c->cq, p, until, NULL);

        if (e.type == GRPC_OP_COMPLETE) return stopped;
        if (stopped || o->stop == NULL || !o->stop(o->ctx)) continue;
        stopped = true;
        (void)grpc_call_cancel(p->call, NULL);
    }
}

static CUZK_STATUS take(greply *out, const pending *p)
{
    size_t n = GRPC_SLICE_LENGTH(p->text), at = 0;
    grpc_byte_buffer_reader reader;
    grpc_slice slice;

    out->code = (gcode)p->code;
    if (n >= sizeof out->text) n = sizeof out->text - 1;
    memcpy(out->text, GRPC_SLICE_START_PTR(p->text), n);
    out->text[n] = 0;
    if (out->code != GCODE_OK) return CUZK_OK;
    if (p->received == NULL || grpc_byte_buffer_reader_init(&reader, p->received) == 0)
        return FAIL(CUZK_EIO, "an answer without a message");
    out->size = grpc_byte_buffer_length(p->received);
    out->data = malloc(out->size + 1);
    while (grpc_byte_buffer_reader_next(&reader, &slice) != 0) {
        n = GRPC_SLICE_LENGTH(slice);
        if (n > out->size - at) n = out->size - at;
        if (out->data != NULL) memcpy(out->data + at, GRPC_SLICE_START_PTR(slice), n);
        at += n;
        grpc_slice_unref(slice);
    }
    grpc_byte_buffer_reader_destroy(&reader);
    if (out->data == NULL)
        return FAIL(CUZK_ENOMEM, "no memory for an answer of %zu bytes", out->size);
    out->data[out->size] = 0;
    return CUZK_OK;
}

cuzk_status gclient_call(gclient *c, const char *path, const void *data, size_t size,
                         const gcall_options *options, greply *out)
{
    static const gcall_options none;
    const gcall_options *o = options == NULL ? &none : options;
    gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);
    pending p;
    cuzk_status st;

    memset(&p, 0, sizeof p);
    memset(out, 0, sizeof *out);
    p.text = grpc_empty_slice();
    grpc_metadata_array_init(&p.initial);
    grpc_metadata_array_init(&p.trailing);
    if (o->timeout_ms != 0)
        deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                gpr_time_from_millis((int64_t)o->timeout_ms, GPR_TIMESPAN));
    p.call = grpc_channel_create_call(c->channel, NULL, GRPC_PROPAGATE_DEFAULTS, c->cq,
                                      grpc_slice_from_static_string(path), NULL, deadline, NULL);
    st = start(c, &p, data, size, o->lasting);
    if (st == CUZK_OK) {
        bool stopped = await(c, &p, o);

        st = take(out, &p);
        if (stopped && st == CUZK_OK && out->code == GCODE_CANCELLED)
            st = FAIL(CUZK_ECANCELLED, "cancelled");
        else if (st == CUZK_OK && out->code == GCODE_UNAVAILABLE)
            st = FAIL(CUZK_EIO, "%s: %s", c->address, out->text);
    }
    if (st != CUZK_OK) greply_clear(out);
    grpc_call_unref(p.call);
    if (p.sent != NULL) grpc_byte_buffer_destroy(p.sent);
    if (p.received != NULL) grpc_byte_buffer_destroy(p.received);
    grpc_metadata_array_destroy(&p.initial);
    grpc_metadata_array_destroy(&p.trailing);
    grpc_slice_unref(p.text);
    return st;
}
