/// Rules: the algorithms that measurements have shown to be fastest, by the calls they hold for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "select/selection.hpp"

namespace tutti {

/// The schema that rules files name.
inline constexpr std::string_view rules_schema = "tutti-rules-1";

/// The size of the largest rules file that is read, in bytes.
inline constexpr std::size_t max_rules_bytes = std::size_t{64} << 20;

/// An MPI library: a short name such as "openmpi", and its version such as "4.1.4".
struct MpiVersion {
  std::string name;
  std::string version;
};
/// Reads what MPI_Get_library_version returns. Names: openmpi, mpich, intel, mvapich, cray; else
/// "other" without a version. O(length).
[[nodiscard]] MpiVersion mpi_version(std::string_view library_version);

/// The library and network on which something was measured or runs.
struct Platform {
  MpiVersion mpi;
  std::string network;  ///< see network_name (run/processors.hpp)
};

/// Whole numbers from `least` to `most`, both included.
struct NumberRange {
  static constexpr std::int64_t inf = std::numeric_limits<std::int64_t>::max();
  std::int64_t least = 0;
  std::int64_t most = inf;

  [[nodiscard]] bool contains(std::int64_t n) const { return least <= n && n <= most; }
  [[nodiscard]] bool is_all() const { return least == 0 && most == inf; }
  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};
/// Reads "8", "64K", "1K..64K" or "1M..inf"; K, M and G are powers of 1024.
[[nodiscard]] Result<NumberRange> number_range(std::string_view text);
/// The shortest text that reads back as the same range.
[[nodiscard]] std::string to_text(const NumberRange& range);

/// Microseconds between which a median is.
struct RuleInterval {
  static constexpr double confidence = 0.95;  ///< at least
  double least = 0;
  double most = 0;
};

/// Median times in microseconds, as far as they are known.
struct RuleTimes {
  std::optional<double> native_us;  ///< of the MPI's own algorithm
  std::optional<double> choice_us;  ///< of what the rule selects
  std::optional<RuleInterval> native_interval_us;
  std::optional<RuleInterval> choice_interval_us;
};

/// Those of messages of one size.
struct SizedRuleTimes : RuleTimes {
  Bytes bytes = 0;
};

/// What a rule was derived from. Its own times are those of the size at which it gains least.
struct RuleEvidence : RuleTimes {
  std::vector<SizedRuleTimes> sizes;  ///< ascending; none where one size was measured
  std::optional<long> calls;          ///< that were measured of what the rule selects
  std::string date;                   ///< such as 2026-11-22
  std::string command;
  std::string source;  ///< the name of the file
};

/// One rule. A key that its file does not give matches every call.
///
/// `bytes` is the size of a message as rules, tuning and reports count it (docs/tuning.md): the
/// bytes that one rank contributes or receives, as for size classes (core/types.hpp). Where no
/// rank knows the sizes of all others (is_block_common), rules match only if they give neither
/// bytes nor irregularity.
struct Rule {
  Collective collective = Collective::gather;
  NumberRange p;
  NumberRange nodes;
  NumberRange ranks_per_node;  ///< of the largest node
  NumberRange bytes;
  NumberRange irregularity;         ///< see irregularity_of; 1 where all blocks are equal
  std::optional<bool> commutative;  ///< of a reduction's operation
  std::string mpi;                  ///< see MpiVersion::name
  std::string version;              ///< "4.1" matches 4.1.4 too
  std::string network;              ///< see Platform
  Setting use;                      ///< native or forced
  RuleEvidence evidence;

  [[nodiscard]] bool needs_nodes() const { return !nodes.is_all() || !ranks_per_node.is_all(); }
};

/// Rules in the sequence in which they are tried: the first match decides.
struct Rules {
  std::vector<Rule> all;
  std::vector<std::string> remarks;  ///< about fields that were ignored
};

/// Reads a rules file (docs/tuning.md). `source` is the name by which reasons cite it, unless a
/// rule's evidence has one. The error names line, field, value and what is accepted. O(length).
[[nodiscard]] Result<Rules> rules_from_text(std::string_view text, const std::string& source);
/// A text that rules_from_text reads as the same rules, one rule a line.
[[nodiscard]] std::string to_text(const Rules& rules);

/// The irregularity of a call whose ranks have blocks of `total` bytes or elements altogether: the
/// largest block over the mean one, rounded up; 1 up to 5 % more than the mean, as such blocks run
/// like equal ones, and without data.
[[nodiscard]] constexpr std::int64_t irregularity_of(std::int64_t largest, std::int64_t total,
                                                     int p) {
  return 20 * largest * p <= 21 * total ? 1 : (largest * p + total - 1) / total;
}

/// True if the keys of the rule match, except for bytes, the MPI and the network.
[[nodiscard]] bool matches(const Rule& rule, const Features& features);
/// The rules that may match on a communicator of `p` ranks on this platform. O(rules).
[[nodiscard]] Rules rules_for(Rules rules, int p, const Platform& platform);

/// The largest irregularity of each range that rules for such calls tell apart, ascending; the last
/// is inf. Only inf where no rule asks for it, or ranks do not know it. O(n log n).
[[nodiscard]] std::vector<std::int64_t> irregularities_of(const Rules& rules, Features features);

/// Consecutive message sizes up to `most` that one rule decides; none: no rule matches. `times` are
/// those of the measured size that is nearest by the ratio; of a rule without sizes its own.
struct RuleSpan {
  Bytes most = NumberRange::inf;
  const Rule* rule = nullptr;
  const RuleTimes* times = nullptr;
};
/// All message sizes from 0 on, in ascending spans, each with its first match among `rules_for` the
/// platform. The rules must outlive the result. O(n^2) in the number of rules and sizes that match.
[[nodiscard]] std::vector<RuleSpan> spans_of(const Rules& rules, const Features& features);

/// The rule's selection, or native if the call does not permit that (see why_unfit).
[[nodiscard]] Choice choice_of(const Rule& rule, const Features& features);

}  // namespace tutti
