/*
 * base/span.h - time accounting: every step and every wait of every job is a named span
 *
 * A thread attaches to a recorder and then opens and closes spans; they go into that thread's ring without a lock.
 * There is no collector thread: rings are emptied into the recorder's store by whoever asks for an attribution or a
 * trace, and by the owner of a ring that is full. The store is bounded: the oldest spans are dropped, and counted.
 * Leaf kinds are a closed list: only they count as attributed time.
 * Source: design section 6.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include "base/status.h"

/* kind, name in traces and tables, group: 'P' parent (not counted), 'C' CPU step, 'I' I/O, 'W' wait, 'D' what a GPU was
 * at or why it was not, by its own clock (on the tracks of devices; counted nowhere) */
#define SPAN_LIST(X) \
    X(SPAN_JOB, "job", 'P') \
    X(SPAN_PROVE, "prove", 'P') \
    X(SPAN_VERIFY, "verify", 'P') \
    X(SPAN_SETUP, "setup", 'P') \
    X(SPAN_TASK, "task", 'C') \
    X(SPAN_READ_KEY, "read key", 'I') \
    X(SPAN_READ_WITNESS, "read witness", 'I') \
    X(SPAN_READ_CIRCUIT, "read circuit", 'I') \
    X(SPAN_READ_INPUT, "read input", 'I') \
    X(SPAN_WRITE, "write output", 'I') \
    X(SPAN_SHAPE, "build circuit shape", 'C') \
    X(SPAN_CHECK_INPUT, "check vanilla proof", 'C') \
    X(SPAN_SYNTH, "synthesise witness", 'C') \
    X(SPAN_CHECK_R1CS, "check constraints", 'C') \
    X(SPAN_ABC, "evaluate a b c", 'C') \
    X(SPAN_NTT, "ntt", 'C') \
    X(SPAN_QUOTIENT, "quotient", 'C') \
    X(SPAN_MSM_H, "msm h", 'C') \
    X(SPAN_MSM_L, "msm l", 'C') \
    X(SPAN_MSM_A, "msm a", 'C') \
    X(SPAN_MSM_B1, "msm b g1", 'C') \
    X(SPAN_MSM_B2, "msm b g2", 'C') \
    X(SPAN_MSM_IC, "msm ic", 'C') \
    X(SPAN_ASSEMBLE, "assemble proof", 'C') \
    X(SPAN_PAIRING, "pairing", 'C') \
    X(SPAN_SETUP_QAP, "setup: qap columns", 'C') \
    X(SPAN_SETUP_POINTS, "setup: points", 'C') \
    X(SPAN_AGG_COMMIT, "aggregate: commit", 'C') \
    X(SPAN_AGG_ROUND, "aggregate: round", 'C') \
    X(SPAN_AGG_FOLD, "aggregate: fold", 'C') \
    X(SPAN_AGG_OPEN, "aggregate: open keys", 'C') \
    X(SPAN_AGG_VERIFY, "aggregate: verify", 'C') \
    X(SPAN_ALLOC, "allocate", 'C') \
    X(SPAN_FREE, "free", 'C') \
    X(SPAN_ENCODE, "encode result", 'C') \
    X(SPAN_GENERATE, "make inputs", 'C') \
    X(SPAN_OPEN, "open engine", 'C') \
    X(SPAN_BENCH, "prepare and check benchmark", 'C') \
    X(SPAN_FIELD, "field products", 'C') \
    X(SPAN_RECEIVE, "receive request", 'I') \
    X(SPAN_SEND, "send response", 'I') \
    X(SPAN_AUTHENTICATE, "check token", 'C') \
    X(SPAN_ADMIT, "admit", 'C') \
    X(SPAN_DECODE, "decode request", 'C') \
    X(SPAN_PAYLOAD, "write payload", 'I') \
    X(SPAN_STORE, "store sync", 'I') \
    X(SPAN_WITNESS_COMMAND, "witness command", 'W') \
    X(SPAN_SCHEDULE, "schedule", 'C') \
    X(SPAN_DOCUMENT, "write document", 'C') \
    X(SPAN_LOG, "write log", 'I') \
    X(SPAN_POOL_WAIT, "wait for workers", 'W') \
    X(SPAN_MEM_WAIT, "wait for memory", 'W') \
    X(SPAN_QUEUE_WAIT, "wait in queue", 'W') \
    X(SPAN_KEY_WAIT, "wait for key", 'W') \
    X(SPAN_DEVICE_WAIT, "wait for device", 'W') \
    X(SPAN_STORE_WAIT, "wait for store", 'W') \
    X(SPAN_LOCK_WAIT, "wait for lock", 'W') \
    X(SPAN_FINISH_WAIT, "wait for finaliser", 'W') \
    X(SPAN_CLIENT_WAIT, "wait for client", 'W') \
    X(SPAN_ASIDE, "stand aside", 'W') \
    X(SPAN_IDLE, "idle", 'W') \
    X(SPAN_GPU_COPY_IN, "gpu: copy in", 'D') \
    X(SPAN_GPU_COPY_OUT, "gpu: copy out", 'D') \
    X(SPAN_GPU_ABC, "gpu: a b c", 'D') \
    X(SPAN_GPU_NTT, "gpu: transform", 'D') \
    X(SPAN_GPU_QUOTIENT, "gpu: quotient", 'D') \
    X(SPAN_GPU_POINTS, "gpu: decode points", 'D') \
    X(SPAN_GPU_SCALARS, "gpu: class scalars", 'D') \
    X(SPAN_GPU_SORT, "gpu: sort digits", 'D') \
    X(SPAN_GPU_PAIRS, "gpu: add pairs", 'D') \
    X(SPAN_GPU_SEGMENTS, "gpu: sum segments", 'D') \
    X(SPAN_GPU_JOIN, "gpu: join segments", 'D') \
    X(SPAN_GPU_IDLE_HOST, "gpu idle: host work", 'D') \
    X(SPAN_GPU_IDLE_COPY, "gpu idle: copy in", 'D') \
    X(SPAN_GPU_IDLE_JOIN, "gpu idle: host join", 'D') \
    X(SPAN_GPU_IDLE_MEMORY, "gpu idle: memory", 'D') \
    X(SPAN_GPU_IDLE_LOCK, "gpu idle: lock", 'D') \
    X(SPAN_GPU_IDLE_KEY, "gpu idle: key", 'D') \
    X(SPAN_GPU_IDLE_SYNTH, "gpu idle: synthesis", 'D') \
    X(SPAN_GPU_IDLE_WORK, "gpu idle: no work", 'D')

#define SPAN_ENUM(kind, name, group) kind,
typedef enum span_kind { SPAN_LIST(SPAN_ENUM) SPAN_KINDS } span_kind;
#undef SPAN_ENUM

typedef struct span_rec span_rec;

CUZK_STATUS span_rec_open(span_rec **out);
/** Every thread that attached, but for the calling one, must have detached. NULL is fine. */
void span_rec_close(span_rec *r);

/** The calling thread's spans go to r as track `name` from here on, until span_detach. r = NULL: they go nowhere.
 *  A name whose thread has detached is taken up again: its track goes on. */
CUZK_STATUS span_attach(span_rec *r, const char *name);
void span_detach(void);
/** Where the calling thread's spans go; NULL: nowhere. */
span_rec *span_recorder(void);
/** Job (0: none) and partition (-1: none) that this thread's next spans belong to; attach and detach set none. */
void span_context(uint64_t job, int32_t partition);

typedef struct span {
    uint64_t start; /* ns; 0 when no recorder is attached */
    span_kind kind;
} span;

/** Spans on one thread nest properly: last opened, first closed. A pool task's own spans are opened by the pool. */
span span_open(span_kind kind);
void span_close(const span *s);

/** What this thread is doing: for the pool, whose workers show the step that they work for. */
typedef struct span_place {
    uint64_t job;
    int32_t partition;
    span_kind leaf; /* the innermost open leaf kind; SPAN_TASK when there is none */
    bool in_leaf;   /* there is one */
} span_place;
span_place span_here(void);

const char *span_name(span_kind k);
char span_group(span_kind k);
/** It is a leaf of a thread: its time is attributed. */
bool span_counts(span_kind k);

/** Attribution of [from_ns, to_ns] (clock_ns) on the calling thread's track: each instant belongs to the innermost leaf
 *  span open then, or to a gap. Spans still open count up to to_ns. Steps come largest first. peak_memory is left 0. */
void span_attribution(span_rec *r, uint64_t from_ns, uint64_t to_ns, cuzk_attribution *out);
/** What the spans of a job say, on all threads and in its waits: steps, largest first, each instant of a thread to its
 *  innermost leaf. Threads overlap, so the sum may be more than the job's time. wall_ns, gaps and memory are left 0. */
void span_job_steps(span_rec *r, uint64_t job, cuzk_attribution *out);
/** A wait that no thread spent: recorded on the track "waits", where spans overlap. Times as clock_ns. */
void span_note_wait(span_rec *r, span_kind kind, uint64_t from_ns, uint64_t to_ns, uint64_t job,
                    int32_t partition);
/** Spans that no thread spent either, of the calling thread's job and partition, to its recorder, on a track of this name (no thread
 *  may attach to it). overlap: they may overlap others of the track; else each begins where the one before it ended, or later. */
typedef struct span_noted {
    uint64_t from, to;      /* clock_ns; nothing is recorded where to <= from */
    span_kind kind, within; /* within: the step that it was done for; SPAN_KINDS: none */
} span_noted;
void span_note(const char *track, const span_noted *s, size_t n, bool overlap);
/** Calls fn for each span in the store that ends after from_ns, in the order they were stored, without a lock; then for what
 *  each thread is in now, with `end` as now. */
typedef struct span_seen {
    const char *track;
    unsigned track_id;
    span_kind kind;
    uint64_t start, end, job;
    int32_t partition;
} span_seen;
typedef void (*span_seen_fn)(void *ctx, const span_seen *s);
void span_each(span_rec *r, uint64_t from_ns, span_seen_fn fn, void *ctx);
/** Spans that are no longer in the store. */
uint64_t span_dropped(span_rec *r);
/** Chrome trace JSON ("traceEvents") of every closed span in the store, appended to *out (bytes_out; see
 *  span_trace.c). Threads may go on recording meanwhile. */
struct bytes_out;
CUZK_STATUS span_write_trace(span_rec *r, struct bytes_out *out);

#endif
