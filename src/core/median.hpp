/// The median of a few values.
#pragma once

#include <algorithm>
#include <vector>

namespace tutti {

/// The median of at least one value; for an even number the lower of the two middle values.
[[nodiscard]] inline double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace tutti
