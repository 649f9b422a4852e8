/// Strings become JSON, whatever bytes they hold.
#include "core/json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

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

TEST(Json, WritesValuesListsAndObjects) {
  EXPECT_EQ(Json(0.1).text, "0.1");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).text, "null");
  EXPECT_EQ(Json(std::optional<int>(3)).text, "3");
  EXPECT_TRUE(Json(std::optional<bool>()).is_null());
  EXPECT_EQ(json_list(std::vector<int>{}).text, "[]");
  EXPECT_EQ(json_list(std::vector<std::string_view>{"a", "bc"}, &std::string_view::size).text,
            "[1,2]");
  Json object = json_object();
  EXPECT_EQ(object.text, "{}");
  add_members(object, "a", true);
  add_members(object, "b", "x", "c", json_object("d", 1));
  EXPECT_EQ(object.text, R"({"a":true,"b":"x","c":{"d":1}})");
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
