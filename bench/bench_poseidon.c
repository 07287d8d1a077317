/*
 * bench/bench_poseidon.c - Poseidon of every arity: hashes and traces, one by one and as many at a time as the table has lanes
 *
 * Cases: <table> hash|trace one|many arity <n>: BATCHES batches of POSEIDON_LANES inputs. Remarks give nanoseconds and cycles for each.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "bench/runner.h"

#include "circuit/poseidon.h"

#define BATCHES 16
#define COUNT ((size_t)BATCHES * POSEIDON_LANES)

typedef struct subject {
    const poseidon *p;
    fr tag;
    fr in[COUNT][POSEIDON_MAX_T], out[COUNT];
    fr *traces; /* COUNT, one behind the other */
} subject;

static void hash_one(void *ctx)
{
    subject *s = ctx;

    for (size_t i = 0; i < COUNT; i++) poseidon_hash(s->p, &s->out[i], s->in[i], &s->tag);
}

static void trace_one(void *ctx)
{
    subject *s = ctx;
    size_t len = poseidon_trace_len(s->p);

    for (size_t i = 0; i < COUNT; i++) poseidon_trace(s->p, s->traces + i * len, s->in[i], &s->tag);
}

/* The batch from input `first`. */
static void places(subject *s, size_t first, fr **out, fr **trace, const fr **in)
{
    for (size_t i = 0; i < POSEIDON_LANES; i++) {
        out[i] = &s->out[first + i];
        trace[i] = s->traces + (first + i) * poseidon_trace_len(s->p);
        in[i] = s->in[first + i];
    }
}

static void hash_many(void *ctx)
{
    fr *out[POSEIDON_LANES], *trace[POSEIDON_LANES];
    const fr *in[POSEIDON_LANES];

    for (size_t i = 0; i < COUNT; i += POSEIDON_LANES) {
        places(ctx, i, out, trace, in);
        poseidon_hash_many(((subject *)ctx)->p, POSEIDON_LANES, out, in, &((subject *)ctx)->tag);
    }
}

static void trace_many(void *ctx)
{
    fr *out[POSEIDON_LANES], *trace[POSEIDON_LANES];
    const fr *in[POSEIDON_LANES];

    for (size_t i = 0; i < COUNT; i += POSEIDON_LANES) {
        places(ctx, i, out, trace, in);
        poseidon_trace_many(((subject *)ctx)->p, POSEIDON_LANES, trace, in, &((subject *)ctx)->tag);
    }
}

static void run(const bench_options *o, subject *s, const char *table, const char *what,
                void (*fn)(void *))
{
    char name[64];
    double ns;

    (void)snprintf(name, sizeof name, "%s %s arity %u", table, what, poseidon_arity(s->p));
    ns = bench_case(o, name, COUNT, fn, s, 0);
    if (ns > 0)
        printf("#   %.0f ns, %.0f cycles each\n", ns / (double)COUNT,
               ns / (double)COUNT * bench_clock());
}

/* Last elements of the traces are the hashes, whoever made them. */
static void check(subject *s)
{
    static fr want[COUNT];
    size_t len = poseidon_trace_len(s->p);

    hash_one(s);
    memcpy(want, s->out, sizeof want);
    memset(s->out, 0, sizeof s->out);
    hash_many(s);
    bench_need(memcmp(want, s->out, sizeof want) == 0, "hashes");
    trace_many(s);
    for (size_t i = 0; i < COUNT; i++)
        bench_need(memcmp(&want[i], &s->traces[(i + 1) * len - 1], sizeof want[i]) == 0, "traces");
}

static void bench_arity(const bench_options *o, cpu_table table, unsigned arity, mem *m)
{
    static subject s;
    const char *name = cpu_table_name(table);
    uint64_t seed = 1;
    poseidon *p = NULL;
    cuzk_status st;

    bench_need(poseidon_new(&p, table, arity, m) == CUZK_OK, "constants");
    s.p = p;
    poseidon_merkle_tag(p, &s.tag);
    s.traces = mem_new(m, COUNT * poseidon_trace_len(p), sizeof(fr), &st);
    bench_need(s.traces != NULL, "memory");
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < arity; k++)
            for (int l = 0; l < 4; l++) s.in[i][k].l[l] = bench_random(&seed) >> (l == 3 ? 2 : 0);
    check(&s);
    run(o, &s, name, "hash one", hash_one);
    run(o, &s, name, "hash many", hash_many);
    run(o, &s, name, "trace one", trace_one);
    run(o, &s, name, "trace many", trace_many);
    mem_free(m, s.traces);
    poseidon_free(p);
}

int main(int argc, char **argv)
{
    static const unsigned arities[] = {2, 4, 8, 11};
    bench_options o = bench_start(argc, argv, "Poseidon");
    mem *m = NULL;

    bench_need(mem_open(&m, "bench", 0, NULL) == CUZK_OK, "budget");
    for (unsigned t = 0; t < CPU_TABLES; t++)
        for (size_t a = 0; a < 4 && cpu_table_supported((cpu_table)t); a++)
            bench_arity(&o, (cpu_table)t, arities[a], m);
    mem_close(m);
    return 0;
}
