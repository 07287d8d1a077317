/*
 * device/cpu/msm.h - sums of multiples of points, and multiples of one point, on the CPU: what backend_cpu.c calls
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_MSM_H
#define DEVICE_CPU_MSM_H

#include "device/backend.h"

/**
 * r = sum over positions i that take part of k[i] * bases[first_base + rank of i among them].
 *
 *   r      out  a g1_any or g2_any (bases->g2), affine; untouched unless CUZK_OK
 *   bases  in   encoded points. Those with a scalar that is not 0 are read, and checked unless trusted; others are
 *               not looked at
 *   k      in   dev_scalars, bits and elements (device.h); n = 0 gives infinity
 *
 * Scalars count modulo the group order: a multiple by k > r/2 is taken as minus a multiple by r - k. So a base outside
 * the order-r subgroup gives a point of its group, but not k times the base as an integer.
 *
 * Errors   CUZK_EDATA (malformed) names the lowest bad point by its index in `bases`; CUZK_ENOMEM, CUZK_EBUDGET;
 *          CUZK_ECANCELLED between tasks
 * Threads  uses the device's pool; several calls may run at once     Time  variable in scalars and points
 * Memory   at most cpu_msm_memory bytes from the device's budget, while it runs
 */
CUZK_STATUS cpu_msm_run(dev_stream *s, void *r, curve_id id, const dev_points *bases,
                        size_t first_base, const dev_scalars *k);

/**
 * All n sums, as cpu_msm_run would make them, with a task for a few windows of one: for sums that are small and where threads are few.
 *
 *   done   out  false: these are not, and nothing was done
 *
 * Errors   as cpu_msm_run; of a bad point: the lowest of one of the sums
 * Memory   all sums' scalars and points, and a group's buckets for each thread, in one block
 */
CUZK_STATUS cpu_msm_many(dev_stream *s, curve_id id, const dev_sum *sums, size_t n, bool *done);

/** dev_keep (device.h) */
void cpu_msm_keep(dev_stream *s, bool keep);

/** Upper bound of the bytes that cpu_msm_run takes from the budget for n scalars. */
size_t cpu_msm_memory(const device *d, curve_id id, bool g2, point_enc enc, size_t n);

/** Fills t: the window from the model that all sums of this kind have (msm_multiples.c). */
CUZK_STATUS cpu_multiples_new(dev_stream *s, dev_multiples *t, const dev_points *points,
                              size_t max_bytes);
/** Errors, threads, time: as cpu_msm_run. Any CPU table may take multiples that another made. */
CUZK_STATUS cpu_multiples_sum(dev_stream *s, g1_any *r, const dev_multiples *t, const fr *k);

/** Fills f->impl: the table of multiples of base (a g1_any or g2_any on the curve), for about n of them. */
CUZK_STATUS cpu_fixed_new(dev_stream *s, dev_fixed *f, const void *base, size_t n);
void cpu_fixed_free(dev_fixed *f);
/**
 * out[i] = k[i] * base in the given encoding, for i < n.
 *
 *   infinity_index  out  the first i whose result is infinity, or SIZE_MAX; may be NULL
 *
 * Errors   CUZK_ENOMEM, CUZK_EBUDGET, CUZK_ECANCELLED; out then holds some of the results
 * Time     variable in the scalars
 */
CUZK_STATUS cpu_fixed_mul(dev_stream *s, uint8_t *out, point_enc enc, const dev_fixed *fixed,
                          const fr *k, size_t n, size_t *infinity_index);

#endif
