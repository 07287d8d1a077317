/*
 * device/cuda/kernels.h - what the host calls: launchers, one table for each group and each scalar field
 *
 * Pointers are of device memory unless said otherwise. A launcher only enqueues; it returns a cudaError_t as int (0:
 * fine). The stream is a cudaStream_t. Limbs are 32 bits, elements 16-byte aligned.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef DEVICE_CUDA_KERNELS_H
#define DEVICE_CUDA_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void *cu_stream;

/* ---- prefix sums ---- */

typedef enum cu_scan_of {
    CU_SCAN_COUNTS, /* u32 */
    CU_SCAN_HALVES, /* offsets of buckets: half of each bucket's length, rounded up */
    CU_SCAN_BITS,   /* u64: how many bits are set */
    CU_SCAN_PARTS,  /* u32: how many parts of CU_PART items each makes */
} cu_scan_of;
#define CU_SCAN_BLOCK ((size_t)4096)
#define CU_PART ((uint32_t)12288)

/** out[i] = sum before i, out[n] = all. blocks: n / CU_SCAN_BLOCK + 1 words of scratch. max (may be NULL): becomes at
 *  least the greatest value. */
int cu_scan(cu_stream s, uint32_t *out, uint32_t *blocks, uint32_t *max, const void *in, size_t n,
            cu_scan_of of);

/* ---- scalars of a sum ---- */

/** dev_scalars on the device, from position `pos` on (a multiple of 64): words are those of that position on. */
typedef struct cu_scalars {
    size_t n;             /* positions */
    const uint32_t *elem; /* from the first element at or after pos */
    const uint64_t *bits; /* NULL: none */
    const uint64_t *is_elem, *select;
    const uint32_t *rank64, *select_rank;
    uint32_t rank0;      /* elements before pos */
    uint64_t bit0;       /* bit 0 of bits is this one */
    uint32_t first_base; /* of the first position that takes part */
} cu_scalars;

/* Signed windows: digits are (value + bias) by c bits, less half. Bit 255 of a stored value is its sign. */
typedef struct cu_digits {
    uint32_t c, windows;
    uint32_t bias[8];
} cu_digits;

/** What a chunk's positions become. counts[0] elements with their base and value, counts[1] ones. */
typedef struct cu_chunk {
    uint32_t *counts;
    uint32_t *base; /* with counts[0] entries, and value of 8 limbs each */
    uint32_t *value;
    uint32_t *ones; /* entries: base, bit 31 the sign */
    size_t max_elems;
} cu_chunk;

typedef struct cu_item {
    uint32_t entry, bucket; /* of its window */
} cu_item;

/** A group of windows, and what sorting its digits takes: by bins first, each a range of neighbouring buckets of a window. */
typedef struct cu_windows {
    cu_digits digits;
    uint32_t first, n;                      /* windows of this group */
    uint32_t *digit;                        /* scratch: n * max_elems */
    cu_item *items;                         /* scratch: n * max_elems */
    uint32_t *bin, *bin_start, *part_start; /* scratch: CU_BINS + 1 each */
    uint32_t *scan_blocks;                  /* scratch of cu_scan for as many */
    uint32_t *count;                        /* of n << (c - 1) buckets */
    const uint32_t *offset;
    uint32_t *entries;
} cu_windows;

/** The bucket's bits below its bin's: about half of its c - 1. Bins of n windows. */
#define CU_LOW_BITS(c) ((c) / 2)
#define CU_BINS(n, c) ((size_t)(n) << ((c)-1 - CU_LOW_BITS(c)))
#define CU_MAX_LOW_BITS 11 /* of c = 22 */

/* ---- systems ---- */

/* A term of a row, as kernels read it: a wire, then a coefficient. */
enum {
    CU_WIRE_ONE,   /* the constant; the three others with an index in the low bits: */
    CU_WIRE_IN,    /* a wire of the template's that is passed in */
    CU_WIRE_LOCAL, /* an auxiliary variable of the instance's own */
    CU_WIRE_PUB,   /* an input of the instance's own */
};
#define CU_WIRE_BITS 30u /* of the index; above them the kind */
#define CU_COEFF_INT \
    0x80000000u /* a small number follows, in two's complement; else it is an index */
#define CU_COEFF_MAX ((int32_t)1 << 29)
#define CU_NO_ROW UINT32_MAX
#define CU_INTS 8 /* cu_system.ints has the numbers from -CU_INTS to CU_INTS */

/** The rows of a template in one matrix, the longest first, in slices of 32: those of slice i are order[32 i ..]
 *  (CU_NO_ROW: none). Its steps, start[i] up to start[i + 1], have one term of each of its rows. */
typedef struct cu_sliced {
    const uint32_t *order, *start;
    const uint32_t *terms; /* 32 pairs of words for each step */
    uint32_t slices, matrix;
    uint32_t first_instance;      /* of the template */
    uint32_t first_block, blocks; /* of its first instance; of each instance */
} cu_sliced;
#define CU_PART_SLICES 4u /* of a block */

typedef struct cu_instance {
    uint32_t tmpl, aux_start, pub_start, row_start, wires;
} cu_instance;

typedef struct cu_system {
    uint32_t n_parts, n_blocks;
    const cu_sliced *parts;
    const cu_instance *instances; /* by template */
    const uint32_t *wires, *coeffs, *ints, *inputs;
    cu_scalars aux;
} cu_system;

/** Where a, b, c go. */
typedef struct cu_abc_out {
    uint32_t *m[3];
} cu_abc_out;

/* ---- over one scalar field ---- */

/** Entries of all positions by class: counts must be 0 before. */
typedef struct cu_fr_ops {
    int (*prepare)(cu_stream s, const cu_chunk *out, const cu_scalars *in, const cu_digits *d);
    int (*twiddles)(cu_stream s, uint32_t *table, const uint32_t *powers, unsigned log_n);
    int (*ntt)(cu_stream s, uint32_t *a, const uint32_t *table, const uint32_t *powers,
               unsigned log_n, bool to_natural, bool inverse_root);
    int (*scale)(cu_stream s, uint32_t *a, const uint32_t *powers, unsigned log_n);
    int (*reverse)(cu_stream s, uint32_t *a, const uint32_t *powers, unsigned log_n);
    int (*quotient)(cu_stream s, uint32_t *a, const uint32_t *b, const uint32_t *c,
                    const uint32_t *k, size_t n);
    int (*mul)(cu_stream s, uint32_t *r, const uint32_t *a, const uint32_t *b, size_t n);
    int (*rows)(cu_stream s, const cu_abc_out *out, const cu_system *sys);
    /** Montgomery elements to biased values with their sign (cu_digits); may be in place. */
    int (*values)(cu_stream s, uint32_t *value, const uint32_t *k, const cu_digits *d, size_t n);
    /* host alone: what a test and the start-up check compare with */
    void (*host_mul)(uint32_t *r, const uint32_t *a, const uint32_t *b);
    void (*host_value)(uint32_t *value, const uint32_t *k, const cu_digits *d);
    /** (x, y) to (x + t y, x - t y), or back: (x + y, t (x - y)); x and y are what transforms have between passes: any 256 bits,
     *  back: below twice the order. */
    void (*host_split)(uint32_t *x, uint32_t *y, const uint32_t *t, bool back);
} cu_fr_ops;
extern const cu_fr_ops cu_fr_bn, cu_fr_bls;

/** Items by bins. */
int cu_split(cu_stream s, const cu_windows *w, const cu_chunk *in);
/** Adds the buckets' items to count. */
int cu_count(cu_stream s, const cu_windows *w, const cu_chunk *in);
/** Entries to their places; those of ones to entries + offset[buckets of w]. count is 0 before, and used. */
int cu_place(cu_stream s, const cu_windows *w, const cu_chunk *in, bool ones);
/** count[n_buckets] = number of ones */
int cu_count_ones(cu_stream s, uint32_t *count, const cu_chunk *in);

/* ---- points ---- */

/** Two points that become one: where they lie, bit 31 turns a point's sign; a also has what is to be done (CU_PAIR_KIND). */
typedef struct cu_pair {
    uint32_t a, b;
} cu_pair;
typedef enum cu_pair_kind {
    CU_PAIR_ADD,    /* of different x */
    CU_PAIR_DOUBLE, /* a twice */
    CU_PAIR_ONE,    /* a alone */
    CU_PAIR_NONE,   /* infinity */
} cu_pair_kind;
#define CU_PAIR_KIND 29 /* two bits from there on */

typedef struct cu_pairs {
    const uint32_t *off_in, *off_out;
    uint32_t n_buckets;
    const uint32_t *entries; /* NULL: points are taken as they lie */
    const void *points;
    void *out;
    void *prefix;  /* scratch: k * threads elements */
    cu_pair *pair; /* scratch: off_out[n_buckets] */
    uint32_t k;    /* sums a thread makes with one inversion */
    uint32_t blocks;
    size_t most;  /* sums: off_out[n_buckets] at most */
    size_t first; /* of a launch; set by pairs() */
} cu_pairs;
#define CU_PAIR_THREADS 128
/* entries of one run of cu_pairs: their indices leave three bits free, and so do those of points */
#define CU_MAX_ENTRIES ((size_t)1 << 28)

/** Writes p->pair: for each sum the points of its bucket that it adds. */
int cu_match(cu_stream s, const cu_pairs *p);

/* Forms of points that are written: those of point_enc. */
enum { CU_WRITE_LEM, CU_WRITE_ZCASH, CU_WRITE_ZCASH_COMPRESSED };

/** Sums to affine points, encoded. Lane i of `lanes` inverts once for elements i, i + lanes, ... */
typedef struct cu_write {
    void *out;
    unsigned long long *none; /* becomes at most the number of the first that is infinity */
    const void *sums;         /* XYZZ */
    void *prefix;             /* scratch: n coordinates */
    size_t n, first;          /* element 0 is number `first` */
    size_t lanes;
    int form;
} cu_write;

typedef struct cu_group_ops {
    size_t fe_size, point_size, sum_size; /* coordinate, affine, XYZZ */
    unsigned pair_blocks;                 /* of cu_pairs that a multiprocessor holds */
    /** Checked (unless trusted) and brought to memory form; bad becomes at most 4 * (index of a bad point) + point_err. */
    int (*decode)(cu_stream s, void *out, unsigned long long *bad, const uint8_t *in, size_t n,
                  size_t first, bool zcash, bool trusted);
    /** p->pair has what cu_match wrote. */
    int (*pairs)(cu_stream s, const cu_pairs *p);
    /** Of n_windows windows of `buckets` each, segments of `len` buckets: sum[i] the sum, wsum[i] with weights 1, 2, ... */
    int (*segments)(cu_stream s, void *sum, void *wsum, const void *points, const uint32_t *off,
                    uint32_t n_windows, uint32_t buckets, uint32_t len);
    /** *out = the points of one bucket */
    int (*bucket)(cu_stream s, void *out, const void *points, const uint32_t *off);
    /** n_windows * m segments of 2^log_len buckets to m / len of them */
    int (*combine)(cu_stream s, void *sum, void *wsum, const void *sum_in, const void *wsum_in,
                   uint32_t n, uint32_t len, uint32_t log_len);
    /** Host: *acc += 2^(c * first) sum over w of 2^(c w) window[w]; points of acc are XYZZ */
    void (*add_windows)(void *acc, const void *window, size_t n, unsigned shift, unsigned c);
    void (*to_affine)(void *out, const void *sum);     /* host */
    void (*from_affine)(void *sum, const void *point); /* host */
    /** out[3 i ..] = in[i] + in[i + 1], 2 in[i], 2 in[i] + in[i + 1], for i + 1 < n: for the start-up check */
    int (*check)(cu_stream s, void *out, const void *in, size_t n);
    void (*check_host)(void *out, const void *in, size_t n);
    /** Multiples of one point. sums[i] = (i + 1) * *base, i < n; XYZZ */
    int (*multiples)(cu_stream s, void *sums, const void *base, uint32_t n);
    /** sums[i] = value[i] times the point whose table this is: row w has 1 .. 2^(c-1) times 2^(c w) of it, affine */
    int (*fixed)(cu_stream s, void *sums, const void *table, const uint32_t *value,
                 const cu_digits *d, size_t n);
    int (*write)(cu_stream s, const cu_write *w);
    /** The three on the host: bases has the windows' points; table, w->sums and w->prefix are scratch that is also big enough
     *  for a row. For tests. */
    void (*fixed_host)(const cu_write *w, void *table, const void *bases, const uint32_t *value,
                       const cu_digits *d);
    /** For benchmarks: blocks of 128 threads, each 2 n dependent products of the two elements it has in x. */
    int (*products)(cu_stream s, void *x, uint32_t blocks, uint32_t n);
} cu_group_ops;
extern const cu_group_ops cu_g1_bn, cu_g2_bn, cu_g1_bls, cu_g2_bls;

#ifdef __cplusplus
}
#endif

#endif
