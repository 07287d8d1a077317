/*
 * device/cpu/cpu.h - what the files of the CPU backend share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_CPU_H
#define DEVICE_CPU_CPU_H

#include <stdatomic.h>

#include "device/cpu/kernels.h"

/** What device->impl is. */
typedef struct cpu_device {
    const cpu_kernels *kernels[CURVE_IDS];
} cpu_device;

/** What stream->impl is: the memory of the last sum, when the next is to have it (dev_keep). */
typedef struct cpu_stream {
    atomic_bool keep;
    _Atomic(void *) block;
} cpu_stream;

static inline const cpu_kernels *cpu_kernels_of(const device *d, curve_id id)
{
    return ((const cpu_device *)d->impl)->kernels[id];
}

CUZK_STATUS cpu_domain_new(ntt_domain *dom);
void cpu_domain_free(ntt_domain *dom);
CUZK_STATUS cpu_ntt(dev_stream *s, dev_buf *a, const ntt_domain *dom, ntt_kind kind);

CUZK_STATUS cpu_quotient(dev_stream *s, dev_buf *a, const dev_buf *b, const dev_buf *c, size_t n,
                         curve_id id, const fr *k);
CUZK_STATUS cpu_mul(dev_stream *s, dev_buf *r, const dev_buf *a, const dev_buf *b, size_t n,
                    curve_id id);

CUZK_STATUS cpu_abc(dev_stream *s, dev_buf *a, dev_buf *b, dev_buf *c, const dev_system *sys,
                    const fr *inputs, const dev_scalars *aux);

/** Cuts n elements into ranges of `grain` and runs them on the device's pool. */
typedef void (*cpu_range_fn)(void *ctx, size_t from, size_t to);
CUZK_STATUS cpu_for_ranges(const device *d, const cancel *c, size_t n, size_t grain,
                           cpu_range_fn fn, void *ctx);

#endif
