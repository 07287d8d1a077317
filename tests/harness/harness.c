/*
 * harness/harness.c - checks, seeded random, paths and skips of the test programs
 *
 * Kept strings and the temporary folder are freed when the program exits. Reasons of skips go to
 * stdout as "SKIP-REASON: text", which tools/run_tests collects.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <sys/random.h>
#include <unistd.h>

typedef struct kept {
    struct kept *next;
    char text[];
} kept;

static kept *kept_strings;
static const char *temp_dir;
static uint64_t seed, random_state;

/* ---- start and end ---- */

static uint64_t parse_u64(const char *name, const char *text)
{
    uint64_t v = 0;

    if (*text == '\0') text = "?";
    for (const char *p = text; *p != '\0'; p++) {
        if (*p < '0' || *p > '9' || v > (UINT64_MAX - 9) / 10) {
            (void)fprintf(stderr, "%s is \"%s\", wanted: a decimal number below 2^60\n", name,
                          text);
            exit(2);
        }
        v = 10 * v + (uint64_t)(*p - '0');
    }
    return v;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void finish(void)
{
    if (temp_dir != NULL) (void)nftw(temp_dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    while (kept_strings != NULL) {
        kept *next = kept_strings->next;
        free(kept_strings);
        kept_strings = next;
    }
}

/* Line buffering keeps cmocka's stdout and stderr in order when both go to one pipe. */
__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("CUZK_TEST_SEED");

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (text != NULL) {
        seed = parse_u64("CUZK_TEST_SEED", text);
    } else if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed) {
        seed >>= 16; /* short enough to be typed again */
    }
    random_state = seed;
    (void)printf("CUZK_TEST_SEED=%" PRIu64 "\n", seed);
    (void)atexit(finish);
}

static const char *keep(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    kept *k = malloc(sizeof *k + size);

    if (k == NULL) harness_fail("out of memory");
    (void)snprintf(k->text, size, "%s%s%s", a, b, c);
    k->next = kept_strings;
    kept_strings = k;
    return k->text;
}

/* ---- ending a test ---- */

__attribute__((format(printf, 2, 0))) static void print_line(const char *prefix, const char *fmt,
                                                             va_list ap)
{
    char text[1024];

    (void)vsnprintf(text, sizeof text, fmt, ap);
    (void)printf("%s%s\n", prefix, text);
}

void harness_skip(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_line("SKIP-REASON: ", fmt, ap);
    va_end(ap);
    skip();
    abort(); /* skip() does not come back */
}

void harness_missing(const char *fmt, ...)
{
    const char *ci = getenv("CI");
    bool in_ci = ci != NULL && strcmp(ci, "true") == 0;
    va_list ap;

    va_start(ap, fmt);
    print_line(in_ci ? "missing, and CI=true: " : "SKIP-REASON: missing ", fmt, ap);
    va_end(ap);
    if (in_ci) fail();
    skip();
    abort(); /* fail() and skip() do not come back */
}

void harness_fail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_line("failed: ", fmt, ap);
    va_end(ap);
    fail();
    abort(); /* fail() does not come back */
}

/* ---- statuses ---- */

static void print_last_error(void)
{
    const cuzk_error *e = cuzk_last_error();

    print_error("    last error: %s, class %s, at \"%s\": %s (%s:%d)\n",
                cuzk_status_name(e->status), cuzk_class_name(e->klass), e->where, e->message,
                e->file != NULL ? e->file : "?", e->line);
}

void harness_status_is(cuzk_status st, cuzk_status want, const char *expr, const char *file,
                       int line)
{
    if (st == want) return;
    print_error("%s is %s, wanted %s\n", expr, cuzk_status_name(st), cuzk_status_name(want));
    if (st != CUZK_OK) print_last_error();
    _fail(file, line);
}

void harness_status_ok(cuzk_status st, const char *expr, const char *file, int line)
{
    harness_status_is(st, CUZK_OK, expr, file, line);
}

void harness_error_class(cuzk_class want, const char *file, int line)
{
    const cuzk_error *e = cuzk_last_error();

    if (e->klass == want) return;
    print_error("wanted class %s\n", cuzk_class_name(want));
    print_last_error();
    _fail(file, line);
}

void harness_error_mentions(const char *text, const char *file, int line)
{
    const cuzk_error *e = cuzk_last_error();

    if (strstr(e->message, text) != NULL || strstr(e->where, text) != NULL) return;
    print_error("wanted an error that mentions \"%s\"\n", text);
    print_last_error();
    _fail(file, line);
}

/* ---- bytes ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

void harness_from_hex(void *out, size_t size, const char *hex)
{
    uint8_t *bytes = out;
    size_t digits = 0;

    for (const char *p = hex; *p != '\0'; p++) {
        int d = hex_digit(*p);

        if (*p == ' ' || *p == '\n') continue;
        if (d < 0) harness_fail("not a hex digit: '%c' at offset %td", *p, p - hex);
        if (digits == 2 * size) harness_fail("hex text longer than %zu bytes", size);
        if (digits % 2 == 0)
            bytes[digits / 2] = (uint8_t)(d << 4);
        else
            bytes[digits / 2] |= (uint8_t)d;
        digits++;
    }
    if (digits != 2 * size) harness_fail("hex text of %zu digits, wanted %zu", digits, 2 * size);
}

static void print_hex(const char *label, const uint8_t *bytes, size_t from, size_t to)
{
    char text[2 * 64 + 1] = "";

    for (size_t i = from; i < to && i - from < 64; i++) {
        (void)snprintf(text + 2 * (i - from), 3, "%02x", bytes[i]);
    }
    print_error("    %s %s\n", label, text);
}

void harness_bytes_equal(const void *got, const void *want, size_t size, const char *expr,
                         const char *file, int line)
{
    const uint8_t *g = got, *w = want;
    size_t at = 0, from, to;

    while (at < size && g[at] == w[at]) at++;
    if (at == size) return;
    from = at < 32 ? 0 : at - 32;
    to = size - from < 64 ? size : from + 64;
    print_error("%s differs at byte %zu of %zu; from byte %zu:\n", expr, at, size, from);
    print_hex("got   ", g, from, to);
    print_hex("wanted", w, from, to);
    _fail(file, line);
}

void harness_hex_equal(const void *got, size_t size, const char *want, const char *expr,
                       const char *file, int line)
{
    uint8_t *bytes = calloc(1, size + 1);

    if (bytes == NULL) harness_fail("out of memory");
    harness_from_hex(bytes, size, want);
    harness_bytes_equal(got, bytes, size, expr, file, line);
    free(bytes);
}

/* ---- random ---- */

uint64_t harness_seed(void)
{
    return seed;
}

/* splitmix64: one addition, two multiply-xorshift rounds (Steele, Lea, Flood, OOPSLA 2014) */
uint64_t harness_random_u64(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t harness_random_below(uint64_t n)
{
    uint64_t limit, v;

    if (n == 0) harness_fail("harness_random_below(0)");
    limit = UINT64_MAX - UINT64_MAX % n; /* a multiple of n, so that each rest is as likely */
    do v = harness_random_u64();
    while (v >= limit);
    return v % n;
}

void harness_random_bytes(void *out, size_t size)
{
    uint8_t *bytes = out;

    for (size_t i = 0; i < size; i += 8) {
        uint64_t v = harness_random_u64();
        memcpy(bytes + i, &v, size - i < 8 ? size - i : 8);
    }
}

size_t harness_iters(size_t normal)
{
    const char *text = getenv("CUZK_TEST_ITERS");

    return text == NULL ? normal : (size_t)parse_u64("CUZK_TEST_ITERS", text);
}

enum harness_level harness_level(void)
{
    const char *text = getenv("CUZK_TEST_LEVEL");

    if (text == NULL || strcmp(text, "check") == 0) return HARNESS_CHECK;
    if (strcmp(text, "all") == 0) return HARNESS_ALL;
    if (strcmp(text, "long") == 0) return HARNESS_LONG;
    harness_fail("CUZK_TEST_LEVEL is \"%s\", wanted: check, all or long", text);
}

/* ---- files ---- */

const char *harness_fixture(const char *rel)
{
    const char *root = getenv("CUZK_FIXTURES");
    const char *path = keep(root != NULL && *root != '\0' ? root : HARNESS_FIXTURES, "/", rel);

    if (access(path, R_OK) == 0) return path;
    path = keep(HARNESS_TEST_DIR, "/vectors/", rel); /* the small ones travel with the source */
    if (access(path, R_OK) != 0) harness_missing("fixture %s", rel);
    return path;
}

const char *harness_vector(const char *rel)
{
    const char *path = keep(HARNESS_TEST_DIR, "/vectors/", rel);

    if (access(path, R_OK) != 0) harness_fail("no such vector: %s", path);
    return path;
}

const char *harness_temp_dir(void)
{
    const char *root = getenv("TMPDIR");
    char path[512];

    if (temp_dir != NULL) return temp_dir;
    (void)snprintf(path, sizeof path, "%s/cuzk-test-XXXXXX",
                   root != NULL && *root != '\0' ? root : "/tmp");
    if (mkdtemp(path) == NULL) harness_fail("mkdtemp(%s): %s", path, strerror(errno));
    temp_dir = keep(path, "", "");
    return temp_dir;
}

const char *harness_temp_path(const char *name)
{
    return keep(harness_temp_dir(), "/", name);
}

uint8_t *harness_read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data;
    long end;

    if (f == NULL) harness_fail("%s: %s", path, strerror(errno));
    if (fseek(f, 0, SEEK_END) != 0 || (end = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0) {
        (void)fclose(f);
        harness_fail("%s: its size is unknown", path);
    }
    data = malloc((size_t)end + 1);
    if (data == NULL || fread(data, 1, (size_t)end, f) != (size_t)end) {
        (void)fclose(f);
        free(data);
        harness_fail("%s: %ld bytes could not be read", path, end);
    }
    (void)fclose(f);
    data[end] = 0;
    *size = (size_t)end;
    return data;
}

void harness_write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    bool good;

    if (f == NULL) harness_fail("%s: %s", path, strerror(errno));
    good = fwrite(data, 1, size, f) == size;
    good = fclose(f) == 0 && good;
    if (!good) harness_fail("%s: %zu bytes could not be written", path, size);
}
