#!/usr/bin/env bash
# Installs what building and testing need: Debian packages by apt (as root or through sudo), everything else
# into the project folder (.venv: Python packages, .deps: CRoaring). Safe to run again at any time; says
# nothing when there is nothing to do. `scripts/setup.sh fuzz` also installs clang.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build ccache git xz-utils python3-venv
  libprotozero-dev libpg-query-dev libcli11-dev libfmt-dev nlohmann-json3-dev libssl-dev
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev clang-tidy-19 clang-format-19)
if [ "${1:-}" = fuzz ]; then
  packages+=(clang-19 libclang-rt-19-dev)
fi
croaring_version=1.2.0  # of PyPI's pyroaring, which carries CRoaring 5 as one source file
croaring_sha256=e33bf8fc8d8aad7373f62147cb5dbfaf0fdcf19af8069d034cd8ef4fb41a78af

say() { echo "setup: $*"; }
die() { echo "setup: $*" >&2; exit 1; }

# The stamp names the inputs of a finished setup; a changed pin or package list makes it stale.
stamp=".deps/setup${1:+-$1}.stamp"
inputs="$(cat scripts/setup.sh requirements-dev.txt | sha256sum)"
if [ "$(cat "$stamp" 2>/dev/null)" = "$inputs" ] && [ -f .deps/croaring/roaring.c ] && [ -x .venv/bin/python ]; then
  exit 0
fi

# Packages that dpkg does not know as installed.
missing_packages() {
  local name
  for name in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || echo "$name"
  done
}

install_packages() {
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "needs these Debian packages, and there is no apt-get: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "needs root or sudo to install: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq ||
    say "apt-get update failed; trying with the package lists at hand"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Use-Pty=0 "${missing[@]}" >.deps/apt.log 2>&1 || { cat .deps/apt.log >&2; die "apt-get failed"; }
}

# The first Python of at least 3.11; the project's own .venv is made from it.
find_python() {
  local candidate
  for candidate in python3 python3.11 python3.12 python3.13 /usr/bin/python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}

has_headers() {
  "$1" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'
}

make_venv() {
  local python
  if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    install_packages python3
    python="$(find_python)" || die "needs Python 3.11 or newer; found $(python3 --version 2>&1)"
    say "making .venv from $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv
  fi
  if ! has_headers .venv/bin/python; then
    install_packages python3-dev
    has_headers .venv/bin/python || die "expected Python.h of $(.venv/bin/python --version) (its -dev package)"
  fi
  say "installing Python packages into .venv"
  .venv/bin/python -m pip install --disable-pip-version-check --quiet -r requirements-dev.txt
}

unpack_croaring() {
  # Beside the folder, not in it: that is an include path, and C++ has a header named `version`.
  local have=.deps/croaring.version
  if [ -f .deps/croaring/roaring.c ] && [ "$(cat "$have" 2>/dev/null)" = "$croaring_version" ]; then
    return 0
  fi
  say "unpacking CRoaring"
  local work=.deps/croaring.part archive="pyroaring-$croaring_version.tar.gz"
  rm -rf "$work" && mkdir -p "$work"
  .venv/bin/python -m pip download --disable-pip-version-check --quiet --no-deps --no-binary pyroaring \
    --dest "$work" "pyroaring==$croaring_version"
  echo "$croaring_sha256  $work/$archive" | sha256sum --check --quiet || die "$archive is not the pinned one"
  tar -xzf "$work/$archive" -C "$work" --strip-components=2 --wildcards '*/roaring.c' '*/roaring.h'
  rm "$work/$archive"
  rm -rf .deps/croaring && mv "$work" .deps/croaring
  echo "$croaring_version" >"$have"
}

# The package that a release build leaves in build/release/python is importable in .venv.
link_package() {
  local site
  site="$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
  echo "$PWD/build/release/python" >"$site/pennon.pth"
}

mkdir -p .deps
install_packages "${packages[@]}"
make_venv
unpack_croaring
link_package
echo "$inputs" >"$stamp"
say "done"
