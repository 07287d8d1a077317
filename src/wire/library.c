/*
 * wire/library.c - loading the servers' libraries
 *
 * The names are those that were found when the program was built (CMakeLists.txt): what changes with another is the interface.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "wire/library.h"

#include <dlfcn.h>
#include <string.h>

#include "wire/grpc_library.h"
#include "wire/http_library.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const char *const grpc_names[] = {GRPC_FUNCTIONS(LIBRARY_NAME)};
static const char *const http_names[] = {HTTP_FUNCTIONS(LIBRARY_NAME)};

grpc_functions grpc_library;
http_functions http_library;

_Static_assert(sizeof grpc_library == sizeof grpc_names, "a pointer for each name");
_Static_assert(sizeof http_library == sizeof http_names, "a pointer for each name");

/* mu is held */
static cuzk_status find(library *l)
{
    void *handle = dlopen(l->soname, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        const char *why = dlerror(); /* glibc's is the thread's: NOLINT(concurrency-mt-unsafe) */

        return FAIL(CUZK_EIO, "the service's library %s, or one below it, cannot be loaded: %.200s",
                    l->soname, why == NULL ? "no reason given" : why);
    }
    for (size_t i = 0; i < l->n; i++) {
        void *f = dlsym(handle, l->names[i]);

        if (f == NULL) {
            (void)dlclose(handle);
            return FAIL(CUZK_EIO, "%s has no %s", l->soname, l->names[i]);
        }
        memcpy((char *)l->functions + i * sizeof f, &f, sizeof f);
    }
    l->loaded = true; /* the handle stays open */
    return CUZK_OK;
}

cuzk_status library_load(library *l)
{
    cuzk_status st = CUZK_OK;

    (void)pthread_mutex_lock(&l->mu);
    if (!l->loaded) st = find(l);
    (void)pthread_mutex_unlock(&l->mu);
    return st;
}

cuzk_status grpc_library_load(void)
{
    static library l = {.soname = CUZK_GRPC_SONAME,
                        .names = grpc_names,
                        .n = COUNT(grpc_names),
                        .functions = &grpc_library,
                        .mu = PTHREAD_MUTEX_INITIALIZER};
    return library_load(&l);
}

cuzk_status http_library_load(void)
{
    static library l = {.soname = CUZK_HTTP_SONAME,
                        .names = http_names,
                        .n = COUNT(http_names),
                        .functions = &http_library,
                        .mu = PTHREAD_MUTEX_INITIALIZER};
    return library_load(&l);
}
