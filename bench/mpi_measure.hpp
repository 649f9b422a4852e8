/// The timing method: contenders called in turn, each between a common start and the last exit.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/mpi_clock.hpp"
#include "bench/mpi_job.hpp"
#include "bench/mpi_workload.hpp"
#include "bench/options.hpp"
#include "bench/watchdog.hpp"

namespace tutti::bench {

/// A variant to measure, such as an algorithm or the MPI's own.
struct Contender {
  std::string name;
  std::string specification;  ///< setting of its collective; empty: none
  Workload* workload = nullptr;
  Functions functions;              ///< the functions that `call` uses
  std::function<int()> call;        ///< the timed call; returns an MPI error code
  std::function<int()> start = {};  ///< starts a persistent call, before the computation
};

/// The arrivals and exits of all ranks in the timed calls of one contender. Of several
/// calls in a repetition the exit is that of the last one, and the arrival is so long before it as
/// the rank was in the calls. Only at rank 0.
struct Calls {
  int p = 0;
  int repetitions = 0;
  int of_repetition = 1;         ///< calls
  std::vector<double> arrivals;  ///< by rank, then repetition; seconds
  std::vector<double> exits;
  std::string ran;  ///< the algorithm that Tutti ran last, and why; empty without Tutti

  /// Last exit minus first arrival; this and all others of one of its calls.
  [[nodiscard]] double seconds(int repetition) const;
  /// Last arrival minus first arrival.
  [[nodiscard]] double spread(int repetition) const;
  /// Last exit minus last arrival.
  [[nodiscard]] double after_last_arrival(int repetition) const;
  /// Mean over the ranks of exit minus arrival.
  [[nodiscard]] double elapsed(int repetition) const;
  /// The arrivals of all ranks in a repetition, minus the first one.
  [[nodiscard]] std::vector<double> arrivals_of(int repetition) const;
};

/// The objects that every measurement uses.
struct Bench {
  const Job& job;
  Clock& clock;
  Watchdog& watchdog;
  const Options& options;
  /// What measuring has set the algorithms to. In SimGrid ranks share globals.
  mutable std::map<Collective, std::string> selected = {};
  mutable MPI_Comm reordered = MPI_COMM_NULL;  ///< once a contender has needed it
};

/// While it lives, ranks may give progress hints on MPI_COMM_WORLD, if the options ask for them.
/// Collective.
class ProgressHints : NotCopied {
 public:
  explicit ProgressHints(const Options& options);
  ~ProgressHints();

 private:
  bool are_given_;
};

/// Measures all contenders. Every repetition calls each contender once, in a new random order. So
/// drift affects all alike, and no contender always follows the same other one, whose call may have
/// used up the time slice of ranks. Before a repetition the ranks meet in a barrier, and before
/// each of its calls they compute as long as the options say. Each rank records when it enters and
/// leaves a call. Received data are checked after each repetition, in the warm-up after each call;
/// wrong data or an MPI error end the job. With a time budget the duration of the warm-up, or else
/// of the first repetition, determines the number of repetitions. Collective.
[[nodiscard]] std::vector<Calls> measure(const Bench& bench, std::span<const Contender> contenders,
                                         Bytes block);

/// Lets those contenders that select by themselves learn: each is called as often as the options
/// say, in turn with the others, in a new random order every time. Give the contenders of all cases
/// at once: a program calls sizes in turn too, and calls of one size pay for what others explore.
/// Collective.
void settle(const Bench& bench, std::span<const Contender> contenders);

/// Shuffles alike on all ranks and machines; std::shuffle depends on the library.
void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random);

/// Sets the algorithm of a collective. The error is Tutti's text. Collective.
[[nodiscard]] Result<bool> set_algorithm(Collective collective, const std::string& specification);

}  // namespace tutti::bench
