/// Medians of few calls, and verdicts on choices.
#include "knowledge/call_times.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/median.hpp"

namespace tutti {

namespace {

constexpr std::size_t remembered = 5;
/// What is less does not move a choice.
constexpr double least_change = 1.0 / 16;
/// Of one call: more than what first calls have to set up.
constexpr double clear_loss = 1.5;

/// Measured, a gain may be small.
constexpr double least_gain = 0.98;

}  // namespace

bool resemble(const CallKind& a, const CallKind& b) {
  const auto [less, more] = std::minmax(a.block, b.block);
  return a.collective == b.collective && a.root == b.root && (more < 2 * less || a == b);
}

bool CallTimer::Side::is_due() const { return calls > 1 && std::has_single_bit(calls); }

double CallTimer::Side::median() const { return lower_median({last.begin(), last.end()}); }

void CallTimer::Side::add(double seconds) {
  last.push_back(seconds);
  if (last.size() > remembered) last.pop_front();
  ++calls;
}

bool CallTimer::take(const CallKind& kind, RunMark ran, double seconds) {
  if (kind != times_.kind) {
    forget();
    times_.kind = kind;
  }
  if (ran == ran_native) return take_native(seconds);
  const auto& lost = times_.lost;
  if (std::find(lost.begin(), lost.end(), ran) != lost.end()) return false;
  if (ran != std::exchange(chosen_, ran)) choice_ = {};
  return take_choice(seconds);
}

bool CallTimer::take_native(double seconds) {
  native_.add(seconds);
  if (!native_.is_due()) return false;
  const double now = native_.median();
  if (std::abs(now - times_.native) <= least_change * times_.native) return false;
  times_.native = now;
  return true;
}

bool CallTimer::take_choice(double seconds) {
  choice_.add(seconds);
  const bool is_clear = choice_.calls == 1 && seconds > clear_loss * times_.native;
  if (!is_clear && !choice_.is_due()) return false;
  const auto free = std::find(times_.lost.begin(), times_.lost.end(), ran_native);
  if (free == times_.lost.end() || !(choice_.median() > least_gain * times_.native)) return false;
  *free = chosen_;
  return true;
}

}  // namespace tutti
