/// The ranks that measure together, and how they wait for each other.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "core/types.hpp"

namespace tutti::bench {

/// How a rank waits: yielding keeps latency low even with more ranks than cores; sleeping frees the
/// cores for ranks that measure.
enum class Patience : std::uint8_t { yield, sleep };

/// Tests the requests until all are complete. It never blocks inside MPI, because a library that
/// busy-waits would take the core from the rank that it waits for.
void wait_all(std::span<MPI_Request> requests, Patience patience = Patience::yield);

/// All ranks of MPI_COMM_WORLD, with a separate communicator for messages outside measurements.
class Job : NotCopied {
 public:
  /// Collective.
  Job();
  ~Job();

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] int p() const { return p_; }
  /// The number of nodes, by shared memory.
  [[nodiscard]] int nodes() const { return nodes_; }
  /// The maximum number of ranks on a node.
  [[nodiscard]] int ranks_per_node() const { return ranks_per_node_; }
  /// The maximum over nodes of ranks per processor that they may use.
  [[nodiscard]] double oversubscription() const { return oversubscription_; }
  [[nodiscard]] MPI_Comm control() const { return control_; }

  /// A dissemination barrier: ceil(log2 p) rounds.
  void barrier(Patience patience = Patience::yield) const;
  /// Sends bytes; returns when the buffer is free again.
  void send(const void* data, std::size_t bytes, Rank to) const;
  void receive(void* data, std::size_t bytes, Rank from, Patience patience = Patience::yield) const;
  /// The text of rank 0, on all ranks.
  [[nodiscard]] std::string from_first(std::string text) const { return from(0, std::move(text)); }
  /// What is wrong at the lowest rank with a problem, on all ranks; it names the rank unless that
  /// is 0. Empty: no rank has a problem.
  [[nodiscard]] std::string first_problem(const std::string& problem) const;
  /// Aborts all ranks with this text on standard error.
  [[noreturn]] void fail(const std::string& text) const;

 private:
  [[nodiscard]] std::string from(Rank root, std::string text) const;

  Rank rank_ = 0;
  int p_ = 1;
  int nodes_ = 1;
  int ranks_per_node_ = 1;
  double oversubscription_ = 1;
  MPI_Comm control_ = MPI_COMM_NULL;
};

}  // namespace tutti::bench
