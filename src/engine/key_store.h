/*
 * engine/key_store.h - what is known of the key files in a folder: digests, and what they are compared with
 *
 * A digest takes a second a gigabyte, so it is remembered beside the keys for the file that it was made of (device,
 * inode, size, time of change). What is remembered saves time and proves nothing: a folder that others may write to holds
 * keys that others may write to.
 *
 * Source: design section 9; spec/filecoin-formats.md section 6.3.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_KEY_STORE_H
#define ENGINE_KEY_STORE_H

#include "engine/filecoin.h"

#define KEY_DIGEST_HEX 32 /* of BLAKE2b-512, its first digits: as the network's parameters.json */
#define KEY_NAME_MAX 256

/** Digest of the first `size` bytes of a file, which has no fewer. Progress "digest" counts bytes. */
CUZK_STATUS key_digest(cuzk_engine *e, const char *path, uint64_t size,
                       char out[KEY_DIGEST_HEX + 1]);

/** What was seen of a file. */
typedef struct key_record {
    char file[KEY_NAME_MAX];
    file_id id;
    char digest[KEY_DIGEST_HEX + 1];
    uint64_t points; /* the first so many points of a .params were found in their subgroup */
} key_record;

/** *found: something is remembered of DIR/file as it is now. */
CUZK_STATUS key_recall(cuzk_engine *e, const char *dir, const char *file, key_record *out,
                       bool *found);
/** Remembers r in DIR/.cuzk-keys, in place of what was known of r->file. CUZK_EIO: the folder cannot be written to. */
CUZK_STATUS key_remember(cuzk_engine *e, const char *dir, const key_record *r);
/** The same; a folder that cannot be written to is a warning. */
CUZK_STATUS key_try_remember(cuzk_engine *e, const char *dir, const key_record *r);

/** The digest of DIR/file, which is at path: remembered, or made now and remembered. */
CUZK_STATUS key_digest_of(cuzk_engine *e, const char *dir, const char *file, const char *path,
                          char out[KEY_DIGEST_HEX + 1]);

typedef enum key_standing {
    KEY_UNKNOWN, /* nothing to compare with */
    KEY_NETWORK, /* the network's own */
    KEY_OWN,     /* as a setup here wrote it */
    KEY_FOREIGN, /* has the name of a key of the network, is not it, and no setup here wrote it */
    KEY_DAMAGED, /* a setup here wrote another one */
} key_standing;
const char *key_standing_name(key_standing s);

/** Digests that DIR/NAME.digest and the network's list have for a file; "": none. */
typedef struct key_expected {
    char own[KEY_DIGEST_HEX + 1], network[KEY_DIGEST_HEX + 1];
} key_expected;
/** CUZK_EDATA: NAME.digest is malformed. */
CUZK_STATUS key_expect(key_expected *out, const char *dir, fil_kind kind, const fil_size *size,
                       bool vk);
key_standing key_compare(const key_expected *x, const char *digest);

/** Writes NAME.digest: what a setup made. */
CUZK_STATUS key_write_digests(const char *dir, fil_kind kind, const fil_size *size,
                              const char *params_digest, const char *vk_digest);

/** Before a setup: refuses to write over a key that no setup here wrote. */
CUZK_STATUS key_may_replace(cuzk_engine *e, const char *dir, fil_kind kind, const fil_size *size);
/** Before a proof: refuses a damaged key, warns of a foreign one. Digests what is not remembered. */
CUZK_STATUS key_trust(cuzk_engine *e, const char *dir, fil_kind kind, const fil_size *size);
/** Before a verification: the same of a NAME.vk that was read, n bytes. */
CUZK_STATUS key_trust_vk(const job_env *e, const char *dir, fil_kind kind, const fil_size *size,
                         const uint8_t *data, size_t n);
/** Where the engine uses derived points, and NAME.derived is there: gives them to the key. CUZK_EDATA: another key's, or damaged. */
CUZK_STATUS key_derived_open(cuzk_engine *e, groth16_pk *pk, const char *dir, fil_kind kind,
                             const fil_size *size);
/** NAME.derived to the key, whatever the engine uses. anew: its bytes are read even where they were found good before. */
CUZK_STATUS key_derived_take(cuzk_engine *e, groth16_pk *pk, const char *dir, fil_kind kind,
                             const fil_size *size, bool anew);
/** The same of a file of powers, which has the network's name or any other. *checked: all of its points were found in their
 *  subgroup before. */
CUZK_STATUS key_trust_srs(cuzk_engine *e, const char *path, uint64_t points, bool *checked);

#endif
