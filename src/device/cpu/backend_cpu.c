/*
 * device/cpu/backend_cpu.c - the CPU as a device: its buffers are host memory, its streams run each call to its end
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "device/cpu/cpu.h"
#include "device/cpu/msm.h"

#include <string.h>

static const cpu_kernels *const all_kernels[CURVE_IDS][CPU_TABLES] = {
    [CURVE_ID_BN254] = {&cpu_kernels_bn_generic, &cpu_kernels_bn_adx, &cpu_kernels_bn_ifma},
    [CURVE_ID_BLS12_381] = {&cpu_kernels_bls_generic, &cpu_kernels_bls_adx, &cpu_kernels_bls_ifma},
};

static cuzk_status cpu_open(device *d, const device_config *config)
{
    cuzk_status st = CUZK_OK;
    cpu_device *impl;

    if ((unsigned)config->table >= CPU_TABLES)
        return FAIL(CUZK_EINVAL, "device cpu: table %u is unknown", (unsigned)config->table);
    if (!cpu_table_supported(config->table))
        return FAIL(CUZK_EINVAL, "device cpu: this machine cannot run table %s: %s",
                    cpu_table_name(config->table), cpu_table_refusal(config->table));
    impl = mem_new(d->m, 1, sizeof *impl, &st);
    if (impl == NULL) return st;
    for (unsigned i = 0; i < CURVE_IDS; i++) {
        d->curves[i] = curve_get((curve_id)i, config->table);
        impl->kernels[i] = all_kernels[i][config->table];
    }
    d->impl = impl;
    return CUZK_OK;
}

static void cpu_close(device *d)
{
    mem_free(d->m, d->impl);
}

static cuzk_status cpu_stream_open(dev_stream *s)
{
    cuzk_status st = CUZK_OK;

    s->impl = mem_new(s->d->m, 1, sizeof(cpu_stream), &st);
    return st;
}

static void cpu_stream_close(dev_stream *s)
{
    cpu_msm_keep(s, false);
    mem_free(s->d->m, s->impl);
}

static cuzk_status cpu_sync(dev_stream *s)
{
    (void)s; /* every call has ended */
    return CUZK_OK;
}

static cuzk_status cpu_buf_new(dev_buf *b)
{
    cuzk_status st = CUZK_OK;

    b->host = mem_new(b->d->m, b->n, sizeof *b->host, &st);
    return st;
}

static void cpu_buf_free(dev_buf *b)
{
    mem_free(b->d->m, b->host);
}

static cuzk_status cpu_upload(dev_stream *s, dev_buf *dst, size_t off, const fr *src, size_t n)
{
    (void)s;
    memmove(dst->host + off, src, n * sizeof *src);
    return CUZK_OK;
}

static cuzk_status cpu_download(dev_stream *s, fr *dst, const dev_buf *src, size_t off, size_t n)
{
    (void)s;
    memmove(dst, src->host + off, n * sizeof *dst);
    return CUZK_OK;
}

static cuzk_status cpu_msm_buf(dev_stream *s, void *r, curve_id id, const dev_points *bases,
                               size_t first_base, const dev_buf *k, size_t n)
{
    dev_scalars all = {.n = n, .elems = k->host};

    return cpu_msm_run(s, r, id, bases, first_base, &all);
}

const dev_backend dev_backend_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .stream_open = cpu_stream_open,
    .stream_close = cpu_stream_close,
    .sync = cpu_sync,
    .keep = cpu_msm_keep,
    .buf_new = cpu_buf_new,
    .buf_free = cpu_buf_free,
    .upload = cpu_upload,
    .download = cpu_download,
    .domain_new = cpu_domain_new,
    .domain_free = cpu_domain_free,
    .ntt = cpu_ntt,
    .quotient = cpu_quotient,
    .mul = cpu_mul,
    .msm = cpu_msm_run,
    .msm_buf = cpu_msm_buf,
    .msm_many = cpu_msm_many,
    .fixed_new = cpu_fixed_new,
    .fixed_free = cpu_fixed_free,
    .fixed_mul = cpu_fixed_mul,
    .multiples_new = cpu_multiples_new,
    .multiples_sum = cpu_multiples_sum,
    .abc = cpu_abc,
};
