/// Strings become JSON, whatever bytes they hold.
#include "core/json.hpp"

#include <gtest/gtest.h>

#include "unit/json_reader.hpp"

namespace tutti {
namespace {

using test::JsonReader;

TEST(Json, EscapesWhatJsonDoesNotAllow) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\"");
}

TEST(Json, KeepsUtf8) {
  EXPECT_EQ(json_string("Träff \u2264 \U0001F600"), "\"Träff \u2264 \U0001F600\"");
}

TEST(Json, ReplacesWhatIsNotUtf8) {
  const std::string bad = "\"\uFFFD\"";
  EXPECT_EQ(json_string("\xFF"), bad);
  EXPECT_EQ(json_string("\x80"), bad);
  EXPECT_EQ(json_string("\xC3"), bad) << "ends too early";
  EXPECT_EQ(json_string("\xC0\xAF"), "\"\uFFFD\uFFFD\"") << "longer than needed";
  EXPECT_EQ(json_string("\xED\xA0\x80"), "\"\uFFFD\uFFFD\uFFFD\"") << "half of a surrogate pair";
  EXPECT_EQ(json_string("\xF4\x90\x80\x80"), "\"\uFFFD\uFFFD\uFFFD\uFFFD\"") << "beyond 10FFFF";
}

TEST(Json, TheReaderOfTheTestsRefusesWhatIsNotJson) {
  for (const char* good : {"{}", "[1,-2.5e-3,{\"a\":null}]", "\"\\u00e9\\n\"", " true "}) {
    EXPECT_TRUE(JsonReader::accepts(good)) << good;
  }
  for (const char* bad :
       {"", "{", "{a:1}", "[1,]", "1,5", "01", "\"\n\"", "\"\\x\"", "nan", "{}{}"}) {
    EXPECT_FALSE(JsonReader::accepts(bad)) << bad;
  }
}

}  // namespace
}  // namespace tutti
