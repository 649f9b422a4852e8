/// Runs the protocols of all ranks in one thread.
#include "knowledge.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "algorithms/staging.hpp"
#include "protocols/fixed_tree.hpp"
#include "protocols/tree_construction.hpp"

namespace tutti {

namespace {

/// The protocols of all ranks, and what they learn.
class Protocols {
 public:
  Protocols(const Specification& spec, const Call& call) : problems_(spec, call) {
    if (spec.knowledge() == Knowledge::tree_neighbours) construct_trees(call);
    const bool subtrees = spec.knowledge() == Knowledge::subtree_sizes;
    if (!subtrees && spec.knowledge() != Knowledge::all_sizes) return;
    const Order order = subtrees ? problems_.order() : Order::rotated(call.p(), call.root);
    const int k = subtrees ? spec.parameters.k : 2;
    sizes_.resize(call.sizes.size(), subtrees ? std::vector<Bytes>() : call.sizes);
    for (Rank rank = 0; rank < call.p(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      TreeEdges edges = knomial_edges(order, k, rank);
      all.push_back(subtrees ? subtree_sizes(std::move(edges), call.sizes[at],
                                             problems_.growth().heaviest(), sizes_[at])
                             : all_sizes(std::move(edges), sizes_[at]));
    }
  }

 private:
  void construct_trees(const Call& call) {
    grown_.resize(call.sizes.size());
    for (Rank rank = 0; rank < call.p(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      all.push_back(construct_tree(problems_.growth(), rank, call.sizes[at],
                                   rank == call.root ? problems_.tree() : nullptr, grown_[at]));
    }
  }

  Problems problems_;
  std::vector<GrownTree> grown_;
  std::vector<std::vector<Bytes>> sizes_;

 public:
  std::vector<Protocol> all;  ///< last, because they have references to the rest
};

/// Delivers messages between the ranks' protocols, and counts the chains of dependent messages.
class Exchanges {
 public:
  explicit Exchanges(std::vector<Protocol>& protocols)
      : protocols_(protocols), current_(protocols.size()), step_(protocols.size(), 0) {}

  KnowledgePrice run() {
    for (std::size_t rank = 0; rank < protocols_.size(); ++rank) advance(rank);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < protocols_.size(); ++rank) {
        while (current_[rank] != nullptr && receive_all(rank)) {
          advance(rank);
          moved = true;
        }
      }
    }
    return price_;
  }

 private:
  struct Sent {
    std::vector<std::int64_t> words;
    int step = 0;
  };
  using Channel = std::tuple<Rank, Rank, int>;  // from, to, tag

  void advance(std::size_t rank) {
    current_[rank] = protocols_[rank].next();
    if (current_[rank] == nullptr) return;
    for (const Exchange::Message& message : current_[rank]->sends) {
      const int step = step_[rank] + 1;
      channels_[{static_cast<Rank>(rank), message.peer, message.tag}].push_back(
          {message.words, step});
      price_.steps = std::max(price_.steps, step);
      ++price_.messages;
      price_.words += static_cast<long>(message.words.size());
    }
  }

  /// Delivers the messages that the rank waits for; false if one is missing.
  bool receive_all(std::size_t rank) {
    Exchange& exchange = *current_[rank];
    const auto channel = [&](const Exchange::Message& message) -> std::deque<Sent>& {
      return channels_[{message.peer, static_cast<Rank>(rank), message.tag}];
    };
    for (const Exchange::Message& message : exchange.recvs) {
      if (channel(message).empty()) return false;
    }
    for (Exchange::Message& message : exchange.recvs) {
      std::deque<Sent>& sent = channel(message);
      message.words = std::move(sent.front().words);
      step_[rank] = std::max(step_[rank], sent.front().step);
      sent.pop_front();
    }
    return true;
  }

  std::vector<Protocol>& protocols_;
  std::vector<Exchange*> current_;  ///< by rank; null: none is left
  std::vector<int> step_;  ///< by rank: the longest chain of messages up to its last receive
  std::map<Channel, std::deque<Sent>> channels_;
  KnowledgePrice price_;
};

}  // namespace

KnowledgePrice knowledge_price(const Specification& specification, const Call& call) {
  if (!is_irregular(call.collective)) return {};
  Protocols protocols(specification, call);
  return Exchanges(protocols.all).run();
}

}  // namespace tutti
