/// What was measured, as columns, CSV and JSON.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/options.hpp"
#include "bench/statistics.hpp"
#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// How a measurement was made: names and values in the sequence in which they are shown.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Bytes of memory that a rank has more of than before a call: the mean of all, where a page that n
/// ranks share is 1/n of a page to each.
struct Resident {
  double held = 0;  ///< while it holds the result
  double kept = 0;  ///< once it has released it
};

/// One contender's times for one problem. Seconds.
struct Line {
  std::string name;
  std::string ran;                 ///< what Tutti ran and why, or empty
  std::vector<double> samples;     ///< last exit less first arrival, by repetition
  double spread = 0;               ///< median of last arrival less first arrival
  double elapsed = 0;              ///< mean over calls and ranks of exit - arrival
  std::optional<Ratio> to_native;  ///< time / native's time
  std::optional<double> to_bound;  ///< median of time / lower bound
  std::optional<Resident> resident = {};
};

/// One problem and all its contenders.
struct Row {
  std::string collective;
  std::string distribution;
  Bytes block = 0;  ///< average elements of a rank, as asked for
  int width = 0;    ///< bytes of an element
  Rank root = 0;
  Bytes total = 0;                   ///< elements of all blocks
  Bytes largest = 0;                 ///< elements of the largest block
  std::optional<double> bound = {};  ///< lower bound, in seconds, if all ranks arrived at once
  std::vector<Line> lines = {};
};

/// A performance guideline (Träff 2017, section 4): in every row `left` should take no longer than
/// `right`, two of its lines by name.
struct Guideline {
  int number = 0;
  std::string library;  ///< "native" or "tutti"
  std::string left;
  std::string right;
  bool equal_blocks_only = false;
};

/// "faster" or "slower" than native where the interval of the ratio leaves no doubt, else "even".
[[nodiscard]] std::string verdict(const Ratio& to_native);

/// Collects rows at rank 0 and writes them where the options say.
class Report {
 public:
  /// The error names a file that cannot be written.
  static Result<std::shared_ptr<Report>> open(const Options& options, Metadata metadata);

  [[nodiscard]] bool quiet() const { return quiet_; }
  /// Adds a row; prints it as columns unless `print` is off.
  void add(Row row, bool print = true);
  /// A line on the standard output, unless quiet.
  void say(const std::string& text) const;
  /// The same of a further piece of metadata, which the JSON file has too.
  void note(const std::string& key, const std::string& value);
  /// Writes the JSON file, with the guidelines that the rows are to be tested for.
  void finish(const std::vector<Guideline>& guidelines = {});

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  void print_columns(const Row& row);
  void write_csv(const Row& row);

  bool quiet_ = false;
  Metadata metadata_;
  std::vector<Row> rows_;
  std::string section_;  ///< the last heading that was printed
  File json_;
  File csv_;
};

}  // namespace tutti::bench
