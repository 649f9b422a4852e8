/// How many parts a pipelined vector is cut into.
#pragma once

#include <algorithm>

#include "core/problem.hpp"

namespace tutti {

/// As many as asked for by `parts`; else one for each 16 KiB, up to 64. The same on all ranks, as
/// the vector is.
[[nodiscard]] inline int pipeline_parts(const Problem& problem) {
  constexpr Bytes piece = 16384;
  constexpr Bytes most = 64;
  if (problem.parameters.parts > 0) return problem.parameters.parts;
  return static_cast<int>(std::clamp<Bytes>((problem.vector_bytes() + piece - 1) / piece, 1, most));
}

}  // namespace tutti
