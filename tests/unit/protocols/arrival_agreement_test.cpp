/// All ranks use one epoch for one call, whatever the sequence of messages, and none waits for the
/// slowest.
#include "protocols/arrival_agreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "unit/arrival_table.hpp"

namespace tutti {
namespace {

using testing_support::Table;

/// Ranks and a coordinator. Messages between two ranks keep their sequence; everything else happens
/// in random sequence.
class Job {
 public:
  Job(int p, CallNumber calls, std::uint64_t seed)
      : p_(p),
        calls_(calls),
        random_(seed),
        coordinator_(p),
        members_(static_cast<std::size_t>(p)),
        at_(static_cast<std::size_t>(p), 1),
        asked_(static_cast<std::size_t>(p), 0),
        to_coordinator_(static_cast<std::size_t>(p)),
        to_rank_(static_cast<std::size_t>(p)) {
    for (int rank = 0; rank < p; ++rank) hint_rates_.push_back(random_() % 4);
  }

  /// Runs all calls of all ranks, each up to its farewell.
  void run() {
    while (!is_over()) {
      const auto rank = static_cast<std::size_t>(random_() % static_cast<unsigned>(p_));
      switch (random_() % 3) {
        case 0:
          act(rank);
          break;
        case 1:
          deliver_question(rank);
          break;
        default:
          deliver_answer(rank);
      }
      ++now_;
    }
  }

  void expect_agreement() const {
    for (const auto& [call, epochs] : used_) {
      ASSERT_EQ(epochs.size(), static_cast<std::size_t>(p_));
      for (const auto& epoch : epochs) {
        EXPECT_EQ(epoch->number, epochs[0]->number) << "call " << call;
        EXPECT_EQ(epoch->arrivals, epochs[0]->arrivals) << "call " << call;
      }
    }
    for (const auto& [call, profiles] : seen_) {
      ASSERT_EQ(profiles.size(), static_cast<std::size_t>(p_));
      for (const auto& profile : profiles) {
        ASSERT_EQ(profile == nullptr, profiles[0] == nullptr) << "call " << call;
        if (profile == nullptr) continue;
        EXPECT_EQ(profile->number, profiles[0]->number) << "call " << call;
        EXPECT_EQ(profile->arrivals, profiles[0]->arrivals) << "call " << call;
      }
    }
  }

  /// The number of profiles that calls used.
  [[nodiscard]] std::size_t profiles() const {
    std::set<std::int64_t> numbers;
    for (const auto& [call, profiles] : seen_) {
      if (profiles[0] != nullptr) numbers.insert(profiles[0]->number);
    }
    return numbers.size();
  }

 private:
  /// The calls before which a rank gives a progress hint.
  enum HintRate : unsigned { every_call, every_second_call, never, sometimes };

  [[nodiscard]] bool is_over() const {
    return std::ranges::all_of(members_, &ArrivalMember::is_over);
  }

  bool gives_hint(std::size_t rank) {
    switch (hint_rates_[rank]) {
      case every_call:
        return true;
      case every_second_call:
        return at_[rank] % 2 == 0;
      case never:
        return false;
      default:
        return random_() % 2 == 0;
    }
  }

  /// Takes one step of the rank, if it can.
  void act(std::size_t rank) {
    CallNumber& call = at_[rank];
    if (call > calls_) return;
    const auto epoch = members_[rank].epoch_for(call);
    std::shared_ptr<const ArrivalEpoch> profile;
    const bool has_profile = members_[rank].find_profile(call, after(call), profile);
    if (epoch == nullptr || !has_profile) {
      if (asked_[rank] == call) return;
      asked_[rank] = call;
      if (!has_profile) to_coordinator_[rank].push_back(ArrivalMember::profile_question(call));
      if (epoch == nullptr) to_coordinator_[rank].push_back(ArrivalMember::question(call));
      return;
    }
    used_[call].push_back(epoch);
    seen_[call].push_back(profile);
    members_[rank].forget_before(call + 1);
    if (++call > calls_) {
      to_coordinator_[rank].push_back(ArrivalMember::farewell());
    } else if (gives_hint(rank)) {
      const double noise = static_cast<double>(random_() % 100);
      // Every 8 calls other ranks are late, so that profiles change.
      const double delay = rank % 3 == static_cast<std::size_t>(call / 8) % 3 ? 1000 : 0;
      to_coordinator_[rank].push_back(ArrivalMember::estimate(
          {call, now_ + noise + delay, 10, after(call), random_() % 2 == 0}));
    }
  }

  static Collective after(CallNumber call) {
    return call % 4 < 3 ? Collective::gather : Collective::scatterv;
  }

  void deliver_question(std::size_t rank) {
    if (to_coordinator_[rank].empty()) return;
    const std::vector<ArrivalMessage> messages =
        coordinator_.take(static_cast<Rank>(rank), to_coordinator_[rank].front(), now_);
    to_coordinator_[rank].pop_front();
    for (const ArrivalMessage& message : messages) {
      EXPECT_LE(message.size(), max_arrival_words(p_));
      for (auto& messages_to : to_rank_) messages_to.push_back(message);
    }
  }

  void deliver_answer(std::size_t rank) {
    if (to_rank_[rank].empty()) return;
    members_[rank].take(to_rank_[rank].front());
    to_rank_[rank].pop_front();
  }

  int p_;
  CallNumber calls_;
  std::mt19937_64 random_;
  double now_ = 0;
  ArrivalCoordinator coordinator_;
  std::vector<ArrivalMember> members_;
  std::vector<CallNumber> at_;  ///< the call that each rank comes to next
  std::vector<CallNumber> asked_;
  std::vector<unsigned> hint_rates_;
  std::vector<std::deque<std::vector<std::int64_t>>> to_coordinator_;
  std::vector<std::deque<std::vector<std::int64_t>>> to_rank_;
  std::map<CallNumber, std::vector<std::shared_ptr<const ArrivalEpoch>>> used_;
  std::map<CallNumber, std::vector<std::shared_ptr<const ArrivalEpoch>>> seen_;
};

TEST(ArrivalAgreement, GivesAllRanksOneEpochForOneCallInAnySequenceOfEvents) {
  std::size_t max_profiles = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Job job(1 + static_cast<int>(seed % 7), seed % 10 == 0 ? 60 : 12, seed);
    job.run();
    job.expect_agreement();
    max_profiles = std::max(max_profiles, job.profiles());
    if (HasFailure()) return;
  }
  EXPECT_GE(max_profiles, 4U);
}

TEST(ArrivalAgreement, PublishesTheEstimatesOfACallWhenTheyAreComplete) {
  Table table(3);
  table.tell(2, 1, 5.0);
  table.tell(0, 1, 9.0);
  EXPECT_EQ(table.member(1).epoch_for(1), nullptr);
  table.tell(1, 1, 7.0);
  const auto epoch = table.member(1).epoch_for(1);
  ASSERT_NE(epoch, nullptr);
  EXPECT_EQ(epoch->arrivals, (std::vector<double>{9.0, 7.0, 5.0}));
  EXPECT_EQ(epoch->ranking, (std::vector<double>{2, 1, 0}));
  EXPECT_EQ(table.member(1).newest(), epoch);
}

TEST(ArrivalAgreement, AnswersBeforeTheSlowestRankSendsItsEstimate) {
  Table table(3);
  for (Rank rank = 0; rank < 3; ++rank) table.tell(rank, 1, rank == 1 ? 3.0 : 1.0);
  // Rank 0 arrives at call 2 before the estimate of rank 1, whose delay was 2 before.
  table.tell(0, 2, 11.0);
  table.tell(2, 2, 10.0);
  table.ask(0, 2, 11.0);
  const auto epoch = table.member(2).epoch_for(2);
  ASSERT_NE(epoch, nullptr);
  EXPECT_EQ(epoch->arrivals, (std::vector<double>{11.0, 12.0, 10.0}));
  // An estimate that is too late for call 2 counts for later ones: delay 10, then (2 + 10) / 2.
  table.tell(1, 2, 20.0);
  table.ask(2, 3, 30.0);
  EXPECT_EQ(table.member(0).epoch_for(3)->arrivals, (std::vector<double>{0.5, 6.0, 0.0}));
}

TEST(ArrivalAgreement, ExpectsARankWithoutEstimatesLast) {
  Table table(3);
  table.tell(0, 1, 4.0);
  table.tell(2, 1, 6.0);
  table.ask(0, 1, 5.0);
  EXPECT_EQ(table.member(0).epoch_for(1)->ranking, (std::vector<double>{0, 2, 1}));
}

TEST(ArrivalAgreement, TakesASkippedEstimateAsMissingOnceTheRankSendsTheNext) {
  Table table(2);
  table.tell(0, 1, 1.0);
  table.tell(0, 2, 2.0);
  EXPECT_EQ(table.member(0).newest()->number, 0);
  table.tell(1, 2, 2.5);
  // Both calls are settled: the first without rank 1, the second with both.
  EXPECT_EQ(table.member(0).newest()->number, 2);
  EXPECT_EQ(table.member(0).epoch_for(2)->arrivals, (std::vector<double>{2.0, 2.5}));
}

TEST(ArrivalAgreement, IgnoresEstimatesForASettledCall) {
  Table table(2);
  table.tell(0, 1, 1.0);
  table.tell(1, 1, 3.0);  // a delay of 2
  table.tell(1, 1, 4.0);  // a second estimate for the same call
  // Rank 0 runs ahead, by more calls than are remembered, before rank 1 estimates the next one.
  for (CallNumber call = 2; call <= 12; ++call) table.tell(0, call, static_cast<double>(call));
  table.tell(1, 2, 4.0);
  table.ask(0, 12, 10.0);
  EXPECT_EQ(table.member(0).epoch_for(12)->arrivals, (std::vector<double>{12.0, 14.0}));
}

TEST(ArrivalAgreement, AsksSeldomWithoutAnyEstimates) {
  Table table(2);
  int questions = 0;
  for (CallNumber call = 1; call <= 1000; ++call) {
    if (table.member(1).epoch_for(call) != nullptr) continue;
    table.ask(1, call, 0);
    ++questions;
    ASSERT_NE(table.member(1).epoch_for(call), nullptr);
    EXPECT_EQ(table.member(1).epoch_for(call)->number, 0);
  }
  EXPECT_LE(questions, 25);  // 1, 1, 2, 4, .. 64, 64, ..
}

TEST(ArrivalAgreement, RemembersFewCallsOfARankThatIsFarAhead) {
  Table table(2);
  for (CallNumber call = 1; call <= 100; ++call) table.tell(1, call, 1.0);
  // All but the last 8 calls are settled without rank 0.
  EXPECT_EQ(table.member(0).newest()->number, 92);
}

}  // namespace
}  // namespace tutti
