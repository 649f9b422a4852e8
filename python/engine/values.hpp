/// Conversions of results and names to values, with Python exceptions as errors.
#pragma once

#include <nanobind/nanobind.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// The value, or a Python ValueError with the error's text.
template <class T>
T value_or_raise(Result<T> result) {
  if (!result) throw nanobind::value_error(result.error().c_str());
  return std::move(*result);
}

/// The collective of that name, or a ValueError that lists the names.
[[nodiscard]] Collective collective_or_raise(const std::string& name);

/// Why bytes cannot be added up; empty if they can.
[[nodiscard]] inline std::string fault_of_sum(const std::vector<Bytes>& sizes) {
  const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  if (sum <= 0x1p62) return "";
  return "sizes: " + fixed(sum, 0) + " bytes in all; expected at most 2^62";
}

}  // namespace tutti
