# The everyday commands. Configuration and compilation are CMake's: see CMakePresets.json.
SHELL := bash
.DELETE_ON_ERROR:

# Seconds that each fuzz target runs.
FUZZ_SECONDS ?= 60

sources = $(shell git ls-files '*.cc' '*.h')

.PHONY: demo test test-clang test-asan test-tsan fuzz fuzz-long bench format format-check tidy clean

define build
	cmake --preset $(1) --log-level=WARNING
	cmake --build --preset $(1)
endef

demo:  ## Trains a network on handwritten digits
	./setup --build --data
	$(call build,dev)
	build/dev/examples/digits/digits

test:  ## Sets up, builds and runs all tests
	./setup
	$(call build,dev)
	ctest --preset dev

test-clang test-asan test-tsan: test-%:
	./setup
	$(call build,$*)
	ctest --preset $*

fuzz:  ## Runs each fuzz target for FUZZ_SECONDS
	./setup --build
	$(call build,fuzz)
	tools/fuzz build/fuzz $(FUZZ_SECONDS)

fuzz-long:
	$(MAKE) fuzz FUZZ_SECONDS=3600

bench:  ## Builds and runs the benchmarks
	./setup --build
	$(call build,release)
	cmake --build --preset release --target tlaloc_bench
	for program in build/release/benchmarks/*; do "$$program" || exit; done

format:
	clang-format-19 -i $(sources)

format-check:
	clang-format-19 --dry-run --Werror $(sources)

tidy:
	$(call build,clang)
	run-clang-tidy-19 -quiet -p build/clang "$(CURDIR)/(tlaloc|tools|examples|bench)/"

clean:
	rm -rf build
