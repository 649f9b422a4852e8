/// Numbers as text, whatever locale the program has set.
#pragma once

#include <charconv>
#include <cmath>
#include <string>

namespace tutti {

/// With `digits` after the point.
[[nodiscard]] inline std::string fixed(double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
  return {text, end.ptr};
}

/// The shortest that reads back as the same number; null for what JSON has no number for.
[[nodiscard]] inline std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

}  // namespace tutti
