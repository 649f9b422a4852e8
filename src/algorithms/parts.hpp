/// Vectors in parts.
#pragma once

#include <algorithm>

#include "core/problem.hpp"
#include "schedule/builder.hpp"

namespace tutti {

/// The number of parts of a pipelined vector: the parameter `parts` if it is set, else one part per
/// `piece` bytes, at most `max_parts`. Equal on all ranks.
[[nodiscard]] inline int pipeline_parts(const Problem& problem, Bytes piece = 16384,
                                        Bytes max_parts = 64) {
  if (problem.parameters.parts > 0) return problem.parameters.parts;
  return static_cast<int>(
      std::clamp<Bytes>((problem.vector_bytes() + piece - 1) / piece, 1, max_parts));
}

/// An allreduce in p parts: part v is combined at position v, then gathered at all positions.
[[nodiscard]] inline Schedule in_parts_of_ranks(const Problem& problem,
                                                Schedule reduce_scatter(const Problem&),
                                                Schedule allgather(const Problem&)) {
  const Problem cut = problem.cut(problem.p);
  ScheduleBuilder schedule(cut);
  schedule.append(reduce_scatter(cut));
  schedule.append(allgather(cut));
  return schedule.done();
}

}  // namespace tutti
