/*
 * app/outputs.c - the files that a command writes: looked at before the work, written together after it
 *
 * A file is opened for writing once before, and given up: what is mistyped costs no proof, and a command that is killed
 * leaves nothing behind.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/outputs.h"

#include <stdio.h>

#include "base/file_target.h"

#define MAX_OUTPUTS 3

typedef struct found {
    file_target target[MAX_OUTPUTS];
    const char *path[MAX_OUTPUTS];
    size_t n;
} found;

/** The output that a path leads to, or NULL. One that leads nowhere is for its reader to name. */
static const char *written_by(const found *w, const char *path)
{
    file_target t;

    if (path == NULL || file_target_of(&t, path) != CUZK_OK) return NULL;
    for (size_t i = 0; i < w->n; i++)
        if (file_target_equal(&t, &w->target[i])) return w->path[i];
    return NULL;
}

static const char *written_by_any(const found *w, const char *const *paths, size_t n)
{
    const char *at = NULL;

    for (size_t i = 0; i < n && at == NULL; i++) at = written_by(w, paths[i]);
    return at;
}

static bool is_output(const found *w, const char *path)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->path[i] == path) return true;
    return false;
}

/** An output that the command reads too, or NULL. */
static const char *read_too(const found *w, const options *o, size_t n_read)
{
    const char *const one[] = {o->statement,
                               o->trapdoors,
                               o->r1cs,
                               o->srs,
                               o->config,
                               o->tls_ca,
                               is_output(w, o->proof) ? NULL : o->proof}; /* verify reads it */
    const struct {
        const char *const *paths;
        size_t n;
    } all[] = {{one, sizeof one / sizeof one[0]},
               {o->args, n_read},
               {o->inputs, o->n_inputs},
               {o->statements, o->n_statements},
               {o->proofs, o->n_proofs}};
    const char *at = NULL;

    for (size_t i = 0; i < sizeof all / sizeof all[0] && at == NULL; i++)
        at = written_by_any(w, all[i].paths, all[i].n);
    return at;
}

static CUZK_STATUS can_be_written(const char *path)
{
    file_out *f;

    TRY(file_out_open(&f, path));
    file_out_abort(f);
    return CUZK_OK;
}

int outputs_check(report *r, size_t n_read, const char *first, const char *second)
{
    const char *const paths[MAX_OUTPUTS] = {first, second, r->o->trace};
    found w = {.n = 0};
    const char *at;

    for (size_t i = 0; i < MAX_OUTPUTS; i++) {
        if (paths[i] == NULL) continue;
        cuzk_status st = file_target_of(&w.target[w.n], paths[i]);

        if (st == CUZK_OK) st = can_be_written(paths[i]);
        if (st != CUZK_OK) {
            r->traced = true; /* nothing was done that it could tell */
            return report_failure(r, st);
        }
        if (written_by(&w, paths[i]) != NULL)
            return report_usage(r->o, "two results would go to", paths[i]);
        w.path[w.n++] = paths[i];
    }
    at = w.n == 0 ? NULL : read_too(&w, r->o, n_read);
    return at == NULL ? 0 : report_usage(r->o, "this is read, and would be written over:", at);
}

cuzk_status outputs_write(const output *first, const output *second)
{
    const output *const both[] = {first, second};
    file_out *f[2] = {NULL, NULL};
    cuzk_status st = CUZK_OK;

    for (size_t i = 0; i < 2; i++) {
        if (both[i]->path == NULL) continue;
        TRY_OUT(file_out_open(&f[i], both[i]->path));
        TRY_OUT(file_out_write(f[i], both[i]->data, both[i]->size));
    }
    if (f[0] != NULL && f[1] != NULL) {
        st = file_out_commit_both(f[0], f[1]);
        return st;
    }
    if (f[0] != NULL || f[1] != NULL) {
        file_out *one = f[0] != NULL ? f[0] : f[1];

        f[0] = f[1] = NULL;
        st = file_out_commit(one);
    }
out:
    file_out_abort(f[0]);
    file_out_abort(f[1]);
    return st;
}
