/// Proficz 2020: its thirteen algorithms by their names, its worked numbers and closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cost/simulate.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

constexpr Collective scatter = Collective::scatter;
constexpr Collective gather = Collective::gather;

/// P ranks with blocks of m bytes, of which one is late by D. Times in the unit of alpha; a block
/// has two segments where an algorithm sends two.
struct OneLate {
  int p = 8;
  double alpha = 2;
  double block = 1;  ///< m beta: the time of a block
  double delay = 0;  ///< D

  [[nodiscard]] double lin() const { return (p - 1) * (alpha + block); }              // (3)
  [[nodiscard]] double ls() const { return (p - 1) * (3 * alpha + block); }           // (5)
  [[nodiscard]] double bn() const { return std::log2(p) * alpha + (p - 1) * block; }  // (7)
  [[nodiscard]] double mean_of(double run) const { return run * (p + 2) / (2 * p); }  // (4), (6)
  [[nodiscard]] double mean_bn_gather() const {                                       // (8)
    return (2 * (p - 1) * alpha + std::log2(p) * p * block) / p;
  }
};

/// Replays an algorithm with one rank late, as predicted.
Timeline replay(Collective collective, const std::string& name, const OneLate& late_by, Rank late) {
  const auto ranks = static_cast<std::size_t>(late_by.p);
  Call call{collective, 0, std::vector<Bytes>(ranks, 2), 0, std::vector<double>(ranks, 0)};
  call.arrivals[static_cast<std::size_t>(late)] = late_by.delay;
  return *simulate(testing_support::schedules_of(name, call), {late_by.alpha, late_by.block / 2},
                   call.arrivals);
}

/// One of the thirteen: its closed forms, and their values for P = 8, m = 1, alpha 2, beta 1.
struct Named {
  const char* name;
  Collective collective;
  double (*flat)(const OneLate&);
  double (*first_late)(const OneLate&);
  double (*root_late)(const OneLate&);
  double worked_flat;
  double worked_first_late;  ///< D = 30
  double worked_root_late;   ///< D = 30

  /// The paper's "first receiver" is virtual rank 1 of a linear shape. (13) and (21) hold for the
  /// head of the largest subtree only: virtual rank P/2.
  [[nodiscard]] Rank first_receiver(int p) const {
    return std::string_view(name).find("BN") == std::string_view::npos ? 1 : p / 2;
  }
  [[nodiscard]] std::string specification() const {
    return std::string_view(name).ends_with("LS") ? std::string(name) + ":segment=1" : name;
  }
  friend std::ostream& operator<<(std::ostream& out, const Named& named) {
    return out << name_of(named.collective) << " " << named.name;
  }
};

double lin(const OneLate& s) { return s.lin(); }
double ls(const OneLate& s) { return s.ls(); }
double bn(const OneLate& s) { return s.bn(); }
double delayed_lin(const OneLate& s) { return s.delay + s.lin(); }  // (9), (12)
double delayed_ls(const OneLate& s) { return s.delay + s.ls(); }    // (17), (19)
double delayed_bn(const OneLate& s) { return s.delay + s.bn(); }    // (13), (16), (21), (23)
double last_lin(const OneLate& s) {
  return std::max(s.delay + s.alpha + s.block, s.lin());
}  // (10)
double last_ls(const OneLate& s) {
  return std::max(s.delay + 3 * s.alpha + s.block, s.ls());
}  // (18)
double last_bn(const OneLate& s) { return std::max(s.delay + s.alpha + s.block, s.bn()); }  // (14)
double hidden_lin(const OneLate& s) { return std::max(s.delay, s.lin()); }                  // (11)
double hidden_ls(const OneLate& s) { return std::max(s.delay, s.ls()); }                    // (20)
double hidden_bn(const OneLate& s) { return std::max(s.delay, s.bn()); }  // (15), (24)
/// (22) has (P - 1) N / 2P for the bytes. The late rank sends on P/2 blocks, its own among them.
double forwards_half(const OneLate& s) {
  return std::max(s.delay + s.alpha + s.p / 2 * s.block, s.bn());
}

constexpr Named thirteen[] = {
    {"LIN", scatter, lin, delayed_lin, delayed_lin, 21, 51, 51},
    {"BNOM", scatter, bn, delayed_bn, delayed_bn, 13, 43, 43},
    {"SLIN", scatter, lin, last_lin, delayed_lin, 21, 33, 51},
    {"BSLN", scatter, lin, hidden_lin, delayed_lin, 21, 30, 51},
    {"SBN", scatter, bn, last_bn, delayed_bn, 13, 33, 43},
    {"BSBN", scatter, bn, hidden_bn, delayed_bn, 13, 30, 43},
    {"LIN", gather, lin, delayed_lin, delayed_lin, 21, 51, 51},
    {"LS", gather, ls, delayed_ls, delayed_ls, 49, 79, 79},
    {"BNOM", gather, bn, delayed_bn, delayed_bn, 13, 43, 43},
    {"SLS", gather, ls, last_ls, delayed_ls, 49, 49, 79},
    {"BSLS", gather, ls, last_ls, hidden_ls, 49, 49, 49},
    {"SBN", gather, bn, delayed_bn, delayed_bn, 13, 43, 43},
    {"BSBN", gather, bn, forwards_half, hidden_bn, 13, 36, 30},
};

class Thirteen : public testing::TestWithParam<Named> {
 protected:
  static double run_time(const OneLate& late_by, Rank late) {
    return replay(GetParam().collective, GetParam().specification(), late_by, late).run_time();
  }
};

TEST_P(Thirteen, TakesTheWorkedTimes) {
  const Named& named = GetParam();
  const OneLate late = {8, 2, 1, 30};
  EXPECT_DOUBLE_EQ(run_time({}, 0), named.worked_flat);
  EXPECT_DOUBLE_EQ(run_time(late, named.first_receiver(8)), named.worked_first_late);
  EXPECT_DOUBLE_EQ(run_time(late, 0), named.worked_root_late);
}

TEST_P(Thirteen, MeetsItsClosedForms) {
  const Named& named = GetParam();
  for (const int p : {4, 8, 32, 64}) {
    for (const auto& [alpha, block] : {std::pair(2., 1.), std::pair(1., 8.), std::pair(4., 0.)}) {
      OneLate late_by = {p, alpha, block, 0};
      EXPECT_DOUBLE_EQ(run_time(late_by, 0), named.flat(late_by)) << p;
      // The paper's root sends to one rank after the other. Ours also serves the others while
      // one is late, so that (13) holds from delays on that outlast them.
      for (const double delays : {1., 1.5, 10.}) {
        late_by.delay = delays * named.flat(late_by);
        EXPECT_DOUBLE_EQ(run_time(late_by, named.first_receiver(p)), named.first_late(late_by))
            << p << " " << alpha << " " << block << " " << delays;
        EXPECT_DOUBLE_EQ(run_time(late_by, 0), named.root_late(late_by)) << p << " " << delays;
      }
    }
  }
}

TEST_P(Thirteen, TakesTheMeanTimesOfTheFlatCase) {
  const Named& named = GetParam();
  for (const int p : {2, 8, 64}) {
    const OneLate late_by = {p, 2, 1, 0};
    const double run = named.flat(late_by);
    const bool tree = named.flat == bn;
    const double mean = !tree                         ? late_by.mean_of(run)
                        : is_gather(named.collective) ? late_by.mean_bn_gather()
                                                      : run;
    EXPECT_DOUBLE_EQ(replay(named.collective, named.specification(), late_by, 0).elapsed(), mean)
        << p;
  }
}

INSTANTIATE_TEST_SUITE_P(Proficz, Thirteen, testing::ValuesIn(thirteen), [](const auto& test) {
  return std::string(name_of(test.param.collective)) + "_" + test.param.name;
});

TEST(Proficz, WorkedNumbersBesideTheThirteen) {
  const auto run_time = [](Collective collective, const char* name, double delay, Rank late) {
    return replay(collective, name, {8, 2, 1, delay}, late).run_time();
  };
  // BSLS with D = 60: D + 3 * 2 + 1.
  EXPECT_DOUBLE_EQ(run_time(gather, "BSLS:segment=1", 60, 1), 67);
  // Rank 1 of a distance-halving tree is a leaf: D + 3, not (13).
  EXPECT_DOUBLE_EQ(run_time(scatter, "BNOM", 30, 1), 33);
  EXPECT_DOUBLE_EQ(run_time(gather, "BNOM", 30, 1), 33);
  // The mean times of P = 8.
  EXPECT_DOUBLE_EQ(replay(scatter, "LIN", {}, 0).elapsed(), 13.125);
  EXPECT_DOUBLE_EQ(replay(gather, "LS:segment=1", {}, 0).elapsed(), 30.625);
  EXPECT_DOUBLE_EQ(replay(gather, "BNOM", {}, 0).elapsed(), 6.5);
}

TEST(LateLeaf, HidesWhatTheSortedTreeOfThePaperCannot) {
  // The latest rank is a leaf of the root: max(D + alpha + m beta, r^BN), where (21) has D + 13.
  for (const int p : {2, 4, 8, 64}) {
    for (const double delay : {0., 100., 1000.}) {
      const OneLate late_by = {p, 2, 1, delay};
      for (const Rank late : {1, p / 2, p - 1}) {
        EXPECT_DOUBLE_EQ(replay(gather, "binomial:order=late_leaf", late_by, late).run_time(),
                         last_bn(late_by))
            << p << " " << delay << " " << late;
      }
    }
  }
}

TEST(LateLeaf, BeatsTheSortedTreeForManyLateRanks) {
  // P = 16, half of the ranks late, the last by 115.
  std::vector<double> arrivals(16, 0);
  for (std::size_t i = 1; i < 16; i += 2) arrivals[i] = 100 + static_cast<double>(i);
  const Call call{gather, 0, std::vector<Bytes>(16, 2), 0, arrivals};
  const auto run_time = [&](const char* name) {
    return simulate(testing_support::schedules_of(name, call), {2, 0.5}, arrivals)->run_time();
  };
  EXPECT_DOUBLE_EQ(run_time("BNOM"), 138);
  EXPECT_DOUBLE_EQ(run_time("SBN"), 138);
  EXPECT_DOUBLE_EQ(run_time("binomial:order=late_leaf"), 128);
  EXPECT_DOUBLE_EQ(run_time("BSBN"), 129);
  EXPECT_DOUBLE_EQ(run_time("binomial:order=late_leaf,runner=background"), 126);
}

}  // namespace
}  // namespace tutti
