/// All ranks go by one version for one call, whatever comes when, and nobody waits for the last.
#include "knowledge/arrival_agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <set>

namespace tutti {
namespace {

/// Ranks and a coordinator between which messages travel in any sequence that keeps those of two
/// ranks in theirs. What a rank does next, and when, is random.
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
    for (int rank = 0; rank < p; ++rank) habits_.push_back(random_() % 4);
  }

  /// Runs all calls of all ranks; every rank leaves in the end.
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
    for (const auto& [call, versions] : used_) {
      ASSERT_EQ(versions.size(), static_cast<std::size_t>(p_));
      for (const auto& version : versions) {
        EXPECT_EQ(version->number, versions[0]->number) << "call " << call;
        EXPECT_EQ(version->arrivals, versions[0]->arrivals) << "call " << call;
        EXPECT_EQ(version->error, versions[0]->error) << "call " << call;
      }
    }
    for (const auto& [call, pictures] : seen_) {
      ASSERT_EQ(pictures.size(), static_cast<std::size_t>(p_));
      for (const auto& picture : pictures) {
        ASSERT_EQ(picture == nullptr, pictures[0] == nullptr) << "call " << call;
        if (picture == nullptr) continue;
        EXPECT_EQ(picture->number, pictures[0]->number) << "call " << call;
        EXPECT_EQ(picture->arrivals, pictures[0]->arrivals) << "call " << call;
        EXPECT_EQ(picture->error, pictures[0]->error) << "call " << call;
        expect_same(picture->times.native, pictures[0]->times.native);
        EXPECT_EQ(picture->times.lost, pictures[0]->times.lost);
      }
    }
  }

  static void expect_same(double a, double b) { EXPECT_TRUE(a == b || (a != a && b != b)); }

  /// How many pictures calls went by.
  [[nodiscard]] std::size_t pictures() const {
    std::set<std::int64_t> numbers;
    for (const auto& [call, pictures] : seen_) {
      if (pictures[0] != nullptr) numbers.insert(pictures[0]->number);
    }
    return numbers.size();
  }

 private:
  enum Habit : unsigned { every_call, every_second_call, never, sometimes };

  [[nodiscard]] bool is_over() const {
    for (const ArrivalMember& member : members_) {
      if (!member.is_over()) return false;
    }
    return coordinator_.is_over();
  }

  bool has_an_edge(std::size_t rank) {
    switch (habits_[rank]) {
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

  /// The rank goes one step on, if it can.
  void act(std::size_t rank) {
    CallNumber& call = at_[rank];
    if (call > calls_) return;
    const auto version = members_[rank].version_for(call);
    std::shared_ptr<const ArrivalVersion> picture;
    const bool sees = members_[rank].find_picture(call, after(call), picture);
    if (version == nullptr || !sees) {
      if (asked_[rank] == call) return;
      asked_[rank] = call;
      if (!sees) to_coordinator_[rank].push_back(ArrivalMember::picture_question(call));
      if (version == nullptr) to_coordinator_[rank].push_back(ArrivalMember::question(call));
      return;
    }
    used_[call].push_back(version);
    seen_[call].push_back(picture);
    members_[rank].forget_before(call + 1);
    if (++call > calls_) {
      to_coordinator_[rank].push_back(ArrivalMember::farewell());
    } else if (has_an_edge(rank)) {
      const double late = static_cast<double>(random_() % 100);
      // Now these are late, now those, so that pictures change.
      const double later = rank % 3 == static_cast<std::size_t>(call / 8) % 3 ? 1000 : 0;
      to_coordinator_[rank].push_back(ArrivalMember::estimate(
          {call, now_ + late + later, 10, 8, after(call), random_() % 2 == 0, before(call)}));
    }
  }

  /// Whether Tutti's algorithm ran is alike on all ranks; some do not tell.
  CallPassage before(CallNumber call) {
    CallPassage passage = {{Collective::gather, 0, 64}, after(call - 1), call / 16 % 4};
    if (random_() % 16 != 0) passage.arrival = now_;
    passage.exit = now_ + static_cast<double>(random_() % 1000);
    return passage;
  }

  static Collective after(CallNumber call) {
    return call % 4 < 3 ? Collective::gather : Collective::scatterv;
  }

  void deliver_question(std::size_t rank) {
    if (to_coordinator_[rank].empty()) return;
    std::vector<ArrivalMail> out;
    coordinator_.take(static_cast<Rank>(rank), to_coordinator_[rank].front(), now_, out);
    to_coordinator_[rank].pop_front();
    for (ArrivalMail& mail : out) {
      EXPECT_LE(mail.words.size(), longest_arrival_mail(p_));
      to_rank_[static_cast<std::size_t>(mail.peer)].push_back(std::move(mail.words));
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
  std::vector<unsigned> habits_;
  std::vector<std::deque<std::vector<std::int64_t>>> to_coordinator_;
  std::vector<std::deque<std::vector<std::int64_t>>> to_rank_;
  std::map<CallNumber, std::vector<std::shared_ptr<const ArrivalVersion>>> used_;
  std::map<CallNumber, std::vector<std::shared_ptr<const ArrivalVersion>>> seen_;
};

TEST(ArrivalAgreement, GivesAllRanksOneVersionForOneCallInAnySequenceOfEvents) {
  std::size_t most_pictures = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Job job(1 + static_cast<int>(seed % 7), seed % 10 == 0 ? 60 : 12, seed);
    job.run();
    job.expect_agreement();
    most_pictures = std::max(most_pictures, job.pictures());
    if (HasFailure()) return;
  }
  EXPECT_GE(most_pictures, 4U);
}

/// The coordinator and the members of p ranks, where every message arrives at once.
class Table {
 public:
  explicit Table(int p) : coordinator_(p), members_(static_cast<std::size_t>(p)) {}

  void tell(Rank rank, CallNumber call, double arrival) {
    send(rank, ArrivalMember::estimate({call, arrival}), 0);
  }
  void tell(Rank rank, const ArrivalEstimate& estimate) {
    send(rank, ArrivalMember::estimate(estimate), 0);
  }
  /// The picture for a call after a gather; null where there is none. Asks if need be.
  std::shared_ptr<const ArrivalVersion> picture(Rank rank, CallNumber call) {
    std::shared_ptr<const ArrivalVersion> found;
    if (!member(rank).find_picture(call, Collective::gather, found)) {
      ++questions_;
      send(rank, ArrivalMember::picture_question(call), 0);
      EXPECT_TRUE(member(rank).find_picture(call, Collective::gather, found));
    }
    return found;
  }
  [[nodiscard]] int questions() const { return questions_; }
  void ask(Rank rank, CallNumber call, double now) {
    send(rank, ArrivalMember::question(call), now);
  }
  ArrivalMember& member(Rank rank) { return members_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] long messages() const { return messages_; }

 private:
  void send(Rank from, const std::vector<std::int64_t>& words, double now) {
    std::vector<ArrivalMail> out;
    coordinator_.take(from, words, now, out);
    messages_ += static_cast<long>(out.size());
    for (const ArrivalMail& mail : out) member(mail.peer).take(mail.words);
  }

  ArrivalCoordinator coordinator_;
  std::vector<ArrivalMember> members_;
  long messages_ = 0;
  int questions_ = 0;
};

TEST(ArrivalAgreement, PublishesTheEstimatesOfACallWhenTheyAreComplete) {
  Table table(3);
  table.tell(2, 1, 5.0);
  table.tell(0, 1, 9.0);
  EXPECT_EQ(table.member(1).version_for(1), nullptr);
  table.tell(1, 1, 7.0);
  const auto version = table.member(1).version_for(1);
  ASSERT_NE(version, nullptr);
  EXPECT_EQ(version->arrivals, (std::vector<double>{9.0, 7.0, 5.0}));
  EXPECT_EQ(version->places, (std::vector<double>{2, 1, 0}));
  EXPECT_EQ(table.member(1).newest(), version);
}

TEST(ArrivalAgreement, AnswersBeforeTheSlowestHasSpoken) {
  Table table(3);
  for (Rank rank = 0; rank < 3; ++rank) table.tell(rank, 1, rank == 1 ? 3.0 : 1.0);
  // At call 2, rank 1 has not passed its edge when rank 0 arrives: it was 2 late before.
  table.tell(0, 2, 11.0);
  table.tell(2, 2, 10.0);
  table.ask(0, 2, 11.0);
  const auto version = table.member(2).version_for(2);
  ASSERT_NE(version, nullptr);
  EXPECT_EQ(version->arrivals, (std::vector<double>{11.0, 12.0, 10.0}));
  // What comes too late for call 2 still teaches something for later ones: 10 late, then (2+10)/2.
  table.tell(1, 2, 20.0);
  table.ask(2, 3, 30.0);
  EXPECT_EQ(table.member(0).version_for(3)->arrivals, (std::vector<double>{0.5, 6.0, 0.0}));
}

TEST(ArrivalAgreement, TakesARankThatNeverSpeaksAsTheLast) {
  Table table(3);
  table.tell(0, 1, 4.0);
  table.tell(2, 1, 6.0);
  table.ask(0, 1, 5.0);
  EXPECT_EQ(table.member(0).version_for(1)->places, (std::vector<double>{0, 2, 1}));
}

TEST(ArrivalAgreement, TakesASkippedEdgeAsMissingOnceTheRankSpeaksAgain) {
  Table table(2);
  table.tell(0, 1, 1.0);
  table.tell(0, 2, 2.0);
  EXPECT_EQ(table.member(0).newest()->number, 0);
  table.tell(1, 2, 2.5);
  // Both calls are settled: the first without rank 1, the second with both.
  EXPECT_EQ(table.member(0).newest()->number, 2);
  EXPECT_EQ(table.member(0).version_for(2)->arrivals, (std::vector<double>{2.0, 2.5}));
}

TEST(ArrivalAgreement, AsksSeldomWhereNothingIsEverKnown) {
  Table table(2);
  int questions = 0;
  for (CallNumber call = 1; call <= 1000; ++call) {
    if (table.member(1).version_for(call) != nullptr) continue;
    table.ask(1, call, 0);
    ++questions;
    ASSERT_NE(table.member(1).version_for(call), nullptr);
    EXPECT_EQ(table.member(1).version_for(call)->number, 0);
  }
  EXPECT_LE(questions, 25);  // 1, 1, 2, 4, .. 64, 64, ..
}

TEST(ArrivalAgreement, RemembersLittleOfARankThatIsFarAhead) {
  Table table(2);
  for (CallNumber call = 1; call <= 100; ++call) table.tell(1, call, 1.0);
  // All but the last eight calls are settled without rank 0.
  EXPECT_EQ(table.member(0).newest()->number, 92);
}

/// Ranks that tell before each call, or before each eighth, with one of them `late`.
class Calls {
 public:
  explicit Calls(int p) : p_(p), table(p) {}

  /// Up to `last`; all go by one picture at each call. The number of the first call that goes by a
  /// new one, or 0.
  CallNumber run(CallNumber last, CallNumber told_one_in, Rank late, double seconds) {
    CallNumber first_new = 0;
    for (; call_ <= last; ++call_) {
      std::shared_ptr<const ArrivalVersion> one;
      for (Rank rank = 0; rank < p_; ++rank) {
        const auto picture = table.picture(rank, call_);
        if (rank == 0) one = picture;
        EXPECT_EQ(picture == nullptr ? 0 : picture->number, one == nullptr ? 0 : one->number);
        if (call_ % told_one_in != 0) continue;
        const double arrival = static_cast<double>(call_) + (rank == late ? seconds : 0);
        table.tell(rank,
                   {call_ + 1, arrival, rank == 2 ? 3e-4 : 1e-4, 8, Collective::gather, false});
      }
      const std::int64_t number = one == nullptr ? 0 : one->number;
      if (number != number_ && first_new == 0) first_new = call_;
      number_ = number;
      newest = one;
    }
    return first_new;
  }

 private:
  int p_;
  CallNumber call_ = 1;
  std::int64_t number_ = 0;

 public:
  Table table;
  std::shared_ptr<const ArrivalVersion> newest;
};

TEST(ArrivalPictures, AreKnownAfterAFewCallsWithTheWorstRanksError) {
  Calls calls(4);
  // Calls 2 to 4 are told of when all have left the call before; call 5 has its lease by then.
  EXPECT_EQ(calls.run(8, 1, 1, 0.01), 6);
  ASSERT_NE(calls.newest, nullptr);
  EXPECT_NEAR(calls.newest->arrivals[1], 0.01, 1e-12);
  EXPECT_EQ(calls.newest->places, (std::vector<double>{0, 3, 1, 2}));
  EXPECT_EQ(calls.newest->error, 3e-4);
  EXPECT_EQ(calls.newest->block, 8);
}

TEST(ArrivalPictures, CostLittleWhileNothingChanges) {
  Calls calls(4);
  calls.run(14, 1, 1, 0.01);  // ranks tell for eight calls after the change at the sixth
  const long before = calls.table.messages();
  EXPECT_EQ(calls.run(1008, 8, 1, 0.01), 0);
  // One message to each rank for 32 calls, and some while leases grow; no version is made.
  EXPECT_LE(calls.table.messages() - before, 4 * (1000 / 32 + 8));
  // Nor does anybody ask, but for the first call.
  EXPECT_LE(calls.table.questions(), 3);
}

TEST(ArrivalPictures, FollowANewLateRank) {
  Calls calls(4);
  calls.run(104, 8, 1, 0.01);
  const CallNumber changed = calls.run(304, 8, 3, 0.01);
  EXPECT_GT(changed, 104);
  // Four forecasts, and what was leased by then: half a lease and a call ahead of its end, and the
  // next one.
  EXPECT_LE(changed, 104 + 4 * 8 + 16 + 1 + 32 + 1);
  EXPECT_EQ(calls.newest->places[3], 3);
}

TEST(ArrivalPictures, AreThereWhenPersistentCallsStart) {
  // They tell of a call at its edge, after its start, and now these are late, now those.
  Table table(4);
  for (CallNumber call = 1; call <= 100; ++call) {
    for (Rank rank = 0; rank < 4; ++rank) table.picture(rank, call);
    for (Rank rank = 0; rank < 4; ++rank) {
      const double late = rank == static_cast<Rank>(call / 8 % 4) ? 1.0 : 0.0;
      const double arrival = static_cast<double>(call) + late;
      table.tell(rank, {call, arrival, 1e-4, 8, Collective::gather, false});
    }
  }
  EXPECT_LE(table.questions(), 4) << "but for the first call nobody waits for an answer";
  EXPECT_GT(table.picture(0, 100)->number, 4);
}

TEST(ArrivalPictures, NeedAWordOfEachRankAndAnErrorThatIsKnown) {
  Table table(2);
  EXPECT_EQ(table.picture(0, 1), nullptr);
  for (CallNumber call = 2; call < 40; ++call) {
    table.tell(0, {call, 1.0, 1e-4, 0, Collective::gather, false});
    EXPECT_EQ(table.picture(0, call), nullptr);  // rank 1 has not said anything
  }
  for (CallNumber call = 40; call < 80; ++call) {
    table.tell(0, {call, 1.0, 1e-4, 0, Collective::gather, false});
    table.tell(1, {call, 2.0, std::nan(""), 0, Collective::gather, false});
    EXPECT_EQ(table.picture(0, call), nullptr);
  }
  for (CallNumber call = 80; call < 83; ++call) {
    table.tell(0, {call, 1.0, 1e-4, 0, Collective::gather, false});
    table.tell(1, {call, 2.0, 1e-4, 0, Collective::gather, false});
  }
  EXPECT_NE(table.picture(0, 82 + 16 + 33), nullptr);
}

/// Two ranks whose calls take `seconds` after the last arrival; returns the picture that the call
/// behind them goes by.
std::shared_ptr<const ArrivalVersion> measured(Table& table, CallNumber first, CallNumber last,
                                               RunMark ran, double seconds) {
  for (CallNumber call = first; call <= last; ++call) {
    for (Rank rank = 0; rank < 2; ++rank) {
      table.picture(rank, call);
      const double arrival = 100.0 * static_cast<double>(call) + rank;
      const CallPassage passage = {
          {Collective::gather, 1, 64},
          Collective::gather,
          ran,
          arrival,
          100.0 * static_cast<double>(call) + 1 + (rank == 0 ? seconds : 0)};
      table.tell(rank, {call + 1, arrival + 100, 1e-4, 8, Collective::gather, false, passage});
    }
  }
  const auto picture = table.picture(0, last + 40);  // beyond all leases
  EXPECT_EQ(picture->number, table.picture(1, last + 40)->number);
  return picture;
}

TEST(ArrivalPictures, BringWhatCallsHaveTaken) {
  Table table(2);
  const auto first = measured(table, 1, 4, ran_native, 8.0);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->times.kind, (CallKind{Collective::gather, 1, 64}));
  EXPECT_DOUBLE_EQ(first->times.native, 8.0);
  EXPECT_EQ(first->times.lost, (std::array<RunMark, most_choices>{}));
  const auto second = measured(table, 7, 8, 17, 7.9);
  EXPECT_GT(second->number, first->number);
  EXPECT_DOUBLE_EQ(second->times.native, 8.0);
  EXPECT_EQ(second->times.lost, (std::array<RunMark, most_choices>{17}));
}

constexpr CallKind one_kind = {Collective::gather, 0, 64};

TEST(CallTimer, TellsMediansSeldomAndOfOneKind) {
  CallTimer timer;
  EXPECT_FALSE(timer.take(one_kind, ran_native, 3.0));
  EXPECT_TRUE(timer.take(one_kind, ran_native, 9.0));
  EXPECT_EQ(timer.times().native, 3.0) << "the lower of two";
  EXPECT_FALSE(timer.take(one_kind, ran_native, 9.0)) << "the third call is not looked at";
  EXPECT_TRUE(timer.take(one_kind, ran_native, 9.0));
  EXPECT_EQ(timer.times().native, 9.0);
  int told = 0;
  for (int call = 5; call <= 1024; ++call)
    told += timer.take(one_kind, ran_native, call % 2 * 9.0 + 1) ? 1 : 0;
  EXPECT_LE(told, 8);
  EXPECT_FALSE(timer.take({Collective::gather, 0, 128}, 1, 1.0));
  EXPECT_TRUE(std::isnan(timer.times().native)) << "of another kind";
}

TEST(CallKind, ResemblesWhatIsNeitherHalfNorTwiceAsLarge) {
  const auto with = [](Bytes block) { return CallKind{Collective::gather, 0, block}; };
  for (const Bytes block : {33, 63, 64, 65, 127}) {
    EXPECT_TRUE(resemble(one_kind, with(block)) && resemble(with(block), one_kind)) << block;
  }
  for (const Bytes block : {0, 32, 128}) EXPECT_FALSE(resemble(one_kind, with(block))) << block;
  EXPECT_TRUE(resemble(with(0), with(0)));
  EXPECT_FALSE(resemble(one_kind, {Collective::gather, 1, 64}));
  EXPECT_FALSE(resemble(one_kind, {Collective::scatter, 0, 64}));
}

TEST(CallTimer, GivesUpChoicesThatTakeNoLess) {
  using Lost = std::array<RunMark, most_choices>;
  CallTimer timer;
  timer.take(one_kind, ran_native, 10.0);
  timer.take(one_kind, ran_native, 10.0);
  EXPECT_FALSE(timer.take(one_kind, 1, 14.0)) << "a first call may have to set up much";
  EXPECT_FALSE(timer.take(one_kind, 1, 9.0)) << "the lower of two";
  EXPECT_FALSE(timer.take(one_kind, 1, 14.0));
  EXPECT_TRUE(timer.take(one_kind, 1, 14.0)) << "the lower of two in the middle of four";
  EXPECT_EQ(timer.times().lost, (Lost{1}));
  EXPECT_FALSE(timer.take(one_kind, 1, 99.0)) << "a call that was leased to it before";
  EXPECT_TRUE(timer.take(one_kind, 2, 16.0)) << "a clear loss";
  EXPECT_FALSE(timer.take(one_kind, 3, 9.9));
  EXPECT_FALSE(timer.take(one_kind, 4, 9.9)) << "another's first call";
  EXPECT_TRUE(timer.take(one_kind, 4, 9.9)) << "a gain of a hundredth is none";
  EXPECT_EQ(timer.times().lost, (Lost{1, 2, 4}));
  EXPECT_FALSE(timer.take(one_kind, 3, 99.0)) << "as many as may be have lost";
  timer.take({Collective::gather, 1, 64}, ran_native, 1.0);
  EXPECT_EQ(timer.times().lost, Lost{});
}

TEST(ArrivalHabits, AreMeansInWhichTheLatestCallCountsAHalf) {
  const double nothing = std::nan("");
  ArrivalHabits habits(3);
  EXPECT_FALSE(habits.take(std::vector{nothing, nothing, nothing}));
  EXPECT_TRUE(habits.take(std::vector{5.0, 9.0, nothing}));
  EXPECT_EQ(habits.lateness()[1], 4.0);
  EXPECT_TRUE(std::isnan(habits.lateness()[2]));
  EXPECT_TRUE(habits.take(std::vector{nothing, 3.0, 1.0}));
  EXPECT_EQ(habits.lateness(), (std::vector{0.0, 3.0, 0.0}));
}

TEST(ForecastError, IsMovedLittleByOneCallAndFollowsAHabit) {
  ForecastError error;
  EXPECT_TRUE(std::isnan(error.mean()));
  for (int call = 0; call < 20; ++call) error.add(1e-3);
  EXPECT_DOUBLE_EQ(error.mean(), 1e-3);
  error.add(1.0);
  EXPECT_NEAR(error.mean(), 1.5e-3, 1e-6);
  for (int call = 0; call < 30; ++call) error.add(1.0);
  EXPECT_NEAR(error.mean(), 1.0, 1e-2);
}

}  // namespace
}  // namespace tutti
