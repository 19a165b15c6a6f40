#!/usr/bin/env bash
# run_fuzz.sh [TARGET...]: runs fuzz targets of build/fuzz (all, if none is named) for FUZZ_SECONDS (60) each, with a
# corpus that grows in build/fuzz/corpus. A run stops at a crash, a wrong answer, a leak, 20 s in one input, an
# allocation above 256 MiB or 2 GiB in all; the input is left as build/fuzz/TARGET-....
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${FUZZ_SECONDS:-60}"

shopt -s nullglob
targets=("${@/#/build/fuzz/bin/}")
[ "$#" -gt 0 ] || targets=(build/fuzz/bin/*_fuzz)
[ "${#targets[@]}" -gt 0 ] || { echo "run_fuzz: expected build/fuzz/bin/*_fuzz, found none" >&2; exit 1; }
export ARROW_DEFAULT_MEMORY_POOL=system UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
for target in "${targets[@]}"; do
  name="$(basename "$target")"
  corpus="build/fuzz/corpus/$name"
  mkdir -p "$corpus"
  seeds=()
  if [ -d "fuzz/corpus/$name" ]; then seeds=("fuzz/corpus/$name"); fi
  echo "run_fuzz: $name, $seconds s"
  "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -malloc_limit_mb=256 -timeout=20 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$name-" "$corpus" "${seeds[@]}"
done
