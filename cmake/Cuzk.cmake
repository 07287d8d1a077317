# cmake/Cuzk.cmake - flags, and the functions that rooms, tests and benchmarks are declared with
#
#   cuzk_room(<room> a.c b.c ...)                  library cuzk_<room>; links the rooms that LAYERS allows
#   cuzk_program(main.c ...)                       the program, build/cuzk
#   cuzk_test(<name> a.c ... LIBS <rooms>          a test program on cmocka, linked with the harness
#             [LABELS all|long|...] [TIMEOUT s] [DEFS X=1 ...])
#   cuzk_ifma_sources(a.c ...)                     of this folder, compiled with AVX-512 IFMA
#   cuzk_bench(<name> a.c ... LIBS <rooms>)        a benchmark program, build/bench/<name>
#
# SPDX-License-Identifier: MIT OR Apache-2.0

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELEASE "-O3 -g")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Flags of everything that is ours.
add_library(cuzk_flags INTERFACE)
target_include_directories(cuzk_flags INTERFACE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(cuzk_flags INTERFACE _GNU_SOURCE CUZK_VERSION_STRING="${PROJECT_VERSION}")
target_compile_options(cuzk_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wold-style-definition -Wundef -Wvla -Wcast-qual -Wpointer-arith
    -Wwrite-strings -Wformat=2 -Wimplicit-fallthrough -Wswitch-enum)
# Build paths stay out of the binaries, so that a build is the same wherever it is made.
target_compile_options(cuzk_flags INTERFACE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
target_link_libraries(cuzk_flags INTERFACE Threads::Threads)
if(CUZK_WERROR)
    target_compile_options(cuzk_flags INTERFACE -Werror)
endif()
if(CUZK_VERIFY)
    target_compile_definitions(cuzk_flags INTERFACE CUZK_VERIFY)
endif()
if(CUZK_SANITIZE)
    target_compile_options(cuzk_flags INTERFACE "-fsanitize=${CUZK_SANITIZE}" -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    target_link_options(cuzk_flags INTERFACE "-fsanitize=${CUZK_SANITIZE}")
endif()
if(CUZK_FUZZ)
    target_compile_options(cuzk_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Rooms and their order come from src/LAYERS: "room: rooms it may include".
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/LAYERS")
file(STRINGS "${PROJECT_SOURCE_DIR}/src/LAYERS" cuzk_layer_lines REGEX "^[a-z]")
set(CUZK_ROOMS "")
foreach(line IN LISTS cuzk_layer_lines)
    string(REGEX MATCH "^([a-z0-9]+):(.*)$" _ "${line}")
    set(room "${CMAKE_MATCH_1}")
    string(REGEX MATCHALL "[a-z0-9]+" CUZK_BELOW_${room} "${CMAKE_MATCH_2}")
    list(APPEND CUZK_ROOMS ${room})
endforeach()

# Links the rooms that exist; one that has not been built yet is an error of its own at link time.
function(cuzk_link_rooms target)
    foreach(room IN LISTS ARGN)
        if(TARGET cuzk_${room})
            target_link_libraries(${target} PRIVATE cuzk_${room})
        endif()
    endforeach()
endfunction()

function(cuzk_room room)
    if(NOT room IN_LIST CUZK_ROOMS)
        message(FATAL_ERROR "cuzk_room(${room}): not a room of src/LAYERS (${CUZK_ROOMS})")
    endif()
    add_library(cuzk_${room} STATIC ${ARGN})
    target_link_libraries(cuzk_${room} PRIVATE cuzk_flags)
    cuzk_link_rooms(cuzk_${room} ${CUZK_BELOW_${room}})
endfunction()

# Files compiled for AVX-512 IFMA. What they hold is called only where cpu_table_supported says so; on other processors they
# are empty.
function(cuzk_ifma_sources)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
        set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
            "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mavx512ifma;-mavx512vbmi;-mavx512vbmi2")
    endif()
endfunction()

# The program: the public header and the engine behind it, the rooms that app may use, and app itself.
function(cuzk_program)
    add_executable(cuzk ${ARGN})
    set_target_properties(cuzk PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
    target_link_libraries(cuzk PRIVATE cuzk_flags)
    cuzk_link_rooms(cuzk app ${CUZK_BELOW_app} engine)
    install(TARGETS cuzk RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES "${PROJECT_SOURCE_DIR}/docs/man/cuzk.1" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

    set(completion "${CMAKE_BINARY_DIR}/completion/cuzk")
    add_custom_command(OUTPUT "${completion}" DEPENDS cuzk VERBATIM
        COMMAND ${CMAKE_COMMAND} -E make_directory "${CMAKE_BINARY_DIR}/completion"
        COMMAND $<TARGET_FILE:cuzk> completion > "${completion}")
    add_custom_target(cuzk_completion ALL DEPENDS "${completion}")
    install(FILES "${completion}" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    if(CUZK_BUILD_SERVICE)
        cuzk_install_service()
    endif()
endfunction()

# The daemon's unit (which names the program where it is installed), its user, an example of its configuration.
function(cuzk_install_service)
    set(unit "${CMAKE_BINARY_DIR}/packaging/cuzk.service")
    install(CODE "
        get_filename_component(CUZK_BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\" ABSOLUTE)
        configure_file(\"${PROJECT_SOURCE_DIR}/packaging/cuzk.service.in\" \"${unit}\" @ONLY)")
    install(FILES "${unit}" DESTINATION lib/systemd/system)
    install(FILES "${PROJECT_SOURCE_DIR}/packaging/cuzk.sysusers" DESTINATION lib/sysusers.d RENAME cuzk.conf)
    install(FILES "${PROJECT_SOURCE_DIR}/docs/cuzk.example.toml" "${PROJECT_SOURCE_DIR}/docs/operations.md"
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
endfunction()

# libcuzk.so: every room that cuzk.h stands on, with pkg-config and CMake package files.
function(cuzk_shared_library)
    set(objects "")
    foreach(room IN LISTS CUZK_BELOW_engine ITEMS engine)
        if(NOT TARGET cuzk_${room})
            message(STATUS "libcuzk.so: not built (no room ${room})")
            return()
        endif()
        list(APPEND objects $<TARGET_OBJECTS:cuzk_${room}>)
    endforeach()
    add_library(cuzk_shared SHARED ${objects})
    set_target_properties(cuzk_shared PROPERTIES OUTPUT_NAME cuzk EXPORT_NAME cuzk LINKER_LANGUAGE C
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
    target_link_libraries(cuzk_shared PRIVATE Threads::Threads)
    if(CUZK_BUILD_SERVICE)
        target_link_libraries(cuzk_shared PRIVATE PkgConfig::SQLITE)
    endif()
    cuzk_cuda_link(cuzk_shared)
    if(CUZK_SANITIZE)
        target_link_options(cuzk_shared PRIVATE "-fsanitize=${CUZK_SANITIZE}")
    else()
        target_link_options(cuzk_shared PRIVATE -Wl,--no-undefined)
    endif()
    target_include_directories(cuzk_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

    include(CMakePackageConfigHelpers)
    # Relative, so that `cmake --install --prefix` and moved trees work.
    file(RELATIVE_PATH CUZK_PC_PREFIX "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/cuzk.pc.in" "${CMAKE_BINARY_DIR}/cuzk.pc" @ONLY)
    write_basic_package_version_file("${CMAKE_BINARY_DIR}/cuzk-config-version.cmake"
        COMPATIBILITY SameMinorVersion)
    install(TARGETS cuzk_shared EXPORT cuzk LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES "${PROJECT_SOURCE_DIR}/include/cuzk.h" "${PROJECT_SOURCE_DIR}/include/cuzk_service.h" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    install(FILES "${CMAKE_BINARY_DIR}/cuzk.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    install(EXPORT cuzk NAMESPACE cuzk:: FILE cuzk-config.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cuzk)
    install(FILES "${CMAKE_BINARY_DIR}/cuzk-config-version.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cuzk)
endfunction()

function(cuzk_bench name)
    cmake_parse_arguments(arg "" "" "LIBS;DEFS" ${ARGN})
    add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
    target_compile_definitions(${name} PRIVATE ${arg_DEFS})
    target_link_libraries(${name} PRIVATE cuzk_flags)
    cuzk_link_rooms(${name} ${arg_LIBS})
endfunction()

# Sets CUZK_BUILD_SERVICE, and targets PkgConfig::GRPC, ::PROTOBUF_C, ::MICROHTTPD, ::SQLITE, ::ZLIB. With it, all of ours is compiled
# with CUZK_HAS_SERVICE.
macro(cuzk_find_service)
    set(CUZK_BUILD_SERVICE OFF)
    if(CUZK_SERVICE STREQUAL "AUTO" OR CUZK_SERVICE)
        find_package(PkgConfig QUIET)
        set(cuzk_missing "")
        if(NOT PkgConfig_FOUND)
            set(cuzk_missing "pkg-config")
        else()
            foreach(package "GRPC grpc libgrpc-dev" "PROTOBUF_C libprotobuf-c libprotobuf-c-dev"
                    "MICROHTTPD libmicrohttpd libmicrohttpd-dev" "SQLITE sqlite3 libsqlite3-dev"
                    "ZLIB zlib zlib1g-dev")
                separate_arguments(package)
                list(GET package 0 prefix)
                list(GET package 1 module)
                list(GET package 2 debian)
                pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
                if(NOT ${prefix}_FOUND)
                    list(APPEND cuzk_missing ${debian})
                endif()
            endforeach()
        endif()
        if(NOT cuzk_missing)
            set(CUZK_BUILD_SERVICE ON)
            target_compile_definitions(cuzk_flags INTERFACE CUZK_HAS_SERVICE)
        elseif(CUZK_SERVICE STREQUAL "AUTO")
            message(STATUS "service: not built (not installed: ${cuzk_missing})")
        else()
            message(FATAL_ERROR "CUZK_SERVICE=ON, but these Debian packages are not installed: ${cuzk_missing}")
        endif()
    endif()
endmacro()

# The name that the shared library <lib>.so among these files is loaded by.
function(cuzk_soname result lib)
    foreach(path IN LISTS ARGN)
        get_filename_component(name "${path}" NAME)
        if(name STREQUAL "${lib}.so")
            execute_process(COMMAND "${CMAKE_READELF}" -d "${path}" OUTPUT_VARIABLE dynamic)
            if(dynamic MATCHES "SONAME[^[]*\\[([^]]+)")
                set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
                return()
            endif()
        endif()
    endforeach()
    message(FATAL_ERROR "${lib}.so: not among ${ARGN}, or without a name")
endfunction()

# Sets CUZK_BUILD_TESTS; with AUTO it follows from cmocka being installed and packages being wanted.
macro(cuzk_find_cmocka)
    set(CUZK_BUILD_TESTS OFF)
    if(CUZK_TESTS STREQUAL "AUTO" AND NOT CUZK_SERVICE STREQUAL "AUTO" AND NOT CUZK_SERVICE)
        message(STATUS "tests: not built (CUZK_SERVICE=OFF)")
    elseif(CUZK_TESTS STREQUAL "AUTO" OR CUZK_TESTS)
        find_path(CMOCKA_INCLUDE_DIR cmocka.h)
        find_library(CMOCKA_LIBRARY cmocka)
        if(CMOCKA_INCLUDE_DIR AND CMOCKA_LIBRARY)
            set(CUZK_BUILD_TESTS ON)
        elseif(CUZK_TESTS STREQUAL "AUTO")
            message(STATUS "tests: not built (cmocka is not installed)")
        else()
            message(FATAL_ERROR "CUZK_TESTS=ON, but cmocka is not installed (Debian: libcmocka-dev)")
        endif()
    endif()
endmacro()
