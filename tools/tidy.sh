#!/usr/bin/env bash
# Runs clang-tidy on the layers that need no MPI, or on the given files.
#
#   tools/tidy.sh [FILE...]     all take 20 minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tidy=$(command -v clang-tidy-16 || command -v clang-tidy) || {
  echo "clang-tidy is missing (Debian: apt-get install clang-tidy-16)" >&2
  exit 2
}
build=build/tidy
cmake -S . -B "$build" -G Ninja -DTUTTI_MPI=none -DTUTTI_UNITY=OFF \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null

if (($# == 0)); then
  mapfile -t files < <(sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/compile_commands.json")
  set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 4 -P "$(nproc)" "$tidy" --quiet -p "$build"
