/*
 * circuit/filecoin/update_statement.c - sector updates: shapes, and what follows from a statement
 *
 * Source: spec/filecoin-circuits.md section 11.2; spec/filecoin-formats.md sections 1.3, 3.5
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/u128.h"
#include "circuit/filecoin/element.h"
#include "circuit/filecoin/json_fields.h"
#include "circuit/filecoin/update_impl.h"

#define HIGH_CHOICE 3       /* h is the choice at this place, or the first one equal to it */
#define DIGEST_CAPACITY 254 /* bits of a digest that challenges may come from */
#define RANDOM_TAG (UINT64_C(1) << 40)
#define MAX_REGISTERED 4 /* RegisteredUpdateProof */

/* ---- shapes ---- */

/* Bounds are in log2 of nodes. */
static uint32_t partition_bits_of(uint32_t nodes_log)
{
    return nodes_log <= 8 ? 0 : nodes_log <= 10 ? 1 : nodes_log <= 19 ? 2 : 4;
}

static void choose_high(update_shape *s, uint32_t nodes_log)
{
    for (uint32_t i = 0; i < UPDATE_HIGH_CHOICES; i++) s->high[i] = nodes_log <= 10 ? 1 : 7 + i;
    s->high_choice = nodes_log <= 10 ? 0 : HIGH_CHOICE;
}

cuzk_status update_shape_of(update_shape *out, fil_kind kind, const fil_size *s)
{
    update_shape x = {.kind = kind, .size = s};
    uint32_t nodes_log = s->nodes_log, partition_bits = partition_bits_of(nodes_log);

    if (kind != FIL_UPDATE && kind != FIL_UPDATE_POSEIDON)
        return FAIL(CUZK_EINVAL, "%s is not a sector update", fil_kind_name(kind));
    if (!fil_exists(kind, s))
        return FAIL(CUZK_EINVAL, "no %s circuit of size %s", fil_kind_name(kind), s->name);
    x.n_challenges = nodes_log <= 19 ? 10 : 86;
    if (kind == FIL_UPDATE) {
        x.partition_bits = partition_bits;
        x.apex_bits = nodes_log <= 8 ? 3 : 7;
        x.n_apex = 1u << x.apex_bits;
    } else {
        x.n_challenges <<= partition_bits; /* one partition has them all */
    }
    x.n_partitions = 1u << x.partition_bits;
    choose_high(&x, nodes_log);
    x.drawn_bits = nodes_log - x.partition_bits;
    x.per_digest = DIGEST_CAPACITY / x.drawn_bits;
    x.n_digests = (x.n_challenges + x.per_digest - 1) / x.per_digest;
    *out = x;
    return CUZK_OK;
}

/* ---- what follows ---- */

void update_random(const poseidon_set *ps, fr *out, const fr *a, const fr *b)
{
    const fr in[2] = {*a, *b};
    fr tag = update_random_tag(poseidon_set_curve(ps));

    poseidon_hash(poseidon_of(ps, 2), out, in, &tag);
}

fr update_random_tag(const curve *cv)
{
    fr tag;

    cv->fr_from_u64(&tag, RANDOM_TAG);
    return tag;
}

cuzk_status update_public_inputs(const update_statement *st, size_t partition, const curve *cv,
                                 fr out[UPDATE_N_PUBLIC])
{
    if (partition >= st->shape.n_partitions)
        return FAIL(CUZK_EINVAL, "partition %zu, there are %" PRIu32, partition,
                    st->shape.n_partitions);
    cv->fr_from_u64(&out[0], update_selector(&st->shape, partition));
    fil_load_fr(cv, &out[1], st->comm_r_old);
    fil_load_fr(cv, &out[2], st->comm_d_new);
    fil_load_fr(cv, &out[3], st->comm_r_new);
    return CUZK_OK;
}

/* The n bits of b from bit `from` on, n < 64. */
static uint64_t bits_at(const uint8_t b[32], unsigned from, unsigned n)
{
    const uint8_t *at = b + (size_t)8 * (from / 64);
    uint64_t word = load_u64le(at) >> from % 64;

    if (from % 64 + n > 64) word |= load_u64le(at + 8) << (64 - from % 64);
    return word & ((UINT64_C(1) << n) - 1);
}

void update_challenges(const update_statement *st, size_t partition, const poseidon_set *ps,
                       uint64_t *out)
{
    const update_shape *s = &st->shape;
    const curve *cv = poseidon_set_curve(ps);
    fr comm_r_new, number, digest;
    scalar bytes = {0};

    fil_load_fr(cv, &comm_r_new, st->comm_r_new);
    for (uint32_t n = 0; n < s->n_challenges; n++) {
        uint32_t in_digest = n % s->per_digest;

        if (in_digest == 0) {
            cv->fr_from_u64(&number, partition * s->n_digests + n / s->per_digest);
            update_random(ps, &digest, &comm_r_new, &number);
            cv->fr_to_scalar(&bytes, &digest);
        }
        out[n] = bits_at(bytes.b, in_digest * s->drawn_bits, s->drawn_bits) | (uint64_t)partition
                                                                                  << s->drawn_bits;
    }
}

void update_phi(const update_statement *st, const poseidon_set *ps, fr *phi)
{
    fr comm_d_new, comm_r_old;

    fil_load_fr(poseidon_set_curve(ps), &comm_d_new, st->comm_d_new);
    fil_load_fr(poseidon_set_curve(ps), &comm_r_old, st->comm_r_old);
    update_random(ps, phi, &comm_d_new, &comm_r_old);
}

void update_rho(const update_statement *st, const poseidon_set *ps, const fr *phi,
                uint64_t challenge, fr *rho)
{
    fr high;

    poseidon_set_curve(ps)->fr_from_u64(&high, update_high(&st->shape, challenge));
    update_random(ps, rho, phi, &high);
}

/* ---- reading ---- */

enum { KEY_SIZE, KEY_REGISTERED, KEY_R_OLD, KEY_R_NEW, KEY_D_NEW, KEYS };
static const char *const keys[KEYS] = {"sector_size", "registered_update_proof", "comm_r_old",
                                       "comm_r_new", "comm_d_new"};

typedef struct reader {
    json_in j;
    update_statement *st;
    uint64_t seen, sector_size, registered;
    bool has_registered;
} reader;

static cuzk_status read_registered(reader *r)
{
    const char *where = keys[KEY_REGISTERED];
    json_token t;

    TRY(json_next(&r->j, &t));
    if (t.type == JSON_NULL) return CUZK_OK;
    if (t.type != JSON_NUMBER) return fil_json_wanted(where, &t, "a number or null");
    r->has_registered = true;
    return json_u64(&t, MAX_REGISTERED, &r->registered, where);
}

static cuzk_status read_comm(reader *r, uint8_t out[32], const char *where)
{
    static const uint8_t zero[32];

    TRY(fil_json_hash(&r->j, out, where));
    if (!fil_is_canonical(out)) return FAIL_DATA(MALFORMED, where, "not below the modulus");
    if (memcmp(out, zero, sizeof zero) == 0) return FAIL_DATA(MALFORMED, where, "zero");
    return CUZK_OK;
}

static cuzk_status read_value(reader *r, unsigned key)
{
    switch (key) {
    case KEY_SIZE: return fil_json_u64(&r->j, UINT64_MAX, &r->sector_size, keys[KEY_SIZE]);
    case KEY_REGISTERED: return read_registered(r);
    case KEY_R_OLD: return read_comm(r, r->st->comm_r_old, keys[KEY_R_OLD]);
    case KEY_R_NEW: return read_comm(r, r->st->comm_r_new, keys[KEY_R_NEW]);
    case KEY_D_NEW: return read_comm(r, r->st->comm_d_new, keys[KEY_D_NEW]);
    default: return CUZK_OK; /* an unknown key: read over already */
    }
}

static cuzk_status read_document(reader *r)
{
    json_token t;
    unsigned k;
    bool end;

    TRY(fil_json_expect_object(&r->j, "statement"));
    for (;;) {
        TRY(fil_json_next_key(&r->j, keys, KEYS, &r->seen, &k, &end));
        if (end) break;
        TRY(read_value(r, k));
    }
    return json_expect(&r->j, JSON_END, &t, "the end of the statement");
}

/* From sector_size, the registered number, or both; NULL: neither is there. */
static cuzk_status find_size(const reader *r, const fil_size **out)
{
    bool has_size = (r->seen >> KEY_SIZE & 1) != 0;
    const fil_size *found = has_size ? fil_size_by_bytes(r->sector_size) : NULL;
    const fil_size *registered = fil_size_by_registered((int)r->registered);

    if (has_size && (found == NULL || !fil_exists(r->st->shape.kind, found)))
        return FAIL_DATA(MALFORMED, keys[KEY_SIZE], "%" PRIu64 " is not a size of sectors",
                         r->sector_size);
    if (has_size && r->has_registered && found != registered)
        return FAIL_DATA(SHAPE, keys[KEY_SIZE],
                         "%" PRIu64 ", but registered_update_proof %" PRIu64 " has %" PRIu64,
                         r->sector_size, r->registered, registered->bytes);
    *out = r->has_registered ? registered : found;
    return CUZK_OK;
}

cuzk_status update_statement_read(update_statement *out, const uint8_t *json, size_t size,
                                  fil_kind kind)
{
    update_statement st = {.shape.kind = kind};
    reader r = {.st = &st};
    const fil_size *s = NULL;

    TRY(json_init(&r.j, json, size));
    TRY(read_document(&r));
    for (unsigned k = KEY_R_OLD; k < KEYS; k++)
        if ((r.seen >> k & 1) == 0) return fil_json_missing("statement", keys[k]);
    TRY(find_size(&r, &s));
    if (s == NULL) return fil_json_missing("statement", "sector_size or registered_update_proof");
    TRY(update_shape_of(&st.shape, kind, s));
    *out = st;
    return CUZK_OK;
}
