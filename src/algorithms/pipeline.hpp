/// The number of parts of a pipelined vector.
#pragma once

#include <algorithm>

#include "core/problem.hpp"

namespace tutti {

/// The parameter `parts` if it is set; else one part per `piece` bytes, at most `max_parts`. Equal
/// on all ranks.
[[nodiscard]] inline int pipeline_parts(const Problem& problem, Bytes piece = 16384,
                                        Bytes max_parts = 64) {
  if (problem.parameters.parts > 0) return problem.parameters.parts;
  return static_cast<int>(
      std::clamp<Bytes>((problem.vector_bytes() + piece - 1) / piece, 1, max_parts));
}

}  // namespace tutti
