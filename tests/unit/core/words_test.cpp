/// Lists of words, and suggestions for misspelt names.
#include "core/words.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::string_view names[] = {"binomial", "knomial", "linear", "linear_sync"};

TEST(Split, KeepsEmptyParts) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("a,bc,"), (Parts{"a", "bc", ""}));
  EXPECT_EQ(split(""), (Parts{""}));
  EXPECT_EQ(split("a, b", ", "), (Parts{"a", "", "b"}));
}

TEST(Nearest, FindsANameWithOneLetterWrongMissingOrTooMany) {
  for (const char* given : {"linaer", "linea", "linearr", "LINEAR"}) {
    EXPECT_EQ(nearest(given, names), "linear") << given;
  }
  EXPECT_EQ(nearest("knomal", names), "knomial");
  EXPECT_EQ(nearest("linear-sync", names), "linear_sync");
}

TEST(Nearest, CountsSwappedNeighboursAsOneMistake) {
  constexpr std::string_view shorts[] = {"ring", "bruck", "auto"};
  EXPECT_EQ(nearest("rign", shorts), "ring");
  EXPECT_EQ(nearest("Burck", shorts), "bruck");
  EXPECT_EQ(nearest("atuo", shorts), "auto");
  EXPECT_EQ(nearest("gnri", shorts), "");
}

TEST(Nearest, SuggestsNothingThatIsFarAway) {
  EXPECT_EQ(nearest("ring", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("linear", {}), "");
  EXPECT_EQ(did_you_mean("ring", names), "");
}

TEST(Nearest, MakesAQuestion) {
  EXPECT_EQ(did_you_mean("gater", {"gather", "scatter"}), "; did you mean gather?");
}

TEST(Nearest, ListsAllNames) {
  EXPECT_EQ(valid_names("ring", names, "algorithms"),
            "; valid algorithms: binomial, knomial, linear, linear_sync");
  EXPECT_EQ(valid_names("linea", names, "algorithms"),
            "; did you mean linear? (valid algorithms: binomial, knomial, linear, linear_sync)");
}

}  // namespace
}  // namespace tutti
