/*
 * engine/inspect_filecoin.c - what Filecoin's documents say: statements, C1 outputs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/porep.h"
#include "circuit/filecoin/post.h"
#include "circuit/filecoin/update.h"
#include "engine/inspect.h"

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
