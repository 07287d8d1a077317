/*
 * wire/http_target.c - the target of a request: path, query, which route it fits
 *
 * Source: RFC 3986 (percent-encoding), RFC 9112 section 3.2.1 (origin form).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/http_int.h"

#include "base/utf8.h"

#include <string.h>

bool http_target_split(http_request *r)
{
    char *mark = strchr(r->target, '?');

    r->path_len = mark == NULL ? strlen(r->target) : (size_t)(mark - r->target);
    r->query_text = mark == NULL ? NULL : mark + 1;
    return r->target[0] == '/';
}

bool http_decode(char *out, const char *text, size_t n, bool plus_is_space)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        uint8_t b = (uint8_t)text[i];

        if (b == '%') {
            if (n - i < 3 || !hex_decode(&b, 1, text + i + 1, 2)) return false;
            i += 2;
        } else if (b == '+' && plus_is_space) {
            b = ' ';
        }
        if (b == 0) return false;
        out[k++] = (char)b;
    }
    out[k] = 0;
    for (size_t i = 0; i < k;) {
        size_t step = utf8_sequence((const uint8_t *)out + i, k - i);

        if (step == 0) return false;
        i += step;
    }
    return true;
}

void http_parts_clear(http_request *r)
{
    for (unsigned i = 0; i < HTTP_MAX_PARTS; i++) {
        free(r->parts[i]);
        r->parts[i] = NULL;
    }
}

static int take_part(http_request *r, unsigned i, const char *text, size_t n)
{
    if (i >= HTTP_MAX_PARTS) return 0;
    r->parts[i] = malloc(n + 1);
    if (r->parts[i] == NULL) return 0;
    return http_decode(r->parts[i], text, n, false) ? 1 : -1;
}

int http_route_match(const http_route *route, http_request *r)
{
    const char *p = route->path, *t = r->target, *end = r->target + r->path_len;
    unsigned n = 0;
    int fits = 1;

    while (*p != 0 && fits == 1) {
        if (*p != '*') {
            fits = t < end && *t == *p ? 1 : 0;
            p++;
            t++;
            continue;
        }
        const char *stop = t;
        while (stop < end && (p[1] == 0 || *stop != '/')) stop++;
        if (stop == t) fits = 0; /* a star stands for something */
        if (fits == 1 && (p[1] == 0 || strlen(p + 1) <= (size_t)(end - stop)))
            fits = take_part(r, n++, t, (size_t)(stop - t));
        p++;
        t = stop;
    }
    if (fits == 1 && t != end) fits = 0;
    if (fits != 1) http_parts_clear(r);
    return fits;
}

const char *http_request_query(http_request *r, const char *name)
{
    size_t name_len = strlen(name);

    for (const char *p = r->query_text; p != NULL && *p != 0;) {
        size_t n = strcspn(p, "&"), key = strcspn(p, "=&");

        if (key == name_len && memcmp(p, name, key) == 0) {
            size_t value = key < n ? n - key - 1 : 0;

            /* All values fit one block: decoding never makes a text longer. */
            if (r->query_value == NULL)
                r->query_value =
                    malloc(2 * (strlen(r->query_text) + 1) + (size_t)2 * HTTP_MAX_PARTS);
            if (r->query_value == NULL) return NULL;
            if (r->query_used + value + 1 > 2 * (strlen(r->query_text) + 1)) return NULL;
            char *out = r->query_value + r->query_used;
            if (!http_decode(out, p + key + 1 - (key == n), value, true)) return NULL;
            r->query_used += strlen(out) + 1;
            return out;
        }
        p += n + (p[n] == '&');
    }
    return NULL;
}
