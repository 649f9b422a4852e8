/// Lines of text for terminals of 80 columns.
#pragma once

#include <algorithm>
#include <string>

#include "report/numbers.hpp"

namespace tutti {

inline constexpr std::size_t columns = 80;

/// `text` at the right end of `width` columns; longer texts are kept.
[[nodiscard]] inline std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}
/// `text` at the left end of `width` columns; longer texts are kept.
[[nodiscard]] inline std::string left(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

/// Equally wide for all units.
[[nodiscard]] inline std::string duration_in_column(double seconds) {
  const std::string text = duration(seconds);
  return text.ends_with(" s") ? text + " " : text;
}

/// Breaks `text` between words into lines that begin with `indent` blanks. Words longer than a line
/// are cut: names of instantiated templates can be pages long. O(length).
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace tutti
