/// The clock on which the ranks of a communicator compare calls.
#pragma once

#include <cstdint>
#include <optional>

#include "api/limited.hpp"
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

  /// What open() is expected to take, in nanoseconds, if comparing the clock of one node takes
  /// `of_node`; none: ranks have a clock, or cannot have one. Alike on all ranks, once nodes are
  /// guessed. Local.
  [[nodiscard]] std::optional<double> cost(Nanoseconds of_node) const;
  /// What comparing one node's clock took latest in this process; first a guess.
  [[nodiscard]] static Nanoseconds cost_of_node();
  /// Compares the clocks of all nodes, for a limited number of communicators at a time, and unless
  /// the MPI has no communicator left. Collective. Returns an MPI error code.
  int open();
  /// At rank 0: the number of the next comparison, if it is due and 1 % of `spent` nanoseconds pays
  /// for all of them; else 0, as at other ranks. Local.
  [[nodiscard]] std::int64_t due(double spent) const;
  /// Makes comparison `number`, unless it was made. Collective. Returns an MPI error code.
  int compare(std::int64_t number);
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
  Limited<TuningClock, 64> limited_;  ///< where ranks are on several systems
  bool is_refused_ = false;           ///< there are too many, or the MPI has no communicator left
  std::int64_t compared_ = 0;         ///< so many times, alike on all ranks
  double latest_seconds_ = 0;         ///< that a comparison took
};

}  // namespace tutti
