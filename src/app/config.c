/*
 * app/config.c - reading the configuration: defaults, the file, options; unknown keys; what SIGHUP may change; the example
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/config_int.h"

#include "base/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MEMORY ((size_t)64 << 20)

const char *const config_places[] = {"/etc/cuzk/cuzk.toml", "/data/zk/cuzk.toml", NULL};

void config_warn(config *c, const char *key, const char *why)
{
    char text[256];

    (void)snprintf(text, sizeof text, "%s: %s", key, why);
    /* beyond the last place, or without memory, there is one warning less */
    if (c->n_warnings < CONFIG_MAX_WARNINGS &&
        config_copy(c, text, &c->warning[c->n_warnings]) == CUZK_OK)
        c->n_warnings++;
}

/* ---- keys that there are not ---- */

/** Edits (insert, delete, replace, swap neighbours) from a to b; both below 64 characters, else 99. */
static unsigned distance(const char *a, const char *b)
{
    unsigned char row[3][65];
    size_t n = strlen(a), m = strlen(b);

    if (n > 64 || m > 64) return 99;
    for (size_t j = 0; j <= m; j++) row[0][j] = (unsigned char)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned char *now = row[i % 3], *one = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = (unsigned char)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned d = one[j - 1] + (a[i - 1] != b[j - 1] ? 1u : 0u);
            if (one[j] + 1u < d) d = one[j] + 1u;
            if (now[j - 1] + 1u < d) d = now[j - 1] + 1u;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two[j - 2] + 1u < d)
                d = two[j - 2] + 1u;
            now[j] = (unsigned char)d;
        }
    }
    return row[n % 3][m];
}

static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot == NULL ? name : dot + 1;
}

/** The known key that was perhaps meant; NULL: none is near. */
static const char *nearest(const char *name)
{
    const char *best = NULL;
    unsigned least = strlen(name) > 12 ? 4 : 3;

    for (size_t i = 0; i < config_n_keys; i++) {
        const config_key *k = &config_keys[i];
        unsigned d = distance(name, k->name);
        if (k->type == KEY_UNUSED) continue;
        /* the right key in the wrong table */
        if (strcmp(last_part(name), last_part(k->name)) == 0 && d > 1) d = 1;
        if (d >= least) continue;
        least = d;
        best = k->name;
    }
    return best;
}

static cuzk_status unknown(const toml *t, const toml_value *v, const char *name)
{
    const char *near = nearest(name);
    bool table = v->type == TOML_TABLE;

    if (near == NULL) return config_fail(t, v, name, "unknown %s", table ? "table" : "key");
    return config_fail(t, v, name, "unknown %s; did you mean %s?", table ? "table" : "key", near);
}

/* ---- the file ---- */

static const config_key *find_key(const char *name)
{
    for (size_t i = 0; i < config_n_keys; i++)
        if (strcmp(config_keys[i].name, name) == 0) return &config_keys[i];
    return NULL;
}

/** Some known key begins with "name.". */
static bool is_table(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < config_n_keys; i++)
        if (strncmp(config_keys[i].name, name, n) == 0 && config_keys[i].name[n] == '.')
            return true;
    return false;
}

static const char *lacking(const config *c, const config_key *k)
{
    switch (k->need) {
    case NEED_GPU:
#ifdef CUZK_CUDA
        return NULL;
#else
        if (c->gpu_devices.n == 1 && strcmp(c->gpu_devices.item[0], "none") == 0) return NULL;
        return "this cuzk has no CUDA backend: proofs are made on the CPU";
#endif
    case NEED_BATCHES:
        if (c->max_batch_size == 1) return NULL; /* no batches are asked for */
        return "no device of this version proves several jobs faster together than one after the "
               "other: each is proved by itself";
    case NEED_POOL: return "one pool of threads serves devices and synthesis: synthesis.threads";
    case NEED_NOTHING: break;
    }
    return NULL;
}

static cuzk_status read_entry(config *c, const toml *t, const toml_value *v, const char *table)
{
    char name[160];
    const config_key *k;

    (void)snprintf(name, sizeof name, "%.60s%s%.60s", table, *table == 0 ? "" : ".", v->key);
    if (strcmp(name, "circuits") == 0) return config_set_circuits(c, t, v);
    k = find_key(name);
    if (k != NULL) {
        TRY(config_set(c, t, k, v));
        return CUZK_OK;
    }
    if (!is_table(name) && (v->type != TOML_TABLE || v->first == NULL || *table != 0))
        return unknown(t, v, name);
    if (v->type != TOML_TABLE) return config_fail(t, v, name, "it is a table: [%s]", name);
    for (const toml_value *x = v->first; x != NULL; x = x->next) TRY(read_entry(c, t, x, name));
    return CUZK_OK;
}

/** Warnings for what the file sets and this build does not do. */
static void note_lacking(config *c, const toml *t)
{
    for (size_t i = 0; i < config_n_keys; i++) {
        char table[64];
        const config_key *k = &config_keys[i];
        const toml_value *v;
        const char *why = lacking(c, k);

        if (why == NULL) continue;
        (void)snprintf(table, sizeof table, "%.*s", (int)strcspn(k->name, "."), k->name);
        v = toml_find(toml_root(t), table);
        if (v != NULL && toml_find(v, last_part(k->name)) != NULL) config_warn(c, k->name, why);
    }
}

/* ---- defaults and options ---- */

static cuzk_status set_default(config *c, const config_key *k)
{
    char text[96];
    cuzk_status st;
    toml *t;

    if (k->def == NULL) return CUZK_OK;
    (void)snprintf(text, sizeof text, "x = %s", k->def);
    TRY(toml_read(&t, text, strlen(text), k->name));
    st = config_set(c, t, k, toml_find(toml_root(t), "x"));
    toml_free(t);
    return st;
}

static cuzk_status set_defaults(config *c)
{
    for (size_t i = 0; i < config_n_keys; i++) TRY(set_default(c, &config_keys[i]));
    c->param_cache = "";
    c->safety_margin = UINT64_MAX;
    return CUZK_OK;
}

static cuzk_status add_listen(config *c, const config_source *s)
{
    cuzk_status st = CUZK_OK;
    size_t n = c->listen.n;
    const char **item = config_alloc(c, (n + s->n_listen + 1) * sizeof *item, &st);

    if (item == NULL) return st;
    for (size_t i = 0; i < n; i++) item[i] = c->listen.item[i];
    for (size_t i = 0; i < s->n_listen; i++) TRY(config_copy(c, s->listen[i], &item[n + i]));
    c->listen = (config_list){item, n + s->n_listen};
    return CUZK_OK;
}

static cuzk_status set_options(config *c, const config_source *s)
{
    const config_key *k = find_key("logging.level");
    char text[64];
    cuzk_status st;
    toml *t;

    if (s->n_listen != 0) TRY(add_listen(c, s));
    if (s->log_level == NULL) return CUZK_OK;
    if (k == NULL || strlen(s->log_level) > 20 || strchr(s->log_level, '\'') != NULL)
        return FAIL(CUZK_EINVAL, "--log-level: %.60s", s->log_level);
    (void)snprintf(text, sizeof text, "x = '%s'", s->log_level);
    st = toml_read(&t, text, strlen(text), "--log-level");
    if (st == CUZK_OK) {
        st = config_set(c, t, k, toml_find(toml_root(t), "x"));
        toml_free(t);
    }
    if (st == CUZK_EDATA)
        st = FAIL(CUZK_EINVAL, "--log-level %s: it is error, warn, info or debug", s->log_level);
    return st;
}

/* ---- what belongs together ---- */

static cuzk_status fail_key(const config *c, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** A value that is wrong beside others: named by its key, in the file as a whole. */
static cuzk_status fail_key(const config *c, const char *key, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return FAIL_DATA(INCONSISTENT, c->path == NULL ? "configuration" : c->path, "%s: %s", key,
                     text);
}

static cuzk_status check_store(config *c)
{
    static const char sqlite[] = "sqlite://";
    const char *url = c->store_url;

    if (strncmp(url, "postgres", 8) == 0)
        return fail_key(c, "store.url", "PostgreSQL is not supported by this version");
    if (strncmp(url, sqlite, sizeof sqlite - 1) != 0 || url[sizeof sqlite - 1] != '/')
        return fail_key(c, "store.url", "'%.100s' is not of the form sqlite:///path/jobs.db", url);
    c->store_path = url + sizeof sqlite - 1;
    return CUZK_OK;
}

static bool is_cpu_table(const char *name)
{
    const char *at = cuzk_cpu_tables();

    while (*at != 0) {
        size_t n = strcspn(at, " ");
        size_t bare = n > 0 && at[n - 1] == '*' ? n - 1 : n;
        if (strlen(name) == bare && memcmp(name, at, bare) == 0) return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

static cuzk_status check_together(config *c)
{
    TRY(check_store(c));
    if ((c->tls_cert[0] == 0) != (c->tls_key[0] == 0))
        return fail_key(c, c->tls_cert[0] == 0 ? "daemon.tls_key" : "daemon.tls_cert",
                        "tls_cert and tls_key go together");
    if (c->tls_client_ca[0] != 0 && c->tls_cert[0] == 0)
        return fail_key(c, "daemon.tls_client_ca", "it needs tls_cert and tls_key");
    if (c->listen.n == 0) return fail_key(c, "daemon.listen", "no address");
    if (strcmp(c->cpu_table, "auto") != 0 && !is_cpu_table(c->cpu_table))
        return fail_key(c, "cpu.table", "'%.40s' is none of this machine's: %s", c->cpu_table,
                        cuzk_cpu_tables());
#ifndef CUZK_CUDA
    if (strcmp(c->cpu_device, "off") == 0)
        return fail_key(c, "cpu.device", "\"off\": this cuzk has no CUDA backend to prove on");
#endif
    if (c->max_message > c->max_inflight_bytes)
        return fail_key(c, "daemon.max_inflight_bytes", "%llu, below max_message %llu",
                        (unsigned long long)c->max_inflight_bytes,
                        (unsigned long long)c->max_message);
    return CUZK_OK;
}

/* ---- all of it ---- */

static cuzk_status new_config(config **out)
{
    cuzk_status st = CUZK_OK;
    mem *m;
    config *c;

    TRY(mem_open(&m, "config", MEMORY, NULL));
    c = mem_new(m, 1, sizeof *c, &st);
    if (c == NULL) {
        mem_close(m);
        return st == CUZK_OK ? CUZK_ENOMEM : st;
    }
    c->m = m;
    st = set_defaults(c);
    if (st != CUZK_OK)
        config_free(c);
    else
        *out = c;
    return st;
}

static cuzk_status read_toml(config *c, const void *text, size_t size, const char *name)
{
    cuzk_status st = CUZK_OK;
    toml *t;

    TRY(toml_read(&t, text, size, name));
    for (const toml_value *v = toml_root(t)->first; v != NULL; v = v->next)
        TRY_OUT(read_entry(c, t, v, ""));
    note_lacking(c, t);
out:
    toml_free(t);
    return st;
}

cuzk_status config_read_text(config **out, const char *text, size_t size, const char *name,
                             const config_source *source)
{
    cuzk_status st = CUZK_OK;
    config *c = NULL;
    const char *path = NULL;

    TRY(new_config(&c));
    if (name != NULL) {
        TRY_OUT(config_copy(c, name, &path));
        c->path = (char *)(uintptr_t)path;
        TRY_OUT(read_toml(c, text, size, name));
    }
    TRY_OUT(set_options(c, source));
    TRY_OUT(check_together(c));
    *out = c;
    c = NULL;
out:
    config_free(c);
    return st;
}

cuzk_status config_read(config **out, const config_source *source)
{
    const char *path = source->path;
    cuzk_status st;
    file_map f;

    for (size_t i = 0; path == NULL && config_places[i] != NULL; i++)
        if (file_exists(config_places[i])) path = config_places[i];
    if (path == NULL) return config_read_text(out, "", 0, NULL, source);
    TRY(file_map_open(&f, path));
    st = config_read_text(out, (const char *)f.data, f.size, path, source);
    file_map_close(&f);
    return st;
}

void config_free(config *c)
{
    mem *m;

    if (c == NULL) return;
    m = c->m;
    config_free_blocks(c);
    mem_free(m, c);
    mem_close(m);
}

/* ---- what SIGHUP does not take over ---- */

static bool lists_equal(const config_list *a, const config_list *b)
{
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->item[i], b->item[i]) != 0) return false;
    return true;
}

static bool key_equal(const config_key *k, const config *a, const config *b)
{
    const void *x = (const char *)a + k->offset, *y = (const char *)b + k->offset;

    switch (k->type) {
    case KEY_TEXT:
    case KEY_CHOICE: return strcmp(*(const char *const *)x, *(const char *const *)y) == 0;
    case KEY_LIST:
    case KEY_DEVICES: return lists_equal(x, y);
    case KEY_SIZE:
    case KEY_AUTO:
    case KEY_DURATION: return *(const uint64_t *)x == *(const uint64_t *)y;
    case KEY_UNSIGNED: return *(const unsigned *)x == *(const unsigned *)y;
    case KEY_BOOL: return *(const bool *)x == *(const bool *)y;
    case KEY_UNUSED: break;
    }
    return true;
}

void config_not_reloadable(const config *now, const config *next,
                           void (*fn)(void *ctx, const char *key), void *ctx)
{
    for (size_t i = 0; i < config_n_keys; i++)
        if (!config_keys[i].reload && !key_equal(&config_keys[i], now, next))
            fn(ctx, config_keys[i].name);
}

const char *config_params_dir(const config *c, const char *from_env)
{
    if (c->param_cache[0] != 0) return c->param_cache;
    if (file_exists("/data/zk/params")) return "/data/zk/params";
    if (from_env != NULL && from_env[0] != 0) return from_env;
    return "/var/tmp/filecoin-proof-parameters";
}

/* ---- the example ---- */

static void put_comment(bytes_out *o, const char *text)
{
    while (*text != 0) {
        size_t n = strcspn(text, "\n");
        bytes_printf(o, "# %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

void config_write_example(bytes_out *o)
{
    const char *table = "";

    bytes_printf(o, "# Configuration of the cuzk daemon (cuzk serve). Every key is here; those "
                    "behind a # have the value that\n"
                    "# they have anyway. Sizes: bytes, or \"64MiB\", \"256GiB\", \"2GB\". "
                    "Durations: seconds, or \"500ms\", \"5m\", \"24h\".\n"
                    "# (R): `systemctl reload cuzk` (SIGHUP) takes a change over; the others wait "
                    "for a restart.\n");
    for (size_t i = 0; i < config_n_keys; i++) {
        const config_key *k = &config_keys[i];
        size_t n = strcspn(k->name, ".");

        if (k->type == KEY_UNUSED) continue;
        if (strncmp(table, k->name, n + 1) != 0) bytes_printf(o, "\n[%.*s]\n", (int)n, k->name);
        table = k->name;
        bytes_printf(o, "\n");
        put_comment(o, k->doc);
        bytes_printf(o, "%s%s = %s%s\n", k->def != NULL && k->shown != NULL ? "" : "#",
                     last_part(k->name), k->shown != NULL ? k->shown : k->def,
                     k->reload ? "  # (R)" : "");
    }
    bytes_printf(o, "\n%s", config_circuits_example);
}
