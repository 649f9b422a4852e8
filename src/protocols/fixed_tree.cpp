/// Sends sizes up and down a fixed tree.
#include "protocols/fixed_tree.hpp"

#include <utility>

namespace tutti {

namespace {
constexpr int up_tag = 300;
constexpr int down_tag = 301;
}  // namespace

Protocol subtree_sizes(TreeEdges edges, Bytes own, Bytes heaviest, std::vector<Bytes>& children) {
  Exchange up;
  for (const Rank child : edges.children) up.recvs.push_back({child, up_tag, {0}});
  co_yield up;
  for (const Exchange::Message& message : up.recvs) {
    children.push_back(message.words[0]);
    if (message.words[0] <= heaviest) own += message.words[0];
  }
  Exchange sum;
  if (edges.parent != no_rank) sum.sends.push_back({edges.parent, up_tag, {own}});
  co_yield sum;
}

Protocol all_sizes(TreeEdges edges, std::vector<Bytes>& sizes) {
  if (edges.parent != no_rank) {
    Exchange from_parent;
    from_parent.recvs.push_back({edges.parent, down_tag, std::vector<std::int64_t>(sizes.size())});
    co_yield from_parent;
    sizes = std::move(from_parent.recvs[0].words);
  }
  Exchange down;
  for (const Rank child : edges.children) down.sends.push_back({child, down_tag, sizes});
  co_yield down;
}

}  // namespace tutti
