#!/usr/bin/env bash
# build.sh PRESET [JOBS]: configures build/PRESET where that is due, and builds all of it.
set -euo pipefail
cd "$(dirname "$0")/.."
preset="$1"
jobs="${2:-$(nproc)}"
out="build/$preset"

mkdir -p "$out"
if [ ! -f "$out/build.ninja" ] || [ CMakePresets.json -nt "$out/build.ninja" ] || [ .deps/setup.stamp -nt "$out/build.ninja" ]; then
  cmake --preset "$preset" >"$out/configure.log" 2>&1 || { cat "$out/configure.log" >&2; exit 1; }
  touch "$out/build.ninja"
fi
# Progress is for a terminal; a log gets warnings and errors alone.
quiet=()
[ -t 1 ] || quiet=(-- --quiet)
cmake --build "$out" --parallel "$jobs" "${quiet[@]}"
