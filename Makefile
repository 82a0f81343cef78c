# What a developer does, by name; `make` alone lists it. The work is done by CMake (see
# CMakePresets.json) and by the scripts in tools/.

JOBS ?= $(shell nproc)
SECONDS_EACH ?= 60
# One build at a time in build/release, where the launcher script builds, too.
LOCKED = mkdir -p build/release && flock --close build/release/launcher-lock
SOURCES = $(shell find src apps tests bench tools -name '*.h' -o -name '*.cc' 2>/dev/null)

# What clang-tidy does not understand of the compiler's options.
GCC_ONLY =  -Wno-(stringop-overread|stringop-overflow|restrict)

.DEFAULT_GOAL := help
.PHONY: help build test test-asan test-tsan test-fuzz fuzz ci check format tidy clean packages all-packages
.NOTPARALLEL:

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: all-packages ## build everything, optimized, into build/release
	$(LOCKED) sh -c 'cmake --preset release -DPACELINE_TESTS=ON -DPACELINE_TORCH=ON \
	  -DPACELINE_IMAGES=ON -DPACELINE_MPI=ON && \
	  cmake --build build/release -j $(JOBS)'

test: check build ## checks and all tests: what CI runs
	tools/run_tests build/release $(JOBS)

test-asan: packages ## all tests under the address and undefined-behaviour sanitizers
	cmake --preset asan
	cmake --build build/asan -j $(JOBS)
	tools/run_tests build/asan $(JOBS)

test-tsan: packages ## all tests under the thread sanitizer
	cmake --preset tsan
	cmake --build build/tsan -j $(JOBS)
	tools/run_tests build/tsan $(JOBS)

test-fuzz: packages ## all fuzzers: the cases that are kept, then a fixed number of new ones
	cmake --preset fuzz
	cmake --build build/fuzz --target fuzzers -j $(JOBS)
	ctest --test-dir build/fuzz --output-on-failure -j $(JOBS)

fuzz: packages ## all fuzzers, for SECONDS_EACH [60] each; what fails is left in build/fuzz
	cmake --preset fuzz
	cmake --build build/fuzz --target fuzzers -j $(JOBS)
	cd build/fuzz && for program in tests/fuzz/*_fuzzer; do \
	  name=$$(basename $$program _fuzzer); \
	  ../../tools/fuzz $$program ../../tests/fuzz/$$name -max_total_time=$(SECONDS_EACH) || exit 1; \
	done

ci: test-asan test-tsan test-fuzz test ## all of the above: what .ci/run runs

check: packages ## layers of the source tree, paths in the documentation, formatting
	tools/check_layers
	tools/check_docs
	@clang-format --dry-run --Werror $(SOURCES)

format: packages ## format all sources
	@clang-format -i $(SOURCES)

tidy: all-packages ## clang-tidy over all sources, each compiled alone
	cmake --preset debug -B build/tidy -DPACELINE_TORCH=ON -DPACELINE_IMAGES=ON \
	  -DPACELINE_MPI=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
	cmake --build build/tidy --target paceline_net_proto paceline_exchange_proto
	@sed -i -E 's/$(GCC_ONLY)//g' build/tidy/compile_commands.json
	@printf '%s\n' $(filter src/%.cc apps/%.cc,$(SOURCES)) | \
	  xargs -P $(JOBS) -n 4 clang-tidy --quiet -p build/tidy

clean: ## delete everything that was built
	rm -rf build

packages:
	@tools/packages install build test

all-packages:
	@tools/packages install build test torch images mpi
