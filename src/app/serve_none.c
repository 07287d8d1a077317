/*
 * app/serve_none.c - `cuzk serve` of a build without the packages that the service needs
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/commands.h"

int command_serve(report *r)
{
    return command_usage(r, "this cuzk was built without the service (CUZK_SERVICE)");
}
