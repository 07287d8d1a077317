/*
 * exhaustive/test_field_tiny.c - every element and every pair of the tiny fields, portable C
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define CURVE_TINY
#define FIELD_ADX 0
#include "exhaustive/field_tiny.h"
