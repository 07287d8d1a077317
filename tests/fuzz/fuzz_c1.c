/*
 * fuzz/fuzz_c1.c - C1 outputs: any bytes are refused cleanly, or give hashes and indices in their ranges that the checks can take
 *
 * The first byte chooses: bits 0 and 1 the form (JSON document, JSON of one challenge, bincode), bits 2 and 3 the sector size,
 * bit 4 whether the shape is expected; the rest is the input.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "circuit/filecoin/element.h"
#include "circuit/filecoin/porep_impl.h"
#include "circuit/filecoin/porep_witness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok) abort();
}

/* Made once, for all inputs; never freed: the process ends with them. */
static mem *shared;
static poseidon_set *constants;

static void make_constants(void)
{
    if (constants != NULL) return;
    must(mem_open(&shared, "shared", 0, NULL) == CUZK_OK);
    must(poseidon_set_new(&constants, cpu_table_best(), shared) == CUZK_OK);
}

static void in_range(const porep_path_at *at, const uint64_t *numbers, const uint32_t *levels,
                     unsigned n_levels)
{
    for (unsigned l = 0; l < n_levels; l++)
        must(numbers[at->indices + l] < (levels == NULL ? 2 : levels[l]));
}

static void check_challenge(const porep_layout *l, uint8_t (*hashes)[32], const uint64_t *numbers)
{
    for (uint32_t i = 0; i < l->n_hashes; i++) must(fil_is_canonical(hashes[i]));
    in_range(&l->d, numbers, NULL, l->d_levels);
    in_range(&l->r, numbers, l->levels, l->n_levels);
    for (unsigned k = 0; k < sizeof l->columns / sizeof l->columns[0]; k++)
        in_range(&l->columns[k].path, numbers, l->levels, l->n_levels);
}

/* The checks end, whatever they find; of a statement that shares the output's values, so that they come to the nodes. */
static void use(const porep_c1 *c1, mem *m)
{
    porep_run run = {.ps = constants, .m = m};
    porep_statement st = {.shape = {c1->size, c1->layout.layers}, .registered = c1->registered};
    porep_derived d;
    cuzk_status got;

    for (size_t i = 0; i < (size_t)c1->n_partitions * c1->n_challenges; i++)
        check_challenge(&c1->layout, c1->hashes + i * c1->layout.n_hashes,
                        c1->numbers + i * c1->layout.n_numbers);
    for (size_t i = 0; i < 32; i++) {
        st.comm_r[i] = c1->comm_r[i];
        st.comm_d[i] = c1->comm_d[i];
        st.seed[i] = c1->seed[i];
        st.ticket[i] = c1->ticket[i];
    }
    st.sector_number = c1->sector_number;
    porep_derive(&d, &st);
    for (size_t i = 0; i < 32; i++) d.replica_id[i] = c1->replica_id[i];
    got = porep_check_statement(c1, &d);
    must(got == CUZK_OK || got == CUZK_EDATA);
    got = porep_c1_check(c1, 0, &run);
    must(got == CUZK_OK || got == CUZK_EDATA);
}

static cuzk_status read_one(const fil_size *s, const uint8_t *data, size_t size, mem *m)
{
    porep_shape shape = {s, s->porep_layers};
    porep_c1 c1 = {.m = m};
    json_in j;
    cuzk_status st;

    must(porep_c1_begin(&c1, 5, &shape, 1) == CUZK_OK);
    st = json_init(&j, data, size);
    if (st == CUZK_OK) st = porep_challenge_read(&j, &c1, c1.hashes, c1.numbers);
    if (st == CUZK_OK) check_challenge(&c1.layout, c1.hashes, c1.numbers);
    mem_free(m, c1.hashes);
    mem_free(m, c1.numbers);
    return st;
}

static cuzk_status read_whole(bool bincode, const porep_shape *shape, bool expected,
                              const uint8_t *data, size_t size, mem *m)
{
    porep_c1 *c1 = NULL;
    cuzk_status st = bincode ? porep_c1_read_bincode(&c1, data, size, 5, shape, m)
                             : porep_c1_read(&c1, data, size, expected ? shape : NULL, m);

    must(mem_peak(m) <= 2 * size + ((size_t)256 << 10)); /* one challenge, and blocks' headers */
    must((st == CUZK_OK) == (c1 != NULL));
    if (c1 != NULL) use(c1, m);
    porep_c1_free(c1);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {2 << 10, 4 << 10, 16 << 10, 32 << 10};
    porep_shape shape;
    mem *m = NULL;
    cuzk_status st;

    if (size == 0) return 0;
    make_constants();
    must(mem_open(&m, "fuzz", 0, NULL) == CUZK_OK);
    shape.size = fil_size_by_bytes(sizes[data[0] >> 2 & 3]);
    shape.layers = shape.size->porep_layers;
    if ((data[0] & 3) == 1)
        st = read_one(shape.size, data + 1, size - 1, m);
    else
        st = read_whole((data[0] & 3) == 2, &shape, (data[0] & 16) != 0, data + 1, size - 1, m);
    must(st == CUZK_OK || cuzk_last_error()->status == CUZK_EDATA);
    must(mem_used(m) == 0);
    mem_close(m);
    return 0;
}
