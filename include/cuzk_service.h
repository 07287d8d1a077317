/*
 * cuzk_service.h - the public face of the service: durable jobs, priorities, keys kept resident, what is going on
 *
 * A service stands on an engine (cuzk.h). Jobs are submitted, stored, queued by (priority, age), proved partition by
 * partition, verified, stored again and handed to whoever waits. Numbers of kinds and priorities are those of the wire
 * (spec/proving-api.md). Functions are safe to call from several threads unless their comment says otherwise; those marked
 * "waits for the disk" may take milliseconds, none waits for a proof.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CUZK_SERVICE_H
#define CUZK_SERVICE_H

#include "cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuzk_service cuzk_service;

/* ---- kinds, priorities, states ---- */

enum {
    CUZK_POREP = 1,
    CUZK_UPDATE = 2,
    CUZK_WINDOW = 3,
    CUZK_WINNING = 4,
    CUZK_GROTH16 = 100,
    CUZK_AGGREGATE = 101
};
enum { CUZK_PRIORITY_KIND, CUZK_LOW, CUZK_NORMAL, CUZK_HIGH, CUZK_CRITICAL }; /* 0: by kind */

/** "porep-c2", "snap-update", "window-post", "winning-post", "groth16", "aggregate"; NULL for a number that is none. */
CUZK_API const char *cuzk_kind_name(uint32_t kind);

/* name in JSON, whether the job has ended */
#define CUZK_JOB_STATES(X) \
    X(CUZK_JOB_QUEUED, "queued", false) \
    X(CUZK_JOB_RUNNING, "running", false) \
    X(CUZK_JOB_COMPLETED, "completed", true) \
    X(CUZK_JOB_FAILED, "failed", true) \
    X(CUZK_JOB_CANCELLED, "cancelled", true)
#define CUZK_JOB_STATE_ENUM(name, text, ended) name,
typedef enum cuzk_job_state { CUZK_JOB_STATES(CUZK_JOB_STATE_ENUM) } cuzk_job_state;
#undef CUZK_JOB_STATE_ENUM

/* ---- opening ---- */

/** A circom circuit that is proved by name. Strings and arrays are copied. */
typedef struct cuzk_circuit {
    const char *name, *zkey;
    const char *r1cs;                   /* NULL: rows are not checked */
    const char *const *witness_command; /* NULL: witnesses come as .wtns alone */
    size_t n_witness_command;
    uint64_t max_witness; /* bytes of a .wtns; 0: 1 GiB */
} cuzk_circuit;

/** One value of a log line: text, or a number when text is NULL. Borrowed during the call. */
typedef struct cuzk_log_field {
    const char *key, *text;
    int64_t number;
} cuzk_log_field;
enum { CUZK_LOG_ERROR, CUZK_LOG_WARN, CUZK_LOG_INFO, CUZK_LOG_DEBUG };
/** Takes one line and returns at once: it must not block (it may drop). Any thread. */
typedef void (*cuzk_log_fn)(void *ctx, int level, const char *event, const cuzk_log_field *f,
                            size_t n);

/** What SIGHUP can change. */
typedef struct cuzk_service_tunables {
    uint64_t results_keep_ms, store_max_size; /* bytes of payloads and results */
    uint64_t eviction_min_idle_ms;
    bool cancel_orphans, sort_by_type;
    unsigned retries;        /* of a partition, after device faults and failed self-checks */
    unsigned max_crashes;    /* of the process while a job is at work, then it fails; 0: no limit */
    unsigned decode_at_once; /* jobs decoded at once; 0: one a core */
    unsigned synthesis_at_once; /* partitions synthesised at once */
    const cuzk_circuit *circuits;
    size_t n_circuits;
} cuzk_service_tunables;

typedef struct cuzk_service_config {
    const char *store;          /* file of the job store; NULL: jobs live in memory alone */
    const char *params_dir;     /* Filecoin's keys */
    bool ephemeral_keys;        /* of Filecoin: made on the one device, never a file; benchmarks */
    const char *const *preload; /* circuits loaded at start */
    size_t n_preload;
    uint64_t memory_total;       /* bytes; 0: cgroup limit, else the machine's, less the margin */
    uint64_t memory_margin;      /* bytes; UINT64_MAX: 5 GiB, or 10% if that is less */
    uint64_t memory_critical;    /* kept for CRITICAL work */
    uint64_t trace_keep_ms;      /* spans older than this go; 0: 30 minutes */
    uint64_t trace_ring;         /* bytes of spans kept, for each thread; 0: 16 MiB */
    unsigned partitions_per_gpu; /* in flight on each GPU; 0: 2 */
    unsigned max_queued;         /* jobs that have not ended; 0: 100,000 */
    /** Jobs that have ended; the store answers for older ones, and without a store they are forgotten. 0: 1,000 with a store,
     *  10,000 without. */
    unsigned ended_in_memory;
    cuzk_service_tunables tunables;
    cuzk_log_fn log; /* may be NULL */
    void *log_ctx;
    /** Called once, before jobs of the store are taken up: from then on cuzk_service_crashed may be. May be NULL. */
    void (*starts)(void *ctx, const cuzk_service *s);
    void *starts_ctx;
} cuzk_service_config;

/** Opens the store, takes up every job that had not ended, starts the workers. e outlives the service and runs nothing else.
 *  CUZK_EIO: the store cannot be opened (another service has it: class inconsistent). A store that is corrupt is moved aside
 *  and named in a log line of level error; the service then starts with an empty one. */
CUZK_API CUZK_STATUS cuzk_service_open(cuzk_service **out, cuzk_engine *e,
                                       const cuzk_service_config *config);
/** Takes over what can be changed while running. CUZK_EINVAL leaves all as it was. */
CUZK_API CUZK_STATUS cuzk_service_tune(cuzk_service *s, const cuzk_service_tunables *t);
/** No job is admitted any more; what is on a device is finished, the rest stays in the store. Returns when that is done or
 *  after timeout_ms; *drained says which. */
CUZK_API void cuzk_service_drain(cuzk_service *s, uint64_t timeout_ms, bool *drained);
CUZK_API bool cuzk_service_draining(const cuzk_service *s);
/** Stops at the next safe points; jobs that have not ended stay in the store. Waiters of those get CUZK_WAIT_CLOSED. NULL is fine. */
CUZK_API void cuzk_service_close(cuzk_service *s);

/** From the handler of a signal that ends the process: the next one on this store knows that it was no kill, and which jobs were
 *  at work. Async-signal-safe. */
CUZK_API void cuzk_service_crashed(const cuzk_service *s, int signal);

/* ---- jobs ---- */

typedef struct cuzk_bytes {
    const uint8_t *data;
    size_t size;
} cuzk_bytes;

/** A sector whose proof is aggregated with others: what is proved of it, 32 bytes each, and its partitions' proofs. */
typedef struct cuzk_sector {
    uint64_t sector_number, miner_id;              /* seals */
    cuzk_bytes ticket, seed, comm_d, comm_r;       /* seals */
    cuzk_bytes comm_r_old, comm_r_new, comm_d_new; /* updates */
    cuzk_bytes proof;                              /* 192 bytes a partition, partitions in order */
} cuzk_sector;

#define CUZK_OWNER_MAX 80

/** As SubmitProofRequest (spec/proving-api.md section 1), or AggregateProofsRequest. Borrowed during the call. */
typedef struct cuzk_request {
    const char *request_id; /* NULL or "": a fresh UUID. UTF-8, at most 4096 bytes */
    uint32_t kind, priority;
    uint64_t sector_size, registered_proof, sector_number, miner_id;
    uint32_t partition_index;
    cuzk_bytes vanilla_proof;         /* PoRep */
    const cuzk_bytes *vanilla_proofs; /* PoSt: one a sector; updates: one a partition */
    size_t n_vanilla_proofs;
    cuzk_bytes randomness, comm_r_old, comm_r_new, comm_d_new;
    const char *circuit; /* GROTH16 */
    cuzk_bytes witness;  /* .wtns, or: */
    cuzk_bytes input_json;
    /* AGGREGATE; sector_size and registered_proof are those of every sector */
    uint32_t aggregate_of;      /* POREP (circuits' proofs of non-interactive ones), UPDATE */
    uint32_t aggregate_version; /* of SnarkPack: 1, 2; 0: 2 */
    bool trust_inputs; /* proofs are not verified one by one; the aggregate is in any case */
    const cuzk_sector *sectors; /* in the order of the message */
    size_t n_sectors;
    uint64_t deadline_ms; /* from now; past it the job fails with CUZK_ETIMEOUT; 0: none */
    const char *
        owner; /* whose job it is, below CUZK_OWNER_MAX bytes; NULL or "": nobody's. Jobs of two owners are never the same */
} cuzk_request;

#define CUZK_JOB_ID_MAX 4160
typedef struct cuzk_ticket {
    char job_id[CUZK_JOB_ID_MAX];
    uint32_t queue_position; /* jobs that will be served before it */
    bool known;              /* the same request was there already */
    char device[32];         /* "cpu", "cuda:0" */
} cuzk_ticket;

/** Admits a job; returns when it is durable. Waits for the disk.
 *  CUZK_EINVAL: the request names no kind, circuit or id that there is, or a length is wrong (where: the field);
 *  CUZK_EBUDGET class limit: the queue or the store is full; CUZK_EBUDGET class resource: it can never fit, with the numbers;
 *  CUZK_ECANCELLED: draining; CUZK_EIO: the store failed. An input that cannot be decoded is a job that has FAILED. */
CUZK_API CUZK_STATUS cuzk_job_submit(cuzk_service *s, const cuzk_request *r, cuzk_ticket *out);

/** Where a job's wall time went, without overlap; their sum is total_ms (spec/proving-api.md section 2, "timings"). */
typedef struct cuzk_job_times {
    uint64_t queue_ms, key_ms, synthesis_ms, device_ms, decode_ms, verify_ms, store_ms, rest_ms,
        total_ms;
} cuzk_job_times;

typedef enum cuzk_wait_end { CUZK_WAIT_ENDED, CUZK_WAIT_TIMEOUT, CUZK_WAIT_CLOSED } cuzk_wait_end;

/** What became of a job. Borrowed during the call it is given to. */
typedef struct cuzk_job_result {
    const char *job_id;
    cuzk_wait_end end; /* TIMEOUT, CLOSED: the job goes on, the rest is as far as it is known */
    cuzk_job_state state;
    cuzk_bytes proof;                   /* COMPLETED */
    cuzk_bytes proof_json, public_json; /* GROTH16 */
    const cuzk_error *error;            /* FAILED; else NULL */
    cuzk_job_times times;
} cuzk_job_result;
/** Called once, on a thread of the service or from within cuzk_job_wait; must not block and must not call the service. */
typedef void (*cuzk_wait_fn)(void *ctx, const cuzk_job_result *r);

/** Calls fn when the job has ended, or after timeout_ms (0: no limit). *wait (never 0) names the wait for cuzk_job_unwait.
 *  CUZK_EINVAL, where "job_id": no such job. */
CUZK_API CUZK_STATUS cuzk_job_wait(cuzk_service *s, const char *job_id, uint64_t timeout_ms,
                                   cuzk_wait_fn fn, void *ctx, uint64_t *wait);
/** The waiter has gone. When it returns, fn has been called or never will be. gone: a client that gave up: with
 *  cancel_orphans the job is cancelled when nobody else waits. */
CUZK_API void cuzk_job_unwait(cuzk_service *s, uint64_t wait, bool gone);
/** Whether the job is this owner's, as long as it is known. CUZK_EINVAL, where "job_id": it is not, or there is none: the same text. */
CUZK_API CUZK_STATUS cuzk_job_owned(cuzk_service *s, const char *job_id, const char *owner);
/** Asks a job to stop; waiters get CANCELLED. CUZK_EINVAL, where "job_id": no such job. */
CUZK_API CUZK_STATUS cuzk_job_cancel(cuzk_service *s, const char *job_id, bool *was_running);

/* ---- keys ---- */

typedef enum cuzk_tier { CUZK_HOT, CUZK_WARM, CUZK_COLD } cuzk_tier; /* device, host memory, disk */

/** Returns when the key can be used, seconds for a large one; single flight. circuit: "porep-32g", "wpost-2k", a circom
 *  circuit's name. CUZK_EINVAL: no such circuit; CUZK_EIO, CUZK_EDATA: its key; CUZK_ECANCELLED: the service drains. */
CUZK_API CUZK_STATUS cuzk_key_preload(cuzk_service *s, const char *circuit, bool *was_loaded,
                                      uint64_t *ms);
/** CUZK_EBUDGET class inconsistent: it is in use (FAILED_PRECONDITION on the wire). */
CUZK_API CUZK_STATUS cuzk_key_evict(cuzk_service *s, const char *circuit, bool *was_loaded,
                                    uint64_t *freed_bytes);

/* ---- what is going on ---- */

typedef struct cuzk_device_row {
    uint32_t ordinal;
    char name[64];
    uint64_t memory_total, memory_free;
    char job_id[128]; /* cut to fit; "": idle */
    const char *kind; /* of that job; NULL: idle */
} cuzk_device_row;
typedef struct cuzk_key_row {
    char circuit[64];
    cuzk_tier tier;
    uint64_t bytes;
    uint32_t ref_count;
} cuzk_key_row;
typedef struct cuzk_queue_row {
    const char *kind;
    uint32_t pending, in_progress;
} cuzk_queue_row;

typedef struct cuzk_status_rows {
    cuzk_device_row *devices;
    size_t n_devices;
    cuzk_key_row *keys;
    size_t n_keys;
    cuzk_queue_row *queues;
    size_t n_queues;
    uint64_t completed, failed, uptime_s;
    uint64_t memory_used, memory_limit;
} cuzk_status_rows;

/** Cheap: what GetStatus needs. */
CUZK_API CUZK_STATUS cuzk_service_rows(cuzk_service *s, cuzk_status_rows *out);
CUZK_API void cuzk_status_rows_clear(cuzk_status_rows *r);

/** A document about the service, with its content type (static text):
 *    "/status"            JSON, spec/proving-api.md section 3 and more (docs/formats/status.md)
 *    "/metrics"           Prometheus text
 *    "/jobs"              JSON, the jobs that are known, newest first: ?state= ?kind= ?limit=
 *    "/jobs/ID"           JSON, one job with its partitions, times and attribution (ID percent-encoded)
 *    "/trace"             Chrome trace: ?job= (all of it), ?seconds= (the last so many)
 *    "/timeline"          JSON, what each worker and device did, in steps of 200 ms: ?since= (ms of the service's clock)
 *    "/circuits"          JSON, the circom circuits
 *  CUZK_EINVAL, where "path": none of these. */
CUZK_API CUZK_STATUS cuzk_service_document(cuzk_service *s, const char *path, cuzk_buffer *body,
                                           const char **content_type);

/** One event as JSON: {"seq":n,"type":"job"|"partition"|"key"|"device"|"gap"|"error",...} (docs/formats/status.md). On a thread
 *  of the service; must not block and must not call the service. One subscriber; fn NULL: none. */
typedef void (*cuzk_event_fn)(void *ctx, const char *json, size_t size);
CUZK_API void cuzk_service_events(cuzk_service *s, cuzk_event_fn fn, void *ctx);

/** The recorder of base/span.h, for threads of the program that account for their own time. */
struct span_rec;
CUZK_API struct span_rec *cuzk_engine_spans(cuzk_engine *e);

#ifdef __cplusplus
}
#endif
#endif
