/*
 * app/prove.h - what `prove` and `bench prove` are told to prove
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef APP_PROVE_H
#define APP_PROVE_H

#include "app/report.h"

/** A proof of either form: circom's without --kind, else Filecoin's. */
typedef struct prove_request {
    const options *o;
    cuzk_circom_prove_args circom;
    cuzk_filecoin_args filecoin;
    cuzk_fixed_rs rs;                     /* of --trapdoors; wiped by prove_clear */
    const char *proof_path, *public_path; /* NULL: not written */
    cuzk_buffer proof, pub;               /* of the last run */
} prove_request;

/** From the options, and the arguments from `first` on. bench: further options, and no need to write anything. 0, or the exit
 *  code of what was printed. Clear it in any case. */
int prove_read(prove_request *q, report *r, size_t first, bool bench);
/** Proves once; what an earlier run gave goes. */
CUZK_STATUS prove_run(prove_request *q, cuzk_engine *e);
CUZK_STATUS prove_write(const prove_request *q);
void prove_clear(prove_request *q);

#endif
