/// What algorithms take with the arrivals that a features expects.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/problems.hpp"
#include "cost/pricing.hpp"
#include "select/selection.hpp"

namespace tutti {

/// Prices specifications for one call: blocks of one size, arrivals counted from the first; all at
/// once where none are expected. Start-ups overlap, as those of an MPI do: a root that has 47
/// signals or blocks on the way pays one latency and 47 overheads.
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
