/// Every part reaches every position once, from one that has it.
#include "shapes/circulant_broadcast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tutti {
namespace {

/// What is wrong with what a position receives: empty if it receives every part once, in the round
/// in which its sender sends it, and its sender has it by then.
std::string wrong_at(const CirculantBroadcast& broadcast, int p, int parts, Position position) {
  const std::vector<int> received = broadcast.received(position);
  std::vector<int> times(static_cast<std::size_t>(parts), 0);
  for (int round = 0; round < broadcast.rounds(); ++round) {
    const int part = received[static_cast<std::size_t>(round)];
    const Position sender = (position - broadcast.skip(round) + p) % p;
    if (broadcast.sent(sender)[static_cast<std::size_t>(round)] != part) {
      return "the sender of round " + std::to_string(round) + " sends another part";
    }
    if (part < 0) continue;
    ++times[static_cast<std::size_t>(part)];
    const std::vector<int> before = broadcast.received(sender);
    if (sender != 0 &&
        std::find(before.begin(), before.begin() + round, part) == before.begin() + round) {
      return "the sender of part " + std::to_string(part) + " does not have it";
    }
  }
  for (int part = 0; part < parts; ++part) {
    if (times[static_cast<std::size_t>(part)] != 1) {
      return "part " + std::to_string(part) + " comes " +
             std::to_string(times[static_cast<std::size_t>(part)]) + " times";
    }
  }
  return "";
}

TEST(CirculantBroadcast, BringsEveryPartOnceToEveryPosition) {
  for (int p = 1; p <= 130; ++p) {
    for (const int parts : {1, 2, 7, 20}) {
      const CirculantBroadcast broadcast(p, parts);
      for (Position position = 1; position < p; ++position) {
        ASSERT_EQ(wrong_at(broadcast, p, parts, position), "")
            << "p " << p << ", parts " << parts << ", position " << position;
      }
    }
  }
}

TEST(CirculantBroadcast, BringsEveryPartOnceToSomeOfManyPositions) {
  for (const int p : {1000, 1023, 1025, 4097, 65536, 65537, 1'000'003}) {
    const CirculantBroadcast broadcast(p, 24);
    for (Position position = 1; position < p; position += p / 61) {
      ASSERT_EQ(wrong_at(broadcast, p, 24, position), "") << "p " << p << ", position " << position;
    }
    ASSERT_EQ(wrong_at(broadcast, p, 24, p - 1), "") << "p " << p;
  }
}

TEST(CirculantBroadcast, TakesNoRoundTooMany) {
  EXPECT_EQ(CirculantBroadcast(1, 5).rounds(), 0);
  EXPECT_EQ(CirculantBroadcast(2, 1).rounds(), 1);
  EXPECT_EQ(CirculantBroadcast(9, 5).rounds(), 8);
}

}  // namespace
}  // namespace tutti
