/// Medians of a few calls, and verdicts on choices.
#include "protocols/call_times.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/median.hpp"

namespace tutti {

namespace {

constexpr std::size_t remembered = 16;
/// A smaller relative change of native's time changes no choice.
constexpr double min_change = 1.0 / 16;
// Ratios of the choice's time to native's.
/// A measured gain may be small.
constexpr double min_gain = 0.98;
/// Several calls: more than chance makes of a gain.
constexpr double clear_loss = 1.3;
/// The first call: more than chance and set-up together make of a gain.
constexpr double clear_loss_at_once = 1.5;
/// Less than a few slow native calls make of a loss.
constexpr double clear_gain = 0.75;
/// A gain is in doubt after this number of calls, and then each time after 4 times as many.
constexpr std::size_t calls_until_doubt = 16;
/// This number of native calls decides once native is due again.
constexpr std::size_t deciding_calls = 5;

bool is_time_to_doubt(std::size_t calls) {
  return calls >= calls_until_doubt && std::countr_zero(calls) % 2 == 0;
}

}  // namespace

bool resemble(const CallSignature& a, const CallSignature& b) {
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

bool CallTimer::take(const CallSignature& kind, AlgorithmId ran, double seconds) {
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
  if (times_.native_is_due) return native_.calls == deciding_calls && decide();
  if (!native_.is_due()) return false;
  const double now = native_.median();
  if (std::abs(now - times_.native) <= min_change * times_.native) return false;
  times_.native = now;
  return true;
}

/// Compares the choice with the native calls since native became due.
bool CallTimer::decide() {
  times_.native_is_due = false;
  times_.native = native_.median();
  if (choice_.median() > min_gain * times_.native) note_loss();
  return true;
}

bool CallTimer::take_choice(double seconds) {
  choice_.add(seconds);
  const bool is_first = choice_.calls == 1;
  if (times_.native_is_due || !(is_first || choice_.is_due())) return false;
  const double ratio = choice_.median() / times_.native;
  if (ratio > (is_first ? clear_loss_at_once : clear_loss)) return note_loss();
  const double min_doubtful = is_time_to_doubt(choice_.calls) ? clear_gain : min_gain;
  if (is_first || !(ratio > min_doubtful)) return false;
  times_.native_is_due = true;
  native_ = {};
  return true;
}

bool CallTimer::note_loss() {
  const auto free = std::find(times_.lost.begin(), times_.lost.end(), ran_native);
  if (free == times_.lost.end()) return false;
  *free = chosen_;
  return true;
}

}  // namespace tutti
