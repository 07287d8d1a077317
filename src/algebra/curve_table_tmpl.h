/*
 * algebra/curve_table_tmpl.h - a curve table of the functions that curve_tmpl.h made; once, or again for a table that differs in few
 *
 * Before inclusion: CURVE_TABLE, its name; CURVE_TABLE_CPU, its CPU table; CURVE_MILLER, its product of Miller loops.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
const curve CURVE_TABLE = {
#if defined(CURVE_BLS12_381)
    .id = CURVE_ID_BLS12_381,
    .name = "bls12-381",
    .json_name = "bls12381",
#else
    .id = CURVE_ID_BN254,
    .name = "bn254",
    .json_name = "bn128",
#endif
    .table = CURVE_TABLE_CPU,
    .fp_size = sizeof(fp),
    .g1_size = sizeof(g1_affine),
    .g2_size = sizeof(g2_affine),
    .fr_bits = FR_BITS,
    .two_adicity = FR_TWO_ADICITY,
    .r_le = (const uint8_t *)fr_modulus, /* a little-endian machine: encoding_inl.h */
    .p_le = (const uint8_t *)fp_modulus,
    .fr_one = {{CURVE_FR_ONE_WORDS}},
    .g1_gen = {{CURVE_G1_GEN_WORDS}},
    .g2_gen = {{CURVE_G2_GEN_WORDS}},

    .fr_add = tab_fr_add,
    .fr_sub = tab_fr_sub,
    .fr_neg = tab_fr_neg,
    .fr_mul = tab_fr_mul,
    .fr_inv = fr_inv,
    .fr_pow_var = tab_fr_pow_var,
    .fp_ring = tab_fp_ring,
    .fr_ring = tab_fr_ring,
    .fr_eq = tab_fr_eq,
    .fr_is_zero = tab_fr_is_zero,
    .fr_from_u64 = fr_from_u64,
    .fr_from_scalar = fr_from_scalar,
    .fr_to_scalar = fr_to_scalar,
    .fr_root = fr_root,
    .fr_random = tab_fr_random,
    .fr_dot = fr_dot,
    .fr_batch_inv = fr_batch_inv,

    .g1_add = g1_tab_add,
    .g2_add = g2_tab_add,
    .g1_neg = g1_tab_neg,
    .g2_neg = g2_tab_neg,
    .g1_mul = g1_tab_mul,
    .g2_mul = g2_tab_mul,
    .g1_eq = g1_tab_eq,
    .g2_eq = g2_tab_eq,
    .g1_is_inf = g1_tab_is_inf,
    .g2_is_inf = g2_tab_is_inf,
    .g1_in_subgroup = g1_tab_in_subgroup,
    .g2_in_subgroup = g2_tab_in_subgroup,
    .g1_in_subgroup_plain = g1_tab_in_subgroup_plain,
    .g2_in_subgroup_plain = g2_tab_in_subgroup_plain,

    .point_size = tab_point_size,
    .g1_read = g1_tab_read,
    .g2_read = g2_tab_read,
    .g1_write = g1_tab_write,
    .g2_write = g2_tab_write,
    .g1_coord_dec = tab_g1_coord_dec,
    .g2_coord_dec = tab_g2_coord_dec,
    .g1_from_dec = tab_g1_from_dec,
    .g2_from_dec = tab_g2_from_dec,
    .fr_to_dec = fr_to_dec,
    .fr_from_dec = fr_from_dec,

    .pairing_check = tab_pairing_check,
    .pairing = tab_pairing,
    .g2_prepare = tab_g2_prepare,
    .miller = CURVE_MILLER,
    .final_exp = tab_final_exp,
    .gt_set_one = tab_gt_set_one,
    .gt_eq = tab_gt_eq,
    .gt_is_one = tab_gt_is_one,
    .gt_mul = tab_gt_mul,
    .gt_inv = tab_gt_inv,
    .gt_pow_var = tab_gt_pow_var,
    .gt_in_subgroup = tab_gt_in_subgroup,
    .gt_coord_dec = tab_gt_coord_dec,
};

#undef CURVE_TABLE
#undef CURVE_TABLE_CPU
#undef CURVE_MILLER
