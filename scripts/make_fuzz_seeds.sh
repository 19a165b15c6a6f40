#!/usr/bin/env bash
# make_fuzz_seeds.sh [FOLDER...]: adds to the seeds of the fuzz targets (fuzz/corpus) what reaches new code: from the
# tables in the folders (default: the fixtures), and from what fuzzing has found in build/fuzz/corpus. No seed
# is removed. Needs a fuzz build: `make fuzz`, or scripts/build.sh fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/fuzz
if [ "$#" -eq 0 ]; then
  .venv/bin/python scripts/unpack_fixtures.py
  set -- build/fixtures
fi
rm -rf "$build/seeds"
"$build/bin/make_seeds" "$build/seeds" "$@"

export ARROW_DEFAULT_MEMORY_POOL=system
for target in "$build"/bin/*_fuzz; do
  name="$(basename "$target")"
  kept="fuzz/corpus/$name"
  pool="$build/seeds/$name"
  mkdir -p "$kept" "$pool"
  # Each code edge once. Inputs above 4 KiB make the tests slow and reach nothing that smaller ones do not.
  find "$build/corpus/$name" -type f -size -4097c -exec cp -t "$pool" {} + 2>/dev/null || true
  find "$pool" -type f -size +4096c -delete
  "$target" -merge=1 -set_cover_merge=1 -use_counters=0 "$kept" "$pool" >"$build/$name-merge.log" 2>&1
  echo "$name: $(find "$kept" -type f | wc -l) seeds, $(du -sk --apparent-size "$kept" | cut -f1) KiB"
done
