/*
 * unit/wire/test_library.c - libraries that are loaded when they are needed: not before, whole, and what is said when they are not there
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <dlfcn.h>

#include "harness/harness.h"
#include "wire/grpc_library.h"
#include "wire/http_library.h"

/* The first test: whatever links this room has neither library until it asks for it. */
static void test_not_before(void **state)
{
    (void)state;
    assert_null(dlsym(RTLD_DEFAULT, "grpc_init"));
    assert_null(dlsym(RTLD_DEFAULT, "MHD_start_daemon"));
    assert_true(grpc_init == NULL);
    assert_true(MHD_start_daemon == NULL);
}

static void test_loads(void **state)
{
    (void)state;
    assert_status_ok(grpc_library_load());
    assert_status_ok(grpc_library_load());
    assert_status_ok(http_library_load());
    assert_true(gnutls_certificate_verify_peers2 != NULL); /* of a library below it */
    grpc_init();
    assert_true(gpr_inf_future(GPR_CLOCK_MONOTONIC).tv_sec >
                0); /* of another one, with a result in memory */
    grpc_shutdown();
}

typedef double (*real_fn)(double);

static void test_missing(void **state)
{
    static const char *const names[] = {"floor", "no_such_function_of_libm"};
    real_fn found[2] = {NULL, NULL};
    library l = {.soname = "libcuzk-that-is-nowhere.so.1",
                 .names = names,
                 .n = 2,
                 .functions = found,
                 .mu = PTHREAD_MUTEX_INITIALIZER};

    (void)state;
    assert_status_is(library_load(&l), CUZK_EIO);
    assert_error_mentions("libcuzk-that-is-nowhere.so.1");
    assert_error_mentions("No such file"); /* the loader's reason */
    assert_null(found[0]);
    l.soname = "libm.so.6";
    assert_status_is(library_load(&l), CUZK_EIO);
    assert_error_mentions("no_such_function_of_libm");
    l.n = 1; /* it can be asked for again */
    assert_status_ok(library_load(&l));
    assert_true(found[0] != NULL && found[0](2.5) > 1.9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_before),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
