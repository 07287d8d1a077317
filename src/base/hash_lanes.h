/*
 * base/hash_lanes.h - hashes of many short inputs, eight at a time where the processor has AVX-512
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

#endif
