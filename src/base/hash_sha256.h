/*
 * base/hash_sha256.h - the compression functions behind sha256_update; not for other rooms
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_HASH_SHA256_H
#define BASE_HASH_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Compresses n blocks of 64 bytes into h. */
typedef void sha256_blocks_fn(uint32_t h[8], const uint8_t *p, size_t n);

sha256_blocks_fn sha256_blocks_generic;
sha256_blocks_fn sha256_blocks_ni; /* only where sha256_has_ni */
bool sha256_has_ni(void);
/** n blocks at p into h, n others at q into g; only where sha256_has_ni. */
void sha256_blocks_two_ni(uint32_t h[8], uint32_t g[8], const uint8_t *p, const uint8_t *q,
                          size_t n);

#endif
