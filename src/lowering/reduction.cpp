/// Tracks the values of a reduction through memory.
#include "lowering/reduction.hpp"

#include <algorithm>
#include <cassert>
#include <map>

#include "core/index.hpp"
#include "lowering/memory_use.hpp"

namespace tutti {

namespace {

Spot moved(Spot spot, Bytes by) { return {spot.stretch, spot.offset + by}; }

/// Blocks that are contiguous both at their source and at their target.
struct Piece {
  BlockRange blocks;
  Spot from;
  Spot to;
  Bytes bytes = 0;
};

class ReductionLowerer {
 public:
  ReductionLowerer(const Schedule& schedule, const Order& order, const std::vector<Bytes>& sizes,
                   const BufferTraits& traits)
      : schedule_(schedule),
        traits_(traits),
        scatters_(block_kind(schedule.collective) == BlockKind::ranks),
        memory_(traits.padding) {
    find_contributions(order, sizes);
    find_results(order);
    find_consumers();
  }

  BufferAssignment run() {
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      const Step& step = schedule_.steps[i];
      first_operation_.push_back(count());
      if (step.kind == StepKind::wait) {
        add_wait(step);
      } else if (step.kind == StepKind::reduce) {
        add_reduce(step);
      } else if (step.kind == StepKind::send) {
        add_send(step);
      } else if (step.staged) {
        add_recv_staged(step, static_cast<StepId>(i));
      } else {
        add_recv(step);
      }
    }
    deliver();
    assignment_.scratch = memory_.scratch();
    return std::move(assignment_);
  }

 private:
  void find_contributions(const Order& order, const std::vector<Bytes>& sizes) {
    std::vector<Bytes> offsets;
    Bytes total = 0;
    for (const Bytes size : sizes) offsets.push_back(std::exchange(total, total + size));
    const int buffer = traits_.in_place ? MemoryUse::receive_buffer : MemoryUse::send_buffer;
    for (Position at = 0; at < schedule_.blocks(); ++at) {
      const std::size_t block = index(scatters_ ? order.rank_at(at) : at);
      sizes_.push_back(sizes[block]);
      held_.push_back({buffer, offsets[block]});
    }
  }

  /// The locations of results in the receive buffer. In a reduce_scatter in place, contributions
  /// are there until the end.
  void find_results(const Order& order) {
    const Spot start = {MemoryUse::receive_buffer, 0};
    if (scatters_) {
      const Position mine = order.position_of(schedule_.rank);
      wanted_ = {mine, mine + 1};
      results_.assign(sizes_.size(), start);
      is_result_free_ = !traits_.in_place;
      return;
    }
    if (!has_result(schedule_.collective, schedule_.rank, schedule_.root)) return;
    wanted_ = {0, schedule_.blocks()};
    Bytes offset = 0;
    for (const Bytes size : sizes_)
      results_.push_back(moved(start, std::exchange(offset, offset + size)));
    is_result_free_ = true;
  }

  void find_consumers() {
    consumer_.assign(schedule_.steps.size(), nullptr);
    received_.resize(schedule_.steps.size());
    for (const Step& step : schedule_.steps) {
      if (step.kind == StepKind::reduce) consumer_[index(step.after)] = &step;
    }
  }

  [[nodiscard]] Bytes size(Position at) const { return sizes_[index(at)]; }

  [[nodiscard]] bool are_empty(BlockRange blocks) const {
    return std::all_of(sizes_.begin() + blocks.begin, sizes_.begin() + blocks.end,
                       [](Bytes bytes) { return bytes == 0; });
  }

  /// Calls visit(position) for each block that has bytes.
  template <class Visit>
  void for_each(const Blocks& blocks, Visit visit) const {
    blocks.for_each_run([&](BlockRange run) {
      for (auto at = static_cast<Position>(run.begin); at < run.end; ++at) {
        if (size(at) > 0) visit(at);
      }
    });
  }

  /// The pieces that copy the blocks from where they are held to `to(position)`, as few as
  /// possible.
  template <class To>
  [[nodiscard]] std::vector<Piece> pieces(const Blocks& blocks, To to) const {
    std::vector<Piece> found;
    for_each(blocks, [&](Position at) {
      const Spot from = held_[index(at)];
      const Spot target = to(at);
      if (!found.empty()) {
        Piece& last = found.back();
        if (moved(last.from, last.bytes) == from && moved(last.to, last.bytes) == target &&
            are_empty({last.blocks.end, at})) {
          last.blocks.end = at + 1;
          last.bytes += size(at);
          return;
        }
      }
      found.push_back({{at, at + 1}, from, target, size(at)});
    });
    return found;
  }

  /// The pieces that pack the blocks from `start` on.
  [[nodiscard]] std::vector<Piece> pieces_packed(const Blocks& blocks, Spot start) const {
    Bytes packed = 0;
    return pieces(blocks, [&](Position at) {
      return moved(start, std::exchange(packed, packed + size(at)));
    });
  }

  [[nodiscard]] bool may_change(Spot spot) const {
    if (spot.stretch == MemoryUse::receive_buffer) return is_result_free_;
    return spot.stretch != MemoryUse::send_buffer;
  }
  [[nodiscard]] bool is_wanted(const Blocks& blocks) const {
    return blocks.holes.empty() && wanted_.begin <= blocks.range.begin &&
           blocks.range.end <= wanted_.end;
  }
  /// True if an operation may write these blocks' results to the receive buffer before the end.
  [[nodiscard]] bool may_write_result(const Blocks& blocks, Runner runner) const {
    if (!is_result_free_ || !is_wanted(blocks) || runner != Runner::caller) return false;
    return std::none_of(awaited_.begin(), awaited_.end(), [&](const BlockRange& range) {
      return range.begin < blocks.range.end && blocks.range.begin < range.end;
    });
  }
  /// The same, and no operation has used these bytes yet.
  [[nodiscard]] bool is_result_untouched(const Blocks& blocks, Runner runner) const {
    if (traits_.in_place || !may_write_result(blocks, runner)) return false;
    bool is_used = false;
    for_each(blocks, [&](Position at) {
      is_used = is_used || memory_.is_used(results_[index(at)], size(at));
    });
    return !is_used;
  }

  [[nodiscard]] int count() const { return static_cast<int>(assignment_.operations.size()); }

  Operation& append(StepKind kind) {
    Operation& operation = assignment_.operations.emplace_back();
    operation.kind = kind;
    operation.first_need = operation.last_need = static_cast<int>(assignment_.needs.size());
    return operation;
  }

  /// Records that the last operation reads or writes these bytes.
  void use(Spot spot, Bytes bytes, bool writes) {
    std::vector<int>& needs = assignment_.needs;
    memory_.use(count() - 1, spot, bytes, writes, needs);
    Operation& operation = assignment_.operations.back();
    const auto first = needs.begin() + operation.first_need;
    std::sort(first, needs.end());
    needs.erase(std::unique(first, needs.end()), needs.end());
    operation.last_need = static_cast<int>(needs.size());
  }

  /// Adds a copy or a reduce.
  void add_local(StepKind kind, Spot from, Spot to, Bytes bytes) {
    Operation& operation = append(kind);
    operation.from = memory_.buffer_ref_of(from, bytes);
    operation.to = memory_.buffer_ref_of(to, bytes);
    use(from, bytes, false);
    use(to, bytes, true);
  }

  void add_message(const Step& step, Spot spot) {
    const bool sends = step.kind == StepKind::send;
    Operation& operation = append(step.kind);
    operation.runner = step.runner;
    operation.peer = step.peer;
    operation.message = (sends ? sent_ : got_)[step.peer]++;
    operation.slots = step.slots;
    if (step.after >= 0) need_step(operation, step.after);
    if (step.bytes == 0) return;
    (sends ? operation.from : operation.to) = memory_.buffer_ref_of(spot, step.bytes);
    use(spot, step.bytes, !sends);
  }

  void need_step(Operation& operation, StepId step) {
    const int end = first_operation_[index(step) + 1];
    for (int other = first_operation_[index(step)]; other < end; ++other) {
      assignment_.needs.push_back(other);
    }
    operation.last_need = static_cast<int>(assignment_.needs.size());
  }

  void add_wait(const Step& step) {
    Operation& wait = append(StepKind::wait);
    if (step.first == step.last) return;
    wait.first = first_operation_[index(step.first)];
    wait.last = first_operation_[index(step.last)];
    completed_.resize(index(count()));
    for (int operation = wait.first; operation < wait.last; ++operation) complete(operation);
    memory_.recycle(completed_);
  }

  /// Marks an operation and all that it needs as completed.
  void complete(int operation) {
    std::vector<int> pending = {operation};
    while (!pending.empty()) {
      const int next = pending.back();
      pending.pop_back();
      if (std::exchange(completed_[index(next)], char{1}) != 0) continue;
      const Operation& done = assignment_.operations[index(next)];
      pending.insert(pending.end(), assignment_.needs.begin() + done.first_need,
                     assignment_.needs.begin() + done.last_need);
    }
  }

  void add_send(const Step& step) {
    if (step.bytes == 0) return add_message(step, {});
    const std::vector<Piece> where =
        pieces(step.blocks, [&](Position at) { return held_[index(at)]; });
    if (where.size() == 1) return add_message(step, where.front().from);
    const Spot packed = memory_.take(step.bytes);
    for (const Piece& piece : pieces_packed(step.blocks, packed)) {
      add_local(StepKind::copy, piece.from, piece.to, piece.bytes);
    }
    add_message(step, packed);
  }

  /// Records that the blocks' values are now at `to(position)`.
  template <class To>
  void move_values(const Blocks& blocks, To to) {
    for_each(blocks, [&](Position at) {
      Spot& spot = held_[index(at)];
      memory_.release(spot);
      spot = to(at);
      memory_.hold(spot);
    });
  }

  [[nodiscard]] auto to_results() const {
    return [this](Position at) { return results_[index(at)]; };
  }

  /// A received value replaces the value held.
  void add_recv(const Step& step) {
    if (step.bytes == 0) return add_message(step, {});
    if (may_write_result(step.blocks, step.runner)) {
      add_message(step, first_result(step.blocks));
      move_values(step.blocks, to_results());
      return;
    }
    const Spot start = memory_.take(step.bytes);
    add_message(step, start);
    Bytes packed = 0;
    move_values(step.blocks, [&](Position at) {
      return moved(start, std::exchange(packed, packed + size(at)));
    });
    if (step.runner != Runner::caller) return;
    step.blocks.for_each_run([&](BlockRange run) {
      if (may_write_result(run, step.runner)) move_to_result(run);
    });
  }

  [[nodiscard]] Spot first_result(const Blocks& blocks) const {
    return results_[index(blocks.range.begin)];
  }

  void move_to_result(const Blocks& blocks) {
    for (const Piece& piece : pieces(blocks, to_results())) {
      if (piece.from != piece.to) add_local(StepKind::copy, piece.from, piece.to, piece.bytes);
    }
    move_values(blocks, to_results());
  }

  void add_recv_staged(const Step& step, StepId id) {
    const Step* const consumer = consumer_[index(id)];
    const bool may_move =
        traits_.swaps || consumer == nullptr || consumer->operand != Operand::left;
    if (!may_move) make_changeable(step.blocks);
    const bool in_result = may_move && is_result_untouched(step.blocks, step.runner);
    const Spot start = in_result ? first_result(step.blocks) : memory_.take(step.bytes);
    if (in_result) awaited_.push_back(step.blocks.range);
    add_message(step, start);
    for_each(step.blocks, [&](Position) { memory_.hold(start); });
    received_[index(id)] = start;
  }

  /// Copies values that are in read-only buffers of the caller to memory that may be changed.
  void make_changeable(const Blocks& blocks) {
    for (const Piece& piece : pieces(blocks, [&](Position at) { return held_[index(at)]; })) {
      if (may_change(piece.from)) continue;
      if (is_result_untouched(piece.blocks, Runner::caller)) {
        move_to_result(piece.blocks);
        continue;
      }
      const Spot start = memory_.take(piece.bytes);
      add_local(StepKind::copy, piece.from, start, piece.bytes);
      Bytes packed = 0;
      move_values(piece.blocks, [&](Position at) {
        return moved(start, std::exchange(packed, packed + size(at)));
      });
    }
  }

  void add_reduce(const Step& step) {
    const Spot received = received_[index(step.after)];
    const bool changes = step.operand != Operand::left;
    const Spot operand = changes && !is_last(step) ? duplicate(received, step.bytes) : received;
    for (const Piece& piece : pieces_packed(step.blocks, operand)) {
      if (stays(step, piece)) {
        make_changeable(piece.blocks);
        combine_where_held(piece);
      } else {
        if (step.operand != Operand::only) {
          add_local(StepKind::reduce, piece.from, piece.to, piece.bytes);
        }
        Bytes packed = 0;
        move_values(piece.blocks, [&](Position at) {
          return moved(piece.to, std::exchange(packed, packed + size(at)));
        });
      }
    }
    if (!is_last(step)) return;
    for_each(step.blocks, [&](Position) { memory_.release(received); });
    if (received.stretch == MemoryUse::receive_buffer) std::erase(awaited_, step.blocks.range);
  }

  /// True if no later step combines these staged blocks again.
  [[nodiscard]] bool is_last(const Step& step) const {
    return consumer_[index(step.after)] == &step;
  }

  /// A copy of staged blocks.
  [[nodiscard]] Spot duplicate(Spot from, Bytes bytes) {
    const Spot copy = memory_.take(bytes);
    add_local(StepKind::copy, from, copy, bytes);
    return copy;
  }

  void combine_where_held(const Piece& piece) {
    Bytes packed = 0;
    for (const Piece& part : pieces(piece.blocks, [&](Position at) {
           return moved(piece.to, std::exchange(packed, packed + size(at)));
         })) {
      add_local(StepKind::reduce, part.to, part.from, part.bytes);
    }
  }

  /// True if the result replaces the value held; false if it replaces the received one.
  [[nodiscard]] bool stays(const Step& step, const Piece& piece) const {
    const bool swaps = traits_.swaps && is_last(step) && step.operand != Operand::only;
    if (!swaps) return step.operand == Operand::left;
    const bool moves_to_result = piece.to.stretch == MemoryUse::receive_buffer &&
                                 piece.from.stretch != MemoryUse::receive_buffer;
    return may_change(piece.from) && !moves_to_result;
  }

  void deliver() {
    if (!wanted_.empty()) move_to_result(wanted_);
  }

  const Schedule& schedule_;
  BufferTraits traits_;
  bool scatters_;
  std::vector<Bytes> sizes_;   ///< by position
  std::vector<Spot> held_;     ///< by position: its value
  std::vector<Spot> results_;  ///< by position: the caller's location for its result, if any
  BlockRange wanted_;
  bool is_result_free_ = false;        ///< the receive buffer holds only results
  std::vector<const Step*> consumer_;  ///< by step: the last reduce of its staged blocks
  std::vector<Spot> received_;         ///< by step: its staged blocks
  std::vector<BlockRange> awaited_;    ///< staged in the receive buffer and not combined yet
  std::vector<int> first_operation_;   ///< by step
  std::vector<char> completed_;        ///< by operation, at the last wait
  std::map<Rank, int> sent_;
  std::map<Rank, int> got_;
  MemoryUse memory_;
  BufferAssignment assignment_;
};

}  // namespace

BufferAssignment lower_reduction(const Schedule& schedule, const Order& order,
                                 const std::vector<Bytes>& sizes, const BufferTraits& traits) {
  return ReductionLowerer(schedule, order, sizes, traits).run();
}

}  // namespace tutti
