/*
 * unit/device/support.c - devices on every table, random elements
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "unit/device/support.h"

/* the backend whose tests these are */
#ifndef RIG_DEVICE
#    define RIG_DEVICE "cpu"
#endif

static void open_device(device **d, const device_config *config)
{
    cuzk_status st = device_open(d, config);

    if (st == CUZK_EDEVICE && strcmp(config->name, "cpu") != 0 &&
        strncmp(cuzk_last_error()->message, "device cuda: no ", 16) == 0)
        harness_skip("no GPU: %s", cuzk_last_error()->message);
    assert_status_ok(st);
}

void rig_open(rig *r, cpu_table t, unsigned threads)
{
    device_config config = {.name = RIG_DEVICE, .table = t};

    memset(r, 0, sizeof *r);
    assert_status_ok(mem_open(&r->m, "test", 0, NULL));
    assert_status_ok(pool_open(&r->p, threads, NULL));
    config.pool = r->p;
    config.m = r->m;
    open_device(&r->d, &config);
    assert_status_ok(dev_stream_open(&r->s, r->d, NULL));
}

void rig_close(rig *r)
{
    dev_stream_close(r->s);
    device_close(r->d);
    pool_close(r->p);
    assert_int_equal(mem_used(r->m), 0);
    mem_close(r->m);
}

void random_fr(const curve *cv, fr *out)
{
    uint64_t top = 0;

    for (int i = 31; i >= 24; i--) top = top << 8 | cv->r_le[i];
    harness_random_bytes(out, sizeof *out);
    out->l[3] = harness_random_below(top); /* below the modulus whatever the other limbs are */
    switch (harness_random_below(16)) {
    case 0: *out = cv->fr_zero; break;
    case 1: *out = cv->fr_one; break;
    case 2: cv->fr_neg(out, &cv->fr_one); break;
    default: break;
    }
}

void random_frs(const curve *cv, fr *out, size_t n)
{
    for (size_t i = 0; i < n; i++) random_fr(cv, &out[i]);
}

void *test_array(size_t n, size_t size)
{
    void *p = calloc(n == 0 ? 1 : n, size);

    assert_non_null(p);
    return p;
}

void upload(rig *r, dev_buf *b, const fr *x, size_t n)
{
    assert_status_ok(dev_upload(r->s, b, 0, x, n));
}

void download(rig *r, fr *x, const dev_buf *b, size_t n)
{
    assert_status_ok(dev_download(r->s, x, b, 0, n));
    assert_status_ok(dev_sync(r->s));
}
