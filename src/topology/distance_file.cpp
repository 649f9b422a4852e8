/// Reads distances from JSON, and writes them.
#include "topology/distance_file.hpp"

#include <algorithm>
#include <array>

#include "core/json.hpp"
#include "core/numbers.hpp"

namespace tutti {

namespace {

constexpr std::string_view schema = "tutti-distances-1";

/// One element of `measured`, in the file's unit.
struct Raw {
  long bytes = 1;
  std::size_t rows = 0;        ///< of a matrix
  std::vector<double> values;  ///< row by row, all rows of equal length
  std::vector<MeasuredPair> pairs;

  [[nodiscard]] std::size_t columns() const { return rows == 0 ? 0 : values.size() / rows; }
};

class FileReader {
 public:
  explicit FileReader(std::string_view text) : json_(text) {}

  Result<DistanceFile> read() {
    const bool good = json_.object([&](const std::string& key) { return member(key); }) &&
                      json_.end() && assemble();
    if (!good) return Error{json_.error().empty() ? error_ : json_.error()};
    return std::move(file_);
  }

 private:
  bool member(const std::string& key) {
    if (key == "schema") return schema_member();
    if (key == "method") return json_.string(file_.method);
    if (key == "unit") return unit_member();
    if (key == "names") {
      return json_.array([&] { return json_.string(file_.names.emplace_back()); });
    }
    if (key == "levels") return json_.array([&] { return level(); });
    if (key == "measured") return json_.array([&] { return measurement(); });
    return json_.skip();
  }

  bool schema_member() {
    std::string read;
    if (!json_.string(read)) return false;
    schema_read_ = read == schema;
    return schema_read_ || json_.refuse("invalid schema \"" + read + "\"; expected \"" +
                                        std::string(schema) + "\"");
  }

  bool unit_member() {
    std::string unit;
    if (!json_.string(unit)) return false;
    unit_ = unit == "s" ? 1 : unit == "ms" ? 1e3 : unit == "us" ? 1e6 : 0;
    return unit_ > 0 || json_.refuse("invalid unit \"" + unit + "\"; expected s, ms or us");
  }

  bool level() {
    std::vector<int>& groups = file_.hierarchy.levels.emplace_back();
    return json_.array([&] {
      long group = 0;
      const bool read = json_.integer(group, 0, max_distance_ranks - 1);
      groups.push_back(static_cast<int>(group));
      return read;
    });
  }

  bool measurement() {
    Raw& raw = raw_.emplace_back();
    return json_.object([&](const std::string& key) {
      if (key == "bytes") return json_.integer(raw.bytes, 0, 1L << 40);
      if (key == "matrix") return json_.array([&] { return row(raw); });
      if (key == "pairs") return json_.array([&] { return pair(raw.pairs); });
      return json_.skip();
    });
  }

  bool row(Raw& raw) {
    const std::size_t from = raw.rows;
    const std::size_t expected = raw.columns();
    if (from == max_distance_ranks) return json_.refuse("more than 16384 ranks");
    std::size_t to = 0;
    const bool read = json_.array([&] {
      double& value = raw.values.emplace_back();
      return json_.number(value) && distance(from, to++, value);
    });
    if (!read) return false;
    ++raw.rows;
    return from == 0 || to == expected ||
           json_.refuse("row " + std::to_string(from) + " has " + std::to_string(to) +
                        " values, row 0 has " + std::to_string(expected));
  }

  bool distance(std::size_t from, std::size_t to, double value) {
    if (from == to ? value == 0 : value > 0) return true;
    return json_.refuse("the distance from rank " + std::to_string(from) + " to rank " +
                        std::to_string(to) + " is " + in_characters(value) +
                        (from == to ? "; expected 0" : "; expected a time above 0"));
  }

  bool pair(std::vector<MeasuredPair>& pairs) {
    std::array<double, 3> values = {};
    std::size_t count = 0;
    const bool read = json_.array([&] {
      if (count == values.size()) return json_.refuse("invalid pair; expected [rank, rank, time]");
      long rank = 0;
      if (count == 2) return json_.number(values[count++]);
      if (!json_.integer(rank, 0, max_distance_ranks - 1)) return false;
      values[count++] = static_cast<double>(rank);
      return true;
    });
    if (!read) return false;
    if (count != values.size()) return json_.refuse("invalid pair; expected [rank, rank, time]");
    pairs.push_back({static_cast<Rank>(values[0]), static_cast<Rank>(values[1]), values[2]});
    if (values[0] == values[1]) return json_.refuse("invalid pair; expected 2 different ranks");
    return distance(index(pairs.back().from), index(pairs.back().to), values[2]);
  }

  bool fail(const std::string& text) {
    error_ = text;
    return false;
  }

  bool assemble() {
    if (!schema_read_) return fail("missing schema; expected \"" + std::string(schema) + "\"");
    if (unit_ == 0) return fail("missing unit; expected s, ms or us");
    if (raw_.empty() || raw_.size() > 2) {
      return fail("\"measured\" has " + std::to_string(raw_.size()) +
                  " measurements; expected 1, or 2 of different sizes");
    }
    const auto& levels = file_.hierarchy.levels;
    const std::size_t p = levels.empty() ? raw_[0].rows : levels[0].size();
    if (p == 0) return fail("no ranks; expected \"matrix\", or \"levels\" with \"pairs\"");
    if (p > max_distance_ranks) return fail("more than 16384 ranks");
    file_.hierarchy.p = static_cast<int>(p);
    if (const std::string flaw = flaw_of(file_.hierarchy); !flaw.empty()) return fail(flaw);
    if (!file_.names.empty() && file_.names.size() != p) {
      return fail(std::to_string(file_.names.size()) + " names for " + std::to_string(p) +
                  " ranks");
    }
    for (Raw& raw : raw_) {
      if (!assemble(raw)) return false;
    }
    std::ranges::sort(file_.measured, {}, &MeasuredDistances::bytes);
    return file_.measured.size() == 1 || file_.measured[0].bytes < file_.measured[1].bytes ||
           fail("both measurements are of " + std::to_string(file_.measured[0].bytes) + " bytes");
  }

  bool assemble(Raw& raw) {
    const std::string name = "the measurement of " + std::to_string(raw.bytes) + " bytes";
    if ((raw.rows == 0) == raw.pairs.empty() && file_.p() > 1) {
      return fail(name + " has " +
                  (raw.rows == 0 ? "neither a matrix nor pairs" : "both a matrix and pairs") +
                  "; expected one of them");
    }
    const auto p = index(file_.p());
    if (raw.rows != 0 && (raw.rows != p || raw.columns() != p)) {
      return fail(name + " has " + std::to_string(raw.rows) + " rows of " +
                  std::to_string(raw.columns()) + " values for " + std::to_string(p) + " ranks");
    }
    for (double& value : raw.values) value /= unit_;
    Result<Distances> distances =
        raw.rows == 0 ? from_pairs(raw) : Distances(file_.p(), std::move(raw.values));
    if (!distances) return fail(name + ": " + distances.error());
    file_.measured.push_back({raw.bytes, std::move(*distances)});
    return true;
  }

  Result<Distances> from_pairs(Raw& raw) const {
    for (MeasuredPair& pair : raw.pairs) {
      if (std::max(pair.from, pair.to) >= file_.p()) {
        return Error{"rank " + std::to_string(std::max(pair.from, pair.to)) +
                     " of a pair; expected 0 to " + std::to_string(file_.p() - 1)};
      }
      pair.seconds /= unit_;
    }
    return expanded(file_.hierarchy, raw.pairs);
  }

  JsonReader json_;
  DistanceFile file_;
  std::vector<Raw> raw_;
  std::string error_;
  bool schema_read_ = false;
  double unit_ = 0;  ///< units in a second; 0: not read yet
};

std::string matrix_to_text(const Distances& distances) {
  std::string text = "\"matrix\": [";
  for (Rank from = 0; from < distances.size(); ++from) {
    text += from == 0 ? "\n    [" : ",\n    [";
    for (Rank to = 0; to < distances.size(); ++to) {
      text += (to == 0 ? "" : ", ") + in_characters(distances(from, to) * 1e6);
    }
    text += "]";
  }
  return text + "]";
}

/// The pairs that the hierarchy measures, in both directions if these differ.
std::vector<MeasuredPair> pairs_of(const Distances& distances, const Hierarchy& hierarchy) {
  std::vector<MeasuredPair> pairs;
  for (const auto& level : chains_to_measure(hierarchy)) {
    for (const auto& chain : level) {
      for (const auto& [low, high] : chain) {
        pairs.push_back({low, high, distances(low, high)});
        if (distances(low, high) != distances(high, low)) {
          pairs.push_back({high, low, distances(high, low)});
        }
      }
    }
  }
  return pairs;
}

/// The distances as pairs if these determine them all, otherwise as a matrix.
std::string values_to_text(const Distances& distances, const Hierarchy& hierarchy) {
  if (hierarchy.levels.empty()) return matrix_to_text(distances);
  const std::vector<MeasuredPair> pairs = pairs_of(distances, hierarchy);
  const Result<Distances> whole = expanded(hierarchy, pairs);
  if (!whole || !(*whole == distances)) return matrix_to_text(distances);
  std::string text;
  for (const auto& [from, to, seconds] : pairs) {
    text += (text.empty() ? "\n    [" : ",\n    [") + std::to_string(from) + ", " +
            std::to_string(to) + ", " + in_characters(seconds * 1e6) + "]";
  }
  return "\"pairs\": [" + text + "]";
}

template <class List, class Write>
std::string joined(const List& list, Write write) {
  std::string text;
  for (const auto& element : list) text += (text.empty() ? "" : ", ") + write(element);
  return "[" + text + "]";
}

}  // namespace

Links DistanceFile::links(double latency, double per_byte) const {
  return measured.size() == 2 ? Links(measured[0], measured[1])
                              : Links(measured[0], latency, per_byte);
}

Result<DistanceFile> distances_from_text(std::string_view text) { return FileReader(text).read(); }

std::string to_text(const DistanceFile& file) {
  std::string text = "{\n  \"schema\": " + json_string(schema) +
                     ",\n  \"method\": " + json_string(file.method) + ",\n  \"unit\": \"us\"";
  if (!file.names.empty()) text += ",\n  \"names\": " + joined(file.names, json_string);
  if (!file.hierarchy.levels.empty()) {
    text += ",\n  \"levels\": " + joined(file.hierarchy.levels, [](const std::vector<int>& groups) {
              return joined(groups, [](int group) { return std::to_string(group); });
            });
  }
  text += ",\n  \"measured\": " + joined(file.measured, [&](const MeasuredDistances& measured) {
            return "{\"bytes\": " + std::to_string(measured.bytes) + ", " +
                   values_to_text(measured.distances, file.hierarchy) + "}";
          });
  return text + "\n}\n";
}

}  // namespace tutti
