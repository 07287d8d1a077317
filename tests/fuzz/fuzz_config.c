/*
 * fuzz/fuzz_config.c - any text is refused with its place and a reason, or is a configuration whose values are in their ranges
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "app/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

static void check_list(const config_list *l)
{
    for (size_t i = 0; i < l->n; i++) must(l->item[i] != NULL && l->item[i][0] != 0);
}

static void ignore_key(void *ctx, const char *key)
{
    (void)ctx;
    must(key != NULL);
}

static void check(const config *c)
{
    check_list(&c->listen);
    check_list(&c->status_listen);
    check_list(&c->plaintext_from);
    check_list(&c->cors_origins);
    check_list(&c->host_names);
    check_list(&c->gpu_devices);
    check_list(&c->preload);
    must(c->listen.n > 0 && c->store_path != NULL && c->store_path[0] == '/');
    must(c->max_message >= 1024 && c->max_message <= c->max_inflight_bytes && c->max_requests > 0);
    must((c->tls_cert[0] == 0) == (c->tls_key[0] == 0));
    must(c->max_parallel_synthesis > 0 && c->gpu_workers_per_device > 0);
    for (size_t i = 0; i < c->n_circuits; i++) {
        must(c->circuits[i].name[0] != 0 && c->circuits[i].zkey[0] != 0);
        must((c->circuits[i].witness_command == NULL) == (c->circuits[i].n_witness_command == 0));
    }
    for (size_t i = 0; i < c->n_warnings; i++) must(strchr(c->warning[i], ':') != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const config_source none;
    config *c = NULL, *d = NULL;
    cuzk_status st;

    if (size > 65536) return 0;
    st = config_read_text(&c, (const char *)data, size, "f", &none);
    if (st != CUZK_OK) {
        must(st == CUZK_EDATA && c == NULL && cuzk_last_error()->where[0] == 'f');
        must(cuzk_last_error()->message[0] != 0);
        return 0;
    }
    check(c);
    must(config_read_text(&d, "", 0, NULL, &none) == CUZK_OK);
    config_not_reloadable(d, c, ignore_key, NULL);
    config_free(d);
    config_free(c);
    return 0;
}
