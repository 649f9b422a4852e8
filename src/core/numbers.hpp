/// Numbers as text and back, independent of the program's locale.
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <system_error>

namespace tutti {

/// Reads `text`, which must be one number and nothing else. If not, returns false.
template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

/// The text that std::to_chars makes of a number with this format: without one, the shortest that
/// reads back as the same number.
template <class... Format>
[[nodiscard]] std::string in_characters(double value, Format... format) {
  char text[400];  // the largest double has 309 digits before the decimal point
  const auto end = std::to_chars(text, text + sizeof text, value, format...);
  return {text, end.ptr};
}

/// `value` with `digits` digits after the decimal point.
[[nodiscard]] inline std::string fixed(double value, int digits) {
  return in_characters(value, std::chars_format::fixed, digits);
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

}  // namespace tutti
