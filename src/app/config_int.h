/*
 * app/config_int.h - the table of keys, and what the files that read it share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_CONFIG_INT_H
#define APP_CONFIG_INT_H

#include "app/config.h"
#include "app/toml.h"

typedef enum config_type {
    KEY_TEXT,
    KEY_CHOICE,   /* one of `choices`, separated by '|' */
    KEY_LIST,     /* a string or a list of them; "": none */
    KEY_DEVICES,  /* a list of ordinals and strings, or "none" */
    KEY_SIZE,     /* bytes, uint64_t */
    KEY_AUTO,     /* the same, or "auto": 0 */
    KEY_DURATION, /* milliseconds, uint64_t */
    KEY_UNSIGNED,
    KEY_BOOL,
    KEY_UNUSED /* of the Rust daemon: accepted with a warning */
} config_type;

/** What a key needs of the build to have an effect. */
typedef enum config_need { NEED_NOTHING, NEED_GPU, NEED_BATCHES, NEED_POOL } config_need;

typedef struct config_key {
    const char *name; /* "daemon.listen" */
    config_type type;
    size_t offset;
    const char *def; /* as TOML; NULL: what config_init sets, `shown` tells */
    const char *shown;
    bool reload;
    config_need need;
    uint64_t min, max; /* KEY_SIZE..KEY_UNSIGNED */
    const char *choices;
    const char *doc;
} config_key;

extern const config_key config_keys[];
extern const size_t config_n_keys;
/** The keys of circuits.NAME, for the example file. */
extern const char config_circuits_example[];

/** The value of a key, checked, into c. Failures: where the place of v, message "KEY: reason". */
CUZK_STATUS config_set(config *c, const toml *t, const config_key *k, const toml_value *v);
/** Table `circuits`. */
CUZK_STATUS config_set_circuits(config *c, const toml *t, const toml_value *table);
/** n zeroed bytes that live as long as c; NULL and *st. */
void *config_alloc(config *c, size_t n, cuzk_status *st);
void config_free_blocks(config *c);
CUZK_STATUS config_copy(config *c, const char *text, const char **out);
/** v is a string or a list of strings, or (numbers) of integers too. key is for messages. */
CUZK_STATUS config_strings(config *c, const toml *t, const toml_value *v, const char *key,
                           bool numbers, config_list *out);
/** CUZK_EDATA at v: "KEY: reason". */
cuzk_status config_fail(const toml *t, const toml_value *v, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void config_warn(config *c, const char *key, const char *why);
/** Bytes ("64MiB", 512) and milliseconds ("500ms", "5m", 30: seconds). */
CUZK_STATUS config_size(const toml *t, const toml_value *v, const char *key, uint64_t *out);
CUZK_STATUS config_duration(const toml *t, const toml_value *v, const char *key, uint64_t *out);

#endif
