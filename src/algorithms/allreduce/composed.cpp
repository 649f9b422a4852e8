/// Allreduce as a reduce_scatter and an allgather, or as a reduce and a broadcast.
#include "schedule/builder.hpp"

namespace tutti {

Schedule reduce_scatter_ring(const Problem& problem);
Schedule reduce_scatter_circulant(const Problem& problem);
Schedule allgather_ring(const Problem& problem);
Schedule allgather_circulant(const Problem& problem);
Schedule reduce_knomial_ordered(const Problem& problem);
Schedule knomial_down(const Problem& problem);

namespace {

using Function = Schedule (*)(const Problem&);

/// Cuts the vector into p parts: part v is combined at position v, then gathered at all positions.
Schedule in_parts(const Problem& problem, Function reduce_scatter, Function allgather) {
  const Problem cut = problem.cut(problem.p);
  ScheduleBuilder schedule(cut);
  schedule.append(reduce_scatter(cut));
  schedule.append(allgather(cut));
  return schedule.done();
}

}  // namespace

/// 2 (p - 1) alpha + 2 (p - 1) / p m beta, with minimal volume (Patarasuk & Yuan 2009).
Schedule allreduce_ring(const Problem& problem) {
  return in_parts(problem, reduce_scatter_ring, allgather_ring);
}

/// 2 ceil(log2 p) alpha + 2 (p - 1) / p m beta for any p (Träff 2024, arXiv 2407.18004).
Schedule allreduce_circulant(const Problem& problem) {
  return in_parts(problem, reduce_scatter_circulant, allgather_circulant);
}

/// Up the k-nomial tree of the ranks to rank 0 and down again. Valid for any associative operation.
/// 2 ceil(log2 p) (alpha + m beta).
Schedule allreduce_reduce_bcast(const Problem& problem) {
  Problem rooted = problem;
  rooted.root = 0;
  ScheduleBuilder schedule(problem);
  schedule.append(reduce_knomial_ordered(rooted));
  schedule.append(knomial_down(rooted));
  return schedule.done();
}

}  // namespace tutti
