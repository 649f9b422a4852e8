/// The distributed construction finds the central tree, in the number of steps of the paper.
#include "protocols/tree_construction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "protocols/ordered_tree.hpp"

namespace tutti {
namespace {

/// Runs the protocol of all ranks; it delivers messages one at a time in random sequence.
class Ranks {
 public:
  Ranks(const Growth& growth, const std::vector<Bytes>& sizes, std::uint64_t seed)
      : random_(seed),
        tree_(growth, sizes),
        grown_(sizes.size()),
        exchanges_(sizes.size()),
        clocks_(sizes.size(), 0) {
    for (Rank rank = 0; rank < growth.p; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const bool knows_all = rank == growth.root;
      sides_.push_back(
          construct_tree(growth, rank, sizes[at], knows_all ? &tree_ : nullptr, grown_[at]));
    }
  }

  /// False if a rank waits for a message that no rank sends, or a message is left over.
  bool run() {
    std::vector<char> open(sides_.size(), 1);
    for (std::size_t rank = 0; rank < sides_.size(); ++rank) open[rank] = proceed(rank);
    while (!in_flight_.empty()) {
      const std::size_t chosen = random_() % in_flight_.size();
      std::swap(in_flight_[chosen], in_flight_.back());
      delivered_.push_back(std::move(in_flight_.back()));
      in_flight_.pop_back();
      const auto to = static_cast<std::size_t>(delivered_.back().to);
      while (open[to] != 0 && take(to)) open[to] = proceed(to);
    }
    return delivered_.empty() && std::count(open.begin(), open.end(), 1) == 0;
  }

  const TreeNeighbours& neighbours(Rank rank) const {
    return grown_[static_cast<std::size_t>(rank)].neighbours;
  }
  long messages() const { return messages_; }
  /// Steps if all ranks move in lockstep: messages of one step have one tag.
  int steps() const { return static_cast<int>(tags_.size()); }
  /// Steps if each rank moves when it can: the longest chain of dependent exchanges.
  int dependent_steps() const { return *std::max_element(clocks_.begin(), clocks_.end()); }
  std::size_t longest_message() const { return longest_; }

 private:
  struct Message {
    Rank from;
    Rank to;
    int tag;
    std::vector<std::int64_t> words;
    int clock;
  };

  /// Begins the rank's next exchange and sends its messages. An exchange without receives ends at
  /// once.
  char proceed(std::size_t rank) {
    exchanges_[rank] = sides_[rank].next();
    if (exchanges_[rank] == nullptr) return 0;
    for (const Exchange::Message& message : exchanges_[rank]->sends) {
      in_flight_.push_back(
          {static_cast<Rank>(rank), message.peer, message.tag, message.words, clocks_[rank] + 1});
      longest_ = std::max(longest_, message.words.size());
      tags_.insert(message.tag);
      ++messages_;
    }
    return take(rank) ? proceed(rank) : 1;
  }

  std::vector<Message>::iterator find(std::size_t rank, const Exchange::Message& wanted) {
    return std::find_if(delivered_.begin(), delivered_.end(), [&](const Message& message) {
      return message.to == static_cast<Rank>(rank) && message.from == wanted.peer &&
             message.tag == wanted.tag;
    });
  }

  /// Completes the rank's exchange if all its messages have arrived.
  bool take(std::size_t rank) {
    Exchange& exchange = *exchanges_[rank];
    for (const Exchange::Message& wanted : exchange.recvs) {
      if (find(rank, wanted) == delivered_.end()) return false;
    }
    if (!exchange.sends.empty()) ++clocks_[rank];
    for (Exchange::Message& wanted : exchange.recvs) {
      const auto message = find(rank, wanted);
      EXPECT_EQ(message->words.size(), wanted.words.size());
      wanted.words = message->words;
      clocks_[rank] = std::max(clocks_[rank], message->clock);
      delivered_.erase(message);
    }
    return true;
  }

  std::mt19937_64 random_;
  OrderedTree tree_;
  std::vector<GrownTree> grown_;
  std::vector<Protocol> sides_;
  std::vector<Exchange*> exchanges_;
  std::vector<Message> in_flight_;
  std::vector<Message> delivered_;
  std::vector<int> clocks_;
  std::set<int> tags_;
  std::size_t longest_ = 0;
  long messages_ = 0;
};

Growth random_growth(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Growth growth;
  growth.p = 1 + below(70);
  growth.root = below(growth.p + 1) - 1;
  growth.parameters.ports = 1 + below(3);
  growth.parameters.rule = below(2) == 0 ? JoinRule::gather_time : JoinRule::volume;
  growth.parameters.promote = below(2) == 0;
  growth.parameters.threshold = below(3) == 0 ? below(40) : -1;
  growth.half_performance_length = below(4);
  growth.memory = below(3) == 0 ? below(200) : 0;
  if (below(2) == 0) {
    std::vector<Bytes> ready;
    for (int rank = 0; rank < growth.p; ++rank) ready.push_back(below(3) == 0 ? below(200) : 0);
    growth.ready = std::make_shared<const std::vector<Bytes>>(std::move(ready));
  }
  return growth;
}

std::vector<Bytes> random_sizes(std::mt19937_64& random, int p) {
  const Bytes each = static_cast<Bytes>(random() % 20);
  const bool equal = random() % 4 == 0;
  std::vector<Bytes> sizes;
  for (int i = 0; i < p; ++i) {
    const Bytes bytes = random() % 3 == 0 ? 0 : static_cast<Bytes>(random() % (1 + random() % 50));
    sizes.push_back(equal ? each : bytes);
  }
  return sizes;
}

TEST(TreeConstruction, EqualsTheCentralTreeInThousandsOfCases) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 6000; ++i) {
    const Growth growth = random_growth(random);
    const std::vector<Bytes> sizes = random_sizes(random, growth.p);
    const OrderedTree tree(growth, sizes);
    Ranks ranks(growth, sizes, random());
    ASSERT_TRUE(ranks.run()) << "case " << i;
    for (Rank rank = 0; rank < growth.p; ++rank) {
      // The root computes its own neighbours from all sizes, for it may get further children.
      if (rank == tree.root() && growth.root != no_rank) continue;
      ASSERT_EQ(ranks.neighbours(rank), tree.neighbours(rank)) << "case " << i << " rank " << rank;
    }
  }
}

TEST(TreeConstruction, TakesThePapersStepsOfConstantSize) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    Growth growth = random_growth(random);
    growth.parameters.ports = 1;
    growth.parameters.promote = false;
    const std::vector<Bytes> sizes = random_sizes(random, growth.p);
    Ranks ranks(growth, sizes, random());
    ASSERT_TRUE(ranks.run());
    EXPECT_LE(ranks.steps(), std::max(2 * growth.levels() - 1, 0)) << "p " << growth.p;
    EXPECT_LE(ranks.dependent_steps(), ranks.steps()) << "p " << growth.p;
    EXPECT_LE(ranks.longest_message(), 8U);  // two cubes of four words
  }
}

TEST(TreeConstruction, TakesSevenStepsAnd25MessagesForThePapersExample) {
  for (const Rank root : {9, no_rank}) {
    Growth growth;
    growth.p = 11;
    growth.root = root;
    growth.parameters.rule = JoinRule::gather_time;
    growth.parameters.promote = false;
    Ranks ranks(growth, {1, 0, 2, 3, 4, 2, 0, 0, 1, 7, 5}, 1);
    ASSERT_TRUE(ranks.run());
    EXPECT_EQ(ranks.steps(), 7);  // 2 ceil(log2 11) - 1
    EXPECT_LE(ranks.dependent_steps(), 7);
    EXPECT_EQ(ranks.messages(), 25);
  }
}

TEST(TreeConstruction, SendsVerdictsDownHeavySubtreesOnly) {
  Growth growth;
  growth.p = 64;
  growth.root = 32;
  std::vector<Bytes> sizes(64, 0);
  growth.half_performance_length = 1000;  // no subtree is worth a verdict
  Ranks without(growth, sizes, 1);
  ASSERT_TRUE(without.run());
  growth.parameters.promote = false;
  Ranks plain(growth, sizes, 1);
  ASSERT_TRUE(plain.run());
  EXPECT_EQ(without.messages(), plain.messages());
}

}  // namespace
}  // namespace tutti
