/// One rank's operations for the chunks of a hierarchical call, with the signals between ranks.
#pragma once

#include <vector>

#include "lowering/hierarchical_layout.hpp"
#include "lowering/program.hpp"

namespace tutti {

/// Appends operations to the program of one rank that shares node memory.
class NodeProgramBuilder {
 public:
  NodeProgramBuilder(int local, int ranks)
      : local_(local), ranks_(ranks), awaited_(index(ranks), -1) {}

  // Sequence numbers of a chunk, in the sequence of hierarchical_chunks(); each rank signals those
  // of its own steps.
  static int entered(int chunk) { return chunk == 0 ? 1 : 5 * chunk - 3; }
  static int grouped(int chunk) { return 5 * chunk + 3; }
  static int combined(int chunk) { return 5 * chunk + 4; }
  static int released(int chunk) { return 5 * chunk + 5; }
  static int left(int chunk) { return 5 * chunk + 6; }

  [[nodiscard]] int local() const { return local_; }
  /// Awaits the local ranks [first, last), unless earlier awaits show that they are as far.
  void await(int sequence, int first, int last);
  /// The same for an ascending list of local ranks.
  void await(int sequence, const std::vector<int>& locals);
  /// Waits until all ranks have left the memory that a chunk reuses.
  void await_free(int chunk) { await(chunk < 2 ? 0 : left(chunk - 2), 0, ranks_); }
  /// Replaces a signal that is the last operation. A rank that is alone on its node signals only
  /// the end of the call, for the next call.
  void signal(int sequence) {
    if (ranks_ > 1) append_signal(sequence);
  }
  void add(const std::vector<Operation>& operations) {
    program_.operations.insert(program_.operations.end(), operations.begin(), operations.end());
  }
  void add(InnerCall call);
  /// The program, after chunks [0, count).
  [[nodiscard]] Program done(int count);

 private:
  void append_signal(int sequence);

  int local_;
  int ranks_;
  std::vector<int> awaited_;  ///< by local rank, the highest awaited sequence number
  Program program_;
};

/// The program of `rank`, without `needs`, in node memory. Two chunks are under way at once:
///
///     in 0 | in 1  inner 0  out 0 | in 2  inner 1  out 1 | in 3  ..
[[nodiscard]] Program hierarchical_chunks(const HierarchicalProblem& call, const Nodes& nodes,
                                          Rank rank);

/// The call as a single chunk, in which each block has the size of its largest part.
[[nodiscard]] HierarchicalProblem largest_chunk(const HierarchicalProblem& call);

/// Combines consecutive vectors of `bytes` from `base`, one for each local rank, from the right:
/// the last one becomes v0 op (v1 op (.. op v)). With groups, each rank first combines a slice of
/// its group's vectors, then a smaller one of the groups' sums. So only one vector of each group
/// passes between groups.
void combine_vectors(const HierarchicalView& view, Bytes bytes, Bytes base,
                     NodeProgramBuilder& program);

/// Lets inner calls use the rank's own buffers instead of node memory, if no other rank of the node
/// touches the same bytes and they are contiguous in the buffer.
void use_sides(Program& program, const HierarchicalProblem& call, const Nodes& nodes, Rank rank);

}  // namespace tutti
