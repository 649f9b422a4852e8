/// What calls of one kind have taken after the last rank was there, with the MPI's own algorithm
/// and with Tutti's.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <limits>

#include "core/types.hpp"

namespace tutti {

/// Calls that are alike: whose times can be compared.
struct CallKind {
  Collective collective = Collective::gather;
  Rank root = 0;
  Bytes block = 0;
  friend bool operator==(const CallKind&, const CallKind&) = default;
};

/// One rank's part in a call, by the common clock.
struct CallPassage {
  CallKind kind;
  Collective after = Collective::gather;                      ///< that of the call before
  bool native = true;                                         ///< the MPI's own ran
  double arrival = std::numeric_limits<double>::quiet_NaN();  ///< NaN: nothing is told
  double exit = 0;
};

/// Seconds from the last arrival to the last exit; NaN while not known.
struct KindTimes {
  CallKind kind;
  double native = std::numeric_limits<double>::quiet_NaN();
  double tutti = std::numeric_limits<double>::quiet_NaN();
};

/// The medians (the lower of two in the middle) of the last five calls with either, of the kind
/// that was called last. They are looked at after 2, 4, 8, .. calls with the same side, so that
/// they change seldom however much calls differ; and after Tutti's first one if that took half as
/// long again as native.
class CallTimer {
 public:
  /// Takes a call of which all ranks have told. True if times() are to be told anew.
  bool take(const CallKind& kind, bool native, double seconds);
  [[nodiscard]] const KindTimes& times() const { return times_; }
  /// What was measured does not count any more.
  void forget() { *this = CallTimer(); }

 private:
  struct Side {
    std::deque<double> last;
    std::size_t calls = 0;
  };

  KindTimes times_;
  std::array<Side, 2> sides_;
};

}  // namespace tutti
