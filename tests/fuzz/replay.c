/*
 * fuzz/replay.c - runs a fuzz target over its corpus, without a fuzzer
 *
 * usage: fuzz_NAME FOLDER. Every regular file of the folder is one input; none at all is a failure.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input lies at the very end of its block, so that reading past it is seen by ASan and valgrind. */
static bool replay_file(const char *path, size_t size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(size == 0 ? 1 : size);
    bool good = f != NULL && data != NULL && fread(data, 1, size, f) == size;

    if (good) (void)LLVMFuzzerTestOneInput(data, size);
    if (f != NULL) (void)fclose(f);
    free(data);
    return good;
}

int main(int argc, char **argv)
{
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    const char *name;
    size_t n = 0;

    if (dir == NULL) {
        (void)fprintf(stderr, "usage: %s FOLDER, one that exists\n", argv[0]);
        return 2;
    }
    name = strrchr(argv[1], '/') != NULL ? strrchr(argv[1], '/') + 1 : argv[1];
    while ((entry = readdir(dir)) != NULL) {
        char path[4096];
        struct stat st;

        (void)snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) continue;
        (void)printf("%s\n", entry->d_name); /* the last name printed is the one that crashed */
        (void)fflush(stdout);
        if (!replay_file(path, (size_t)st.st_size)) {
            (void)printf("FAIL replay %s: %s could not be read\n", name, entry->d_name);
            (void)closedir(dir);
            return 1;
        }
        n++;
    }
    (void)closedir(dir);
    if (n == 0) {
        (void)printf("FAIL replay %s: the corpus is empty\n", name);
        return 1;
    }
    (void)printf("ok replay %s\n", name);
    return 0;
}
