/*
 * base/base64.h - standard base64 (RFC 4648 section 4), strict: padded, no white space, no bits beyond the end
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/status.h"

/** Most bytes that len characters stand for. */
static inline size_t base64_size(size_t len)
{
    return len / 4 * 3;
}

/** Decodes into out (base64_size(len) bytes); *n how many there are. Errors: CUZK_EDATA; the offset in the text and `what`
 *  are in the message. */
CUZK_STATUS base64_decode(uint8_t *out, size_t *n, const char *text, size_t len, const char *what);

#endif
