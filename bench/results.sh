#!/bin/sh
# Regenerates docs/results/tutti-bench*: gatherv and scatterv on the six distributions at 8 ranks,
# the guidelines, and the cost of calls through Tutti, on each MPI that tutti-bench is built for.
#
#     bench/results.sh BUILD_FOLDER [RANKS]
#
# This takes about 6 minutes on 2 cores of an idle machine. RESULTS_NOTE is a remark for the page
# about other load, RESULTS_RUN a command that runs each job.
set -eu

source=$(dirname "$(dirname "$(readlink -f "$0")")")
bench=$(readlink -f "${1:-.}/bin" || true)/tutti-bench
if [ ! -x "$bench-mpich" ] && [ ! -x "$bench-openmpi" ]; then
  echo "results.sh: no bin/tutti-bench-mpich or tutti-bench-openmpi in ${1:-.};" \
    "expected the folder of the build, such as build/all" >&2
  exit 2
fi
python=$source/.venv/bin/python
[ -x "$python" ] || python=python3
(cd "$source/bench" && "$python" -c "import results") # before the measurements: are its packages there?
ranks=${2:-8}
results=$source/docs/results
mkdir -p "$results"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export TUTTI_MACHINE=built-in TUTTI_RULES=none TUTTI_LEARN=run

for mpi in mpich openmpi; do
  [ -x "$bench-$mpi" ] || continue
  mpirun=mpirun.$mpi
  command -v "$mpirun" >/dev/null || mpirun=mpirun
  for collective in gatherv scatterv; do
    ${RESULTS_RUN:-} "$mpirun" -n "$ranks" "$bench-$mpi" $collective --block 1,10,100,1000,10000 \
      --algorithm native --algorithm auto --algorithm traff --algorithm TUW \
      --algorithm binomial --root half --repetitions 75 --warmup 10 --quiet \
      --json "$results/tutti-bench-$collective-$mpi.json"
  done
  ${RESULTS_RUN:-} "$mpirun" -n "$ranks" "$bench-$mpi" guidelines --block 100,10000 --repetitions 30 \
    --warmup 3 --quiet \
    --json "$results/tutti-bench-guidelines-$mpi.json"
  ${RESULTS_RUN:-} "$mpirun" -n 2 env LD_PRELOAD="$(dirname "$bench")/../lib/libtutti.so" \
    "$bench-$mpi" latency --quiet \
    --json "$results/tutti-bench-latency-$mpi.json"
done

"$python" "$source/bench/results.py" "$results" "${RESULTS_NOTE:-}"
