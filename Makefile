# The front door. `make help` lists the targets; CMake and tools/ do the work.
# SPDX-License-Identifier: MIT OR Apache-2.0

BUILD ?= build
T ?=
S ?= 60
PREFIX ?= /usr/local
# Given on the command line (make CUZK_SERVICE=off), these reach CMake.
CMAKE_ARGS = $(foreach v,CUZK_SERVICE CUZK_TESTS CUZK_WERROR CUZK_VERIFY CUZK_SANITIZE CUZK_FIXTURES \
	CUZK_CUDA CUZK_CUDA_ARCHS, \
	$(if $(filter command environment,$(firstword $(origin $(v)))),-D$(v)='$($(v))'))
GENERATOR = $(if $(wildcard $(BUILD)/CMakeCache.txt),,$(if $(shell command -v ninja),-G Ninja))

.PHONY: all build help demo check check-all check-long check-gpu bench fuzz format lint clean install

all: build

build:
	@command -v cmake >/dev/null || { echo "cmake is missing: 'make demo' or 'make check' installs it," \
		"or install cmake and a C compiler yourself" >&2; exit 1; }
	@cmake -S . -B $(BUILD) $(GENERATOR) $(CMAKE_ARGS) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@cmake --build $(BUILD) -j "$$(getconf _NPROCESSORS_ONLN)"

help:
	@echo "make             build build/cuzk and build/libcuzk.so (installs nothing)"
	@echo "make demo        prove real inputs and show where the time went"
	@echo "make check       unit tests, vectors, corpus replay; minutes"
	@echo "make check-all   adds clang, sanitizers, faults, valgrind, end-to-end, fuzzing; under 45 minutes"
	@echo "make check-long  production shapes and soaks; an hour or more"
	@echo "make check-gpu   the tests and the benchmark of the CUDA backend, on a machine with a GPU"
	@echo "make bench       benchmarks"
	@echo "make fuzz T=NAME S=SECONDS   one fuzz target (no T: lists them)"
	@echo "make format | lint           clang-format 14 in place | clang-format and clang-tidy as a check"
	@echo "make install PREFIX=DIR      program, library, header, package files (DESTDIR is honoured)"
	@echo "demo, check, check-all, check-long and lint install missing packages; on a terminal they ask first."

demo:
	@tools/install_deps demo
	@$(MAKE) --no-print-directory build
	@test -x tools/demo || { echo "tools/demo is missing" >&2; exit 1; }
	@tools/demo

check:
	@tools/install_deps check
	@tools/run_tests check

check-all:
	@tools/install_deps check-all
	@tools/run_tests check-all

check-long:
	@tools/install_deps check-all
	@tools/run_tests check-long

check-gpu: build
	@tools/check_gpu $(BUILD)

bench: build
	@tools/run_bench $(BUILD)

fuzz:
	@tools/install_deps fuzz
	@tools/run_fuzz '$(T)' '$(S)'

format:
	@tools/install_deps lint
	@tools/check_format --fix

lint:
	@tools/install_deps lint
	@tools/check_format
	@tools/check_tidy

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build build-*
