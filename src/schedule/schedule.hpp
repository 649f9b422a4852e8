/// A schedule: the list of steps that one rank executes in one call of a collective.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"
#include "core/types.hpp"

namespace tutti {

/// What a step does. All steps whose needs are met are in flight at once. A step that reads blocks
/// needs the earlier steps that write them, and every step needs the `wait`s before it. A message
/// may need one further step (`after`) and a free slot (`slots`). Reductions change blocks, so
/// there a step that writes also needs the earlier steps that read or write its blocks.
enum class StepKind : std::uint8_t {
  send,    ///< blocks, packed in position order, to peer
  recv,    ///< blocks, packed in position order, from peer
  copy,    ///< blocks, from where they are to where the caller wants them
  reduce,  ///< blocks that an earlier step has staged, into the blocks held
  wait,    ///< until the steps [first, last) of this schedule have completed
  put,     ///< blocks into peer's memory, where they are once a flush of peer has completed
  flush,   ///< until all earlier puts and notifications to peer have reached it
  notify,  ///< peer that its memory holds blocks; may overtake puts that no flush has ended
  await,   ///< the notification from peer; from then on its blocks are held
};

/// Which thread runs a step.
enum class Runner : std::uint8_t { caller, background };

/// The operand that the received blocks are when a step combines them with the blocks held.
enum class Operand : std::uint8_t {
  left,   ///< received op held: the received blocks come from lower ranks
  right,  ///< held op received
  only,   ///< received, which replaces the blocks held
};

using StepId = int;

/// The blocks that a step touches: a range of positions without the holes in it.
struct Blocks {
  BlockRange range;
  std::vector<BlockRange> holes;  ///< disjoint, ascending, inside range

  Blocks() = default;
  Blocks(BlockRange r) : range(r) {}
  Blocks(BlockIndex begin, BlockIndex end) : range{begin, end} {}
  Blocks(BlockRange r, std::vector<BlockRange> h) : range(r), holes(std::move(h)) {}

  /// The blocks with these numbers, each given once. O(n log n).
  [[nodiscard]] static Blocks of(std::vector<BlockIndex> numbers) {
    std::ranges::sort(numbers);
    Blocks blocks;
    for (const BlockIndex number : numbers) blocks.append({number, number + 1});
    return blocks;
  }
  /// Adds blocks behind the others.
  void append(BlockRange next) {
    if (next.empty()) return;
    if (range.empty()) range = {next.begin, next.begin};
    if (range.end < next.begin) holes.push_back({range.end, next.begin});
    range.end = next.end;
  }
  /// Calls visit(BlockRange) for each range of blocks between the holes, ascending.
  template <class Visit>
  void for_each_run(Visit visit) const {
    BlockIndex at = range.begin;
    for (const BlockRange& hole : holes) {
      if (at < hole.begin) visit(BlockRange{at, hole.begin});
      at = hole.end;
    }
    if (at < range.end) visit(BlockRange{at, range.end});
  }
  friend bool operator==(const Blocks&, const Blocks&) = default;
};

/// One step. `offset` and `bytes` select a segment of the packed blocks. Messages between two
/// ranks match in the sequence of steps: the n-th send to a rank matches that rank's n-th receive
/// from the sender, and the n-th notification its n-th await.
struct Step {
  StepKind kind = StepKind::send;
  Runner runner = Runner::caller;
  Rank peer = no_rank;
  Blocks blocks = {};
  Bytes offset = 0;
  Bytes bytes = 0;
  StepId first = 0;      ///< wait only
  StepId last = 0;       ///< wait only
  StepId after = -1;     ///< messages: this earlier step must complete first; -1: none
                         ///< reduce: the step that has received into staging
  int slots = 0;         ///< messages: limit of the rank's steps with slots in flight, in the
                         ///< sequence in which their needs are met; 0: no limit
  bool carries = false;  ///< notify, await: the bytes travel in the notification and need no put
  bool staged = false;   ///< recv, await: the bytes go to staging memory, for a reduce
  Operand operand = Operand::left;  ///< reduce only
  friend bool operator==(const Step&, const Step&) = default;
};

struct Schedule {
  Collective collective = Collective::gather;
  int p = 1;
  Rank rank = 0;
  Rank root = 0;
  std::vector<Step> steps;
  int parts = 1;  ///< number of parts of the vector, if blocks are parts

  [[nodiscard]] BlockIndex blocks() const { return block_count(collective, p, parts); }
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// The name of a kind as it is written, e.g. "recv".
[[nodiscard]] std::string_view name_of(StepKind kind);
/// A step of this kind accesses another rank's memory or synchronises such accesses.
[[nodiscard]] constexpr bool is_one_sided(StepKind kind) {
  return StepKind::put <= kind && kind <= StepKind::await;
}

/// A schedule as text, one step a line.
///
///     gatherv p 11 rank 3 root 9
///     0 recv 2 [2,3) 2
///     1 recv 0 [0,2) 1
///     2 wait 0-2
///     3 send 9 [0,8) 12 without [4,6) from 4 background
///
/// A step is its number, kind, peer, blocks and bytes. `without` lists holes, `from a` is the
/// offset of the bytes, `after 0` names a further step that it needs, `slots 2` is the limit of
/// steps in flight, and `background` the runner. `parts 2` in the first line is the number of parts
/// of a vector. A later step combines `staged` blocks:
///
///     allreduce p 4 rank 1 root 0 parts 2
///     0 recv 0 [0,2) 16 staged
///     1 reduce 0 [0,2) 16 after 0 left
///
/// A flush completes a put before the notification; a notification carries `carried` bytes:
///
///     rma_bcast p 4 rank 0 root 0
///     0 put 2 [0,1) 4096
///     1 flush 2 [0,0) 0
///     2 notify 2 [0,1) 4096 after 1
[[nodiscard]] std::string to_text(const Schedule& schedule);

}  // namespace tutti
