/*
 * base/text_lanes.h - the insides of base64 and of byte arrays in JSON, with and without AVX-512; not for other rooms
 *
 * Each function reads as much as is in the plain form, and stops before the rest, which its caller's slower code judges.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BASE_TEXT_LANES_H
#define BASE_TEXT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASE64_FOREIGN 0x80u

/** Whether this machine has what the functions with avx512 in their names need. */
bool text_has_avx512(void);

/** Whole groups of four digits, up to a foreign character; how many characters they have. digits: a character's value, or
 *  BASE64_FOREIGN. Three bytes a group into out. The second takes 64 characters at a time and leaves fewer. */
size_t base64_groups(uint8_t *out, const uint8_t *p, size_t len, const uint8_t digits[256]);
size_t base64_groups_avx512(uint8_t *out, const uint8_t *p, size_t len, const uint8_t digits[256]);

/** Within an array of bytes, right after an element: more of them in the form that machines write, a comma and one to three digits each
 *  with another comma (or, the second, the array's end) right behind, which stays. At most cap; *used: characters read. At least two
 *  characters lie before p. */
size_t json_bytes(const uint8_t *p, const uint8_t *end, uint8_t *out, size_t cap, size_t *used);
size_t json_bytes_avx512(const uint8_t *p, const uint8_t *end, uint8_t *out, size_t cap,
                         size_t *used);

#endif
