/// Assigns buffers to blocks that only move.
#include "lowering/movement.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "lowering/block_writers.hpp"

namespace tutti {

namespace {

class MovementLowerer {
 public:
  MovementLowerer(const Schedule& schedule, const Problem& problem, const BufferTraits& traits)
      : schedule_(schedule),
        problem_(problem),
        traits_(traits),
        kind_(block_kind(schedule.collective)),
        me_(problem.position()) {}

  BufferAssignment run() {
    begin();
    for (const Step& step : schedule_.steps) {
      spans_.push_back({next(), 0, -1});
      if (step.kind == StepKind::wait) {
        add_wait(step);
      } else {
        spans_.back().message = add_message(step);
      }
      spans_.back().end = next();
    }
    end();
    assignment_.scratch = scratch_;
    return std::move(assignment_);
  }

 private:
  /// The operations of a step, and which of them is its message.
  struct Span {
    int begin;
    int end;
    int message;
  };

  [[nodiscard]] int next() const { return static_cast<int>(assignment_.operations.size()); }
  [[nodiscard]] Bytes bytes_of(const Blocks& blocks) const {
    Bytes bytes = 0;
    blocks.for_each_run([&](BlockRange run) { bytes += problem_.sizes.of(run); });
    return bytes;
  }
  [[nodiscard]] bool is_whole(const Step& step) const {
    return step.offset == 0 && step.bytes == bytes_of(step.blocks);
  }

  // The locations of blocks.

  [[nodiscard]] bool is_bcast() const { return kind_ == BlockKind::parts; }
  [[nodiscard]] bool is_pairs() const { return kind_ == BlockKind::pairs; }
  [[nodiscard]] Position source(BlockIndex pair) const {
    return static_cast<Position>(pair / problem_.p);
  }
  [[nodiscard]] Position target(BlockIndex pair) const {
    return static_cast<Position>(pair % problem_.p);
  }
  /// All blocks; none if they are pairs.
  [[nodiscard]] BlockRange everything() const {
    return is_pairs() ? BlockRange{} : BlockRange{0, schedule_.blocks()};
  }
  /// The blocks that this rank holds at the start.
  [[nodiscard]] BlockRange own() const {
    if (kind_ == BlockKind::none) return {};
    if (is_bcast()) return problem_.at_root() ? everything() : BlockRange{};
    if (is_pairs()) return {me_ * problem_.p + me_, me_ * problem_.p + me_ + 1};
    return {me_, me_ + 1};
  }

  /// Decides whether blocks are in staging memory, and copies this rank's blocks there.
  void begin() {
    if (is_pairs()) {
      if (traits_.in_place) load_pairs();
      return;
    }
    const Bytes all = kind_ == BlockKind::none ? 0 : problem_.sizes.of(everything());
    for (const Step& step : schedule_.steps) {
      const bool part = step.bytes > 0 && (is_bcast() ? step.bytes < all : !is_whole(step));
      staged_ = staged_ || (part && !(traits_.receive_contiguous && traits_.send_contiguous));
    }
    if (!staged_) return;
    scratch_ = all;
    if (problem_.sizes.of(own()) == 0) return;
    const Area from = is_bcast() || traits_.in_place ? Area::receive : Area::send;
    copy(callers(from, own()), packed(own()), Runner::caller, {});
    note_writer(own(), next() - 1);
  }

  /// alltoall(v) in ref: copies the blocks to send to staging, because receives overwrite them.
  void load_pairs() {
    for (Position to = 0; to < problem_.p; ++to) {
      const BlockRange pair = problem_.pair(me_, to);
      const Bytes bytes = problem_.sizes.of(pair);
      if (to == me_ || bytes == 0) continue;
      // The receive buffer is indexed by the source of a block.
      const BufferRef there = {Area::receive, problem_.pair(to, me_), 0, bytes, true};
      homes_[pair.begin] = reserve(bytes);
      copy(there, {Area::staging, pair, homes_[pair.begin], bytes, false}, Runner::caller, {});
      note_writer(pair, next() - 1);
    }
  }

  /// Copies the rank's own block and all staged blocks to the receive buffer.
  void end() {
    const bool keeps_sent = is_bcast() || traits_.in_place;
    if (!sent_is_copied_ && !keeps_sent) copy_sent();
    if (!staged_ || (is_bcast() && problem_.at_root())) return;
    const BlockRange kept = own();
    const auto unload = [&](BlockRange run) {
      if (run.empty() || problem_.sizes.of(run) == 0) return;
      copy(packed(run), callers(Area::receive, run), last_runner_, run);
    };
    if (is_bcast()) return unload(everything());
    unload({0, kept.begin});
    unload({kept.end, everything().end});
  }

  /// Copies the rank's own block from the send to the receive buffer, if it has one.
  void copy_sent() {
    sent_is_copied_ = true;
    if (own().empty() || problem_.sizes.of(own()) == 0) return;
    copy(callers(Area::send, own()), callers(Area::receive, own()), Runner::caller, {});
    if (!staged_) note_writer(own(), next() - 1);
  }

  [[nodiscard]] BufferRef callers(Area area, const Blocks& blocks) const {
    const Bytes bytes = bytes_of(blocks);
    if (!is_bcast()) return {area, blocks, 0, bytes, true};
    // The parts of a vector are ranges of bytes.
    return {area, blocks, problem_.sizes.of({0, blocks.range.begin}), bytes,
            bytes == problem_.sizes.of(everything())};
  }
  /// The reference to blocks in staging memory, if all blocks are there.
  [[nodiscard]] BufferRef packed(BlockRange blocks) const {
    return {Area::staging, blocks, problem_.sizes.of({0, blocks.begin}), problem_.sizes.of(blocks),
            false};
  }
  Bytes reserve(Bytes bytes) { return std::exchange(scratch_, scratch_ + bytes); }

  /// Shortens `run` to the blocks that are contiguous with its first one, and returns their
  /// reference.
  [[nodiscard]] BufferRef home(BlockRange& run) const {
    if (!is_pairs()) return staged_ ? packed(run) : callers(Area::receive, run);
    const auto area = [&](BlockIndex pair) {
      return homes_.contains(pair) ? Area::staging
             : source(pair) == me_ ? Area::send
                                   : Area::receive;
    };
    const Area first = area(run.begin);
    BufferRef ref = {first, {}, 0, 0, true};
    if (first == Area::staging) ref.offset = homes_.at(run.begin);
    BlockIndex end = run.begin;
    while (end < run.end && area(end) == first) {
      if (first == Area::staging && homes_.at(end) != ref.offset + ref.bytes) break;
      ref.bytes += problem_.sizes.of({end, end + 1});
      ++end;
    }
    run.end = end;
    ref.blocks = run;
    ref.whole = first != Area::staging;
    return ref;
  }

  /// Calls visit(BufferRef) for each contiguous range of blocks. Blocks in the caller's buffers
  /// count as one range, because a datatype describes them.
  template <class Visit>
  void for_each_range(const Blocks& blocks, Visit visit) {
    if (!is_pairs() && !is_bcast() && !staged_) return visit(callers(Area::receive, blocks));
    blocks.for_each_run([&](BlockRange rest) {
      while (!rest.empty()) {
        BlockRange run = rest;
        const BufferRef ref = home(run);
        rest.begin = run.end;
        visit(ref);
      }
    });
  }

  // Messages.

  [[nodiscard]] bool is_single(const Blocks& blocks) const {
    return blocks.holes.empty() && blocks.range.count() == 1;
  }

  /// True if the message is packed in staging memory.
  [[nodiscard]] bool is_assembled(const Step& step) const {
    if (is_single(step.blocks)) {
      // A block for another rank stays where it is received.
      return is_pairs() && step.kind == StepKind::recv && target(step.blocks.range.begin) != me_;
    }
    if (is_pairs()) return true;
    if (staged_ || is_bcast()) return !step.blocks.holes.empty();
    return traits_.packs_blocks && (traits_.receive_scattered || !step.blocks.holes.empty());
  }

  /// The reference for a message that is sent from, or received into, the location of its blocks.
  BufferRef direct(const Step& step) {
    BlockRange range = step.blocks.range;
    if (is_pairs() || staged_) {
      BufferRef ref = home(range);
      ref.offset += step.offset;
      ref.bytes = step.bytes;
      ref.whole = ref.area != Area::staging && is_whole(step);
      return ref;
    }
    if (is_bcast()) {
      BufferRef ref = callers(Area::receive, range);
      ref.offset += step.offset;
      ref.whole = ref.whole && is_whole(step);
      ref.bytes = step.bytes;
      return ref;
    }
    const bool from_send = step.kind == StepKind::send && !traits_.in_place &&
                           is_single(step.blocks) && range == own();
    if (!from_send && step.kind == StepKind::send) need_sent(step.blocks);
    return {from_send ? Area::send : Area::receive, step.blocks, step.offset, step.bytes,
            is_whole(step)};
  }

  /// Before a message of several blocks: copies the rank's own block to the receive buffer if the
  /// message includes it.
  void need_sent(const Blocks& blocks) {
    if (staged_ || is_pairs() || is_bcast() || sent_is_copied_ || traits_.in_place) return;
    bool contained = false;
    blocks.for_each_run([&](BlockRange run) { contained = contained || run.contains(me_); });
    if (contained) copy_sent();
  }

  int add_message(const Step& step) {
    last_runner_ = step.runner;
    if (step.bytes == 0) return message(step, {}, {});
    if (step.kind == StepKind::recv) return add_receive(step);
    if (!is_assembled(step)) {
      const BufferRef from = direct(step);
      return message(step, from, from.area == Area::send ? Blocks() : step.blocks);
    }
    need_sent(step.blocks);
    const Bytes at = reserve(step.bytes);
    const int first = next();
    Bytes done = 0;
    for_each_range(step.blocks, [&](const BufferRef& ref) {
      copy(ref, {Area::staging, ref.blocks, at + done, ref.bytes, false}, step.runner, ref.blocks);
      done += ref.bytes;
    });
    const int last = next();
    const int number = message(step, {Area::staging, step.blocks, at, step.bytes, false}, {});
    for (int copied = first; copied < last; ++copied) need(copied);
    return number;
  }

  int add_receive(const Step& step) {
    if (!is_assembled(step)) {
      const int number = message(step, direct(step), {});
      if (is_pairs()) need_load_before(step.blocks.range.begin);
      note_writer(step.blocks, number);
      return number;
    }
    const Bytes at = reserve(step.bytes);
    const int number = message(step, {Area::staging, step.blocks, at, step.bytes, false}, {});
    note_writer(step.blocks, number);
    if (is_pairs()) {
      unpack_pairs(step, at);
      return number;
    }
    Bytes done = 0;
    for_each_range(step.blocks, [&](const BufferRef& ref) {
      copy({Area::staging, ref.blocks, at + done, ref.bytes, false}, ref, step.runner, ref.blocks);
      rewrite(ref.blocks, next() - 1);
      done += ref.bytes;
    });
    return number;
  }

  /// Copies the blocks for this rank to the caller; the others stay where they are.
  void unpack_pairs(const Step& step, Bytes at) {
    step.blocks.for_each_run([&](BlockRange run) {
      for (BlockIndex pair = run.begin; pair < run.end; ++pair) {
        const Bytes bytes = problem_.sizes.of({pair, pair + 1});
        const BlockRange block = {pair, pair + 1};
        if (target(pair) == me_) {
          copy({Area::staging, block, at, bytes, false}, callers(Area::receive, block), step.runner,
               block);
          need_load_before(pair);
        } else {
          homes_[pair] = at;
        }
        at += bytes;
      }
    });
  }

  int message(const Step& step, const BufferRef& ref, const Blocks& reads) {
    const bool sends = step.kind == StepKind::send;
    const int number = append(step.kind, step.runner);
    Operation& operation = assignment_.operations.back();
    operation.peer = step.peer;
    operation.message = (sends ? sent_ : received_)[step.peer]++;
    (sends ? operation.from : operation.to) = ref;
    operation.slots = step.slots;
    if (step.after >= 0) need(spans_[static_cast<std::size_t>(step.after)].message);
    need_writers(reads);
    return number;
  }

  void copy(const BufferRef& from, const BufferRef& to, Runner runner, const Blocks& reads) {
    append(StepKind::copy, runner);
    assignment_.operations.back().from = from;
    assignment_.operations.back().to = to;
    need_writers(reads);
  }

  void add_wait(const Step& step) {
    append(StepKind::wait, step.runner);
    Operation& wait = assignment_.operations.back();
    if (step.first >= step.last) return;
    wait.first = spans_[static_cast<std::size_t>(step.first)].begin;
    wait.last = spans_[static_cast<std::size_t>(step.last) - 1].end;
  }

  int append(StepKind kind, Runner runner) {
    Operation& operation = assignment_.operations.emplace_back();
    operation.kind = kind;
    operation.runner = runner;
    operation.first_need = operation.last_need = static_cast<int>(assignment_.needs.size());
    return next() - 1;
  }

  // Dependencies.

  /// In ref, a received block overwrites the block for its source; its load must come first.
  void need_load_before(BlockIndex received) {
    if (!traits_.in_place) return;
    need_writers(problem_.pair(me_, source(received)));
  }

  /// The last operation needs `other`.
  void need(int other) {
    Operation& operation = assignment_.operations.back();
    const auto mine = assignment_.needs.begin() + operation.first_need;
    if (std::find(mine, assignment_.needs.end(), other) != assignment_.needs.end()) return;
    assignment_.needs.push_back(other);
    operation.last_need = static_cast<int>(assignment_.needs.size());
  }
  void need_writers(const Blocks& blocks) {
    blocks.for_each_run(
        [&](BlockRange run) { writers_.for_each(run, [&](int writer) { need(writer); }); });
  }
  void note_writer(const Blocks& blocks, int operation) {
    blocks.for_each_run([&](BlockRange run) { writers_.add(run, operation); });
  }
  void rewrite(const Blocks& blocks, int operation) {
    blocks.for_each_run([&](BlockRange run) { writers_.replace(run, operation); });
  }

  const Schedule& schedule_;
  const Problem& problem_;
  BufferTraits traits_;
  BlockKind kind_;
  Position me_;
  bool staged_ = false;
  bool sent_is_copied_ = false;
  Runner last_runner_ = Runner::caller;
  Bytes scratch_ = 0;
  std::vector<Span> spans_;                      ///< by step
  std::unordered_map<BlockIndex, Bytes> homes_;  ///< by pair: its offset in staging
  BlockWriters writers_;
  std::map<Rank, int> sent_;
  std::map<Rank, int> received_;
  BufferAssignment assignment_;
};

}  // namespace

BufferAssignment lower_movement(const Schedule& schedule, const Problem& problem,
                                const BufferTraits& traits) {
  return MovementLowerer(schedule, problem, traits).run();
}

}  // namespace tutti
