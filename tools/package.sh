#!/usr/bin/env bash
# Makes packages of Tutti in build/packages (or the folder that TUTTI_PACKAGES names).
#
#   tools/package.sh archive      the archive of the committed source, tutti-VERSION.tar.gz
#   tools/package.sh spack        spack_repo/tutti: a repository for Spack 1 with a recipe for the archive
#   tools/package.sh easybuild    an easyconfig for the archive
#   tools/package.sh debian       Debian packages; further arguments go to dpkg-buildpackage
#   tools/package.sh container    a wheel, and the recipes for Apptainer and OCI images with it;
#                                 PYTHON names a Python 3.11, that of the images
#
# The version of all is that in CMakeLists.txt. TUTTI_ARCHIVE_URL is the address that recipes name for
# the archive; the default is its file here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
out=$(realpath -m "${TUTTI_PACKAGES:-build/packages}")
version=$(sed -n 's/^project(tutti VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=tutti-$version
mkdir -p "$out"

archive() {
  git archive --format=tar --prefix="$name/" HEAD | gzip -n >"$out/$name.tar.gz"
}

# Fills in a template of packaging/.
fill() {
  local sum url
  sum=$(sha256sum "$out/$name.tar.gz" | cut -d ' ' -f 1)
  # What sed would not take literally is escaped.
  url=$(sed 's/[&|\\]/\\&/g' <<<"${TUTTI_ARCHIVE_URL:-file://$out/$name.tar.gz}")
  sed -e "s|@VERSION@|$version|g" -e "s|@SHA256@|$sum|g" -e "s|@ARCHIVE_URL@|$url|g" "packaging/$1"
}

# A wheel for the images' Python, that of Debian 12, which installs none of another version.
wheel() {
  local python=${PYTHON:-python3} found
  found=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  if [[ $found != 3.11 ]]; then
    echo "package.sh: PYTHON=$python is Python $found; expected 3.11, that of the images" >&2
    exit 2
  fi
  rm -f "$out"/tutti-*.whl
  "$python" -m pip wheel --no-deps --wheel-dir "$out" "$@" "$root"
}

case "${1:-}" in
  archive) archive ;;
  spack)
    archive
    mkdir -p "$out/spack_repo/tutti/packages/tutti"
    printf 'repo:\n  namespace: tutti\n  api: v2.0\n' >"$out/spack_repo/tutti/repo.yaml"
    fill spack/package.py.in >"$out/spack_repo/tutti/packages/tutti/package.py"
    ;;
  easybuild)
    archive
    fill easybuild/tutti.eb.in >"$out/$name-gompi-2023b.eb"
    ;;
  debian)
    archive
    rm -rf "${out:?}/$name"
    tar -xzf "$out/$name.tar.gz" -C "$out"
    cp -r packaging/debian "$out/$name/debian"
    rm "$out/$name/debian/changelog.in"
    fill debian/changelog.in >"$out/$name/debian/changelog"
    cd "$out/$name"
    dpkg-buildpackage --no-sign --build=binary "${@:2}"
    ;;
  container)
    wheel "${@:2}"
    cp packaging/container/* "$out"
    ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
