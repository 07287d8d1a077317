/*
 * unit/app/test_logger.c - log lines: their form, their limits, and that a slow sink holds nobody up
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "app/logger.h"
#include "app/logger_format.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/json.h"

/* ---- form ---- */

static char text[LOGGER_LINE + 1];

static const char *format(log_style style, int level, const char *event, const cuzk_log_field *f,
                          size_t n)
{
    size_t size = log_format(text, style, 1796032800123, level, event, f, n);

    assert_true(size <= LOGGER_LINE);
    text[size] = 0;
    assert_true(text[size - 1] == '\n' && memchr(text, '\n', size) == text + size - 1);
    return text;
}

static void check_json(const char *line)
{
    json_in j;

    assert_status_ok(json_init(&j, line, strlen(line)));
    assert_status_ok(json_skip(&j));
    assert_status_ok(json_expect(&j, JSON_END, NULL, "end"));
}

static void test_form(void **state)
{
    const cuzk_log_field f[] = {
        {"job", "porep-1000-42", 0},
        {"ms", NULL, -12},
        {"message", "disk \"full\"\n\x01", 0},
        {"empty", "", 0},
        {"token", "hunter2", 0},
        {"bad", "a\xffz", 0},
        {"word", "caf\xc3\xa9", 0},
    };
    const log_style plain = {false, false}, journal = {false, true}, json = {true, true};

    (void)state;
    assert_string_equal(format(plain, CUZK_LOG_WARN, "store_failed", f, 7),
                        "2026-11-30T10:00:00.123Z warn store_failed job=porep-1000-42 ms=-12 "
                        "message=\"disk \\\"full\\\"\\n\\u0001\" empty=\"\" token=*** "
                        "bad=\"a\xef\xbf\xbdz\" word=\"caf\xc3\xa9\"\n");
    assert_string_equal(format(journal, CUZK_LOG_ERROR, "x", NULL, 0),
                        "<3>2026-11-30T10:00:00.123Z error x\n");
    assert_string_equal(
        format(json, CUZK_LOG_INFO, "store_failed", f, 7),
        "{\"time\":\"2026-11-30T10:00:00.123Z\",\"level\":\"info\",\"event\":\"store_failed\","
        "\"job\":\"porep-1000-42\",\"ms\":-12,\"message\":\"disk \\\"full\\\"\\n\\u0001\","
        "\"empty\":\"\",\"token\":\"***\",\"bad\":\"a\xef\xbf\xbdz\",\"word\":\"caf\xc3\xa9\"}\n");
    check_json(text);
    assert_int_equal(logger_level("error"), CUZK_LOG_ERROR);
    assert_int_equal(logger_level("warn"), CUZK_LOG_WARN);
    assert_int_equal(logger_level("debug"), CUZK_LOG_DEBUG);
}

/* Fields of any length, at every place where a line can be full: one line, in JSON one object. */
static void test_cut(void **state)
{
    static char long_text[3000];
    const log_style json = {true, false}, plain = {false, false};

    (void)state;
    for (size_t n = LOGGER_LINE - 200; n < LOGGER_LINE + 50; n++) {
        memset(long_text, 'x', n);
        long_text[n] = 0;
        if (n % 3 == 0) memcpy(long_text + n - 4, "\"\n\x02\\", 4);
        if (n % 3 == 1) memcpy(long_text + n - 4, "\xf0\x9f\x98\x80", 4);
        cuzk_log_field f[] = {{"a", long_text, 0}, {"b", "yes", 0}, {"c", NULL, INT64_MIN}};
        check_json(format(json, CUZK_LOG_INFO, "e", f, 3));
        (void)format(plain, CUZK_LOG_INFO, "e", f, 3);
        f[0].key = long_text;
        check_json(format(json, CUZK_LOG_INFO, "e", f, 3));
    }
}

/* ---- the sink ---- */

typedef struct sink {
    int fd[2];
    logger *l;
} sink;

static void sink_open(sink *s, bool json, int level)
{
    assert_int_equal(pipe(s->fd), 0);
    logger_config c = {.fd = s->fd[1], .json = json, .level = level};
    assert_status_ok(logger_open(&s->l, &c));
}

static char got[1 << 22];

/** Closes the logger and the pipe; all that came out of it. The pipe must have room for what is left. */
static size_t sink_close(sink *s)
{
    size_t n = 0;
    ssize_t k;

    logger_close(s->l);
    assert_int_equal(close(s->fd[1]), 0);
    while ((k = read(s->fd[0], got + n, sizeof got - 1 - n)) > 0) n += (size_t)k;
    assert_int_equal(close(s->fd[0]), 0);
    got[n] = 0;
    return n;
}

static unsigned count(const char *what)
{
    unsigned n = 0;

    for (const char *at = got; (at = strstr(at, what)) != NULL; at += strlen(what)) n++;
    return n;
}

static void test_levels(void **state)
{
    sink s;

    (void)state;
    sink_open(&s, false, CUZK_LOG_WARN);
    logger_say(s.l, CUZK_LOG_INFO, "quiet", NULL, NULL, NULL, 0);
    logger_say(s.l, CUZK_LOG_WARN, "loud", "key", "value", "n", 7);
    logger_set(s.l, CUZK_LOG_DEBUG, true);
    logger_say(s.l, CUZK_LOG_DEBUG, "detail", NULL, NULL, "n", 8);
    logger_flush(s.l);
    logger_line(NULL, CUZK_LOG_INFO, "nobody", NULL, 0);
    (void)sink_close(&s);
    assert_null(strstr(got, "quiet"));
    assert_non_null(strstr(got, "Z warn loud key=value n=7\n"));
    assert_non_null(strstr(got, "\"level\":\"debug\",\"event\":\"detail\",\"n\":8}\n"));
    logger_close(NULL);
}

static void test_bursts(void **state)
{
    sink s;
    mem *m = NULL;
    bytes_out o;
    uint64_t from;

    (void)state;
    for (bool quick = false; !quick;) { /* all of it in one window */
        sink_open(&s, true, CUZK_LOG_INFO);
        from = clock_ns();
        for (unsigned i = 0; i < LOGGER_BURST + 50; i++)
            logger_say(s.l, CUZK_LOG_ERROR, "often", NULL, NULL, "i", i);
        logger_say(s.l, CUZK_LOG_ERROR, "once", NULL, NULL, NULL, 0);
        quick = clock_ns() - from < (uint64_t)LOGGER_WINDOW_MS * 1000000;
        if (!quick) (void)sink_close(&s);
    }
    assert_status_ok(mem_open(&m, "test", 0, NULL));
    bytes_out_init(&o, m);
    logger_metrics(s.l, &o);
    assert_status_ok(bytes_out_status(&o));
    bytes_put_u8(&o, 0);
    assert_non_null(strstr((char *)o.data, "cuzk_log_suppressed_total 50\n"));
    assert_non_null(strstr((char *)o.data, "cuzk_log_lines_total{level=\"error\"} 201\n"));
    bytes_out_clear(&o);
    mem_close(m);
    (void)sink_close(&s);
    assert_int_equal(count("\"event\":\"often\""), LOGGER_BURST);
    assert_int_equal(count("\"event\":\"once\""), 1); /* one event's flood is not another's */
}

/* Nobody reads: who logs goes on at once; the lines that found no room are counted and told when there is room. */
static void test_slow_sink(void **state)
{
    sink s;
    uint64_t from;
    unsigned late = 0;
    char big[1500], event[16];
    size_t n = 0;

    (void)state;
    memset(big, 'y', sizeof big - 1);
    big[sizeof big - 1] = 0;
    sink_open(&s, true, CUZK_LOG_INFO);
    for (unsigned i = 0; i < 1500; i++) {
        (void)snprintf(event, sizeof event, "e%u", i / 100);
        from = clock_ns();
        logger_say(s.l, CUZK_LOG_INFO, event, "text", big, "i", i);
        if (clock_ns() - from > 20000000) late++;
    }
    assert_true(late < 300); /* a machine that stalls now and then is allowed for */
    /* all that the pipe and the ring hold, then room again */
    assert_int_equal(fcntl(s.fd[0], F_SETFL, O_NONBLOCK), 0);
    for (unsigned idle = 0; idle < 3000;) {
        ssize_t k = read(s.fd[0], got + n, sizeof got - 1 - n);
        if (k > 0) {
            n += (size_t)k;
            idle = 0;
            got[n] = 0;
            if (strstr(got + (n > 4000 ? n - 4000 : 0), "log_dropped") != NULL) break;
        } else {
            (void)usleep(20000);
            idle++;
        }
    }
    assert_int_equal(count("\"event\":\"log_dropped\""), 1);
    unsigned long dropped = 0;
    for (const char *at = strstr(strstr(got, "log_dropped"), "\"lines\":") + 8;
         *at >= '0' && *at <= '9'; at++)
        dropped = dropped * 10 + (unsigned long)(*at - '0');
    assert_int_equal(count("\"text\":") + dropped, 1500);
    assert_true(dropped > 100);
    assert_int_equal(fcntl(s.fd[0], F_SETFL, 0), 0);
    (void)sink_close(&s);
}

/* A sink that never takes anything does not keep the program from ending, nor one that has gone. */
static void test_stuck_sink(void **state)
{
    sink s;
    uint64_t from;
    char big[1500];

    (void)state;
    memset(big, 'z', sizeof big - 1);
    big[sizeof big - 1] = 0;
    sink_open(&s, false, CUZK_LOG_INFO);
    for (unsigned i = 0; i < 150; i++) logger_say(s.l, CUZK_LOG_INFO, "e", "t", big, NULL, 0);
    from = clock_ns();
    logger_flush(s.l);
    logger_close(s.l);
    assert_true(clock_ns() - from < UINT64_C(60000000000)); /* a second each, and patience */
    (void)close(s.fd[0]);
    (void)close(s.fd[1]);

    sink_open(&s, false, CUZK_LOG_INFO);
    assert_int_equal(close(s.fd[0]), 0); /* SIGPIPE is ignored, as in the daemon */
    for (unsigned i = 0; i < 100; i++) logger_say(s.l, CUZK_LOG_INFO, "e", "t", big, NULL, 0);
    logger_close(s.l);
    (void)close(s.fd[1]);
}

static void *many(void *arg)
{
    char event[16];

    for (unsigned i = 0; i < 150; i++) {
        (void)snprintf(event, sizeof event, "t%u", i % 7);
        logger_say(arg, CUZK_LOG_INFO, event, "k", "a value", "i", i);
    }
    return NULL;
}

static void test_threads(void **state)
{
    sink s;
    pthread_t t[6];
    size_t n, lines = 0;

    (void)state;
    sink_open(&s, true, CUZK_LOG_INFO);
    for (unsigned i = 0; i < 6; i++) assert_int_equal(pthread_create(&t[i], NULL, many, s.l), 0);
    (void)usleep(1000);
    /* 900 lines of 110 bytes: more than the pipe holds */
    assert_int_equal(fcntl(s.fd[0], F_SETPIPE_SZ, 1 << 20), 1 << 20);
    for (unsigned i = 0; i < 6; i++) assert_int_equal(pthread_join(t[i], NULL), 0);
    n = sink_close(&s);
    for (char *at = got, *end; at < got + n; at = end + 1, lines++) {
        end = strchr(at, '\n');
        assert_non_null(end);
        *end = 0;
        check_json(at);
    }
    assert_int_equal(lines, 900);
}

#ifdef CUZK_VERIFY
static void test_stalled(void **state)
{
    sink s;

    (void)state;
    fault_arm("log sink:600000");
    sink_open(&s, false, CUZK_LOG_INFO);
    for (unsigned i = 0; i < 100; i++) logger_say(s.l, CUZK_LOG_INFO, "e", NULL, NULL, "i", i);
    while (!fault_held("log sink")) (void)usleep(1000); /* nobody waited for it */
    fault_arm(NULL);
    (void)sink_close(&s);
    assert_int_equal(count(" info e i="), 100);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_levels),    cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_slow_sink), cmocka_unit_test(test_stuck_sink),
        cmocka_unit_test(test_threads),
#ifdef CUZK_VERIFY
        cmocka_unit_test(test_stalled),
#endif
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
