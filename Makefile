# The front of the project: each target first does what it depends on. `make help` lists them.
SHELL := bash
JOBS ?= $(shell nproc)
PYTHON := .venv/bin/python
# More for pytest, such as PYTEST_ARGS="-k overlay -x".
PYTEST_ARGS ?=

.DEFAULT_GOAL := build
.PHONY: help setup build demo test bench lint asan tsan fuzz format clean

help:  ## List the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 10

setup:  ## Install all that is needed: apt packages, .venv, .deps
	@scripts/setup.sh

build: setup  ## Release build: build/release/bin/pennon, `import pennon` in .venv
	@scripts/build.sh release $(JOBS)

demo: build  ## The specification's worked example, then a column filled by one overlay
	@$(PYTHON) examples/demo.py

test: build  ## Unit tests, then the Python tests
	@ctest --test-dir build/release --output-on-failure --no-tests=error -j $(JOBS)
	@$(PYTHON) -m pytest tests $(PYTEST_ARGS)

bench: build  ## The benchmarks of docs/performance.md
	@$(PYTHON) benchmarks/run.py

lint: build  ## Rooms, format, clang-tidy on changed files (LINT_ALL=1: on all)
	@scripts/lint.sh

asan: setup  ## Unit tests and corrupt inputs under AddressSanitizer and UBSan
	@scripts/build.sh asan $(JOBS)
	@scripts/run_sanitized.sh asan $(JOBS)

tsan: setup  ## Unit tests labelled tsan under ThreadSanitizer
	@scripts/build.sh tsan $(JOBS)
	@ctest --test-dir build/tsan --output-on-failure --no-tests=error -j $(JOBS) -L tsan

fuzz: setup  ## Fuzz targets, a minute each
	@scripts/setup.sh fuzz
	@scripts/build.sh fuzz $(JOBS)
	@scripts/run_fuzz.sh

format: setup  ## Format all C++ files in place
	@git ls-files '*.h' '*.cc' | xargs -r clang-format-19 -i

clean:  ## Remove what was built (not what was set up)
	@rm -rf build
