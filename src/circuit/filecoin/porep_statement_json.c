/*
 * circuit/filecoin/porep_statement_json.c - reads a PoRep statement
 *
 * Source: spec/cli.md; docs/formats/statement.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "circuit/filecoin/element.h"
#include "circuit/filecoin/json_fields.h"
#include "circuit/filecoin/porep_impl.h"

typedef enum key {
    KEY_SECTOR_SIZE,
    KEY_LAYERS,
    KEY_REGISTERED,
    KEY_MINER,
    KEY_SECTOR,
    KEY_TICKET,
    KEY_SEED,
    KEY_COMM_D,
    KEY_COMM_R,
    KEYS
} key;

static const char *const names[KEYS] = {"sector_size", "layers",        "registered_seal_proof",
                                        "miner_id",    "sector_number", "ticket",
                                        "seed",        "comm_d",        "comm_r"};

typedef struct reader {
    json_in j;
    porep_statement *st;
    uint64_t sector_size, layers, registered;
} reader;

static cuzk_status read_value(void *reader_, uint32_t i, const void *arg)
{
    reader *r = reader_;
    porep_statement *s = r->st;

    (void)arg;
    switch ((key)i) {
    case KEY_SECTOR_SIZE: return fil_json_u64(&r->j, UINT64_MAX, &r->sector_size, names[i]);
    case KEY_LAYERS: return fil_json_u64(&r->j, POREP_MAX_LAYERS, &r->layers, names[i]);
    case KEY_REGISTERED: return fil_json_u64(&r->j, POREP_REGISTERED - 1, &r->registered, names[i]);
    case KEY_MINER: return fil_json_u64(&r->j, UINT64_MAX, &s->miner_id, names[i]);
    case KEY_SECTOR: return fil_json_u64(&r->j, UINT64_MAX, &s->sector_number, names[i]);
    case KEY_TICKET: return fil_json_hash(&r->j, s->ticket, names[i]);
    case KEY_SEED: return fil_json_hash(&r->j, s->seed, names[i]);
    case KEY_COMM_D: return fil_json_hash(&r->j, s->comm_d, names[i]);
    case KEY_COMM_R: return fil_json_hash(&r->j, s->comm_r, names[i]);
    case KEYS: break;
    }
    return CUZK_OK;
}

/* Numbers that must agree: sizes of the network have their own registered numbers, others those of 2 KiB. */
static cuzk_status check_shape(const reader *r)
{
    const fil_size *any = fil_size_by_bytes(r->sector_size);
    const fil_size *s = fil_size_porep(r->sector_size, (uint32_t)r->layers);
    uint64_t want;

    if (any == NULL || !fil_exists(FIL_POREP, any))
        return FAIL_DATA(MALFORMED, names[KEY_SECTOR_SIZE], "%" PRIu64 " is not a size of sectors",
                         r->sector_size);
    want = any->registered < 0 ? 0 : (uint64_t)any->registered;
    if (r->registered % 5 != want)
        return FAIL_DATA(SHAPE, names[KEY_REGISTERED],
                         "%" PRIu64 " is not of sectors of %" PRIu64 " bytes", r->registered,
                         any->bytes);
    if (s == NULL)
        return FAIL_DATA(SHAPE, names[KEY_LAYERS],
                         "%" PRIu64 " layers, sectors of %" PRIu64 " bytes have %" PRIu32,
                         r->layers, any->bytes, any->porep_layers);
    r->st->shape = (porep_shape){s, s->porep_layers};
    r->st->registered = (uint32_t)r->registered;
    return CUZK_OK;
}

static cuzk_status check_hashes(const porep_statement *s)
{
    static const uint8_t zero[32];
    const struct {
        const char *name;
        const uint8_t *value;
        bool element;
    } v[] = {{"comm_r", s->comm_r, true}, {"comm_d", s->comm_d, true}, {"seed", s->seed, false}};

    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        if (v[i].element && !fil_is_canonical(v[i].value))
            return FAIL_DATA(MALFORMED, v[i].name, "%s is not below the modulus", v[i].name);
        if (memcmp(v[i].value, zero, sizeof zero) == 0)
            return FAIL_DATA(MALFORMED, v[i].name, "%s is zero", v[i].name);
    }
    return CUZK_OK;
}

cuzk_status porep_statement_read(porep_statement *out, const uint8_t *json, size_t size)
{
    porep_statement s = {0};
    reader r = {.st = &s};

    TRY(json_init(&r.j, json, size));
    TRY(porep_at(fil_json_object(&r.j, names, KEYS, read_value, &r, NULL), "statement"));
    TRY(json_expect(&r.j, JSON_END, NULL, "the end of the statement"));
    TRY(check_shape(&r));
    TRY(check_hashes(&s));
    *out = s;
    return CUZK_OK;
}
