/// Every error text of files of distances.
#include <gtest/gtest.h>

#include "topology/distance_file.hpp"

namespace tutti {
namespace {

std::string error_of(const std::string& text) {
  const auto result = distances_from_text(text);
  return result ? "no error" : result.error();
}

/// A file of which only `rest` is not as it should be.
std::string error_of_members(const std::string& rest) {
  return error_of("{\"schema\": \"tutti-distances-1\", \"unit\": \"us\",\n" + rest + "}");
}

std::string error_of_matrix(const std::string& rows) {
  return error_of_members("\"measured\": [{\"bytes\": 8, \"matrix\": [\n" + rows + "]}]");
}

std::string error_of_pairs(const std::string& pairs) {
  return error_of_members("\"levels\": [[0, 0, 1]],\n\"measured\": [{\"pairs\": [" + pairs + "]}]");
}

/// The error has all parts.
testing::AssertionResult says(const std::string& text, std::initializer_list<const char*> parts) {
  for (const std::string part : parts) {
    if (text.find(part) == std::string::npos) {
      return testing::AssertionFailure() << "'" << part << "' is missing in: " << text;
    }
  }
  return testing::AssertionSuccess();
}

TEST(DistanceFileError, NamesTheLineOfWhatIsNoJson) {
  EXPECT_TRUE(says(error_of(""), {"line 1", "object", "the end"}));
  EXPECT_TRUE(says(error_of("[1]"), {"line 1", "object", "\"[1]\""}));
  EXPECT_TRUE(says(error_of("{\n\"a\" 1}"), {"line 2", "colon after a key", "\"1}\""}));
  EXPECT_TRUE(says(error_of("{\"a\": x}"), {"line 1", "number", "\"x\""}));
  EXPECT_TRUE(says(error_of("{\"a\": [1 2]}"), {"line 1", "comma", "array", "\"2]}\""}));
  EXPECT_TRUE(says(error_of("{\"a\": 1 \"b\"}"), {"line 1", "comma", "object", "\"b\""}));
  EXPECT_TRUE(says(error_of("{\"a"), {"line 1", "string", "end"}));
  EXPECT_TRUE(says(error_of("{\"a\n\": 1}"), {"line 1", "string", "end on its line"}));
  EXPECT_TRUE(says(error_of("{\"\\q\": 1}"), {"line 1", "escape"}));
  EXPECT_TRUE(says(error_of("{\"\\u12\": 1}"), {"line 1", "escape"}));
  EXPECT_TRUE(says(error_of("{\"a\": " + std::string(99, '[')), {"line 1", "nested"}));
  EXPECT_EQ(error_of_matrix("[0, 1], [1, 0]"), "no error");
  EXPECT_TRUE(says(error_of("{} {}"), {"line 1", "the end", "more"}));
}

TEST(DistanceFileError, SaysWhatIsMissing) {
  EXPECT_TRUE(says(error_of("{}"), {"schema", "\"tutti-distances-1\""}));
  EXPECT_TRUE(
      says(error_of("{\"schema\": \"x\"}"), {"line 1", "schema \"x\"", "\"tutti-distances-1\""}));
  EXPECT_TRUE(
      says(error_of("{\"schema\": \"tutti-distances-1\"}"), {"missing unit", "s, ms or us"}));
  EXPECT_TRUE(says(error_of("{\"unit\": \"h\"}"), {"line 1", "unit \"h\"", "s, ms or us"}));
  EXPECT_TRUE(says(error_of_members("\"other\": {\"x\": [true, null, false, \"\\u00e9\\n\"]}"),
                   {"\"measured\"", "0 measurements", "1, or 2"}));
  EXPECT_TRUE(says(error_of_members("\"measured\": [{}]"),
                   {"no ranks", "\"matrix\"", "\"levels\"", "\"pairs\""}));
  EXPECT_TRUE(says(error_of_members("\"levels\": [[0, 1]], \"measured\": [{}]"),
                   {"measurement of 1 bytes", "neither a matrix nor pairs"}));
}

TEST(DistanceFileError, NamesTheValueOfAMatrix) {
  EXPECT_TRUE(says(error_of_matrix("[0, 1],\n[-2.5, 0]"),
                   {"line 4", "from rank 1 to rank 0 is -2.5", "above 0"}));
  EXPECT_TRUE(says(error_of_matrix("[0, 0],\n[1, 0]"),
                   {"line 3", "from rank 0 to rank 1 is 0", "above 0"}));
  EXPECT_TRUE(says(error_of_matrix("[0, 1],\n[1, 3]"),
                   {"line 4", "from rank 1 to rank 1 is 3", "expected 0"}));
  EXPECT_TRUE(says(error_of_matrix("[0, 1e999]"), {"line 3", "number", "\"1e999\""}));
  EXPECT_TRUE(
      says(error_of_matrix("[0, 1],\n[1]"), {"line 4", "row 1 has 1 values", "row 0 has 2"}));
  EXPECT_TRUE(
      says(error_of_matrix("[0, 1]"), {"measurement of 8 bytes", "1 rows of 2 values", "1 ranks"}));
  EXPECT_TRUE(says(error_of_members("\"measured\": [{\"bytes\": -1}]"),
                   {"line 2", "integer from 0 to 1099511627776", "-1"}));
  EXPECT_TRUE(
      says(error_of_members("\"names\": [\"a\"], \"measured\": [{\"matrix\": [[0, 1], [1, 0]]}]"),
           {"1 names", "2 ranks"}));
  EXPECT_TRUE(says(error_of_members("\"measured\": [{\"matrix\": [[0]]}, {\"matrix\": [[0]]}]"),
                   {"both measurements are of 1 bytes"}));
  EXPECT_TRUE(says(error_of_members("\"levels\": [[0, 0]], \"measured\": [{\"matrix\": "
                                    "[[0, 1], [1, 0]], \"pairs\": [[0, 1, 2]]}]"),
                   {"measurement of 1 bytes", "both a matrix and pairs"}));
}

TEST(DistanceFileError, BoundsTheRanks) {
  std::string groups = "0";
  for (int rank = 1; rank <= 16384; ++rank) groups += ", 0";
  EXPECT_EQ(error_of_members("\"levels\": [[" + groups + "]], \"measured\": [{}]"),
            "more than 16384 ranks");
}

TEST(DistanceFileError, NamesThePair) {
  EXPECT_EQ(error_of_pairs("[0, 1, 2], [0, 2, 3]"), "no error");
  EXPECT_TRUE(
      says(error_of_pairs("[0, 1, 2]"), {"measurement of 1 bytes", "pair of ranks 0 and 2"}));
  EXPECT_TRUE(says(error_of_pairs("[0, 1]"), {"line 3", "[rank, rank, time]"}));
  EXPECT_TRUE(says(error_of_pairs("[0, 1, 2, 3]"), {"line 3", "[rank, rank, time]"}));
  EXPECT_TRUE(says(error_of_pairs("[1, 1, 2]"), {"line 3", "2 different ranks"}));
  EXPECT_TRUE(says(error_of_pairs("[0, 0.5, 2]"), {"line 3", "integer from 0 to 16383", "0.5"}));
  EXPECT_TRUE(
      says(error_of_pairs("[0, 1, -2]"), {"line 3", "from rank 0 to rank 1 is -2", "above 0"}));
  EXPECT_TRUE(
      says(error_of_pairs("[0, 7, 2]"), {"measurement of 1 bytes", "rank 7 of a pair", "0 to 2"}));
  EXPECT_TRUE(says(error_of_members("\"levels\": [[0, 0, 1], [0, 1, 1]], \"measured\": [{}]"),
                   {"group 0 of level 0", "level 1"}));
}

}  // namespace
}  // namespace tutti
