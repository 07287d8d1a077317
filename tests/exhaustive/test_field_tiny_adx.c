/*
 * exhaustive/test_field_tiny_adx.c - every element and every pair of the tiny fields, ADX
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_TINY
#define FIELD_ADX 1
#include "exhaustive/field_tiny.h"
