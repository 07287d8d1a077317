/*
 * device/cpu/msm_octet_inl.h - eight rows that are added up side by side, and what is fetched for them ahead of time
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CPU_MSM_OCTET_INL_H
#define DEVICE_CPU_MSM_OCTET_INL_H

#include "base/u128.h"
#include "device/cpu/msm_kernels.h"

/* bench_msm tells whether other values are better; all are right */
#define MSM_TRAY 128                    /* eights of a tray */
#define MSM_ROW 63                      /* entries of a piece; with the bucket at most MSM_TRAY */
#define MSM_TRAYS 7                     /* in work, log2(MSM_ROW + 1), and the next */
#define MSM_SUMS ((size_t)2 * MSM_TRAY) /* in a batch at most */
#define MSM_MAX_LANES ((size_t)8 * MSM_TRAY)
#define MSM_LANES_AHEAD 32      /* lanes that a prefetch runs ahead */
#define MSM_WAVE ((size_t)4096) /* pieces that are sorted by length at a time */
#define MSM_CUT ((size_t)512)   /* pieces of rows that are cut, of one slice at a time */

/* Rows of nearly equal length; the first is the longest. */
typedef struct msm_octet {
    uint32_t begin[8], len[8]; /* entries of the slice; len 0: no row */
    void *dst[8];
    uint32_t start, n; /* in its tray */
} msm_octet;

/* Octets whose points and buckets are loaded soon: asked for one eight at a time, between the sums of a batch. */
typedef struct msm_fetch {
    const msm_slice *s;
    const msm_octet *octet, *end;
    uint32_t at;
} msm_fetch;

static inline void msm_fetch_bytes(const uint8_t *p, size_t size)
{
    for (size_t at = 0; at < size; at += 64) U128_PREFETCH_FAR(p + at);
    U128_PREFETCH_FAR(p + size - 1);
}

static inline void msm_fetch_next(msm_fetch *f, size_t point, size_t cell)
{
    const msm_octet *o = f->octet;

    if (o == f->end) return;
    for (size_t l = 0; l < 8; l++) {
        if (f->at >= o->len[l]) break;
        if (f->at == 0) msm_fetch_bytes(o->dst[l], cell);
        msm_fetch_bytes(f->s->points + (size_t)(f->s->entries[o->begin[l] + f->at] >> 1) * point,
                        point);
    }
    if (++f->at < o->len[0]) return;
    f->at = 0;
    f->octet++;
}

#endif
