/*
 * base/hash_lanes.h - several hashes at a time: of many short inputs with AVX-512, of two long ones with the SHA extensions
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_HASH_LANES_H
#define BASE_HASH_LANES_H

#include <stddef.h>
#include <stdint.h>

/** first[i] = the first eight bytes, as a little-endian number, of BLAKE2b-512 without a key of 16 bytes: the numbers in[i][0] and in[i][1],
 *  little-endian. For i < n, any n. */
void blake2b_pairs(uint64_t *first, const uint64_t (*in)[2], size_t n);

/** SHA-256 of a[0..n) and of b[0..n). The rounds of one hash wait for each other, so two take little longer than one. */
void sha256_two(uint8_t out_a[32], uint8_t out_b[32], const uint8_t *a, const uint8_t *b, size_t n);

#endif
