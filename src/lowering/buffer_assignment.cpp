/// Assigns buffers to the steps of gathers and scatters.
#include "lowering/buffer_assignment.hpp"

#include <algorithm>
#include <cassert>
#include <map>

namespace tutti {

namespace {

/// The packed ranges of one rank's staging memory, in the order of positions.
class Layout {
 public:
  void add(BlockIndex begin, Bytes bytes) {
    Bytes& known = bytes_[begin];
    known = std::max(known, bytes);
  }
  /// Assigns offsets; returns the total of bytes.
  Bytes assign() {
    Bytes total = 0;
    for (auto& [begin, bytes] : bytes_) total += std::exchange(bytes, total);
    return total;
  }
  /// The offset of the first range at or after `begin`.
  [[nodiscard]] Bytes offset(BlockIndex begin) const {
    const auto at = bytes_.lower_bound(begin);
    return at == bytes_.end() ? 0 : at->second;
  }

 private:
  std::map<BlockIndex, Bytes> bytes_;  ///< lengths, then offsets, by first position
};

class BufferAssigner {
 public:
  BufferAssigner(const Schedule& schedule, Position position, Bytes block_bytes,
                 const BufferTraits& traits)
      : schedule_(schedule),
        own_{position, position + 1},
        block_bytes_(block_bytes),
        traits_(traits),
        gathers_(is_gather(schedule.collective)),
        at_root_(schedule.rank == schedule.root),
        operation_of_(schedule.steps.size(), -1) {}

  BufferAssignment run() {
    measure();
    bool loaded = !staged_ || gathers_ == at_root_;
    for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
      const Step& step = schedule_.steps[i];
      if (!loaded && step.kind == StepKind::send && step.bytes > 0) {
        copy_between_caller_and_staging();
        loaded = true;
      }
      operation_of_[i] = static_cast<int>(assignment_.operations.size());
      if (step.kind == StepKind::wait) {
        add_wait(step);
      } else {
        add_message(step);
      }
    }
    if (staged_ && gathers_ == at_root_) copy_between_caller_and_staging();
    if (at_root_ && !traits_.in_place && block_bytes_ > 0) {
      add_copy({Area::send, own_, 0, block_bytes_, true},
               {Area::receive, own_, 0, block_bytes_, true}, {});
    }
    return std::move(assignment_);
  }

 private:
  [[nodiscard]] static bool carries(const Step& step) {
    return (step.kind == StepKind::send || step.kind == StepKind::recv) && step.bytes > 0;
  }

  /// Decides whether messages go through staging memory, and lays it out.
  void measure() {
    for (const Step& step : schedule_.steps) {
      if (!carries(step)) continue;
      Bytes& bytes = message_bytes_[key(step)];
      bytes = std::max(bytes, step.offset + step.bytes);
    }
    bool segmented = false;
    bool forwards = false;
    bool joins = false;
    bool has_holes = false;
    const StepKind part = gathers_ ? StepKind::recv : StepKind::send;
    for (const Step& step : schedule_.steps) {
      if (!carries(step)) continue;
      segmented = segmented || !is_whole(step);
      forwards = forwards || (!at_root_ && step.kind == part);
      joins = joins || step.blocks.range.end - step.blocks.range.begin > 1;
      has_holes = has_holes || !step.blocks.holes.empty();
      in_background_ = in_background_ || step.runner == Runner::background;
    }
    staged_ = forwards || (segmented && !is_contiguous()) ||
              (at_root_ && joins && !has_holes && traits_.packs_blocks);
    if (!staged_) return;
    for (const Step& step : schedule_.steps) {
      const bool is_part = carries(step) && (at_root_ || (forwards && step.kind == part));
      if (is_part) layout_.add(step.blocks.range.begin, step.offset + step.bytes);
    }
    if (!at_root_ && block_bytes_ > 0) layout_.add(own_.begin, block_bytes_);
    assignment_.scratch = layout_.assign();
  }

  using Key = std::pair<BlockIndex, BlockIndex>;
  static Key key(const Step& step) { return {step.blocks.range.begin, step.blocks.range.end}; }

  [[nodiscard]] bool is_whole(const Step& step) const {
    return step.offset == 0 && step.bytes == message_bytes_.at(key(step));
  }

  /// The caller's buffer that this rank's messages read or write.
  [[nodiscard]] Area area() const { return gathers_ == at_root_ ? Area::receive : Area::send; }
  [[nodiscard]] bool is_contiguous() const {
    return gathers_ == at_root_ ? traits_.receive_contiguous : traits_.send_contiguous;
  }

  [[nodiscard]] BufferRef buffer_ref_of(const Step& step) const {
    if (step.bytes == 0) return {};
    if (staged_) {
      return {Area::staging, step.blocks, layout_.offset(step.blocks.range.begin) + step.offset,
              step.bytes, false};
    }
    return {area(), step.blocks, step.offset, step.bytes, is_whole(step)};
  }

  Operation& append(StepKind kind) {
    Operation& operation = assignment_.operations.emplace_back();
    operation.kind = kind;
    operation.first_need = operation.last_need = static_cast<int>(assignment_.needs.size());
    return operation;
  }

  void need(Operation& operation, int other) {
    assignment_.needs.push_back(other);
    operation.last_need = static_cast<int>(assignment_.needs.size());
  }

  void add_wait(const Step& step) {
    Operation& wait = append(StepKind::wait);
    wait.first = step.first < step.last ? operation_of_[static_cast<std::size_t>(step.first)] : 0;
    wait.last =
        step.first < step.last ? operation_of_[static_cast<std::size_t>(step.last) - 1] + 1 : 0;
  }

  void add_message(const Step& step) {
    const bool sends = step.kind == StepKind::send;
    const int number = static_cast<int>(assignment_.operations.size());
    Operation& operation = append(step.kind);
    operation.runner = step.runner;
    operation.peer = step.peer;
    operation.message = (sends ? sent_ : received_)[step.peer]++;
    (sends ? operation.from : operation.to) = buffer_ref_of(step);
    operation.slots = step.slots;
    if (step.after >= 0) need(operation, operation_of_[static_cast<std::size_t>(step.after)]);
    if (!carries(step)) return;
    if (!sends) {
      writers_.push_back({number, step.blocks.range});
    } else {
      for (const Writer& writer : writers_) {
        if (overlap(writer.blocks, step.blocks.range)) need(operation, writer.operation);
      }
    }
  }

  static bool overlap(BlockRange a, BlockRange b) { return a.begin < b.end && b.begin < a.end; }

  /// Copies the caller's blocks between its buffer and staging memory: into staging before the
  /// first send of a rank that sends them, out of it at the end at a rank that keeps them.
  void copy_between_caller_and_staging() {
    const auto copy = [&](BlockRange blocks, Bytes bytes) {
      const BufferRef packed = {Area::staging, blocks, layout_.offset(blocks.begin), bytes, false};
      const BufferRef callers = {area(), blocks, 0, bytes, true};
      if (gathers_ == at_root_) {
        add_copy(packed, callers, blocks);
      } else {
        add_copy(callers, packed, {});
        writers_.push_back({static_cast<int>(assignment_.operations.size()) - 1, blocks});
      }
    };
    if (!at_root_) {
      if (block_bytes_ > 0) copy(own_, block_bytes_);
      return;
    }
    for (const auto& [range, bytes] : message_bytes_) {
      copy({range.first, range.second}, bytes);
    }
  }

  /// A copy that needs the receives of `after`.
  void add_copy(const BufferRef& from, const BufferRef& to, BlockRange after) {
    Operation& copy = append(StepKind::copy);
    if (in_background_ && from.area == Area::staging) copy.runner = Runner::background;
    copy.from = from;
    copy.to = to;
    for (const Writer& writer : writers_) {
      if (overlap(writer.blocks, after)) need(copy, writer.operation);
    }
  }

  struct Writer {
    int operation;
    BlockRange blocks;
  };

  const Schedule& schedule_;
  BlockRange own_;
  Bytes block_bytes_;
  BufferTraits traits_;
  bool gathers_;
  bool at_root_;
  bool in_background_ = false;
  bool staged_ = false;
  std::vector<int> operation_of_;
  std::map<Key, Bytes> message_bytes_;  ///< total bytes of the blocks of each message
  std::map<Rank, int> sent_;
  std::map<Rank, int> received_;
  std::vector<Writer> writers_;
  Layout layout_;
  BufferAssignment assignment_;
};

}  // namespace

BufferAssignment assign_buffers(const Schedule& schedule, Position position, Bytes block_bytes,
                                const BufferTraits& traits) {
  return BufferAssigner(schedule, position, block_bytes, traits).run();
}

}  // namespace tutti
