/*
 * r1cs/circom_file.c - the container of iden3's binary files: a header, then sections
 *
 * Source: spec/circom-formats.md section 1.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "r1cs/circom.h"

#include <string.h>

#define SECTION_HEADER 12

typedef struct format {
    const char *magic;
    uint32_t version;
} format;
static const format formats[] = {{"r1cs", 1}, {"wtns", 2}, {"zkey", 1}, {"ptau", 1}};

static cuzk_status read_header(circom_file *f, bytes_in *in, const char *what)
{
    char magic[5] = "";

    if (bytes_left(in) < 12) {
        return FAIL_DATA(MALFORMED, what, "%zu bytes, a header has 12", bytes_left(in));
    }
    TRY(bytes_get(in, magic, 4));
    if (memcmp(magic, what, 4) != 0) {
        return FAIL_DATA(MALFORMED, what, "not a %s file: magic bytes %02x %02x %02x %02x", what,
                         (uint8_t)magic[0], (uint8_t)magic[1], (uint8_t)magic[2],
                         (uint8_t)magic[3]);
    }
    memcpy(f->magic, magic, sizeof magic);
    TRY(bytes_get_u32le(in, &f->version));
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].magic, what) == 0 && formats[i].version != f->version) {
            return FAIL_DATA(MALFORMED, what, "version %u, known is %u", f->version,
                             formats[i].version);
        }
    }
    TRY(bytes_get_u32le(in, &f->n_sections));
    if (f->n_sections > bytes_left(in) / SECTION_HEADER) {
        return FAIL_DATA(MALFORMED, what, "%u sections, %zu bytes hold at most %zu", f->n_sections,
                         in->size, bytes_left(in) / SECTION_HEADER);
    }
    if (f->n_sections > CIRCOM_MAX_SECTIONS) {
        return FAIL_DATA(LIMIT, what, "%u sections, limit %d", f->n_sections, CIRCOM_MAX_SECTIONS);
    }
    return CUZK_OK;
}

static cuzk_status read_section(circom_file *f, bytes_in *in, uint32_t k, const char *what)
{
    struct circom_section *s = &f->sections[k];
    const uint8_t *p;
    uint64_t size;

    if (bytes_left(in) < SECTION_HEADER) {
        return FAIL_DATA(MALFORMED, what, "ends within the header of section %u of %u", k + 1,
                         f->n_sections);
    }
    TRY(bytes_get_u32le(in, &s->id));
    TRY(bytes_get_u64le(in, &size));
    if (size > bytes_left(in)) {
        return FAIL_DATA(MALFORMED, what,
                         "section id %u at offset %zu: %llu bytes, the file has %zu more", s->id,
                         in->pos, (unsigned long long)size, bytes_left(in));
    }
    for (uint32_t i = 0; i < k; i++) {
        if (f->sections[i].id == s->id) {
            return FAIL_DATA(MALFORMED, what, "section id %u occurs twice", s->id);
        }
    }
    TRY(bytes_view(in, &p, (size_t)size));
    s->body = bytes_in_of(p, (size_t)size);
    return CUZK_OK;
}

cuzk_status circom_file_read(circom_file *out, const uint8_t *data, size_t size, const char *what)
{
    circom_file f;
    bytes_in in = bytes_in_of(data, size);

    memset(&f, 0, sizeof f);
    TRY(read_header(&f, &in, what));
    for (uint32_t k = 0; k < f.n_sections; k++) TRY(read_section(&f, &in, k, what));
    if (bytes_left(&in) != 0) {
        return FAIL_DATA(MALFORMED, what, "%zu bytes after the last section", bytes_left(&in));
    }
    *out = f;
    return CUZK_OK;
}

static const struct circom_section *find(const circom_file *f, uint32_t id)
{
    for (uint32_t i = 0; i < f->n_sections; i++) {
        if (f->sections[i].id == id) return &f->sections[i];
    }
    return NULL;
}

bool circom_file_has(const circom_file *f, uint32_t id)
{
    return find(f, id) != NULL;
}

cuzk_status circom_file_section(const circom_file *f, uint32_t id, const char *name, bytes_in *out)
{
    const struct circom_section *s = find(f, id);

    if (s == NULL) return FAIL_DATA(MALFORMED, f->magic, "no section %u (%s)", id, name);
    *out = s->body;
    return CUZK_OK;
}
