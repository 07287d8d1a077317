/*
 * algebra/cpu_table.c - names of the CPU tables, and which of them this machine runs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algebra/cpu_table.h"

#include "algebra/self_test.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#    include <cpuid.h>
#endif

static const char *const names[CPU_TABLES] = {
    [CPU_TABLE_GENERIC] = "generic",
    [CPU_TABLE_ADX] = "adx",
    [CPU_TABLE_IFMA] = "ifma",
};
static const char *const features[CPU_TABLES] = {
    [CPU_TABLE_GENERIC] = "",
    [CPU_TABLE_ADX] = "adx",
    [CPU_TABLE_IFMA] = "avx512ifma",
};

#if defined(__x86_64__)

/* CPUID leaf 7, subleaf 0: ebx, ecx; leaf 1: ecx (Intel SDM vol. 2, CPUID) */
#    define EBX_BMI2 (1u << 8)
#    define EBX_ADX (1u << 19)
#    define EBX_AVX512 (1u << 16 | 1u << 17 | 1u << 21 | 1u << 30 | 1u << 31) /* F DQ IFMA BW VL */
#    define ECX_VBMI (1u << 1 | 1u << 6)                                      /* VBMI, VBMI2 */
#    define LEAF1_ECX_OSXSAVE (1u << 27)
/* XCR0: the system saves xmm, ymm, mask registers, the upper halves of zmm 0-15, zmm 16-31 (SDM vol. 1, 13.3) */
#    define XCR0_ZMM 0xe6u

static bool has_leaf7(unsigned ebx, unsigned ecx)
{
    unsigned a, b = 0, c = 0, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    return (b & ebx) == ebx && (c & ecx) == ecx;
}

static bool saves_zmm(void)
{
    unsigned a, b, c = 0, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & LEAF1_ECX_OSXSAVE) == 0) return false;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & XCR0_ZMM) == XCR0_ZMM;
}

static bool has_adx(void)
{
    return has_leaf7(EBX_BMI2 | EBX_ADX, 0);
}

static bool has_ifma(void)
{
    return has_adx() && has_leaf7(EBX_AVX512, ECX_VBMI) && saves_zmm();
}

#else

static bool has_adx(void)
{
    return false;
}
static bool has_ifma(void)
{
    return false;
}

#endif

const char *cpu_table_name(cpu_table t)
{
    return (unsigned)t < CPU_TABLES ? names[t] : "?";
}

const char *cpu_table_feature(cpu_table t)
{
    return (unsigned)t < CPU_TABLES ? features[t] : "?";
}

static bool has_features(cpu_table t)
{
    switch (t) {
    case CPU_TABLE_GENERIC: return true;
    case CPU_TABLE_ADX: return has_adx();
    case CPU_TABLE_IFMA: return has_ifma();
    case CPU_TABLES: break;
    }
    return false;
}

static bool self_test(cpu_table t)
{
    switch (t) {
    case CPU_TABLE_ADX: return self_test_adx();
    case CPU_TABLE_IFMA: return self_test_adx() && self_test_lanes_bls() && self_test_lanes_bn();
    case CPU_TABLE_GENERIC:
    case CPU_TABLES: break;
    }
    return true;
}

const char *cpu_table_refusal(cpu_table t)
{
    if (!has_features(t)) return "the processor or the system lacks a feature that it needs";
    if (!self_test(t)) return "the processor claims the features but failed the self-test";
    return NULL;
}

bool cpu_table_supported(cpu_table t)
{
    return cpu_table_refusal(t) == NULL;
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
