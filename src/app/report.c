/*
 * app/report.c - results to stdout, progress and warnings to stderr, exit codes by class (spec/cli.md)
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"

#define BAR_WIDTH 30

static volatile sig_atomic_t got_signal;
static cuzk_engine *volatile running;

int report_signal(void)
{
    return (int)got_signal;
}

static void on_signal(int sig)
{
    got_signal = sig;
    cuzk_engine *e = running;
    if (e != NULL) cuzk_engine_cancel(e);
}

void report_catch_signals(cuzk_engine *e)
{
    struct sigaction sa;

    running = e;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = e == NULL ? SIG_DFL : on_signal;
    (void)sigemptyset(&sa.sa_mask);
    sa.sa_flags = (int)SA_RESETHAND; /* a second signal ends the process */
    (void)sigaction(SIGINT, &sa, NULL);
    (void)sigaction(SIGTERM, &sa, NULL);
}

void report_init(report *r, const options *o)
{
    memset(r, 0, sizeof *r);
    r->o = o;
    r->terminal = isatty(STDERR_FILENO) == 1 && !o->quiet && !o->json;
}

void report_json_string(const char *s)
{
    size_t left = strlen(s), n;

    (void)putchar('"');
    for (; left != 0; s += n, left -= n) {
        unsigned char c = (unsigned char)*s;

        n = utf8_sequence((const uint8_t *)s, left);
        if (n == 0) { /* a file's name, or a piece of one: what is not text is U+FFFD */
            n = 1;
            printf("\xef\xbf\xbd");
        } else if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            printf("\\u%04x", c);
        } else {
            (void)fwrite(s, 1, n, stdout);
        }
    }
    (void)putchar('"');
}

void report_clear(report *r)
{
    if (r->bar_shown) fprintf(stderr, "\r\033[K");
    r->bar_shown = false;
}

void report_warn(void *ctx, cuzk_class klass, const char *where, const char *message)
{
    report *r = ctx;

    if (!r->o->json) {
        report_clear(r);
        fprintf(stderr, "warning: %s%s%s: %s\n", cuzk_class_name(klass),
                klass == CUZK_CLASS_NONE ? "" : ": ", where, message);
    }
    if (r->n_warnings == REPORT_MAX_WARNINGS) {
        r->dropped++;
        return;
    }
    r->warnings[r->n_warnings].klass = klass;
    snprintf(r->warnings[r->n_warnings].where, sizeof r->warnings[0].where, "%s", where);
    snprintf(r->warnings[r->n_warnings].message, sizeof r->warnings[0].message, "%s", message);
    r->n_warnings++;
}

void report_progress(void *ctx, const char *step, uint64_t done, uint64_t total)
{
    report *r = ctx;
    char bar[BAR_WIDTH + 1];

    if (!r->terminal || total == 0) return;
    size_t fill = (size_t)((double)done / (double)total * BAR_WIDTH);
    memset(bar, '-', BAR_WIDTH);
    memset(bar, '#', fill > BAR_WIDTH ? BAR_WIDTH : fill);
    bar[BAR_WIDTH] = 0;
    fprintf(stderr, "\r\033[K%-12s [%s] %llu/%llu", step, bar, (unsigned long long)done,
            (unsigned long long)total);
    r->bar_shown = true;
    if (done >= total) report_clear(r);
}

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static double coverage(const cuzk_attribution *a)
{
    return a->wall_ns == 0 ? 100.0 : 100.0 * (double)a->attributed_ns / (double)a->wall_ns;
}

static double share_of(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

/* Proofs on GPUs: shares are of the time from first kernel to last. */
static void print_gpu(const cuzk_gpu_times *g, FILE *f)
{
    if (g->proofs == 0) return;
    fprintf(f, "%-24s %8s %10s %7s\n", "on GPUs", "times", "seconds", "share");
    for (size_t i = 0; i < g->n_steps; i++) {
        const cuzk_step *s = &g->steps[i];

        fprintf(f, "%-24s %8llu %10.4f", s->name, (unsigned long long)s->n, seconds(s->total_ns));
        if (strncmp(s->name, "between", 7) != 0) /* which is not within that time */
            fprintf(f, " %6.1f%%", share_of(s->total_ns, g->window_ns));
        fprintf(f, "\n");
    }
    fprintf(f, "%-24s %8llu %10.4f  device busy while work is queued %.2f%%\n",
            "first kernel to last", (unsigned long long)g->proofs, seconds(g->window_ns),
            share_of(g->busy_ns, g->window_ns));
    fprintf(f, "last kernel to prove_start returning %.3f ms, at most %.3f ms\n",
            (double)g->tail_ns / (double)g->proofs * 1e-6, (double)g->worst_tail_ns * 1e-6);
}

static void print_attribution(const cuzk_attribution *a, FILE *f)
{
    fprintf(f, "%-24s %8s %10s %7s\n", "step", "times", "seconds", "share");
    for (size_t i = 0; i < a->n_steps; i++)
        fprintf(f, "%-24s %8llu %10.4f %6.1f%%\n", a->steps[i].name,
                (unsigned long long)a->steps[i].n, seconds(a->steps[i].total_ns),
                100.0 * (double)a->steps[i].total_ns / (double)a->wall_ns);
    fprintf(f, "%-24s %8s %10.4f  attributed %.2f%%\n", "wall", "", seconds(a->wall_ns),
            coverage(a));
    if (a->worst_gap_ns > 0)
        fprintf(f, "largest gap %.3f ms, %s\n", (double)a->worst_gap_ns * 1e-6, a->worst_gap);
    print_gpu(&a->gpu, f);
    fprintf(f, "peak of budgeted memory %.1f MiB\n", (double)a->peak_memory / 1048576.0);
}

static void json_steps(const cuzk_step *s, size_t n)
{
    printf(",\"steps\":[");
    for (size_t i = 0; i < n; i++) {
        printf("%s{\"name\":", i == 0 ? "" : ",");
        report_json_string(s[i].name);
        printf(",\"n\":%llu,\"total_ns\":%llu}", (unsigned long long)s[i].n,
               (unsigned long long)s[i].total_ns);
    }
    printf("]");
}

static void json_gpu(const cuzk_gpu_times *g)
{
    if (g->proofs == 0) return;
    printf(",\"gpu\":{\"proofs\":%llu,\"window_ns\":%llu,\"busy_ns\":%llu,\"busy\":%.4f,"
           "\"tail_ns\":%llu,\"worst_tail_ns\":%llu",
           (unsigned long long)g->proofs, (unsigned long long)g->window_ns,
           (unsigned long long)g->busy_ns, share_of(g->busy_ns, g->window_ns) / 100.0,
           (unsigned long long)g->tail_ns, (unsigned long long)g->worst_tail_ns);
    json_steps(g->steps, g->n_steps);
    printf("}");
}

static void json_attribution(const cuzk_attribution *a)
{
    printf(",\"wall_ns\":%llu,\"attributed_ns\":%llu,\"coverage\":%.4f,\"worst_gap_ns\":%llu,"
           "\"worst_gap\":",
           (unsigned long long)a->wall_ns, (unsigned long long)a->attributed_ns,
           coverage(a) / 100.0, (unsigned long long)a->worst_gap_ns);
    report_json_string(a->worst_gap);
    printf(",\"peak_memory\":%llu", (unsigned long long)a->peak_memory);
    json_steps(a->steps, a->n_steps);
    json_gpu(&a->gpu);
}

static void json_warnings(const report *r)
{
    printf(",\"warnings\":[");
    for (size_t i = 0; i < r->n_warnings; i++) {
        printf("%s{\"class\":\"%s\",\"where\":", i == 0 ? "" : ",",
               cuzk_class_name(r->warnings[i].klass));
        report_json_string(r->warnings[i].where);
        printf(",\"message\":");
        report_json_string(r->warnings[i].message);
        printf("}");
    }
    printf("]");
    if (r->dropped != 0) printf(",\"warnings_dropped\":%zu", r->dropped);
}

cuzk_status report_trace(report *r, cuzk_engine *e)
{
    cuzk_buffer b;

    if (r->o->trace == NULL || r->traced) return CUZK_OK;
    r->traced = true;
    TRY(cuzk_trace(e, &b));
    cuzk_status st = file_write_whole(r->o->trace, b.data, b.size);
    cuzk_buffer_clear(&b);
    return st;
}

int report_done(report *r, cuzk_engine *e, const char *members, const char *text)
{
    cuzk_attribution a;

    cuzk_status st = report_trace(r, e);
    report_clear(r);
    if (st != CUZK_OK) return report_failure(r, st);
    cuzk_last_attribution(e, &a);
    if (r->o->json) {
        printf("{\"ok\":true%s", members);
        json_attribution(&a);
        json_warnings(r);
        printf("}\n");
        return 0;
    }
    if (*text != 0) printf("%s\n", text);
    if (r->o->time) print_attribution(&a, stderr);
    return 0;
}

void report_time(cuzk_engine *e)
{
    cuzk_attribution a;
    cuzk_last_attribution(e, &a);
    print_attribution(&a, stderr);
}

int report_verdict(report *r, cuzk_engine *e, bool valid)
{
    int code = report_done(r, e, valid ? ",\"valid\":true" : ",\"valid\":false",
                           valid ? "valid" : "NOT VALID: the pairing does not hold");
    return code == 0 && !valid ? 1 : code;
}

static int exit_code(cuzk_status st)
{
    switch (st) {
    case CUZK_OK: return 0;
    case CUZK_EINVAL: return 2;
    case CUZK_EDATA: return 3;
    case CUZK_ENOMEM:
    case CUZK_EBUDGET:
    case CUZK_EIO:
    case CUZK_ETIMEOUT: return 4;
    case CUZK_EDEVICE: return 5;
    case CUZK_ECANCELLED: return got_signal == SIGTERM ? 143 : 130;
    case CUZK_EBUG: break;
    }
    return 70;
}

/** The failure's class; of those that have none, what they are. */
static const char *class_of(const cuzk_error *e, cuzk_status st)
{
    if (e->klass != CUZK_CLASS_NONE) return cuzk_class_name(e->klass);
    if (st == CUZK_EINVAL) return "usage";
    if (st == CUZK_ECANCELLED) return "cancelled";
    return st == CUZK_ETIMEOUT ? "timeout" : cuzk_class_name(CUZK_CLASS_BUG);
}

int report_usage(const options *o, const char *text, const char *what)
{
    const char *c = o->command, *gap = what == NULL ? "" : " ";

    if (what == NULL) what = "";
    if (o->json) {
        char message[512];

        (void)snprintf(message, sizeof message, "%s%s%s", text, gap, what);
        printf("{\"ok\":false,\"class\":\"usage\",\"where\":\"\",\"message\":");
        report_json_string(message);
        printf("}\n");
    } else {
        fprintf(stderr, "cuzk %s: %s%s%s (cuzk %s%s--help)\n", c, text, gap, what, c,
                *c == 0 ? "" : " ");
    }
    return 2;
}

int report_failure(report *r, cuzk_status st)
{
    const cuzk_error *e = cuzk_last_error();

    report_clear(r);
    if (r->o->json) {
        printf("{\"ok\":false,\"class\":\"%s\",\"where\":", class_of(e, st));
        report_json_string(e->where);
        printf(",\"message\":");
        report_json_string(e->message);
        json_warnings(r);
        printf("}\n");
    } else {
        bool named = e->where[0] != 0 && strstr(e->message, e->where) == NULL;
        fprintf(stderr, "cuzk %s: %s%s%s", r->o->command, named ? e->where : "", named ? ": " : "",
                e->message);
        if (e->klass != CUZK_CLASS_NONE) fprintf(stderr, " [%s]", cuzk_class_name(e->klass));
        if (st == CUZK_EBUG) fprintf(stderr, " (please report: %s:%d)", e->file, e->line);
        fprintf(stderr, "\n");
    }
    return exit_code(st);
}
