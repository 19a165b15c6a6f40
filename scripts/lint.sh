#!/usr/bin/env bash
# Rooms, format, and clang-tidy on the sources that changed since the merge-base with origin/main (without one, or
# standing on it: since the last commit). LINT_ALL=1: on all. LINT_MAX (48): at most so many files, spread evenly over
# the sorted list, so that one run stays under six minutes on two cores; what is left out is printed.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs="${JOBS:-$(nproc)}"
max="${LINT_MAX:-48}"
database=build/release

status=0
.venv/bin/python scripts/check_rooms.py || status=1

while read -r file; do
  if ! clang-format-19 --dry-run -Werror "$file" 2>/dev/null; then
    echo "$file: not as clang-format writes it; run \`make format\`"
    status=1
  fi
done < <(git ls-files '*.h' '*.cc')

# Sources (not tests) that differ from the base; a changed header stands for the source of its name.
changed_sources() {
  local base
  base="$(git merge-base HEAD origin/main 2>/dev/null || true)"
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base="$(git rev-parse --verify --quiet HEAD~1 || true)"
  fi
  if [ -n "${LINT_ALL:-}" ] || [ -z "$base" ]; then
    git ls-files '*.cc'
  else
    git diff --name-only --diff-filter=d "$base" -- '*.cc' '*.h' | sed 's/\.h$/.cc/'
  fi | sort -u
}

todo=()
while read -r file; do
  case "$file" in *_test.cc | *_bench.cc | *_fuzz.cc) continue ;; esac
  if [ -f "$file" ] && grep -qF "\"file\": \"$PWD/$file\"" "$database/compile_commands.json"; then
    todo+=("$file")
  fi
done < <(changed_sources)

count="${#todo[@]}"
chosen=()
for i in "${!todo[@]}"; do
  if [ "$count" -le "$max" ] || [ $((i * max / count)) -ne $(((i + 1) * max / count)) ]; then
    chosen+=("${todo[$i]}")
  else
    echo "lint: clang-tidy leaves out ${todo[$i]} (LINT_MAX=$max of $count)"
  fi
done

echo "lint: clang-tidy on ${#chosen[@]} files"
if [ "${#chosen[@]}" -gt 0 ]; then
  # As in cmake/Dependencies.cmake, clang is not asked about a deprecated call inside std::stable_sort.
  # clang-tidy says how many warnings it did not show on stderr; errors of the code go to stdout.
  printf '%s\0' "${chosen[@]}" | xargs -0 -n1 -P "$jobs" clang-tidy-19 -p "$database" --quiet \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations 2>/dev/null || status=1
fi
[ "$status" -eq 0 ] && echo "lint: clean"
exit "$status"
