/*
 * engine/kept_vk.h - the verifying key that an engine used last, kept for the next verification under it
 *
 * Reading and testing a key's points takes longer than verifying a proof (25,840 points: 0.25 s). Who verifies takes the key out and
 * puts it back; two at once read it twice. A file that was replaced or written to is another key.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ENGINE_KEPT_VK_H
#define ENGINE_KEPT_VK_H

#include "engine/engine.h"

/** A key with what tells whether its file is still the same. */
typedef struct kept_vk {
    mem *m;
    char *path; /* owned, behind this struct */
    file_id id;
    groth16_vk *vk; /* owned; NULL: to be read */
    unsigned taken; /* how often it was taken */
} kept_vk;

/** The key of this path: the engine's, or an empty one whose vk the caller reads. Owned by the caller from then on. */
CUZK_STATUS kept_vk_take(kept_vk **out, cuzk_engine *e, const char *path);
/** Makes the key as ready for the verification to come as its use up to now is worth. It may stay as it is. */
void kept_vk_prepare(kept_vk *k, dev_stream *s);
/** Gives it to the engine, which keeps it in place of another. One without a key is freed. NULL is fine. */
void kept_vk_put(cuzk_engine *e, kept_vk *k);
void kept_vk_free(kept_vk *k); /* NULL is fine */

#endif
