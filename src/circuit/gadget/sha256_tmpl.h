/*
 * circuit/gadget/sha256_tmpl.h - SHA-256's compression of one block, once, for whatever a word is
 *
 * The includer defines `word`, `sum` (of words, not yet reduced) and `context`, and the functions below on them; rows and values
 * are made by the very same sequence of operations. Words are in the order in which the circuit allocates them.
 *
 *   word word_constant(uint32_t)         word word_rotr(word, unsigned)      word word_shr(word, unsigned)
 *   word word_xor(context *, word, word) word word_ch(context *, word a, word b, word c)   word word_maj(...)
 *   sum sum_of(word)                     sum sum_plus(sum, word)             word sum_end(context *, sum)
 *
 * Source: spec/filecoin-circuits.md section 5; FIPS 180-4 section 6.2.2
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

/* w[t - 15] or w[t - 2] of the schedule: two rotations and a shift. */
U128_INLINE word small_sigma(context *x, word w, unsigned r1, unsigned r2, unsigned s)
{
    word t = word_xor(x, word_rotr(w, r1), word_rotr(w, r2));

    return word_xor(x, t, word_shr(w, s));
}

U128_INLINE word big_sigma(context *x, word w, unsigned r1, unsigned r2, unsigned r3)
{
    word t = word_xor(x, word_rotr(w, r1), word_rotr(w, r2));

    return word_xor(x, t, word_rotr(w, r3));
}

/* w[0..15] is the block; the rest follows. */
U128_INLINE void schedule(context *x, word w[64])
{
    for (unsigned t = 16; t < 64; t++) {
        word s0 = small_sigma(x, w[t - 15], 7, 18, 3);
        word s1 = small_sigma(x, w[t - 2], 17, 19, 10);

        w[t] = sum_end(x, sum_plus(sum_plus(sum_plus(sum_of(w[t - 16]), s0), w[t - 7]), s1));
    }
}

/* A round's new a and e stay sums until the next round, or the end, needs them as words. */
U128_INLINE void compress(context *x, word h[8], const word w[64])
{
    word a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], i = h[7];
    sum next_a = sum_of(a), next_e = sum_of(e);

    for (unsigned t = 0; t < 64; t++) {
        sum temp;
        word s, m;

        if (t > 0) e = sum_end(x, next_e);
        s = big_sigma(x, e, 6, 11, 25);
        m = word_ch(x, e, f, g);
        temp = sum_plus(sum_plus(sum_plus(sum_of(i), s), m), word_constant(sha256_k[t]));
        temp = sum_plus(temp, w[t]);
        if (t > 0) a = sum_end(x, next_a);
        s = big_sigma(x, a, 2, 13, 22);
        m = word_maj(x, a, b, c);
        next_e = sum_plus(temp, d);
        next_a = sum_plus(sum_plus(temp, s), m);
        i = g;
        g = f;
        f = e;
        d = c;
        c = b;
        b = a;
    }
    h[0] = sum_end(x, sum_plus(next_a, h[0]));
    h[1] = sum_end(x, sum_plus(sum_of(h[1]), b));
    h[2] = sum_end(x, sum_plus(sum_of(h[2]), c));
    h[3] = sum_end(x, sum_plus(sum_of(h[3]), d));
    h[4] = sum_end(x, sum_plus(next_e, h[4]));
    h[5] = sum_end(x, sum_plus(sum_of(h[5]), f));
    h[6] = sum_end(x, sum_plus(sum_of(h[6]), g));
    h[7] = sum_end(x, sum_plus(sum_of(h[7]), i));
}
