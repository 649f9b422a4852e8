/// What calls of one kind have taken after the last rank was there, with the MPI's own algorithm
/// and with what Tutti chose instead, and which choices have lost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

#include "core/types.hpp"

namespace tutti {

/// Calls that are alike: whose times can be compared.
struct CallSignature {
  Collective collective = Collective::gather;
  Rank root = 0;
  Bytes block = 0;
  friend bool operator==(const CallSignature&, const CallSignature&) = default;
};

/// The same but for the block, which is neither half nor twice as large: what is measured of one is
/// taken for the other too.
[[nodiscard]] bool resemble(const CallSignature& a, const CallSignature& b);

/// Names what ran, alike on all ranks: 0 is the MPI's own.
using AlgorithmId = std::int64_t;
inline constexpr AlgorithmId ran_native = 0;

/// One rank's part in a call, by the common clock.
struct TimingSample {
  CallSignature kind;
  Collective after = Collective::gather;  ///< that of the call before
  AlgorithmId ran = ran_native;
  double arrival = std::numeric_limits<double>::quiet_NaN();  ///< NaN: nothing is told
  double exit = 0;
};

/// So many choices are held against the MPI's own, one after the other.
inline constexpr std::size_t max_choices = 3;

/// What is known of calls of one kind.
struct SignatureTimes {
  CallSignature kind;
  /// Seconds from the last arrival to the last exit with the MPI's own; NaN while not known.
  double native = std::numeric_limits<double>::quiet_NaN();
  /// Choices that took no less than 0.98 times as long, the first one first; 0: no more.
  std::array<AlgorithmId, max_choices> lost = {};
  /// The MPI's own is to run again, and be measured, before a choice is gone on with.
  bool native_is_due = false;
};

/// Medians (the lower of two in the middle) of the last sixteen calls with either side, of the kind
/// that was called last: the MPI's own, and what Tutti has chosen last. They are looked at after 2,
/// 4, 8, .. calls with the same side, so that they change seldom however much calls differ.
///
/// A choice that takes 1.3 times as long as native, or half as long again in its first call, has
/// lost, and is not looked at again. Where it takes no less than 0.98 times as long, chance may
/// have made it so; and native was measured in few calls, which may have been slow ones, so that a
/// choice is in doubt after 16, 64, 256, .. calls too if it gains less than a quarter. Then native
/// is due for five calls, whose median decides.
class CallTimer {
 public:
  /// Takes a call of which all ranks have told. True if times() are to be told anew.
  bool take(const CallSignature& kind, AlgorithmId ran, double seconds);
  [[nodiscard]] const SignatureTimes& times() const { return times_; }
  /// What was measured does not count any more.
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
  AlgorithmId chosen_ = ran_native;  ///< what Tutti ran last
  Side choice_;                      ///< its calls
};

}  // namespace tutti
