/*
 * circuit/filecoin/porep_c1_write.h - a C1 output as the JSON that the network's library writes, or in bincode
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CIRCUIT_FILECOIN_POREP_C1_WRITE_H
#define CIRCUIT_FILECOIN_POREP_C1_WRITE_H

#include "base/bytes.h"
#include "circuit/filecoin/porep.h"

/** Appends the inner document (formats 2.2), in the network's order of fields. Errors stick in *o. */
void porep_c1_write(bytes_out *o, const porep_c1 *c1);
/** Appends the bincode form (formats 2.3): what porep_c1_read_bincode reads. */
void porep_c1_write_bincode(bytes_out *o, const porep_c1 *c1);

#endif
