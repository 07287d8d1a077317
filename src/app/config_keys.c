/*
 * app/config_keys.c - every key of the configuration: type, default, range, whether SIGHUP takes it over, what it means
 *
 * docs/cuzk.example.toml is made from this table (`cuzk serve --example`), and a test compares the two.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/config_int.h"

#define AT(field) offsetof(config, field)
#define MS_YEAR (UINT64_C(365) * 86400 * 1000)
#define EIB (UINT64_C(1) << 60)
#define UNUSED(key, why) \
    { \
        .name = (key), .type = KEY_UNUSED, .doc = (why) \
    }

const config_key config_keys[] = {
    {.name = "daemon.listen",
     .type = KEY_LIST,
     .offset = AT(listen),
     .def = "\"unix:///run/curio/cuzk.sock\"",
     .doc = "Where gRPC is served: an address or a list of them. unix:///path, host:port (with TLS "
            "when\n"
            "tls_cert is set), tls://host:port, tcp://host:port (always plain)."},
    {.name = "daemon.status_listen",
     .type = KEY_LIST,
     .offset = AT(status_listen),
     .def = "\"\"",
     .shown = "\"127.0.0.1:9821\"",
     .doc = "Where HTTP is served (panel, /status, /metrics, circuits): an address or a list of "
            "them;\n"
            "\"\" (the default without this file): nowhere."},
    {.name = "daemon.plaintext_from",
     .type = KEY_LIST,
     .offset = AT(plaintext_from),
     .def = "[]",
     .reload = true,
     .doc = "Networks that may use TCP without TLS and token, besides loopback: [\"10.0.0.0/24\"]. "
            "Whoever\n"
            "is in them can submit and cancel proofs. Curio's client has neither TLS nor token."},
    {.name = "daemon.tls_cert",
     .type = KEY_TEXT,
     .offset = AT(tls_cert),
     .def = "\"\"",
     .reload = true,
     .doc = "PEM file of the certificate (with its chain) for TLS on TCP; together with tls_key."},
    {.name = "daemon.tls_key",
     .type = KEY_TEXT,
     .offset = AT(tls_key),
     .def = "\"\"",
     .reload = true,
     .doc = "PEM file of its private key."},
    {.name = "daemon.tls_client_ca",
     .type = KEY_TEXT,
     .offset = AT(tls_client_ca),
     .def = "\"\"",
     .reload = true,
     .doc = "PEM file of the authority whose certificates clients must show (mTLS)."},
    {.name = "daemon.tokens_file",
     .type = KEY_TEXT,
     .offset = AT(tokens_file),
     .def = "\"\"",
     .reload = true,
     .doc = "File of bearer tokens, hashed, with their scopes (prove, read, operate)."},
    {.name = "daemon.max_message",
     .type = KEY_SIZE,
     .offset = AT(max_message),
     .def = "\"256MiB\"",
     .min = 1024,
     .max = UINT64_C(2) << 30,
     .doc = "The largest request, also after decompression."},
    {.name = "daemon.max_requests",
     .type = KEY_UNSIGNED,
     .offset = AT(max_requests),
     .def = "1024",
     .reload = true,
     .min = 1,
     .max = 1000000,
     .doc = "Requests at a time; more get RESOURCE_EXHAUSTED or 429."},
    {.name = "daemon.max_inflight_bytes",
     .type = KEY_SIZE,
     .offset = AT(max_inflight_bytes),
     .def = "\"2GiB\"",
     .reload = true,
     .min = 1024,
     .max = EIB,
     .doc =
         "Bytes of requests and answers in memory at a time; more get RESOURCE_EXHAUSTED or 429."},
    {.name = "daemon.cors_origins",
     .type = KEY_LIST,
     .offset = AT(cors_origins),
     .def = "[]",
     .reload = true,
     .doc = "Web pages of other origins that may read from the HTTP server."},
    {.name = "daemon.host_names",
     .type = KEY_LIST,
     .offset = AT(host_names),
     .def = "[]",
     .reload = true,
     .doc = "Names of the HTTP server. Without TLS, a request by a name that is none of its own is "
            "refused (421):\n"
            "a page of another site can make its name point here. Its own are IP addresses, "
            "localhost, the\n"
            "machine's name, those in status_listen and cors_origins, and these: what a proxy or "
            "other machines call it."},
    {.name = "daemon.drain_timeout",
     .type = KEY_DURATION,
     .offset = AT(drain_timeout_ms),
     .def = "\"10m\"",
     .reload = true,
     .max = MS_YEAR,
     .doc = "After SIGTERM: how long what is on a device may take to finish. The rest stays in the "
            "store.\n"
            "The unit's TimeoutStopSec must be longer."},

    {.name = "store.url",
     .type = KEY_TEXT,
     .offset = AT(store_url),
     .def = "\"sqlite:///var/lib/cuzk/jobs.db\"",
     .doc = "The job store. Its payload files lie beside it, in jobs.db.d."},
    {.name = "store.results_keep",
     .type = KEY_DURATION,
     .offset = AT(results_keep_ms),
     .def = "\"24h\"",
     .reload = true,
     .max = MS_YEAR,
     .doc =
         "How long jobs that have ended still answer. Without a store: the latest 10,000 alone."},
    {.name = "store.max_size",
     .type = KEY_SIZE,
     .offset = AT(store_max_size),
     .def = "\"64GiB\"",
     .reload = true,
     .max = EIB,
     .doc = "Bytes of payloads and results; when it is full new work is refused. 0: no limit but "
            "the disk."},

    {.name = "jobs.cancel_orphans",
     .type = KEY_BOOL,
     .offset = AT(cancel_orphans),
     .def = "false",
     .reload = true,
     .doc = "Cancel a job when the last client that waited for it has gone. Curio's preemption "
            "cancels and\n"
            "sends again, and then finds its job further on when this is false."},
    {.name = "jobs.retries",
     .type = KEY_UNSIGNED,
     .offset = AT(retries),
     .def = "2",
     .reload = true,
     .max = 100,
     .doc = "More attempts of a partition after a device fault or a failed self-check."},
    {.name = "jobs.max_crashes",
     .type = KEY_UNSIGNED,
     .offset = AT(max_crashes),
     .def = "3",
     .reload = true,
     .max = 100,
     .doc =
         "A job that was at work each of the last so many times that the daemon died, and got no "
         "further in\n"
         "between, has failed. 0: it is tried for ever."},

    {.name = "memory.total_budget",
     .type = KEY_AUTO,
     .offset = AT(total_budget),
     .def = "\"auto\"",
     .max = EIB,
     .doc = "Host memory for keys, witnesses and requests. auto: the cgroup's limit, else the "
            "machine's\n"
            "memory, less safety_margin."},
    {.name = "memory.safety_margin",
     .type = KEY_SIZE,
     .offset = AT(safety_margin),
     .shown = "\"5GiB\"",
     .max = EIB,
     .doc = "Left to others with auto. Not set: 5 GiB, or 10% if that is less."},
    {.name = "memory.critical_reserve",
     .type = KEY_SIZE,
     .offset = AT(critical_reserve),
     .def = "\"1GiB\"",
     .max = EIB,
     .doc = "Of it, kept for CRITICAL work (WinningPoSt)."},
    {.name = "memory.eviction_min_idle",
     .type = KEY_DURATION,
     .offset = AT(eviction_min_idle_ms),
     .def = "\"5m\"",
     .reload = true,
     .max = MS_YEAR,
     .doc = "A key that was idle for so long may make room for others."},

    {.name = "gpus.devices",
     .type = KEY_DEVICES,
     .offset = AT(gpu_devices),
     .def = "[]",
     .need = NEED_GPU,
     .doc = "Ordinals or UUIDs of the GPUs to use; []: all; \"none\": the CPU alone. One that "
            "cannot be used is a\n"
            "warning."},
    {.name = "gpus.memory_limit",
     .type = KEY_SIZE,
     .offset = AT(gpu_memory_limit),
     .def = "0",
     .need = NEED_GPU,
     .max = EIB,
     .doc = "Device memory to use, per device; 0: all."},
    {.name = "gpus.gpu_workers_per_device",
     .type = KEY_UNSIGNED,
     .offset = AT(gpu_workers_per_device),
     .def = "2",
     .need = NEED_GPU,
     .min = 1,
     .max = 16,
     .doc = "Partitions in flight per device."},
    {.name = "gpus.gpu_threads",
     .type = KEY_UNSIGNED,
     .offset = AT(gpu_threads),
     .def = "0",
     .need = NEED_POOL,
     .max = 1024,
     .doc = "Of the Rust daemon. Here one pool of threads serves devices and synthesis: "
            "synthesis.threads."},

    {.name = "cpu.device",
     .type = KEY_CHOICE,
     .offset = AT(cpu_device),
     .def = "\"auto\"",
     .choices = "auto|on|off",
     .doc = "Prove on the CPU. auto: only where no GPU can be used; on: beside the GPUs too; off: "
            "never, and\n"
            "without a GPU there is no start."},
    {.name = "cpu.table",
     .type = KEY_TEXT,
     .offset = AT(cpu_table),
     .def = "\"auto\"",
     .doc = "Arithmetic kernels: auto, or a name that `cuzk version` lists."},
    {.name = "cpu.derived",
     .type = KEY_CHOICE,
     .offset = AT(derived),
     .def = "\"off\"",
     .choices = "auto|off",
     .doc = "auto: prove with a key's derived points where `cuzk params derive` has left them."},

    {.name = "scheduler.max_batch_size",
     .type = KEY_UNSIGNED,
     .offset = AT(max_batch_size),
     .def = "1",
     .reload = true,
     .need = NEED_BATCHES,
     .min = 1,
     .max = 1024,
     .doc = "Jobs proved together, at most, where a device gains from it. None does yet "
            "(docs/decisions/001-batches.md):\n"
            "a larger number is a warning, and each job is proved by itself."},
    {.name = "scheduler.max_batch_wait_ms",
     .type = KEY_UNSIGNED,
     .offset = AT(max_batch_wait_ms),
     .def = "10000",
     .reload = true,
     .need = NEED_BATCHES,
     .max = 3600000,
     .doc = "How long a batch waits for more, in milliseconds."},
    {.name = "scheduler.sort_by_type",
     .type = KEY_BOOL,
     .offset = AT(sort_by_type),
     .def = "true",
     .reload = true,
     .doc = "Among jobs of equal priority and near age, keep kinds together to spare key loads."},

    {.name = "synthesis.threads",
     .type = KEY_UNSIGNED,
     .offset = AT(synthesis_threads),
     .def = "0",
     .max = 1024,
     .doc = "Threads that synthesise and, where proofs are made on the CPU, prove; 0: all cores."},
    {.name = "pipeline.synthesis_concurrency",
     .type = KEY_UNSIGNED,
     .offset = AT(synthesis_concurrency),
     .def = "0",
     .reload = true,
     .max = 1024,
     .doc = "Jobs decoded at once; 0: as many as memory allows, at most one a core."},
    {.name = "pipeline.max_parallel_synthesis",
     .type = KEY_UNSIGNED,
     .offset = AT(max_parallel_synthesis),
     .def = "18",
     .reload = true,
     .min = 1,
     .max = 1024,
     .doc = "Partitions synthesised at once, at most."},

    {.name = "srs.param_cache",
     .type = KEY_TEXT,
     .offset = AT(param_cache),
     .shown = "\"/data/zk/params\"",
     .doc = "Folder of Filecoin's keys. Not set: /data/zk/params if it is there, else\n"
            "$FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-proof-parameters."},
    {.name = "srs.preload",
     .type = KEY_LIST,
     .offset = AT(preload),
     .def = "[]",
     .doc = "Circuits whose keys are loaded at the start: [\"porep-32g\", \"winning-32g\"]. One "
            "that is missing\n"
            "is a warning."},

    {.name = "logging.level",
     .type = KEY_CHOICE,
     .offset = AT(log_level),
     .def = "\"info\"",
     .reload = true,
     .choices = "error|warn|info|debug",
     .doc = "error, warn, info or debug."},
    {.name = "logging.format",
     .type = KEY_CHOICE,
     .offset = AT(log_format),
     .def = "\"text\"",
     .reload = true,
     .choices = "text|json",
     .doc = "text, or json: one object a line."},

    {.name = "tracing.ring",
     .type = KEY_SIZE,
     .offset = AT(tracing_ring),
     .def = "\"16MiB\"",
     .min = 4096,
     .max = UINT64_C(1) << 30,
     .doc =
         "Memory for spans, for each thread there is (some thirty, and those of the pool): when it "
         "is used up the\n"
         "oldest spans go, whosever they are. Part of memory.total_budget, as owner `spans`: a "
         "sixteenth of it at most."},
    {.name = "tracing.keep",
     .type = KEY_DURATION,
     .offset = AT(tracing_keep_ms),
     .def = "\"30m\"",
     .min = 1000,
     .max = MS_YEAR,
     .doc = "How long spans are kept for traces and the panel."},

    UNUSED("pipeline.enabled", "synthesis and devices always work side by side"),
    UNUSED("pipeline.synthesis_lookahead", "memory decides how far synthesis is ahead"),
    UNUSED("pipeline.slot_size", "witnesses are small here: there are no slots"),
    UNUSED("pipeline.max_gpu_queue_depth", "memory decides how many partitions wait for a device"),
    UNUSED("synthesis.partition_workers", "one pool of threads serves all partitions"),
    UNUSED("memory.pinned_budget", "pinned memory is part of memory.total_budget"),
    UNUSED("memory.working_memory_budget", "working memory is part of memory.total_budget"),
};
const size_t config_n_keys = sizeof config_keys / sizeof config_keys[0];

const char config_circuits_example[] =
    "# Circom circuits as a service, each under its name (gRPC kind GROTH16, POST "
    "/v1/circuits/NAME/prove).\n"
    "# Reloaded by SIGHUP.\n"
    "#\n"
    "#[circuits.multiplier]\n"
    "## The proving key, as snarkjs writes it.\n"
    "#zkey = \"/etc/cuzk/circuits/multiplier.zkey\"\n"
    "## Optional: the constraints, so that a witness that breaks one is told which.\n"
    "#r1cs = \"/etc/cuzk/circuits/multiplier.r1cs\"\n"
    "## Optional: makes a .wtns (stdout) of input.json (stdin), so that clients may send inputs. A "
    "list; no shell.\n"
    "#witness_command = [\"/usr/lib/cuzk/witness\", \"multiplier\"]\n"
    "## The largest .wtns.\n"
    "#max_witness = \"1GiB\"\n";
