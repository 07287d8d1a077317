#!/usr/bin/env python3
"""tools/gen_consts.py - constants of the prime fields, from the moduli alone

    gen_consts.py [OUT_DIR]      writes consts_<curve>.h for each curve (default: src/algebra)

Everything is derived from the curve parameter x: the moduli are values of the BLS12 and BN polynomials at x, and all
other numbers follow from them. tests/unit/algebra/test_field_consts.c recomputes them in C from the moduli alone.
Constants of curves and towers (generators, Frobenius, endomorphisms) are made by gen_curve_consts.py, which imports
CURVES, montgomery and c_array from here.

SPDX-License-Identifier: MIT OR Apache-2.0
"""
import os
import sys
from fractions import Fraction


def bls12(x):
    r = x**4 - x**2 + 1
    assert (x - 1) % 3 == 0
    return (x - 1) ** 2 // 3 * r + x, r


def bn(x):
    return (36 * x**4 + 36 * x**3 + 24 * x**2 + 6 * x + 1,
            36 * x**4 + 36 * x**3 + 18 * x**2 + 6 * x + 1)


class Curve:
    def __init__(self, name, family, x, fp_limbs, gens, note):
        self.name = name          # of the file
        self.x = x
        self.p, self.r = family(x)
        self.fp_limbs = fp_limbs
        self.fr_limbs = 4
        self.gens = gens          # non-residues of Fr whose powers are roots of unity in files
        self.note = note


CURVES = [
    Curve("bls12_381", bls12, -0xd201000000010000, 6, (5, 7), "BLS12-381: BLS12 polynomials at x"),
    Curve("bn254", bn, 4965661367192848881, 4, (5,), "BN254 (alt_bn128): BN polynomials at x"),
    # the smallest BLS12 curve with p = 3 mod 4 and a cofactor above 1; y^2 = x^3 + 7 has 3 * 241 points,
    # 2 + u is neither a square nor a cube in Fp2. For tests/exhaustive.
    Curve("tiny", bls12, 4, 4, (7,), "tiny: BLS12 polynomials at x = 4, for exhaustive tests"),
]


def is_prime(n):
    """Miller-Rabin with fixed bases: certain below 3.3e24, and beyond doubt for the moduli above."""
    if n < 2:
        return False
    small = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    for q in small:
        if n % q == 0:
            return n == q
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for a in small:
        y = pow(a, d, n)
        if y in (1, n - 1):
            continue
        for _ in range(s - 1):
            y = y * y % n
            if y == n - 1:
                break
        else:
            return False
    return True


def limbs(v, n):
    assert 0 <= v < 1 << (64 * n)
    return [v >> (64 * i) & (2**64 - 1) for i in range(n)]


def montgomery(v, m, n):
    """v in Montgomery form: v * 2^(64 n) mod m."""
    return (v << (64 * n)) % m


def c_words(words, indent="   "):
    lines = []
    for i in range(0, len(words), 4):
        lines.append(indent + "".join(" 0x%016x," % w for w in words[i:i + 4]))
    return lines


def c_array(name, size, v, n, note=None):
    out = [] if note is None else ["/* %s */" % note]
    return out + ["static const uint64_t %s[%s] = {" % (name, size)] + c_words(limbs(v, n)) + ["};"]


def fits_fold(m, n, fold):
    """Whether a product may fold in all rows but the last: every window stays in n + 1 words, the result below 2m.

    A row adds a b_i < 2^64 m, the last one a b_(n-1) < (m / 2^(64(n-1))) m; a fold leaves t / 2^64 + 2^64 fold, the
    reduction of the last row (t + 2^64 m) / 2^64. For redc_wide the high half, below m, comes last: below 3m.
    """
    word = 1 << 64
    top = (m >> (64 * (n - 1))) + 1

    def rows(t, add):
        for i in range(n - 1):
            t = (t + add * m) // word + 1 + word * fold
            if t + word * m >= 1 << (64 * (n + 1)):
                return 1 << (64 * n)
        t += min(add, top) * m + word * m
        return t // word + 1 if t < 1 << (64 * (n + 1)) else 1 << (64 * n)

    return rows(0, word) < 2 * m and rows(1 << (64 * n), 0) + m < min(3 * m, 1 << (64 * n))


def check_lazy(m, n, fold):
    """What mont_tmpl.h says of mul_lazy, mul_last and redc_wide_once, which are for moduli like that of fp."""
    radix = 1 << (64 * n)
    one = Fraction(1)
    rest = one + (Fraction(fold, m) if fits_fold(m, n, fold) else 0) + Fraction(1, 1 << 60)
    part = Fraction(m, radix)
    chain = Fraction(19, 10)
    product = Fraction(23, 10)
    assert rest <= Fraction(154, 100) and rest + chain * part <= chain and rest + chain * chain * part <= product
    assert rest + product * part < 2 and rest + 2 * part < 2
    # the widest window: what a fold leaves, and a row of the widest factor
    assert (Fraction(fold, m) + product) * part < 1


def field_block(f, m, n):
    """Constants of the field of modulus m with n limbs, names starting with f."""
    up = f.upper()
    size = up + "_LIMBS"
    adicity = ((m - 1) & -(m - 1)).bit_length() - 1
    radix = 1 << (64 * n)
    n62 = (64 * n + 2 + 61) // 62  # signed limbs for values in (-2m, 2m) with m < 2^(64n - 1)
    out = [
        "",
        "/* ---- %s ---- */" % f,
        "#define %s %d" % (size, n),
        "#define %s_BITS %d" % (up, m.bit_length()),
        "#define %s_TWO_ADICITY %d" % (up, adicity),
        "/* -1/m mod 2^64 */",
        "#define %s_NEG_INV 0x%016xu" % (up, -pow(m, -1, 2**64) % 2**64),
        "/* 1/m mod 2^62 */",
        "#define %s_INV62 0x%016xu" % (up, pow(m, -1, 2**62)),
        "/* signed limbs of 62 bits */",
        "#define %s_LIMBS62 %d" % (up, n62),
    ]
    if m.bit_length() > 7 * 52:  # eight limbs in lanes_tmpl.h: products there reduce by folds
        fold52 = (m * (-pow(m, -1, 2**52) % 2**52) + 1) >> 52
        assert 2 * fold52 < m  # so that products stay below 2m
        words = [fold52 >> (52 * j) & (2**52 - 1) for j in range(8)]
        out += ["/* (m * (-1/m mod 2^52) + 1) / 2^52 in limbs of 52 bits, for lanes_tmpl.h */",
                "static const uint64_t %s_fold52[8] = {" % f] + c_words(words) + ["};"]
    out += c_array(f + "_modulus", size, m, n)
    out += c_array(f + "_mont_one", size, radix % m, n, "R mod m, R = 2^%d" % (64 * n))
    out += c_array(f + "_mont_r2", size, radix**2 % m, n, "R^2 mod m")
    out += c_array(f + "_mont_r3", size, radix**3 % m, n, "R^3 mod m")
    out += c_array(f + "_half", size, (m - 1) // 2, n, "(m - 1) / 2")
    out += c_array(f + "_exp_inv", size, m - 2, n, "m - 2")
    neg_inv = -pow(m, -1, 2**64) % 2**64
    fold = (m * neg_inv + 1) >> 64
    if f == "fp" and m.bit_length() > 64:
        check_lazy(m, n, fold)
    out += [
        "/* 1: products may fold, see mont_adx_inl.h; 0: a row would leave its window */",
        "#define %s_FOLDS %d" % (up, fits_fold(m, n, fold)),
        "/* for mont_adx_tmpl.h: m; (m * -1/m mod 2^64 + 1) / 2^64, the fold; -1/m mod 2^64; 0 */",
        "static const uint64_t %s_adx[2 * %s + 2] = {" % (f, size),
    ] + c_words(limbs(m, n) + limbs(fold, n) + [neg_inv, 0]) + ["};"]
    out += ["/* m in limbs of 62 bits */", "static const int64_t %s_modulus62[%s_LIMBS62] = {" % (f, up)]
    out += c_words([m >> (62 * i) & (2**62 - 1) for i in range(n62)]) + ["};"]
    if f == "fp":
        assert m % 4 == 3
        out += c_array("fp_exp_sqrt", size, (m + 1) // 4, n, "(m + 1) / 4: m = 3 mod 4")
    else:
        out += c_array("fr_exp_odd", size, (m - 1) >> adicity, n, "(m - 1) / 2^FR_TWO_ADICITY")
    return out


def consts_header(c):
    assert is_prime(c.p) and is_prime(c.r)
    for g in c.gens:
        assert pow(g, (c.r - 1) // 2, c.r) == c.r - 1
    for m, n in ((c.p, c.fp_limbs), (c.r, c.fr_limbs)):
        # mont_tmpl.h: sums of two elements fit, and the top limb leaves room in a multiplication row
        assert m >> (64 * (n - 1)) < 2**63 - 1
    # lazy additions: (2p)^2 < p * R
    assert 4 * c.p < 1 << (64 * c.fp_limbs)
    guard = "ALGEBRA_CONSTS_%s_H" % c.name.upper()
    out = [
        "/*",
        " * algebra/consts_%s.h - field constants of %s" % (c.name, c.note),
        " *",
        " * Generated by tools/gen_consts.py: do not edit.",
        " *",
        " * x = %s" % ("-0x%x" % -c.x if c.x < 0 else "0x%x" % c.x),
        " *",
        " * SPDX-License-Identifier: MIT OR Apache-2.0",
        " */",
        "/* clang-format off */",
        "#ifndef " + guard,
        "#define " + guard,
        "",
        "#include <stdint.h>",
    ]
    out += field_block("fp", c.p, c.fp_limbs)
    out += field_block("fr", c.r, c.fr_limbs)
    out += ["", "#endif"]
    return "\n".join(out) + "\n"


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    out_dir = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "src", "algebra")
    for c in CURVES:
        with open(os.path.join(out_dir, "consts_%s.h" % c.name), "w", encoding="ascii") as f:
            f.write(consts_header(c))


if __name__ == "__main__":
    main()
