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

TEST(DistanceFileError, NamesTheLineOfWhatIsNoJson) {
  EXPECT_EQ(error_of(""), "line 1: there is the end instead of an object");
  EXPECT_EQ(error_of("[1]"), "line 1: there is \"[1]\" instead of an object");
  EXPECT_EQ(error_of("{\n\"a\" 1}"), "line 2: there is \"1}\" instead of a colon after a key");
  EXPECT_EQ(error_of("{\"a\": x}"), "line 1: \"x\" is no number");
  EXPECT_EQ(error_of("{\"a\": [1 2]}"),
            "line 1: there is \"2]}\" instead of a comma or the end of an array");
  EXPECT_EQ(error_of("{\"a\": 1 \"b\"}"),
            "line 1: there is \"\"b\"}\" instead of a comma or the end of an object");
  EXPECT_EQ(error_of("{\"a"), "line 1: a string does not end");
  EXPECT_EQ(error_of("{\"a\n\": 1}"), "line 1: a string does not end on its line");
  EXPECT_EQ(error_of("{\"\\q\": 1}"), "line 1: a string has an escape that JSON does not know");
  EXPECT_EQ(error_of("{\"\\u12\": 1}"), "line 1: a string has an escape that JSON does not know");
  EXPECT_EQ(error_of("{\"a\": " + std::string(99, '[')),
            "line 1: there are too many values within values");
  EXPECT_EQ(error_of_matrix("[0, 1], [1, 0]") + error_of("{} {}"),
            "no errorline 1: there is more after the end of the value");
}

TEST(DistanceFileError, SaysWhatIsMissing) {
  EXPECT_EQ(error_of("{}"), "there is no schema; it is \"tutti-distances-1\"");
  EXPECT_EQ(error_of("{\"schema\": \"x\"}"), "line 1: the schema is \"x\", not tutti-distances-1");
  EXPECT_EQ(error_of("{\"schema\": \"tutti-distances-1\"}"), "there is no unit; it is s, ms or us");
  EXPECT_EQ(error_of("{\"unit\": \"h\"}"), "line 1: the unit is \"h\": it is s, ms or us");
  EXPECT_EQ(error_of_members("\"other\": {\"x\": [true, null, false, \"\\u00e9\\n\"]}"),
            "\"measured\" has 0 measurements: it has one, or two of different sizes");
  EXPECT_EQ(error_of_members("\"measured\": [{}]"),
            "there are no ranks: \"matrix\", or \"levels\" with \"pairs\", is missing");
  EXPECT_EQ(error_of_members("\"levels\": [[0, 1]], \"measured\": [{}]"),
            "the measurement of 1 bytes has neither a matrix nor pairs: it has one of them");
}

TEST(DistanceFileError, NamesTheValueOfAMatrix) {
  EXPECT_EQ(error_of_matrix("[0, 1],\n[-2.5, 0]"),
            "line 4: the distance from rank 1 to rank 0 is -2.5: distances are times above 0");
  EXPECT_EQ(error_of_matrix("[0, 0],\n[1, 0]"),
            "line 3: the distance from rank 0 to rank 1 is 0: distances are times above 0");
  EXPECT_EQ(error_of_matrix("[0, 1],\n[1, 3]"),
            "line 4: the distance from rank 1 to rank 1 is 3: that of a rank from itself is 0");
  EXPECT_EQ(error_of_matrix("[0, 1e999]"), "line 3: \"1e999\" is no number");
  EXPECT_EQ(error_of_matrix("[0, 1],\n[1]"), "line 4: row 1 has 1 values, row 0 has 2");
  EXPECT_EQ(error_of_matrix("[0, 1]"),
            "the measurement of 8 bytes has 1 rows of 2 values for 1 ranks");
  EXPECT_EQ(error_of_members("\"measured\": [{\"bytes\": -1}]"),
            "line 2: -1 is no integer from 0 to 1099511627776");
  EXPECT_EQ(error_of_members("\"names\": [\"a\"], \"measured\": [{\"matrix\": [[0, 1], [1, 0]]}]"),
            "there are 1 names for 2 ranks");
  EXPECT_EQ(error_of_members("\"measured\": [{\"matrix\": [[0]]}, {\"matrix\": [[0]]}]"),
            "both measurements are of 1 bytes");
}

TEST(DistanceFileError, NamesThePair) {
  EXPECT_EQ(error_of_pairs("[0, 1, 2], [0, 2, 3]"), "no error");
  EXPECT_EQ(error_of_pairs("[0, 1, 2]"),
            "the measurement of 1 bytes: the pair of ranks 0 and 2 is missing");
  EXPECT_EQ(error_of_pairs("[0, 1]"), "line 3: a pair is [rank, rank, time]");
  EXPECT_EQ(error_of_pairs("[0, 1, 2, 3]"), "line 3: a pair is [rank, rank, time]");
  EXPECT_EQ(error_of_pairs("[1, 1, 2]"), "line 3: a pair is of two different ranks");
  EXPECT_EQ(error_of_pairs("[0, 0.5, 2]"), "line 3: 0.5 is no integer from 0 to 16383");
  EXPECT_EQ(error_of_pairs("[0, 1, -2]"),
            "line 3: the distance from rank 0 to rank 1 is -2: distances are times above 0");
  EXPECT_EQ(error_of_pairs("[0, 7, 2]"),
            "the measurement of 1 bytes: rank 7 of a pair: there are 3 ranks");
  EXPECT_EQ(error_of_members("\"levels\": [[0, 0, 1], [0, 1, 1]], \"measured\": [{}]"),
            "group 0 of level 0 lies in two groups of level 1");
}

}  // namespace
}  // namespace tutti
