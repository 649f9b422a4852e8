#!/bin/sh
# tutti-bench under mpirun: every command, each collective checked, and its errors.
#
#     bench_test.sh MPIRUN TUTTI_BENCH [brief]
#
# brief: without what another MPI's run has tested, that is the errors, and commands of the same code.
set -u

mpirun=$1
bench=$2
brief=${3:-}
# ./test --all
if [ -n "${ALL_TESTS:-}" ]; then brief=; fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

failed=0
complain() {
  echo "FAILED: $1" >&2
  sed 's/^/    /' "$folder/out" "$folder/err" >&2
  failed=1
}

# ranks, expected status, text that must appear, arguments
expect() {
  ranks=$1 status=$2 text=$3
  shift 3
  timeout 120 $mpirun -n "$ranks" "$bench" "$@" >"$folder/out" 2>"$folder/err"
  got=$?
  [ "$got" -eq "$status" ] || complain "-n $ranks $*: status $got, not $status"
  cat "$folder/out" "$folder/err" | grep -q -e "$text" || complain "-n $ranks $*: no \"$text\""
}

short="--repetitions 3 --warmup 1"
# Collectives with other numbers of ranks repeat what tests/mpi tests: ./test --all.
few="2" some="3"
if [ -n "${ALL_TESTS:-}" ]; then few="1 2 5" some="1 3"; fi
for ranks in $few; do
  for collective in gather scatter; do
    expect "$ranks" 0 "# $collective, same" $collective $short --block 1,1000 --root last \
      --algorithm native,auto,linear,linear_sequence,linear_sync,binomial,knomial:k=3,ordered_tree
  done
  for collective in gatherv scatterv; do
    expect "$ranks" 0 "# $collective, two_blocks" $collective $short --block 1,1000 \
      --algorithm native,auto,linear,linear_sequence,linear_sync,binomial,knomial:k=3,TUW,traff
  done
done
if [ -n "$brief" ]; then some=; fi
# Words "collective=algorithm" with the first algorithm of each collective.
firsts=$(awk -F '[(, ]+' '
  function note(collective, name) { if (!seen[collective]++) print collective "=" name }
  /^TUTTI_ALGORITHM_FORMS/ { note($2, $4); note($3, $4) }
  /^TUTTI_ALGORITHM\(/ { note($2, $3) }' "$(dirname "$0")/../../src/algorithms/list.inc")
[ -n "$firsts" ] || complain "list.inc has no algorithm"
for ranks in $some; do
  for first in $firsts; do
    collective=${first%=*}
    case $collective in gather | gatherv | scatter* | barrier | rma_*) continue ;; esac
    expect "$ranks" 0 "# $collective, " "$collective" $short --bytes 2,6000 \
      --algorithm "native,auto,${first#*=}"
  done
  expect "$ranks" 0 "# allreduce, same" allreduce $short --bytes 8,6000 --floats \
    --algorithm native,auto,recursive_doubling
  expect "$ranks" 0 "# barrier, same" barrier $short --algorithm native,dissemination
done
if [ -z "$brief" ]; then
  expect 3 0 "native:reordered" allgather $short --bytes 2,6000 \
    --algorithm native:reordered,native,linear
  expect 3 2 "native:reordered: gather cannot be reordered" gather $short --algorithm native:reordered
fi
expect 3 0 "ordered_tree" gatherv $short --bytes 8,64K --gap 3 --algorithm traff
# A quick machine, so that little is measured.
echo "latency 0.00001" >"$folder/quick"
export TUTTI_MACHINE="$folder/quick"
expect 3 0 "data: checked after every call" rma_bcast $short --bytes 8,6000
expect 3 0 "ranks that receive look for data every" rma_reduce $short --bytes 8,6000
if [ -z "$brief" ]; then
  expect 3 0 "# rma_scatter, same" rma_scatter $short --bytes 6000 --algorithm native,linear
  expect 3 0 "# rma_gather, same" rma_gather $short --bytes 6000 --algorithm native,linear
fi
# Open MPI without windows refuses; other MPIs do not read this variable.
if $mpirun --version 2>&1 | grep -q "Open MPI"; then
  export OMPI_MCA_osc=^sm,rdma,pt2pt,monitoring,ucx,portals4
  expect 2 2 "MPI_Win_allocate.* failed with MPI error code" rma_bcast $short
  unset OMPI_MCA_osc
fi
unset TUTTI_MACHINE
expect 3 0 "data: first page of each block checked" allgather_shared $short --bytes 8
expect 3 0 "held KiB a rank" allgather_shared $short --bytes 8,64K
expect 3 0 "linear" gatherv $short --block 10 --persistent --algorithm native,linear
expect 3 0 "m'" guidelines $short --block 10 --settle 3
expect 2 0 "bound 150 ns" latency $short
expect 3 0 "data: not checked" memory --block 1000

# tutti-bench refuses to measure a busy machine, which this one may be.
timeout 120 $mpirun -n 2 "$bench" machine --output "$folder/machine" >"$folder/out" 2>"$folder/err"
got=$?
if [ "$got" -eq 0 ]; then
  grep -q '^latency ' "$folder/out" || complain "machine"
  grep -q '^per_byte ' "$folder/machine" || complain "machine --output"
  grep -q '^signal ' "$folder/machine" || complain "machine --output says nothing of nodes"
  grep -q '^# .* 20..-..-..T.*Z, load .* before, .* cores$' "$folder/machine" ||
    complain "machine --output does not say when and under which load"
else
  [ "$got" -eq 1 ] || complain "machine: status $got"
  grep -q 'cannot be measured now (.* load ' "$folder/err" || complain "machine says no reason"
  [ ! -e "$folder/machine" ] || complain "machine writes what it refuses"
fi
echo "latency 0.012" >"$folder/busy"
export TUTTI_MACHINE="$folder/busy"
expect 2 2 'expected latency from 1e-09 to 0.01' gatherv
unset TUTTI_MACHINE

# The requested algorithm ran.
expect 3 0 "binomial" gatherv $short --block 10 --algorithm binomial --json "$folder/json"
if command -v python3 >/dev/null; then
  python3 - "$folder/json" <<'EOF' >"$folder/out" 2>"$folder/err" || complain "JSON"
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "tutti-bench/1"
assert document["metadata"]["ranks"] == "3"
assert len(document["rows"]) == 6
for row in document["rows"]:
    (line,) = row["algorithms"]
    assert line["ran"].startswith("binomial"), line["ran"]
    assert len(line["samples_us"]) == 3
    assert line["min_us"] == min(line["samples_us"])
EOF
fi

# Bad input: one line that names it, status 2 on all ranks, no hang.
expect 3 2 "unknown command 'gahter'; did you mean gather?" gahter
[ "$(grep -c gahter "$folder/err")" -eq 1 ] || complain "the error is printed once"
if [ -z "$brief" ]; then
  expect 3 2 'a rank from 0 to 2' gatherv --root 3
  expect 3 2 "'fastest'" gatherv --algorithm fastest
  expect 3 2 'k=1: expected an integer of at least 2' gatherv --algorithm knomial:k=1
  expect 3 2 'cannot write' gatherv --json /nowhere/file
  expect 3 2 'end at 2147483647' gatherv --distribution same --block 1000000000
  expect 1 2 'needs at least 2 ranks' machine
  expect 1 2 'distances needs --output' distances
  # Before anything is measured, and so prints.
  expect 2 2 '^tutti-bench: cannot write --output /nowhere/file: No such file' machine --output /nowhere/file
  [ ! -s "$folder/out" ] || complain "machine measures what it cannot write"
  expect 1 2 '^tutti-bench: cannot write --output /nowhere/file: No such file' distances --output /nowhere/file
  # Their text goes through a temporary file.
  timeout 120 $mpirun -n 2 env TMPDIR=/proc "$bench" distances --output "$folder/none" >"$folder/out" 2>"$folder/err"
  got=$?
  [ "$got" -eq 2 ] || complain "a folder that takes no temporary file: status $got, not 2"
  grep -q 'cannot write temporary file /proc/' "$folder/err" || complain "which temporary file cannot be written"
fi
# Each rank reads the file of delays, and one of them cannot.
echo "0,0,0" >"$folder/delays"
cat >"$folder/elsewhere" <<EOF
#!/bin/sh
file=$folder/delays
if [ "\${PMI_RANK:-\${OMPI_COMM_WORLD_RANK:-}}" = 1 ]; then file=$folder/none; fi
exec "$bench" gather $short --block 1 --delay "recorded:\$file"
EOF
chmod +x "$folder/elsewhere"
timeout 120 $mpirun -n 3 "$folder/elsewhere" >"$folder/out" 2>"$folder/err"
got=$?
[ "$got" -eq 2 ] || complain "a file that rank 1 lacks: status $got, not 2"
grep -q "tutti-bench: rank 1: .*cannot be read" "$folder/err" || complain "which rank lacks the file"
expect 3 0 "^# distances between 3 ranks" distances --output "$folder/distances"
grep -q '"schema": "tutti-distances-1"' "$folder/distances" || complain "distances --output"
ln -s distances "$folder/link"
: >"$folder/distances"
expect 2 0 "^# distances between 2 ranks" distances --output "$folder/link"
[ -L "$folder/link" ] && [ -s "$folder/distances" ] || complain "distances replaces a link"

# The watchdog notices a rank that stops, and each other rank prints where it waits. On a busy machine
# the job may take longer to begin.
for seconds in 2 10 30; do
  cat >"$folder/stopping" <<EOF
#!/bin/sh
"\$@" &
pid=\$!
if [ "\${PMI_RANK:-\${OMPI_COMM_WORLD_RANK:-}}" = 1 ]; then
  sleep $seconds
  kill -STOP \$pid
  sleep 6
  kill -KILL \$pid
fi
wait \$pid
EOF
  chmod +x "$folder/stopping"
  timeout 60 $mpirun -n 3 "$folder/stopping" "$bench" gatherv --repetitions 1000000 --block 10 \
    --algorithm linear --quiet --timeout 2 >"$folder/out" 2>"$folder/err"
  got=$?
  grep -q "no progress for 2 s in clocks and machine" "$folder/err" || break
done
[ "$got" -ne 0 ] || complain "a stopped rank goes unnoticed"
grep -q "rank 0: no progress for 2 s in linear, block 10, repetition" "$folder/err" ||
  complain "the watchdog is silent"

exit $failed
