/*
 * unit/app/test_config.c - the configuration: defaults, every key, what is refused and how that reads, what SIGHUP may change
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "harness/harness.h"

#include "app/config.h"
#include "app/config_int.h"
#include "base/file.h"

static const config_source no_options;

static config *read_ok(const char *text)
{
    config *c = NULL;

    assert_status_ok(config_read_text(&c, text, strlen(text), "c.toml", &no_options));
    return c;
}

static void test_defaults(void **state)
{
    config *c = NULL;

    (void)state;
    assert_status_ok(config_read_text(&c, "", 0, NULL, &no_options));
    assert_null(c->path);
    assert_int_equal(c->listen.n, 1);
    assert_string_equal(c->listen.item[0], "unix:///run/curio/cuzk.sock");
    assert_int_equal(c->status_listen.n, 0);
    assert_int_equal(c->plaintext_from.n, 0);
    assert_string_equal(c->tls_cert, "");
    assert_int_equal(c->max_message, 256u << 20);
    assert_int_equal(c->max_requests, 1024);
    assert_int_equal(c->max_inflight_bytes, UINT64_C(2) << 30);
    assert_int_equal(c->drain_timeout_ms, 600000);
    assert_string_equal(c->store_path, "/var/lib/cuzk/jobs.db");
    assert_int_equal(c->results_keep_ms, 86400000);
    assert_int_equal(c->store_max_size, UINT64_C(64) << 30);
    assert_false(c->cancel_orphans);
    assert_int_equal(c->retries, 2);
    assert_int_equal(c->max_crashes, 3);
    assert_int_equal(c->total_budget, 0);
    assert_true(c->safety_margin == UINT64_MAX);
    assert_int_equal(c->critical_reserve, UINT64_C(1) << 30);
    assert_int_equal(c->eviction_min_idle_ms, 300000);
    assert_int_equal(c->gpu_devices.n, 0);
    assert_int_equal(c->gpu_workers_per_device, 2);
    assert_string_equal(c->cpu_device, "auto");
    assert_true(c->sort_by_type);
    assert_int_equal(c->max_parallel_synthesis, 18);
    assert_int_equal(c->n_circuits, 0);
    assert_string_equal(c->log_level, "info");
    assert_string_equal(c->log_format, "text");
    assert_int_equal(c->tracing_keep_ms, 1800000);
    assert_int_equal(c->n_warnings, 0);
    config_free(c);
    config_free(NULL);
}

static const char everything[] =
    "[daemon]\nlisten = ['unix:///tmp/a.sock', '127.0.0.1:1']\nstatus_listen = '127.0.0.1:2'\n"
    "plaintext_from = ['10.0.0.0/8']\ntls_cert = 'c'\ntls_key = 'k'\ntls_client_ca = 'a'\n"
    "tokens_file = 't'\nmax_message = '1MiB'\nmax_requests = 7\nmax_inflight_bytes = '3GB'\n"
    "cors_origins = ['https://x.example']\nhost_names = ['cuzk.example']\ndrain_timeout = 90\n"
    "[store]\nurl = 'sqlite:///tmp/x.db'\nresults_keep = '7d'\nmax_size = '1TiB'\n"
    "[jobs]\ncancel_orphans = true\nretries = 0\nmax_crashes = 7\n"
    "[memory]\ntotal_budget = '16GiB'\nsafety_margin = '1GiB'\ncritical_reserve = 0\n"
    "eviction_min_idle = '1500ms'\n"
    "[cpu]\ndevice = 'on'\ntable = 'generic'\n"
    "[scheduler]\nmax_batch_size = 1\nmax_batch_wait_ms = 5\nsort_by_type = false\n"
    "[synthesis]\nthreads = 3\n[pipeline]\nsynthesis_concurrency = 4\nmax_parallel_synthesis = 5\n"
    "[srs]\nparam_cache = '/keys'\npreload = ['porep-32g', 'winning-32g']\n"
    "[circuits.mult]\nzkey = 'm.zkey'\n"
    "[circuits.big]\nzkey = 'b.zkey'\nr1cs = 'b.r1cs'\nwitness_command = ['w', '-x']\n"
    "max_witness = '10MiB'\n"
    "[logging]\nlevel = 'debug'\nformat = 'json'\n[tracing]\nring = '8MiB'\nkeep = '1h'\n";

static void test_everything(void **state)
{
    config *c = read_ok(everything);

    (void)state;
    assert_string_equal(c->path, "c.toml");
    assert_int_equal(c->listen.n, 2);
    assert_string_equal(c->listen.item[1], "127.0.0.1:1");
    assert_string_equal(c->status_listen.item[0], "127.0.0.1:2");
    assert_string_equal(c->plaintext_from.item[0], "10.0.0.0/8");
    assert_string_equal(c->tls_cert, "c");
    assert_string_equal(c->tls_key, "k");
    assert_string_equal(c->tls_client_ca, "a");
    assert_string_equal(c->tokens_file, "t");
    assert_int_equal(c->max_message, 1u << 20);
    assert_int_equal(c->max_requests, 7);
    assert_int_equal(c->max_inflight_bytes, UINT64_C(3000000000));
    assert_string_equal(c->cors_origins.item[0], "https://x.example");
    assert_string_equal(c->host_names.item[0], "cuzk.example");
    assert_int_equal(c->drain_timeout_ms, 90000);
    assert_string_equal(c->store_path, "/tmp/x.db");
    assert_int_equal(c->results_keep_ms, 7 * UINT64_C(86400000));
    assert_int_equal(c->store_max_size, UINT64_C(1) << 40);
    assert_true(c->cancel_orphans);
    assert_int_equal(c->retries, 0);
    assert_int_equal(c->max_crashes, 7);
    assert_int_equal(c->total_budget, UINT64_C(16) << 30);
    assert_int_equal(c->safety_margin, UINT64_C(1) << 30);
    assert_int_equal(c->critical_reserve, 0);
    assert_int_equal(c->eviction_min_idle_ms, 1500);
    assert_string_equal(c->cpu_device, "on");
    assert_string_equal(c->cpu_table, "generic");
    assert_false(c->sort_by_type);
    assert_int_equal(c->synthesis_threads, 3);
    assert_int_equal(c->tracing_ring, 8 << 20);
    assert_int_equal(c->synthesis_concurrency, 4);
    assert_int_equal(c->max_parallel_synthesis, 5);
    assert_string_equal(config_params_dir(c, "/from/env"), "/keys");
    assert_int_equal(c->preload.n, 2);
    assert_string_equal(c->preload.item[1], "winning-32g");
    assert_int_equal(c->n_circuits, 2);
    assert_string_equal(c->circuits[0].name, "mult");
    assert_string_equal(c->circuits[0].zkey, "m.zkey");
    assert_null(c->circuits[0].r1cs);
    assert_null(c->circuits[0].witness_command);
    assert_string_equal(c->circuits[1].r1cs, "b.r1cs");
    assert_int_equal(c->circuits[1].n_witness_command, 2);
    assert_string_equal(c->circuits[1].witness_command[1], "-x");
    assert_int_equal(c->circuits[1].max_witness, 10u << 20);
    assert_string_equal(c->log_level, "debug");
    assert_string_equal(c->log_format, "json");
    assert_int_equal(c->tracing_keep_ms, 3600000);
    assert_int_equal(c->n_warnings, 0);
    config_free(c);
}

static bool warned(const config *c, const char *key)
{
    size_t n = strlen(key);
    unsigned found = 0;

    for (size_t i = 0; i < c->n_warnings; i++)
        found += strncmp(c->warning[i], key, n) == 0 && c->warning[i][n] == ':';
    assert_true(found <= 1);
    return found == 1;
}

/* A file of the Rust daemon starts; what means nothing here is told once each. */
static void test_rust_daemon(void **state)
{
    static const char *const unused[] = {
        "pipeline.enabled",           "pipeline.synthesis_lookahead",
        "pipeline.slot_size",         "pipeline.max_gpu_queue_depth",
        "memory.pinned_budget",       "memory.working_memory_budget",
        "synthesis.partition_workers"};
    size_t want = sizeof unused / sizeof unused[0] + 1;
    config_source s = {.path = harness_vector("config/rust-daemon.toml")};
    config *c = NULL;

    (void)state;
    assert_status_ok(config_read(&c, &s));
    for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++)
        if (!warned(c, unused[i])) harness_fail("no warning: %s", unused[i]);
#ifndef CUZK_CUDA
    static const char *const gpu[] = {"gpus.devices", "gpus.gpu_workers_per_device"};
    for (size_t i = 0; i < sizeof gpu / sizeof gpu[0]; i++)
        if (!warned(c, gpu[i])) harness_fail("no warning: %s", gpu[i]);
    want += sizeof gpu / sizeof gpu[0];
#endif
    assert_true(warned(c, "gpus.gpu_threads")); /* synthesis.threads decides */
    assert_int_equal(c->n_warnings, want);
    assert_string_equal(c->listen.item[0], "0.0.0.0:9820");
    assert_int_equal(c->gpu_devices.n, 1);
    assert_string_equal(c->gpu_devices.item[0], "0");
    assert_int_equal(c->safety_margin, UINT64_C(5) << 30);
    assert_int_equal(c->synthesis_threads, 64);
    assert_string_equal(c->preload.item[0], "porep-32g");
    assert_string_equal(c->log_format, "json");
    config_free(c);
}

static const struct {
    const char *text, *place, *message;
} bad[] = {
    {"[daemon]\nlitsen = 1", "c.toml:2:1",
     "daemon.litsen: unknown key; did you mean daemon.listen?"},
    {"[deamon]\nlisten = 'x:1'", "c.toml:2:1",
     "deamon.listen: unknown key; did you mean daemon.listen?"},
    {"[store]\nlisten = 'x:1'", "c.toml:2:1", "did you mean daemon.listen?"},
    {"max_requests = 3", "c.toml:1:1",
     "max_requests: unknown key; did you mean daemon.max_requests?"},
    {"[logging]\nlevle = 'info'", "c.toml:2:1", "did you mean logging.level?"},
    {"[nonsense]", "c.toml:1:2", "nonsense: unknown table"},
    {"[nonsense]\nzzz = 1", "c.toml:2:1", "nonsense.zzz: unknown key"},
    {"[daemon.listen]\nx = 1", "c.toml:1:9", "daemon.listen: a string or a list"},
    {"daemon = 1", "c.toml:1:1", "daemon: it is a table"},
    {"[daemon]\nmax_message = '12 parsecs'", "c.toml:2:1",
     "daemon.max_message: '12 parsecs' is no size"},
    {"[daemon]\nmax_message = -1", "c.toml:2:1", "a size is wanted"},
    {"[daemon]\nmax_message = 3", "c.toml:2:1", "3, allowed 1024..2147483648"},
    {"[daemon]\nmax_message = '99999999999999999999'", "c.toml:2:1", "no size"},
    {"[daemon]\nmax_message = '17179869184GiB'", "c.toml:2:1", "no size"},
    {"[daemon]\nmax_message = '1.5GiB'", "c.toml:2:1", "no size"},
    {"[daemon]\nmax_requests = 0", "c.toml:2:1", "0, allowed 1..1000000"},
    {"[daemon]\nmax_requests = '7'", "c.toml:2:1", "a number from 1 to 1000000"},
    {"[daemon]\ndrain_timeout = '10 minutes'", "c.toml:2:1", "no duration"},
    {"[daemon]\ndrain_timeout = true", "c.toml:2:1", "a duration is wanted"},
    {"[daemon]\ndrain_timeout = 9223372036854775807", "c.toml:2:1", "duration"},
    {"[daemon]\nlisten = []", "c.toml", "daemon.listen: no address"},
    {"[daemon]\nlisten = ['']", "c.toml:2:11", "empty string"},
    {"[daemon]\nlisten = [1]", "c.toml:2:11", "strings are wanted"},
    {"[daemon]\ntls_cert = 'x'", "c.toml", "daemon.tls_cert: tls_cert and tls_key go together"},
    {"[daemon]\ntls_key = 'x'", "c.toml", "daemon.tls_key"},
    {"[daemon]\ntls_client_ca = 'x'", "c.toml", "daemon.tls_client_ca: it needs"},
    {"[daemon]\ntls_cert = 3", "c.toml:2:1", "a string is wanted"},
    {"[daemon]\nmax_inflight_bytes = '1MiB'", "c.toml", "below max_message"},
    {"[store]\nurl = 'postgresql://h/db'", "c.toml", "store.url: PostgreSQL"},
    {"[store]\nurl = 'sqlite://jobs.db'", "c.toml", "not of the form"},
    {"[store]\nurl = '/var/lib/x.db'", "c.toml", "not of the form"},
    {"[jobs]\ncancel_orphans = 'true'", "c.toml:2:1", "without quotes"},
    {"[cpu]\ndevice = 'maybe'", "c.toml:2:1", "'maybe' is none of auto|on|off"},
    {"[cpu]\ndevice = true", "c.toml:2:1", "one of auto|on|off is wanted"},
    {"[cpu]\ntable = 'avx9'", "c.toml", "cpu.table: 'avx9' is none of this machine's: generic"},
    {"[gpus]\ndevices = 'some'", "c.toml:2:1", "or \"none\""},
    {"[gpus]\ndevices = [-1]", "c.toml:2:12", "ordinals and strings"},
    {"[logging]\nlevel = 'INFO'", "c.toml:2:1", "none of error|warn|info|debug"},
    {"[circuits]\nm = 1", "c.toml:2:1", "circuits.m: a table is wanted"},
    {"[circuits.m]", "c.toml:1:11", "zkey is missing"},
    {"[circuits.m]\nzkey = ''", "c.toml:2:1", "path of a file"},
    {"[circuits.'a b']\nzkey = 'x'", "c.toml:1:11", "a name has letters"},
    {"[circuits.m]\nzkey = 'x'\nwasm = 'y'", "c.toml:3:1", "circuits.m.wasm: unknown key"},
    {"[circuits.m]\nzkey = 'x'\nwitness_command = 'sh -c x'", "c.toml:3:1", "a list is wanted"},
    {"[circuits.m]\nzkey = 'x'\nwitness_command = []", "c.toml:3:1", "a list is wanted"},
    {"[circuits.m]\nzkey = 'x'\nmax_witness = 0", "c.toml:3:1", "0 bytes"},
    {"[daemon]\nlisten = 'a:1'\nlisten = 'b:1'", "c.toml:3:1", "listen is there twice"},
    {"[daemon]\nmax_requests = 1.5", "c.toml:2:16", "floating-point"},
    {"[pipeline]\nenabled = true\nslots = 3", "c.toml:3:1", "pipeline.slots: unknown key"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        config *c = NULL;
        if (config_read_text(&c, bad[i].text, strlen(bad[i].text), "c.toml", &no_options) ==
            CUZK_OK)
            harness_fail("accepted: %s", bad[i].text);
        assert_null(c);
        if (strcmp(cuzk_last_error()->where, bad[i].place) != 0 ||
            strstr(cuzk_last_error()->message, bad[i].message) == NULL ||
            cuzk_last_error()->status != CUZK_EDATA)
            harness_fail("%s\n-> %s: %s", bad[i].text, cuzk_last_error()->where,
                         cuzk_last_error()->message);
    }
}

static void test_options(void **state)
{
    const char *listen[] = {"127.0.0.1:0", "unix:///tmp/z"};
    config_source s = {.listen = listen, .n_listen = 2, .log_level = "debug"};
    config *c = NULL;

    (void)state;
    assert_status_ok(config_read_text(&c, "", 0, NULL, &s));
    assert_int_equal(c->listen.n, 3); /* added */
    assert_string_equal(c->listen.item[0], "unix:///run/curio/cuzk.sock");
    assert_string_equal(c->listen.item[2], "unix:///tmp/z");
    assert_string_equal(c->log_level, "debug");
    config_free(c);
    c = NULL;
    s.log_level = "loud";
    assert_status_is(config_read_text(&c, "", 0, NULL, &s), CUZK_EINVAL);
    assert_error_mentions("--log-level loud");
    s.log_level = "it's";
    assert_status_is(config_read_text(&c, "", 0, NULL, &s), CUZK_EINVAL);
    s = (config_source){.path = harness_temp_path("no-such.toml")};
    assert_status_is(config_read(&c, &s), CUZK_EIO);
    assert_error_mentions("no-such.toml");
    s.path = harness_temp_dir();
    assert_status_is(config_read(&c, &s), CUZK_EIO);
    assert_null(c);
}

static void test_params_dir(void **state)
{
    config *c = read_ok("");

    (void)state;
    if (!file_exists("/data/zk/params")) {
        assert_string_equal(config_params_dir(c, "/e"), "/e");
        assert_string_equal(config_params_dir(c, ""), "/var/tmp/filecoin-proof-parameters");
        assert_string_equal(config_params_dir(c, NULL), "/var/tmp/filecoin-proof-parameters");
    }
    config_free(c);
}

static void test_lacking(void **state)
{
    config *c = read_ok("[scheduler]\nmax_batch_size = 4\nmax_batch_wait_ms = 3\n"
                        "[gpus]\ndevices = 'none'\ngpu_threads = 2\n");

    (void)state;
    assert_true(warned(c, "scheduler.max_batch_size"));
    assert_true(warned(c, "scheduler.max_batch_wait_ms"));
    assert_false(warned(c, "gpus.devices")); /* asks for what is done anyway */
    config_free(c);
}

static char differing[512];
static void take_key(void *ctx, const char *key)
{
    size_t n = strlen(differing);

    (void)ctx;
    (void)snprintf(differing + n, sizeof differing - n, "%s ", key);
}

static void test_reload(void **state)
{
    config *a = read_ok(everything);
    config *b =
        read_ok("[daemon]\nlisten = 'unix:///tmp/a.sock'\nmax_requests = 9\n"
                "max_message = '2MiB'\n[store]\nurl = 'sqlite:///tmp/x.db'\n"
                "[memory]\ntotal_budget = '16GiB'\nsafety_margin = '1GiB'\ncritical_reserve = 0\n"
                "[cpu]\ndevice='on'\ntable = 'generic'\n[synthesis]\nthreads = 3\n"
                "[srs]\nparam_cache = '/keys'\npreload = ['porep-32g', 'winning-64g']\n"
                "[logging]\nlevel='error'\n[tracing]\nring = '8MiB'\nkeep = 3600\n");

    (void)state;
    differing[0] = 0;
    config_not_reloadable(a, a, take_key, NULL);
    assert_string_equal(differing, "");
    config_not_reloadable(a, b, take_key, NULL);
    assert_string_equal(differing,
                        "daemon.listen daemon.status_listen daemon.max_message srs.preload ");
    config_free(a);
    config_free(b);
}

/* docs/cuzk.example.toml is what the table says; with its comment signs taken off it is a configuration of defaults. */
static void test_example(void **state)
{
    mem *m = NULL;
    bytes_out o;
    size_t n;
    const char *path = harness_vector("../../docs/cuzk.example.toml");
    config *c = NULL;

    (void)state;
    assert_status_ok(mem_open(&m, "test", 0, NULL));
    bytes_out_init(&o, m);
    config_write_example(&o);
    assert_status_ok(bytes_out_status(&o));
    uint8_t *file = harness_read_file(path, &n);
    if (n != o.size || memcmp(file, o.data, n) != 0)
        harness_fail("%s is not what `cuzk serve --example` writes", path);
    free(file);

    assert_status_ok(config_read_text(&c, (const char *)o.data, o.size, "e", &no_options));
    assert_int_equal(c->status_listen.n, 1);
    assert_string_equal(c->status_listen.item[0], "127.0.0.1:9821");
    assert_int_equal(c->n_warnings, 0);
    config_free(c);

    /* every key that is commented out has its default */
    char *text = malloc(o.size + 1);
    assert_non_null(text);
    size_t k = 0;
    for (size_t i = 0; i < o.size; i++) {
        bool line = i == 0 || o.data[i - 1] == '\n';
        bool word = i + 1 < o.size &&
                    ((o.data[i + 1] >= 'a' && o.data[i + 1] <= 'z') || o.data[i + 1] == '[');
        if (line && o.data[i] == '#' && word) continue;
        text[k++] = (char)o.data[i];
    }
    assert_status_ok(config_read_text(&c, text, k, "e", &no_options));
    config *d =
        read_ok("[daemon]\nstatus_listen = '127.0.0.1:9821'\n"
                "[memory]\nsafety_margin = '5GiB'\n[srs]\nparam_cache = '/data/zk/params'\n");
    differing[0] = 0;
    config_not_reloadable(c, d, take_key, NULL);
    assert_string_equal(differing, "");
    for (size_t i = 0; i < config_n_keys; i++) {
        char line[128];
        const char *name = strchr(config_keys[i].name, '.') + 1;
        if (config_keys[i].type == KEY_UNUSED) continue;
        (void)snprintf(line, sizeof line, "\n%s = ", name);
        text[k - 1] = 0;
        if (strstr(text, line) == NULL) harness_fail("the example lacks %s", config_keys[i].name);
    }
    config_free(c);
    config_free(d);
    free(text);
    bytes_out_clear(&o);
    mem_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_everything),
        cmocka_unit_test(test_rust_daemon), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_options),     cmocka_unit_test(test_params_dir),
        cmocka_unit_test(test_lacking),     cmocka_unit_test(test_reload),
        cmocka_unit_test(test_example),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
