/*
 * app/rpc_none.c - stands in until rpc.c is there: the daemon serves HTTP alone, and says so
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/rpc.h"

struct rpc {
    const rpc_config *config; /* nothing is kept */
};

cuzk_status rpc_start(rpc **out, const rpc_config *config, cuzk_service *s)
{
    rpc *r = calloc(1, sizeof *r);

    (void)s;
    if (r == NULL) return FAIL(CUZK_ENOMEM, "gRPC: out of memory");
    if (config->log != NULL)
        config->log(config->log_ctx, CUZK_LOG_WARN, "grpc_is_not_built", NULL, 0);
    *out = r;
    return CUZK_OK;
}

cuzk_status rpc_reload(rpc *r, const rpc_config *config)
{
    (void)r;
    (void)config;
    return CUZK_OK;
}

void rpc_drain(rpc *r)
{
    (void)r;
}

void rpc_stop(rpc *r, uint64_t timeout_ms)
{
    (void)timeout_ms;
    free(r);
}

const char *rpc_address(const rpc *r, size_t i)
{
    (void)r;
    (void)i;
    return NULL;
}

void rpc_metrics(rpc *r, bytes_out *out)
{
    (void)r;
    (void)out;
}
