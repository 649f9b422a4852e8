/// The rounds of the distributed construction.
#include "protocols/tree_construction.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t words_of_cube = 4;
constexpr int verdict_tag = 200;  // above 2 * levels + 1 for any p

void put(std::vector<std::int64_t>& words, const Cube& cube) {
  words.insert(words.end(), {cube.ready, cube.total, cube.root_block, cube.gather_root});
}

Cube cube_at(const std::vector<std::int64_t>& words, std::size_t index) {
  const std::size_t at = index * words_of_cube;
  return {words[at], words[at + 1], words[at + 2], static_cast<Rank>(words[at + 3])};
}

/// True if each subtree in `grown` is in `expected`, which may also hold subtrees that a threshold
/// detached.
bool are_among(const std::vector<Subtree>& grown, const std::vector<Subtree>& expected) {
  return std::ranges::all_of(grown, [&](const Subtree& child) {
    return std::ranges::any_of(expected, [&](const Subtree& other) {
      return child.root == other.root && child.bytes == other.bytes;
    });
  });
}

}  // namespace

TreeConstruction::TreeConstruction(const Growth& growth, Rank rank, Bytes own,
                                   const OrderedTree* central)
    : growth_(growth), rank_(rank), cube_(growth_.single(rank, own)) {
  neighbours_.self = {rank, {rank, rank + 1}, {}, own, growth_.ready_at(rank)};
  if (central == nullptr) return;
  promoted_ = central->promoted();
  children_ = central->grown_children();
}

std::size_t TreeConstruction::position_in_group() const {
  return index(rank_ / growth_.width(level_) - first_);
}

bool TreeConstruction::next(Exchange& exchange) {
  const Exchange completed = std::exchange(exchange, {});
  while (exchange.empty()) {
    switch (phase_) {
      case Phase::exchange:
        phase_ = Phase::notify;
        start_notify(completed, exchange);
        break;
      case Phase::notify:
        finish_level(completed);
        [[fallthrough]];
      case Phase::begin:
        ++level_;
        if (level_ < growth_.levels() && (fixed_root_ || gather_root_)) {
          start_exchange(exchange);
        } else {
          phase_ = Phase::await_verdict;
          start_verdict(exchange);
        }
        break;
      case Phase::await_verdict:
        phase_ = Phase::forward_verdict;
        forward_verdict(completed, exchange);
        break;
      case Phase::forward_verdict:
        apply_promotions(growth_, promoted_, neighbours_);
        phase_ = Phase::done;
        return false;
      case Phase::done:
        return false;
    }
  }
  return true;
}

void TreeConstruction::start_exchange(Exchange& exchange) {
  const long index = rank_ / growth_.width(level_);
  const auto [first, end] = growth_.group(level_, index / growth_.radix());
  first_ = first;
  group_.assign(static_cast<std::size_t>(end - first), Cube{});
  if (end - first == 1) {
    phase_ = Phase::begin;  // no neighbour in this round
    return;
  }
  phase_ = Phase::exchange;
  if (!fixed_root_) return;
  group_[position_in_group()] = cube_;
  for (long i = first; i < end; ++i) {
    if (i == index) continue;
    const Rank peer = growth_.fixed_root(level_, i);
    exchange.sends.push_back({peer, 2 * level_, {}});
    put(exchange.sends.back().words, cube_);
    exchange.recvs.push_back({peer, 2 * level_, std::vector<std::int64_t>(words_of_cube)});
  }
}

void TreeConstruction::start_notify(const Exchange& completed, Exchange& next) {
  const int tag = 2 * level_ + 1;
  if (!fixed_root_) {
    const Rank fixed_root = growth_.fixed_root(level_, rank_ / growth_.width(level_));
    next.recvs.push_back(
        {fixed_root, tag, std::vector<std::int64_t>(words_of_cube * group_.size())});
    return;
  }
  std::size_t received = 0;
  for (std::size_t i = 0; i < group_.size(); ++i) {
    if (i != position_in_group()) group_[i] = cube_at(completed.recvs[received++].words, 0);
  }
  if (cube_.gather_root == rank_) return;
  next.sends.push_back({cube_.gather_root, tag, {}});
  for (const Cube& cube : group_) put(next.sends.back().words, cube);
}

void TreeConstruction::finish_level(const Exchange& completed) {
  if (!fixed_root_) {
    for (std::size_t i = 0; i < group_.size(); ++i)
      group_[i] = cube_at(completed.recvs[0].words, i);
  }
  const std::size_t mine = position_in_group();
  if (gather_root_) gather_root_ = apply_join(growth_, level_, first_, group_, mine, neighbours_);
  if (fixed_root_) {
    cube_ = growth_.join(level_, first_, group_).joined;
    fixed_root_ = mine + 1 == group_.size();
  }
}

bool TreeConstruction::awaits_verdict() const {
  return rank_ != growth_.root && growth_.may_be_promoted(neighbours_.self.bytes);
}

void TreeConstruction::start_verdict(Exchange& exchange) {
  if (!awaits_verdict()) return;
  exchange.recvs.push_back(
      {neighbours_.parent, verdict_tag, std::vector<std::int64_t>(max_promotions)});
}

void TreeConstruction::forward_verdict(const Exchange& completed, Exchange& next) {
  if (awaits_verdict()) {
    for (const std::int64_t word : completed.recvs[0].words) {
      if (word != no_rank) promoted_.push_back(static_cast<Rank>(word));
    }
  }
  const bool at_root = rank_ == growth_.root;
  if (at_root && !are_among(neighbours_.children, children_)) {
    accepted_ = false;
    promoted_.clear();
  }
  std::vector<std::int64_t> words(promoted_.begin(), promoted_.end());
  words.resize(max_promotions, no_rank);
  // Detached subtrees await the verdict from the root itself.
  for (const Subtree& child : at_root&& accepted_ ? children_ : neighbours_.children) {
    if (growth_.may_be_promoted(child.bytes))
      next.sends.push_back({child.root, verdict_tag, words});
  }
}

}  // namespace tutti
