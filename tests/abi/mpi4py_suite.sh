#!/usr/bin/env bash
# Runs mpi4py's own collective tests under the preloaded library, each algorithm forced in turn,
# and natively beside it: their outcomes must be equal.
#
#   tests/abi/mpi4py_suite.sh mpich|openmpi NP [ALGORITHM...]     all algorithms unless some are named
#
# TUTTI_LIBRARY_DIR is the folder of libtutti.so (build/all/lib), TUTTI_ABI_CACHE that of what is
# built for the tests (build/abi); pytest tests/abi builds mpi4py there. One line an algorithm;
# ends with "N passed, N failed".
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mpi=${1:?mpich or openmpi} np=${2:?the number of ranks}
shift 2
algorithms=("$@")
((${#algorithms[@]})) ||
  algorithms=(linear linear_sequence linear_sync binomial knomial:k=3 ordered_tree TUW)
library=${TUTTI_LIBRARY_DIR:-$root/build/all/lib}/libtutti.so
cache=${TUTTI_ABI_CACHE:-$root/build/abi}
python=$cache/mpi4py-$mpi/bin/python
limit=${TUTTI_SUITE_SECONDS:-900}
[[ -e $library ]] || { echo "$library is not built; set TUTTI_LIBRARY_DIR" >&2; exit 2; }
[[ -x $python ]] || { echo "$python is missing; pytest tests/abi builds it" >&2; exit 2; }

version=$("$python" -c 'import mpi4py; print(mpi4py.__version__)')
source=$cache/mpi4py-$version
if [[ ! -d $source ]]; then
  "$python" -m pip download -q --no-deps --no-build-isolation --no-binary mpi4py \
    -d "$cache" "mpi4py==$version" 2>/dev/null ||
    "$python" -m pip download -q --no-deps --no-binary mpi4py -d "$cache" "mpi4py==$version"
  tar xf "$cache/mpi4py-$version.tar.gz" -C "$cache"
fi

launch=("mpirun.$mpi" -n "$np")
[[ $mpi == openmpi ]] && launch+=(--oversubscribe)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# How the suite ended, without its times: the ranks' "Ran N tests" and "OK".
suite() {
  (cd "$source" && timeout --kill-after=10 "$limit" "${launch[@]}" env "$@" \
    "$python" test/main.py -i test_cco 2>&1 </dev/null || true) |
    sed -n 's/^\(Ran [0-9]* tests\).*/\1/p; /^OK/p; /^FAILED/p' | sort | uniq -c | tr -s ' \n' ' '
}

native=$(suite TUTTI=off)
echo "np $np native:$native"
passed=0 failed=0
for algorithm in "${algorithms[@]}"; do
  forced=$(suite LD_PRELOAD="$library" TUTTI_GATHER="$algorithm" TUTTI_GATHERV="$algorithm" \
    TUTTI_SCATTER="$algorithm" TUTTI_SCATTERV="$algorithm")
  if [[ $forced == "$native" && $forced == *OK* ]]; then
    passed=$((passed + 1))
    echo "np $np $algorithm: equal"
  else
    failed=$((failed + 1))
    echo "np $np $algorithm: differs:$forced"
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
