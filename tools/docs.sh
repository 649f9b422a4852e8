#!/usr/bin/env bash
# Builds the documentation site into build/site, with tools that it installs into build/docs-venv.
#
#   tools/docs.sh           builds; a broken link fails
#   tools/docs.sh serve     shows the site on this machine, and builds it again after changes
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
set -eu -o pipefail
[[ ${1:-serve} == serve ]] || { echo "usage: tools/docs.sh [serve]" >&2; exit 2; }

venv=build/docs-venv
mkdir -p build
[[ -x $venv/bin/mkdocs ]] || {
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/pip" --disable-pip-version-check install --quiet -r tools/requirements-docs.txt
}
python=${PYTHON:-python3}
# The manual pages are those of the Tutti in .venv.
rm -rf build/man
if [[ -x .venv/bin/tutti ]]; then .venv/bin/python tools/gen_man.py build/man; fi
"$python" tools/docs_site.py build/site-pages build/man
# The theme's remark about other projects is none of a build's.
export NO_MKDOCS_2_WARNING=1
if [[ ${1:-} == serve ]]; then
  exec "$venv/bin/mkdocs" serve
fi
"$venv/bin/mkdocs" build --strict --quiet
echo "build/site/index.html"
