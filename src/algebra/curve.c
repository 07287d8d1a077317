/*
 * algebra/curve.c - chooses a curve table; names of curves and of point errors
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/curve.h"

#include <string.h>

#include "algebra/curve_tables.h"

static const curve *const tables[CURVE_IDS][CPU_TABLES] = {
    [CURVE_ID_BN254][CPU_TABLE_GENERIC] = &curve_bn_generic,
    [CURVE_ID_BLS12_381][CPU_TABLE_GENERIC] = &curve_bls_generic,
#if defined(__x86_64__)
    [CURVE_ID_BN254][CPU_TABLE_ADX] = &curve_bn_adx,
    [CURVE_ID_BLS12_381][CPU_TABLE_ADX] = &curve_bls_adx,
    /* single values take ADX: eight lanes would have seven idle */
    [CURVE_ID_BN254][CPU_TABLE_IFMA] = &curve_bn_adx,
    [CURVE_ID_BLS12_381][CPU_TABLE_IFMA] = &curve_bls_ifma,
#endif
};

static const struct {
    const char *name;
    curve_id id;
} names[] = {
    {"bn254", CURVE_ID_BN254},        {"bn128", CURVE_ID_BN254},
    {"alt_bn128", CURVE_ID_BN254},    {"bls12-381", CURVE_ID_BLS12_381},
    {"bls12381", CURVE_ID_BLS12_381},
};

const curve *curve_get(curve_id id, cpu_table t)
{
    if ((unsigned)id >= CURVE_IDS || (unsigned)t >= CPU_TABLES) return NULL;
    return tables[id][t];
}

const curve_lanes *curve_lanes_of(const curve *cv)
{
#if defined(__x86_64__)
    if (cv->id == CURVE_ID_BLS12_381 && cv->table == CPU_TABLE_IFMA) return &curve_lanes_bls;
#endif
    (void)cv; /* elsewhere there are none */
    return NULL;
}

bool curve_id_from_name(curve_id *out, const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i].name) == 0) {
            *out = names[i].id;
            return true;
        }
    }
    return false;
}

const char *point_err_text(point_err e)
{
    switch (e) {
    case POINT_OK: return "no error";
    case POINT_BAD_FLAGS: return "wrong flag bits";
    case POINT_NOT_CANONICAL: return "a coordinate is not below the field's prime";
    case POINT_NOT_ON_CURVE: return "not on the curve";
    }
    return "?";
}
