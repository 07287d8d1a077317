/*
 * groth16/proof_json.c - snarkjs's proof.json, public.json and verification_key.json
 *
 * Source: spec/circom-formats.md section 7.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/json.h"
#include "groth16/internal.h"

#include <stdio.h>
#include <string.h>

#define JSON_MAX_PUBLIC (1u << 26)
/* Shortest element of a JSON list of points or numbers: bounds a count by the file's size. */
#define MIN_NUMBER_TEXT 2

/** Reads n decimal strings, in nested lists of `inner` strings each (0: flat), into tokens. */
static cuzk_status read_strings(json_in *j, json_token *t, size_t n, size_t inner, const char *what)
{
    json_token x;

    TRY(json_expect(j, JSON_ARRAY, &x, what));
    for (size_t i = 0; i < n; i++) {
        if (inner != 0 && i % inner == 0) TRY(json_expect(j, JSON_ARRAY, &x, what));
        TRY(json_expect(j, JSON_STRING, &t[i], what));
        if (inner != 0 && i % inner == inner - 1) TRY(json_expect(j, JSON_ARRAY_END, &x, what));
    }
    return json_expect(j, JSON_ARRAY_END, &x, what);
}

/** inf_ok: a proof's point may be infinity (C of a circuit without private wires at r = s = 0), a key's may not. */
static cuzk_status check_point(point_err e, bool inf, bool inf_ok, bool in_subgroup,
                               const char *what)
{
    if (e != POINT_OK) return FAIL_DATA(MALFORMED, what, "%s: %s", what, point_err_text(e));
    if (inf && !inf_ok) return FAIL_DATA(MALFORMED, what, "%s is the point at infinity", what);
    if (!in_subgroup)
        return FAIL_DATA(MALFORMED, what, "%s is not in the subgroup of order r", what);
    return CUZK_OK;
}

static cuzk_status read_g1(json_in *j, const curve *cv, g1_any *out, bool inf_ok, const char *what)
{
    json_token t[3];
    g1_any p;
    memset(&p, 0, sizeof p);

    TRY(read_strings(j, t, 3, 0, what));
    bool inf = json_is(&t[2], "0");
    if (!inf && !json_is(&t[2], "1"))
        return FAIL_DATA(MALFORMED, what, "%s: third coordinate is %.*s, must be 1", what,
                         (int)(t[2].len < 40 ? t[2].len : 40), t[2].text);
    const char *xy[2] = {t[0].text, t[1].text};
    const size_t len[2] = {t[0].len, t[1].len};
    point_err e = inf ? POINT_OK : cv->g1_from_dec(&p, xy, len);
    TRY(check_point(e, inf, inf_ok, inf || e != POINT_OK || cv->g1_in_subgroup(&p), what));
    *out = p;
    return CUZK_OK;
}

static cuzk_status read_g2(json_in *j, const curve *cv, g2_any *out, bool inf_ok, const char *what)
{
    json_token t[6];
    g2_any p;
    memset(&p, 0, sizeof p);

    TRY(read_strings(j, t, 6, 2, what));
    bool inf = json_is(&t[4], "0") && json_is(&t[5], "0");
    if (!inf && !(json_is(&t[4], "1") && json_is(&t[5], "0")))
        return FAIL_DATA(MALFORMED, what, "%s: third coordinate must be 1, 0", what);
    const char *c[4] = {t[0].text, t[1].text, t[2].text, t[3].text};
    const size_t len[4] = {t[0].len, t[1].len, t[2].len, t[3].len};
    point_err e = inf ? POINT_OK : cv->g2_from_dec(&p, c, len);
    TRY(check_point(e, inf, inf_ok, inf || e != POINT_OK || cv->g2_in_subgroup(&p), what));
    *out = p;
    return CUZK_OK;
}

static cuzk_status check_protocol(json_in *j)
{
    json_token t;
    TRY(json_expect(j, JSON_STRING, &t, "protocol"));
    if (!json_is(&t, "groth16"))
        return FAIL_DATA(SHAPE, "protocol", "protocol is %.*s, must be groth16",
                         (int)(t.len < 40 ? t.len : 40), t.text);
    return CUZK_OK;
}

static cuzk_status check_curve(json_in *j, const curve *cv)
{
    json_token t;
    char name[24];
    curve_id id;

    TRY(json_expect(j, JSON_STRING, &t, "curve"));
    size_t n = t.len < sizeof name - 1 ? t.len : sizeof name - 1;
    memcpy(name, t.text, n);
    name[n] = 0;
    if (t.len >= sizeof name || !curve_id_from_name(&id, name))
        return FAIL_DATA(MALFORMED, "curve", "unknown curve %s", name);
    if (id != cv->id)
        return FAIL_DATA(SHAPE, "curve", "curve is %s where %s is expected", name, cv->json_name);
    return CUZK_OK;
}

static cuzk_status missing(uint64_t seen, unsigned n, const char *const names[])
{
    for (unsigned i = 0; i < n; i++)
        if ((seen >> i & 1) == 0) return FAIL_DATA(MALFORMED, names[i], "missing %s", names[i]);
    return CUZK_OK;
}

cuzk_status groth16_proof_from_json(groth16_proof *out, const curve *cv, const uint8_t *json,
                                    size_t size)
{
    static const char *const names[] = {"pi_a", "pi_b", "pi_c", "protocol", "curve"};
    json_in j;
    json_token t;
    uint64_t seen = 0;
    groth16_proof p;

    TRY(json_init(&j, json, size));
    TRY(json_expect(&j, JSON_OBJECT, &t, "proof"));
    for (;;) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) break;
        unsigned k = 0;
        while (k < 5 && !json_is(&t, names[k])) k++;
        if (k < 5) TRY(json_seen(&seen, k, &t));
        switch (k) {
        case 0: TRY(read_g1(&j, cv, &p.a, true, "pi_a")); break;
        case 1: TRY(read_g2(&j, cv, &p.b, true, "pi_b")); break;
        case 2: TRY(read_g1(&j, cv, &p.c, true, "pi_c")); break;
        case 3: TRY(check_protocol(&j)); break;
        case 4: TRY(check_curve(&j, cv)); break;
        default: TRY(json_skip(&j)); break;
        }
    }
    TRY(json_expect(&j, JSON_END, &t, "end of proof"));
    TRY(missing(seen, 3, names));
    *out = p;
    return CUZK_OK;
}

cuzk_status groth16_public_from_json(fr **out, size_t *n, const curve *cv, const uint8_t *json,
                                     size_t size, mem *m)
{
    cuzk_status st = CUZK_OK;
    json_in j;
    json_token t;
    fr *v = NULL;
    size_t cap = size / MIN_NUMBER_TEXT + 1, k = 0;

    TRY(json_init(&j, json, size));
    TRY(json_expect(&j, JSON_ARRAY, &t, "public signals"));
    if (cap > JSON_MAX_PUBLIC) cap = JSON_MAX_PUBLIC;
    v = mem_new(m, cap, sizeof *v, &st);
    if (v == NULL) goto out;
    for (;;) {
        char where[48];
        TRY_OUT(json_next(&j, &t));
        if (t.type == JSON_ARRAY_END) break;
        snprintf(where, sizeof where, "public signal %zu", k);
        if (t.type != JSON_STRING && t.type != JSON_NUMBER) {
            st = FAIL_DATA(MALFORMED, where, "%s is neither a string nor a number", where);
            goto out;
        }
        if (k == cap) {
            st = FAIL_DATA(LIMIT, where, "more than %zu public signals", cap);
            goto out;
        }
        if (!cv->fr_from_dec(&v[k], t.text, t.len)) {
            st = FAIL_DATA(MALFORMED, where,
                           "%s is not a decimal number below the group order: %.*s", where,
                           (int)(t.len < 100 ? t.len : 100), t.text);
            goto out;
        }
        k++;
    }
    TRY_OUT(json_expect(&j, JSON_END, &t, "end of public signals"));
    *out = v;
    *n = k;
    v = NULL;
out:
    mem_free(m, v);
    return st;
}

/** Counts the points of the IC list without moving j. */
static cuzk_status count_list(json_in j, size_t *n)
{
    json_token t;
    *n = 0;
    TRY(json_expect(&j, JSON_ARRAY, &t, "IC"));
    for (;;) {
        json_in before = j;
        TRY(json_next(&j, &t));
        if (t.type == JSON_ARRAY_END) return CUZK_OK;
        j = before;
        TRY(json_skip(&j));
        (*n)++;
    }
}

static cuzk_status read_ic(json_in *j, groth16_vk **vk, const curve *cv, mem *m)
{
    json_token t;
    size_t n;

    TRY(count_list(*j, &n));
    if (n == 0 || n > JSON_MAX_PUBLIC)
        return FAIL_DATA(MALFORMED, "IC", "IC has %zu points, allowed 1..%u", n, JSON_MAX_PUBLIC);
    TRY(vk_new(vk, cv, (uint32_t)n, m));
    TRY(json_expect(j, JSON_ARRAY, &t, "IC"));
    for (size_t i = 0; i < n; i++) {
        char what[32];
        g1_any p;
        snprintf(what, sizeof what, "IC[%zu]", i);
        TRY(read_g1(j, cv, &p, false, what));
        memcpy((*vk)->ic + i * cv->g1_size, &p, cv->g1_size);
    }
    return json_expect(j, JSON_ARRAY_END, &t, "IC");
}

static const char *const vk_names[] = {"curve",     "nPublic",         "vk_alpha_1",
                                       "vk_beta_2", "vk_gamma_2",      "vk_delta_2",
                                       "IC",        "vk_alphabeta_12", "protocol"};
#define VK_NAMES 9
#define VK_REQUIRED 7

/** The curve of a vk: its "curve" member may come after the points. */
static cuzk_status find_curve(json_in j, curve_id *id)
{
    json_token t;
    char name[24];

    TRY(json_expect(&j, JSON_OBJECT, &t, "verification key"));
    for (;;) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) return FAIL_DATA(MALFORMED, "curve", "missing curve");
        if (!json_is(&t, "curve")) {
            TRY(json_skip(&j));
            continue;
        }
        TRY(json_expect(&j, JSON_STRING, &t, "curve"));
        if (t.len >= sizeof name) return FAIL_DATA(MALFORMED, "curve", "unknown curve");
        memcpy(name, t.text, t.len);
        name[t.len] = 0;
        if (!curve_id_from_name(id, name))
            return FAIL_DATA(MALFORMED, "curve", "unknown curve %s", name);
        return CUZK_OK;
    }
}

static cuzk_status vk_member(json_in *j, unsigned k, groth16_vk *head, groth16_vk **vk,
                             uint64_t *n_public, const curve *cv, mem *m)
{
    json_token t;
    switch (k) {
    case 0: return check_curve(j, cv);
    case 1:
        TRY(json_expect(j, JSON_NUMBER, &t, "nPublic"));
        return json_u64(&t, JSON_MAX_PUBLIC, n_public, "nPublic");
    case 2: return read_g1(j, cv, &head->alpha_g1, false, "vk_alpha_1");
    case 3: return read_g2(j, cv, &head->beta_g2, false, "vk_beta_2");
    case 4: return read_g2(j, cv, &head->gamma_g2, false, "vk_gamma_2");
    case 5: return read_g2(j, cv, &head->delta_g2, false, "vk_delta_2");
    case 6: return read_ic(j, vk, cv, m);
    case 8: return check_protocol(j);
    default: return json_skip(j);
    }
}

cuzk_status groth16_vk_from_json(groth16_vk **out, const uint8_t *json, size_t size,
                                 cpu_table table, mem *m)
{
    cuzk_status st = CUZK_OK;
    json_in j;
    json_token t;
    uint64_t seen = 0, n_public = 0;
    curve_id id;
    groth16_vk head, *vk = NULL;

    memset(&head, 0, sizeof head);
    TRY(json_init(&j, json, size));
    TRY(find_curve(j, &id));
    const curve *cv = curve_get(id, table);
    TRY_OUT(json_expect(&j, JSON_OBJECT, &t, "verification key"));
    for (;;) {
        TRY_OUT(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) break;
        unsigned k = 0;
        while (k < VK_NAMES && !json_is(&t, vk_names[k])) k++;
        if (k < VK_NAMES) TRY_OUT(json_seen(&seen, k, &t));
        TRY_OUT(vk_member(&j, k, &head, &vk, &n_public, cv, m));
    }
    TRY_OUT(json_expect(&j, JSON_END, &t, "end of verification key"));
    TRY_OUT(missing(seen, VK_REQUIRED, vk_names));
    if (n_public + 1 != vk->n_ic) {
        st = FAIL_DATA(SHAPE, "IC", "nPublic is %llu but IC has %u points",
                       (unsigned long long)n_public, vk->n_ic);
        goto out;
    }
    vk->alpha_g1 = head.alpha_g1;
    vk->beta_g2 = head.beta_g2;
    vk->gamma_g2 = head.gamma_g2;
    vk->delta_g2 = head.delta_g2;
    *out = vk;
    vk = NULL;
out:
    groth16_vk_free(vk);
    return st;
}

/* ---- writing: one space a level, as JSON.stringify(x, null, 1) ---- */

static void put_g1(bytes_out *o, const curve *cv, const g1_any *p, const char *pad)
{
    char x[CURVE_DEC_MAX] = "0", y[CURVE_DEC_MAX] = "1";
    bool inf = cv->g1_is_inf(p);

    if (!inf) {
        cv->g1_coord_dec(x, p, 0);
        cv->g1_coord_dec(y, p, 1);
    }
    bytes_printf(o, "[\n%s \"%s\",\n%s \"%s\",\n%s \"%d\"\n%s]", pad, x, pad, y, pad, inf ? 0 : 1,
                 pad);
}

static void put_g2(bytes_out *o, const curve *cv, const g2_any *p, const char *pad)
{
    char c[4][CURVE_DEC_MAX] = {"0", "0", "1", "0"};
    bool inf = cv->g2_is_inf(p);

    for (unsigned k = 0; k < 4 && !inf; k++) cv->g2_coord_dec(c[k], p, k);
    bytes_printf(o, "[\n");
    for (unsigned k = 0; k < 4; k += 2)
        bytes_printf(o, "%s [\n%s  \"%s\",\n%s  \"%s\"\n%s ],\n", pad, pad, c[k], pad, c[k + 1],
                     pad);
    bytes_printf(o, "%s [\n%s  \"%d\",\n%s  \"0\"\n%s ]\n%s]", pad, pad, inf ? 0 : 1, pad, pad,
                 pad);
}

void groth16_proof_to_json(bytes_out *o, const curve *cv, const groth16_proof *p)
{
    bytes_printf(o, "{\n \"pi_a\": ");
    put_g1(o, cv, &p->a, " ");
    bytes_printf(o, ",\n \"pi_b\": ");
    put_g2(o, cv, &p->b, " ");
    bytes_printf(o, ",\n \"pi_c\": ");
    put_g1(o, cv, &p->c, " ");
    bytes_printf(o, ",\n \"protocol\": \"groth16\",\n \"curve\": \"%s\"\n}", cv->json_name);
}

void groth16_public_to_json(bytes_out *o, const curve *cv, const fr *pub, size_t n)
{
    bytes_printf(o, "[\n");
    for (size_t i = 0; i < n; i++) {
        char d[CURVE_DEC_MAX];
        cv->fr_to_dec(d, &pub[i]);
        bytes_printf(o, " \"%s\"%s\n", d, i + 1 < n ? "," : "");
    }
    bytes_printf(o, "]");
}

static void put_gt(bytes_out *o, const curve *cv, const gt_any *g)
{
    bytes_printf(o, "[\n");
    for (unsigned i = 0; i < 2; i++) {
        bytes_printf(o, "  [\n");
        for (unsigned k = 0; k < 3; k++) {
            char c[2][CURVE_DEC_MAX];
            cv->gt_coord_dec(c[0], g, i, k, 0);
            cv->gt_coord_dec(c[1], g, i, k, 1);
            bytes_printf(o, "   [\n    \"%s\",\n    \"%s\"\n   ]%s\n", c[0], c[1],
                         k < 2 ? "," : "");
        }
        bytes_printf(o, "  ]%s\n", i == 0 ? "," : "");
    }
    bytes_printf(o, " ]");
}

cuzk_status groth16_vk_to_json(bytes_out *o, const groth16_vk *vk)
{
    const curve *cv = vk->cv;
    gt_any alpha_beta;

    vk_alpha_beta(vk, &alpha_beta);
    bytes_printf(
        o,
        "{\n \"protocol\": \"groth16\",\n \"curve\": \"%s\",\n \"nPublic\": %u,\n \"vk_alpha_1\": ",
        cv->json_name, vk->n_ic - 1);
    put_g1(o, cv, &vk->alpha_g1, " ");
    bytes_printf(o, ",\n \"vk_beta_2\": ");
    put_g2(o, cv, &vk->beta_g2, " ");
    bytes_printf(o, ",\n \"vk_gamma_2\": ");
    put_g2(o, cv, &vk->gamma_g2, " ");
    bytes_printf(o, ",\n \"vk_delta_2\": ");
    put_g2(o, cv, &vk->delta_g2, " ");
    bytes_printf(o, ",\n \"vk_alphabeta_12\": ");
    put_gt(o, cv, &alpha_beta);
    bytes_printf(o, ",\n \"IC\": [\n");
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        g1_any p;
        groth16_vk_ic(vk, i, &p);
        bytes_printf(o, "  ");
        put_g1(o, cv, &p, "  ");
        bytes_printf(o, "%s\n", i + 1 < vk->n_ic ? "," : "");
    }
    bytes_printf(o, " ]\n}");
    return bytes_out_status(o);
}
