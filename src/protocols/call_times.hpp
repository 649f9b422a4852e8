/// Times of calls of one signature after the last arrival, natively and with Tutti's choice, and
/// the choices that lost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

#include "core/types.hpp"

namespace tutti {

/// Times of calls with the same signature can be compared.
struct CallSignature {
  Collective collective = Collective::gather;
  Rank root = 0;
  Bytes block = 0;
  friend bool operator==(const CallSignature&, const CallSignature&) = default;
};

/// Same collective and root, and blocks that differ by less than a factor of 2: times of one stand
/// for the other too.
[[nodiscard]] bool resemble(const CallSignature& a, const CallSignature& b);

/// Identifies the algorithm that ran, alike on all ranks; 0 is native.
using AlgorithmId = std::int64_t;
inline constexpr AlgorithmId ran_native = 0;

/// One rank's arrival and exit in a call, in seconds of the common clock.
struct TimingSample {
  CallSignature kind;
  Collective after = Collective::gather;  ///< collective of the call before
  AlgorithmId ran = ran_native;
  double arrival = std::numeric_limits<double>::quiet_NaN();  ///< NaN: no sample
  double exit = 0;
};

/// At most this number of choices are compared with native, one after the other.
inline constexpr std::size_t max_choices = 3;

/// Times of calls of one signature.
struct SignatureTimes {
  CallSignature kind;
  /// Native's seconds from the last arrival to the last exit; NaN while unknown.
  double native = std::numeric_limits<double>::quiet_NaN();
  /// Choices that took more than 0.98 of native's time, in the sequence they lost; then zeros.
  std::array<AlgorithmId, max_choices> lost = {};
  /// Native has to run and be measured again before the choice continues.
  bool native_is_due = false;
};

/// Compares native with Tutti's latest choice, in calls of the latest signature. Each side has the
/// median of its last 16 calls (the lower of the middle two). The timer evaluates a side after 2,
/// 4, 8, .. of its calls, so that the times change seldom however much calls differ.
///
/// A choice loses if it takes more than 1.3 of native's time, or 1.5 in its first call; the timer
/// ignores its later calls. A choice is in doubt if it takes more than 0.98 of native's time, which
/// may be chance. After 16, 64, 256, .. calls it is also in doubt above 0.75, because the few
/// native calls may have been slow ones. Then native is due for 5 calls, and their median decides.
class CallTimer {
 public:
  /// Takes the time of a call for which all ranks have sent a sample. True if times() changed.
  bool take(const CallSignature& kind, AlgorithmId ran, double seconds);
  [[nodiscard]] const SignatureTimes& times() const { return times_; }
  /// Discards all measurements.
  void forget() { *this = CallTimer(); }

 private:
  struct Side {
    std::deque<double> last;
    std::size_t calls = 0;
    [[nodiscard]] bool is_due() const;
    [[nodiscard]] double median() const;
    void add(double seconds);
  };
  bool take_native(double seconds);
  bool take_choice(double seconds);
  bool decide();
  bool note_loss();

  SignatureTimes times_;
  Side native_;
  AlgorithmId chosen_ = ran_native;  ///< Tutti's latest choice
  Side choice_;                      ///< calls of `chosen_`
};

}  // namespace tutti
