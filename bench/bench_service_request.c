/*
 * bench/bench_service_request.c - a PoRep request as Curio sends it, over gRPC on loopback
 *
 * The C1 is wrapped in base64, sent by Prove, decoded, checked against its form and stored; there is no key, so the job fails before
 * anything is proved, with its times. What the client waited for less decode and store is the service's own.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "bench_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/client_request.h"
#include "app/rpc.h"
#include "base/clock.h"
#include "wire/access.h"
#include "wire/grpc_client.h"

#define MAX_N 200

/** {"SectorNum":n,"Phase1Out":"<base64>","SectorSize":n} */
static char *wrap(cuzk_bytes in, uint64_t sector, uint64_t sector_size, size_t *size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = malloc(in.size / 3 * 4 + 200);
    size_t n;

    if (out == NULL) exit(1);
    n = (size_t)sprintf(out, "{\"SectorNum\":%llu,\"Phase1Out\":\"", (unsigned long long)sector);
    for (size_t i = 0; i < in.size; i += 3) {
        size_t k = in.size - i;
        uint32_t v = (uint32_t)in.data[i] << 16 | (k > 1 ? (uint32_t)in.data[i + 1] << 8 : 0) |
                     (k > 2 ? in.data[i + 2] : 0);

        out[n++] = digits[v >> 18];
        out[n++] = digits[v >> 12 & 63];
        out[n++] = k > 1 ? digits[v >> 6 & 63] : '=';
        out[n++] = k > 2 ? digits[v & 63] : '=';
    }
    n += (size_t)sprintf(out + n, "\",\"SectorSize\":%llu}", (unsigned long long)sector_size);
    *size = n;
    return out;
}

/* A ProveRequest with the statement's fields. */
static uint8_t *request_of(const char *dir, size_t *size, size_t *payload)
{
    static options o = {.kind = "porep", .n_inputs = 1, .partition = -1};
    static char statement[1024], c1[1024];
    Cuzk__V1__ProveRequest q = CUZK__V1__PROVE_REQUEST__INIT;
    client_request r;
    uint8_t *out;
    char *text;

    (void)snprintf(statement, sizeof statement, "%s/statement.json", dir);
    (void)snprintf(c1, sizeof c1, "%s/c1.json", dir);
    o.statement = statement;
    o.inputs[0] = c1;
    bench_check(client_request_read(&r, &o), dir);
    text = wrap(bench_load(c1), r.message.sector_number, r.message.sector_size, payload);
    r.message.vanilla_proof = (ProtobufCBinaryData){*payload, (uint8_t *)text};
    q.submit = &r.message;
    *size = protobuf_c_message_get_packed_size(&q.base);
    out = malloc(*size);
    if (out == NULL) exit(1);
    (void)protobuf_c_message_pack(&q.base, out);
    client_request_clear(&r);
    free(text);
    return out;
}

static void one(gclient *g, const uint8_t *data, size_t size, double *wall, double *decode,
                double *stored, double *added, double *outside)
{
    const gcall_options how = {.lasting = true}; /* a client has its message before it calls */
    greply reply;
    Cuzk__V1__ProveResponse *a;
    uint64_t from = clock_ns();

    bench_check(gclient_call(g, "/cuzk.v1.ProvingEngine/Prove", data, size, &how, &reply), "Prove");
    *wall = bench_ms_since(from);
    a = reply.code == GCODE_OK ? cuzk__v1__prove_response__unpack(NULL, reply.size, reply.data)
                               : NULL;
    if (a == NULL || a->result == NULL) {
        (void)fprintf(stderr, "Prove: %s\n", reply.text);
        exit(1);
    }
    if (strstr(a->result->error_message, "no key") == NULL) {
        (void)fprintf(stderr, "not for want of a key: %s\n", a->result->error_message);
        exit(1);
    }
    *decode = (double)a->result->decode_ms;
    *stored = (double)a->result->store_ms;
    *added = *wall - *decode - *stored;
    *outside = *wall - (double)a->result->total_ms;
    cuzk__v1__prove_response__free_unpacked(a, NULL);
    greply_clear(&reply);
}

void bench_request(cuzk_engine *e, const char *input_dir, const char *store, int n)
{
    static double wall[MAX_N], decode[MAX_N], stored[MAX_N], added[MAX_N], outside[MAX_N];
    static const char *const listen[] = {"127.0.0.1:0"};
    cuzk_service_config config = {
        .store = store, .params_dir = "/nonexistent", .memory_margin = UINT64_MAX};
    access_config who = {.tokens_file = NULL};
    access_list *access;
    cuzk_service *s;
    rpc *r;
    gclient *g;
    size_t size, payload;
    uint8_t *data = request_of(input_dir, &size, &payload);
    double cpu;

    if (n > MAX_N) n = MAX_N;
    bench_check(access_open(&access, &who), "access");
    bench_check(cuzk_service_open(&s, e, &config), "service");
    rpc_config face = {.listen = listen, .n_listen = 1, .access = access};
    bench_check(rpc_start(&r, &face, s), "gRPC");
    gclient_config how = {.address = rpc_address(r, 0)};
    bench_check(gclient_open(&g, &how), "client");
    one(g, data, size, &wall[0], &decode[0], &stored[0], &added[0], &outside[0]); /* warm-up */
    cpu = bench_cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < n; i++)
        one(g, data, size, &wall[i], &decode[i], &stored[i], &added[i], &outside[i]);
    cpu = bench_cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    (void)printf("# request of %.1f MB, client and service in this process\n", (double)size / 1e6);
    bench_report("request, in all", wall, (size_t)n, cpu);
    bench_report("request, decode and base64", decode, (size_t)n, -1);
    bench_report("request, store", stored, (size_t)n, -1);
    bench_report("request, the service's own", added, (size_t)n, -1);
    bench_report("request, of it before and after the job", outside, (size_t)n, -1);
    gclient_close(g);
    rpc_stop(r, 1000);
    cuzk_service_close(s);
    access_close(access);
    free(data);
}
