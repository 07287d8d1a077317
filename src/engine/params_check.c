/*
 * engine/params_check.c - the key files of a folder: names, counts, digests, points
 *
 * Every file is looked at, whatever the others are like. With `deep` the subgroup of every point is checked too; that is
 * hours for a production key, so what was found good is remembered and a later check goes on from there.
 *
 * Source: spec/cli.md (params check); spec/filecoin-formats.md section 6.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/key_store.h"
#include "groth16/aggregate.h"

#define REMEMBER_NS UINT64_C(30000000000)

typedef struct folder_check {
    cuzk_engine *e;
    const curve *cv;
    poseidon_set *ps;
    const char *dir;
    bool deep;
    bytes_out *o;
    size_t files, bad;
    cuzk_status st; /* of the first bad file */
    cuzk_error first;
} folder_check;

/** One file in progress. */
typedef struct file_check {
    folder_check *x;
    const char *file;
    char path[FIL_PATH_MAX];
    fil_kind kind;
    const fil_size *size;
    key_record r;
    uint64_t remembered_ns;
    cuzk_status st; /* of remembering while points are checked */
} file_check;

static bool take_extension(const char *name, const char *ext, char base[KEY_NAME_MAX])
{
    size_t n = strlen(name), m = strlen(ext);

    if (n <= m || n - m >= KEY_NAME_MAX || strcmp(name + n - m, ext) != 0) return false;
    memcpy(base, name, n - m);
    base[n - m] = 0;
    return true;
}

/* ---- digests ---- */

/** Digests the file anew and says what it is; refuses one that should be another. */
static cuzk_status check_digest(file_check *f, const key_expected *want)
{
    key_record known;
    key_standing standing;
    bool found;

    TRY(key_recall(f->x->e, f->x->dir, f->file, &known, &found));
    TRY(file_id_of(&f->r.id, f->path));
    TRY(key_digest(f->x->e, f->path, f->r.id.size, f->r.digest));
    /* of a file that rotted under its name and time nothing is known */
    if (found && strcmp(known.digest, f->r.digest) == 0) f->r.points = known.points;
    standing = key_compare(want, f->r.digest);
    bytes_printf(f->x->o, ",\"digest\":\"%s\",\"standing\":\"%s\"", f->r.digest,
                 key_standing_name(standing));
    if (standing == KEY_DAMAGED)
        return FAIL_DATA(MALFORMED, f->file, "%s has digest %s, setup wrote %s", f->file,
                         f->r.digest, want->own);
    if (standing == KEY_FOREIGN)
        return FAIL_DATA(MALFORMED, f->file,
                         "%s has digest %s, the network's has %s (and no setup left a .digest)",
                         f->file, f->r.digest, want->network);
    return CUZK_OK;
}

/** A folder that cannot be written to is checked all the same, and what is not remembered is only made again. */
static cuzk_status remember(file_check *f)
{
    cuzk_status st = key_remember(f->x->e, f->x->dir, &f->r);

    f->remembered_ns = clock_ns();
    return st == CUZK_EIO ? CUZK_OK : st;
}

/* ---- .params ---- */

static void on_points(void *ctx, uint64_t done, uint64_t total)
{
    file_check *f = ctx;

    engine_progress(f->x->e, f->x->deep ? "subgroup" : "points", done, total);
    if (!f->x->deep) return;
    f->r.points = done;
    if (clock_ns() - f->remembered_ns < REMEMBER_NS || f->st != CUZK_OK) return;
    f->st = remember(f);
}

/** A key's points, or powers': how they are checked, and how many they are. */
typedef struct points_of {
    const groth16_pk *pk; /* NULL: srs */
    const aggregate_srs *srs;
    uint64_t total;
} points_of;

static cuzk_status check_each(const points_of *p, const groth16_key_check *o, pool *workers)
{
    return p->pk != NULL ? groth16_pk_check(p->pk, o, workers)
                         : aggregate_srs_check(p->srs, o, workers);
}

static cuzk_status check_points(file_check *f, const points_of *p)
{
    groth16_key_check o = {
        .subgroup = f->x->deep, .progress = on_points, .ctx = f, .cancel = f->x->e->cancel};
    cuzk_status st;
    cuzk_error err;

    /* a check that came to its end is made again when asked for; one that did not is gone on with */
    if (f->x->deep) {
        if (f->r.points < p->total) o.from = f->r.points;
        f->r.points = o.from;
    }
    TRY(remember(f));
    bytes_printf(f->x->o, ",\"points\":%llu", (unsigned long long)p->total);
    if (o.from != 0) bytes_printf(f->x->o, ",\"from\":%llu", (unsigned long long)o.from);
    st = check_each(p, &o, f->x->e->pool);
    if (!f->x->deep) return st;
    if (st == CUZK_OK) return f->st != CUZK_OK ? f->st : remember(f);
    err = *cuzk_last_error();
    (void)remember(f); /* what ended the check matters more */
    return status_adopt(&err);
}

/** NAME.vk, where it is there, is what NAME.params begins with. */
static cuzk_status check_head(const file_check *f, const groth16_pk *pk)
{
    char path[FIL_PATH_MAX];
    file_map m;

    TRY(fil_key_path(path, f->x->dir, f->kind, f->size, ".vk"));
    if (!file_exists(path)) return CUZK_OK;
    TRY(file_map_open(&m, path));
    bool same = m.size <= pk->file.size && memcmp(m.data, pk->file.data, m.size) == 0;
    file_map_close(&m);
    if (same) return CUZK_OK;
    return FAIL_DATA(INCONSISTENT, f->file, "%s does not begin with the .vk of its name", f->file);
}

static cuzk_status shape_of(const file_check *f, r1cs_system **sys)
{
    const fil_ops *ops;
    fil_kind kind;

    TRY(fil_ops_of(&ops, &kind, fil_kind_name(f->kind)));
    span sp = span_open(SPAN_SHAPE);
    cuzk_status st = ops->system(sys, f->x->ps, f->kind, f->size, f->x->e->m);
    span_close(&sp);
    return st;
}

static cuzk_status check_params(file_check *f, const key_expected *want)
{
    r1cs_system *sys = NULL;
    groth16_pk *pk = NULL;
    cuzk_status st;

    TRY(shape_of(f, &sys));
    TRY_OUT(groth16_params_open(&pk, f->path, f->x->cv, sys, f->x->e->m));
    TRY_OUT(check_head(f, pk));
    TRY_OUT(check_digest(f, want));
    points_of points = {.pk = pk, .total = groth16_pk_points(pk)};
    st = check_points(f, &points);
out:
    groth16_pk_free(pk);
    r1cs_free(sys);
    return st;
}

/* ---- the other files ---- */

static cuzk_status check_vk(file_check *f, const key_expected *want)
{
    groth16_vk *vk;
    file_map m;

    TRY(file_map_open(&m, f->path));
    cuzk_status st = groth16_vk_read(&vk, m.data, m.size, NULL, f->x->cv, f->x->e->m);
    file_map_close(&m);
    TRY(st);
    bytes_printf(f->x->o, ",\"ic\":%u", vk->n_ic);
    groth16_vk_free(vk);
    TRY(check_digest(f, want));
    return remember(f);
}

static cuzk_status read_meta(const file_map *m, uint64_t *bytes)
{
    json_in j;
    json_token t;
    uint64_t seen = 0;

    TRY(json_init(&j, m->data, m->size));
    TRY(json_expect(&j, JSON_OBJECT, &t, "meta"));
    for (;;) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) break;
        if (!json_is(&t, "sector_size")) {
            TRY(json_skip(&j));
            continue;
        }
        TRY(json_seen(&seen, 0, &t));
        TRY(json_next(&j, &t));
        TRY(json_u64(&t, UINT64_MAX, bytes, "sector_size"));
    }
    TRY(json_expect(&j, JSON_END, &t, "end of meta"));
    return seen != 0 ? CUZK_OK : FAIL_DATA(MALFORMED, "sector_size", "no sector_size");
}

static cuzk_status check_meta(const file_check *f)
{
    uint64_t bytes = 0;
    file_map m;

    TRY(file_map_open(&m, f->path));
    cuzk_status st = read_meta(&m, &bytes);
    file_map_close(&m);
    if (st != CUZK_OK) status_add_where("%s", f->file);
    TRY(st);
    if (bytes == f->size->bytes) return CUZK_OK;
    return FAIL_DATA(INCONSISTENT, f->file, "%s says sectors of %llu bytes, its name %llu", f->file,
                     (unsigned long long)bytes, (unsigned long long)f->size->bytes);
}

/** It is of the key beside it, and its bytes are those that were written. */
static cuzk_status check_derived(const file_check *f)
{
    char path[FIL_PATH_MAX];
    groth16_pk *pk;

    TRY(fil_key_path(path, f->x->dir, f->kind, f->size, ".params"));
    TRY(groth16_params_open(&pk, path, f->x->cv, NULL, f->x->e->m));
    cuzk_status st = key_derived_take(f->x->e, pk, f->x->dir, f->kind, f->size, true);
    groth16_pk_free(pk);
    return st;
}

static cuzk_status check_srs(file_check *f)
{
    static const key_expected want = {.network = FIL_SRS_DIGEST};
    points_of points = {0};
    aggregate_srs *srs;
    cuzk_status st;

    TRY(aggregate_srs_open(&srs, f->path, f->x->cv, f->x->e->m));
    bytes_printf(f->x->o, ",\"aggregates\":%u", aggregate_srs_capacity(srs));
    points.srs = srs;
    points.total = aggregate_srs_points(srs);
    st = check_digest(f, &want);
    /* compressed points take a root each: minutes for what the digest has told */
    if (st == CUZK_OK) st = f->x->deep ? check_points(f, &points) : remember(f);
    aggregate_srs_free(srs);
    return st;
}

/* ---- a folder ---- */

/** What the name says, then what the bytes say. */
static cuzk_status check_named(file_check *f)
{
    static const char *const exts[] = {".params", ".vk", ".meta", ".digest", ".derived"};
    const size_t n = sizeof exts / sizeof exts[0];
    char base[KEY_NAME_MAX];
    key_expected want;
    size_t i = 0;

    if (strcmp(f->file, FIL_SRS_NAME) == 0) return check_srs(f);
    while (i < n && !take_extension(f->file, exts[i], base)) i++;
    if (i == n || !fil_key_find(&f->kind, &f->size, base))
        return FAIL_DATA(MALFORMED, f->file, "%s: no circuit has this name", f->file);
    bytes_printf(f->x->o, ",\"circuit\":\"%s-%s\"", fil_kind_name(f->kind), f->size->name);
    if (i == 2) return check_meta(f);
    if (i == 4) return check_derived(f);
    TRY(key_expect(&want, f->x->dir, f->kind, f->size, i == 1));
    if (i == 3) return CUZK_OK; /* it could be read */
    return i == 0 ? check_params(f, &want) : check_vk(f, &want);
}

/** Failures that are about the file alone; others end the check. */
static bool is_of_file(cuzk_status st)
{
    return st == CUZK_EDATA || st == CUZK_EIO;
}

static cuzk_status on_name(void *ctx, const char *name)
{
    folder_check *x = ctx;
    file_check f = {.x = x, .file = name};
    char base[KEY_NAME_MAX];
    bool part = take_extension(name, ".part", base);
    cuzk_status st = CUZK_OK;
    file_id id;

    if (strncmp(name, "v28-", 4) != 0 || strlen(name) >= sizeof f.r.file) return CUZK_OK;
    int n = snprintf(f.path, sizeof f.path, "%s/%s", x->dir, name);
    if (n < 0 || (size_t)n >= sizeof f.path)
        return FAIL(CUZK_EINVAL, "key directory path longer than %d bytes", FIL_PATH_MAX);
    (void)snprintf(f.r.file, sizeof f.r.file, "%s", name);
    bytes_printf(x->o, "%s{\"file\":", x->files == 0 ? "" : ",");
    json_put_string(x->o, name);
    if (file_id_of(&id, f.path) == CUZK_OK)
        bytes_printf(x->o, ",\"bytes\":%llu", (unsigned long long)id.size);
    x->files++;
    if (part)
        bytes_printf(x->o, ",\"note\":\"work that is not finished\"");
    else
        st = check_named(&f);
    if (st != CUZK_OK && !is_of_file(st)) return st;
    bytes_printf(x->o, ",\"ok\":%s", st == CUZK_OK ? "true" : "false");
    if (st != CUZK_OK) {
        const cuzk_error *err = cuzk_last_error();
        bytes_printf(x->o, ",\"class\":\"%s\",\"where\":", cuzk_class_name(err->klass));
        json_put_string(x->o, err->where);
        bytes_printf(x->o, ",\"message\":");
        json_put_string(x->o, err->message);
        if (x->bad++ == 0) {
            x->st = st;
            x->first = *err;
        }
    }
    bytes_printf(x->o, "}");
    return CUZK_OK;
}

static cuzk_status check_folder(folder_check *x, cuzk_buffer *json)
{
    bytes_out *o = x->o;

    TRY(poseidon_set_new(&x->ps, x->e->table, x->e->m));
    bytes_printf(o, "{\"directory\":");
    json_put_string(o, x->dir);
    bytes_printf(o, ",\"deep\":%s,\"files\":[", x->deep ? "true" : "false");
    TRY(file_list(x->dir, on_name, x));
    if (x->files == 0)
        return FAIL(CUZK_EIO, "%s: no key file there (v28-...): is it the right folder?", x->dir);
    bytes_printf(o, "],\"checked\":%zu,\"bad\":%zu,\"ok\":%s", x->files, x->bad,
                 x->bad == 0 ? "true" : "false");
    if (x->bad != 0) {
        bytes_printf(o, ",\"class\":\"%s\",\"where\":", cuzk_class_name(x->first.klass));
        json_put_string(o, x->first.where);
        bytes_printf(o, ",\"message\":");
        json_put_string(o, x->first.message);
    }
    bytes_printf(o, "}");
    TRY(buffer_from_out(json, o));
    return x->bad == 0 ? CUZK_OK : status_adopt(&x->first);
}

cuzk_status cuzk_params_check(cuzk_engine *e, const char *dir, bool deep, cuzk_buffer *json)
{
    folder_check x = {
        .e = e, .cv = curve_get(CURVE_ID_BLS12_381, e->table), .dir = dir, .deep = deep};
    bytes_out o;
    job j;

    if (dir == NULL) return FAIL(CUZK_EINVAL, "no key directory given");
    TRY(job_begin(&j, e));
    bytes_out_init(&o, e->m);
    x.o = &o;
    span sp = span_open(SPAN_READ_KEY);
    cuzk_status st = check_folder(&x, json);
    span_close(&sp);
    poseidon_set_free(x.ps);
    bytes_out_clear(&o);
    job_end(&j);
    return st;
}
