#!/usr/bin/env python3
"""tools/gen_curve_consts.py - constants of the curves and extension towers

    gen_curve_consts.py [OUT_DIR]      writes curve_consts_<curve>.h for each curve (default: src/algebra)

From the curve parameter x (gen_consts.py), the coefficient b, the non-residue xi, and the published generators. It
checks what it writes: orders of the generators, orders of both groups, eigenvalues of the endomorphisms, and the
arithmetic facts that the subgroup tests of subgroup_inl.h rest on.

Sources: generators of BLS12-381 from draft-irtf-cfrg-pairing-friendly-curves-11 section 4.2.1, of BN254 from EIP-197;
those of the tiny curve are the first points found.
SPDX-License-Identifier: MIT OR Apache-2.0
"""
import os
import sys
from math import gcd

from gen_consts import CURVES, c_words, limbs, montgomery

INF = None


class Fp2:
    """c0 + c1 u, u^2 = -1"""

    def __init__(self, p, c0, c1=0):
        self.p, self.c0, self.c1 = p, c0 % p, c1 % p

    def __add__(self, o):
        return Fp2(self.p, self.c0 + o.c0, self.c1 + o.c1)

    def __sub__(self, o):
        return Fp2(self.p, self.c0 - o.c0, self.c1 - o.c1)

    def __neg__(self):
        return Fp2(self.p, -self.c0, -self.c1)

    def __mul__(self, o):
        return Fp2(self.p, self.c0 * o.c0 - self.c1 * o.c1, self.c0 * o.c1 + self.c1 * o.c0)

    def __eq__(self, o):
        return self.c0 == o.c0 and self.c1 == o.c1

    def is_zero(self):
        return self.c0 == 0 and self.c1 == 0

    def conj(self):
        return Fp2(self.p, self.c0, -self.c1)

    def inv(self):
        n = pow(self.c0 * self.c0 + self.c1 * self.c1, -1, self.p)
        return Fp2(self.p, self.c0 * n, -self.c1 * n)

    def pow(self, e):
        if e < 0:
            return self.inv().pow(-e)
        r, a = Fp2(self.p, 1), self
        while e:
            if e & 1:
                r = r * a
            a, e = a * a, e >> 1
        return r

    def sqrt(self):
        """Some square root, or None; p = 3 mod 4."""
        a1 = self.pow((self.p - 3) // 4)
        alpha, x0 = a1 * a1 * self, a1 * self
        if alpha == Fp2(self.p, -1):
            x = Fp2(self.p, 0, 1) * x0
        else:
            x = (alpha + Fp2(self.p, 1)).pow((self.p - 1) // 2) * x0
        return x if x * x == self else None


def point_add(a, b):
    if a is INF:
        return b
    if b is INF:
        return a
    (x1, y1), (x2, y2) = a, b
    if x1 == x2:
        if (y1 + y2).is_zero():
            return INF
        t = x1 * x1
        lam = (t + t + t) * (y1 + y1).inv()
    else:
        lam = (y2 - y1) * (x2 - x1).inv()
    x3 = lam * lam - x1 - x2
    return x3, lam * (x1 - x3) - y1


def point_mul(k, a):
    if k < 0:
        return point_mul(-k, (a[0], -a[1]))
    r = INF
    while k:
        if k & 1:
            r = point_add(r, a)
        a, k = point_add(a, a), k >> 1
    return r


def some_points(p, b, n):
    """The first n points of y^2 = x^3 + b over Fp2, x = i + i u."""
    out, i = [], 1
    while len(out) < n:
        x = Fp2(p, i, i)
        y = (x * x * x + b).sqrt()
        if y is not None:
            out.append((x, y))
        i += 1
    return out


class Params:
    """xi = xi_a + u. The twist is y^2 = x^3 + b xi (kind M) or y^2 = x^3 + b / xi (kind D)."""

    def __init__(self, family, b, xi_a, kind, g1, g2):
        self.family, self.b, self.xi_a, self.kind, self.g1, self.g2 = family, b, xi_a, kind, g1, g2


PARAMS = {
    "bls12_381": Params(
        "bls12", 4, 1, "M",
        (0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb,
         0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1),
        (0x024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8,
         0x13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e,
         0x0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801,
         0x0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be)),
    "bn254": Params(
        "bn", 3, 9, "D",
        (1, 2),
        (10857046999023057135944570762232829481370756359578518086990519993285655852781,
         11559732032986387107991004021392285783925812861821192530917403151452391805634,
         8495653923123431417604973247489272438418190587263600148770280649306958101930,
         4082367875863433681332203403145435568316851327593401208105741076214120093531)),
    "tiny": Params("bls12", 7, 2, "D", None, None),
}


def orders(c, q):
    """Trace of Frobenius, cofactors of the groups over Fp and of the twist over Fp2."""
    x = c.x
    if q.family == "bls12":
        t = x + 1
        n2 = x**8 - 4 * x**7 + 5 * x**6 - 4 * x**4 + 6 * x**3 - 4 * x**2 - 4 * x + 13
        assert n2 % 9 == 0
        h2 = n2 // 9
    else:
        t = 6 * x**2 + 1
        h2 = c.p - 1 + t
    assert (c.p + 1 - t) % c.r == 0
    return t, (c.p + 1 - t) // c.r, h2


def find_generator(c, b, cofactor, real):
    """The first point of order r: cofactor times a point of the curve."""
    for x in range(1, 100):
        x = Fp2(c.p, x) if real else Fp2(c.p, x, 1)
        y = (x * x * x + b).sqrt()
        if y is None or (real and y.c1 != 0):
            continue
        g = point_mul(cofactor, (x, y))
        if g is not INF:
            return g
    raise AssertionError("no generator")


def signed_digits(v, width=2):
    """Odd digits below 2^(width - 1) in size, and zeros, lowest first; width 2 is the non-adjacent form."""
    out, m, value = [], 1 << width, v
    while v:
        d = v % m if v % 2 else 0
        d -= m if d > m // 2 else 0
        out.append(d)
        v = (v - d) // 2
    assert sum(d << i for i, d in enumerate(out)) == value
    return out


def small_quotient(p):
    """k with: for t < 16 p and h = t >> (bits - 4), (h k) >> 16 is t / p or one less."""
    shift = p.bit_length() - 4
    k = (1 << (16 + shift)) // p
    for q in range(16):
        for t in (q * p, (q + 1) * p - 1):  # the estimate grows with t
            assert (q - 1 if q else 0) <= (t >> shift) * k >> 16 <= q
    return k


class Emit:
    def __init__(self, c):
        self.c, self.out = c, []

    def words(self, v):
        return c_words(limbs(montgomery(v, self.c.p, self.c.fp_limbs), self.c.fp_limbs))

    def note(self, text):
        if text:
            self.out.append("/* %s */" % text)

    def fp(self, name, v, text=None):
        self.note(text)
        self.out += ["static const fp %s = {{" % name] + self.words(v) + ["}};"]

    def fp2(self, name, v, text=None):
        self.note(text)
        self.out += ["static const fp2 %s = {{{" % name] + self.words(v.c0)
        self.out += ["}}, {{"] + self.words(v.c1) + ["}}};"]

    def fp2_array(self, name, vs, text=None):
        self.note(text)
        self.out.append("static const fp2 %s[%d] = {" % (name, len(vs)))
        for v in vs:
            self.out += ["    {{{"] + self.words(v.c0) + ["    }}, {{"] + self.words(v.c1) + ["    }}},"]
        self.out.append("};")

    def digits(self, name, ds, text):
        self.define("%s_LEN" % name.upper(), len(ds))
        self.note(text)
        self.out.append("static const int %s[%s_LEN] = {" % (name, name.upper()))
        for i in range(0, len(ds), 16):
            self.out.append("   " + "".join(" %d," % d for d in ds[i:i + 16]))
        self.out.append("};")

    def word_list(self, name, vs, text=None):
        self.note(text)
        self.out.append("#define %s \\" % name)
        self.out += " \\\n".join(line for v in vs for line in self.words(v)).split("\n")

    def define(self, name, value, text=None):
        self.note(text)
        self.out.append("#define %s %s" % (name, value))


def check_subgroup_tests(c, q, t, h1, h2):
    """What subgroup_inl.h relies on. A test that k(psi) P = 0 for a polynomial k is exact when gcd(N, h) = 1, where N is
    the integer that then kills P (N = the resultant of k and the characteristic polynomial of psi)."""
    x, p, r = c.x, c.p, c.r
    if q.family == "bls12":
        # G1: phi P = -x^2 P, and phi^2 + phi + 1 = 0: x^4 - x^2 + 1 = r kills P
        assert x**4 - x**2 + 1 == r
        # G2: psi P = x P, and psi^2 - t psi + p = 0: x^2 - t x + p = p - x kills P, and r | p - x
        n = x * x - t * x + p
        assert n % r == 0 and gcd(n, h2 * r) == r
    else:
        assert h1 == 1
        # G2: (x+1) P + psi(x P) + psi^2(x P) - psi^3(2x P) = 0. Reduce by psi^2 = t psi - p to A + B psi.
        a, b = 0, 0
        for coeff in (-2 * x, x, x, x + 1):  # Horner: (a + b psi) psi + coeff
            a, b = -p * b + coeff, a + t * b
        n = a * a + a * b * t + b * b * p
        lam = 6 * x * x  # psi on G2
        assert (a + b * lam) % r == 0
        assert n % r == 0 and gcd(n, h2 * r) == r


def curve_header(c):
    q = PARAMS[c.name]
    p, r, x = c.p, c.r, c.x
    t, h1, h2 = orders(c, q)
    xi = Fp2(p, q.xi_a, 1)
    one = Fp2(p, 1)
    # v^3 - xi and w^6 - xi are irreducible
    assert xi.pow((p * p - 1) // 2) != one and xi.pow((p * p - 1) // 3) != one
    # no point of order 2, for the complete formulas
    assert h1 % 2 == 1 and h2 % 2 == 1

    b1 = Fp2(p, q.b)
    b2 = b1 * xi if q.kind == "M" else b1 * xi.inv()
    if q.g1 is None:
        g1 = find_generator(c, b1, h1, True)
        g2 = find_generator(c, b2, h2, False)
    else:
        g1 = (Fp2(p, q.g1[0]), Fp2(p, q.g1[1]))
        g2 = (Fp2(p, q.g2[0], q.g2[1]), Fp2(p, q.g2[2], q.g2[3]))
    for g, b, h in ((g1, b1, h1), (g2, b2, h2)):
        assert g[1] * g[1] == g[0] * g[0] * g[0] + b
        assert point_mul(r, g) is INF
    for pt in some_points(p, b2, 3):
        assert point_mul(h2 * r, pt) is INF

    # psi = untwist, Frobenius, twist: (x, y) -> (conj(x) cx, conj(y) cy); on G2 it is multiplication by p
    sign = -1 if q.kind == "M" else 1
    cx, cy = xi.pow(sign * (p - 1) // 3), xi.pow(sign * (p - 1) // 2)
    assert (g2[0].conj() * cx, g2[1].conj() * cy) == point_mul(p % r, g2)
    check_subgroup_tests(c, q, t, h1, h2)

    e = Emit(c)
    e.define("CURVE_IS_BN", int(q.family == "bn"), "family: BN (1), BLS12 (0)")
    e.define("CURVE_XI_A", q.xi_a, "xi = XI_A + u")
    e.define("CURVE_P_RECIP", small_quotient(p), "2^(12 + FP_BITS) / p, for quotients below 16")
    e.define("CURVE_TWIST_M", int(q.kind == "M"), "G2: y^2 = x^3 + b xi (1), y^2 = x^3 + b / xi (0)")
    e.define("CURVE_B", q.b)
    e.define("CURVE_X_ABS", "0x%016xu" % abs(x), "|x|")
    e.define("CURVE_X_NEG", int(x < 0))
    e.define("CURVE_H1_IS_1", int(h1 == 1), "every point of the curve over Fp is in G1")
    e.fp("g1_b", q.b)
    e.fp2("g2_b", b2)
    e.fp2("g2_b3", b2 + b2 + b2, "3 b of the twist")
    e.fp("fp_half_one", pow(2, -1, p), "1/2")
    e.word_list("CURVE_G1_GEN_WORDS", [g1[0].c0, g1[1].c0], "generators, as in memory: x, y")
    e.word_list("CURVE_G2_GEN_WORDS", [g2[0].c0, g2[0].c1, g2[1].c0, g2[1].c1])
    e.note("1 in Fr")
    e.out.append("#define CURVE_FR_ONE_WORDS \\")
    e.out += c_words(limbs(montgomery(1, r, c.fr_limbs), c.fr_limbs))
    if q.family == "bls12":
        beta = None
        g = 2
        while beta is None:
            w = pow(g, (p - 1) // 3, p)
            if w != 1:
                beta = w
            g += 1
        want = point_mul(-x * x, g1)
        if (g1[0] * Fp2(p, beta), g1[1]) != want:
            beta = beta * beta % p
        assert (g1[0] * Fp2(p, beta), g1[1]) == want
        e.fp("g1_beta", beta, "cube root of 1: (beta x, y) = -x^2 (x, y) on G1")
    e.fp2("g2_psi_x", cx, "psi(x, y) = (conj(x) psi_x, conj(y) psi_y) is multiplication by p on G2")
    e.fp2("g2_psi_y", cy)
    e.fp2_array("tower_frob1", [xi.pow(i * (p - 1) // 6) for i in range(6)], "xi^(i (p - 1) / 6)")
    norm = [xi.pow(i * (p * p - 1) // 6) for i in range(6)]
    assert all(v.c1 == 0 for v in norm)
    e.note("xi^(i (p^2 - 1) / 6), in Fp")
    e.out.append("static const fp tower_frob2[6] = {")
    for v in norm:
        e.out += ["    {{"] + e.words(v.c0) + ["    }},"]
    e.out.append("};")

    if q.family == "bn":
        e.digits("ate_digits", signed_digits(6 * x + 2), "6 x + 2 in signed digits, lowest first")
        e.digits("pow_x_digits", signed_digits(x, 4), "x in odd digits -7 .. 7 and zeros, lowest first")

    guard = "ALGEBRA_CURVE_CONSTS_%s_H" % c.name.upper()
    head = [
        "/*",
        " * algebra/curve_consts_%s.h - curve and tower constants of %s" % (c.name, c.note.split(":")[0]),
        " *",
        " * Generated by tools/gen_curve_consts.py: do not edit. Field elements are in Montgomery form.",
        " *",
        " * SPDX-License-Identifier: MIT OR Apache-2.0",
        " */",
        "/* clang-format off */",
        "#ifndef " + guard,
        "#define " + guard,
        "",
        '#include "algebra/fp2_type_inl.h"',
        "",
    ]
    return "\n".join(head + e.out + ["", "#endif"]) + "\n"


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    out_dir = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "src", "algebra")
    for c in CURVES:
        with open(os.path.join(out_dir, "curve_consts_%s.h" % c.name), "w", encoding="ascii") as f:
            f.write(curve_header(c))


if __name__ == "__main__":
    main()
