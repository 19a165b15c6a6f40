#!/usr/bin/env bash
# Runs each fuzz target of build/fuzz for FUZZ_SECONDS (60), with a corpus that grows in build/fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${FUZZ_SECONDS:-60}"

shopt -s nullglob
targets=(build/fuzz/bin/*_fuzz)
[ "${#targets[@]}" -gt 0 ] || { echo "run_fuzz: expected build/fuzz/bin/*_fuzz, found none" >&2; exit 1; }
export ARROW_DEFAULT_MEMORY_POOL=system
for target in "${targets[@]}"; do
  name="$(basename "$target")"
  corpus="build/fuzz/corpus/$name"
  mkdir -p "$corpus"
  seeds=()
  if [ -d "fuzz/corpus/$name" ]; then seeds=("fuzz/corpus/$name"); fi
  echo "run_fuzz: $name, $seconds s"
  "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$name-" "$corpus" "${seeds[@]}"
done
