/*
 * algebra/batch_generic.c - batch operations in portable C
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_BLS12_381
#define FIELD_ADX 0
#define BATCH_TABLE batch_generic
#include "algebra/batch_tmpl.h"
