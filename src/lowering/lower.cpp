/// Follows the values of blocks through memory, step by step.
#include "lowering/lower.hpp"

#include <algorithm>
#include <optional>

#include "lowering/program_builder.hpp"
#include "lowering/values.hpp"

namespace tutti {

namespace {

constexpr int send_buffer = MemoryUse::send_buffer;
constexpr int receive_buffer = MemoryUse::receive_buffer;

class Lowerer {
 public:
  Lowerer(const Schedule& schedule, const Problem& problem, Bytes own, const BufferTraits& traits)
      : schedule_(schedule),
        traits_(traits),
        rooted_(is_gather_or_scatter(schedule.collective)),
        blocks_(schedule, problem, own, traits),
        program_(blocks_, traits.padding),
        memory_(program_.memory()) {
    // In place, the contributions of a reduce_scatter are in the receive buffer until the end.
    is_result_free_ = !(traits.in_place && is_reduce_scatter(schedule.collective));
    received_.resize(schedule.steps.size());
    consumers_.resize(schedule.steps.size(), nullptr);
    for (const Step& step : schedule.steps) {
      if (step.kind == StepKind::reduce) consumers_[index(step.after)] = &step;
    }
  }

  Program run() {
    for (const auto& [blocks, spot] : blocks_.contributions()) put(blocks, spot);
    if (blocks_.copies_first()) load_pairs();
    join_values();
    for (const Step& step : schedule_.steps) {
      program_.begin_step();
      if (step.kind == StepKind::wait) {
        program_.add_wait(step);
        continue;
      }
      runner_ = step.runner;
      if (step.kind == StepKind::reduce) {
        add_reduce(step);
      } else if (step.bytes == 0) {
        program_.add_message(step, {});
      } else if (step.kind == StepKind::send) {
        add_send(step);
      } else if (step.staged) {
        add_recv_staged(step);
      } else {
        add_recv(step);
      }
    }
    joined_.reset();
    if (!blocks_.results().empty()) move_home(blocks_.results());
    return program_.done();
  }

 private:
  void load_pairs() {
    Bytes all = 0;
    const auto contributions = blocks_.contributions();
    for (const auto& [pair, spot] : contributions) {
      if (!blocks_.are_kept(pair)) all += blocks_.size(pair);
    }
    Spot start = memory_.take(all);
    for (const auto& [pair, spot] : contributions) {
      const Bytes bytes = blocks_.size(pair);
      if (blocks_.are_kept(pair) || bytes == 0) continue;
      // The receive buffer is numbered by the source of a block.
      const BlockIndex from = pair.begin % schedule_.p * schedule_.p + pair.begin / schedule_.p;
      copy({BlockRange{from, from + 1}, spot, start, bytes});
      put(pair, start);
      start.offset += bytes;
    }
  }

  /// Messages that join values need these in one place: messages of a rank that forwards in a
  /// gather, and parts of a vector whose datatype is not contiguous.
  void join_values() {
    const bool at_root = schedule_.rank == schedule_.root;
    const Bytes all = blocks_.are_pairs() ? 0 : blocks_.size(blocks_.everything());
    const auto joins = [&](const Step& step) {
      if (step.kind == StepKind::wait || step.bytes == 0) return false;
      if (is_gather(schedule_.collective)) return !at_root && step.kind == StepKind::recv;
      return schedule_.collective == Collective::bcast && !traits_.receive_contiguous &&
             step.bytes < all;
    };
    if (std::ranges::none_of(schedule_.steps, joins)) return;
    joined_ = memory_.take(all);
    memory_.hold(*joined_, all);
    if (schedule_.collective == Collective::bcast && at_root) move_home(blocks_.everything());
  }

  // Values.

  [[nodiscard]] auto sizes() const {
    return [this](BlockRange blocks) { return blocks_.size(blocks); };
  }

  void put(BlockRange blocks, Spot spot) {
    values_.for_each(blocks, sizes(),
                     [&](BlockRange part, Spot from) { memory_.release(from, sizes()(part)); });
    values_.put(blocks, spot, sizes());
    memory_.hold(spot, blocks_.size(blocks));
  }
  /// The same for blocks that are packed from `start` on.
  void put_packed(const Blocks& blocks, Spot start) {
    blocks.for_each_run([&](BlockRange run) {
      put(run, start);
      start.offset += blocks_.size(run);
    });
  }

  /// The pieces that copy the values to `to(block, bytes before it)`, as few as possible.
  template <class To>
  [[nodiscard]] std::vector<Piece> pieces(const Blocks& blocks, To to) const {
    std::vector<Piece> found;
    Bytes packed = 0;
    const auto follows = [&](Spot next, Spot last, Bytes bytes) {
      return next.stretch == last.stretch &&
             (program_.is_typed(next) || next == moved(last, bytes));
    };
    const auto add = [&](BlockRange part, Spot from) {
      const Bytes bytes = blocks_.size(part);
      if (bytes == 0) return;
      const Spot target = to(part.begin, std::exchange(packed, packed + bytes));
      if (!found.empty() && follows(from, found.back().from, found.back().bytes) &&
          follows(target, found.back().to, found.back().bytes)) {
        found.back().blocks.append(part);
        found.back().bytes += bytes;
      } else {
        found.push_back({part, from, target, bytes});
      }
    };
    blocks.for_each_run([&](BlockRange run) { values_.for_each(run, sizes(), add); });
    return found;
  }
  [[nodiscard]] std::vector<Piece> pieces_packed(const Blocks& blocks, Spot start) const {
    return pieces(blocks, [&](BlockIndex, Bytes packed) { return moved(start, packed); });
  }
  /// The values where they are.
  [[nodiscard]] std::vector<Piece> pieces(const Blocks& blocks) const {
    return pieces_packed(blocks, {receive_buffer + 1, 0});
  }

  void copy(const Piece& piece) {
    if (piece.from != piece.to) program_.add_local(OperationKind::copy, piece, runner_);
  }

  /// The place for values that are put together, and for results.
  [[nodiscard]] Spot home_of(BlockIndex block) const {
    return joined_ ? moved(*joined_, blocks_.before(block)) : blocks_.result_of(block);
  }
  void put_home(const Blocks& blocks) {
    blocks.for_each_run([&](BlockRange run) { put(run, home_of(run.begin)); });
  }
  void move_home(const Blocks& blocks) {
    const auto home = [&](BlockIndex block, Bytes) { return home_of(block); };
    for (const Piece& piece : pieces(blocks, home)) {
      if (joined_ || !blocks_.are_kept(piece.blocks.range)) copy(piece);
    }
    put_home(blocks);
  }
  /// The blocks are adjacent at home, or a datatype describes them there.
  [[nodiscard]] bool are_adjacent(const Blocks& blocks) const {
    return blocks.holes.empty() || !blocks_.are_vectors();
  }

  // Messages.

  /// True if copies pack and unpack the message.
  [[nodiscard]] bool is_packed(const Blocks& blocks) const {
    if (blocks.holes.empty() && blocks.range.count() == 1) return false;
    if (blocks_.are_pairs()) return true;
    return traits_.packs_blocks &&
           (rooted_ ? blocks.holes.empty() : traits_.receive_scattered || !blocks.holes.empty());
  }
  /// True if values at `spot` may be sent from there, or received there.
  [[nodiscard]] bool is_direct(const Step& step, Spot spot) const {
    if (!program_.is_typed(spot)) return true;
    const bool contiguous =
        spot.stretch == send_buffer ? traits_.send_contiguous : traits_.receive_contiguous;
    return !is_packed(step.blocks) && (contiguous || blocks_.is_whole(step));
  }

  void add_send(const Step& step) {
    const std::vector<Piece> where = pieces(step.blocks);
    if (where.size() == 1 && is_direct(step, where.front().from)) {
      return program_.add_message(step, where.front().from);
    }
    const bool wants = blocks_.is_whole(step) && blocks_.are_results(step.blocks);
    if (are_adjacent(step.blocks) && (joined_ || (wants && !blocks_.are_vectors()))) {
      move_home(step.blocks);
      const Spot home = home_of(step.blocks.range.begin);
      if (is_direct(step, home)) return program_.add_message(step, home);
    }
    const Spot packed = memory_.take(blocks_.size(step.blocks));
    for (const Piece& piece : pieces_packed(step.blocks, packed)) copy(piece);
    if (!blocks_.is_whole(step)) put_packed(step.blocks, packed);
    program_.add_message(step, packed);
  }

  /// A received value replaces the value held.
  void add_recv(const Step& step) {
    if (step.offset > 0) {
      const std::vector<Piece> begun = pieces(step.blocks);
      if (!begun.empty()) return program_.add_message(step, begun.front().from);
    }
    const bool may_be_home = joined_ || (may_write_result(step.blocks, step.runner) &&
                                         is_direct(step, {receive_buffer, 0}));
    if (may_be_home && are_adjacent(step.blocks)) {
      program_.add_message(step, home_of(step.blocks.range.begin));
      return put_home(step.blocks);
    }
    const Spot start = memory_.take(blocks_.size(step.blocks));
    program_.add_message(step, start);
    put_packed(step.blocks, start);
    // A rank of a scatter forwards first.
    if (rooted_ || !blocks_.is_whole(step)) return;
    const Blocks results = blocks_.results_among(step.blocks);
    if (!results.range.empty() && may_write_result(results, step.runner)) move_home(results);
  }

  /// True if an operation may write these blocks' results to the receive buffer before the end.
  [[nodiscard]] bool may_write_result(const Blocks& blocks, Runner runner) const {
    if (!is_result_free_ || !blocks_.are_results(blocks)) return false;
    if (blocks_.are_reduced() && runner != Runner::caller) return false;
    return std::ranges::none_of(
        awaited_, [&](const BlockRange& range) { return range.overlaps(blocks.range); });
  }

  // Reductions.

  /// The same, and no operation has used these bytes yet.
  [[nodiscard]] bool is_result_untouched(const Blocks& blocks, Runner runner) const {
    return !traits_.in_place && blocks.holes.empty() && may_write_result(blocks, runner) &&
           !memory_.is_used(blocks_.result_of(blocks.range.begin), blocks_.size(blocks));
  }
  [[nodiscard]] bool may_change(Spot spot) const {
    return spot.stretch == receive_buffer ? is_result_free_ : spot.stretch != send_buffer;
  }

  void add_recv_staged(const Step& step) {
    const std::size_t id = program_.steps() - 1;
    const Step* const consumer = consumers_[id];
    const bool may_move =
        traits_.swaps || consumer == nullptr || consumer->operand != Operand::left;
    if (!may_move) make_changeable(step.blocks);
    const bool in_result = may_move && is_result_untouched(step.blocks, step.runner);
    const Spot start =
        in_result ? blocks_.result_of(step.blocks.range.begin) : memory_.take(step.bytes);
    if (in_result) awaited_.push_back(step.blocks.range);
    program_.add_message(step, start);
    memory_.hold(start, step.bytes);
    received_[id] = start;
  }

  /// Copies values that are in read-only buffers of the caller to memory that may be changed.
  void make_changeable(const Blocks& blocks) {
    for (const Piece& piece : pieces(blocks)) {
      if (may_change(piece.from)) continue;
      if (is_result_untouched(piece.blocks, Runner::caller)) {
        move_home(piece.blocks);
        continue;
      }
      const Spot start = memory_.take(piece.bytes);
      copy({piece.blocks, piece.from, start, piece.bytes});
      put_packed(piece.blocks, start);
    }
  }

  void add_reduce(const Step& step) {
    const Spot received = received_[index(step.after)];
    Spot operand = received;
    if (step.operand != Operand::left && !is_last(step)) {
      // The result replaces a copy, because a later step combines these values again.
      operand = memory_.take(step.bytes);
      copy({step.blocks, received, operand, step.bytes});
    }
    for (const Piece& piece : pieces_packed(step.blocks, operand)) {
      if (stays(step, piece)) {
        make_changeable(piece.blocks);
        for (const Piece& part : pieces_packed(piece.blocks, piece.to)) {
          const Piece turned = {part.blocks, part.to, part.from, part.bytes};
          program_.add_local(OperationKind::reduce, turned, runner_);
        }
      } else {
        if (step.operand != Operand::only) {
          program_.add_local(OperationKind::reduce, piece, runner_);
        }
        put_packed(piece.blocks, piece.to);
      }
    }
    if (!is_last(step)) return;
    memory_.release(received, step.bytes);
    if (received.stretch == receive_buffer) std::erase(awaited_, step.blocks.range);
  }

  /// True if no later step combines these staged blocks again.
  [[nodiscard]] bool is_last(const Step& step) const {
    return consumers_[index(step.after)] == &step;
  }

  /// True if the result replaces the value held; false if it replaces the received one.
  [[nodiscard]] bool stays(const Step& step, const Piece& piece) const {
    if (!traits_.swaps || !is_last(step) || step.operand == Operand::only) {
      return step.operand == Operand::left;
    }
    const bool moves_to_result =
        piece.to.stretch == receive_buffer && piece.from.stretch != receive_buffer;
    return may_change(piece.from) && !moves_to_result;
  }

  const Schedule& schedule_;
  const BufferTraits& traits_;
  bool rooted_;  ///< a gather or scatter
  CallBlocks blocks_;
  ProgramBuilder program_;
  MemoryUse& memory_;
  Values values_;
  bool is_result_free_;                 ///< the receive buffer holds only results
  std::optional<Spot> joined_;          ///< where values are put together before the end
  Runner runner_ = Runner::caller;      ///< of the current step
  std::vector<Spot> received_;          ///< by step: its staged blocks
  std::vector<const Step*> consumers_;  ///< by step: the last reduce of its staged blocks
  std::vector<BlockRange> awaited_;     ///< staged in the receive buffer and not combined yet
};

}  // namespace

Program lower(const Schedule& schedule, const Problem& problem, Bytes own,
              const BufferTraits& traits) {
  const bool in_parts = block_kind(schedule.collective) == BlockKind::parts;
  const Problem cut = in_parts ? problem.cut(schedule.parts) : problem;
  if (is_one_sided(schedule.collective)) return lower_one_sided(schedule, cut);
  return Lowerer(schedule, cut, own, traits).run();
}

}  // namespace tutti
