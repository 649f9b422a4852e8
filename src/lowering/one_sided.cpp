/// Finds the memory of the blocks of puts and notifications.
#include <algorithm>
#include <map>

#include "lowering/lower.hpp"

namespace tutti {

namespace {

class OneSidedLowerer {
 public:
  OneSidedLowerer(const Schedule& schedule, const Problem& problem)
      : schedule_(schedule),
        at_root_(schedule.rank == schedule.root),
        sizes_(problem.sizes),
        in_parts_(block_kind(schedule.collective) == BlockKind::parts),
        own_(in_parts_ ? BlockRange{0, schedule.blocks()}
                       : BlockRange{problem.position(), problem.position() + 1}),
        held_(own_) {
    bool combines = false;
    for (const Step& step : schedule.steps) {
      const BlockRange blocks = step.blocks.range;
      combines = combines || step.kind == StepKind::reduce;
      if (blocks.empty()) continue;
      held_ = {std::min(held_.begin, blocks.begin), std::max(held_.end, blocks.end)};
    }
    const bool in_window = held_ == own_ && !combines;
    home_ = at_root_    ? (flows_to_root() ? Area::receive : Area::send)
            : in_window ? Area::window
                        : Area::staging;
    received_.bytes = combines ? sizes_.of(own_) : 0;
    received_.offset = home_ == Area::staging ? sizes_.of(held_) : 0;
    program_.scratch = received_.offset + received_.bytes;
  }

  Program run() {
    const BufferRef window = {Area::window, {}, 0, sizes_.of(own_)};
    if (flows_to_root()) {
      copy(window, find(own_));
    } else if (at_root_) {
      copy(find(own_), window);
    }
    for (const Step& step : schedule_.steps) {
      ++step_;
      const bool is_last = &step == &schedule_.steps.back();  // it reports that the rank is done
      if (is_last && home_ == Area::staging && !flows_to_root()) copy(find(own_), window);
      add(step);
    }
    run_in_sequence(program_);
    return std::move(program_);
  }

 private:
  [[nodiscard]] bool flows_to_root() const { return tutti::flows_to_root(schedule_.collective); }

  /// Where this rank has blocks.
  [[nodiscard]] BufferRef find(BlockRange blocks) const {
    const Bytes bytes = sizes_.of(blocks);
    const bool users = home_ == Area::send || home_ == Area::receive;
    if (users && !in_parts_) return {home_, blocks, 0, bytes};
    return {home_, {}, sizes_.of({held_.begin, blocks.begin}), bytes};
  }

  Operation& append(OperationKind kind, Rank peer) {
    const Runner runner = at_root_ ? Runner::caller : Runner::background;
    program_.operations.push_back({.kind = kind, .runner = runner, .peer = peer, .step = step_});
    return program_.operations.back();
  }

  void copy(const BufferRef& from, const BufferRef& to) {
    if (from.area == to.area || from.bytes == 0) return;
    Operation& operation = append(OperationKind::copy, no_rank);
    operation.from = from;
    operation.to = to;
  }

  void add(const Step& step) {
    const BlockRange blocks = step.blocks.range;
    if (step.kind == StepKind::put) {
      Operation& put = append(OperationKind::put, step.peer);
      put.from = find(blocks);
      put.to = {Area::window, {}, in_parts_ ? sizes_.of({0, blocks.begin}) : 0, step.bytes};
    } else if (step.kind == StepKind::flush) {
      append(OperationKind::flush, step.peer);
    } else if (step.kind == StepKind::notify) {
      Operation& send = append(OperationKind::send, step.peer);
      send.message = sent_[step.peer]++;
      if (step.carries) send.from = find(blocks);
    } else if (step.kind == StepKind::await) {
      Operation& recv = append(OperationKind::recv, step.peer);
      recv.message = awaited_[step.peer]++;
      if (step.carries) recv.to = step.staged ? received_ : find(blocks);
    } else if (step.kind == StepKind::reduce) {
      Operation& reduce = append(OperationKind::reduce, no_rank);
      reduce.from = received_;
      reduce.to = find(blocks);
    }
  }

  const Schedule& schedule_;
  bool at_root_;
  const Sizes& sizes_;
  bool in_parts_;
  BlockRange own_;
  BlockRange held_;           ///< all blocks that the rank handles
  Area home_ = Area::window;  ///< where they are
  BufferRef received_;        ///< a vector to combine
  StepId step_ = -1;          ///< the current one
  std::map<Rank, int> sent_;  ///< by peer: notifications
  std::map<Rank, int> awaited_;
  Program program_;
};

}  // namespace

Program lower_one_sided(const Schedule& schedule, const Problem& problem) {
  return OneSidedLowerer(schedule, problem).run();
}

}  // namespace tutti
