/*
 * unit/engine/service_support.h - a service for tests, requests made of the fixtures, waits
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef UNIT_ENGINE_SERVICE_SUPPORT_H
#define UNIT_ENGINE_SERVICE_SUPPORT_H

#include "harness/harness.h"

#include "cuzk_service.h"

/** A service with a key of window-2k and the circuits given, threads cores, and a store (NULL: none). */
typedef struct test_service {
    cuzk_engine *e;
    cuzk_service *s;
    char params[512];
} test_service;

/** What the next services prove on ("cpu,cpu"); NULL: what CUZK_TEST_DEVICE names, else the CPU. */
extern const char *service_devices;

/** Keys are made once a program. */
const char *service_params(void);
void service_start(test_service *t, unsigned threads, const char *db,
                   const cuzk_service_tunables *tune);
void service_start_config(test_service *t, unsigned threads, cuzk_service_config *c);
void service_stop(test_service *t);

/** A request and the bytes that it points to. */
typedef struct test_request {
    cuzk_request r;
    uint8_t *files[4];
    cuzk_bytes pieces[4];
    uint8_t randomness[32];
} test_request;

/** WindowPoSt of the 2 KiB fixture: 3 sectors in 2 partitions, or the first two sectors in one. */
void request_window(test_request *q, const char *id, unsigned n_sectors);
/** merkle5 of circom/bn128, as circuit "merkle5". */
void request_circom(test_request *q, const char *id);
const cuzk_circuit *service_test_circuit(void);
void request_clear(test_request *q);

/** Waits for a job to end (or timeout_ms) and keeps what was told. */
typedef struct told {
    cuzk_wait_end end;
    cuzk_job_state state;
    uint8_t proof[16384];
    size_t proof_size;
    char proof_json[4096], public_json[4096];
    cuzk_error error;
    cuzk_job_times times;
    unsigned calls;
} told;
void wait_for_job(cuzk_service *s, const char *job_id, uint64_t timeout_ms, told *out);
void service_pause(unsigned ms);
/** While it is held, the device begins no partition. */
void hold_device(cuzk_service *s, bool hold);
#ifdef CUZK_VERIFY
/** Waits until somebody stands at this place, which was armed (base/fault.h). */
void wait_until_held(const char *place);
#endif
/** The value after "NAME": in a JSON text of ours, as a number. */
double json_number(const char *json, const char *name);
char *document(cuzk_service *s, const char *path); /* the caller frees it */

#endif
