/*
 * engine/gen.c - the job that makes valid inputs into a folder
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/gen.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "engine/filecoin.h"

typedef struct folder {
    cuzk_engine *e;
    const char *path;
    uint64_t n_files;
} folder;

static cuzk_status put_file(void *ctx, const char *name, const void *data, size_t size)
{
    folder *f = ctx;
    char path[FIL_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", f->path, name);

    if (n < 0 || (size_t)n >= sizeof path)
        return FAIL(CUZK_EINVAL, "output folder path longer than %d bytes", FIL_PATH_MAX);
    span sp = span_open(SPAN_WRITE);
    cuzk_status st = file_write_whole(path, data, size);
    span_close(&sp);
    f->n_files++;
    engine_progress(f->e, "files", f->n_files, f->n_files);
    return st;
}

static cuzk_status find_size(const fil_size **out, fil_kind kind, const cuzk_gen_args *args)
{
    unsigned long long bytes = args->sector_size;

    if (args->layers != 0 && kind != FIL_POREP)
        return FAIL(CUZK_EINVAL, "layers are of a PoRep, not of a %s proof", fil_kind_name(kind));
    *out = args->layers == 0 ? fil_size_by_bytes(bytes) : fil_size_porep(bytes, args->layers);
    if (*out != NULL) return CUZK_OK;
    if (fil_size_by_bytes(bytes) != NULL)
        return FAIL(CUZK_EINVAL, "no PoRep of %llu bytes has %u layers", bytes, args->layers);
    return FAIL(
        CUZK_EINVAL,
        "no sectors of %llu bytes; sizes are 2, 4, 16, 32 KiB, 8, 16, 512 MiB, 1, 32, 64 GiB, "
        "and 1 and 8 KiB for updates",
        bytes);
}

static cuzk_status generate(job *j, const cuzk_gen_args *args)
{
    cuzk_engine *e = j->e;
    folder f = {e, args->output, 0};
    fil_gen g = {.registered = args->registered,
                 .n_sectors = args->n_sectors,
                 .seed = args->seed,
                 .pool = e->pool,
                 .cancel = e->cancel,
                 .m = e->m,
                 .put = put_file,
                 .ctx = &f};
    poseidon_set *ps = NULL;
    cuzk_status st;

    if (args->kind == NULL || !fil_kind_from_name(&g.kind, args->kind))
        return FAIL(CUZK_EINVAL, "unknown kind %s; known: porep, winning, window, update",
                    args->kind == NULL ? "(none)" : args->kind);
    TRY(find_size(&g.size, g.kind, args));
    TRY(file_make_dir(args->output));
    span sp = span_open(SPAN_SHAPE);
    st = poseidon_set_new(&ps, e->table, e->m);
    span_close(&sp);
    if (st != CUZK_OK) return st;
    g.ps = ps;
    sp = span_open(SPAN_GENERATE);
    st = fil_generate(&g);
    span_close(&sp);
    poseidon_set_free(ps);
    return st;
}

cuzk_status cuzk_filecoin_gen(cuzk_engine *e, const cuzk_gen_args *args)
{
    job j;

    TRY(job_begin(&j, e));
    cuzk_status st = generate(&j, args);
    job_end(&j);
    return st;
}
