/*
 * engine/inspect_filecoin.c - what Filecoin's documents say: statements, C1 outputs, vanilla proofs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/bincode.h"
#include "circuit/filecoin/porep.h"
#include "circuit/filecoin/post.h"
#include "circuit/filecoin/update.h"
#include "engine/inspect.h"

#include <inttypes.h>

cuzk_status inspect_post_statement(inspect *x)
{
    post_statement *s;
    cuzk_status st;

    inspect_put_text(x->o, "type", "PoSt statement (JSON)");
    fil_kind kind = FIL_WINDOW;
    st = post_statement_read(&s, x->data, x->size, kind, x->e->m);
    if (st != CUZK_OK) {
        kind = FIL_WINNING;
        st = post_statement_read(&s, x->data, x->size, kind, x->e->m);
    }
    TRY(st);
    inspect_put_text(x->o, "kind", fil_kind_name(kind));
    inspect_put_u64(x->o, "sector_size", s->size->bytes);
    inspect_put_u64(x->o, "miner_id", s->miner_id);
    inspect_put_u64(x->o, "sectors", s->n_sectors);
    inspect_put_u64(x->o, "partitions", post_partitions(s));
    post_statement_free(s);
    return CUZK_OK;
}

static void put_hash(bytes_out *o, const char *key, const uint8_t hash[32])
{
    char hex[65];

    hex_encode(hex, hash, 32);
    inspect_put_text(o, key, hex);
}

static void put_shape(bytes_out *o, uint32_t registered, const fil_size *s, uint32_t layers)
{
    char name[64];

    porep_name(name, registered, s);
    inspect_put_text(o, "registered_proof", name);
    inspect_put_u64(o, "sector_size", s->bytes);
    inspect_put_u64(o, "layers", layers);
}

cuzk_status inspect_porep_statement(inspect *x)
{
    porep_statement s;
    porep_derived d;

    inspect_put_text(x->o, "type", "PoRep statement (JSON)");
    TRY(porep_statement_read(&s, x->data, x->size));
    porep_derive(&d, &s);
    inspect_put_text(x->o, "kind", fil_kind_name(FIL_POREP));
    put_shape(x->o, s.registered, s.shape.size, s.shape.layers);
    inspect_put_u64(x->o, "miner_id", s.miner_id);
    inspect_put_u64(x->o, "sector_number", s.sector_number);
    inspect_put_u64(x->o, "partitions", d.n_partitions);
    put_hash(x->o, "replica_id", d.replica_id);
    put_hash(x->o, "comm_d", s.comm_d);
    put_hash(x->o, "comm_r", s.comm_r);
    return CUZK_OK;
}

cuzk_status inspect_update_statement(inspect *x)
{
    update_statement s;

    inspect_put_text(x->o, "type", "update statement (JSON)");
    TRY(update_statement_read(&s, x->data, x->size, FIL_UPDATE));
    inspect_put_text(x->o, "kind", fil_kind_name(FIL_UPDATE));
    inspect_put_u64(x->o, "sector_size", s.shape.size->bytes);
    inspect_put_u64(x->o, "partitions", s.shape.n_partitions);
    inspect_put_u64(x->o, "challenges", s.shape.n_challenges);
    put_hash(x->o, "comm_r_old", s.comm_r_old);
    put_hash(x->o, "comm_r_new", s.comm_r_new);
    put_hash(x->o, "comm_d_new", s.comm_d_new);
    return CUZK_OK;
}

cuzk_status inspect_c1(inspect *x)
{
    porep_c1 *c1;

    inspect_put_text(x->o, "type", "PoRep C1 output (JSON)");
    TRY(porep_c1_read(&c1, x->data, x->size, NULL, x->e->m));
    inspect_put_text(x->o, "kind", fil_kind_name(FIL_POREP));
    put_shape(x->o, c1->registered, c1->size, c1->layout.layers);
    if (c1->wrapped) inspect_put_u64(x->o, "sector_number", c1->sector_number);
    inspect_put_u64(x->o, "partitions", c1->n_partitions);
    inspect_put_u64(x->o, "challenges", c1->n_challenges);
    put_hash(x->o, "replica_id", c1->replica_id);
    put_hash(x->o, "comm_d", c1->comm_d);
    put_hash(x->o, "comm_r", c1->comm_r);
    porep_c1_free(c1);
    return CUZK_OK;
}

/* ---- vanilla proofs in bincode ---- */

#define POST_HEAD 56u   /* sector number, comm_r, two counts */
#define POST_ENDS 120u  /* these, comm_c and comm_r_last */
#define UPDATE_HEAD 40u /* comm_c, a count */

static cuzk_status read_proofs(bytes_in *in, const bincode_proof *const *p, unsigned n_kinds,
                               uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (unsigned k = 0; k < n_kinds; k++) {
            cuzk_status st = bincode_read_proof(in, p[k]);
            if (st != CUZK_OK) {
                status_add_where("challenge %" PRIu32, i);
                return st;
            }
        }
    return CUZK_OK;
}

/** A sector's proof with n challenges. */
static cuzk_status look_post(inspect *x, const fil_size *s, const bincode_proof *p, uint32_t n)
{
    bytes_in in = bytes_in_of(x->data, x->size);
    uint64_t number;

    inspect_put_text(x->o, "type", "PoSt vanilla proof (bincode)");
    TRY(bytes_get_u64le(&in, &number));
    TRY(bincode_fr(&in, "comm_r"));
    inspect_put_text(x->o, "kind", n > 10 ? "winning" : "window");
    inspect_put_u64(x->o, "sector_size", s->bytes);
    inspect_put_u64(x->o, "sector_number", number);
    put_hash(x->o, "comm_r", x->data + 8);
    inspect_put_u64(x->o, "challenges", n);
    TRY(bytes_skip(&in, POST_HEAD - in.pos));
    TRY(read_proofs(&in, &p, 1, n));
    TRY(bincode_fr(&in, "comm_c"));
    TRY(bincode_fr(&in, "comm_r_last"));
    return bincode_end(&in);
}

static cuzk_status look_update(inspect *x, const update_shape *s, const bincode_proof *r,
                               const bincode_proof *d)
{
    const bincode_proof *const three[] = {r, d, r};
    bytes_in in = bytes_in_of(x->data, x->size);

    inspect_put_text(x->o, "type", "update vanilla proof of a partition (bincode)");
    TRY(bincode_fr(&in, "comm_c"));
    inspect_put_text(x->o, "kind", fil_kind_name(FIL_UPDATE));
    inspect_put_u64(x->o, "sector_size", s->size->bytes);
    inspect_put_u64(x->o, "challenges", s->n_challenges);
    TRY(bytes_skip(&in, UPDATE_HEAD - in.pos));
    for (uint32_t i = 0; i < s->n_apex; i++) TRY(bincode_fr(&in, "apex leaf"));
    TRY(bincode_count(&in, s->n_challenges, (size_t)3 * BINCODE_PROOF_MIN, "challenges"));
    TRY(read_proofs(&in, three, 3, s->n_challenges));
    return bincode_end(&in);
}

static bool is_post(const inspect *x, const bincode_proof *p, uint32_t n)
{
    return x->size == POST_ENDS + (uint64_t)n * p->size && load_u64le(x->data + 40) == 1 &&
           load_u64le(x->data + 48) == n;
}

static bool is_update(const inspect *x, const update_shape *s, const bincode_proof *r,
                      const bincode_proof *d)
{
    uint64_t proofs = s->n_challenges * (2 * (uint64_t)r->size + d->size);

    return x->size == UPDATE_HEAD + (uint64_t)s->n_apex * BINCODE_HASH_SIZE + 8 + proofs &&
           load_u64le(x->data + 32) == s->n_apex;
}

cuzk_status inspect_vanilla(inspect *x, bool *known)
{
    static const uint32_t challenges[] = {10, 66}; /* window, winning */
    size_t n;
    const fil_size *s = fil_sizes(&n);
    bincode_proof r, d;
    update_shape shape;

    *known = true;
    for (size_t i = 0; i < n; i++) {
        bincode_proof_r(&r, &s[i]);
        bincode_proof_d(&d, &s[i]);
        for (size_t k = 0; k < 2 && fil_exists(FIL_WINDOW, &s[i]); k++)
            if (is_post(x, &r, challenges[k])) return look_post(x, &s[i], &r, challenges[k]);
        if (!fil_exists(FIL_UPDATE, &s[i])) continue;
        TRY(update_shape_of(&shape, FIL_UPDATE, &s[i]));
        if (is_update(x, &shape, &r, &d)) return look_update(x, &shape, &r, &d);
    }
    *known = false;
    return CUZK_OK;
}
