#!/bin/sh
# Installs Tutti into a container of Debian: what Containerfile and tutti.def both run.
#
#   install.sh WHEEL        the wheel of `pip wheel .`; it needs no compiler
#
# The container brings no MPI: programs use theirs, or that of the host.
set -eu
if [ $# -ne 1 ]; then
  echo "install.sh: $# wheels ($*); expected one" >&2
  exit 2
fi
apt-get -q update
apt-get -q install -y --no-install-recommends python3 python3-venv
python3 -m venv /opt/tutti
/opt/tutti/bin/pip install --no-cache-dir "$1"
ln -s /opt/tutti/bin/tutti /opt/tutti/bin/tutti-bench /usr/local/bin
# A path that does not change with the version of Python, for LD_PRELOAD.
ln -s "$(/opt/tutti/bin/python -c 'from tutti import libraries; print(libraries.folder())')" \
  /opt/tutti/libraries
rm -rf /var/lib/apt/lists/*
tutti --version
