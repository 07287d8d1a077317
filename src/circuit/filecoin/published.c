/*
 * circuit/filecoin/published.c - the digests of the network's keys
 *
 * Facts of parameters.json and srs-inner-product.json of rust-fil-proofs 87348a7 (v19.1.0); names follow from the catalogue.
 *
 * Source: spec/filecoin-formats.md section 6.3.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "circuit/filecoin/catalog.h"

static const struct {
    fil_kind kind;
    const char *size, *params, *vk;
} published[] = {
    {FIL_POREP, "2k", "434fb1338ecfaf0f59256f30dde4968f", "dc1ade9929ade1708238f155343044ac"},
    {FIL_POREP, "8m", "09e612e4eeb7a0eb95679a88404f960c", "b687beb9adbd9dabe265a7e3620813e4"},
    {FIL_POREP, "512m", "6c77597eb91ab936c1cef4cf19eba1b3", "065179da19fbe515507267677f02823e"},
    {FIL_POREP, "32g", "6a388072a518cf46ebd661f5cc46900a", "0c7b4aac1c40fdb7eb82bc355b41addf"},
    {FIL_POREP, "64g", "1801f8a6e1b00bceb00cc27314bb5ce3", "a89884252c04c298d0b3c81bfd884164"},
    {FIL_WINNING, "2k", "82c88066be968bb550a05e30ff6c2413", "ffd79788d614d27919ae5bd2d94eacb6"},
    {FIL_WINNING, "8m", "700171ecf7334e3199437c930676af82", "79ebb55f56fda427743e35053edad8fc"},
    {FIL_WINNING, "512m", "827359440349fe8f5a016e7598993b79", "bd2cd62f65c1ab84f19ca27e97b7c731"},
    {FIL_WINNING, "32g", "d84f79a16fe40e9e25a36e2107bb1ba0", "fc02943678dd119e69e7fab8420e8819"},
    {FIL_WINNING, "64g", "2170a91ad5bae22ea61f2ea766630322", "6d3789148fb6466d07ee1e24d6292fd6"},
    {FIL_WINDOW, "2k", "7610b9f82bfc88405b7a832b651ce2f6", "0e0958009936b9d5e515ec97b8cb792d"},
    {FIL_WINDOW, "8m", "c49499bb76a0762884896f9683403f55", "34d4feeacd9abf788d69ef1bb4d8fd00"},
    {FIL_WINDOW, "512m", "1a7d4a9c8a502a497ed92a54366af33f", "4dae975de4f011f101f5a2f86d1daaba"},
    {FIL_WINDOW, "32g", "2cf49eb26f1fee94c85781a390ddb4c8", "0f8ec542485568fa3468c066e9fed82b"},
    {FIL_WINDOW, "64g", "3810b7780ac0e299b22ae70f1f94c9bc", "59d2bf1857adc59a4f08fcf2afaa916b"},
    {FIL_UPDATE, "2k", "311f92a3e75036ced01b1c0025f1fa0c", "eadad9784969890d30f2749708c79771"},
    {FIL_UPDATE, "8m", "5aedd2cf3e5c0a15623d56a1b43110ad", "abd80269054d391a734febdac0d2e687"},
    {FIL_UPDATE, "512m", "c3ad7bb549470b82ad52ed070aebb4f4", "994c5b7d450ca9da348c910689f2dc7f"},
    {FIL_UPDATE, "32g", "1b3cfd761a961543f9eb273e435a06a2", "3a6941983754737fde880d29c7094905"},
    {FIL_UPDATE, "64g", "1a392e7b759fb18e036c7559b5ece816", "80e366df2f1011953c2d01c7b7c9ee8e"},
    {FIL_UPDATE_POSEIDON, "32g", "b69983b5d7a97a20f43b3d5ff2a4ed04",
     "1ac05784f304129f74c5184190c1ec78"},
    {FIL_UPDATE_POSEIDON, "64g", "a6d4f96e2b641a6d7a1a8e6dc1155c8a",
     "8e8fb9e2c56eb5d740d0de135305a7b8"},
};

const char *fil_published_digest(fil_kind kind, const fil_size *s, bool vk)
{
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        if (published[i].kind == kind && strcmp(published[i].size, s->name) == 0)
            return vk ? published[i].vk : published[i].params;
    return NULL;
}
