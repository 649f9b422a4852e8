/// Medians of few calls.
#include "knowledge/call_times.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace tutti {

namespace {

constexpr std::size_t remembered = 5;
/// What is less does not move a choice.
constexpr double least_change = 1.0 / 16;
/// Of one call: more than what first calls have to set up.
constexpr double clear_loss = 1.5;

double median(const std::deque<double>& values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace

bool CallTimer::take(const CallKind& kind, bool native, double seconds) {
  if (kind != times_.kind) {
    forget();
    times_.kind = kind;
  }
  Side& side = sides_[native ? 0 : 1];
  side.last.push_back(seconds);
  if (side.last.size() > remembered) side.last.pop_front();
  ++side.calls;
  const bool is_clear = !native && side.calls == 1 && seconds > clear_loss * times_.native;
  if (!is_clear && (side.calls < 2 || !std::has_single_bit(side.calls))) return false;
  double& told = native ? times_.native : times_.tutti;
  const double now = median(side.last);
  if (std::abs(now - told) <= least_change * told) return false;
  told = now;
  return true;
}

}  // namespace tutti
