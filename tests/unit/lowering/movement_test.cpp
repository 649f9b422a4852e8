/// Collectives that move data, planned, placed and run by threads: every byte, under delays.
#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "run/plan/executor.hpp"
#include "run/plan/planner.hpp"
#include "unit/run/faulty_transport.hpp"
#include "unit/run/thread_transport.hpp"

namespace tutti {
namespace {

using Memory = std::vector<std::byte>;

std::byte payload(Rank from, Rank to, Bytes index) {
  return static_cast<std::byte>((from * 131 + to * 37 + index * 7 + 1) & 0xff);
}

/// Both sides of one rank, with gaps before, between and behind the blocks. Types that are not
/// contiguous are played by regions that refuse anything but whole blocks.
class TwoSides final : public Buffers {
 public:
  struct Side {
    std::vector<Bytes> sizes;  ///< of its blocks, by rank; one of a vector
    std::vector<Bytes> at;
    Memory memory;
    bool contiguous = true;
  };

  static Side side(std::vector<Bytes> sizes, bool contiguous) {
    Side made;
    Bytes end = 0;
    for (const Bytes size : sizes) {
      made.at.push_back(end + 3);
      end += size + 3;
    }
    made.sizes = std::move(sizes);
    made.memory.assign(static_cast<std::size_t>(end + 3), std::byte{0xee});
    made.contiguous = contiguous;
    return made;
  }

  TwoSides(Collective collective, Side& send, Side& receive, const Plan& plan)
      : collective_(collective), send_(send), receive_(receive), order_(plan.order) {
    scratch_.resize(static_cast<std::size_t>(plan.program.scratch));
  }

  int find(const BufferRef& place, Region& region) override {
    region = {};
    if (place.bytes == 0) return 0;
    if (place.area == Area::staging) {
      region = {scratch_.data() + place.offset, place.bytes, 0};
      return 0;
    }
    Side& side = place.area == Area::send ? send_ : receive_;
    EXPECT_TRUE(side.contiguous || place.whole);
    Stretches stretches;
    const BlockKind kind = block_kind(collective_);
    place.blocks.for_each_run([&](BlockRange run) {
      for (BlockIndex block = run.begin; block < run.end; ++block) {
        std::size_t index = 0;
        if (kind == BlockKind::pairs) {
          index = rank(place.area == Area::send ? block % order_.size() : block / order_.size());
        } else if (kind == BlockKind::ranks && place.area == Area::receive) {
          index = rank(block);
        } else if (!stretches.empty()) {
          continue;  // one vector, or one block
        }
        stretches.emplace_back(side.memory.data() + side.at[index], side.sizes[index]);
      }
    });
    if (!place.whole) stretches = {{stretches[0].first + place.offset, place.bytes}};
    Bytes bytes = 0;
    for (const auto& stretch : stretches) bytes += stretch.second;
    EXPECT_EQ(bytes, place.bytes);
    made_.push_back(std::move(stretches));
    region = {nullptr, place.bytes, reinterpret_cast<std::uint64_t>(&made_.back())};
    return 0;
  }

 private:
  [[nodiscard]] std::size_t rank(BlockIndex position) const {
    return static_cast<std::size_t>(order_.rank_at(static_cast<Position>(position)));
  }

  Collective collective_;
  Side& send_;
  Side& receive_;
  const Order& order_;
  Memory scratch_;
  std::deque<Stretches> made_;
};

/// What one call looks like from outside.
struct Case {
  Collective collective;
  std::string algorithm;
  int p;
  Rank root = 0;
  Bytes scale = 1;
  bool in_place = false;
  bool contiguous = true;
  bool packed = false;
  bool scattered = false;
  const std::vector<double>* arrivals = nullptr;
};

class MovedCall {
 public:
  explicit MovedCall(const Case& one)
      : case_(one), spec_(*specification(one.collective, one.algorithm)) {}

  void run_and_check() {
    ThreadNetwork network(case_.p);
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < case_.p; ++rank) {
      threads.emplace_back([&, rank] {
        ThreadTransport inner(network, rank);
        FaultyTransport::Faults faults;
        faults.seed = static_cast<unsigned>(rank + case_.p);
        FaultyTransport transport(inner, faults);
        run_rank(rank, transport);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  [[nodiscard]] BlockKind kind() const { return block_kind(case_.collective); }
  [[nodiscard]] bool irregular() const { return is_irregular(case_.collective); }
  /// What `from` has for `to`; in an allgather the same for all.
  [[nodiscard]] Bytes bytes(Rank from, Rank to) const {
    if (kind() == BlockKind::none) return 0;
    if (!irregular()) return 9 * case_.scale;
    return case_.scale * (kind() == BlockKind::pairs ? (from * 5 + to * 3) % 11 : from * 5 % 11);
  }
  [[nodiscard]] std::byte expected(Rank from, Rank to, Bytes index) const {
    return payload(from, kind() == BlockKind::pairs ? to : 0, index);
  }
  static std::vector<Bytes> one(Bytes bytes) { return {bytes}; }

  void fill(TwoSides::Side& side, std::size_t block, Rank from, Rank to) const {
    for (Bytes i = 0; i < side.sizes[block]; ++i) {
      side.memory[static_cast<std::size_t>(side.at[block] + i)] = expected(from, to, i);
    }
  }

  void run_rank(Rank rank, Transport& transport) const {
    const auto p = static_cast<std::size_t>(case_.p);
    std::vector<Bytes> sent;
    std::vector<Bytes> received;
    for (Rank other = 0; other < case_.p; ++other) {
      // In place, a block must be as long as the one that takes its place.
      sent.push_back(case_.in_place ? bytes(other, rank) : bytes(rank, other));
      received.push_back(bytes(other, rank));
    }
    const bool vector = kind() == BlockKind::parts;
    const bool one_block = vector || kind() == BlockKind::ranks;
    TwoSides::Side send = TwoSides::side(one_block ? one(bytes(rank, 0)) : sent, case_.contiguous);
    TwoSides::Side receive = TwoSides::side(vector ? one(bytes(0, 0)) : received, case_.contiguous);
    const bool in_place = case_.in_place || vector;
    for (std::size_t block = 0; block < p; ++block) {
      const auto to = static_cast<Rank>(block);
      if (vector && (block > 0 || rank != case_.root)) break;
      if (!in_place && block < send.sizes.size()) fill(send, block, rank, to);
      if (vector) fill(receive, 0, case_.root, 0);
      if (in_place && kind() == BlockKind::pairs) fill(receive, block, rank, to);
      if (in_place && kind() == BlockKind::ranks && to == rank) fill(receive, block, rank, 0);
    }
    CallProblem problem;
    problem.specification = &spec_;
    problem.p = case_.p;
    problem.rank = rank;
    problem.root = case_.root;
    problem.traits = {in_place, case_.contiguous, case_.contiguous, case_.packed, case_.scattered};
    problem.arrivals = case_.arrivals;
    CallSizes sizes;
    if (kind() == BlockKind::pairs && irregular()) {
      sizes.sent = sent;
      sizes.received = received;
    } else if (irregular()) {
      sizes.by_rank = received;
    } else {
      sizes.each = bytes(0, 0);
    }
    problem.sizes = &sizes;
    Planner planner;
    Executor executor;
    const Plan* plan = nullptr;
    ASSERT_EQ(planner.prepare(problem, plan), 0);
    const Memory sent_before = send.memory;
    TwoSides buffers(case_.collective, send, receive, *plan);
    EXPECT_EQ(executor.run(plan->program, buffers, transport), 0);
    EXPECT_EQ(send.memory, sent_before);
    check(rank, receive);
  }

  void check(Rank rank, const TwoSides::Side& receive) const {
    std::size_t at = 0;
    const auto check_gap = [&] {
      for (int gap = 0; gap < 3; ++gap) ASSERT_EQ(receive.memory[at++], std::byte{0xee});
    };
    for (std::size_t block = 0; block < receive.sizes.size(); ++block) {
      const Rank from = kind() == BlockKind::parts ? case_.root : static_cast<Rank>(block);
      check_gap();
      for (Bytes i = 0; i < receive.sizes[block]; ++i) {
        ASSERT_EQ(receive.memory[at++], expected(from, rank, i))
            << "rank " << rank << " block " << block << " byte " << i;
      }
    }
    check_gap();
    EXPECT_EQ(at, receive.memory.size());
  }

  Case case_;
  Specification spec_;
};

std::string text_of(const Case& one) {
  return std::string(name_of(one.collective)) + " " + one.algorithm + " p " +
         std::to_string(one.p) + " root " + std::to_string(one.root) +
         (one.in_place ? " in place" : "") + (one.contiguous ? "" : " not contiguous") +
         (one.packed ? " packed" : "") + (one.scattered ? " scattered" : "");
}

template <class Visit>
void for_each_algorithm(Visit visit) {
  for (const Algorithm& algorithm : all_algorithms()) {
    const Collective collective = algorithm.collective;
    if (is_gather_or_scatter(collective) || reduces(collective) || is_one_sided(collective))
      continue;
    visit(collective, std::string(algorithm.name), algorithm);
  }
}

void run_and_check(const Case& one) {
  SCOPED_TRACE(text_of(one));
  MovedCall(one).run_and_check();
}

TEST(MovementLowering, MovesEveryByteWithEveryAlgorithm) {
  for_each_algorithm([](Collective collective, const std::string& name, const Algorithm&) {
    for (const int p : {1, 2, 3, 6, 7}) {
      for (const Rank root : {0, p - 1}) {
        if (root > 0 && !has_root(collective)) continue;
        run_and_check({collective, name, p, root});
      }
    }
  });
}

TEST(MovementLowering, MovesWhatIsInPlace) {
  for_each_algorithm([](Collective collective, const std::string& name, const Algorithm&) {
    if (collective == Collective::bcast || collective == Collective::barrier) return;
    // Pairs are in place where what goes to a rank is as long as what comes from it.
    if (collective == Collective::alltoallv) return;
    for (const int p : {1, 2, 5, 6}) run_and_check({collective, name, p, 0, 1, true});
  });
}

TEST(MovementLowering, TakesWholeBlocksOfWhatIsNotDense) {
  for_each_algorithm([](Collective collective, const std::string& name, const Algorithm&) {
    for (const int p : {2, 5, 6}) {
      // Large enough for several segments and parts.
      run_and_check(
          {collective, name, p, p / 2 * (has_root(collective) ? 1 : 0), 4000, false, false});
    }
  });
}

TEST(MovementLowering, PutsMessagesOfSmallBlocksTogether) {
  for_each_algorithm([](Collective collective, const std::string& name, const Algorithm&) {
    if (block_kind(collective) != BlockKind::ranks) return;
    for (const int p : {2, 5, 8, 9}) {
      for (const bool in_place : {false, true}) {
        run_and_check({collective, name, p, 0, 1, in_place, true, true, false});
        run_and_check({collective, name, p, 0, 1, in_place, true, true, true});
      }
    }
  });
}

TEST(MovementLowering, FollowsArrivals) {
  const std::vector<double> arrivals = {3, 0, 6, 1, 5, 2};
  for_each_algorithm(
      [&](Collective collective, const std::string& name, const Algorithm& algorithm) {
        if (!algorithm.takes("order")) return;
        for (const bool packed : {false, true}) {
          run_and_check({collective, name + ":order=arrival", 6, has_root(collective) ? 2 : 0, 1,
                         false, true, packed, packed, &arrivals});
        }
      });
}

TEST(MovementLowering, CopiesNothingWhereBlocksLieRight) {
  // A ring in place: p - 1 messages each way, straight from and to the receive buffer.
  const Specification ring = *specification(Collective::allgather, "ring");
  CallSizes sizes;
  sizes.each = 100;
  CallProblem problem;
  problem.specification = &ring;
  problem.p = 5;
  problem.rank = 2;
  problem.sizes = &sizes;
  problem.traits.in_place = true;
  Planner planner;
  const Plan* plan = nullptr;
  ASSERT_EQ(planner.prepare(problem, plan), 0);
  EXPECT_EQ(plan->program.scratch, 0);
  EXPECT_EQ(plan->program.operations.size(), 8U);
  const Plan* again = nullptr;
  ASSERT_EQ(planner.prepare(problem, again), 0);
  EXPECT_EQ(again, plan);
}

}  // namespace
}  // namespace tutti
