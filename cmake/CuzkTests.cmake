# cmake/CuzkTests.cmake - how a test file becomes a program and an entry of CTest
#
# Labels decide which make target runs a test: none: check; all: check-all; long: check-long.
# SPDX-License-Identifier: MIT OR Apache-2.0

set(CUZK_FIXTURES "" CACHE PATH "The fixtures folder; empty: ../shared/fixtures beside the source, when present")
if(CUZK_FIXTURES)
    set(cuzk_fixtures_dir "${CUZK_FIXTURES}")
else()
    get_filename_component(cuzk_fixtures_dir "${PROJECT_SOURCE_DIR}/../shared/fixtures" ABSOLUTE)
endif()

# What every test program sees in its environment.
set(cuzk_test_env
    "CUZK_BIN=${CMAKE_BINARY_DIR}/cuzk"
    "CUZK_TEST_DIR=${PROJECT_SOURCE_DIR}/tests")

if(CUZK_SANITIZE MATCHES "thread")
    list(APPEND cuzk_test_env "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
endif()

# cuzk_test(<name> files... LIBS rooms... [LABELS ...] [TIMEOUT seconds] [DEFS ...])
function(cuzk_test name)
    cmake_parse_arguments(arg "" "TIMEOUT" "LIBS;LABELS;DEFS" ${ARGN})
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 1200) # a slow machine's, with sanitizers
    endif()
    add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
    target_compile_definitions(${name} PRIVATE ${arg_DEFS})
    target_link_libraries(${name} PRIVATE cuzk_flags cuzk_harness)
    cuzk_link_rooms(${name} ${arg_LIBS} base)
    if(CUZK_TEST_FOLDER STREQUAL "ctime")
        add_test(NAME ${name} COMMAND valgrind -q --error-exitcode=99 $<TARGET_FILE:${name}>)
    else()
        add_test(NAME ${name} COMMAND ${name})
    endif()
    set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT}
        LABELS "${CUZK_TEST_FOLDER};${arg_LABELS}" ENVIRONMENT "${cuzk_test_env}")
endfunction()

# Every test_*.c of a folder, linked with all rooms: NAME_all.c is for check-all, NAME_long.c for check-long.
function(cuzk_test_folder kind)
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${kind}/test_*.c")
    if(kind STREQUAL "ctime")
        find_path(VALGRIND_INCLUDE_DIR valgrind/memcheck.h)
        if(NOT VALGRIND_INCLUDE_DIR)
            return()
        endif()
    endif()
    foreach(file IN LISTS files)
        get_filename_component(name "${file}" NAME_WE)
        set(labels "")
        set(timeout 1200)
        if(name MATCHES "_long$")
            set(labels long)
            set(timeout 7200)
        elseif(name MATCHES "_all$" OR kind STREQUAL "fault" OR kind STREQUAL "ctime")
            set(labels all)
        endif()
        string(REGEX REPLACE "^test_" "${kind}_" target "${name}")
        cuzk_test(${target} "${file}" LIBS ${CUZK_ROOMS} LABELS ${labels} TIMEOUT ${timeout})
    endforeach()
endfunction()

# Every fuzz_NAME.c: a test that replays corpus/NAME, and with CUZK_FUZZ the fuzzer itself.
function(cuzk_fuzz_folder dir)
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/fuzz_*.c")
    foreach(file IN LISTS files)
        get_filename_component(target "${file}" NAME_WE)
        string(REGEX REPLACE "^fuzz_" "" name "${target}")
        if(CUZK_BUILD_TESTS)
            add_executable(replay_${name} "${file}" "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/replay.c")
            target_link_libraries(replay_${name} PRIVATE cuzk_flags)
            cuzk_link_rooms(replay_${name} ${CUZK_ROOMS})
            add_test(NAME replay_${name}
                COMMAND replay_${name} "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/corpus/${name}")
            set_tests_properties(replay_${name} PROPERTIES LABELS "fuzz" TIMEOUT 300
                ENVIRONMENT "${cuzk_test_env}")
        endif()
        if(CUZK_FUZZ)
            add_executable(${target} "${file}")
            target_link_options(${target} PRIVATE -fsanitize=fuzzer)
            set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
            target_link_libraries(${target} PRIVATE cuzk_flags)
            cuzk_link_rooms(${target} ${CUZK_ROOMS})
        endif()
    endforeach()
endfunction()
