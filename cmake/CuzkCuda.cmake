# cmake/CuzkCuda.cmake - the CUDA backend: finds nvcc and the static runtime, compiles kernels, adds them to a room
#
# Kernels are compiled by commands of our own and linked by the C compiler: the project stays a C project, and a machine
# without nvcc sees none of this. CUZK_CUDA is ON, OFF, or AUTO: on where nvcc is, but for sanitizers and fuzzers, which
# do not know device memory. CUZK_CUDA_ARCHS: compute capabilities ("80;90"): machine code for each, and with 90 also PTX,
# which the driver compiles for later GPUs. Empty: those of the GPUs in this machine, else 90.
# SPDX-License-Identifier: MIT OR Apache-2.0

set(CUZK_CUDA AUTO CACHE STRING "Build the CUDA backend: ON, OFF, or AUTO: where nvcc is")
set_property(CACHE CUZK_CUDA PROPERTY STRINGS AUTO ON OFF)
set(CUZK_CUDA_ARCHS "" CACHE STRING "Compute capabilities to compile for; empty: this machine's, else 90")

# Sets CUZK_HAVE_CUDA, CUZK_NVCC, CUZK_CUDA_INCLUDE, CUZK_CUDART.
macro(cuzk_find_cuda)
    set(CUZK_HAVE_CUDA OFF)
    if(CUZK_CUDA STREQUAL "AUTO" AND (CUZK_SANITIZE OR CUZK_FUZZ))
        message(STATUS "CUDA backend: not built (sanitizers)")
    elseif(CUZK_CUDA STREQUAL "AUTO" OR CUZK_CUDA)
        find_program(CUZK_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
        if(CUZK_NVCC)
            get_filename_component(cuzk_cuda_root "${CUZK_NVCC}" REALPATH)
            get_filename_component(cuzk_cuda_root "${cuzk_cuda_root}" DIRECTORY)
            get_filename_component(cuzk_cuda_root "${cuzk_cuda_root}" DIRECTORY)
            find_path(CUZK_CUDA_INCLUDE cuda_runtime_api.h HINTS "${cuzk_cuda_root}"
                PATH_SUFFIXES include targets/x86_64-linux/include)
            find_library(CUZK_CUDART cudart_static HINTS "${cuzk_cuda_root}"
                PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib)
        endif()
        if(CUZK_NVCC AND CUZK_CUDA_INCLUDE AND CUZK_CUDART)
            set(CUZK_HAVE_CUDA ON)
        elseif(CUZK_CUDA STREQUAL "AUTO")
            message(STATUS "CUDA backend: not built (no nvcc, or no static runtime beside it)")
        else()
            message(FATAL_ERROR "CUZK_CUDA=ON, but there is no nvcc, or no libcudart_static.a beside it")
        endif()
    endif()
endmacro()

# What nvcc is told to compile for, from CUZK_CUDA_ARCHS.
function(cuzk_cuda_gencode out)
    set(archs "${CUZK_CUDA_ARCHS}")
    if(NOT archs)
        execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
            OUTPUT_VARIABLE caps ERROR_QUIET RESULT_VARIABLE failed)
        if(failed EQUAL 0)
            string(REGEX MATCHALL "[0-9]+\\.[0-9]+" caps "${caps}")
            list(REMOVE_DUPLICATES caps)
            string(REPLACE "." "" archs "${caps}")
        endif()
    endif()
    if(NOT archs)
        set(archs 90)
    endif()
    set(flags "")
    foreach(arch IN LISTS archs)
        if(arch EQUAL 90)
            list(APPEND flags "-gencode=arch=compute_90,code=[sm_90,compute_90]")
        else()
            list(APPEND flags "-gencode=arch=compute_${arch},code=sm_${arch}")
        endif()
    endforeach()
    set(${out} "${flags}" PARENT_SCOPE)
    message(STATUS "CUDA backend: ${CUZK_NVCC}, for ${archs}")
endfunction()

# cuzk_cuda_sources(<room> KERNELS a.cu ... HOST b.c ...): nothing without CUDA
function(cuzk_cuda_sources room)
    cmake_parse_arguments(arg "" "" "KERNELS;HOST" ${ARGN})
    if(NOT CUZK_HAVE_CUDA)
        return()
    endif()
    cuzk_cuda_gencode(gencode)
    set(werror "")
    if(CUZK_WERROR)
        set(werror -Werror all-warnings)
    endif()
    set(objects "")
    foreach(source IN LISTS arg_KERNELS)
        get_filename_component(name "${source}" NAME_WE)
        set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.cu.o")
        add_custom_command(OUTPUT "${object}" DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
            COMMAND ${CMAKE_C_COMPILER_LAUNCHER} "${CUZK_NVCC}" -std=c++17 -O3 ${gencode} ${werror}
                -I "${PROJECT_SOURCE_DIR}/src" -Xcompiler -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics
                -Xcompiler "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=" -MD -MT "${object}" -MF "${object}.d"
                -c "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -o "${object}"
            DEPFILE "${object}.d" COMMENT "nvcc ${source}" COMMAND_EXPAND_LISTS VERBATIM)
        list(APPEND objects "${object}")
    endforeach()
    set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_custom_target(cuzk_cuda_kernels DEPENDS ${objects})
    set_property(GLOBAL PROPERTY CUZK_CUDA_OBJECTS ${objects})
    target_sources(cuzk_${room} PRIVATE ${arg_HOST} ${objects})
    target_compile_definitions(cuzk_${room} PRIVATE CUZK_CUDA)
    target_include_directories(cuzk_${room} SYSTEM PRIVATE "${CUZK_CUDA_INCLUDE}")
    target_link_libraries(cuzk_${room} PUBLIC "${CUZK_CUDART}" ${CMAKE_DL_LIBS} rt)
endfunction()

# For libcuzk.so, whose objects come from the rooms (TARGET_OBJECTS leaves out those that nvcc made): the kernels, and the
# runtime with none of its symbols outside.
function(cuzk_cuda_link target)
    if(CUZK_HAVE_CUDA)
        get_property(objects GLOBAL PROPERTY CUZK_CUDA_OBJECTS)
        set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
        target_sources(${target} PRIVATE ${objects})
        add_dependencies(${target} cuzk_cuda_kernels)
        target_link_libraries(${target} PRIVATE "${CUZK_CUDART}" ${CMAKE_DL_LIBS} rt)
        target_link_options(${target} PRIVATE "-Wl,--exclude-libs,libcudart_static.a")
    endif()
endfunction()
