/*
 * engine/inspect.c - what a file is, its sections and sizes, and what is wrong with it
 *
 * A key is checked to its last point here: encoding, curve, subgroup. Loading a key for a proof does less.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "engine/inspect.h"

#include "base/json.h"
#include "groth16/aggregate.h"
#include "r1cs/circom.h"

#include <string.h>

void inspect_put_text(bytes_out *o, const char *key, const char *value)
{
    bytes_printf(o, ",\"%s\":", key);
    json_put_string(o, value);
}

void inspect_put_u64(bytes_out *o, const char *key, uint64_t v)
{
    bytes_printf(o, ",\"%s\":%llu", key, (unsigned long long)v);
}

static const char *curve_name(curve_id id)
{
    return curve_get(id, CPU_TABLE_GENERIC)->name;
}

static const char *section_name(const char *magic, uint32_t id)
{
    static const char *const zkey[] = {"protocol", "header", "IC", "coefficients", "A", "B1",
                                       "B2",       "C",      "H",  "ceremony"};
    static const char *const r1cs[] = {"header", "constraints", "wire map", "custom gates",
                                       "custom gate uses"};
    static const char *const wtns[] = {"header", "values"};

    if (strcmp(magic, "zkey") == 0 && id >= 1 && id <= 10) return zkey[id - 1];
    if (strcmp(magic, "r1cs") == 0 && id >= 1 && id <= 5) return r1cs[id - 1];
    if (strcmp(magic, "wtns") == 0 && id >= 1 && id <= 2) return wtns[id - 1];
    return "?";
}

static void put_sections(bytes_out *o, const circom_file *f)
{
    bytes_printf(o, ",\"sections\":[");
    for (uint32_t i = 0; i < f->n_sections; i++)
        bytes_printf(o, "%s{\"id\":%u,\"name\":\"%s\",\"bytes\":%zu}", i == 0 ? "" : ",",
                     f->sections[i].id, section_name(f->magic, f->sections[i].id),
                     f->sections[i].body.size);
    bytes_printf(o, "]");
}

static cuzk_status look_points(inspect *x, const groth16_pk *pk)
{
    bool deep;
    cuzk_status st = engine_check_key(pk, x->e->pool, x->e->cancel, &deep);

    if (st == CUZK_OK && !deep)
        inspect_put_text(
            x->o, "note",
            "points are on their curve; their subgroup is for `cuzk params check --deep`");
    return st;
}

static cuzk_status look_zkey(inspect *x)
{
    groth16_zkey_info info;
    groth16_pk *pk;

    TRY(groth16_zkey_info_read(&info, x->data, x->size));
    inspect_put_text(x->o, "curve", curve_name(info.curve));
    inspect_put_u64(x->o, "wires", info.n_vars);
    inspect_put_u64(x->o, "public", info.n_public);
    inspect_put_u64(x->o, "domain", info.domain_size);
    inspect_put_u64(x->o, "coefficients", info.n_coeffs);
    inspect_put_u64(x->o, "contributions", info.n_contributions);
    TRY(groth16_zkey_open(&pk, x->path, x->e->table, x->e->pool, x->e->m));
    cuzk_status st = look_points(x, pk);
    groth16_pk_free(pk);
    return st;
}

static cuzk_status look_r1cs(inspect *x)
{
    circom_r1cs_info info;
    r1cs_system *sys;

    TRY(circom_r1cs_info_read(&info, x->data, x->size));
    inspect_put_text(x->o, "curve", curve_name(info.curve));
    inspect_put_u64(x->o, "wires", info.n_wires);
    inspect_put_u64(x->o, "public_outputs", info.n_pub_out);
    inspect_put_u64(x->o, "public_inputs", info.n_pub_in);
    inspect_put_u64(x->o, "private_inputs", info.n_prv_in);
    inspect_put_u64(x->o, "constraints", info.n_constraints);
    TRY(circom_r1cs_read(&sys, x->data, x->size, x->e->table, x->e->m));
    inspect_put_u64(x->o, "domain", (uint64_t)1 << r1cs_log_domain(sys, 1));
    r1cs_free(sys);
    return CUZK_OK;
}

static cuzk_status look_wtns(inspect *x)
{
    circom_wtns_info info;
    r1cs_assignment *w;

    TRY(circom_wtns_info_read(&info, x->data, x->size));
    inspect_put_text(x->o, "curve", curve_name(info.curve));
    inspect_put_u64(x->o, "values", info.n_values);
    TRY(circom_wtns_read(&w, x->data, x->size, curve_get(info.curve, x->e->table), info.n_values, 0,
                         x->e->pool, x->e->m));
    r1cs_assignment_free(w);
    return CUZK_OK;
}

static cuzk_status look_container(inspect *x, const char *magic)
{
    circom_file f;

    inspect_put_text(x->o, "type", magic);
    TRY(circom_file_read(&f, x->data, x->size, magic));
    inspect_put_u64(x->o, "version", f.version);
    put_sections(x->o, &f);
    if (strcmp(magic, "zkey") == 0) return look_zkey(x);
    if (strcmp(magic, "r1cs") == 0) return look_r1cs(x);
    if (strcmp(magic, "wtns") == 0) return look_wtns(x);
    return CUZK_OK;
}

/* ---- JSON ---- */

static cuzk_status look_proof_json(inspect *x)
{
    cuzk_status st = CUZK_OK;
    inspect_put_text(x->o, "type", "groth16 proof (JSON)");
    for (curve_id id = 0; id < CURVE_IDS; id++) {
        groth16_proof p;
        st = groth16_proof_from_json(&p, curve_get(id, x->e->table), x->data, x->size);
        if (st != CUZK_OK) continue;
        inspect_put_text(x->o, "curve", curve_name(id));
        return CUZK_OK;
    }
    return st;
}

static cuzk_status look_vk_json(inspect *x)
{
    groth16_vk *vk;

    inspect_put_text(x->o, "type", "groth16 verification key (JSON)");
    TRY(groth16_vk_from_json(&vk, x->data, x->size, x->e->table, x->e->m));
    inspect_put_text(x->o, "curve", vk->cv->name);
    inspect_put_u64(x->o, "public", vk->n_ic - 1);
    groth16_vk_free(vk);
    return CUZK_OK;
}

static cuzk_status look_public(inspect *x)
{
    fr *v;
    size_t n;

    inspect_put_text(x->o, "type", "public signals (JSON)");
    TRY(groth16_public_from_json(&v, &n, curve_get(CURVE_ID_BLS12_381, x->e->table), x->data,
                                 x->size, x->e->m));
    inspect_put_u64(x->o, "public", n);
    mem_free(x->e->m, v);
    return CUZK_OK;
}

/** Goes by the names of an object's members. */
static cuzk_status look_object(inspect *x, json_in *j)
{
    static const struct {
        const char *member;
        cuzk_status (*look)(inspect *x);
    } kinds[] = {
        {"pi_a", look_proof_json},
        {"vk_alpha_1", look_vk_json},
        {"randomness", inspect_post_statement},
        {"Randomness", inspect_post_statement},
        {"registered_seal_proof", inspect_porep_statement},
        {"comm_r_old", inspect_update_statement},
        {"registered_update_proof", inspect_update_statement},
        {"registered_proof", inspect_c1},
        {"vanilla_proofs", inspect_c1},
        {"Phase1Out", inspect_c1},
    };
    json_token t;

    for (;;) {
        TRY(json_next(j, &t));
        if (t.type == JSON_OBJECT_END) break;
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            if (json_is(&t, kinds[i].member)) return kinds[i].look(x);
        TRY(json_skip(j));
    }
    inspect_put_text(x->o, "type", "JSON object of an unknown kind");
    return json_expect(j, JSON_END, &t, "end");
}

static cuzk_status look_json(inspect *x)
{
    json_in j;
    json_token t;

    TRY(json_init(&j, x->data, x->size));
    TRY(json_next(&j, &t));
    return t.type == JSON_ARRAY ? look_public(x) : look_object(x, &j);
}

/* ---- bellperson's binary forms: no magic; tried in turn ---- */

static cuzk_status look_proof_bytes(inspect *x)
{
    const curve *cv = curve_get(CURVE_ID_BLS12_381, x->e->table);
    size_t n = x->size / GROTH16_PROOF_BYTES;

    inspect_put_text(x->o, "type", "groth16 proof (192 bytes a partition)");
    inspect_put_text(x->o, "curve", cv->name);
    inspect_put_u64(x->o, "partitions", n);
    for (size_t i = 0; i < n; i++) {
        groth16_proof p;
        cuzk_status st = groth16_proof_read(&p, cv, x->data + i * GROTH16_PROOF_BYTES);
        if (st != CUZK_OK) {
            status_add_where("partition %zu", i);
            return st;
        }
    }
    return CUZK_OK;
}

static cuzk_status look_params(inspect *x, const curve *cv)
{
    groth16_pk *pk;

    inspect_put_text(x->o, "type", "params (bellperson proving key)");
    TRY(groth16_params_open(&pk, x->path, cv, NULL, x->e->m));
    const struct {
        const char *name;
        const dev_points *p;
    } lists[] = {
        {"h", &pk->h}, {"l", &pk->l}, {"a", &pk->a}, {"b_g1", &pk->b_g1}, {"b_g2", &pk->b_g2}};
    inspect_put_text(x->o, "curve", cv->name);
    inspect_put_u64(x->o, "ic", pk->vk->n_ic);
    for (size_t i = 0; i < 5; i++) inspect_put_u64(x->o, lists[i].name, lists[i].p->n);
    cuzk_status st = look_points(x, pk);
    groth16_pk_free(pk);
    return st;
}

/* ---- aggregates and their powers ---- */

/** The length says how many proofs, and so does the file: nothing else looks like it. */
static bool is_aggregate(const inspect *x)
{
    uint32_t n;

    if (x->size < aggregate_size(2)) return false;
    n = load_u32le(x->data + AGGREGATE_COUNT_AT);
    return n >= 2 && (n & (n - 1)) == 0 && n <= AGGREGATE_MAX && x->size == aggregate_size(n);
}

static cuzk_status look_aggregate(inspect *x)
{
    uint32_t n;

    inspect_put_text(x->o, "type", "aggregate of groth16 proofs (SnarkPack)");
    inspect_put_text(x->o, "curve", curve_name(CURVE_ID_BLS12_381));
    inspect_put_u64(x->o, "proofs", load_u32le(x->data + AGGREGATE_COUNT_AT));
    return aggregate_inspect(&n, x->data, x->size, x->e->table, x->e->pool, x->e->m);
}

/** A count, big-endian, and a compressed point. */
static bool is_srs(const inspect *x)
{
    if (x->size < 5) return false;
    uint32_t n = load_u32be(x->data);
    return n >= 2 && n <= AGGREGATE_SRS_MAX && (x->data[4] & 0x80) != 0;
}

static cuzk_status look_srs(inspect *x, const curve *cv)
{
    groth16_key_check o = {.subgroup = true, .cancel = x->e->cancel};
    static const char *const names[] = {"g_alpha", "g_beta", "h_alpha", "h_beta"};
    aggregate_srs *srs;

    inspect_put_text(x->o, "type", "srs (powers for aggregates)");
    inspect_put_text(x->o, "curve", cv->name);
    TRY(aggregate_srs_read(&srs, x->data, x->size, cv, x->e->m));
    for (size_t i = 0; i < 4; i++) inspect_put_u64(x->o, names[i], srs->power[i].n);
    inspect_put_u64(x->o, "proofs", aggregate_srs_capacity(srs));
    cuzk_status st = aggregate_srs_check(srs, &o, x->e->pool);
    aggregate_srs_free(srs);
    return st;
}

static cuzk_status look_derived(inspect *x)
{
    groth16_derived_info i;
    char source[GROTH16_SOURCE_BYTES + 1] = {0};

    inspect_put_text(x->o, "type", "derived points of a key");
    TRY(groth16_derived_info_read(&i, x->data, x->size, x->e->cancel));
    memcpy(source, i.source, GROTH16_SOURCE_BYTES);
    inspect_put_text(x->o, "curve", curve_name(CURVE_ID_BLS12_381));
    inspect_put_u64(x->o, "log_n", i.log_n);
    inspect_put_u64(x->o, "inputs", i.n_inputs);
    inspect_put_u64(x->o, "aux", i.n_aux);
    inspect_put_text(x->o, "params_digest", source);
    return CUZK_OK;
}

static cuzk_status look_binary(inspect *x)
{
    const curve *cv = curve_get(CURVE_ID_BLS12_381, x->e->table);
    groth16_vk *vk;
    size_t used;
    bool known;

    if (groth16_vk_read(&vk, x->data, x->size, &used, cv, x->e->m) == CUZK_OK) {
        uint32_t n_ic = vk->n_ic;
        groth16_vk_free(vk);
        if (used != x->size) return look_params(x, cv);
        inspect_put_text(x->o, "type", "vk (bellperson verifying key)");
        inspect_put_text(x->o, "curve", cv->name);
        inspect_put_u64(x->o, "ic", n_ic);
        return CUZK_OK;
    }
    if (is_srs(x)) return look_srs(x, cv);
    if (x->size != 0 && x->size % GROTH16_PROOF_BYTES == 0 && (x->data[0] & 0x80) != 0)
        return look_proof_bytes(x);
    TRY(inspect_vanilla(x, &known));
    if (known) return CUZK_OK;
    inspect_put_text(x->o, "type", "unknown");
    if (x->size == 0) return FAIL_DATA(MALFORMED, "file", "the file is empty");
    return FAIL_DATA(MALFORMED, "file",
                     "no format that cuzk knows (r1cs, wtns, zkey, JSON, vk, params, srs, proof, "
                     "aggregate, vanilla "
                     "proof)");
}

static cuzk_status look(inspect *x)
{
    static const char *const magics[] = {"r1cs", "wtns", "zkey", "ptau"};
    size_t i = 0;

    if (is_aggregate(x)) return look_aggregate(x);
    if (groth16_is_derived(x->data, x->size)) return look_derived(x);
    for (size_t k = 0; k < 4; k++)
        if (x->size >= 4 && memcmp(x->data, magics[k], 4) == 0) return look_container(x, magics[k]);
    while (i < x->size && strchr(" \t\r\n", x->data[i]) != NULL && x->data[i] != 0) i++;
    if (i < x->size && (x->data[i] == '{' || x->data[i] == '[')) return look_json(x);
    return look_binary(x);
}

static cuzk_status inspect_file(cuzk_engine *e, const char *path, cuzk_buffer *json)
{
    file_map f;
    bytes_out o;
    cuzk_error err = {0};

    TRY(file_map_open(&f, path));
    bytes_out_init(&o, e->m);
    inspect x = {e, path, f.data, f.size, &o};
    bytes_printf(&o, "{\"file\":");
    json_put_string(&o, path);
    inspect_put_u64(&o, "bytes", f.size);
    cuzk_status st = look(&x);
    if (st != CUZK_OK) err = *cuzk_last_error();
    if (st == CUZK_OK || st == CUZK_EDATA) {
        bytes_printf(&o, ",\"ok\":%s", st == CUZK_OK ? "true" : "false");
        if (st != CUZK_OK) {
            inspect_put_text(&o, "class", cuzk_class_name(err.klass));
            inspect_put_text(&o, "where", err.where);
            inspect_put_text(&o, "message", err.message);
        }
        bytes_printf(&o, "}");
        cuzk_status st2 = buffer_from_out(json, &o);
        if (st2 != CUZK_OK) st = st2;
    }
    bytes_out_clear(&o);
    file_map_close(&f);
    return st == CUZK_EDATA ? status_adopt(&err) : st;
}

cuzk_status cuzk_inspect(cuzk_engine *e, const char *path, cuzk_buffer *json)
{
    job j;
    TRY(job_begin(&j, e));
    span sp = span_open(SPAN_READ_INPUT);
    cuzk_status st = inspect_file(e, path, json);
    span_close(&sp);
    job_end(&j);
    return st;
}
