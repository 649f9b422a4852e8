/// Lower bounds on the number of rounds against the fewest rounds of all, found by search.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cost/bounds.hpp"

namespace tutti {
namespace {

/// By rank, the ranks whose contributions it has, as bits.
using Known = std::array<unsigned char, 4>;

constexpr unsigned char bit(std::size_t rank) { return static_cast<unsigned char>(1U << rank); }

/// All states one round after `known`: each rank sends what it knows to one rank at most, and
/// receives from one at most. `may` says which ranks take part.
std::set<Known> after_a_round(const Known& known, const std::vector<bool>& may) {
  std::set<Known> all;
  const std::size_t p = may.size();
  const std::function<void(std::size_t, unsigned char, const Known&)> receive =
      [&](std::size_t rank, unsigned char senders, const Known& so_far) {
        if (rank == p) {
          all.insert(so_far);
          return;
        }
        receive(rank + 1, senders, so_far);
        for (std::size_t from = 0; from < p && may[rank]; ++from) {
          if (from == rank || !may[from] || (senders & bit(from)) != 0) continue;
          Known next = so_far;
          next[rank] |= known[from];
          receive(rank + 1, senders | bit(from), next);
        }
      };
  receive(0, 0, known);
  return all;
}

/// What each rank must know in the end; rank 0 of a reduction is the root or the owner.
std::map<std::string, Known> goals(std::size_t p) {
  std::map<std::string, Known> all;
  for (std::size_t rank = 0; rank < p; ++rank) {
    all["scan"][rank] = bit(rank + 1) - 1;
    all["exscan"][rank] = bit(rank) - 1;
    all["one owner"][rank] = rank == 0 ? bit(p) - 1 : 0;
    all["two owners"][rank] = rank < 2 ? bit(p) - 1 : 0;
  }
  return all;
}

bool has(const Known& known, const Known& goal) {
  for (std::size_t rank = 0; rank < known.size(); ++rank) {
    if ((goal[rank] & ~known[rank]) != 0) return false;
  }
  return true;
}

/// The least time of each goal, not before the last arrival, if a round takes 1.
std::map<std::string, int> least_times(const std::vector<double>& arrivals, Runner receiver) {
  const double last = *std::ranges::max_element(arrivals);
  std::map<std::string, int> times;
  const auto all = goals(arrivals.size());
  std::set<Known> states = {Known{}};
  for (int now = 0; times.size() < all.size(); ++now) {
    std::vector<bool> may;
    std::set<Known> with_own;
    for (const double arrival : arrivals) {
      may.push_back(receiver == Runner::background || arrival <= now);
    }
    for (Known known : states) {
      for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
        if (arrivals[rank] <= now) known[rank] |= bit(rank);
      }
      with_own.insert(known);
      for (const auto& [name, goal] : all) {
        if (now >= last && has(known, goal)) times.try_emplace(name, now);
      }
    }
    states.clear();
    for (const Known& known : with_own) states.merge(after_a_round(known, may));
  }
  return times;
}

double bound_of(const std::string& goal, const std::vector<double>& arrivals, Runner receiver) {
  std::vector<Bytes> sizes(arrivals.size(), 1);
  Collective collective = goal == "scan" ? Collective::scan : Collective::exscan;
  if (goal.ends_with("s") || goal.ends_with("r")) {
    collective = Collective::reduce_scatter;
    const std::size_t owners = goal == "one owner" ? 1 : 2;
    for (std::size_t rank = owners; rank < sizes.size(); ++rank) sizes[rank] = 0;
  }
  return lower_bound({collective, 0, sizes, 0, arrivals}, {1, 0}, receiver);
}

TEST(RoundsBound, NoScheduleIsFasterAndSomeMeetIt) {
  std::mt19937_64 random(1);
  std::map<std::string, int> met;
  constexpr int cases = 100;
  for (int i = 0; i < cases; ++i) {
    std::vector<double> arrivals;
    const std::size_t p = 2 + random() % 3;
    for (std::size_t rank = 0; rank < p; ++rank) {
      arrivals.push_back(static_cast<double>(random() % 4));
    }
    const Runner receiver = i % 2 == 0 ? Runner::caller : Runner::background;
    for (const auto& [goal, time] : least_times(arrivals, receiver)) {
      const double bound = bound_of(goal, arrivals, receiver);
      EXPECT_LE(bound, time) << goal << ", case " << i;
      met[goal] += bound == time ? 1 : 0;
    }
  }
  for (const auto& [goal, count] : met) EXPECT_GE(count, cases * 3 / 4) << goal;
}

}  // namespace
}  // namespace tutti
