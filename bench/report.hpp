/// Results as columns, CSV and JSON.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/options.hpp"
#include "bench/output_file.hpp"
#include "bench/statistics.hpp"
#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti::bench {

/// Metadata of a measurement: names and values in output order.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// The mean increase of a rank's memory by a call, in bytes; a page that n ranks share counts 1/n
/// to each.
struct Resident {
  double held = 0;  ///< while the rank holds the result
  double kept = 0;  ///< after the release of the result
};

/// The modelled seconds of a contender's schedule (see price).
struct Predicted {
  double logp = 0;
  double loggp = 0;
};

/// The times of one contender for one problem, in seconds.
struct Line {
  std::string name;
  std::string ran;                 ///< the algorithm that Tutti ran and why, or empty
  std::vector<double> samples;     ///< last exit minus first arrival, by repetition
  std::optional<double> spread;    ///< median of last arrival minus first arrival; none: not noted
  std::optional<double> elapsed;   ///< mean over calls and ranks of exit - arrival; none: not noted
  std::optional<Ratio> to_native;  ///< time / native's time
  std::optional<double> to_bound;  ///< median of time / lower bound
  std::optional<Resident> resident = {};
  std::optional<Predicted> predicted = {};
  /// Last exit minus last arrival, by repetition; empty where arrivals are not noted.
  std::vector<double> after_last_arrival = {};
};

/// One problem and all its contenders.
struct Row {
  std::string collective;
  std::string distribution;
  Bytes block = 0;  ///< mean elements of a rank, as requested
  int width = 0;    ///< bytes of an element
  Rank root = 0;
  Bytes total = 0;                   ///< elements of all blocks
  Bytes largest = 0;                 ///< elements of the largest block
  std::optional<double> bound = {};  ///< lower bound in seconds if all ranks arrive at once
  std::vector<Line> lines = {};
};

/// A performance guideline (Träff 2017, section 4): in every row the line `left` should take no
/// longer than the line `right`.
struct Guideline {
  int number = 0;
  std::string library;  ///< "native" or "tutti"
  std::string left;
  std::string right;
  bool equal_blocks_only = false;
};

/// "faster" or "slower" if the interval of the ratio to native excludes 1, "unknown" if samples are
/// too few for an interval, else "even".
[[nodiscard]] std::string verdict(const Ratio& to_native);

/// Collects rows at rank 0, prints them and writes the files of the options.
class Report {
 public:
  /// The error names a file that cannot be written.
  static Result<std::shared_ptr<Report>> open(const Options& options, Metadata metadata);

  [[nodiscard]] bool quiet() const { return quiet_; }
  /// Adds a row, and writes all so far to FILE.part of --json FILE and --csv FILE; prints the row
  /// as columns unless `print` is off.
  void add(Row row, bool print = true);
  /// Adds the guidelines that `tutti check` tests on the rows.
  void add(std::vector<Guideline> guidelines);
  /// Prints a line on standard output, unless quiet.
  void say(const std::string& text) const;
  /// Prints metadata, and adds it to the JSON file in place of what this key had.
  void note(const std::string& key, const std::string& value);
  /// Writes what is left. The text says which file could not be written, and why; empty: none.
  [[nodiscard]] std::string finish();

 private:
  void print_columns(const Row& row);
  /// What is written directly has the text at once, a file at the end.
  void add_csv(const std::string& text);
  [[nodiscard]] static std::string csv_of(const Row& row);
  [[nodiscard]] std::string json_text() const;

  bool quiet_ = false;
  Metadata metadata_;
  std::vector<Row> rows_;
  std::vector<Guideline> guidelines_;
  std::string section_;  ///< the last heading printed
  OutputFile json_;
  OutputFile csv_;
  std::string csv_text_;  ///< for the file
};

}  // namespace tutti::bench
