/// What tuners learn, as rules that are kept from one run to the next.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "core/types.hpp"
#include "select/rules.hpp"
#include "select/tuning_case.hpp"

namespace tutti {

/// The name of the file of kept rules. Each version has its own: others may lack its algorithms.
inline constexpr const char* kept_rules_name = "learned-" TUTTI_VERSION ".json";
/// The most bytes of that file.
inline constexpr std::size_t max_kept_bytes = std::size_t{1} << 20;

/// What a tuner knows at the end about calls of one class, without the platform. A `use` that is
/// automatic says that what an earlier run kept does not hold any more.
[[nodiscard]] Rule learned_rule(const Features& features, const Setting& use,
                                const TuningEvidence& evidence);
/// Adds what one communicator has learned to what others of this run have. About the same class on
/// the same platform the rule with more calls stays, of as many the later one; an automatic one has
/// none. O(rules).
void learn(Rules& rules, Rule learned);
/// `kept` with what was learned on a platform since, and with its `date`; without what does not
/// hold any more. While the text is longer than `max_bytes`, the first rules go: they are the
/// oldest. O(n * m) with n kept and m learned rules.
[[nodiscard]] Rules merged(Rules kept, const Rules& learned, const Platform& platform,
                           const std::string& date, std::size_t max_bytes = max_kept_bytes);

/// The kept rules for communicators of `p` ranks on a platform. O(rules).
[[nodiscard]] Rules kept_for(Rules kept, int p, const Platform& platform);

/// What a kept rule says about its class, in which its candidate is 0 if it is the MPI's own, else
/// 1.
[[nodiscard]] TuningEvidence evidence_of(const Rule& kept);
/// True if a kept rule is about this class.
[[nodiscard]] bool holds_for(const Rule& kept, const Features& features);

/// The class that calls of an irregular collective count for after a window whose mean block is of
/// class `found`. `latest`: the class until now; `before`: that of the window before, none for the
/// first; `is_kept`: did the class begin with a kept rule? A mean close to a power of 2 shows 2
/// classes in turn, and a window may happen to hold other calls of a mixture. So the first window
/// may also begin with the kept class beside its own, and another class follows where 2 windows in
/// turn show one that is not beside the latest. O(1).
[[nodiscard]] SizeClass class_by_mean(SizeClass found, SizeClass latest,
                                      std::optional<SizeClass> before,
                                      const std::function<bool(SizeClass)>& is_kept);

}  // namespace tutti
