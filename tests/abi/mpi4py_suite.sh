#!/usr/bin/env bash
# Runs mpi4py's own collective tests under the preloaded library, with algorithms forced, and natively
# beside it: their outcomes must be equal.
#
#   tests/abi/mpi4py_suite.sh mpich|openmpi NP [part=I/N] [ALGORITHM...]
#
# Without names every algorithm of `tutti list` is forced for every collective that has it, in as many
# runs as the collective with the most algorithms has: run i takes the i-th of each collective. Of
# these runs part=0/2 takes every second one, and part=1/2 the others; names come after these. A named
# algorithm has its own run, for all collectives that have it.
# nodes=NODES, as in nodes=1,3 or nodes=1,3:round_robin, runs all collectives hierarchically on nodes
# that TUTTI_NODE=NODES emulates, with the MPI's own between nodes. nodes=NODES+leaders=2 uses 2
# leaders; nodes=NODES+ALGORITHM, as in nodes=1,3+ring:leaders=2, uses an algorithm between nodes if
# the list has it; nodes=NODES+all uses every one, in as many runs as above. TUTTI_LIBRARY_DIR is the
# folder of libtutti.so (build/all/lib), TUTTI_ABI_CACHE that of builds for the tests (build/abi);
# tests/abi/test_interpreter.py puts mpi4py there. With ALL_TESTS also the tests of nonblocking, persistent and
# neighbourhood collectives run, which Tutti hands on. Prints one line per run; the last is "N passed, N failed".
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mpi=${1:?mpich or openmpi} np=${2:?the number of ranks}
shift 2
part=
if (($# == 0)); then part=0/1; fi
if [[ ${1:-} == part=* ]]; then
  part=${1#part=}
  shift
fi
runs=()
command=${TUTTI_COMMAND:-$root/.venv/bin/tutti}

# Lines "name collective" of all algorithms.
listed() {
  "$command" list --json | python3 -c '
import json, sys
for line in json.load(sys.stdin)["algorithms"]:
    print(line["name"], line["collective"])'
}
list=$(listed)
collectives=$(awk '$2 !~ /^rma_/ && !seen[$2]++ { print $2 }' <<<"$list")  # of the MPI
# Lines of assignments, each of which requests one algorithm for every collective of the MPI.
together() {
  awk '$2 !~ /^rma_/ { of[$2, n[$2]++] = $1; if (n[$2] > most) most = n[$2] }
    END { for (i = 0; i < most; i++) {
      line = ""
      for (name in n) line = line " TUTTI_" toupper(name) "=" of[name, i % n[name]]
      print substr(line, 2) } }' <<<"$list"
}
[[ -z $part ]] ||
  mapfile -t runs < <(together | awk -v i="${part%/*}" -v n="${part#*/}" '(NR - 1) % n == i')
for run; do
  if [[ $run == nodes=*+all ]]; then
    mapfile -t -O ${#runs[@]} runs < <(together | sed "s|[^ ]*|&:level=node|g; s|^|${run%all}|")
  else
    runs+=("$run")
  fi
done
library=${TUTTI_LIBRARY_DIR:-$root/build/all/lib}/libtutti.so
cache=${TUTTI_ABI_CACHE:-$root/build/abi}
python=$cache/mpi4py-$mpi/bin/python
limit=${TUTTI_SUITE_SECONDS:-900}
tests='test_cco_(buf|vec|obj)'
[[ -z ${ALL_TESTS:-} ]] || tests=test_cco
[[ -e $library ]] || { echo "$library is not built; set TUTTI_LIBRARY_DIR" >&2; exit 2; }
[[ -x $python ]] || "$root/.venv/bin/python" -m pytest -q "$root/tests/abi/test_interpreter.py" -k "$mpi" >&2
# These variables belong to this script; the library would report them as unknown settings.
export -n TUTTI_LIBRARY_DIR TUTTI_ABI_CACHE TUTTI_SUITE_SECONDS TUTTI_COMMAND

version=$("$python" -c 'import mpi4py; print(mpi4py.__version__)')
source=$cache/mpi4py-$version
if [[ ! -d $source ]]; then
  "$python" -m pip download -q --no-deps --no-build-isolation --no-binary mpi4py \
    -d "$cache" "mpi4py==$version" 2>/dev/null ||
    "$python" -m pip download -q --no-deps --no-binary mpi4py -d "$cache" "mpi4py==$version"
  unpacked=$(mktemp -d -p "$cache")  # whole or absent, also after an interrupt
  tar xf "$cache/mpi4py-$version.tar.gz" -C "$unpacked"
  mv "$unpacked/mpi4py-$version" "$cache"
  rmdir "$unpacked"
fi

launch=("mpirun.$mpi" -n "$np")
[[ $mpi == openmpi ]] && launch+=(--oversubscribe)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

outputs=$(mktemp -d)
report=$outputs.json
trap 'rm -rf "$outputs" "$report"' EXIT

# The outcome of the suite without its times: the ranks' "Ran N tests" and "OK". Each rank writes its
# own file, because lines of several ranks would mix.
suite() {
  rm -f "$outputs"/* "$report"
  # shellcheck disable=SC2016
  (cd "$source" && timeout --kill-after=10 "$limit" "${launch[@]}" env OUTPUTS="$outputs" "$@" \
    sh -c '"$@" >"$OUTPUTS/${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" 2>&1' suite \
    "$python" test/main.py -i "$tests" >/dev/null 2>&1 </dev/null || true)
  cat "$outputs"/* 2>/dev/null |
    grep -oE '^Ran [0-9]+ tests|^OK.*|^FAILED.*|^(FAIL|ERROR): .*' | sort | uniq -c | tr -s ' \n' ' '
}

# The assignments of a run. They request an algorithm if the list has it, aliases for all collectives.
forcing() {
  local collective nodes between
  if [[ $1 == TUTTI_* ]]; then
    tr ' ' '\n' <<<"$1"
    return
  fi
  if [[ $1 == nodes=* ]]; then
    nodes=${1#nodes=}
    echo "TUTTI_NODE=${nodes%%+*}"
    case ${nodes#"${nodes%%+*}"} in
      "") echo TUTTI_HIERARCHY=hierarchical ;;
      +leaders=*) echo "TUTTI_HIERARCHY=hierarchical(${nodes#*+})" ;;
      +TUTTI_*) forcing "${nodes#*+}" ;;
      *)
        between=:level=node
        [[ ${nodes#*+} == *:* ]] && between=,level=node
        forcing "${nodes#*+}" | grep -v SCAN | sed "s/\$/$between/"
        ;;
    esac
    return
  fi
  for collective in $collectives; do
    if ! grep -q "^${1%%:*} " <<<"$list" || grep -q "^${1%%:*} $collective\$" <<<"$list"; then
      echo "TUTTI_${collective^^}=$1"
    fi
  done
}

# The assignments whose algorithm no call of the report ran.
missing() {
  python3 - "$report" "$@" <<'END'
import json, sys
ran = {}
for call in json.load(open(sys.argv[1]))["calls"]:
    ran.setdefault(call["collective"], set()).add(call["algorithm"].partition(":")[0])
for word in sys.argv[2:]:
    name, _, wanted = word.partition("=")
    if wanted.partition(":")[0] not in ran.get(name.removeprefix("TUTTI_").lower(), ()):
        print(end=f" without {word}")
END
}

native=$(suite TUTTI=off) || true
[[ $native == *OK* ]] || { echo "np $np native: not over after $limit s, or failed:$native" >&2; exit 2; }
echo "np $np native:$native"
passed=0 failed=0
for run in "${runs[@]}"; do
  mapfile -t assignments < <(forcing "$run")
  forced=$(suite LD_PRELOAD="$library" TUTTI_REPORT="$report" "${assignments[@]}") || true
  if [[ $run == nodes=* ]]; then
    grep -q 'hierarchical(' "$report" || forced+=" without node memory"
  elif [[ $run == TUTTI_* ]]; then
    forced+=$(missing "${assignments[@]}" || echo " without a report")
  fi
  if [[ $forced == "$native" && $forced == *OK* ]]; then
    passed=$((passed + 1))
    echo "np $np $run: equal"
  else
    failed=$((failed + 1))
    echo "np $np $run: differs:$forced"
  fi
done
echo "$passed passed, $failed failed"
((failed == 0))
