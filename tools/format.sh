#!/usr/bin/env bash
# Formats the C and C++ sources by .clang-format; with --check only lists those that need it.
#
#   tools/format.sh [--check]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(-i)
case "${1:-}" in
  --check) mode=(--dry-run --Werror) ;;
  "") ;;
  *)
    echo "usage: tools/format.sh [--check]" >&2
    exit 2
    ;;
esac

if ! command -v clang-format >/dev/null; then
  echo "clang-format is missing (Debian: apt-get install clang-format)" >&2
  exit 2
fi

git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp' '*.hpp' |
  while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then printf '%s\0' "$file"; fi
  done |
  xargs -0 --no-run-if-empty clang-format "${mode[@]}"
