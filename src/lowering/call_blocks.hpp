/// The blocks of a call: their sizes, and their places in the caller's buffers.
#pragma once

#include <utility>
#include <vector>

#include "core/problem.hpp"
#include "lowering/memory_use.hpp"

namespace tutti {

/// What one rank's schedule says of the blocks. Places are spots in the caller's buffers: packed
/// bytes in the sequence of positions; of reductions and vectors, bytes as the caller numbers them.
class CallBlocks {
 public:
  /// Arguments as for lower(), with the vector cut into its parts. All must outlive the object.
  CallBlocks(const Schedule& schedule, const Problem& problem, Bytes own,
             const BufferTraits& traits);

  /// The bytes of blocks. In gathers and scatters a rank may know no sizes but those of its own
  /// block and its messages: ranges must be unions of these. O(log messages) there, else as
  /// Sizes::of.
  [[nodiscard]] Bytes size(BlockRange blocks) const;
  [[nodiscard]] Bytes size(const Blocks& blocks) const;
  /// The bytes of all known blocks before this one; not for pairs.
  [[nodiscard]] Bytes before(BlockIndex block) const;
  [[nodiscard]] bool is_whole(const Step& step) const {
    return step.offset == 0 && step.bytes == size(step.blocks);
  }

  [[nodiscard]] bool are_pairs() const { return properties_.blocks == BlockKind::pairs; }
  /// Receives overwrite the blocks to send.
  [[nodiscard]] bool copies_first() const { return are_pairs() && traits_.in_place; }
  /// The caller's buffers are vectors. Otherwise a datatype describes any blocks of a buffer.
  [[nodiscard]] bool are_vectors() const {
    return properties_.blocks == BlockKind::parts || properties_.reduces;
  }
  [[nodiscard]] bool are_reduced() const { return properties_.reduces; }
  [[nodiscard]] BlockRange everything() const { return {0, schedule_.blocks()}; }

  /// The ranges of blocks that the rank has at the start, and their places. O(p) for pairs and for
  /// reductions in a listed order, else O(1).
  [[nodiscard]] std::vector<std::pair<BlockRange, Spot>> contributions() const;
  /// They are in the receive buffer.
  [[nodiscard]] bool are_in_receive() const;

  /// The blocks that the rank wants in the end; of pairs only its own, because the others are where
  /// it wants them when they are received.
  [[nodiscard]] BlockRange results() const { return results_; }
  [[nodiscard]] Blocks results_among(const Blocks& blocks) const;
  [[nodiscard]] bool are_results(const Blocks& blocks) const {
    return size(results_among(blocks)) == size(blocks);
  }
  /// True if these results are in their places from the start.
  [[nodiscard]] bool are_kept(BlockRange blocks) const {
    return kept_.begin <= blocks.begin && blocks.end <= kept_.end;
  }
  /// The place of a result in the receive buffer.
  [[nodiscard]] Spot result_of(BlockIndex block) const;

 private:
  void measure(Bytes own);
  [[nodiscard]] BlockRange held_by(Holders holders) const;

  const Schedule& schedule_;
  const Problem& problem_;
  const CollectiveProperties& properties_;
  const BufferTraits& traits_;
  Position me_;
  bool is_rooted_;                                     ///< a gather or scatter
  std::vector<std::pair<BlockIndex, Bytes>> offsets_;  ///< see measure()
  std::vector<Bytes> received_at_;                     ///< pairs: the places of results, by source
  BlockRange results_;
  BlockRange kept_;
};

}  // namespace tutti
