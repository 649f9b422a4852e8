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

/// How ranks are divided into nodes.
struct NodeCounts {
  int nodes = 1;
  int ranks_per_node = 1;  ///< the maximum
};

/// All ranks of MPI_COMM_WORLD, with a separate communicator for messages outside measurements.
class Job : NotCopied {
 public:
  /// Collective.
  Job();
  ~Job();

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] int p() const { return p_; }
  /// Nodes by shared memory.
  [[nodiscard]] const NodeCounts& nodes() const { return nodes_; }
  /// The same as split by TUTTI_NODE, as Tutti sees them.
  [[nodiscard]] const NodeCounts& tutti_nodes() const { return tutti_nodes_; }
  /// TUTTI_NODE on rank 0; empty if it is unset, none or invalid.
  [[nodiscard]] const std::string& emulated() const { return emulated_; }
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
  void split(MPI_Comm node);

  Rank rank_ = 0;
  int p_ = 1;
  NodeCounts nodes_;
  NodeCounts tutti_nodes_;
  std::string emulated_;
  double oversubscription_ = 1;
  MPI_Comm control_ = MPI_COMM_NULL;
};

}  // namespace tutti::bench
