/*
 * app/serve_none.c - `cuzk serve` of a build without the packages that the service needs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>

#include "app/commands.h"

int command_serve(report *r)
{
    (void)r;
    fprintf(stderr, "cuzk serve: this cuzk was built without the service (CUZK_SERVICE)\n");
    return 2;
}
