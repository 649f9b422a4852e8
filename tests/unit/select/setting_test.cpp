/// What a user asks for, read and written.
#include <gtest/gtest.h>

#include "select/selection.hpp"

namespace tutti {
namespace {

TEST(SettingText, LevelsAreReadAndWritten) {
  for (const char* text : {"native", "native:level=node", "native:level=node,leaders=2",
                           "native:level=auto", "native:level=node,leaders=1", "linear:level=node",
                           "knomial:k=4,level=node,leaders=64", "auto", "auto:level=flat"}) {
    const Result<Setting> read = setting(Collective::gather, text);
    ASSERT_TRUE(read) << text << ": " << read.error();
    EXPECT_EQ(to_text(*read), text);
  }
  const Result<Setting> read = setting(Collective::gather, "knomial:leaders=3,k=4,level=node");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->level, (Level{true, 3}));
  EXPECT_EQ(read->specification.parameters.k, 4);
  EXPECT_EQ(to_text(*setting(Collective::gather, "native:level=flat")), "native");
  EXPECT_EQ(to_text(*setting(Collective::gather, "auto:level=auto")), "auto");
  EXPECT_EQ(to_text(*setting(Collective::gather, "linear:level=node,leaders=auto")),
            "linear:level=node");
}

TEST(SettingText, LevelsOfAllCollectives) {
  EXPECT_FALSE(level("auto")->has_value());
  EXPECT_EQ(*level("flat"), Level{});
  EXPECT_EQ(*level("node"), (Level{true, 0}));
  EXPECT_EQ(*level("node:leaders=auto"), (Level{true, 0}));
  EXPECT_EQ(*level("node:leaders=4"), (Level{true, 4}));
}

TEST(SettingError, SaysWhatALevelIs) {
  const auto why = [](const char* text) { return setting(Collective::gather, text).error(); };
  EXPECT_EQ(why("native:level=rack"),
            "native:level=rack: level=rack: a level is auto, flat or node");
  EXPECT_EQ(why("native:level=node,leaders=0"),
            "native:level=node,leaders=0: leaders=0: leaders are auto or a number from 1 to 64");
  EXPECT_EQ(why("linear:leaders=2"), "linear:leaders=2: leaders need level=node");
  EXPECT_EQ(why("auto:level=node"),
            "auto:level=node: auto chooses the level or is flat; native:level=node asks for nodes");
  EXPECT_EQ(
      why("linear:level=auto"),
      "linear:level=auto: level=auto goes with auto and native; an algorithm's is flat or node");
  EXPECT_EQ(
      level("nodes").error(),
      "'nodes' is no level; there are auto, flat, node and node:leaders=K with K from 1 to 64 "
      "or auto");
  EXPECT_EQ(
      why("linear:runner=background,level=node"),
      "linear:runner=background,level=node: level=node does not go with runner=background, "
      "which linear:runner=background asks for: nothing moves before the ranks of a node have "
      "come; level=flat or runner=caller is accepted");
  EXPECT_NE(why("BSBN:level=node").find("runner=background, which binomial:"), std::string::npos)
      << why("BSBN:level=node");
  EXPECT_TRUE(setting(Collective::gather, "BSBN:level=flat"));
  EXPECT_FALSE(level("node:leaders=65"));
  EXPECT_FALSE(setting(Collective::gather, "native:k=3"));
}

}  // namespace
}  // namespace tutti
