/*
 * engine/service.h - what the files of the service share: a job, its partitions, and the service they are in
 *
 * A job's walk: submit (service_submit.c: same as one that is there? else decode, store, queue) -> decode
 * (service_decode.c) -> its key -> for each partition: memory -> synthesis -> device -> finish (service_run.c) -> result
 * stored, waiters told (service_jobs.c, the one file in which a job's state changes). What waits stands in a stage's queue, in the ledger
 * or with its key; `at` of a job or partition says where.
 *
 * Locks: `mu` guards every job and partition; below it those of stages, ledger and keys, and `events.mu`. Never held across
 * I/O, a computation or a callback.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_SERVICE_H
#define ENGINE_SERVICE_H

#include "base/bytes.h"
#include "base/hash.h"
#include "engine/at_work.h"
#include "engine/helpers.h"
#include "engine/keys.h"
#include "engine/store.h"

/* ---- where the time of a job goes: each instant to the first of these that any part of it is in ---- */

#define JOB_PHASES(X) \
    X(PHASE_DEVICE, "gpu_ms") \
    X(PHASE_SYNTHESIS, "synthesis_ms") \
    X(PHASE_KEY, "srs_load_ms") \
    X(PHASE_DECODE, "decode_ms") \
    X(PHASE_VERIFY, "verify_ms") \
    X(PHASE_STORE, "store_ms") \
    X(PHASE_QUEUE, "queue_ms")
#define PHASE_ENUM(id, name) id,
typedef enum job_phase { JOB_PHASES(PHASE_ENUM) N_PHASES } job_phase;
#undef PHASE_ENUM

typedef struct job_clock {
    unsigned open[N_PHASES];
    uint64_t total[N_PHASES], rest;  /* ns */
    uint64_t from, last;             /* clock_ns; last: what came before is in the totals */
    uint64_t worst_rest, worst_from; /* the longest stretch that nothing covered, and its begin */
    job_phase before_rest, latest; /* what came before that stretch, and of late; N_PHASES: none */
    bool ended;
} job_clock;

/** Milliseconds since 1970. */
uint64_t svc_wall_ms(void);

/** The wall clock against the monotonic one: it may be set while results lie there with the time of their end. */
typedef struct wall_watch {
    bool started;
    int64_t offset_ms;  /* wall - monotonic at the last look */
    uint64_t ahead_ms;  /* how much it was set forward within the last keep_ms */
    uint64_t jumped_ns; /* clock_ns of the last jump */
} wall_watch;
/** The time to count the age of results by: nothing is older because the clock was set forward, until what ended before that is
 *  keep_ms old in truth; set back, things stay longer. *jump_ms: by how much it was set since the last look, mostly 0. */
uint64_t wall_watch_look(wall_watch *w, uint64_t wall_ms, uint64_t now_ns, uint64_t keep_ms,
                         int64_t *jump_ms);
const char *job_phase_name(job_phase p);
void job_clock_start(job_clock *c, uint64_t now);
void job_clock_enter(job_clock *c, job_phase p, uint64_t now);
void job_clock_leave(job_clock *c, job_phase p, uint64_t now);
void job_clock_end(job_clock *c, uint64_t now);
/** As of now, or of its end. */
void job_clock_read(const job_clock *c, uint64_t now, cuzk_job_times *out);

/* ---- partitions ---- */

/* name in /status */
#define PART_STATES(X) \
    X(PART_PENDING, "pending") \
    X(PART_SYNTHESISING, "synthesizing") \
    X(PART_SYNTHESISED, "synth_done") \
    X(PART_DEVICE, "gpu") \
    X(PART_DONE, "done") \
    X(PART_FAILED, "failed")
#define PART_ENUM(id, name) id,
typedef enum part_state { PART_STATES(PART_ENUM) N_PART_STATES } part_state;
#undef PART_ENUM
const char *part_state_name(part_state s);

typedef enum part_at {
    AT_NOWHERE, /* not begun, done, or given up */
    AT_MEMORY,  /* waits in the ledger */
    AT_SYNTHESIS,
    AT_DEVICE,
    AT_FINISH,
} part_at;

typedef struct svc_job svc_job;

/** Where a partition is proved: a failure leads on to the next. */
typedef enum part_path {
    PATH_DEVICES,  /* the emptiest that it has not failed on */
    PATH_HOST,     /* the CPU, where no device of the service is one */
    PATH_PORTABLE, /* the CPU's portable table */
} part_path;

/** A device that partitions are proved on. */
typedef struct svc_device {
    /* fixed after init */
    device *d;
    device_info info;      /* its memory as it was at the start */
    int watch;             /* its number in the service's gpus; -1: it is not watched */
    struct helpers *lanes; /* for urgent proofs on it; NULL: it is a CPU */
    /* any thread; relaxed: they only spread the work */
    _Atomic unsigned on, width; /* partitions on it; how many it takes at a time, 0: retired */
    _Atomic bool helps_no_more; /* with a partition of another device: it failed at that */
    /* guarded by mu */
    bool retired;
    unsigned active;     /* as `on`, by the books */
    uint64_t idle_since; /* clock_ns; 0: it is busy, or has not been */
    uint64_t busy_from, busy_ns, partitions;
} svc_device;

/** The proof of a partition that was stored before a restart. */
typedef struct svc_kept {
    uint32_t index;
    uint8_t *proof;
    size_t size;
} svc_kept;

#define SVC_TIMED_STEPS 12u
/** What the device's thread has done, for the books: it does not wait for the lock to write it there (service_later.c). */
typedef struct svc_later {
    struct svc_later *next;
    struct svc_part *p;
    bool ended;       /* else: it begins */
    int row;          /* of the service's devices; -1: on none of them */
    uint32_t helpers; /* further rows, a bit each: they help */
    uint64_t at;      /* clock_ns */
    uint64_t wall_ns, attributed_ns, gap_ns;
    char gap[96];
    uint64_t step_ns[SVC_TIMED_STEPS]; /* service_timing.c */
} svc_later;

typedef struct svc_part {
    svc_job *job; /* fixed */
    uint32_t index;
    /* only the thread that works on it; handed on through stages */
    stage_item item;
    ledger_claim claim;
    mem *m; /* what it may use, a part of the claim */
    r1cs_assignment *w;
    groth16_job *started;
    dev_stream *stream;
    part_path path;
    uint32_t avoid;     /* devices that it failed on, a bit each */
    svc_device *at_dev; /* where it was proved last; NULL: on the CPU that stands in */
    bool beside;        /* there was another partition on it */
    bool no_room;       /* its memory did not do */
    bool alone;         /* wants the device for itself, the next time */
    svc_later begins, ends;
    cuzk_status proved; /* what came of prove_start; its failure: */
    cuzk_error why;
    uint32_t helper_failed; /* devices that failed at helping, a bit each; why one of them did: */
    cuzk_error helper_why;
    uint64_t measured; /* bytes that proving took; 0: not known */
    uint32_t at_work;  /* its row there */
    /* guarded by mu */
    part_state state;
    part_at at;
    unsigned attempts;
    int row;        /* of the device that it is on */
    uint8_t *proof; /* proof_size bytes once done */
    size_t proof_size;
    groth16_proof result;                                           /* circom */
    uint64_t granted, synth_from, synth_to, device_from, device_to; /* clock_ns; 0: not yet */
} svc_part;

/** Of a partition, once its job has ended. */
typedef struct svc_part_row {
    uint32_t index, attempts, synth_ms, device_ms, wait_ms;
    uint8_t state;
} svc_part_row;

/* ---- jobs ---- */

typedef struct svc_wait {
    uint64_t id;
    svc_job *job;
    cuzk_wait_fn fn;
    void *ctx;
    uint64_t until; /* clock_ns; 0: no limit */
    bool firing;
    cuzk_job_state state; /* when it was told */
    cuzk_job_times times;
    struct svc_wait *next;
} svc_wait;

/* name in /status, where no partition tells more */
#define JOB_PLACES(X) \
    X(JOB_ADMITTING, "admitting") \
    X(JOB_BEFORE_COMMAND, "queued") \
    X(JOB_IN_COMMAND, "witness") \
    X(JOB_IN_DECODE, "queued") \
    X(JOB_DECODING, "decoding") \
    X(JOB_IN_KEY, "key") \
    X(JOB_IN_PARTS, "proving") \
    X(JOB_ENDING, "storing") \
    X(JOB_ENDED, "ended")
#define PLACE_ENUM(id, name) id,
typedef enum job_at { JOB_PLACES(PLACE_ENUM) N_JOB_PLACES } job_at;
#undef PLACE_ENUM

/** Fields of a request beside its payload, as they are stored. */
typedef struct svc_request {
    uint32_t kind, partition_index;
    uint64_t sector_size, registered_proof, sector_number, miner_id;
    uint8_t randomness[32], comm_r_old[32], comm_r_new[32], comm_d_new[32];
    char circuit[64];
    bool input_json; /* the payload is input.json, not a witness */
    /* of an aggregate, whose payload is a statement (JSON) and a proof for each sector */
    uint32_t aggregate_of, aggregate_version;
    bool trust_inputs;
    /* of a PoRep, whose payload is the bincode form of its C1: the shape that cannot be seen in it */
    uint32_t c1_registered, c1_layers;
    uint64_t c1_size;
    bool c1_wrapped;
    uint64_t c1_sector;
    uint32_t n_pieces; /* of the payload */
    uint64_t *piece_sizes;
    char owner[CUZK_OWNER_MAX]; /* "": nobody's */
} svc_request;

struct svc_job {
    /* fixed after admission */
    struct service *s;
    uint64_t number; /* of spans; ages are in this order */
    char *job_id, *request_id;
    uint8_t hash[32];
    svc_request rq;
    uint64_t created_ms; /* wall clock */
    cancel *cancel;
    bool restored; /* from the store */
    bool taken_up; /* by svc_restore, and not to be looked at again there */
    bool held;     /* something is held against it (at_work.h) */
    bool suspect;  /* so much that it runs alone */
    bool stored;   /* its end is durable: memory may forget it. Guarded by mu */
    bool
        unborn; /* nobody was told of it: when its admission fails it is taken away. Guarded by mu */
    /* only the thread that works on it */
    stage_item item; /* in `witness`, in `decode`, then in `result` */
    file_map map;    /* the payload */
    uint8_t *own;    /* the payload where there is no store */
    uint8_t *made;   /* the .wtns that a witness command made; NULL: none */
    size_t made_size;
    unsigned made_level; /* what made_size is counted under */
    store_payload payload;
    fil_job fil;
    mem *m;
    job_env env;
    key_use key;
    ledger_outlook outlook; /* of an aggregate; else the key has one */
    ledger_claim entry; /* its way in: what it holds in the ledger beside its partitions' claims */
    uint32_t at_work;   /* its row there while it is decoded and waits for its key */
    /* guarded by mu */
    uint32_t priority;
    cuzk_job_state state;
    job_at at;
    bool stopping; /* why: */
    cuzk_job_state stop_state;
    bool closing; /* the service is: the store keeps it as it was */
    cuzk_error error;
    unsigned out;       /* who still works on it or may touch it; at 0 it goes to `result` */
    svc_part *parts;    /* NULL once it has ended: */
    svc_part_row *rows; /* n_parts */
    svc_kept *kept;
    uint32_t n_parts, n_done, n_kept;
    job_clock clock;
    uint64_t deadline, deadline_ms; /* clock_ns, wall; 0: none */
    uint64_t queued_at, decode_from, decode_to, key_at, started, ended, ended_ms;
    unsigned attempts, n_waits;
    uint8_t *proof;
    size_t proof_size;
    cuzk_buffer proof_json, public_json;
    cuzk_job_times times; /* once ended */
    char worst_gap[96];
    uint64_t worst_gap_ns;
    svc_job *by_id, *by_request; /* chains of the tables */
    svc_job *newer, *older;      /* all jobs */
};

/* ---- the service ---- */

#define SVC_ERRORS 50
typedef struct svc_error_row {
    uint64_t at; /* clock_ns */
    char job_id[128];
    cuzk_class klass;
    char where[128], message[256];
} svc_error_row;
typedef struct svc_gap_row {
    uint64_t at, ns;
    char track[32], job_id[128], between[96];
} svc_gap_row;

#define SVC_KINDS 6
#define SVC_LATENCIES 1024 /* of a kind, the latest */
#define SVC_BUCKETS 16
extern const uint64_t svc_bucket_ms[SVC_BUCKETS - 1];

/* why a device was idle while there was work */
#define IDLE_CAUSES(X) \
    X(IDLE_DECODE, "decode") \
    X(IDLE_KEY, "key load") \
    X(IDLE_MEMORY, "memory budget") \
    X(IDLE_SYNTHESIS, "synthesis") \
    X(IDLE_LOCK, "wait for lock") \
    X(IDLE_QUEUE, "queue")
#define IDLE_ENUM(id, name) id,
typedef enum idle_cause { IDLE_CAUSES(IDLE_ENUM) N_IDLE_CAUSES } idle_cause;
#undef IDLE_ENUM
const char *idle_cause_name(idle_cause c);

typedef struct svc_counts {
    uint64_t completed[SVC_KINDS], failed[SVC_KINDS], cancelled[SVC_KINDS];
    uint64_t partitions, split, retries, self_check_failures, admitted, duplicates, refused,
        given_up;
    uint64_t duration_buckets[SVC_KINDS][SVC_BUCKETS], duration_count[SVC_KINDS];
    double duration_sum[SVC_KINDS];
    uint64_t phase_ns[N_PHASES];
    uint64_t phase_buckets[N_PHASES][SVC_BUCKETS], phase_count[N_PHASES];
    uint64_t idle_ns[N_IDLE_CAUSES]; /* the device's, while work was there */
    uint64_t estimate_n;
    double estimate_error_sum, estimate_error_max; /* (measured - reserved) / reserved */
} svc_counts;

#define SVC_LOCK_WAITS 64u
/** A stretch in which somebody waited for the service's lock (clock_ns). */
typedef struct svc_lock_wait {
    uint64_t from, to;
} svc_lock_wait;

typedef struct svc_latency {
    uint64_t ended[SVC_LATENCIES];
    uint32_t ms[SVC_LATENCIES];
    uint64_t n;
} svc_latency;

typedef struct service {
    /* any thread (service_later.c) */
    _Atomic(svc_later *) later;   /* release by who posts, acquire by who writes the books */
    _Atomic unsigned proving_now; /* relaxed: whether a proof is alone, for measuring */
    _Atomic unsigned coming;      /* relaxed: partitions that are being synthesised for a device */
    /* fixed after init */
    cuzk_engine *e;
    cuzk_service_config c; /* strings copied */
    mem *m;
    ledger *ledger;
    keys *keys;
    store *store;     /* NULL: memory alone */
    at_work *at_work; /* NULL: not known */
    work_before before;
    poseidon_set *ps;
    gate *gate;
    mem *proving; /* what the devices take; the engine's */
    svc_device devices[ENGINE_MAX_DEVICES];
    unsigned n_devices, max_width;
    struct gpu_watch *gpus;               /* NULL: none is watched */
    unsigned watched[ENGINE_MAX_DEVICES]; /* which device each of them is */
    int host_row;                         /* the device that is the CPU; -1: none */
    device *portable;
    stage *witness, *decode, *synthesis, *device, *finish, *result;
    stage *host;    /* PATH_HOST and PATH_PORTABLE beside GPUs; NULL: `device` serves them */
    uint64_t epoch; /* clock_ns at start */
    int64_t epoch_wall_ms;
    unsigned n_decode, n_synthesis;
    bool has_clock;
    pthread_t clock_thread;
    uint64_t span_bytes; /* only the clock's thread */
    wall_watch wall;     /* the same */
    uint8_t seed[16];    /* of the tables' hash */
    pthread_mutex_t mu;
    /* guarded by mu */
    pthread_cond_t durable; /* a job was admitted, or was not */
    pthread_cond_t calm;    /* something ended */
    pthread_cond_t fired;   /* a waiter was told */
    pthread_cond_t tick;    /* the clock's */
    cuzk_service_tunables tunables;
    bool draining, closing, clock_quit;
    svc_job **ids, **requests; /* tables of n_slots chains */
    size_t n_slots, n_jobs, n_live;
    svc_job *newest, *oldest;
    uint64_t next_number, next_wait;
    svc_wait *waits;
    unsigned n_timed;                  /* waits and jobs that have a limit */
    uint64_t made_bytes[STAGE_LEVELS]; /* of witnesses that commands made, by their jobs' levels */
    svc_counts counts;
    svc_latency latency[SVC_KINDS];
    svc_error_row errors[SVC_ERRORS];
    uint64_t n_errors;
    svc_gap_row gaps[SVC_ERRORS];
    uint64_t n_gaps;
    svc_lock_wait lock_waits[SVC_LOCK_WAITS]; /* the latest; apart from each other, in order */
    uint64_t n_lock_waits;
    uint64_t worker_wall_ns, worker_attributed_ns, job_rest_ns, job_total_ns;
    uint64_t safe_point_max_ns;
    /* events (service_events.c) */
    struct {
        pthread_mutex_t mu;
        pthread_cond_t cond;
        char **ring;
        uint64_t head, tail, seq;
        bool calling; /* fn, without the lock */
        cuzk_event_fn fn;
        void *ctx;
        bool quit, started;
        pthread_t thread;
    } events;
} service;

/* The opaque type of the public header is this one. */
static inline service *service_of(cuzk_service *s)
{
    return (service *)(void *)s;
}

static inline unsigned svc_kind_index(uint32_t kind)
{
    return kind >= CUZK_GROTH16 ? 4 + kind - CUZK_GROTH16 : kind - 1;
}

/* service_request.c */
CUZK_STATUS svc_request_from(svc_request *out, const cuzk_request *r);
void svc_request_clear(svc_request *r);
void svc_request_hash(uint8_t out[32], const cuzk_request *r);
void svc_request_write(bytes_out *o, const svc_request *r);
CUZK_STATUS svc_request_read(svc_request *out, const uint8_t *data, size_t size);
unsigned svc_default_priority(uint32_t kind);

/* service_table.c */
svc_job *svc_find_locked(service *s, const char *job_id);
/** As others may see it: not one that is unborn. */
svc_job *svc_find_born_locked(service *s, const char *job_id);
svc_job *svc_find_request_locked(service *s, const char *request_id, const uint8_t hash[32]);
/** Under its ids; the service owns it from now on. */
CUZK_STATUS svc_insert_locked(service *s, svc_job *j);
void svc_remove_locked(service *s, svc_job *j);
CUZK_STATUS svc_tables_open(service *s);
void svc_tables_close(service *s);
/** Forgets jobs that ended at or before this wall-clock time. */
void svc_forget(service *s, uint64_t before_ms);
/** Lets go of the oldest ended jobs beyond ended_in_memory. */
void svc_trim(service *s);

/* service_restore.c */
CUZK_STATUS svc_restore(service *s);
/** Not under mu. Brings ended jobs back of which only the store knows: the one named id; with a hash, unless the job of this
 *  request is in memory: that one, and those whose names a further job of id might get. Whether there is one, the tables tell. */
CUZK_STATUS svc_recall(service *s, const char *id, const uint8_t hash[32]);

/* service_jobs.c: states, ends */
const char *job_state_name(cuzk_job_state s);
const char *job_at_name(job_at a);
CUZK_STATUS svc_job_new(svc_job **out, service *s);
void svc_job_free(svc_job *j);
/** The only way a job's state changes. An illegal move is a bug: logged, not made. Locked. */
void svc_move(svc_job *j, cuzk_job_state to);
/** Admitted and durable: a new attempt begins, into `decode`. */
void svc_job_queue(svc_job *j);
/** One that was restored fails, untried. */
void svc_job_refuse(svc_job *j, const cuzk_error *why);
/** Everything of the job stops, where it is; it will end so, unless it is past that. error (FAILED) is copied. */
void svc_stop_job(svc_job *j, cuzk_job_state state, const cuzk_error *error);
/** After something of j was put where it waits, by one who counts in `out` for this, and leaves: what was done to j meanwhile,
 * and missed it (a stop, a priority above level), is done to it now. */
void svc_make_up(svc_job *j, unsigned level);
/** One that counts in `out` is done with the job. */
void svc_leave(svc_job *j);
/** The stage: what became of a job is stored, then told. */
void svc_conclude(void *service, stage_item *it);
void svc_raise(svc_job *j, uint32_t priority);
static inline bool svc_job_ended(const svc_job *j)
{
    return j->at == JOB_ENDED;
}
static inline unsigned svc_level(uint32_t priority)
{
    return priority - CUZK_LOW;
}
/** Bytes for the store of what became of it, and back. */
void svc_result_write(bytes_out *o, const svc_job *j);
CUZK_STATUS svc_result_read(svc_job *j, const uint8_t *data, size_t size);

/* service_parts.c */
/** An ended job keeps rows of its partitions; they themselves are the caller's to free, without the lock. NULL: nothing to free. */
svc_part *svc_shed_parts_locked(svc_job *j);
void svc_forget_parts(svc_job *j);
void svc_put_parts_locked(bytes_out *o, const svc_job *j, uint64_t now);
/** What it does or waits for, as /status calls it. */
const char *svc_phase_locked(const svc_job *j);

/* service_waits.c */
/** Tells everybody who waits for j, or (j NULL) whose time is up. */
void svc_fire_waits(service *s, const svc_job *j, cuzk_wait_end end);
/** When the next limit of a wait or job falls; UINT64_MAX: none. Locked. */
uint64_t svc_next_limit(const service *s);

/* service_crash.c: who was at work when the process before this one died */
void svc_crash_open(service *s);
/** Of a job that is to begin: whether it is suspected. again: asked for anew, it has one more life. False: it has none left,
 *  *why says so. */
bool svc_crash_judge(svc_job *j, bool again, cuzk_error *why);
/** A partition got done. */
void svc_crash_further(svc_job *j);
/** It has ended. */
void svc_crash_clear(svc_job *j);

/* service_entry.c */
void svc_order_entry_locked(svc_job *j);
/** Claims its way in; then it is in `decode`. One of `out` is the entry's, later the decoder's. */
void svc_enter(svc_job *j);
/** Into a stage of whole jobs; first: before all others there, and alone. */
void svc_push_job(svc_job *j, stage *to, bool first);
/** True: it waited to be let in, or to be decoded, and does no longer. */
bool svc_shut_out(svc_job *j);
/** The ledger's callbacks. */
uint64_t svc_reclaim(void *service, uint64_t bytes, bool pressing);
void svc_overdrawn(void *service, uint64_t over);

/* service_decode.c */
/** The name of a kind in fil_ops_of. */
const char *svc_cli_kind(uint32_t kind);
void svc_decode(void *service, stage_item *it);
CUZK_STATUS svc_compact(svc_job *j, const cuzk_request *r, cuzk_bytes **pieces, size_t *n,
                        bytes_out *scratch);
void svc_undecode(svc_job *j);

/* service_command.c: the stage in which witness commands run, before their job is let in */
bool svc_wants_command(const svc_job *j);
/** Into the stage; one of `out` is its own. */
void svc_queue_command(svc_job *j);
void svc_make_witness(void *service, stage_item *it);
/** It is not needed any more. */
void svc_drop_witness(svc_job *j);

/* service_witness.c: witness commands */
CUZK_STATUS svc_run_witness_command(char *const *argv, const uint8_t *input, size_t n,
                                    uint64_t max_output, const cancel *c, uint8_t **out,
                                    size_t *out_size);

/* service_run.c: stages of a partition */
void svc_key_ready(key_use *u, cuzk_status st);
void svc_synthesise(void *service, stage_item *it);
void svc_prove(void *service, stage_item *it);
void svc_finish(void *service, stage_item *it);
/** A partition that is in no queue goes: it leaves its job, then what it holds is given back. */
void svc_part_end(svc_part *p, part_state state);
/** Its proof is there: stored, counted, done. */
void svc_part_keep(svc_part *p);

/* service_aggregate.c: non-interactive PoReps */
/** CUZK_EINVAL: one is asked for, or an aggregate, and the powers that it takes are not there. */
CUZK_STATUS svc_admit_aggregate(const service *s, const svc_request *rq);
/** The proof of a decoded job is the aggregate of its partitions' proofs. */
bool svc_is_aggregate(const svc_job *j);
/** Before it is proved: the powers can be read, and reach. */
CUZK_STATUS svc_check_powers(const svc_job *j);
/** j->proof of its partitions' proofs, verified. */
CUZK_STATUS svc_aggregate(svc_job *j);

/* service_aggregate_job.c: aggregates of proofs that came with the request */
/** CUZK_EINVAL: the request's mistake. */
CUZK_STATUS svc_aggregate_from(svc_request *out, const cuzk_request *r);
/** Everything of r that tells aggregates apart. */
void svc_aggregate_hash(sha256_ctx *c, const cuzk_request *r);
/** pieces: 2 * n_sectors; what they do not borrow of r lies in scratch. */
CUZK_STATUS svc_aggregate_compact(cuzk_bytes *pieces, bytes_out *scratch, const cuzk_request *r);
/** Looks at the first sector: what all are of, how many proofs that makes, whether the powers reach. */
CUZK_STATUS svc_aggregate_decode(svc_job *j);
/** Bytes that its partition (there is one) takes. */
uint64_t svc_aggregate_needs(const svc_job *j);
/** About the same, before it is decoded. */
uint64_t svc_aggregate_foreseen(const svc_job *j);
/** The partition's work, under the gate: checks, aggregates, verifies. p->proof is the aggregate. */
CUZK_STATUS svc_aggregate_run(svc_part *p);

/* service_devices.c */
CUZK_STATUS svc_devices_open(service *s);
/** service_gpus.c. library NULL: NVML as the loader finds it. */
CUZK_STATUS svc_gpus_open(service *s, const char *library);
void svc_gpus_close(service *s);
void svc_put_gpu(service *s, bytes_out *o, unsigned i);
CUZK_STATUS svc_put_gpu_metrics(service *s, bytes_out *o);
void svc_devices_close(service *s);
/** Lines of the log: what there is, and what could not be used. */
void svc_devices_tell(service *s);
/** The emptiest device but those of `avoid`; NULL: none is left. Never waits; to be put. */
svc_device *svc_device_take(service *s, uint32_t avoid);
void svc_device_put(svc_device *v);
/** The CPU device of a path, and the stage that serves the path. */
device *svc_stand_in(const service *s, part_path path);
stage *svc_device_stage(const service *s, part_path path);
/** There is no other device for it than the one that it was on. */
bool svc_device_is_last(const service *s, const svc_part *p);
/** Where the partition is tried after a failure. */
part_path svc_next_path(const service *s, const svc_part *p);
/** The device takes nothing any more. False: it was retired already. */
bool svc_device_retire(service *s, svc_device *v, const svc_job *j, const cuzk_error *why);
/** The device takes one partition at a time. False: so it did. */
bool svc_device_narrow(service *s, svc_device *v, const cuzk_error *why);

/* service_split.c */
#define SVC_MAX_HELPERS 7u
/** Devices that help with a partition. */
typedef struct svc_split {
    unsigned n, row[SVC_MAX_HELPERS];
    uint32_t rows; /* a bit each */
    helper *h[SVC_MAX_HELPERS];
    groth16_helper offer[SVC_MAX_HELPERS];
} svc_split;
/** For p, which has taken v. None where it is not alone, or not worth it. */
void svc_split_take(svc_split *x, service *s, svc_part *p, const svc_device *v);
/** It is proved, or was not; what its helpers failed at is p's to tell. */
void svc_split_put(svc_split *x, service *s, svc_part *p);
/** The finisher's: retires, and logs. */
void svc_split_tell(svc_part *p);

/* service_later.c */
/** Posts r; the books have it before anybody who locks after this has them. Never waits. */
void svc_post(service *s, svc_later *r);
void svc_write_books_locked(service *s);

/* service_account.c: what is counted */
/** Takes s->mu; a wait for it is a span. */
void svc_lock(service *s);
void svc_unlock(service *s);
/** Around what a stage's thread does for one item: its time, and what no span covers of it. */
typedef struct svc_account {
    uint64_t begin, number;
    char job_id[128];
} svc_account;
svc_account svc_account_begin(const svc_job *j);
void svc_account_end(service *s, const char *track, const svc_account *a);
/** The same without the lock: what svc_account_end would count, into r. */
void svc_account_later(service *s, const svc_account *a, svc_later *r);
/** Named steps that took longer than they ever should. Locked. */
void svc_note_slow_steps(service *s, const char *track, const char *job_id,
                         const cuzk_attribution *a);
/** A partition comes to the device of this row: why the device was idle until then. Locked. */
void svc_device_taken(service *s, const svc_part *p, int row, uint64_t now);
/** proved: a partition was on it, else it helped with one. Locked. */
void svc_device_left(service *s, int row, bool proved, uint64_t now);
/** How long the device was busy so far. Locked. */
uint64_t svc_device_busy(const svc_device *v, uint64_t now);
/** The memory that a partition took, against what was reserved. Locked. */
void svc_count_estimate(service *s, uint64_t reserved, uint64_t measured);
void svc_count_times(service *s, svc_job *j, uint64_t now); /* locked */

/* service_timing.c: lines of the log (spec/proving-api.md section 6) */
void svc_timeline_job(service *s, const svc_job *j, cuzk_job_state state);
void svc_timeline_part(service *s, const svc_part *p, part_state state);
/** The device's steps, out of its thread's attribution. */
void svc_timing_steps(svc_later *r, const cuzk_attribution *a);
/** Of a partition that the device has handed on; the finisher's. */
void svc_timing_device(service *s, const svc_part *p);
/** clock_ns: when the finisher began, and when the proof was verified and encoded. */
void svc_timing_finish(service *s, const char *job_id, uint32_t partition, uint64_t from,
                       uint64_t finished);

/* service_proof.c: proofs as bytes, and why one did not verify */
CUZK_STATUS svc_encode_proof(svc_part *p, const groth16_proof *proof);
CUZK_STATUS svc_explain(svc_part *p);

/* service_events.c */
CUZK_STATUS svc_events_open(service *s);
void svc_events_close(service *s);
void svc_event_job(service *s, const svc_job *j);
void svc_event_part(service *s, const svc_part *p, part_state state);
void svc_event_key(void *service, const key_entry *k, const char *state, double progress);
void svc_event_device(service *s, const svc_device *v, const char *state);
void svc_note_error(service *s, const svc_job *j, const cuzk_error *e); /* locked */
void svc_note_gap(service *s, const char *track, const char *job_id, uint64_t ns,
                  const char *between); /* locked */
void svc_log(service *s, int level, const char *event, const cuzk_log_field *f, size_t n);

/* service_json.c */
extern const char *const svc_kind_names[SVC_KINDS];
extern const char *const svc_priority_names[CUZK_CRITICAL + 1];
/** A further member of an object. */
void svc_put_text(bytes_out *o, const char *key, const char *value);
void svc_put_u64(bytes_out *o, const char *key, uint64_t v);
void svc_put_hash(bytes_out *o, const char *key, const uint8_t b[32]);
double svc_percent(uint64_t part, uint64_t whole); /* 100 of nothing */
void svc_put_error(bytes_out *o, const cuzk_error *e, bool failed);
/** The value of NAME= in a query, cut to fit; "" when it is not there. */
void svc_query_text(char *out, size_t cap, const char *query, const char *name);
uint64_t svc_query_u64(const char *query, const char *name, uint64_t otherwise);
/* service_status.c, service_history.c, service_jobs_json.c, service_metrics.c, service_timeline.c */
void svc_put_counters(service *s, bytes_out *o, uint64_t depth);
void svc_put_history(service *s, bytes_out *o, uint64_t now);
CUZK_STATUS svc_status_json(service *s, bytes_out *o);
CUZK_STATUS svc_jobs_json(service *s, bytes_out *o, const char *query);
CUZK_STATUS svc_job_json(service *s, bytes_out *o, const char *job_id);
CUZK_STATUS svc_metrics_text(service *s, bytes_out *o);
CUZK_STATUS svc_timeline_json(service *s, bytes_out *o, uint64_t since_ms);
CUZK_STATUS svc_trace_json(service *s, bytes_out *o, const char *query);

#endif
