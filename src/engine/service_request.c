/*
 * engine/service_request.c - requests: checked, hashed, and as bytes for the store
 *
 * The hash is of everything but request_id and priority: what makes two requests the same (spec/proving-api.md section 2).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_lanes.h"
#include "base/utf8.h"
#include "circuit/filecoin/porep.h"
#include "engine/service.h"

#define MAX_ID 4096
#define MAX_PIECES 65536 /* sectors of a PoSt, partitions of an update */
#define FORMAT 1
#define FORMAT_AGGREGATE 2            /* the same with what is aggregated, of that kind alone */
#define OWNED 128                     /* in the format's byte: an owner follows */
#define MIN_HALVED ((size_t)64 << 10) /* bytes of a field from which on it is hashed in halves */

const char *cuzk_kind_name(uint32_t kind)
{
    switch (kind) {
    case CUZK_POREP: return "porep-c2";
    case CUZK_UPDATE: return "snap-update";
    case CUZK_WINDOW: return "window-post";
    case CUZK_WINNING: return "winning-post";
    case CUZK_GROTH16: return "groth16";
    case CUZK_AGGREGATE: return "aggregate";
    default: return NULL;
    }
}

unsigned svc_default_priority(uint32_t kind)
{
    if (kind == CUZK_WINNING) return CUZK_CRITICAL;
    return kind == CUZK_WINDOW ? CUZK_HIGH : CUZK_NORMAL;
}

/* The caller's mistake, at a field. */
#define REFUSE(field, ...) \
    ((void)status_fail(__FILE__, __LINE__, CUZK_EINVAL, CUZK_CLASS_MALFORMED, (field), \
                       __VA_ARGS__), \
     CUZK_EINVAL)

static cuzk_status fixed_bytes(uint8_t out[32], const cuzk_bytes *b, const char *field)
{
    if (b->size != 32) return REFUSE(field, "%s of %zu bytes, expected 32", field, b->size);
    memcpy(out, b->data, 32);
    return CUZK_OK;
}

static bool is_utf8(const char *s, size_t len)
{
    while (len > 0) {
        size_t n = utf8_sequence((const uint8_t *)s, len);

        if (n == 0) return false;
        s += n;
        len -= n;
    }
    return true;
}

static cuzk_status check_head(const cuzk_request *r)
{
    const char *id = r->request_id == NULL ? "" : r->request_id;
    size_t len = strlen(id);

    if (cuzk_kind_name(r->kind) == NULL)
        return REFUSE("proof_kind",
                      "proof kind %" PRIu32 "; known: 1 to 4 (PoRep, SnapDeals, WindowPoSt, "
                      "WinningPoSt) and 100 (GROTH16)",
                      r->kind);
    if (r->priority > CUZK_CRITICAL)
        return REFUSE("priority", "priority %" PRIu32 ", known: 0 to %d", r->priority,
                      CUZK_CRITICAL);
    if (len > MAX_ID) return REFUSE("request_id", "request_id of %zu bytes, limit %d", len, MAX_ID);
    if (!is_utf8(id, len)) return REFUSE("request_id", "request_id is not UTF-8");
    if (r->owner != NULL && strlen(r->owner) >= CUZK_OWNER_MAX)
        return REFUSE("owner", "owner of %zu bytes, limit %d", strlen(r->owner),
                      CUZK_OWNER_MAX - 1);
    return CUZK_OK;
}

static cuzk_status check_pieces(const cuzk_request *r, const char *of)
{
    if (r->n_vanilla_proofs == 0) return REFUSE("vanilla_proofs", "no vanilla proofs: %s", of);
    if (r->n_vanilla_proofs > MAX_PIECES)
        return REFUSE("vanilla_proofs", "%zu vanilla proofs, limit %d", r->n_vanilla_proofs,
                      MAX_PIECES);
    if (r->vanilla_proof.size != 0)
        return REFUSE("vanilla_proof", "vanilla_proof is given, this kind has vanilla_proofs");
    return CUZK_OK;
}

static cuzk_status from_porep(svc_request *out, const cuzk_request *r)
{
    if (r->vanilla_proof.size == 0)
        return REFUSE("vanilla_proof", "no vanilla_proof: a PoRep has its C1 output there");
    if (r->n_vanilla_proofs != 0)
        return REFUSE("vanilla_proofs", "vanilla_proofs are given, a PoRep has vanilla_proof");
    if (r->registered_proof >= POREP_REGISTERED)
        return REFUSE("registered_proof", "registered seal proof %" PRIu64 ", known: 0 to %d",
                      r->registered_proof, POREP_REGISTERED - 1);
    (void)out;
    return CUZK_OK;
}

static cuzk_status from_post(svc_request *out, const cuzk_request *r)
{
    TRY(check_pieces(r, "a PoSt has one a sector"));
    if (r->registered_proof > 14)
        return REFUSE("registered_proof", "registered PoSt proof %" PRIu64 ", known: 0 to 14",
                      r->registered_proof);
    if (r->kind == CUZK_WINNING && r->n_vanilla_proofs != 1)
        return REFUSE("vanilla_proofs", "%zu vanilla proofs, a WinningPoSt has one",
                      r->n_vanilla_proofs);
    return fixed_bytes(out->randomness, &r->randomness, "randomness");
}

static cuzk_status from_update(svc_request *out, const cuzk_request *r)
{
    TRY(check_pieces(r, "an update has one a partition"));
    if (r->registered_proof > 4)
        return REFUSE("registered_proof", "registered update proof %" PRIu64 ", known: 0 to 4",
                      r->registered_proof);
    TRY(fixed_bytes(out->comm_r_old, &r->comm_r_old, "comm_r_old"));
    TRY(fixed_bytes(out->comm_r_new, &r->comm_r_new, "comm_r_new"));
    return fixed_bytes(out->comm_d_new, &r->comm_d_new, "comm_d_new");
}

static cuzk_status from_circom(svc_request *out, const cuzk_request *r)
{
    if (r->circuit == NULL || r->circuit[0] == 0)
        return REFUSE("circuit", "no circuit named: GROTH16 proves circuits of the configuration");
    if (strlen(r->circuit) >= sizeof out->circuit)
        return REFUSE("circuit", "circuit name of %zu bytes, limit %zu", strlen(r->circuit),
                      sizeof out->circuit - 1);
    if ((r->witness.size == 0) == (r->input_json.size == 0))
        return REFUSE("witness", r->witness.size == 0 ? "neither witness nor input_json is given"
                                                      : "both witness and input_json are given");
    memcpy(out->circuit, r->circuit, strlen(r->circuit) + 1);
    out->input_json = r->input_json.size != 0;
    return CUZK_OK;
}

static cuzk_status check_size(const cuzk_request *r)
{
    uint32_t of = r->kind == CUZK_AGGREGATE ? r->aggregate_of : r->kind;

    if (of == CUZK_GROTH16 || (of == CUZK_UPDATE && r->sector_size == 0)) return CUZK_OK;
    if (r->sector_size == 0)
        return REFUSE("sector_size", "sector_size is 0; only SnapDeals may leave it out");
    const fil_size *size = fil_size_by_bytes(r->sector_size);
    if (size == NULL || size->registered < 0)
        return REFUSE("sector_size", "sector_size %" PRIu64 " is none of the network's",
                      r->sector_size);
    return CUZK_OK;
}

cuzk_status svc_request_from(svc_request *out, const cuzk_request *r)
{
    memset(out, 0, sizeof *out);
    TRY(check_head(r));
    TRY(check_size(r));
    out->kind = r->kind;
    out->partition_index = r->partition_index;
    out->sector_size = r->sector_size;
    out->registered_proof = r->registered_proof;
    out->sector_number = r->sector_number;
    out->miner_id = r->miner_id;
    if (r->owner != NULL) memcpy(out->owner, r->owner, strlen(r->owner) + 1);
    switch (r->kind) {
    case CUZK_POREP: return from_porep(out, r);
    case CUZK_UPDATE: return from_update(out, r);
    case CUZK_GROTH16: return from_circom(out, r);
    case CUZK_AGGREGATE: return svc_aggregate_from(out, r);
    default: return from_post(out, r);
    }
}

void svc_request_clear(svc_request *r)
{
    free(r->piece_sizes);
    r->piece_sizes = NULL;
}

/* ---- what makes two requests the same ---- */

static void hash_u64(sha256_ctx *c, uint64_t v)
{
    uint8_t b[8];

    store_u64le(b, v);
    sha256_update(c, b, sizeof b);
}

/* A long one by the hashes of its halves, which are made together in little more than the time of one; what does not fill two
   blocks is hashed as it is. Its length, which comes first, tells which of the two forms this is. */
static void hash_bytes(sha256_ctx *c, const cuzk_bytes *b)
{
    size_t half = b->size < MIN_HALVED ? 0 : b->size / 128 * 64;
    uint8_t digests[64];

    hash_u64(c, b->size);
    if (half != 0) {
        sha256_two(digests, digests + 32, b->data, b->data + half, half);
        sha256_update(c, digests, sizeof digests);
    }
    if (b->size != 2 * half) sha256_update(c, b->data + 2 * half, b->size - 2 * half);
}

void svc_request_hash(uint8_t out[32], const cuzk_request *r)
{
    sha256_ctx c;
    cuzk_bytes circuit = {(const uint8_t *)r->circuit, r->circuit == NULL ? 0 : strlen(r->circuit)};
    cuzk_bytes owner = {(const uint8_t *)r->owner, r->owner == NULL ? 0 : strlen(r->owner)};

    sha256_init(&c);
    hash_u64(&c, r->kind);
    hash_u64(&c, r->sector_size);
    hash_u64(&c, r->registered_proof);
    hash_u64(&c, r->sector_number);
    hash_u64(&c, r->miner_id);
    hash_u64(&c, r->partition_index);
    hash_bytes(&c, &r->vanilla_proof);
    hash_u64(&c, r->n_vanilla_proofs);
    for (size_t i = 0; i < r->n_vanilla_proofs; i++) hash_bytes(&c, &r->vanilla_proofs[i]);
    hash_bytes(&c, &r->randomness);
    hash_bytes(&c, &r->comm_r_old);
    hash_bytes(&c, &r->comm_r_new);
    hash_bytes(&c, &r->comm_d_new);
    hash_bytes(&c, &circuit);
    hash_bytes(&c, &r->witness);
    hash_bytes(&c, &r->input_json);
    if (r->kind == CUZK_AGGREGATE) svc_aggregate_hash(&c, r);
    /* nothing of nobody's: as it was before jobs had owners */
    if (owner.size != 0) hash_bytes(&c, &owner);
    sha256_final(&c, out);
}

/* ---- for the store ---- */

void svc_request_write(bytes_out *o, const svc_request *r)
{
    unsigned format = r->kind == CUZK_AGGREGATE ? FORMAT_AGGREGATE : FORMAT;
    bool owned = r->owner[0] != 0;

    bytes_put_u8(o, (uint8_t)(format | (owned ? OWNED : 0)));
    if (owned) bytes_put(o, r->owner, sizeof r->owner);
    bytes_put_u32le(o, r->kind);
    bytes_put_u32le(o, r->partition_index);
    bytes_put_u64le(o, r->sector_size);
    bytes_put_u64le(o, r->registered_proof);
    bytes_put_u64le(o, r->sector_number);
    bytes_put_u64le(o, r->miner_id);
    bytes_put(o, r->randomness, 32);
    bytes_put(o, r->comm_r_old, 32);
    bytes_put(o, r->comm_r_new, 32);
    bytes_put(o, r->comm_d_new, 32);
    bytes_put(o, r->circuit, sizeof r->circuit);
    bytes_put_u8(o, r->input_json);
    bytes_put_u32le(o, r->c1_registered);
    bytes_put_u32le(o, r->c1_layers);
    bytes_put_u64le(o, r->c1_size);
    bytes_put_u8(o, r->c1_wrapped);
    bytes_put_u64le(o, r->c1_sector);
    if (r->kind == CUZK_AGGREGATE) {
        bytes_put_u32le(o, r->aggregate_of);
        bytes_put_u32le(o, r->aggregate_version);
        bytes_put_u8(o, r->trust_inputs);
    }
    bytes_put_u32le(o, r->n_pieces);
    for (uint32_t i = 0; i < r->n_pieces; i++) bytes_put_u64le(o, r->piece_sizes[i]);
}

static cuzk_status read_fields(svc_request *r, bytes_in *in)
{
    uint8_t format, flag;

    TRY(bytes_get_u8(in, &format));
    if ((format & OWNED) != 0) TRY(bytes_get(in, r->owner, sizeof r->owner));
    format = (uint8_t)(format & (OWNED - 1));
    if (format != FORMAT && format != FORMAT_AGGREGATE)
        return FAIL(CUZK_EDATA, "stored request of format %u, known: %u, %u", format, FORMAT,
                    FORMAT_AGGREGATE);
    TRY(bytes_get_u32le(in, &r->kind));
    TRY(bytes_get_u32le(in, &r->partition_index));
    TRY(bytes_get_u64le(in, &r->sector_size));
    TRY(bytes_get_u64le(in, &r->registered_proof));
    TRY(bytes_get_u64le(in, &r->sector_number));
    TRY(bytes_get_u64le(in, &r->miner_id));
    TRY(bytes_get(in, r->randomness, 32));
    TRY(bytes_get(in, r->comm_r_old, 32));
    TRY(bytes_get(in, r->comm_r_new, 32));
    TRY(bytes_get(in, r->comm_d_new, 32));
    TRY(bytes_get(in, r->circuit, sizeof r->circuit));
    TRY(bytes_get_u8(in, &flag));
    r->input_json = flag != 0;
    TRY(bytes_get_u32le(in, &r->c1_registered));
    TRY(bytes_get_u32le(in, &r->c1_layers));
    TRY(bytes_get_u64le(in, &r->c1_size));
    TRY(bytes_get_u8(in, &flag));
    r->c1_wrapped = flag != 0;
    TRY(bytes_get_u64le(in, &r->c1_sector));
    if (format == FORMAT_AGGREGATE) {
        TRY(bytes_get_u32le(in, &r->aggregate_of));
        TRY(bytes_get_u32le(in, &r->aggregate_version));
        TRY(bytes_get_u8(in, &flag));
        r->trust_inputs = flag != 0;
    }
    return bytes_get_u32le(in, &r->n_pieces);
}

cuzk_status svc_request_read(svc_request *out, const uint8_t *data, size_t size)
{
    bytes_in in = bytes_in_of(data, size);
    svc_request r = {0};

    TRY(read_fields(&r, &in));
    if (cuzk_kind_name(r.kind) == NULL || r.circuit[sizeof r.circuit - 1] != 0 ||
        r.owner[sizeof r.owner - 1] != 0 || r.n_pieces > MAX_PIECES ||
        bytes_left(&in) != (size_t)r.n_pieces * 8)
        return FAIL(CUZK_EDATA, "stored request of %zu bytes is damaged", size);
    r.piece_sizes = calloc((size_t)r.n_pieces + 1, sizeof *r.piece_sizes);
    if (r.piece_sizes == NULL) return FAIL(CUZK_ENOMEM, "stored request: out of memory");
    for (uint32_t i = 0; i < r.n_pieces; i++, in.pos += 8)
        r.piece_sizes[i] = load_u64le(in.data + in.pos); /* there, by the check above */
    *out = r;
    return CUZK_OK;
}
