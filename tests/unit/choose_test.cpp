/// The default choice, from what every rank knows.
#include "choose/choose.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Choose, NothingIsGainedOnOneRank) {
  // The model's times are 0 or a latency here, which must not be taken for a gain.
  for (const Collective collective : all_collectives) {
    for (const Bytes block : {Bytes{0}, Bytes{8}}) {
      const Choice choice = choose({}, {collective, 1, block}, {});
      EXPECT_FALSE(choice.specification) << name_of(collective);
      EXPECT_FALSE(choice.reason.empty());
    }
  }
}

TEST(Choose, TakesIrregularGathersOfManyRanks) {
  // Native's p - 2 gaps grow with p, the tree's start-ups with its logarithm.
  const Choice choice = choose({}, {Collective::gatherv, 1000, std::nullopt}, {});
  ASSERT_TRUE(choice.specification);
  EXPECT_EQ(choice.specification->algorithm->name, "ordered_tree");
}

TEST(Choose, DoesAsItIsTold) {
  const auto forced = setting(Collective::gather, "knomial:k=4");
  ASSERT_TRUE(forced);
  const Choice choice = choose(*forced, {Collective::gather, 1, Bytes{8}}, {});
  ASSERT_TRUE(choice.specification);
  EXPECT_EQ(to_text(*choice.specification), "knomial:k=4");
  EXPECT_FALSE(choose(*setting(Collective::gather, "native"), {}, {}).specification);
}

}  // namespace
}  // namespace tutti
