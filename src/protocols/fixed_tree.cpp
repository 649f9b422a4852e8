/// Sends sizes up and down a fixed tree.
#include "protocols/fixed_tree.hpp"

#include <utility>

namespace tutti {

namespace {
constexpr int up_tag = 300;
constexpr int down_tag = 301;
}  // namespace

bool SubtreeSizes::next(Exchange& exchange) {
  const Exchange completed = std::exchange(exchange, {});
  if (phase_ == Phase::begin) {
    phase_ = Phase::receive;
    for (const Rank child : edges_.children) exchange.recvs.push_back({child, up_tag, {0}});
    if (!exchange.empty()) return true;
  }
  if (phase_ == Phase::send) return false;
  phase_ = Phase::send;
  for (const Exchange::Message& message : completed.recvs) {
    children_.push_back(message.words[0]);
    if (message.words[0] <= heaviest_) total_ += message.words[0];
  }
  if (edges_.parent != no_rank) exchange.sends.push_back({edges_.parent, up_tag, {total_}});
  return !exchange.empty();
}

bool AllSizes::next(Exchange& exchange) {
  Exchange completed = std::exchange(exchange, {});
  if (phase_ == Phase::begin) {
    phase_ = Phase::receive;
    if (edges_.parent != no_rank) {
      exchange.recvs.push_back({edges_.parent, down_tag, std::vector<std::int64_t>(sizes_.size())});
      return true;
    }
  }
  if (phase_ == Phase::send) return false;
  phase_ = Phase::send;
  if (!completed.recvs.empty()) sizes_ = std::move(completed.recvs[0].words);
  for (const Rank child : edges_.children) exchange.sends.push_back({child, down_tag, sizes_});
  return !exchange.empty();
}

}  // namespace tutti
