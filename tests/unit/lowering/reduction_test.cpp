/// Placed reductions, run with values that tell which ranks are in them and in which sequence.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "algorithms/problems.hpp"
#include "lowering/lower.hpp"
#include "run/plan/executor.hpp"
#include "sweep/sweep.hpp"
#include "unit/run/faulty_transport.hpp"
#include "unit/run/thread_transport.hpp"

namespace tutti {
namespace {

/// A value that remembers how it was made.
struct Element {
  std::uint64_t ranks = 0;  ///< the sum of 8 to the power of each rank that is in it
  std::int16_t lowest = 0;  ///< of the ranks, where they were combined in sequence
  std::int16_t end = 0;     ///< one above the highest; -1 if they were not
  std::int32_t index = 0;   ///< in the vector; -1 if others were combined
  friend bool operator==(const Element&, const Element&) = default;
};

constexpr Bytes unit = sizeof(Element);
using Elements = std::vector<Element>;

Element of_rank(Rank rank, std::size_t index) {
  return {std::uint64_t{1} << (3 * rank), static_cast<std::int16_t>(rank),
          static_cast<std::int16_t>(rank + 1), static_cast<std::int32_t>(index)};
}

Element combined(const Element& left, const Element& right) {
  Element result = {left.ranks + right.ranks, -1, -1, -1};
  if (left.index == right.index) result.index = left.index;
  if (left.end >= 0 && left.end == right.lowest) {
    result.lowest = left.lowest;
    result.end = right.end;
  }
  return result;
}

/// One rank's memory.
class ElementBuffers final : public Buffers {
 public:
  Elements sent;
  Elements received;
  Elements scratch;

  int find(const BufferRef& place, Region& region) override {
    if (place.bytes > 0) region = {at(place), place.bytes, 0};
    return 0;
  }
  int reduce(const BufferRef& from, const BufferRef& to) override {
    EXPECT_EQ(from.bytes, to.bytes);
    Element* result = at(to);
    const Element* left = at(from);
    for (Bytes i = 0; i < to.bytes / unit; ++i) result[i] = combined(left[i], result[i]);
    return 0;
  }

 private:
  Element* at(const BufferRef& place) {
    Elements& area = place.area == Area::send      ? sent
                     : place.area == Area::receive ? received
                                                   : scratch;
    EXPECT_EQ(place.offset % unit, 0);
    EXPECT_LE(place.offset + place.bytes, static_cast<Bytes>(area.size()) * unit);
    return area.data() + place.offset / unit;
  }
};

/// One call of p ranks by one thread, which takes a step here and a step there.
class OrderedCall {
 public:
  OrderedCall(const Specification& spec, const Call& call, bool in_place, bool swaps)
      : spec_(spec), call_(call), in_place_(in_place), swaps_(swaps) {
    const Problems problems(spec, call);
    for (Rank rank = 0; rank < call.p(); ++rank) add_rank(problems, rank);
  }

  /// Runs all ranks in a random sequence, under delays; false if they stop for good. `fail_at`: the
  /// call of the root's transport that fails, as in FaultyTransport.
  bool run(unsigned seed, int fail_at = -1) {
    ThreadNetwork network(call_.p());
    std::vector<std::unique_ptr<ThreadTransport>> sound;
    std::vector<std::unique_ptr<FaultyTransport>> transports;
    std::vector<Executor> executors(buffers_.size());
    std::vector<Rank> turn;
    for (Rank rank = 0; rank < call_.p(); ++rank) {
      sound.push_back(std::make_unique<ThreadTransport>(network, rank));
      FaultyTransport::Faults faults;
      faults.seed = seed + static_cast<unsigned>(rank);
      if (rank == call_.root) faults.fail_at = fail_at;
      transports.push_back(std::make_unique<FaultyTransport>(*sound.back(), faults));
      const auto at = static_cast<std::size_t>(rank);
      executors[at].begin(placements_[at], buffers_[at], *transports[at]);
      turn.push_back(rank);
    }
    std::mt19937 random(seed);
    constexpr int most_delays = 60;  // each is as likely as none
    for (int fruitless = 0; fruitless < most_delays;) {
      std::shuffle(turn.begin(), turn.end(), random);
      bool any = false;
      for (const Rank rank : turn) {
        const auto at = static_cast<std::size_t>(rank);
        bool moved = false;
        error_ = executors[at].progress(moved);
        if (error_ != 0) return false;
        any = any || moved;
      }
      fruitless = any ? 0 : fruitless + 1;
      if (any || !std::ranges::all_of(executors, &Executor::is_done)) continue;
      return std::ranges::all_of(executors, [this](Executor& executor) {
        error_ = executor.finish();
        return error_ == 0;
      });
    }
    return false;
  }
  /// The error that has stopped the run; 0 if none has.
  [[nodiscard]] int error() const { return error_; }

  /// Results are right, and nothing else has changed.
  [[nodiscard]] std::string fault() const {
    for (Rank rank = 0; rank < call_.p(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      const Wanted wanted = wanted_of(rank);
      if (buffers_[at].sent != before_[at].sent) return "changes what rank sends";
      for (std::size_t i = 0; i < buffers_[at].received.size(); ++i) {
        const Element& found = buffers_[at].received[i];
        const bool is_result = i < wanted.count;
        if (!is_result && found == before_[at].received[i]) continue;
        if (is_result && is_right(rank, found, wanted.first + i)) continue;
        return "rank " + std::to_string(rank) + " element " + std::to_string(i) + ": ranks " +
               std::to_string(found.ranks) + " index " + std::to_string(found.index) + " from " +
               std::to_string(found.lowest) + " to " + std::to_string(found.end);
      }
    }
    return "";
  }

  [[nodiscard]] const Program& program(Rank rank) const {
    return placements_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] long operations(OperationKind kind) const {
    long count = 0;
    for (const Program& program : placements_) {
      count += std::count_if(program.operations.begin(), program.operations.end(),
                             [kind](const Operation& each) { return each.kind == kind; });
    }
    return count;
  }

 private:
  /// Elements of the vector that a rank has in the end, from the start of its receive buffer on.
  struct Wanted {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  void add_rank(const Problems& problems, Rank rank) {
    const Schedule schedule = problems.schedule(rank);
    BufferTraits traits;
    traits.in_place = in_place_ && (!has_root(call_.collective) || rank == call_.root);
    traits.swaps = swaps_;
    traits.padding = rank % 2 * unit;
    Program program = lower(schedule, problems.at(rank), 0, traits);
    for (Operation& operation : program.operations) operation.runner = Runner::background;
    ElementBuffers& buffers = buffers_.emplace_back();
    Elements vector;
    for (std::size_t i = 0; i < elements(); ++i) vector.push_back(of_rank(rank, i));
    const Elements guards(elements() + 3, Element{99, 99, 99, 99});
    buffers.sent = vector;
    buffers.received = guards;
    if (traits.in_place) {
      buffers.sent.clear();
      std::copy(vector.begin(), vector.end(), buffers.received.begin());
    }
    buffers.scratch.resize(static_cast<std::size_t>(program.scratch / unit));
    before_.push_back(buffers);
    placements_.push_back(std::move(program));
  }

  [[nodiscard]] std::size_t elements() const {
    Bytes bytes = 0;
    for (const Bytes size : call_.block_sizes(1)) bytes += size;
    return static_cast<std::size_t>(bytes / unit);
  }
  [[nodiscard]] Wanted wanted_of(Rank rank) const {
    if (block_kind(call_.collective) == BlockKind::parts) {
      return {0, has_result(call_.collective, rank, call_.root) ? elements() : 0};
    }
    Wanted wanted;
    for (Rank other = 0; other < rank; ++other) wanted.first += block(other);
    wanted.count = block(rank);
    return wanted;
  }
  [[nodiscard]] std::size_t block(Rank rank) const {
    return static_cast<std::size_t>(call_.sizes[static_cast<std::size_t>(rank)] / unit);
  }
  [[nodiscard]] bool is_right(Rank at, const Element& found, std::size_t index) const {
    std::uint64_t all = 0;
    const int end = contributors(call_.collective, call_.p(), at);
    for (Rank rank = 0; rank < end; ++rank) all += of_rank(rank, 0).ranks;
    const bool in_sequence = found.lowest == 0 && found.end == end;
    return found.ranks == all && found.index == static_cast<std::int32_t>(index) &&
           (in_sequence || spec_.algorithm->commutative);
  }

  Specification spec_;
  Call call_;
  bool in_place_;
  bool swaps_;
  int error_ = 0;
  std::vector<ElementBuffers> buffers_;
  std::vector<ElementBuffers> before_;
  std::vector<Program> placements_;
};

// The same space, cut where instrumented code takes minutes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::array<int, 6> numbers_of_ranks = {1, 2, 3, 4, 5, 7};
constexpr int longest = 17;
#else
constexpr std::array<int, 17> numbers_of_ranks = {1,  2,  3,  4,  5,  6,  7,  8, 9,
                                                  10, 11, 12, 13, 14, 15, 16, 17};
constexpr int longest = 37;
#endif

/// Equal and unequal blocks, none, and vectors that parts do not divide.
std::vector<std::vector<Bytes>> sizes_for(Collective collective, int p) {
  const auto ranks = static_cast<std::size_t>(p);
  std::vector<std::vector<Bytes>> all;
  for (const Bytes count : {0, 1, 5, longest}) {
    all.emplace_back(ranks, count * unit);
  }
  if (!is_irregular(collective)) return all;
  for (const int seed : {3, 7}) {
    std::vector<Bytes>& sizes = all.emplace_back();
    for (int rank = 0; rank < p; ++rank) sizes.push_back((rank * seed + 2) % 5 * unit);
  }
  return all;
}

Call call_of(Collective collective, Rank root, std::vector<Bytes> sizes) {
  Call call{collective, root, std::move(sizes), 2};
  call.unit = unit;
  std::vector<Rank> placed;
  const int p = call.p();
  for (Rank rank = 0; rank < p; ++rank) {
    call.arrivals.push_back((rank * 7) % 5);
    placed.push_back(rank % 2 == 0 ? (root + rank / 2) % p : (root + p - (rank + 1) / 2) % p);
  }
  call.rank_order = placed;
  return call;
}

long run_all(const Specification& spec, int p) {
  const Collective collective = spec.algorithm->collective;
  long cases = 0;
  for (Rank root = 0; root < (has_root(collective) ? p : 1); ++root) {
    if (p > 7 && root != 0 && root != p / 2 && root != p - 1) continue;
    for (const auto& sizes : sizes_for(collective, p)) {
      for (int way = 0; way < (spec.algorithm->commutative ? 4 : 2); ++way) {
        OrderedCall call(spec, call_of(collective, root, sizes), way % 2 == 1, way / 2 == 1);
        const std::string name = std::string(name_of(collective)) + " " + to_text(spec) + " p " +
                                 std::to_string(p) + " root " + std::to_string(root) + " first " +
                                 std::to_string(sizes[0]) + " way " + std::to_string(way);
        EXPECT_TRUE(call.run(static_cast<unsigned>(p))) << name << " stops";
        EXPECT_EQ(call.fault(), "") << name;
        if (testing::Test::HasFailure()) return cases;
        ++cases;
      }
    }
  }
  return cases;
}

class EveryReduction : public testing::TestWithParam<Collective> {};

TEST_P(EveryReduction, CombinesWhatItShouldAndChangesNothingElse) {
  long cases = 0;
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective != GetParam()) continue;
    for (const Specification& spec : variations(algorithm)) {
      // Vectors of these sizes have one part then.
      if (algorithm.takes("parts") && spec.parameters.parts == 0) continue;
      for (const int p : numbers_of_ranks) {
        if (!HasFailure()) cases += run_all(spec, p);
      }
    }
  }
  EXPECT_GT(cases, 100);
}

/// All collectives that combine, by messages.
std::vector<Collective> reductions() {
  std::vector<Collective> all;
  for (const Collective collective : all_collectives) {
    if (reduces(collective) && !is_one_sided(collective)) all.push_back(collective);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(ReductionLowering, EveryReduction, testing::ValuesIn(reductions()),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(ReductionLowering, EndsWithTheErrorOfItsTransport) {
  // The root of a binomial reduce of 4 begins 2 receives; each begin and each poll fails once.
  for (int fail_at = 0; fail_at < 1000; ++fail_at) {
    OrderedCall call(*specification(Collective::reduce, "binomial"),
                     call_of(Collective::reduce, 0, std::vector<Bytes>(4, 3 * unit)), false, false);
    if (call.run(4, fail_at)) {
      EXPECT_GT(fail_at, 2);
      EXPECT_EQ(call.fault(), "");
      return;
    }
    ASSERT_EQ(call.error(), FaultyTransport::Faults().error) << "call " << fail_at;
  }
  FAIL() << "every run fails";
}

TEST(ReductionLowering, ALeafSendsFromWhereTheCallerHasIt) {
  const OrderedCall call(*specification(Collective::reduce, "binomial"),
                         call_of(Collective::reduce, 0, std::vector<Bytes>(8, 3 * unit)), false,
                         true);
  EXPECT_EQ(call.program(7).scratch, 0);
  EXPECT_EQ(call.program(7).operations.size(), 1U);
}

TEST(ReductionLowering, NothingIsCopiedWhereOperandsMayChangeSides) {
  const auto copies = [](const char* name, Collective collective) {
    const OrderedCall call(*specification(collective, name),
                           call_of(collective, 0, std::vector<Bytes>(8, 16 * unit)), false, true);
    return call.operations(OperationKind::copy);
  };
  EXPECT_EQ(copies("halving_doubling", Collective::allreduce), 0);
  EXPECT_EQ(copies("ring", Collective::allreduce), 0);
  EXPECT_EQ(copies("binomial", Collective::reduce), 0);
  EXPECT_EQ(copies("ring", Collective::reduce_scatter), 0);
  EXPECT_EQ(copies("pairwise", Collective::reduce_scatter), 0);
}

TEST(ReductionLowering, StretchesAreSharedAfterWaits) {
  // 7 rounds, of which one receives in the receive buffer and the others in the same stretch.
  const OrderedCall call(*specification(Collective::reduce_scatter, "pairwise"),
                         call_of(Collective::reduce_scatter, 0, std::vector<Bytes>(8, 16 * unit)),
                         false, true);
  EXPECT_EQ(call.program(0).scratch, 16 * unit);
}

TEST(ReductionLowering, ReceivesAsideWithoutAWaitDoNotShare) {
  const OrderedCall call(*specification(Collective::reduce, "linear"),
                         call_of(Collective::reduce, 0, std::vector<Bytes>(5, 16 * unit)), false,
                         false);
  EXPECT_EQ(call.program(0).scratch, 3 * 16 * unit);  // and one in the receive buffer
  EXPECT_TRUE(std::all_of(call.program(0).operations.begin(), call.program(0).operations.end(),
                          [](const Operation& operation) {
                            return operation.kind != OperationKind::recv ||
                                   operation.first_need == operation.last_need;
                          }));
}

TEST(ReductionLowering, AMessageOfBlocksThatDoNotLieTogetherIsCopiedTogether) {
  // Three messages, the last of which is combined by two of the six ranks in two pieces.
  const OrderedCall call(*specification(Collective::reduce_scatter, "circulant"),
                         call_of(Collective::reduce_scatter, 0, std::vector<Bytes>(6, unit)), false,
                         true);
  EXPECT_GT(call.operations(OperationKind::copy), 0);
  EXPECT_EQ(call.operations(OperationKind::send), 18);
}

}  // namespace
}  // namespace tutti
