/*
 * unit/algebra/test_encoding.c - points from and to bytes and decimal digits, on every table
 *
 * Known answers: the four test vector files of zkcrypto/bls12_381 (commit 6bb9695, src/tests/X_valid_test_vectors.dat:
 * the encodings of k times the generator, k = 0..999), by their SHA-256.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "base/hash.h"
#include "curve_tests.h"

#define P_MAX 48   /* bytes of a coordinate */
#define G2_MAX 192 /* bytes of an encoded point */

static const point_enc encodings[] = {POINT_LEM, POINT_ZCASH, POINT_ZCASH_COMPRESSED};

/* ---- known answers ---- */

static const struct {
    bool g2;
    point_enc enc;
    const char *sha256;
} zkcrypto[] = {
    {false, POINT_ZCASH, "e25aae8e95c9cd39cdb1eec0100c8245e297510fef0091cbf80b91d49de6b685"},
    {false, POINT_ZCASH_COMPRESSED,
     "8acaa1d512b4cf96f4740e4c9afc19ba4618d48fe251c452a19382395bcd0929"},
    {true, POINT_ZCASH, "80fd0516c8115b13165589324558649fa94f49e714caa3b735537d073a9cfb65"},
    {true, POINT_ZCASH_COMPRESSED,
     "b75bc2e41289adda41e448e56a1ea39b11009a27b02e8676c8b86defedc05deb"},
};

static void check_multiples(const curve *c, bool g2, point_enc enc, const char *want)
{
    size_t size = c->point_size(g2, enc);
    g1_any p = {{0}}, p2;
    g2_any q = {{0}}, q2;
    uint8_t b[G2_MAX], digest[32];
    sha256_ctx h;

    sha256_init(&h);
    for (int k = 0; k < 1000; k++) {
        if (g2) {
            c->g2_write(b, &q, enc);
            assert_int_equal(c->g2_read(&q2, b, enc), POINT_OK);
            assert_true(c->g2_eq(&q, &q2));
            c->g2_add(&q, &q, &c->g2_gen);
        } else {
            c->g1_write(b, &p, enc);
            assert_int_equal(c->g1_read(&p2, b, enc), POINT_OK);
            assert_true(c->g1_eq(&p, &p2));
            c->g1_add(&p, &p, &c->g1_gen);
        }
        sha256_update(&h, b, size);
    }
    sha256_final(&h, digest);
    assert_hex_equal(digest, 32, want);
}

static void zkcrypto_of(const curve *c)
{
    if (c->id != CURVE_ID_BLS12_381) return;
    for (size_t i = 0; i < sizeof zkcrypto / sizeof zkcrypto[0]; i++)
        check_multiples(c, zkcrypto[i].g2, zkcrypto[i].enc, zkcrypto[i].sha256);
}

static void test_zkcrypto(void **state)
{
    (void)state;
    for_each_table(zkcrypto_of);
}

/* RFC 9380, appendix J.9.1: BLS12381G1_XMD:SHA-256_SSWU_RO_, messages "", "abc" and "abcdef0123456789". What a message is mapped
   to, Q0 and Q1, are points of the curve outside the subgroup; (1 - x) (Q0 + Q1) = P clears the cofactor. */
static const char *const rfc9380[][3][2] = {
    {{"11a3cce7e1d90975990066b2f2643b9540fa40d6137780df4e753a8054d07580db3b7f1f03396333d4a359d1fe37"
      "66fe",
      "0eeaf6d794e479e270da10fdaf768db4c96b650a74518fc67b04b03927754bac66f3ac720404f339ecdcc028afa0"
      "91b7"},
     {"160003aaf1632b13396dbad518effa00fff532f604de1a7fc2082ff4cb0afa2d63b2c32da1bef2bf6c5ca62dc6b7"
      "2f9c",
      "0d8bb2d14e20cf9f6036152ed386d79189415b6d015a20133acb4e019139b94e9c146aaad5817f866c95d609a361"
      "735e"},
     {"052926add2207b76ca4fa57a8734416c8dc95e24501772c814278700eed6d1e4e8cf62d9c09db0fac349612b759e"
      "79a1",
      "08ba738453bfed09cb546dbb0783dbb3a5f1f566ed67bb6be0e8c67e2e81a4cc68ee29813bb7994998f3eae0c9c6"
      "a265"}},
    {{"125435adce8e1cbd1c803e7123f45392dc6e326d292499c2c45c5865985fd74fe8f042ecdeeec5ecac80680d0431"
      "7d80",
      "0e8828948c989126595ee30e4f7c931cbd6f4570735624fd25aef2fa41d3f79cfb4b4ee7b7e55a8ce013af2a5ba2"
      "0bf2"},
     {"11def93719829ecda3b46aa8c31fc3ac9c34b428982b898369608e4f042babee6c77ab9218aad5c87ba785481eff"
      "8ae4",
      "0007c9cef122ccf2efd233d6eb9bfc680aa276652b0661f4f820a653cec1db7ff69899f8e52b8e92b025a12c822a"
      "6ce6"},
     {"03567bc5ef9c690c2ab2ecdf6a96ef1c139cc0b2f284dca0a9a7943388a49a3aee664ba5379a7655d3c68900be2f"
      "6903",
      "0b9c15f3fe6e5cf4211f346271d7b01c8f3b28be689c8429c85b67af215533311f0b8dfaaa154fa6b88176c229f2"
      "885d"}},
    {{"08834484878c217682f6d09a4b51444802fdba3d7f2df9903a0ddadb92130ebbfa807fffa0eabf257d7b48272410"
      "afff",
      "0b318f7ecf77f45a0f038e62d7098221d2dbbca2a394164e2e3fe953dc714ac2cde412d8f2d7f0c03b259e6795a2"
      "508e"},
     {"158418ed6b27e2549f05531a8281b5822b31c3bf3144277fbb977f8d6e2694fedceb7011b3c2b192f23e2a44b2bd"
      "106e",
      "1879074f344471fac5f839e2b4920789643c075792bec5af4282c73f7941cda5aa77b00085eb10e206171b9787c4"
      "169f"},
     {"11e0b079dea29a68f0383ee94fed1b940995272407e3bb916bbf268c263ddd57a6a27200a784cbc248e84f357ce8"
      "2d98",
      "03a87ae2caf14e8ee52e51fa2ed8eefe80f02457004ba4d486d6aa1f517c0889501dc7413753f9599b099ebcbbd2"
      "d709"}},
};
#define ONE_MINUS_X UINT64_C(0xd201000000010001)

static void g1_from_hex(const curve *c, g1_any *p, const char *const xy[2])
{
    uint8_t b[2 * P_MAX];

    assert_true(hex_decode(b, P_MAX, xy[0], strlen(xy[0])));
    assert_true(hex_decode(b + P_MAX, P_MAX, xy[1], strlen(xy[1])));
    assert_int_equal(c->g1_read(p, b, POINT_ZCASH), POINT_OK);
}

static void rfc9380_of(const curve *c)
{
    if (c->id != CURVE_ID_BLS12_381) return;
    for (size_t i = 0; i < sizeof rfc9380 / sizeof rfc9380[0]; i++) {
        g1_any q[2], p, sum, acc = {{0}};

        g1_from_hex(c, &q[0], rfc9380[i][0]);
        g1_from_hex(c, &q[1], rfc9380[i][1]);
        g1_from_hex(c, &p, rfc9380[i][2]);
        for (int k = 0; k < 2; k++) {
            assert_false(c->g1_in_subgroup(&q[k]));
            assert_false(c->g1_in_subgroup_plain(&q[k]));
        }
        assert_true(c->g1_in_subgroup(&p));
        assert_true(c->g1_in_subgroup_plain(&p));
        c->g1_add(&sum, &q[0], &q[1]);
        for (int bit = 64; bit-- > 0;) {
            c->g1_add(&acc, &acc, &acc);
            if (ONE_MINUS_X >> bit & 1) c->g1_add(&acc, &acc, &sum);
        }
        assert_true(c->g1_eq(&acc, &p));
    }
}

static void test_rfc9380(void **state)
{
    (void)state;
    for_each_table(rfc9380_of);
}

/* ---- round trips ---- */

static void round_trips_of(const curve *c)
{
    for (size_t e = 0; e < sizeof encodings / sizeof encodings[0]; e++) {
        point_enc enc = encodings[e];
        size_t size1 = c->point_size(false, enc), size2 = c->point_size(true, enc);
        if (size1 == 0) continue;
        for (size_t i = 0; i < harness_iters(20); i++) {
            /* a packed array at an odd address, and nothing written beyond a point */
            uint8_t b[G2_MAX + 2];
            g1_any p, p2;
            g2_any q, q2;
            memset(&p2, 0xa5, sizeof p2);
            memset(&q2, 0xa5, sizeof q2);
            random_g1(c, &p);
            random_g2(c, &q);
            if (i == 0) c->g1_add(&p, (c->g1_neg(&p2, &p), &p2), &p); /* infinity */
            if (i == 0) c->g2_add(&q, (c->g2_neg(&q2, &q), &q2), &q);
            memset(b, 0x5a, sizeof b);
            c->g1_write(b + 1, &p, enc);
            assert_int_equal(b[0], 0x5a);
            assert_int_equal(b[1 + size1], 0x5a);
            assert_int_equal(c->g1_read(&p2, b + 1, enc), POINT_OK);
            assert_bytes_equal(&p2, &p, c->g1_size);
            memset(b, 0x5a, sizeof b);
            c->g2_write(b + 1, &q, enc);
            assert_int_equal(b[0], 0x5a);
            assert_int_equal(b[1 + size2], 0x5a);
            assert_int_equal(c->g2_read(&q2, b + 1, enc), POINT_OK);
            assert_bytes_equal(&q2, &q, c->g2_size);
        }
    }
}

static void test_round_trips(void **state)
{
    (void)state;
    for_each_table(round_trips_of);
}

static void sizes_of(const curve *c)
{
    bool bls = c->id == CURVE_ID_BLS12_381;
    g1_any p;
    g2_any q;
    uint8_t b[G2_MAX] = {0};

    assert_int_equal(c->point_size(false, POINT_LEM), bls ? 96 : 64);
    assert_int_equal(c->point_size(true, POINT_LEM), bls ? 192 : 128);
    assert_int_equal(c->point_size(false, POINT_ZCASH), bls ? 96 : 0);
    assert_int_equal(c->point_size(true, POINT_ZCASH), bls ? 192 : 0);
    assert_int_equal(c->point_size(false, POINT_ZCASH_COMPRESSED), bls ? 48 : 0);
    assert_int_equal(c->point_size(true, POINT_ZCASH_COMPRESSED), bls ? 96 : 0);
    if (bls) return;
    b[0] = 0xc0;
    assert_int_equal(c->g1_read(&p, b, POINT_ZCASH_COMPRESSED), POINT_BAD_FLAGS);
    assert_int_equal(c->g2_read(&q, b, POINT_ZCASH_COMPRESSED), POINT_BAD_FLAGS);
    b[0] = 0x40;
    assert_int_equal(c->g1_read(&p, b, POINT_ZCASH), POINT_BAD_FLAGS);
    assert_int_equal(c->g2_read(&q, b, POINT_ZCASH), POINT_BAD_FLAGS);
    c->g1_write(b, &c->g1_gen, POINT_ZCASH);
    c->g2_write(b, &c->g2_gen, POINT_ZCASH_COMPRESSED);
    assert_int_equal(b[0], 0x40); /* nothing written */
}

static void test_sizes(void **state)
{
    (void)state;
    for_each_table(sizes_of);
}

/* ---- what must be refused ---- */

/** Reading b gives `want`, and the point stays as it was unless that is POINT_OK. */
static void check_read(const curve *c, bool g2, const uint8_t *b, point_enc enc, point_err want)
{
    g2_any before, r;
    point_err got;
    memset(&before, 0xa5, sizeof before);
    r = before;
    if (g2) {
        got = c->g2_read(&r, b, enc);
    } else {
        g1_any r1;
        memset(&r1, 0xa5, sizeof r1);
        got = c->g1_read(&r1, b, enc);
        memcpy(&r, &r1, sizeof r1);
    }
    assert_int_equal(got, want);
    if (want != POINT_OK) assert_bytes_equal(&r, &before, sizeof r);
}

static void write_gen(const curve *c, bool g2, uint8_t *b, point_enc enc)
{
    if (g2)
        c->g2_write(b, &c->g2_gen, enc);
    else
        c->g1_write(b, &c->g1_gen, enc);
}

/** b with the coordinate at `at` set to the number v (little-endian), flags of a zcash form kept. */
static void put_coordinate(const curve *c, uint8_t *b, size_t at, const uint8_t *v, point_enc enc)
{
    uint8_t t[P_MAX], flags = enc == POINT_LEM ? 0 : b[0] & 0xe0;
    memcpy(t, v, c->fp_size);
    if (enc != POINT_LEM) reverse(t, c->fp_size);
    memcpy(b + at, t, c->fp_size);
    b[0] |= flags;
}

/* One coordinate of the generator becomes p, p + 1, all ones below the flags: not canonical; p - 1 and 0: off the curve. */
static void bad_coordinate(const curve *c, bool g2, point_enc enc, size_t at)
{
    uint8_t good[G2_MAX], b[G2_MAX], v[P_MAX];
    size_t size = c->point_size(g2, enc);

    write_gen(c, g2, good, enc);
    for (unsigned add = 0; add < 2; add++) {
        memcpy(v, c->p_le, c->fp_size);
        add_small(v, c->fp_size, add);
        memcpy(b, good, size);
        put_coordinate(c, b, at, v, enc);
        check_read(c, g2, b, enc, POINT_NOT_CANONICAL);
    }
    memset(v, 0xff, c->fp_size);
    if (enc != POINT_LEM && at == 0) v[c->fp_size - 1] = 0x1f;
    memcpy(b, good, size);
    put_coordinate(c, b, at, v, enc);
    check_read(c, g2, b, enc, POINT_NOT_CANONICAL);
    if (enc == POINT_ZCASH_COMPRESSED) return; /* another x may be on the curve */
    memcpy(v, c->p_le, c->fp_size);
    v[0]--;
    memcpy(b, good, size);
    put_coordinate(c, b, at, v, enc);
    check_read(c, g2, b, enc, POINT_NOT_ON_CURVE);
    memset(v, 0, c->fp_size);
    put_coordinate(c, b, at, v, enc);
    check_read(c, g2, b, enc, POINT_NOT_ON_CURVE);
}

static void bad_coordinates_of(const curve *c)
{
    for (size_t e = 0; e < sizeof encodings / sizeof encodings[0]; e++) {
        for (unsigned g2 = 0; g2 < 2; g2++) {
            size_t size = c->point_size(g2 != 0, encodings[e]);
            for (size_t at = 0; at < size; at += c->fp_size)
                bad_coordinate(c, g2 != 0, encodings[e], at);
        }
    }
}

static void test_bad_coordinates(void **state)
{
    (void)state;
    for_each_table(bad_coordinates_of);
}

static void bad_flags_of(const curve *c)
{
    if (c->id != CURVE_ID_BLS12_381) return;
    for (int g2 = 0; g2 < 2; g2++) {
        uint8_t good[G2_MAX], b[G2_MAX];
        size_t size = c->point_size(g2 != 0, POINT_ZCASH);
        write_gen(c, g2 != 0, good, POINT_ZCASH);
        for (unsigned flags = 0; flags < 8; flags++) {
            /* 0x40: infinity with coordinates */
            memcpy(b, good, size);
            b[0] = (uint8_t)((b[0] & 0x1f) | flags << 5);
            check_read(c, g2 != 0, b, POINT_ZCASH, flags == 0 ? POINT_OK : POINT_BAD_FLAGS);
        }
        size = c->point_size(g2 != 0, POINT_ZCASH_COMPRESSED);
        write_gen(c, g2 != 0, good, POINT_ZCASH_COMPRESSED);
        for (unsigned flags = 0; flags < 8; flags++) {
            memcpy(b, good, size);
            b[0] = (uint8_t)((b[0] & 0x1f) | flags << 5);
            check_read(c, g2 != 0, b, POINT_ZCASH_COMPRESSED,
                       flags == 4 || flags == 5 ? POINT_OK : POINT_BAD_FLAGS);
        }
    }
}

static void test_bad_flags(void **state)
{
    (void)state;
    for_each_table(bad_flags_of);
}

/* Infinity has one encoding: any further bit is an error, and all zero is not it. */
static void infinity_of(const curve *c)
{
    if (c->id != CURVE_ID_BLS12_381) return;
    for (int g2 = 0; g2 < 2; g2++) {
        for (size_t e = 1; e < 3; e++) {
            size_t size = c->point_size(g2 != 0, encodings[e]);
            uint8_t b[G2_MAX] = {0}, first = encodings[e] == POINT_ZCASH ? 0x40 : 0xc0;
            check_read(c, g2 != 0, b, encodings[e],
                       encodings[e] == POINT_ZCASH ? POINT_NOT_ON_CURVE : POINT_BAD_FLAGS);
            b[0] = first;
            check_read(c, g2 != 0, b, encodings[e], POINT_OK);
            for (size_t bit = 0; bit < 8 * size; bit++) {
                if (bit == 6) continue; /* the flag itself: above */
                b[bit / 8] ^= (uint8_t)(1u << (bit % 8));
                check_read(c, g2 != 0, b, encodings[e], POINT_BAD_FLAGS);
                b[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            }
        }
    }
}

static void test_infinity(void **state)
{
    (void)state;
    for_each_table(infinity_of);
}

/* x = 0: x^3 + 4 = 2^2 is a point of G1's curve; x = 1 gives 5, which is not a square. */
static void compressed_of(const curve *c)
{
    uint8_t b[48] = {0x80}, out[48];
    g1_any p, q;
    char dec[CURVE_DEC_MAX];

    if (c->id != CURVE_ID_BLS12_381) return;
    assert_int_equal(c->g1_read(&p, b, POINT_ZCASH_COMPRESSED), POINT_OK);
    c->g1_coord_dec(dec, &p, 0);
    assert_string_equal(dec, "0");
    c->g1_coord_dec(dec, &p, 1);
    assert_string_equal(dec, "2");
    b[0] = 0xa0;
    assert_int_equal(c->g1_read(&q, b, POINT_ZCASH_COMPRESSED), POINT_OK);
    c->g1_neg(&q, &q);
    assert_true(c->g1_eq(&p, &q));
    c->g1_neg(&q, &q);
    c->g1_write(out, &q, POINT_ZCASH_COMPRESSED);
    assert_bytes_equal(out, b, sizeof b);
    b[47] = 1;
    check_read(c, false, b, POINT_ZCASH_COMPRESSED, POINT_NOT_ON_CURVE);
}

static void test_compressed(void **state)
{
    (void)state;
    for_each_table(compressed_of);
}

/* In memory form: one coordinate zero is not infinity. */
static void lem_of(const curve *c)
{
    for (int g2 = 0; g2 < 2; g2++) {
        uint8_t b[G2_MAX] = {0};
        size_t size = c->point_size(g2 != 0, POINT_LEM);
        check_read(c, g2 != 0, b, POINT_LEM, POINT_OK);
        for (size_t i = 0; i < size; i += c->fp_size) {
            b[i] = 1;
            check_read(c, g2 != 0, b, POINT_LEM, POINT_NOT_ON_CURVE);
            b[i] = 0;
        }
        write_gen(c, g2 != 0, b, POINT_LEM);
        for (size_t i = 0; i < size; i++) { /* low bits: canonical, off the curve */
            if (i % c->fp_size == c->fp_size - 1) continue;
            b[i] ^= 1;
            check_read(c, g2 != 0, b, POINT_LEM, POINT_NOT_ON_CURVE);
            b[i] ^= 1;
        }
    }
}

static void test_lem(void **state)
{
    (void)state;
    for_each_table(lem_of);
}

/* ---- decimal digits ---- */

static void decimals_of(const curve *c)
{
    for (size_t i = 0; i < harness_iters(10); i++) {
        char text[4][CURVE_DEC_MAX];
        const char *s[4] = {text[0], text[1], text[2], text[3]};
        size_t len[4];
        g1_any p, p2;
        g2_any q, q2;
        random_g1(c, &p);
        random_g2(c, &q);
        for (unsigned k = 0; k < 2; k++) {
            c->g1_coord_dec(text[k], &p, k);
            len[k] = strlen(text[k]);
        }
        assert_int_equal(c->g1_from_dec(&p2, s, len), POINT_OK);
        assert_true(c->g1_eq(&p, &p2));
        len[1]--; /* a digit short */
        assert_int_equal(c->g1_from_dec(&p2, s, len), POINT_NOT_ON_CURVE);
        len[1] = 0;
        assert_int_equal(c->g1_from_dec(&p2, s, len), POINT_NOT_CANONICAL);
        for (unsigned k = 0; k < 4; k++) {
            c->g2_coord_dec(text[k], &q, k);
            len[k] = strlen(text[k]);
        }
        assert_int_equal(c->g2_from_dec(&q2, s, len), POINT_OK);
        assert_true(c->g2_eq(&q, &q2));
        for (unsigned k = 0; k < 4; k++) {
            char kept = text[k][len[k] / 2];
            text[k][len[k] / 2] = 'x';
            assert_int_equal(c->g2_from_dec(&q2, s, len), POINT_NOT_CANONICAL);
            text[k][len[k] / 2] = kept == '9' ? '8' : '9';
            assert_int_equal(c->g2_from_dec(&q2, s, len), POINT_NOT_ON_CURVE);
            text[k][len[k] / 2] = kept;
        }
        assert_true(c->g2_eq(&q, &q2));
    }
}

static void test_decimals(void **state)
{
    (void)state;
    for_each_table(decimals_of);
}

/* The generator of BN254 is (1, 2): written with p added, it is another text of the same point, and refused. */
static void test_decimal_aliases(void **state)
{
    static const char p_plus_1[] =
        "21888242871839275222246405745257275088696311157297823662689037894645226208584";
    const curve *c = curve_get(CURVE_ID_BN254, CPU_TABLE_GENERIC);
    const char *good[2] = {"1", "2"}, *zeros[2] = {"0001", "2"}, *alias[2] = {p_plus_1, "2"};
    const char *inf[2] = {"0", "0"}, *minus[2] = {"-1", "2"}, *space[2] = {" 1", "2"};
    size_t len[2] = {1, 1}, len_zeros[2] = {4, 1}, len_alias[2] = {sizeof p_plus_1 - 1, 1};
    size_t len_two[2] = {2, 1};
    g1_any p;

    (void)state;
    assert_int_equal(c->g1_from_dec(&p, good, len), POINT_OK);
    assert_true(c->g1_eq(&p, &c->g1_gen));
    assert_int_equal(c->g1_from_dec(&p, zeros, len_zeros), POINT_OK);
    assert_int_equal(c->g1_from_dec(&p, alias, len_alias), POINT_NOT_CANONICAL);
    assert_int_equal(c->g1_from_dec(&p, inf, len), POINT_NOT_ON_CURVE);
    assert_int_equal(c->g1_from_dec(&p, minus, len_two), POINT_NOT_CANONICAL);
    assert_int_equal(c->g1_from_dec(&p, space, len_two), POINT_NOT_CANONICAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zkcrypto),
        cmocka_unit_test(test_rfc9380),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bad_coordinates),
        cmocka_unit_test(test_bad_flags),
        cmocka_unit_test(test_infinity),
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_lem),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_decimal_aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
