/*
 * circuit/filecoin/redundant.c - faults in what no circuit reads
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/redundant.h"

#include <stdarg.h>
#include <stdio.h>

cuzk_status fil_redundant_found(const fil_redundant *r, const char *where, const char *fmt, ...)
{
    char message[256];
    va_list args;

    if (r == NULL || (!r->strict && r->warn == NULL)) return CUZK_OK;
    va_start(args, fmt);
    (void)vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (r->strict) return FAIL_DATA(REDUNDANT, where, "%s", message);
    r->warn(r->ctx, CUZK_CLASS_REDUNDANT, where, message);
    return CUZK_OK;
}
