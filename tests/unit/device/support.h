/*
 * unit/device/support.h - what this room's tests share: devices on every table, random elements
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef TESTS_UNIT_DEVICE_SUPPORT_H
#define TESTS_UNIT_DEVICE_SUPPORT_H

#include "device/device.h"
#include "harness/harness.h"

/** A CPU device with its pool, a stream and a budget of its own. */
typedef struct rig {
    mem *m;
    pool *p;
    device *d;
    dev_stream *s;
} rig;

void rig_open(rig *r, cpu_table t, unsigned threads);
/** Closes all and checks that nothing is left in the budget. */
void rig_close(rig *r);

/** Canonical; now and then 0, 1 or -1. */
void random_fr(const curve *cv, fr *out);
void random_frs(const curve *cv, fr *out, size_t n);
void *test_array(size_t n, size_t size); /* zeroed; fails the test when there is no memory */
void upload(rig *r, dev_buf *b, const fr *x, size_t n);
void download(rig *r, fr *x, const dev_buf *b, size_t n);

#endif
