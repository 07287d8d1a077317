/*
 * algebra/batch.c - chooses a table of batch operations; names of errors
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/batch.h"
#include "algebra/batch_tables.h"

static const batch_ops *const tables[CPU_TABLES] = {
    [CPU_TABLE_GENERIC] = &batch_generic,
#if defined(__x86_64__)
    [CPU_TABLE_ADX] = &batch_adx,
    [CPU_TABLE_IFMA] = &batch_ifma,
#endif
};

const batch_ops *batch_get(cpu_table t)
{
    return (unsigned)t < CPU_TABLES ? tables[t] : NULL;
}

const char *gt_err_text(gt_err e)
{
    switch (e) {
    case GT_OK: return "no error";
    case GT_NOT_CANONICAL: return "a coefficient is not below the field's prime";
    case GT_NOT_IN_SUBGROUP: return "not in the subgroup of order r";
    }
    return "?";
}
