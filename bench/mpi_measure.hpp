/// The timing method: contenders called in turn, each between a common start and the last exit.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/mpi_clock.hpp"
#include "bench/mpi_job.hpp"
#include "bench/mpi_workload.hpp"
#include "bench/options.hpp"
#include "bench/watchdog.hpp"

namespace tutti::bench {

/// Something that is measured beside others on the same data.
struct Contender {
  std::string name;
  std::string specification;  ///< of the algorithm in force for its collective; empty: none
  Workload* workload = nullptr;
  Functions functions;              ///< those that `call` uses
  std::function<int()> call;        ///< what is timed; an MPI error code
  std::function<int()> start = {};  ///< before the computing, where the call is persistent
};

/// When every rank came and left, in every timed call of one contender. Only at rank 0.
struct Calls {
  int p = 0;
  int repetitions = 0;
  std::vector<double> arrivals;  ///< by rank, then repetition; seconds
  std::vector<double> exits;
  std::string ran;  ///< what Tutti says that it ran last and why; empty where it ran nothing

  /// Last exit less first arrival.
  [[nodiscard]] double seconds(int repetition) const;
  /// Last arrival less first arrival.
  [[nodiscard]] double spread(int repetition) const;
  /// Mean over the ranks of exit less arrival.
  [[nodiscard]] double elapsed(int repetition) const;
  /// Of all ranks, counted from the first.
  [[nodiscard]] std::vector<double> arrivals_of(int repetition) const;
};

/// What a measurement needs of its surroundings.
struct Bench {
  const Job& job;
  Clock& clock;
  Watchdog& watchdog;
  const Options& options;
};

/// Every repetition calls each contender once, in a new random order: all see the same drift, and
/// none always follows the same other one, which matters where a call leaves ranks without the
/// rest of their time slice. Before a call the ranks meet in a barrier, then compute as long as the
/// options say, all contenders of a repetition alike; each rank notes when it enters and when it
/// leaves. Received data are compared after each call, warm-up included; wrong data
/// or an MPI error end the job. The calls in which contenders settle come first: those that choose
/// by themselves have them alone, as others would learn nothing in them. Under a budget the
/// warm-up, or without one the first repetition, tells how many repetitions there are. Collective.
[[nodiscard]] std::vector<Calls> measure(const Bench& bench, std::span<const Contender> contenders,
                                         Bytes block);

/// Sets the algorithm of a collective. The error is Tutti's text. Collective.
[[nodiscard]] Result<bool> set_algorithm(Collective collective, const std::string& specification);

}  // namespace tutti::bench
