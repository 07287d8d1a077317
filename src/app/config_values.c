/*
 * app/config_values.c - one value of the configuration: its type, its range, where it goes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/config_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct config_block {
    struct config_block *next;
    max_align_t data[];
};

void *config_alloc(config *c, size_t n, cuzk_status *st)
{
    struct config_block *b = mem_new(c->m, 1, sizeof *b + n, st);

    if (b == NULL && *st == CUZK_OK) *st = CUZK_ENOMEM; /* it cannot be */
    if (b == NULL) return NULL;
    b->next = c->blocks;
    c->blocks = b;
    return b->data;
}

void config_free_blocks(config *c)
{
    while (c->blocks != NULL) {
        struct config_block *next = c->blocks->next;
        mem_free(c->m, c->blocks);
        c->blocks = next;
    }
}

cuzk_status config_copy(config *c, const char *text, const char **out)
{
    cuzk_status st = CUZK_OK;
    size_t n = strlen(text) + 1;
    char *p = config_alloc(c, n, &st);

    if (p == NULL) return st;
    memcpy(p, text, n);
    *out = p;
    return CUZK_OK;
}

cuzk_status config_fail(const toml *t, const toml_value *v, const char *key, const char *fmt, ...)
{
    char where[128], text[256];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    toml_place(t, v->at, where, sizeof where);
    return FAIL_DATA(MALFORMED, where, "%s: %s", key, text);
}

/* ---- numbers with units ---- */

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

static const unit size_units[] = {
    {"B", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", UINT64_C(1000000000000)},
    {NULL, 0},
};
static const unit time_units[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {NULL, 0},
};

/** "64MiB": digits, then a unit of the list. */
static bool with_unit(const char *s, const unit *units, uint64_t *out)
{
    uint64_t v = 0;
    const char *start = s;

    for (; *s >= '0' && *s <= '9'; s++) {
        if (v > (UINT64_MAX - 9) / 10) return false;
        v = v * 10 + (uint64_t)(*s - '0');
    }
    if (s == start) return false;
    while (*s == ' ') s++;
    while (units->name != NULL && strcmp(units->name, s) != 0) units++;
    if (units->name == NULL || v > UINT64_MAX / units->factor) return false;
    *out = v * units->factor;
    return true;
}

cuzk_status config_size(const toml *t, const toml_value *v, const char *key, uint64_t *out)
{
    if (v->type == TOML_INTEGER && v->integer >= 0) {
        *out = (uint64_t)v->integer;
        return CUZK_OK;
    }
    if (v->type == TOML_STRING && with_unit(v->text, size_units, out)) return CUZK_OK;
    if (v->type == TOML_STRING)
        return config_fail(
            t, v, key, "'%.60s' is no size (bytes as a number, or \"64MiB\", \"2GB\")", v->text);
    return config_fail(t, v, key, "a size is wanted: bytes as a number, or \"64MiB\", \"2GB\"");
}

cuzk_status config_duration(const toml *t, const toml_value *v, const char *key, uint64_t *out)
{
    if (v->type == TOML_INTEGER && v->integer >= 0 && v->integer <= INT64_MAX / 1000) {
        *out = (uint64_t)v->integer * 1000;
        return CUZK_OK;
    }
    if (v->type == TOML_STRING && with_unit(v->text, time_units, out)) return CUZK_OK;
    if (v->type == TOML_STRING)
        return config_fail(t, v, key,
                           "'%.60s' is no duration (seconds as a number, or \"500ms\", \"5m\")",
                           v->text);
    return config_fail(t, v, key,
                       "a duration is wanted: seconds as a number, or \"500ms\", \"5m\"");
}

/* ---- lists ---- */

static cuzk_status list_item(config *c, const toml *t, const toml_value *v, const char *key,
                             bool numbers, const char **out)
{
    char number[24];

    if (v->type == TOML_INTEGER && numbers && v->integer >= 0) {
        (void)snprintf(number, sizeof number, "%lld", (long long)v->integer);
        return config_copy(c, number, out);
    }
    if (v->type != TOML_STRING)
        return config_fail(t, v, key,
                           numbers ? "ordinals and strings are wanted in this list"
                                   : "strings are wanted in this list");
    if (v->text[0] == 0) return config_fail(t, v, key, "an empty string in the list");
    return config_copy(c, v->text, out);
}

cuzk_status config_strings(config *c, const toml *t, const toml_value *v, const char *key,
                           bool numbers, config_list *out)
{
    bool list = v->type == TOML_ARRAY;
    size_t n = list ? v->n : 1;
    cuzk_status st = CUZK_OK;
    const char **item;

    if (!list && v->type != TOML_STRING)
        return config_fail(t, v, key, "a string or a list of strings is wanted");
    if (!list && v->text[0] == 0) n = 0;
    item = config_alloc(c, (n + 1) * sizeof *item, &st);
    if (item == NULL) return st;
    if (n > 0 && !list) TRY(list_item(c, t, v, key, numbers, &item[0]));
    size_t i = 0;
    for (const toml_value *x = v->first; list && x != NULL; x = x->next, i++)
        TRY(list_item(c, t, x, key, numbers, &item[i]));
    *out = (config_list){item, n};
    return CUZK_OK;
}

static cuzk_status set_devices(config *c, const toml *t, const config_key *k, const toml_value *v,
                               config_list *out)
{
    if (v->type != TOML_ARRAY && (v->type != TOML_STRING || strcmp(v->text, "none") != 0))
        return config_fail(t, v, k->name, "a list of ordinals and UUIDs is wanted, or \"none\"");
    return config_strings(c, t, v, k->name, true, out);
}

/* ---- one key ---- */

static cuzk_status set_choice(config *c, const toml *t, const config_key *k, const toml_value *v,
                              const char **out)
{
    const char *at = k->choices;

    while (v->type == TOML_STRING && *at != 0) {
        size_t n = strcspn(at, "|");
        if (strlen(v->text) == n && memcmp(v->text, at, n) == 0)
            return config_copy(c, v->text, out);
        at += n + (at[n] == '|');
    }
    if (v->type == TOML_STRING)
        return config_fail(t, v, k->name, "'%.60s' is none of %s", v->text, k->choices);
    return config_fail(t, v, k->name, "one of %s is wanted, in quotes", k->choices);
}

static cuzk_status in_range(const toml *t, const config_key *k, const toml_value *v, uint64_t n)
{
    if (n >= k->min && n <= k->max) return CUZK_OK;
    return config_fail(t, v, k->name, "%llu, allowed %llu..%llu%s", (unsigned long long)n,
                       (unsigned long long)k->min, (unsigned long long)k->max,
                       k->type == KEY_DURATION ? " ms" : "");
}

static cuzk_status number_of(const toml *t, const config_key *k, const toml_value *v, uint64_t *out)
{
    if (k->type == KEY_AUTO && v->type == TOML_STRING && strcmp(v->text, "auto") == 0) {
        *out = 0;
        return CUZK_OK;
    }
    if (k->type == KEY_DURATION)
        TRY(config_duration(t, v, k->name, out));
    else if (k->type == KEY_UNSIGNED && (v->type != TOML_INTEGER || v->integer < 0))
        return config_fail(t, v, k->name, "a number from %llu to %llu is wanted",
                           (unsigned long long)k->min, (unsigned long long)k->max);
    else
        TRY(config_size(t, v, k->name, out));
    return in_range(t, k, v, *out);
}

cuzk_status config_set(config *c, const toml *t, const config_key *k, const toml_value *v)
{
    void *at = (char *)c + k->offset;
    uint64_t n = 0;

    switch (k->type) {
    case KEY_TEXT:
        if (v->type != TOML_STRING) return config_fail(t, v, k->name, "a string is wanted");
        return config_copy(c, v->text, at);
    case KEY_CHOICE: return set_choice(c, t, k, v, at);
    case KEY_LIST: return config_strings(c, t, v, k->name, false, at);
    case KEY_DEVICES: return set_devices(c, t, k, v, at);
    case KEY_BOOL:
        if (v->type != TOML_BOOLEAN)
            return config_fail(t, v, k->name, "true or false is wanted, without quotes");
        *(bool *)at = v->boolean;
        return CUZK_OK;
    case KEY_UNSIGNED:
        TRY(number_of(t, k, v, &n));
        *(unsigned *)at = (unsigned)n;
        return CUZK_OK;
    case KEY_SIZE:
    case KEY_AUTO:
    case KEY_DURATION: return number_of(t, k, v, at);
    case KEY_UNUSED: config_warn(c, k->name, k->doc); return CUZK_OK;
    }
    return FAIL(CUZK_EBUG, "type of %s", k->name);
}

/* ---- circuits ---- */

static bool is_circuit_name(const char *s)
{
    size_t n = 0;

    for (; s[n] != 0; n++) {
        char c = s[n];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (n == 0 || (c != '-' && c != '_' && c != '.'))) return false;
    }
    return n >= 1 && n <= 63;
}

static cuzk_status circuit_value(config *c, const toml *t, const toml_value *v, const char *key,
                                 cuzk_circuit *out)
{
    bool zkey = strcmp(v->key, "zkey") == 0;
    config_list command = {NULL, 0};

    if (zkey || strcmp(v->key, "r1cs") == 0) {
        if (v->type != TOML_STRING || v->text[0] == 0)
            return config_fail(t, v, key, "the path of a file is wanted");
        return config_copy(c, v->text, zkey ? &out->zkey : &out->r1cs);
    }
    if (strcmp(v->key, "max_witness") == 0) {
        TRY(config_size(t, v, key, &out->max_witness));
        if (out->max_witness == 0) return config_fail(t, v, key, "0 bytes");
        return CUZK_OK;
    }
    if (strcmp(v->key, "witness_command") == 0) {
        if (v->type != TOML_ARRAY || v->n == 0)
            return config_fail(t, v, key, "a list is wanted: the program, then its arguments");
        TRY(config_strings(c, t, v, key, false, &command));
        out->witness_command = command.item;
        out->n_witness_command = command.n;
        return CUZK_OK;
    }
    return config_fail(t, v, key,
                       "unknown key; a circuit has zkey, r1cs, witness_command, max_witness");
}

static cuzk_status set_circuit(config *c, const toml *t, const toml_value *v, cuzk_circuit *out)
{
    char key[160];

    (void)snprintf(key, sizeof key, "circuits.%.63s", v->key);
    if (v->type != TOML_TABLE) return config_fail(t, v, key, "a table is wanted: [%s]", key);
    if (!is_circuit_name(v->key))
        return config_fail(t, v, key,
                           "a name has letters, digits, - _ . and at most 63 characters");
    TRY(config_copy(c, v->key, &out->name));
    for (const toml_value *x = v->first; x != NULL; x = x->next) {
        (void)snprintf(key, sizeof key, "circuits.%.63s.%.60s", v->key, x->key);
        TRY(circuit_value(c, t, x, key, out));
    }
    (void)snprintf(key, sizeof key, "circuits.%.63s", v->key);
    if (out->zkey == NULL) return config_fail(t, v, key, "zkey is missing");
    return CUZK_OK;
}

cuzk_status config_set_circuits(config *c, const toml *t, const toml_value *table)
{
    cuzk_status st = CUZK_OK;
    cuzk_circuit *list;

    if (table->type != TOML_TABLE) return config_fail(t, table, "circuits", "it is a table");
    if (table->n > CONFIG_MAX_CIRCUITS)
        return config_fail(t, table, "circuits", "%zu, at most %u", table->n, CONFIG_MAX_CIRCUITS);
    list = config_alloc(c, (table->n + 1) * sizeof *list, &st);
    if (list == NULL) return st;
    size_t i = 0;
    for (const toml_value *v = table->first; v != NULL; v = v->next, i++)
        TRY(set_circuit(c, t, v, &list[i]));
    c->circuits = list;
    c->n_circuits = table->n;
    return CUZK_OK;
}
