# What a developer does, by name; `make` alone lists it. The work is done by CMake (see
# CMakePresets.json) and by the scripts in tools/.

JOBS ?= $(shell nproc)
# Most of the time tests wait for something: there may be more of them than cores.
TEST_JOBS ?= $(shell echo $$((3 * $$(nproc))))
SECONDS_EACH ?= 60
# One build at a time in build/release, where the launcher script builds, too.
LOCKED = mkdir -p build/release && flock --close build/release/launcher-lock
SOURCES = $(shell find src apps tests bench tools -name '*.h' -o -name '*.cc' 2>/dev/null)

# What stands on large libraries.
OPTIONAL = -DPACELINE_TESTS=ON -DPACELINE_TORCH=ON -DPACELINE_IMAGES=ON -DPACELINE_MPI=ON -DPACELINE_BENCH=ON
# More of CMake's options, and another folder for the address sanitizer. A sanitizer's tests that start whole runs may be a part of them (PART=1/2).
CMAKE_OPTIONS ?=
ASAN ?= build/asan
PART ?=

SHELL := bash
.SHELLFLAGS := -o pipefail -c

.DEFAULT_GOAL := help
.PHONY: help build build-asan build-fuzz build-tsan test test-asan test-tsan test-fuzz fuzz debug check format tidy clean packages all-packages
.NOTPARALLEL:

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: all-packages ## build everything, optimized, into build/release
	$(LOCKED) sh -c 'cmake --preset release $(OPTIONAL) $(CMAKE_OPTIONS) && \
	  cmake --build build/release -j $(JOBS)'

test: check build ## checks and all tests; without root, those that need it are left out
	tools/run_tests build/release -j $(TEST_JOBS)

build-asan: packages
	cmake --preset asan -B $(ASAN) $(CMAKE_OPTIONS)
	cmake --build $(ASAN) -j $(JOBS)

build-tsan: packages
	cmake --preset tsan $(CMAKE_OPTIONS)
	cmake --build build/tsan -j $(JOBS)

test-asan: build-asan ## all tests under the address and undefined-behaviour sanitizers
	tools/run_tests $(ASAN) $(if $(PART),--part $(PART)) -j $(TEST_JOBS)

test-tsan: build-tsan ## all tests under the thread sanitizer
	tools/run_tests build/tsan $(if $(PART),--part $(PART)) -j $(TEST_JOBS)

build-fuzz: packages
	cmake --preset asan -B $(ASAN) $(CMAKE_OPTIONS)
	cmake --build $(ASAN) --target fuzzers -j $(JOBS)

test-fuzz: build-fuzz ## all fuzzers: the cases that are kept, then a fixed number of new ones
	ctest --test-dir $(ASAN) -R '^fuzz/' --output-on-failure -j $(JOBS)

fuzz: build-fuzz ## all fuzzers, for SECONDS_EACH [60] each, on from the last time; what fails is left in build/asan
	cd $(ASAN) && printf '%s\n' $(CURDIR)/tests/fuzz/*/ | PACELINE_CORPUS=corpus \
	  xargs -P $(JOBS) -I{} $(CURDIR)/tools/fuzz tests/fuzz/fuzzers {} -max_total_time=$(SECONDS_EACH)

debug: all-packages ## build everything without optimization, each source compiled alone
	cmake --preset debug $(OPTIONAL) $(CMAKE_OPTIONS)
	cmake --build build/debug -j $(JOBS) -- -k 0

check: packages ## layers of the source tree, paths in the documentation, formatting
	tools/check_layers
	tools/check_docs
	@clang-format --dry-run --Werror $(SOURCES)

format: packages ## format all sources
	@clang-format -i $(SOURCES)

tidy: build-asan ## clang-tidy over all sources, as the address sanitizer's build compiles them
	tools/tidy $(ASAN)

clean: ## delete everything that was built
	rm -rf build

packages:
	@tools/packages install build test

all-packages:
	@tools/packages install build test torch images mpi
