# Functions of ./demo and ./test, to be sourced by bash in the root of the source tree.
#
# They install the packages that a build needs, or print what to install; make .venv; build; and
# install the command `tutti`, `tutti-bench` and the libraries.
#
# shellcheck shell=bash

set -u -o pipefail

readonly root=$PWD
readonly venv=$root/.venv
readonly logs=$root/build/logs
mkdir -p "$logs"

# Open MPI needs permission to start as root, and to start more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_btl_vader_single_copy_mechanism=none
# With ccache all build trees share objects, including that of the package that pip builds: Python may
# set LC_CTYPE for what it starts, so objects serve every locale. What is not there is compiled without
# being preprocessed first.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:+$CCACHE_SLOPPINESS,}locale
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1 DEBIAN_FRONTEND=noninteractive

say() { printf '%s\n' "$*"; }
fail() {
  printf '\n%s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# The number of processors that this process may use.
cores() { nproc 2>/dev/null || echo 2; }

# has_ended TENTHS: waits so many tenths of a second at most for the end of $child.
has_ended() {
  local tries=$1
  while kill -0 "$child" && ((tries-- > 0)); do sleep 0.1; done
  ! kill -0 "$child"
}

# stop NUMBER: after that signal, ends what runs as Ctrl-C does, then what is left of its process
# group. SIGINT goes to the group of $child, or to $child alone where that passes it on.
stop() {
  local tries=20
  trap '' HUP INT QUIT TERM
  [[ -z ${passes_on:-} ]] || tries=100
  child=${child:-$(jobs -pr | tail -n 1)}  # the signal may have come before begin() has noted it
  if [[ -n ${child:-} ]]; then
    if [[ -n ${passes_on:-} ]]; then kill -INT "$child"; else kill -INT -- "-$child"; fi
    # A command that is just starting may miss it.
    has_ended "$tries"
    kill -- "-$child"
    has_ended 100 || kill -KILL -- "-$child"
  fi 2>/dev/null
  exit $((128 + $1))
}
trap 'stop 1' HUP
trap 'stop 2' INT
trap 'stop 3' QUIT
trap 'stop 15' TERM

# begin LOG COMMAND...: starts a command as $child, with a process group of its own.
begin() {
  local log=$1
  shift
  # A job without job control would ignore SIGINT.
  set -m
  "$@" >"$log" 2>&1 </dev/null &
  child=$!
  set +m
}

# Runs a step: prints its name and time and, if it fails, the end of its log.
step() {
  local name=$1 start=$SECONDS log child
  shift
  log=$logs/${name//[^a-zA-Z0-9]/-}.log
  printf '%-44s' "$name"
  begin "$log" "$@"
  if wait "$child"; then
    printf 'ok %5ds\n' $((SECONDS - start))
  else
    printf 'FAILED\n'
    tail -n 40 "$log" >&2
    fail "\"$name\" failed; the whole log is $log"
  fi
}

has_header() { echo "#include <$1>" | c++ -E -x c++ - >/dev/null 2>&1; }

# Whether the system's packages include this one; a new system has no list of them yet.
is_listed() { [[ -n $(apt-cache search --names-only "^$1\$" 2>/dev/null) ]]; }
has_package() {
  have apt-cache || return
  is_listed "$1" || { may_install && as_root apt-get -q update >/dev/null 2>&1 && is_listed "$1"; }
}

# Missing Debian packages, one per line. The search is for their files instead of their names, so
# tools from other sources count. The argument "test" adds packages that only tests use; "fast" asks
# for what the tests without MPI need.
missing_packages() {
  local python=${PYTHON:-python3}
  have g++ || echo g++
  have make || echo make
  have cmake || echo cmake
  have ninja || echo ninja-build
  "$python" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  "$python" -c 'import os, sysconfig as s; os.stat(s.get_path("include") + "/Python.h")' \
    2>/dev/null || echo python3-dev
  if [[ ${1:-} == fast ]]; then
    has_header gtest/gtest.h || echo libgtest-dev
    have clang-format || echo clang-format
    have ccache || echo ccache
    return 0
  fi
  if ! have mpicc.mpich && ! have mpicc.openmpi && ! have mpicc; then
    printf '%s\n' openmpi-bin libopenmpi-dev
  elif [[ ${1:-} == test ]]; then
    have mpicc.openmpi || printf '%s\n' openmpi-bin libopenmpi-dev
  fi
  # For emulated nodes, which need root.
  ((EUID != 0)) || PATH=$PATH:/usr/sbin:/sbin have tc || echo iproute2
  [[ ${1:-} == test ]] || return 0
  have mpicc.mpich || printf '%s\n' mpich libmpich-dev
  has_header fmt/format.h || echo libfmt-dev
  have gfortran || echo gfortran
  have ccache || echo ccache
  have clang-format || echo clang-format
  # The oldest that Tutti supports; without it, its build is left out.
  have clang++-16 || ! has_package clang-16 || echo clang-16
  have nm || echo binutils
  have pkg-config || echo pkg-config
  has_header gtest/gtest.h || echo libgtest-dev
  has_header fftw3.h || echo libfftw3-dev
  # Not every system has a package of it; without it, the tests in simulated time are left out.
  have smpirun || ! has_package libsimgrid-dev || echo libsimgrid-dev
  have strace || echo strace
  [[ -e /usr/share/lmod/lmod/libexec/lmod ]] || echo lmod
  [[ -n ${ALL_TESTS:-} ]] || return 0
  have dh || echo debhelper
  have mmdebstrap || echo mmdebstrap
  have chromium || have chromium-browser || have google-chrome || echo chromium
}

# Runs apt-get as root, through sudo if that needs no password.
as_root() {
  if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi
}
may_install() {
  have apt-get && { ((EUID == 0)) || sudo -n true 2>/dev/null; }
}

install_packages() {
  # SIGINT does not reach what sudo runs; nothing more starts after it.
  trap 'exit 130' INT
  as_root apt-get -q update &&
    as_root apt-get -q install -y --no-install-recommends "$@"
}

# Installs the missing packages, or prints them.
prepare_packages() {
  local packages
  mapfile -t packages < <(missing_packages "${1:-}")
  ((${#packages[@]})) || return 0
  if ! may_install; then
    say "These Debian packages are missing, and this user may not install them:"
    fail "    sudo apt-get install ${packages[*]}

On other systems: a C++20 compiler, CMake 3.22, Ninja, Python 3.10 with venv, and an MPI."
  fi
  say "missing: ${packages[*]}"
  step "install Debian packages" install_packages "${packages[@]}"
  hash -r
}

# Installs the Python packages of the command; the argument "test" adds those of the tests. A copy of
# each list in .venv says that its packages are there, so that a second run needs no network.
python_packages() {
  "$venv/bin/python" -m pip install --quiet -r "$1"
}
prepare_python() {
  local list lists=("$root/tools/requirements-command.txt")
  [[ ${1:-} == test ]] && lists+=("$root/tools/requirements.txt")
  [[ -x $venv/bin/python ]] || step "make .venv" "${PYTHON:-python3}" -m venv "$venv"
  for list in "${lists[@]}"; do
    cmp -s "$list" "$venv/${list##*/}" && continue
    step "install Python packages" python_packages "$list"
    cp "$list" "$venv"
  done
}

configure() {
  # Line tables as the only debug information: sooner built.
  cmake --preset "$1" -DPython_EXECUTABLE="$venv/bin/python" \
    -DPython3_EXECUTABLE="$venv/bin/python" \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1 -DNDEBUG" -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" "${@:2}"
}

# Builds everything for every installed MPI, and installs it into .venv.
build_all() {
  step "configure" configure all "$@"
  step "build" cmake --build build/all --parallel "$(cores)"
  step "install into .venv" cmake --install build/all --prefix "$venv"
}
