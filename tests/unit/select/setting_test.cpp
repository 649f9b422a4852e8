/// What a user asks for, read and written.
#include <gtest/gtest.h>

#include "select/selection.hpp"

namespace tutti {
namespace {

TEST(SettingText, HierarchicalOnesAreReadAndWritten) {
  for (const char* text :
       {"native", "hierarchical(native,leaders=1)", "hierarchical(native,leaders=2)",
        "native:hierarchy=auto", "hierarchical(linear,leaders=1)",
        "hierarchical(knomial:k=4,leaders=64)", "auto", "auto:hierarchy=flat"}) {
    const Result<Setting> read = setting(Collective::gather, text);
    ASSERT_TRUE(read) << text << ": " << read.error();
    EXPECT_EQ(to_text(*read), text);
  }
  const Result<Setting> read = setting(Collective::gather, "hierarchical(knomial,leaders=3,k=4)");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->level, (Level{true, 3}));
  EXPECT_EQ(read->specification.parameters.k, 4);
  EXPECT_EQ(to_text(*setting(Collective::gather, "hierarchical(native)")),
            "hierarchical(native,leaders=1)");
}

TEST(SettingText, FormerSpellingsAreAccepted) {
  const auto now = [](const char* text) { return to_text(*setting(Collective::gather, text)); };
  EXPECT_EQ(now("native:level=node"), "hierarchical(native,leaders=1)");
  EXPECT_EQ(now("knomial:leaders=3,k=4,level=node"), "hierarchical(knomial:k=4,leaders=3)");
  EXPECT_EQ(now("hierarchical(linear,leaders=auto)"), "hierarchical(linear,leaders=1)");
  EXPECT_EQ(now("native:level=auto"), "native:hierarchy=auto");
  EXPECT_EQ(now("native:level=flat"), "native");
  EXPECT_EQ(now("auto:level=auto"), "auto");
  EXPECT_EQ(now("auto:level=flat"), "auto:hierarchy=flat");
  EXPECT_EQ(*level("node"), (Level{true, 1}));
  EXPECT_EQ(*level("node:leaders=4"), (Level{true, 4}));
}

TEST(SettingText, LevelsOfAllCollectives) {
  EXPECT_FALSE(level("auto")->has_value());
  EXPECT_EQ(*level("flat"), Level{});
  EXPECT_EQ(*level("hierarchical"), (Level{true, 1}));
  EXPECT_EQ(*level("hierarchical(leaders=4)"), (Level{true, 4}));
}

TEST(SettingError, NamesTheValueAndWhatIsAccepted) {
  const auto expect = [](const char* text, std::initializer_list<const char*> parts) {
    const std::string why = setting(Collective::gather, text).error();
    EXPECT_TRUE(why.starts_with(text)) << why;
    for (const char* part : parts)
      EXPECT_NE(why.find(part), std::string::npos) << part << "\n" << why;
  };
  expect("native:hierarchy=rack", {"invalid hierarchy=rack", "auto, flat or hierarchical"});
  expect("native:hierarchy=flt", {"did you mean flat?"});
  expect("hierarchical(native,leaders=0)", {"invalid leaders=0", "expected a number from 1 to 64"});
  expect("hierarchical(native", {"expected ) at the end"});
  expect("hierarchical()", {"native or the name of an algorithm"});
  expect("hierarchical(linear,hierarchy=flat)", {"contradicts hierarchy=flat"});
  expect("linear:leaders=2", {"hierarchical(linear,leaders=2)"});
  expect("hierarchical(auto)", {"auto, auto:hierarchy=flat or hierarchical(native)"});
  expect("linear:hierarchy=auto", {"linear or hierarchical(linear)"});
  expect("hierarchical(linear:runner=background)",
         {"excludes runner=background", "hierarchy=flat or runner=caller"});
  expect("hierarchical(BSBN)", {"runner=background, which binomial:"});
  EXPECT_TRUE(setting(Collective::gather, "BSBN:hierarchy=flat"));
  EXPECT_FALSE(setting(Collective::gather, "native:k=3"));
  EXPECT_EQ(setting(Collective::scan, "hierarchical(linear)").error(),
            "hierarchical(linear): scan has no hierarchical form; expected a specification without "
            "hierarchical(..)");
}

TEST(SettingError, OfAllCollectivesSuggestsTheNearest) {
  EXPECT_FALSE(level("hierarchical(leaders=65)"));
  EXPECT_FALSE(level(""));
  const std::string why = level("hierachical").error();
  for (const char* part : {"flat", "leaders=K", "did you mean hierarchical?"}) {
    EXPECT_NE(why.find(part), std::string::npos) << why;
  }
}

}  // namespace
}  // namespace tutti
