/*
 * algebra/cpu_table.c - names of the CPU tables, and which of them this machine runs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/cpu_table.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#    include <cpuid.h>
#endif

/* CPUID leaf 7, subleaf 0, ebx (Intel SDM vol. 2, CPUID) */
#define LEAF7_EBX_BMI2 (1u << 8)
#define LEAF7_EBX_ADX (1u << 19)

static const char *const names[CPU_TABLES] = {
    [CPU_TABLE_GENERIC] = "generic",
    [CPU_TABLE_ADX] = "adx",
};

static bool has_adx(void)
{
#if defined(__x86_64__)
    unsigned a, b = 0, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    return (b & LEAF7_EBX_BMI2) != 0 && (b & LEAF7_EBX_ADX) != 0;
#else
    return false;
#endif
}

const char *cpu_table_name(cpu_table t)
{
    return (unsigned)t < CPU_TABLES ? names[t] : "?";
}

bool cpu_table_supported(cpu_table t)
{
    switch (t) {
    case CPU_TABLE_GENERIC: return true;
    case CPU_TABLE_ADX: return has_adx();
    case CPU_TABLES: break;
    }
    return false;
}

cpu_table cpu_table_best(void)
{
    unsigned best = CPU_TABLE_GENERIC;
    for (unsigned t = 0; t < CPU_TABLES; t++)
        if (cpu_table_supported((cpu_table)t)) best = t;
    return (cpu_table)best;
}

bool cpu_table_from_name(cpu_table *out, const char *name)
{
    for (unsigned t = 0; t < CPU_TABLES; t++) {
        if (strcmp(name, names[t]) == 0) {
            *out = (cpu_table)t;
            return true;
        }
    }
    return false;
}
