/// Words that users write: lists of them, names in any case, and suggestions for those that are
/// spelt wrongly.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The parts of `text` between any of the separators: one more than there are of these, so that
/// parts may be empty. O(length).
[[nodiscard]] std::vector<std::string_view> split(std::string_view text,
                                                  std::string_view separators = ",");

/// True if both are equal but for the case of letters.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

/// The entry of `known` with the smallest edit distance to `given`, the first of several. Two
/// swapped neighbours count as one edit (Damerau 1964; optimal string alignment); case does not
/// count. Empty where every entry differs in more than one third of the longer name. O(known *
/// |given| * |entry|).
[[nodiscard]] std::string_view nearest(std::string_view given,
                                       std::span<const std::string_view> known);

/// "; did you mean NAME?" with the nearest entry, or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view given,
                                       std::span<const std::string_view> known);
[[nodiscard]] inline std::string did_you_mean(std::string_view given,
                                              std::initializer_list<std::string_view> known) {
  return did_you_mean(given, std::span(known.begin(), known.size()));
}

/// The end of an error that names all accepted names of a kind, such as "algorithms":
/// "; valid KIND: A, B", or "; did you mean A? (valid KIND: A, B)".
[[nodiscard]] std::string valid_names(std::string_view given,
                                      std::span<const std::string_view> known,
                                      std::string_view kind);

}  // namespace tutti
