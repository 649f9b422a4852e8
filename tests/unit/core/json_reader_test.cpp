/// Strings of JSON become UTF-8, whatever escapes they have.
#include <gtest/gtest.h>

#include "core/json.hpp"

namespace tutti {
namespace {

/// The string that `json` is, or why it is refused.
std::string read(const char* json) {
  JsonReader reader(json);
  std::string value;
  return reader.string(value) && reader.end() ? value : reader.error();
}

TEST(JsonReader, ReadsEscapes) {
  EXPECT_EQ(read(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(read(R"("\u0041\u00e9\u2264")"), "A\u00e9\u2264");
}

TEST(JsonReader, JoinsSurrogatePairs) {
  EXPECT_EQ(read(R"("\ud83d\ude00")"), "\U0001F600");
  EXPECT_EQ(read(R"("\uDBFF\uDFFF")"), "\U0010FFFF");
  EXPECT_EQ(read(R"("\ud836\udc00\ud876\udc00")"), "\U0001D800\U0002D800");
}

TEST(JsonReader, RefusesHalfASurrogatePair) {
  for (const char* half : {R"("\ud83d")", R"("\ude00")", R"("\ud83d \ude00")", R"("\ud83d\u0041")",
                           R"("\ud83d\ud83d")"}) {
    EXPECT_EQ(read(half), "line 1: a string has half a surrogate pair") << half;
  }
  EXPECT_EQ(read(R"("\ud83d\n")"), "line 1: a string has an invalid escape");
}

}  // namespace
}  // namespace tutti
