/// Moves and combines sets of contributions.
#include "verify/contributions.hpp"

namespace tutti {

namespace {

template <class Visit>
void for_each_block(const Step& step, Visit visit) {
  step.blocks.for_each_run([&](BlockRange run) {
    for (BlockIndex block = run.begin; block < run.end; ++block) visit(block);
  });
}

}  // namespace

void Contributions::start(const Contract& contract, const StepGraph& graph) {
  contract_ = contract;
  graph_ = &graph;
  blocks_ = static_cast<std::size_t>(contract.blocks());
  sets_.start(contract.p, contract.p);
  held_.clear();
  for (Rank rank = 0; rank < contract.p; ++rank) {
    sets_.insert(rank, rank);
    held_.insert(held_.end(), blocks_, rank);
  }
  staged_.clear();
  kept_.assign(static_cast<std::size_t>(graph.nodes()), 0);
}

void Contributions::move(Node send) {
  const Node recv = graph_->partner(send);
  const Rank from = graph_->rank_of(send);
  const Rank to = graph_->rank_of(recv);
  const Step& step = graph_->step(recv);
  kept_[static_cast<std::size_t>(recv)] = staged_.size();
  for_each_block(step, [&](BlockIndex block) {
    if (step.staged) {
      staged_.push_back(held(from, block));
    } else {
      held(to, block) = held(from, block);
    }
  });
}

std::optional<Finding> Contributions::combine(Node node) {
  const Rank rank = graph_->rank_of(node);
  const Step& step = graph_->step(node);
  const Node received = graph_->node(rank, step.after);
  std::size_t next = kept_[static_cast<std::size_t>(received)];
  std::optional<Finding> found;
  for_each_block(step, [&](BlockIndex block) {
    if (found) return;
    const Set other = staged_[next++];
    Set& own = held(rank, block);
    if (step.operand == Operand::only) {
      own = other;
      return;
    }
    const auto note = [&](std::string text) {
      found = Finding{rank, graph_->step_of(node), block, std::move(text)};
    };
    if (const Rank twice = sets_.common(own, other); twice != no_rank) {
      return note("combines the contribution of rank " + std::to_string(twice) + " twice");
    }
    const bool left = step.operand == Operand::left;
    const Rank before = sets_.last(left ? other : own);
    const Rank after = sets_.first(left ? own : other);
    if (!contract_.commutative && before > after) {
      return note("puts the contribution of rank " + std::to_string(before) +
                  " before that of rank " + std::to_string(after) +
                  ", and the operation does not commute");
    }
    own = sets_.copy_of(own);
    sets_.insert_all(own, other);
  });
  return found;
}

std::optional<Finding> Contributions::check_result(Rank rank, BlockIndex block) const {
  const Set set = held_[static_cast<std::size_t>(rank) * blocks_ + static_cast<std::size_t>(block)];
  const std::string difference =
      sets_.difference(set, contributors(contract_.collective, contract_.p, rank));
  if (difference.empty()) return std::nullopt;
  return Finding{rank, -1, block, difference + " at the end"};
}

}  // namespace tutti
