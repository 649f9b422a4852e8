/// Conversions of results and names to values, with Python exceptions as errors.
#pragma once

#include <nanobind/nanobind.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/numbers.hpp"
#include "core/result.hpp"
#include "core/types.hpp"
#include "cost/machine.hpp"

namespace tutti {

/// The value, or a Python ValueError with the error's text.
template <class T>
T value_or_raise(Result<T> result) {
  if (!result) throw nanobind::value_error(result.error().c_str());
  return std::move(*result);
}

/// The collective of that name, or a ValueError that lists the names.
[[nodiscard]] Collective collective_or_raise(const std::string& name);

/// Why the bytes of a call cannot be added up, on any of its ranks or nodes; empty if they can.
[[nodiscard]] inline std::string fault_of_sum(Collective collective,
                                              const std::vector<Bytes>& sizes) {
  double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  const bool has_all_blocks = block_kind(collective) == BlockKind::pairs || reduces(collective);
  if (has_all_blocks) sum *= static_cast<double>(sizes.size());
  if (sum <= 0x1p62) return "";
  return "sizes: " + fixed(sum, 0) + " bytes in all; expected at most 2^62";
}

/// The fault of a list of arrivals of p ranks; empty if there is none.
[[nodiscard]] std::string flaw_of(const std::vector<double>& arrivals, int p);

/// The fault of a model's machine, whose times may have any scale; empty if there is none.
[[nodiscard]] std::string flaw_of(const Machine& machine);

}  // namespace tutti
