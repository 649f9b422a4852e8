/// What ranks combine in an agreement.
#pragma once

#include <cstdint>

namespace tutti {

/// What one rank has of something; combined, the largest and the sum of what all ranks have. Two
/// 64-bit integers without padding: it is sent as it is.
struct MaxAndSum {
  std::int64_t max = 0;
  std::int64_t sum = 0;
};

}  // namespace tutti
