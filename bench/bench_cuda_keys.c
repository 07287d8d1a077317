/*
 * bench/bench_cuda_keys.c - what keys cost a GPU: brought in from host memory, by turns, under the limits of smaller cards
 *
 * Two keys of the sizes of PoRep's and WindowPoSt's at 32 GiB (--max-log 27; a power of two less for each less), their points
 * tiled from a million distinct ones, lists of a group from the same host memory. A "proof" is the sums of one: H over full-width scalars on
 * the device, L, A, B1 and B2 over random bits, beside buffers as a proof has them; the key is brought in by a thread as the
 * service does it; not with --only. Sums of a key are the same each time, whatever is kept: that is checked.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <pthread.h>

#include "base/clock.h"
#include "bench/runner.h"
#include "device/device.h"

#define LISTS 5u
#define DISTINCT ((size_t)1 << 20)
#define TILE ((size_t)64) /* of the distinct points: one task copies so many times fewer */

typedef struct key {
    const char *name;
    dev_points list[LISTS]; /* h, l, a, b_g1, b_g2 */
    uint64_t bits_id[LISTS], layout_id[LISTS];
    g2_any sum[LISTS];
    bool known;
    uint64_t bytes; /* on a device */
} key;

typedef struct subject {
    mem *m;
    pool *p;
    device *cpu, *gpu;
    dev_stream *cpu_s, *s;
    const curve *cv;
    unsigned log_n;
    uint8_t *points[2]; /* of G1 and G2 */
    size_t n[2];
    uint64_t *bits, *no_elems;
    uint32_t *ranks;
    dev_buf *h;
    key key[2];
} subject;

static void need(cuzk_status st)
{
    if (st != CUZK_OK) fprintf(stderr, "%s\n", cuzk_last_error()->message);
    bench_need(st == CUZK_OK, "an operation failed");
}

static void *array(size_t n, size_t size)
{
    void *p = calloc(n, size);

    bench_need(p != NULL, "memory");
    return p;
}

/* ---- keys ---- */

typedef struct tiling {
    uint8_t *points;
    size_t distinct, size; /* bytes */
} tiling;

static cuzk_status tile_task(void *ctx, size_t i, unsigned worker)
{
    const tiling *t = ctx;
    size_t at = t->distinct + i * (t->distinct / TILE), n = t->distinct / TILE;

    (void)worker;
    if (n > t->size - at) n = t->size - at;
    memcpy(t->points + at, t->points + at % t->distinct, n);
    return CUZK_OK;
}

static void make_points(subject *t, unsigned g2, size_t n)
{
    size_t size = t->cv->point_size(g2 != 0, POINT_ZCASH), distinct = n < DISTINCT ? n : DISTINCT;
    tiling tile = {array(n, size), distinct * size, n * size};
    fr *k = array(distinct, sizeof *k);
    uint64_t seed = 77 + g2;

    for (size_t i = 0; i < distinct; i++) t->cv->fr_from_u64(&k[i], bench_random(&seed) | 1);
    need(g2 != 0 ? dev_fixed_base_g2(t->cpu_s, tile.points, POINT_ZCASH, t->cv->id, &t->cv->g2_gen,
                                     k, distinct, NULL)
                 : dev_fixed_base_g1(t->cpu_s, tile.points, POINT_ZCASH, t->cv->id, &t->cv->g1_gen,
                                     k, distinct, NULL));
    need(pool_run(t->p, NULL, ((n - distinct) * size * TILE + tile.distinct - 1) / tile.distinct,
                  tile_task, &tile));
    free(k);
    t->points[g2] = tile.points;
    t->n[g2] = n;
}

static void make_key(subject *t, key *x, const char *name, const size_t n[LISTS])
{
    size_t rows = (size_t)1 << t->log_n;
    dev_keeping keep = {.set = dev_points_id(),
                        .longest = n[0],
                        .beside = (3 * rows + rows / 2) * sizeof(fr),
                        .during = (rows + rows / 2) * sizeof(fr)};

    x->name = name;
    for (unsigned i = 0; i < LISTS; i++) {
        unsigned g2 = i == LISTS - 1;

        x->list[i] = (dev_points){.data = t->points[g2],
                                  .n = n[i],
                                  .enc = POINT_ZCASH,
                                  .g2 = g2 != 0,
                                  .id = dev_points_id(),
                                  .keep = keep};
        x->bits_id[i] = dev_points_id();
        x->layout_id[i] = dev_points_id();
        x->bytes += n[i] * (g2 != 0 ? t->cv->g2_size : t->cv->g1_size);
    }
}

/* ---- a proof's sums ---- */

typedef struct loader {
    subject *t;
    key *x;
    pthread_t thread;
} loader;

static void *load_all(void *ctx)
{
    const loader *l = ctx;
    dev_stream *s;

    need(dev_stream_open(&s, l->t->gpu, NULL));
    for (unsigned i = 0; i < LISTS; i++) need(dev_points_load(s, l->t->cv->id, &l->x->list[i]));
    dev_stream_close(s);
    return NULL;
}

static void sums(subject *t, key *x)
{
    size_t rows = (size_t)1 << t->log_n;
    dev_buf *b, *c;

    need(dev_buf_new(&b, t->gpu, rows));
    need(dev_buf_new(&c, t->gpu, rows));
    dev_buf_free(b);
    dev_buf_free(c);
    for (unsigned i = 0; i < LISTS; i++) {
        dev_scalars k = {.n = x->list[i].n,
                         .bits = t->bits,
                         .is_elem = t->no_elems,
                         .rank64 = t->ranks,
                         .id = x->bits_id[i],
                         .layout_id = x->layout_id[i]};
        g2_any got;
        g1_any r;

        memset(&got, 0, sizeof got);
        memset(&r, 0, sizeof r);
        if (i == 0) need(dev_msm_g1_buf(t->s, &r, t->cv->id, &x->list[i], 0, t->h, k.n));
        if (i != 0 && i != LISTS - 1) need(dev_msm_g1(t->s, &r, t->cv->id, &x->list[i], 0, &k));
        memcpy(&got, &r, sizeof r);
        if (i == LISTS - 1) need(dev_msm_g2(t->s, &got, t->cv->id, &x->list[i], 0, &k));
        if (x->known)
            bench_need(memcmp(&got, &x->sum[i], sizeof got) == 0, "a sum differs from the first");
        x->sum[i] = got;
    }
    x->known = true;
}

static uint64_t kept(const subject *t, const key *x)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < LISTS; i++) n += dev_points_kept(t->gpu, x->list[i].id);
    return n;
}

static void prove(subject *t, key *x)
{
    loader l = {.t = t, .x = x};
    device_info a, b;
    uint64_t from = clock_ns(), ns;

    device_info_get(t->gpu, &a);
    dev_points_want(t->gpu, x->list[0].keep.set, DEV_WANT_NOW, true);
    bench_need(pthread_create(&l.thread, NULL, load_all, &l) == 0, "thread");
    sums(t, x);
    bench_need(pthread_join(l.thread, NULL) == 0, "thread");
    dev_points_want(t->gpu, x->list[0].keep.set, DEV_WANT_NOW, false);
    ns = clock_ns() - from;
    device_info_get(t->gpu, &b);
    printf("#   %s: %.3f s, of its %.1f GB %.1f came in in %.3f s (%.1f GB/s), %.1f stay\n",
           x->name, (double)ns / 1e9, (double)x->bytes / 1e9,
           (double)(b.points_in - a.points_in) / 1e9, (double)(b.points_ns - a.points_ns) / 1e9,
           (double)(b.points_in - a.points_in) / (double)(b.points_ns - a.points_ns + 1),
           (double)kept(t, x) / 1e9);
    (void)fflush(stdout);
}

/* ---- loading alone ---- */

static void load_key(void *ctx)
{
    subject *t = ctx;
    key *x = &t->key[0];

    for (unsigned i = 0; i < LISTS; i++) dev_points_forget(t->gpu, x->list[i].id);
    for (unsigned i = 0; i < LISTS; i++) need(dev_points_load(t->s, t->cv->id, &x->list[i]));
}

static void measure_load(const bench_options *o, subject *t)
{
    double ns =
        bench_case(o, "load a key, host memory to the device", t->key[0].bytes, load_key, t, 0);
    uint64_t bytes = kept(t, &t->key[0]);

    if (ns > 0)
        printf("#   %.1f GB of it stay: %.3f s, %.1f GB/s\n", (double)bytes / 1e9, ns / 1e9,
               (double)bytes / ns);
    for (unsigned i = 0; i < LISTS; i++) dev_points_forget(t->gpu, t->key[0].list[i].id);
}

/* ---- under limits ---- */

static void open_gpu(subject *t, size_t limit)
{
    device_config config = {
        .name = "cuda", .table = cpu_table_best(), .pool = t->p, .m = t->m, .device_memory = limit};
    size_t rows = (size_t)1 << t->log_n, n = rows < DISTINCT ? rows : DISTINCT;
    uint64_t seed = 4711;
    fr *k = array(n, sizeof *k);

    need(device_open(&t->gpu, &config));
    need(dev_stream_open(&t->s, t->gpu, NULL));
    need(dev_buf_new(&t->h, t->gpu, rows));
    for (size_t at = 0; at < rows; at += n) {
        for (size_t i = 0; i < n; i++) /* others each time, nearly */
            for (unsigned l = at == 0 ? 0 : 3; l < 4; l++)
                k[i].l[l] = bench_random(&seed) >> (l == 3 ? 2 : 0);
        need(dev_upload(t->s, t->h, at, k, n));
    }
    need(dev_sync(t->s));
    free(k);
}

static void close_gpu(subject *t)
{
    dev_buf_free(t->h);
    dev_stream_close(t->s);
    device_close(t->gpu);
}

static void under_limit(subject *t, unsigned gb, const char *order)
{
    size_t limit = (size_t)gb * 1000000000 >> (27 - t->log_n);

    open_gpu(t, limit);
    printf("# %u GB of a card%s\n", gb, t->log_n == 27 ? "" : ", scaled");
    for (const char *p = order; *p != 0; p++) prove(t, &t->key[*p - '0']);
    close_gpu(t);
}

int main(int argc, char **argv)
{
    bench_options o = bench_start(argc, argv, "keys on a GPU");
    /* millions of points at 2^27, nearly: h, l, a, b_g1, b_g2 */
    static const size_t sizes[2][LISTS] = {{134, 130, 104, 42, 42}, {134, 134, 130, 71, 71}};
    static const unsigned cards[] = {132, 80, 24, 16};
    static const char *const orders[] = {"001100", "00110", "00", "00"};
    device_config config = {.name = "cpu", .table = cpu_table_best()};
    subject t = {.log_n = o.max_log == 0 ? 24 : o.max_log};
    size_t n[2][LISTS];

    need(mem_open(&t.m, "bench", 0, NULL));
    need(pool_open(&t.p, o.threads == 0 ? 2 : o.threads, NULL));
    config.m = t.m;
    config.pool = t.p;
    need(device_open(&t.cpu, &config));
    need(dev_stream_open(&t.cpu_s, t.cpu, NULL));
    t.cv = device_curve(t.cpu, CURVE_ID_BLS12_381);
    for (unsigned x = 0; x < 2; x++)
        for (unsigned i = 0; i < LISTS; i++) n[x][i] = sizes[x][i] * 1000000 >> (27 - t.log_n);
    make_points(&t, 0, n[0][0]);
    make_points(&t, 1, n[1][LISTS - 1]);
    t.bits = array(n[1][0] / 64 + 2, 8);
    t.no_elems = array(n[1][0] / 64 + 2, 8);
    t.ranks = array(n[1][0] / 64 + 2, 4);
    uint64_t seed = 99;
    for (size_t i = 0; i < n[1][0] / 64 + 2; i++) t.bits[i] = bench_random(&seed);
    make_key(&t, &t.key[0], "PoRep", n[0]);
    make_key(&t, &t.key[1], "Window", n[1]);

    open_gpu(&t, 0);
    measure_load(&o, &t);
    close_gpu(&t);
    for (unsigned i = 0; i < sizeof cards / sizeof *cards && o.only == NULL; i++)
        under_limit(&t, cards[i], orders[i]);
    dev_stream_close(t.cpu_s);
    device_close(t.cpu);
    pool_close(t.p);
    for (unsigned g2 = 0; g2 < 2; g2++) free(t.points[g2]);
    free(t.bits);
    free(t.no_elems);
    free(t.ranks);
    mem_close(t.m);
    return 0;
}
