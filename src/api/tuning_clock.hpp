/// The clock on which the ranks of a communicator compare calls.
#pragma once

#include <optional>

#include "run/arrival/mpi_clock.hpp"
#include "select/tuner.hpp"

namespace tutti {

class Communicator;
class HierarchicalNodes;

/// That of the exchange of arrivals, if the communicator has one; else its own, once the budget of
/// a tuner has paid for it.
class TuningClock : NotCopied {
 public:
  /// Both must outlive this.
  TuningClock(const Communicator& communicator, const HierarchicalNodes& nodes)
      : communicator_(communicator), nodes_(nodes) {}
  ~TuningClock();

  /// What open() is expected to take, in nanoseconds; none: ranks have a clock, or cannot have one.
  /// Alike on all ranks, once nodes are guessed. Local.
  [[nodiscard]] std::optional<double> cost() const;
  /// Compares the clocks of all nodes, for a limited number of communicators at a time. Collective.
  /// Returns an MPI error code.
  int open();
  /// At rank 0: are the clocks to be compared again? False at the others. Local.
  [[nodiscard]] bool is_due() const { return own_ && own_->is_due(); }
  /// Compares them again. Collective. Returns an MPI error code.
  int compare();
  /// Ends the comparisons. Collective.
  void close();

  /// A time of monotonic_seconds(), in nanoseconds of the common clock; none without one.
  [[nodiscard]] std::optional<Nanoseconds> at(double seconds) const;
  /// A bound of its error at this rank, in nanoseconds; Tuner::without_clock without one.
  [[nodiscard]] Nanoseconds error() const;

 private:
  [[nodiscard]] const MpiClock* clock() const;

  const Communicator& communicator_;
  const HierarchicalNodes& nodes_;
  std::optional<MpiClock> own_;
  bool is_refused_ = false;  ///< too many others have a clock
};

}  // namespace tutti
