/// What tuners learn, as rules that are kept from one run to the next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/size_class.hpp"
#include "select/rules.hpp"
#include "select/tuning_case.hpp"

namespace tutti {

/// The most bytes of a file of kept rules.
inline constexpr std::size_t max_kept_bytes = std::size_t{1} << 20;

/// What TUTTI_LEARN accepts.
enum class Learning { off, run, keep };
/// Reads "off", "run" or "keep". The error says what is accepted.
[[nodiscard]] Result<Learning> learning(std::string_view text);

/// The machine and library on which something was learned.
struct Platform {
  MpiVersion mpi;
  std::string network;
};

/// What a tuner knows at the end about calls of one class.
struct LearnedClass {
  Features features;
  /// The candidate that is selected; none: what an earlier run kept does not hold any more.
  std::optional<Setting> use;
  TuningEvidence evidence;  ///< if there is a candidate
};

/// What a process has learned. A later entry replaces an earlier one of the same class.
class Learned {
 public:
  void add(const LearnedClass& learned);
  [[nodiscard]] bool is_empty() const { return all_.empty(); }
  /// The rules of `kept` without those that are replaced or do not hold any more, then those
  /// learned here, with `date`. While the text is longer than `max_bytes`, the first ones go: they
  /// are the oldest. O(n * m) with n kept and m learned rules.
  [[nodiscard]] Rules merged(const Rules& kept, const Platform& platform, const std::string& date,
                             std::size_t max_bytes = max_kept_bytes) const;

 private:
  std::vector<LearnedClass> all_;
};

/// The kept rules for communicators of `p` ranks on a platform, without what identifies the
/// platform. O(rules).
[[nodiscard]] Rules kept_for(const Rules& kept, int p, const Platform& platform);

/// The class of a kept rule's message sizes.
[[nodiscard]] SizeClass class_of(const Rule& kept);
/// What a kept rule says about its class, in which its candidate is 0 if it is the MPI's own, else
/// 1.
[[nodiscard]] TuningEvidence evidence_of(const Rule& kept);
/// True if a kept rule is about this class.
[[nodiscard]] bool holds_for(const Rule& kept, const Features& features);

}  // namespace tutti
