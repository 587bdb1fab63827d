# The everyday commands. Configuration and compilation are CMake's: see CMakePresets.json.
SHELL := bash
.DELETE_ON_ERROR:

# Seconds that each fuzz target runs.
FUZZ_SECONDS ?= 60
# Random programs that random-long checks.
RANDOM_PROGRAMS ?= 100000

sources = $(shell git ls-files '*.cc' '*.h')

.PHONY: demo test test-clang test-asan test-tsan fuzz fuzz-long random-long faults bench format format-check tidy clean

define build
	cmake --preset $(1) --log-level=WARNING
	cmake --build --preset $(1)
endef

demo:  ## Trains a network on handwritten digits, and asks a language model
	./setup --build --data
	cmake --preset dev --log-level=WARNING
	cmake --build --preset dev --target digits tlaloc_command
	build/dev/examples/digits/digits
	build/dev/bin/tlaloc generate --model data/SmolLM2-135M-Instruct.Q4_1.gguf --timings \
	  --prompt "What is the capital of France?"

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

fuzz-long: random-long
	$(MAKE) fuzz FUZZ_SECONDS=3600

random-long:  ## Checks many random programs' derivatives; a run that was stopped goes on
	./setup --build
	cmake --preset release --log-level=WARNING
	cmake --build --preset release --target transform_random
	build/release/tests/transform/transform_random 0 $(RANDOM_PROGRAMS) 2 build/release/random

faults:  ## Plants faults in the rules of differentiation and shows that the tests find them
	./setup --build
	tests/transform/faults.py build/faults

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
