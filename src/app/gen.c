/*
 * app/gen.c - `cuzk gen`: valid inputs and their statements
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "app/commands.h"
#include "app/outputs.h"

/** "2048", "2KiB", "2k", "32G": bytes; false: none of these. */
static bool parse_sector_size(const char *s, uint64_t *out)
{
    static const char units[] = "kmgKMG";
    uint64_t v = 0;
    const char *unit;

    if (*s < '0' || *s > '9') return false;
    for (; *s >= '0' && *s <= '9'; s++) {
        if (v > UINT64_MAX / 100) return false;
        v = v * 10 + (uint64_t)(*s - '0');
    }
    *out = v;
    if (*s == 0) return true;
    unit = strchr(units, *s);
    if (unit == NULL || (s[1] != 0 && strcmp(s + 1, "iB") != 0)) return false;
    unsigned shift = 10 * ((unsigned)(unit - units) % 3 + 1);
    if (v > UINT64_MAX >> shift) return false;
    *out = v << shift;
    return true;
}

int command_gen(report *r, cuzk_engine *e)
{
    const options *o = r->o;
    cuzk_gen_args args = {.kind = o->kind,
                          .registered = o->registered,
                          .layers = o->layers,
                          .n_sectors = o->sectors,
                          .seed = (uint64_t)o->seed,
                          .output = o->output};

    if (o->n_args != 0) return command_usage(r, "gen takes options alone");
    if (o->kind == NULL || o->sector_size == NULL || o->output == NULL)
        return command_usage(r, "--kind, --sector-size and --output are needed");
    if (!parse_sector_size(o->sector_size, &args.sector_size))
        return command_usage(r, "--sector-size: 2KiB, 8MiB, 32GiB, ...");
    int code = outputs_check(r, 0, NULL, NULL);
    if (code != 0) return code;
    cuzk_status st = cuzk_filecoin_gen(e, &args);
    if (st != CUZK_OK) return report_failure(r, st);
    return report_done(r, e, "", "inputs written");
}
