/*
 * groth16/internal.h - what the files of this room share
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef GROTH16_INTERNAL_H
#define GROTH16_INTERNAL_H

#include "groth16/prove.h"

/** A vk with room for n_ic points, all else zero. */
CUZK_STATUS vk_new(groth16_vk **out, const curve *cv, uint32_t n_ic, mem *m);
/** e(alpha, beta) */
void vk_alpha_beta(const groth16_vk *vk, gt_any *r);
/** A point that must be canonical, on the curve, in the subgroup and not infinity; `what` names it in the error. */
CUZK_STATUS point_g1(g1_any *out, const curve *cv, const uint8_t *in, point_enc enc,
                     const char *what);
/** n such points, `in` as they lie in a file, to `out` as in memory, packed; "what[i]" names one in the error. */
CUZK_STATUS points_g1(uint8_t *out, const curve *cv, const uint8_t *in, size_t n, point_enc enc,
                      const char *what);
CUZK_STATUS point_g2(g2_any *out, const curve *cv, const uint8_t *in, point_enc enc,
                     const char *what);

/** A list of points to check. */
typedef struct key_list {
    const curve *cv;
    const dev_points *pts;
    const char *name;
    bool infinity_ok;
} key_list;
/** The list from point `from` on, step by step, as o says; *done counts on and is reported against total. */
CUZK_STATUS key_list_check(const key_list *l, size_t from, const groth16_key_check *o, pool *p,
                           uint64_t *done, uint64_t total);

/** What device may keep of a system: dev_scalars.layout_id, .select_id and dev_system.shape_id. */
typedef enum system_part { PART_SHAPE, PART_A_AUX, PART_B_AUX, SYSTEM_PARTS } system_part;
static inline uint64_t system_part_id(const r1cs_system *sys, system_part part)
{
    return sys->id * SYSTEM_PARTS + part;
}

/* The root of a bellperson key's domain and the shift of its coset come from it. */
#define BELLPERSON_GENERATOR 7
/** Domain of a key's form. */
CUZK_STATUS groth16_domain(ntt_domain **out, device *d, groth16_form form, const curve *cv,
                           unsigned log_n);
/** 1 / (7^n - 1): the vanishing polynomial is constant on bellperson's coset. */
void coset_z_inverse(const curve *cv, unsigned log_n, fr *out);
/** The system as the plain arrays that device takes. templates: sys->n_templates entries in tmpl (m's). */
CUZK_STATUS system_view(dev_system *out, dev_template **tmpl, const r1cs_system *sys, mem *m);

/** Where things are in the file of a derived key (docs/formats/derived.md). */
typedef struct derived_layout {
    uint64_t h, l, size;
} derived_layout;
#define DERIVED_HEADER 96u
derived_layout derived_layout_of(const groth16_pk *pk);
/** The header of the derived key whose points are at data + DERIVED_HEADER on. */
CUZK_STATUS derived_header(uint8_t out[DERIVED_HEADER], const groth16_pk *pk,
                           const uint8_t source[GROTH16_SOURCE_BYTES], const uint8_t *data,
                           const cancel *c);
/** NULL is fine. */
void derived_free(groth16_derived *x, mem *m);
/** A random combination of a derived key's points is that of the key's. CUZK_EDATA, inconsistent. */
CUZK_STATUS derived_compare(dev_stream *s, const groth16_pk *pk, const r1cs_system *sys,
                            const dev_points *h, const dev_points *l, mem *m);

#endif
