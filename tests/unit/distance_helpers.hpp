/// What the tests of orders by distance share: matrices and the fabrics that follow from them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/distances.hpp"
#include "cost/traffic.hpp"
#include "topology/distance_file.hpp"
#include "topology/shared_links.hpp"

namespace tutti {

using Ranks = std::vector<Rank>;

/// The rounds of an algorithm, from a specification in words.
inline Traffic traffic(Collective collective, const char* text, int p, Bytes block) {
  return traffic_of(*specification(collective, text), p, block);
}
inline Traffic ring_traffic(int p, Bytes block) {
  return traffic(Collective::allgather, "ring", p, block);
}
inline Traffic doubling_traffic(int p, Bytes block) {
  return traffic(Collective::allgather, "recursive_doubling", p, block);
}
inline Traffic star_traffic(int p, Bytes block) {
  return traffic(Collective::scatter, "linear_sequence", p, block);
}
/// The rounds of a gather, scatter or bcast along a binomial tree.
inline Traffic tree_traffic(Collective collective, int p, Bytes block) {
  return traffic(collective, "binomial", p, block);
}

/// Figure 1 of Bhowmik & Bodele 2019, in its own unit.
inline MeasuredDistances figure_1() {
  std::ifstream file(TUTTI_TEST_DATA "/../examples/place/bhowmik-bodele-2019.json");
  std::ostringstream text;
  text << file.rdbuf();
  MeasuredDistances measured = distances_from_text(text.str())->measured[0];
  for (Rank a = 0; a < 8; ++a) {
    for (Rank b = 0; b < 8; ++b) measured.distances.set(a, b, measured.distances(a, b) * 1e3);
  }
  return measured;
}

/// A message of n bytes takes n times the distance.
inline Links by_bytes(const Distances& distances) { return {{1, distances}, 0, 1}; }

/// Numbers 1 to 1000, not the same both ways.
inline Distances random_distances(int p, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Distances distances(p);
  for (Rank a = 0; a < p; ++a) {
    for (Rank b = 0; b < p; ++b) {
      if (a != b) distances.set(a, b, static_cast<double>(1 + random() % 1000));
    }
  }
  return distances;
}

/// `count` groups, to which ranks belong at random: 1 within, `far` across.
inline Distances switches(int p, int count, double far, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Ranks shuffled(static_cast<std::size_t>(p));
  std::iota(shuffled.begin(), shuffled.end(), 0);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  Distances distances(p);
  for (Rank a = 0; a < p; ++a) {
    for (Rank b = 0; b < p; ++b) {
      const bool near = shuffled[static_cast<std::size_t>(a)] % count ==
                        shuffled[static_cast<std::size_t>(b)] % count;
      if (a != b) distances.set(a, b, near ? 1 : far);
    }
  }
  return distances;
}

/// Ranks at these switches, joined by links of a quarter of the nodes' rate.
inline Fabric at_switches(const std::vector<int>& switch_of) {
  const int p = static_cast<int>(switch_of.size());
  Distances small(p);
  Distances large(p);
  for (Rank a = 0; a < p; ++a) {
    for (Rank b = 0; b < p; ++b) {
      if (a == b) continue;
      small.set(a, b, 50);
      large.set(a, b, switch_of[index(a)] == switch_of[index(b)] ? 50 + 1000 : 50 + 4000);
    }
  }
  return fabric_of({"", {}, {p, {}}, {{0, small}, {1000, large}}}, 0, 0);
}

inline Ranks identity(int p) {
  Ranks ranks(static_cast<std::size_t>(p));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

struct RingTimes {
  double sum = 0;
  double longest = 0;
};

inline RingTimes ring_times(const Distances& distances, const Ranks& ranks) {
  RingTimes times;
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    const double link = distances(ranks[v], ranks[(v + 1) % ranks.size()]);
    times.sum += link;
    times.longest = std::max(times.longest, link);
  }
  return times;
}

inline void expect_permutation(const Ranks& ranks, Rank first) {
  ASSERT_EQ(ranks.front(), first);
  Ranks sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, identity(static_cast<int>(ranks.size())));
}

inline Fabric random_fabric(int p, std::uint64_t seed) {
  return Links({1, random_distances(p, seed)}, 5, 1);
}

/// The same with ranks in three groups that share ways.
inline Fabric grouped(int p, std::uint64_t seed) {
  Fabric fabric = random_fabric(p, seed);
  SharedLinks ways{{}, {1, 2, 3}, {500, 0, 700}};
  for (Rank rank = 0; rank < p; ++rank) ways.group.push_back(rank % 3);
  fabric.shared.push_back(ways);
  return fabric;
}

}  // namespace tutti
