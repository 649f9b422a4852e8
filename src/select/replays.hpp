/// The modelled times of algorithms with expected arrivals.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/problems.hpp"
#include "cost/pricing.hpp"
#include "select/selection.hpp"

namespace tutti {

/// Prices specifications for one call with blocks of one size. Arrivals count from the first;
/// without a forecast all ranks arrive at once. Start-ups overlap as those of an MPI do: a root
/// with 47 signals or blocks in flight takes one latency and 47 overheads.
class Replays {
 public:
  Replays(const Features& features, const Machine& machine) : machine_(machine) {
    const auto p = static_cast<std::size_t>(features.p);
    call_ = {features.collective,
             features.root,
             std::vector<Bytes>(p, *features.block),
             machine.half_performance_length(),
             features.forecast ? features.forecast->arrivals : std::vector<double>(p, 0),
             1 / machine.per_byte};
    const double first = *std::min_element(call_.arrivals.begin(), call_.arrivals.end());
    for (double& arrival : call_.arrivals) arrival -= first;
  }

  /// O(messages log messages).
  [[nodiscard]] double seconds(const std::string& text) const {
    const Specification spec = *specification(call_.collective, text);
    return *price(Problems(spec, call_).schedules(), machine_, PriceModel::overlapped,
                  call_.arrivals);
  }

 private:
  Machine machine_;
  Call call_;
};

}  // namespace tutti
