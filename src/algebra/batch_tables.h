/*
 * algebra/batch_tables.h - the tables that batch.c chooses from
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ALGEBRA_BATCH_TABLES_H
#define ALGEBRA_BATCH_TABLES_H

#include "algebra/batch.h"

extern const batch_ops batch_generic;
#if defined(__x86_64__)
extern const batch_ops batch_adx;
#endif

#endif
