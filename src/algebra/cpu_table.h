/*
 * algebra/cpu_table.h - which implementations of the arithmetic this machine can run
 *
 * A table is a set of kernels compiled for one set of CPU features. Chosen once, at run time; every table gives the same
 * bits. Adding one is adding a line here and files that export its tables. `ifma` is `adx` with kernels on arrays in eight
 * lanes (docs/cpu.md): single values stay with ADX.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CPU_TABLE_H
#define ALGEBRA_CPU_TABLE_H

#include <stdbool.h>

typedef enum cpu_table { CPU_TABLE_GENERIC, CPU_TABLE_ADX, CPU_TABLE_IFMA, CPU_TABLES } cpu_table;

const char *cpu_table_name(cpu_table t); /* "generic", "adx", "ifma" */
/** The feature, as /proc/cpuinfo names it, that tells a machine with the table from others; "" for the portable one. */
const char *cpu_table_feature(cpu_table t);
/** Why this machine does not run it: by cpuid, what the system saves of the registers, and a self-test; NULL: it does. */
const char *cpu_table_refusal(cpu_table t);
bool cpu_table_supported(cpu_table t); /* no refusal */
cpu_table cpu_table_best(void);        /* the last supported one */
bool cpu_table_from_name(cpu_table *out, const char *name);

#endif
