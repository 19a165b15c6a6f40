#!/usr/bin/env bash
# run_sanitized.sh PRESET [JOBS]: the unit tests of a sanitizer build, then, where that build has the Python
# module, the tests on corrupt inputs.
set -euo pipefail
cd "$(dirname "$0")/.."
preset="$1"
jobs="${2:-$(nproc)}"

export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# Arrow's other pools hide overruns of a buffer from AddressSanitizer.
export ARROW_DEFAULT_MEMORY_POOL=system
# The random histories are the slowest test by far; a tenth of them finds what a sanitizer can find.
export PENNON_HISTORIES=250
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$jobs" -LE slow

if [ -d tests/corrupt ]; then
  # The interpreter is not instrumented: the sanitizer comes first into the process, and with it libstdc++,
  # whose exceptions it wants to see. Leaks are the interpreter's own.
  LD_PRELOAD="$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libstdc++.so.6)" \
  ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc PYTHONPATH="build/$preset/python" PENNON_BUILD="build/$preset" \
    .venv/bin/python -m pytest tests/corrupt
fi
