/// What a user asks for, read and written.
#include <gtest/gtest.h>

#include "choose/choose.hpp"

namespace tutti {
namespace {

TEST(SettingText, LevelsAreReadAndWritten) {
  for (const char* text : {"native", "native:level=node", "native:level=node,leaders=2",
                           "linear:level=node", "knomial:k=4,level=node,leaders=64", "auto"}) {
    const Result<Setting> read = setting(Collective::gather, text);
    ASSERT_TRUE(read) << text << ": " << read.error();
    EXPECT_EQ(to_text(*read), text);
  }
  const Result<Setting> read = setting(Collective::gather, "knomial:leaders=3,k=4,level=node");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->level, (Level{true, 3}));
  EXPECT_EQ(read->specification.parameters.k, 4);
  EXPECT_EQ(to_text(*setting(Collective::gather, "native:level=flat")), "native");
}

TEST(SettingText, LevelsOfAllCollectives) {
  EXPECT_EQ(*level("flat"), Level{});
  EXPECT_EQ(*level("node"), (Level{true, 1}));
  EXPECT_EQ(*level("node:leaders=4"), (Level{true, 4}));
}

TEST(SettingError, SaysWhatALevelIs) {
  const auto why = [](const char* text) { return setting(Collective::gather, text).error(); };
  EXPECT_EQ(why("native:level=rack"), "native:level=rack: level=rack: a level is flat or node");
  EXPECT_EQ(why("native:level=node,leaders=0"),
            "native:level=node,leaders=0: leaders=0: leaders are a number from 1 to 64");
  EXPECT_EQ(why("linear:leaders=2"), "linear:leaders=2: leaders need level=node");
  EXPECT_EQ(why("auto:level=node"), "auto:level=node: auto takes no level; native:level=node does");
  EXPECT_EQ(level("nodes").error(),
            "'nodes' is no level; there are flat, node and node:leaders=K with K from 1 to 64");
  EXPECT_FALSE(level("node:leaders=65"));
  EXPECT_FALSE(setting(Collective::gather, "native:k=3"));
}

}  // namespace
}  // namespace tutti
