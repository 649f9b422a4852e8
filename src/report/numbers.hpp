/// Numbers as text, independent of the program's locale.
#pragma once

#include <charconv>
#include <cmath>
#include <string>

namespace tutti {

/// `value` with `digits` digits after the decimal point.
[[nodiscard]] inline std::string fixed(double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
  return {text, end.ptr};
}

/// Three digits and a unit: "1.23 ms".
[[nodiscard]] inline std::string three_digits(double value, const char* unit) {
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fixed(value, digits) + " " + unit;
}

/// A time with its unit.
[[nodiscard]] inline std::string duration(double seconds) {
  if (seconds >= 0.9995) return three_digits(seconds, "s");
  if (seconds >= 0.9995e-3) return three_digits(seconds * 1e3, "ms");
  return three_digits(seconds * 1e6, "us");
}

/// The shortest text that reads back as the same number; null for infinities and NaN.
[[nodiscard]] inline std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

/// The same with five digits, for the many measured times of a report.
[[nodiscard]] inline std::string json_five_digits(double value) {
  if (!std::isfinite(value)) return "null";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 5);
  return {text, end.ptr};
}

}  // namespace tutti
