/*
 * bench/runner.c - repeats, sorts, prints CSV
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "bench/runner.h"

#include "base/clock.h"
#include "cuzk.h"

#define MAX_REPS 1000
#define CHAIN 1000000

#ifndef CUZK_COMMIT
#    define CUZK_COMMIT "unknown"
#endif
#ifndef CUZK_BENCH_FLAGS
#    define CUZK_BENCH_FLAGS "unknown"
#endif

void bench_need(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "benchmark: %s: %s\n", what, cuzk_last_error()->message);
    exit(1);
}

uint64_t bench_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

double bench_clock(void)
{
    double best = 0;

    for (int round = 0; round < 5; round++) {
        uint64_t x = 1, t = clock_ns();
        double rate;
        for (int i = 0; i < CHAIN / 10; i++) {
            for (int k = 0; k < 10; k++) {
                x += 3;
                __asm__ volatile("" : "+r"(x)); /* each addition stays, and waits for the last */
            }
        }
        rate = CHAIN / (double)(clock_ns() - t);
        if (rate > best) best = rate;
    }
    return best;
}

static void print_cpu(void)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "model name", 10) != 0) continue;
        printf("# cpu %s", strchr(line, ':') != NULL ? strchr(line, ':') + 2 : "unknown\n");
        break;
    }
    if (f != NULL) (void)fclose(f); /* only read */
}

static double number(const char *text, const char *option)
{
    char *end;
    double v = strtod(text, &end);

    if (*text == '\0' || *end != '\0' || v < 0 || v > 1e9) {
        fprintf(stderr, "benchmark: %s: not a number: %s\n", option, text);
        exit(2);
    }
    return v;
}

bench_options bench_start(int argc, char **argv, const char *what)
{
    bench_options o = {.max_reps = 100, .min_seconds = 1};

    for (int i = 1; i < argc; i += 2) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(a, "--reps") == 0)
            o.max_reps = (size_t)number(v, a);
        else if (strcmp(a, "--seconds") == 0)
            o.min_seconds = number(v, a);
        else if (strcmp(a, "--threads") == 0)
            o.threads = (unsigned)number(v, a);
        else if (strcmp(a, "--max-log") == 0)
            o.max_log = (unsigned)number(v, a);
        else if (strcmp(a, "--only") == 0)
            o.only = v;
        else {
            fprintf(
                stderr,
                "usage: %s [--reps N] [--seconds S] [--threads N] [--max-log N] [--only TEXT]\n",
                argv[0]);
            exit(2);
        }
    }
    if (o.max_reps == 0) o.max_reps = 1;
    if (o.max_reps > MAX_REPS) o.max_reps = MAX_REPS;
    printf("# %s\n# commit %s\n# compiler %s\n# flags %s\n", what, CUZK_COMMIT, __VERSION__,
           CUZK_BENCH_FLAGS);
    print_cpu();
    printf("# clock %.3f GHz by dependent additions, policy of the machine\n", bench_clock());
    printf("case,n,reps,min_ns,median_ns,p95_ns,peak_bytes\n");
    return o;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_case(const bench_options *o, const char *name, size_t n, void (*fn)(void *), void *ctx,
                  size_t peak_bytes)
{
    static double times[MAX_REPS];
    size_t reps = 0;
    double total = 0;

    if (o->only != NULL && strstr(name, o->only) == NULL) return 0;
    fn(ctx);
    while (reps < o->max_reps && (reps < 3 || total < o->min_seconds * 1e9)) {
        uint64_t t = clock_ns();
        fn(ctx);
        times[reps] = (double)(clock_ns() - t);
        total += times[reps++];
    }
    qsort(times, reps, sizeof *times, by_value);
    printf("%s,%zu,%zu,%.0f,%.0f,%.0f,%zu\n", name, n, reps, times[0], times[reps / 2],
           times[reps - 1 - reps / 20], peak_bytes);
    fflush(stdout);
    return times[reps / 2];
}
