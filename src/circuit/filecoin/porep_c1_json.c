/*
 * circuit/filecoin/porep_c1_json.c - reads C1 outputs in JSON, bare or in the wrapper of Lotus and Curio
 *
 * One pass when registered_proof comes before vanilla_proofs, as all writers have it; else the proofs are checked for
 * syntax first and read at the end. A wrapper's base64 is decoded to a buffer that goes when the document is read.
 *
 * Source: spec/filecoin-formats.md sections 2.1, 2.2; docs/formats/c1.md
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>

#include "base/base64.h"
#include "circuit/filecoin/json_fields.h"
#include "circuit/filecoin/porep_impl.h"

/* "[0,0,...,0]": no hash takes fewer bytes of a document */
#define HASH_TEXT_MIN 65

typedef enum key {
    KEY_REGISTERED,
    KEY_PROOFS,
    KEY_COMM_R,
    KEY_COMM_D,
    KEY_REPLICA_ID,
    KEY_SEED,
    KEY_TICKET,
    KEYS, /* of the inner document; the wrapper's: */
    KEY_PHASE1_OUT = KEYS,
    KEY_SECTOR_NUM,
    KEY_SECTOR_SIZE,
    ALL_KEYS
} key;

static const char *const key_names[ALL_KEYS] = {
    "registered_proof", "vanilla_proofs", "comm_r",    "comm_d",    "replica_id", "seed",
    "ticket",           "Phase1Out",      "SectorNum", "SectorSize"};
#define BIT(k) (UINT64_C(1) << (k))
#define INNER_KEYS (BIT(KEYS) - 1)

typedef struct reader {
    json_in j;
    const porep_shape *expected;
    porep_c1 *c1;
    uint64_t seen;
    const fil_size *named; /* registered_proof's; NULL: it has not come */
    uint32_t registered;
    bool
        later; /* the proofs came before registered_proof: they are read from `proofs` on at the end */
    json_in proofs;
    size_t room; /* for how many challenges there is */
    json_token phase1_out;
    uint64_t sector_size;
} reader;

/* ---- names ---- */

static cuzk_status read_registered(reader *r)
{
    const fil_size *sizes;
    json_token t;
    char name[64];
    size_t n;

    TRY(json_next(&r->j, &t));
    if (t.type != JSON_STRING) return fil_json_wanted("registered_proof", &t, "a string");
    sizes = fil_sizes(&n);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < POREP_REGISTERED && fil_exists(FIL_POREP, &sizes[i]); k += 5) {
            porep_name(name, k, &sizes[i]);
            if (!json_is(&t, name)) continue;
            r->named = &sizes[i];
            r->registered = k + (sizes[i].registered < 0 ? 0 : (uint32_t)sizes[i].registered);
            return CUZK_OK;
        }
    return FAIL_DATA(MALFORMED, "registered_proof", "unknown registered_proof %.*s",
                     t.len < 64 ? (int)t.len : 64, t.text);
}

/* vanilla_proofs' one key: the size's name without version or feature, whatever registered_proof says. */
static cuzk_status read_proofs_key(reader *r, const fil_size **size)
{
    const fil_size *sizes;
    json_token t;
    char name[64];
    size_t n;

    TRY(fil_json_expect_object(&r->j, "vanilla_proofs"));
    TRY(json_next(&r->j, &t));
    if (t.type != JSON_KEY) return fil_json_wanted("vanilla_proofs", &t, "a key");
    sizes = fil_sizes(&n);
    for (size_t i = 0; i < n; i++) {
        porep_name(name, 0, &sizes[i]);
        if (!fil_exists(FIL_POREP, &sizes[i]) || !json_is(&t, name)) continue;
        *size = &sizes[i];
        return CUZK_OK;
    }
    porep_name(name, 0, r->named);
    return FAIL_DATA(MALFORMED, "vanilla_proofs", "key %.*s, expected %s",
                     t.len < 64 ? (int)t.len : 64, t.text, name);
}

static cuzk_status check_sizes(const reader *r, const fil_size *of_proofs)
{
    char name[64], other[64];

    porep_name(name, r->registered, r->named);
    porep_name(other, 0, of_proofs);
    if (of_proofs != r->named)
        return FAIL_DATA(SHAPE, "vanilla_proofs", "registered_proof %s, but vanilla_proofs %s",
                         name, other);
    if (r->expected != NULL && r->expected->size->bytes != r->named->bytes)
        return FAIL_DATA(SHAPE, "registered_proof", "%s, expected sectors of %" PRIu64 " bytes",
                         name, r->expected->size->bytes);
    return CUZK_OK;
}

/* ---- proofs ---- */

static cuzk_status read_challenge(void *reader_, uint32_t i, const void *arg)
{
    reader *r = reader_;
    porep_c1 *c1 = r->c1;
    size_t at = (size_t) * (const uint32_t *)arg * c1->n_challenges + i;

    VERIFY(at < r->room);
    return porep_challenge_read(&r->j, c1, c1->hashes + at * c1->layout.n_hashes,
                                c1->numbers + at * c1->layout.n_numbers);
}

static cuzk_status read_partition(void *reader_, uint32_t k, const void *arg)
{
    reader *r = reader_;

    (void)arg;
    return fil_json_list(&r->j, r->c1->n_challenges, "challenge", read_challenge, r, &k);
}

/* Room for all challenges that are due, as far as the bytes that are left can hold them, and one. */
static cuzk_status make_room(reader *r)
{
    porep_shape usual = {r->named, r->named->porep_layers};
    const porep_shape *shape = r->expected != NULL ? r->expected : &usual;
    size_t due = (size_t)porep_partitions(r->named, porep_feature_of(r->registered)) *
                 r->named->porep_challenges;
    porep_layout l;

    porep_layout_of(&l, shape->size, shape->layers);
    r->room = (r->j.size - r->j.pos) / ((size_t)l.n_hashes * HASH_TEXT_MIN) + 1;
    if (r->room > due) r->room = due;
    return porep_c1_begin(r->c1, r->registered, shape, r->room);
}

static cuzk_status read_proofs(reader *r)
{
    const fil_size *size = NULL;
    json_token t;

    TRY(read_proofs_key(r, &size));
    TRY(check_sizes(r, size));
    TRY(make_room(r));
    TRY(fil_json_list(&r->j, r->c1->n_partitions, "partition", read_partition, r, NULL));
    TRY(json_next(&r->j, &t));
    return t.type == JSON_OBJECT_END
               ? CUZK_OK
               : fil_json_wanted("vanilla_proofs", &t, "the end of vanilla_proofs");
}

static cuzk_status read_or_defer(reader *r)
{
    if (r->named != NULL) return read_proofs(r);
    r->later = true;
    r->proofs = r->j;
    return json_skip(&r->j);
}

/* ---- documents ---- */

static cuzk_status read_hash(reader *r, uint8_t out[32], key k)
{
    return porep_at(fil_json_bytes32(&r->j, out, key_names[k]), key_names[k]);
}

static cuzk_status read_phase1_out(reader *r)
{
    TRY(json_next(&r->j, &r->phase1_out));
    return r->phase1_out.type == JSON_STRING
               ? CUZK_OK
               : fil_json_wanted("Phase1Out", &r->phase1_out, "a string");
}

static cuzk_status read_value(reader *r, key k)
{
    porep_c1 *c1 = r->c1;

    switch (k) {
    case KEY_REGISTERED: return read_registered(r);
    case KEY_PROOFS: return read_or_defer(r);
    case KEY_COMM_R: return read_hash(r, c1->comm_r, k);
    case KEY_COMM_D: return read_hash(r, c1->comm_d, k);
    case KEY_REPLICA_ID: return read_hash(r, c1->replica_id, k);
    case KEY_SEED: return read_hash(r, c1->seed, k);
    case KEY_TICKET: return read_hash(r, c1->ticket, k);
    case KEY_PHASE1_OUT: return read_phase1_out(r);
    case KEY_SECTOR_NUM: return fil_json_u64(&r->j, UINT64_MAX, &c1->sector_number, key_names[k]);
    case KEY_SECTOR_SIZE: return fil_json_u64(&r->j, UINT64_MAX, &r->sector_size, key_names[k]);
    case ALL_KEYS: break;
    }
    return CUZK_OK;
}

/* Something that is no object is read to its end before it is refused: what is wrong with its syntax matters more. */
static cuzk_status open_document(reader *r)
{
    json_token t;

    TRY(json_next(&r->j, &t));
    if (t.type == JSON_OBJECT) return CUZK_OK;
    TRY(json_skip_rest(&r->j, &t));
    return fil_json_wanted("C1", &t, "an object");
}

/* A document with the first n keys; which of them it has is for the caller to judge. */
static cuzk_status read_document(reader *r, unsigned n)
{
    unsigned k;
    bool end;

    TRY(open_document(r));
    for (;;) {
        TRY(fil_json_next_key(&r->j, key_names, n, &r->seen, &k, &end));
        if (end) break;
        if (k < n) TRY(read_value(r, (key)k));
    }
    return json_expect(&r->j, JSON_END, NULL, "the end of the C1 output");
}

static cuzk_status want_keys(const reader *r, unsigned from, unsigned to)
{
    for (unsigned k = from; k < to; k++)
        if ((r->seen & BIT(k)) == 0) return fil_json_missing("C1", key_names[k]);
    return CUZK_OK;
}

static cuzk_status finish(reader *r)
{
    TRY(want_keys(r, 0, KEYS));
    TRY(porep_c1_check_values(r->c1));
    if (!r->later) return CUZK_OK;
    r->j = r->proofs;
    return read_proofs(r);
}

/* The document inside the wrapper, from a buffer of its own. */
static cuzk_status read_inner(reader *r)
{
    cuzk_status st = CUZK_OK;
    json_token t = r->phase1_out;
    mem *m = r->c1->m;
    size_t n = t.len + 1;
    uint8_t *inner;
    char *text = NULL;

    inner = mem_new(m, base64_size(t.len), 1, &st);
    if (inner == NULL) return st;
    if (t.escaped) {
        text = mem_new(m, n, 1, &st);
        if (text == NULL) goto out;
        TRY_OUT(json_unescape(&t, text, &t.len));
        t.text = text;
    }
    TRY_OUT(base64_decode(inner, &n, t.text, t.len, "Phase1Out"));
    mem_free(m, text);
    text = NULL;
    r->seen = 0;
    TRY_OUT(json_init(&r->j, inner, n));
    TRY_OUT(read_document(r, KEYS));
    st = finish(r);
out:
    if (st != CUZK_OK) status_add_where("Phase1Out");
    mem_free(m, text);
    mem_free(m, inner);
    return st;
}

static cuzk_status read_wrapper(reader *r)
{
    if ((r->seen & INNER_KEYS) != 0)
        return FAIL_DATA(MALFORMED, "C1", "keys of a wrapper and of what is in one");
    TRY(want_keys(r, KEYS, ALL_KEYS));
    r->c1->wrapped = true;
    TRY(read_inner(r));
    if (r->sector_size != r->c1->size->bytes)
        return FAIL_DATA(SHAPE, "SectorSize", "SectorSize %" PRIu64 ", but a C1 output of %" PRIu64,
                         r->sector_size, r->c1->size->bytes);
    return CUZK_OK;
}

cuzk_status porep_c1_read(porep_c1 **out, const uint8_t *data, size_t size,
                          const porep_shape *expected, mem *m)
{
    cuzk_status st = CUZK_OK;
    reader r = {.expected = expected};

    r.c1 = mem_new(m, 1, sizeof *r.c1, &st);
    if (r.c1 == NULL) return st;
    r.c1->m = m;
    TRY_OUT(json_init(&r.j, data, size));
    TRY_OUT(read_document(&r, ALL_KEYS));
    TRY_OUT((r.seen & ~INNER_KEYS) != 0 ? read_wrapper(&r) : finish(&r));
    *out = r.c1;
    r.c1 = NULL;
out:
    porep_c1_free(r.c1);
    return st;
}
