/*
 * circuit/filecoin/post_statement_json.c - reads a PoSt statement, in our form or in Curio's
 *
 * One pass; keys in any order; unknown keys are read over. Which form it is shows from its keys.
 *
 * Source: spec/cli.md; docs/formats/statement.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "circuit/filecoin/json_fields.h"
#include "circuit/filecoin/post_impl.h"

#define MAX_SECTORS ((size_t)1 << 24)
#define MAX_REGISTERED \
    14 /* RegisteredPoStProof: 0..4 Winning, 5..9 Window, 10..14 Window of API 1.2.0 */
#define WHERE_MAX 64

/* keys of either form; a bit each in `seen` */
typedef enum key {
    KEY_SECTOR_SIZE,
    KEY_REGISTERED,
    KEY_API,
    KEY_MINER,
    KEY_RANDOMNESS,
    KEY_SECTORS,
    KEY_CURIO_RANDOMNESS,
    KEY_CURIO_PROOFS,
    KEY_CURIO_SECTORS,
    KEY_CURIO_PROVER,
    KEYS
} key;

static const char *const key_names[KEYS] = {"sector_size",       "registered_post_proof",
                                            "api_version",       "miner_id",
                                            "randomness",        "sectors",
                                            "Randomness",        "Proofs",
                                            "ChallengedSectors", "Prover"};
#define BIT(k) (UINT64_C(1) << (k))
#define OUR_KEYS (BIT(KEY_CURIO_RANDOMNESS) - 1)

typedef struct reader {
    json_in j;
    post_statement *st;
    size_t cap; /* of st->sectors */
    uint64_t seen;
    bool has_registered, has_api;
    uint64_t registered, sector_size;
} reader;

/* ---- values ---- */

/* n bytes in lower-case base32 without padding; false: a foreign digit, or bits beyond the end. */
static bool decode_base32(uint8_t *out, size_t n, const char *text, size_t len)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint32_t acc = 0;
    unsigned have = 0;
    size_t done = 0;

    for (size_t i = 0; i < len; i++) {
        const char *at = text[i] == '\0' ? NULL : strchr(alphabet, text[i]);

        if (at == NULL) return false;
        acc = acc << 5 | (uint32_t)(at - alphabet);
        have += 5;
        if (have < 8) continue;
        if (done == n) return false;
        have -= 8;
        out[done++] = (uint8_t)(acc >> have);
        acc &= (1u << have) - 1;
    }
    return done == n && acc == 0;
}

/* 32 bytes in standard base64. */
static cuzk_status read_base64(reader *r, uint8_t out[32], const char *where)
{
    uint8_t b[33];
    json_token t;
    size_t n = 0;

    TRY(json_next(&r->j, &t));
    if (t.type != JSON_STRING || t.len != 44 ||
        base64_decode(b, &n, t.text, t.len, where) != CUZK_OK || n != 32)
        return fil_json_wanted(where, &t, "32 bytes in base64");
    memcpy(out, b, 32);
    return CUZK_OK;
}

/* 'b', then base32 of 0182e20381e80220 and the 32 bytes. */
static cuzk_status read_sealed_cid(json_in *j, uint8_t out[32], const char *where)
{
    static const uint8_t prefix[8] = {0x01, 0x82, 0xe2, 0x03, 0x81, 0xe8, 0x02, 0x20};
    uint8_t cid[40];
    json_token t;

    TRY(json_next(j, &t));
    if (t.type != JSON_STRING || t.len != 65 || t.text[0] != 'b' ||
        !decode_base32(cid, sizeof cid, t.text + 1, 64) || memcmp(cid, prefix, sizeof prefix) != 0)
        return fil_json_wanted(where, &t, "the CID of a sealed sector (b, then base32)");
    memcpy(out, cid + sizeof prefix, 32);
    return CUZK_OK;
}

/* ---- objects and arrays ---- */

/* One more sector; *at is its place. */
static cuzk_status push_sector(reader *r, post_sector_statement **at)
{
    post_statement *s = r->st;
    cuzk_status st = CUZK_OK;

    if (s->n_sectors == MAX_SECTORS)
        return FAIL_DATA(LIMIT, "sectors", "more than %zu sectors", MAX_SECTORS);
    if (s->n_sectors == r->cap) {
        size_t cap = r->cap == 0 ? 16 : 2 * r->cap;
        post_sector_statement *p = mem_new(s->m, cap, sizeof *p, &st);

        if (p == NULL) return st;
        if (s->n_sectors != 0) memcpy(p, s->sectors, s->n_sectors * sizeof *p);
        mem_free(s->m, s->sectors);
        s->sectors = p;
        r->cap = cap;
    }
    *at = &s->sectors[s->n_sectors++];
    return CUZK_OK;
}

/* {"/": CID} */
static cuzk_status read_cid_object(json_in *j, uint8_t out[32], const char *where)
{
    static const char *const names[] = {"/"};
    uint64_t seen = 0;
    unsigned i;
    bool end;

    TRY(fil_json_expect_object(j, where));
    for (;;) {
        TRY(fil_json_next_key(j, names, 1, &seen, &i, &end));
        if (end) break;
        if (i == 0) TRY(read_sealed_cid(j, out, where));
    }
    return seen == 0 ? fil_json_missing(where, "/") : CUZK_OK;
}

typedef struct sector_form {
    const char *array;
    const char *names[2]; /* of the number, of comm_r */
    cuzk_status (*read_comm_r)(json_in *j, uint8_t out[32], const char *where);
} sector_form;

static const sector_form our_sectors = {"sectors", {"sector_number", "comm_r"}, fil_json_hash};
static const sector_form curio_sectors = {
    "ChallengedSectors", {"SectorNumber", "SealedCID"}, read_cid_object};

static cuzk_status read_sector(reader *r, const sector_form *f)
{
    char where[2][WHERE_MAX];
    post_sector_statement *s = NULL;
    uint64_t seen = 0;
    unsigned i;
    bool end;

    for (i = 0; i < 2; i++)
        (void)snprintf(where[i], WHERE_MAX, "%s[%zu].%s", f->array, r->st->n_sectors, f->names[i]);
    TRY(push_sector(r, &s));
    for (;;) {
        TRY(fil_json_next_key(&r->j, f->names, 2, &seen, &i, &end));
        if (end) break;
        if (i == 0) TRY(fil_json_u64(&r->j, UINT64_MAX, &s->sector_number, where[0]));
        if (i == 1) TRY(f->read_comm_r(&r->j, s->comm_r, where[1]));
    }
    for (i = 0; i < 2; i++)
        if ((seen >> i & 1) == 0) return fil_json_missing(where[i], f->names[i]);
    return CUZK_OK;
}

static cuzk_status read_sectors(reader *r, const sector_form *f)
{
    json_token t;

    TRY(json_next(&r->j, &t));
    if (t.type != JSON_ARRAY) return fil_json_wanted(f->array, &t, "an array");
    for (;;) {
        TRY(json_next(&r->j, &t));
        if (t.type == JSON_ARRAY_END) return CUZK_OK;
        if (t.type != JSON_OBJECT) return fil_json_wanted(f->array, &t, "an object");
        TRY(read_sector(r, f));
    }
}

static cuzk_status set_registered(reader *r, uint64_t number, const char *where)
{
    if (r->has_registered && number != r->registered)
        return FAIL_DATA(INCONSISTENT, where, "PoStProof %" PRIu64 " and %" PRIu64, r->registered,
                         number);
    r->registered = number;
    r->has_registered = true;
    return CUZK_OK;
}

/* [{"PoStProof": 8, ...}, ...] */
static cuzk_status read_curio_proofs(reader *r)
{
    static const char *const names[] = {"PoStProof"};
    uint64_t number, seen;
    json_token t;
    unsigned i;
    bool end;

    TRY(json_next(&r->j, &t));
    if (t.type != JSON_ARRAY) return fil_json_wanted("Proofs", &t, "an array");
    for (;;) {
        TRY(json_next(&r->j, &t));
        if (t.type == JSON_ARRAY_END) break;
        if (t.type != JSON_OBJECT) return fil_json_wanted("Proofs", &t, "an object");
        for (seen = 0;;) {
            TRY(fil_json_next_key(&r->j, names, 1, &seen, &i, &end));
            if (end) break;
            if (i != 0) continue;
            TRY(fil_json_u64(&r->j, MAX_REGISTERED, &number, "Proofs[].PoStProof"));
            TRY(set_registered(r, number, "Proofs"));
        }
        if (seen == 0) return fil_json_missing("Proofs", "PoStProof");
    }
    return r->has_registered ? CUZK_OK : fil_json_missing("Proofs", "PoStProof");
}

/* ---- the document ---- */

static cuzk_status read_registered(reader *r)
{
    json_token t;

    TRY(json_next(&r->j, &t));
    if (t.type == JSON_NULL) return CUZK_OK;
    if (t.type != JSON_NUMBER)
        return fil_json_wanted("registered_post_proof", &t, "a number or null");
    r->has_registered = true;
    return json_u64(&t, MAX_REGISTERED, &r->registered, "registered_post_proof");
}

static cuzk_status read_api(reader *r)
{
    json_token t;

    TRY(json_next(&r->j, &t));
    if (t.type == JSON_NULL) return CUZK_OK;
    for (fil_api a = FIL_API_1_0_0; t.type == JSON_STRING && a <= FIL_API_1_2_0; a++) {
        if (!json_is(&t, fil_api_name(a))) continue;
        r->st->api = a;
        r->has_api = true;
        return CUZK_OK;
    }
    return fil_json_wanted("api_version", &t, "\"1.0.0\", \"1.1.0\" or \"1.2.0\"");
}

static cuzk_status read_value(reader *r, key k)
{
    post_statement *s = r->st;

    switch (k) {
    case KEY_SECTOR_SIZE: return fil_json_u64(&r->j, UINT64_MAX, &r->sector_size, "sector_size");
    case KEY_REGISTERED: return read_registered(r);
    case KEY_API: return read_api(r);
    case KEY_MINER: return fil_json_u64(&r->j, UINT64_MAX, &s->miner_id, "miner_id");
    case KEY_RANDOMNESS: return fil_json_hash(&r->j, s->randomness, "randomness");
    case KEY_SECTORS: return read_sectors(r, &our_sectors);
    case KEY_CURIO_RANDOMNESS: return read_base64(r, s->randomness, "Randomness");
    case KEY_CURIO_PROOFS: return read_curio_proofs(r);
    case KEY_CURIO_SECTORS: return read_sectors(r, &curio_sectors);
    case KEY_CURIO_PROVER: return fil_json_u64(&r->j, UINT64_MAX, &s->miner_id, "Prover");
    case KEYS: break;
    }
    return CUZK_OK; /* an unknown key: read over already */
}

static cuzk_status read_document(reader *r)
{
    unsigned k;
    json_token t;
    bool end;

    TRY(fil_json_expect_object(&r->j, "statement"));
    for (;;) {
        TRY(fil_json_next_key(&r->j, key_names, KEYS, &r->seen, &k, &end));
        if (end) break;
        TRY(read_value(r, (key)k));
    }
    return json_expect(&r->j, JSON_END, &t, "the end of the statement");
}

/* ---- what must hold in it ---- */

static cuzk_status check_keys(const reader *r)
{
    bool ours = (r->seen & OUR_KEYS) != 0, curio = (r->seen & ~OUR_KEYS) != 0;
    unsigned from = curio ? KEY_CURIO_RANDOMNESS : 0, to = curio ? KEYS : KEY_CURIO_RANDOMNESS;

    if (ours && curio)
        return FAIL_DATA(MALFORMED, "statement",
                         "keys of two forms: randomness and Randomness, ...");
    for (unsigned k = from; k < to; k++) {
        if (k == KEY_REGISTERED || k == KEY_API) continue; /* one of them: check_kind */
        if ((r->seen & BIT(k)) == 0) return fil_json_missing("statement", key_names[k]);
    }
    return CUZK_OK;
}

/* Kind, size and API version from the registered number, as far as there is one. */
static cuzk_status check_kind(reader *r)
{
    post_statement *s = r->st;
    bool curio = (r->seen & OUR_KEYS) == 0;
    fil_kind kind = r->registered < 5 ? FIL_WINNING : FIL_WINDOW;
    fil_api api = r->registered < 10 ? FIL_API_1_0_0 : FIL_API_1_2_0;

    if (!r->has_registered) {
        s->size = fil_size_by_bytes(r->sector_size);
        return r->has_api ? CUZK_OK
                          : fil_json_missing("statement", "registered_post_proof or api_version");
    }
    if (kind != s->kind)
        return FAIL_DATA(SHAPE, "registered_post_proof",
                         "%" PRIu64 " is a %s proof, not a %s proof", r->registered,
                         fil_kind_name(kind), fil_kind_name(s->kind));
    if (r->has_api && api != s->api)
        return FAIL_DATA(INCONSISTENT, "api_version",
                         "%s, but registered_post_proof %" PRIu64 " has %s", fil_api_name(s->api),
                         r->registered, fil_api_name(api));
    s->api = api;
    s->size = fil_size_by_registered((int)(r->registered % 5));
    if (!curio && r->sector_size != s->size->bytes)
        return FAIL_DATA(SHAPE, "sector_size",
                         "%" PRIu64 ", but registered_post_proof %" PRIu64 " has %" PRIu64,
                         r->sector_size, r->registered, s->size->bytes);
    return CUZK_OK;
}

static cuzk_status check_sectors(const post_statement *s, const char *array)
{
    static const uint8_t zero[32];

    if (s->n_sectors == 0) return FAIL_DATA(SHAPE, array, "0 sectors");
    if (s->kind == FIL_WINNING && s->n_sectors != 1)
        return FAIL_DATA(SHAPE, array, "%zu sectors, a winning proof has 1", s->n_sectors);
    for (size_t i = 0; i < s->n_sectors; i++) {
        const uint8_t *comm_r = s->sectors[i].comm_r;
        char where[WHERE_MAX];

        if (fil_is_canonical(comm_r) && memcmp(comm_r, zero, sizeof zero) != 0) continue;
        (void)snprintf(where, sizeof where, "%s[%zu]", array, i);
        return FAIL_DATA(MALFORMED, where, "comm_r is %s",
                         fil_is_canonical(comm_r) ? "zero" : "not below the modulus");
    }
    return CUZK_OK;
}

static cuzk_status check_statement(reader *r)
{
    bool curio = (r->seen & ~OUR_KEYS) != 0;

    TRY(check_keys(r));
    TRY(check_kind(r));
    if (r->st->size == NULL || !fil_exists(r->st->kind, r->st->size))
        return FAIL_DATA(MALFORMED, "sector_size", "%" PRIu64 " is not a size of sectors",
                         r->sector_size);
    if (!fil_is_canonical(r->st->randomness))
        return FAIL_DATA(MALFORMED, curio ? "Randomness" : "randomness", "not below the modulus");
    return check_sectors(r->st, curio ? curio_sectors.array : our_sectors.array);
}

cuzk_status post_statement_read(post_statement **out, const uint8_t *json, size_t size,
                                fil_kind kind, mem *m)
{
    cuzk_status st = CUZK_OK;
    reader r = {0};

    if (kind != FIL_WINNING && kind != FIL_WINDOW)
        return FAIL(CUZK_EINVAL, "%s is not a proof of spacetime", fil_kind_name(kind));
    r.st = mem_new(m, 1, sizeof *r.st, &st);
    if (r.st == NULL) return st;
    r.st->m = m;
    r.st->kind = kind;
    TRY_OUT(json_init(&r.j, json, size));
    TRY_OUT(read_document(&r));
    TRY_OUT(check_statement(&r));
    *out = r.st;
    r.st = NULL;
out:
    post_statement_free(r.st);
    return st;
}
