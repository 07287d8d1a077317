/*
 * algebra/cpu_table.h - which implementations of the arithmetic this machine can run
 *
 * A table is a set of kernels compiled for one set of CPU features. Chosen once, at run time; every table gives the same
 * bits. Adding one (AVX-512 IFMA) is adding a line here and files that export its tables.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_CPU_TABLE_H
#define ALGEBRA_CPU_TABLE_H

#include <stdbool.h>

typedef enum cpu_table { CPU_TABLE_GENERIC, CPU_TABLE_ADX, CPU_TABLES } cpu_table;

const char *cpu_table_name(cpu_table t); /* "generic", "adx" */
bool cpu_table_supported(cpu_table t);   /* by cpuid */
cpu_table cpu_table_best(void);          /* the last supported one */
bool cpu_table_from_name(cpu_table *out, const char *name);

#endif
