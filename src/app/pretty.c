/*
 * app/pretty.c - a JSON object as indented lines, for people
 *
 * Objects inside a list go on one line each ("id 1  name header  bytes 4").
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "app/pretty.h"

#include <stdio.h>

#include "base/json.h"

#define KEY_WIDTH 14

static void print_text(const json_token *t)
{
    if (t->type == JSON_TRUE || t->type == JSON_FALSE) {
        printf("%s", t->type == JSON_TRUE ? "yes" : "no");
        return;
    }
    printf("%.*s", (int)t->len, t->text);
}

/** The members of an object on one line; its '{' is read. */
static bool print_flat(json_in *j)
{
    json_token t;

    for (;;) {
        if (json_next(j, &t) != CUZK_OK) return false;
        if (t.type == JSON_OBJECT_END) break;
        print_text(&t);
        (void)putchar(' ');
        if (json_next(j, &t) != CUZK_OK) return false;
        print_text(&t);
        printf("  ");
    }
    (void)putchar('\n');
    return true;
}

static bool print_list(json_in *j, int indent)
{
    json_token t;

    (void)putchar('\n');
    for (;;) {
        if (json_next(j, &t) != CUZK_OK) return false;
        if (t.type == JSON_ARRAY_END) return true;
        printf("%*s", indent, "");
        if (t.type != JSON_OBJECT) {
            print_text(&t);
            (void)putchar('\n');
        } else if (!print_flat(j)) {
            return false;
        }
    }
}

void pretty_print(const uint8_t *json, size_t size)
{
    json_in j;
    json_token t;

    if (json_init(&j, json, size) != CUZK_OK || json_next(&j, &t) != CUZK_OK ||
        t.type != JSON_OBJECT)
        return;
    while (json_next(&j, &t) == CUZK_OK && t.type == JSON_KEY) {
        printf("%-*.*s ", KEY_WIDTH, (int)t.len, t.text);
        if (json_next(&j, &t) != CUZK_OK) return;
        bool ok = true;
        if (t.type == JSON_ARRAY) {
            ok = print_list(&j, 2);
        } else if (t.type == JSON_OBJECT) {
            ok = print_flat(&j);
        } else {
            print_text(&t);
            (void)putchar('\n');
        }
        if (!ok) return;
    }
}
