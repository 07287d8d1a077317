/*
 * app/http_routes_calldata.c - the arguments of a Solidity verifier's verifyProof, from snarkjs's JSON
 *
 * verifyProof(uint[2] a, uint[2][2] b, uint[2] c, uint[] inputs): words of 256 bits in hexadecimal; b's coordinates, elements of
 * the quadratic extension, have their imaginary part first, as the precompiled pairing wants them.
 * Sources: EIP-197 (order of the parts); the form that snarkjs's "zkey export soliditycalldata" prints.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/http_routes_int.h"

#include "base/json.h"

#include <string.h>

#define MAX_DIGITS 78 /* of a number below 2^256 */

typedef struct word {
    char hex[67]; /* "0x", 64 digits */
} word;

/** text[0..n) in decimal, below 2^256. */
static bool word_read(word *out, const char *text, size_t n)
{
    uint32_t limb[8] = {0}; /* least first */

    if (n == 0 || n > MAX_DIGITS) return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t carry = (uint64_t)(text[i] - '0');

        if (text[i] < '0' || text[i] > '9') return false;
        for (unsigned k = 0; k < 8; k++) {
            carry += (uint64_t)limb[k] * 10;
            limb[k] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry != 0) return false;
    }
    uint8_t be[32];
    for (unsigned i = 0; i < 32; i++) be[31 - i] = (uint8_t)(limb[i / 4] >> 8 * (i % 4));
    memcpy(out->hex, "0x", 2);
    hex_encode(out->hex + 2, be, 32);
    return true;
}

static cuzk_status next_word(json_in *j, word *out)
{
    json_token t;

    TRY(json_expect(j, JSON_STRING, &t, "coordinate"));
    if (!word_read(out, t.text, t.len))
        return FAIL_DATA(SHAPE, "calldata",
                         "a number is not below 2^256; call data is for proofs over bn128");
    return CUZK_OK;
}

/** [x, y, z] or, pairs: [[x0, x1], [y0, y1], [z0, z1]]: x and y. */
static cuzk_status read_point(json_in *j, word *out, bool pairs)
{
    TRY(json_expect(j, JSON_ARRAY, NULL, "point"));
    for (unsigned i = 0; i < 3; i++) {
        word spare[2], *to = i < 2 ? out + (pairs ? 2 * i : i) : spare;

        if (pairs) TRY(json_expect(j, JSON_ARRAY, NULL, "coordinate"));
        TRY(next_word(j, to));
        if (pairs) {
            TRY(next_word(j, to + 1));
            TRY(json_expect(j, JSON_ARRAY_END, NULL, "coordinate"));
        }
    }
    return json_expect(j, JSON_ARRAY_END, NULL, "point");
}

typedef struct points {
    word a[2], b[4], c[2];
    bool bn128;
} points;

static cuzk_status read_proof(points *p, cuzk_bytes proof)
{
    json_in j;
    json_token t;

    memset(p, 0, sizeof *p);
    TRY(json_init(&j, proof.data, proof.size));
    TRY(json_expect(&j, JSON_OBJECT, NULL, "proof"));
    for (;;) {
        TRY(json_next(&j, &t));
        if (t.type == JSON_OBJECT_END) break;
        if (json_is(&t, "pi_a")) {
            TRY(read_point(&j, p->a, false));
        } else if (json_is(&t, "pi_b")) {
            TRY(read_point(&j, p->b, true));
        } else if (json_is(&t, "pi_c")) {
            TRY(read_point(&j, p->c, false));
        } else if (json_is(&t, "curve")) {
            TRY(json_expect(&j, JSON_STRING, &t, "curve"));
            p->bn128 = json_is(&t, "bn128");
        } else {
            TRY(json_skip(&j));
        }
    }
    if (!p->bn128 || p->a[0].hex[0] == 0 || p->b[0].hex[0] == 0 || p->c[0].hex[0] == 0)
        return FAIL_DATA(SHAPE, "calldata", "call data is for proofs over bn128");
    return CUZK_OK;
}

static cuzk_status write_inputs(bytes_out *out, cuzk_bytes public_json)
{
    json_in j;
    word w;

    TRY(json_init(&j, public_json.data, public_json.size));
    TRY(json_expect(&j, JSON_ARRAY, NULL, "public signals"));
    bytes_put(out, "[", 1);
    for (bool first = true; !json_array_end(&j); first = false) {
        TRY(next_word(&j, &w));
        bytes_printf(out, "%s\"%s\"", first ? "" : ",", w.hex);
    }
    bytes_put(out, "]", 1);
    return CUZK_OK;
}

cuzk_status http_calldata_write(bytes_out *out, cuzk_bytes proof_json, cuzk_bytes public_json)
{
    points p;

    TRY(read_proof(&p, proof_json));
    bytes_printf(out, "[\"%s\", \"%s\"],[[\"%s\", \"%s\"],[\"%s\", \"%s\"]],[\"%s\", \"%s\"],",
                 p.a[0].hex, p.a[1].hex, p.b[1].hex, p.b[0].hex, p.b[3].hex, p.b[2].hex, p.c[0].hex,
                 p.c[1].hex);
    return write_inputs(out, public_json);
}
