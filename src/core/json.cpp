/// Quotes strings for JSON, and parses its values.
#include "core/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/numbers.hpp"

namespace tutti {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// The bytes of the character at `at`, or 0 if they are not valid UTF-8 (the table of well-formed
/// sequences in chapter 3 of the Unicode standard).
std::size_t character_length(std::string_view text, std::size_t at) {
  const unsigned char lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, at + i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte_at(text, at + 1);
  const bool too_long = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool too_large = lead == 0xF4 && second > 0x8F;
  return too_long || surrogate || too_large ? 0 : length;
}

constexpr int max_depth = 64;  ///< nesting of values that are skipped

void append_utf8(std::string& text, unsigned code) {
  const auto push = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return push(code);
  if (code < 0x800) {
    push(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      push(0xE0 | code >> 12);
    } else {
      push(0xF0 | code >> 18);
      push(0x80 | (code >> 12 & 0x3F));
    }
    push(0x80 | (code >> 6 & 0x3F));
  }
  push(0x80 | (code & 0x3F));
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    const char c = text[at];
    if (length == 0) {
      quoted += replacement;
    } else if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (length == 1 && byte_at(text, at) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      quoted += escape;
    } else {
      quoted += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return quoted + "\"";
}

Json::Json(double number) : text(std::isfinite(number) ? in_characters(number) : "null") {}

bool JsonReader::refuse(const std::string& reason) { return refuse_at(line_, reason); }

bool JsonReader::refuse_at(int line, const std::string& reason) {
  if (error_.empty()) error_ = "line " + std::to_string(line) + ": " + reason;
  return false;
}

bool JsonReader::at_string() {
  if (!error_.empty()) return false;
  blanks();
  return rest_.starts_with('"');
}

bool JsonReader::boolean(bool& value) {
  if (!error_.empty()) return false;
  blanks();
  value = rest_.starts_with("true");
  const std::string_view word = value ? "true" : "false";
  if (!rest_.starts_with(word)) {
    const std::string_view found = rest_.substr(0, rest_.find_first_of(",]} \t\r\n"));
    return refuse("\"" + std::string(found.substr(0, 40)) + "\" is neither true nor false");
  }
  rest_.remove_prefix(word.size());
  return true;
}

void JsonReader::blanks() {
  const std::size_t count = std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size());
  line_ +=
      static_cast<int>(std::count(rest_.begin(), rest_.begin() + static_cast<long>(count), '\n'));
  rest_.remove_prefix(count);
}

bool JsonReader::take_if(char c) {
  if (!error_.empty()) return false;
  blanks();
  if (!rest_.starts_with(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

bool JsonReader::take(char c, const char* what) {
  if (take_if(c)) return true;
  const std::string found =
      rest_.empty() ? "the end" : "\"" + std::string(rest_.substr(0, 12)) + "\"";
  return refuse(std::string("expected ") + what + ", found " + found.substr(0, found.find('\n')));
}

bool JsonReader::number(double& value) {
  if (!error_.empty()) return false;
  blanks();
  const std::string_view digits = rest_.substr(0, rest_.find_first_not_of("+-.0123456789eE"));
  if (!read_number(digits, value) || !std::isfinite(value)) {
    const std::string_view found = rest_.substr(0, rest_.find_first_of(",]} \t\r\n"));
    return refuse("expected a number, found \"" + std::string(found.substr(0, 40)) + "\"");
  }
  rest_.remove_prefix(digits.size());
  return true;
}

bool JsonReader::integer(long& value, long min, long max) {
  double read = 0;
  if (!number(read)) return false;
  if (read != std::floor(read) || read < static_cast<double>(min) ||
      read > static_cast<double>(max)) {
    return refuse("expected an integer from " + std::to_string(min) + " to " + std::to_string(max) +
                  ", found " + in_characters(read));
  }
  value = static_cast<long>(read);
  return true;
}

bool JsonReader::escape(std::string& value) {
  constexpr std::string_view escaped = "\"\\/bfnrt";
  constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
  const std::size_t at = rest_.empty() ? std::string_view::npos : escaped.find(rest_.front());
  if (at != std::string_view::npos) {
    value += meant[at];
    rest_.remove_prefix(1);
    return true;
  }
  unsigned code = 0;
  unsigned low = 0;
  if (!code_unit(code)) return false;
  if ((code & 0xFC00) == 0xD800 && rest_.starts_with('\\')) {
    rest_.remove_prefix(1);
    if (!code_unit(low)) return false;
    if ((low & 0xFC00) == 0xDC00) code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
  }
  if (0xD800 <= code && code <= 0xDFFF) return refuse("a string has half a surrogate pair");
  append_utf8(value, code);
  return true;
}

/// Reads `uXXXX`, a unit of UTF-16.
bool JsonReader::code_unit(unsigned& unit) {
  const std::string_view digits = rest_.substr(std::min<std::size_t>(rest_.size(), 1), 4);
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  if (!rest_.starts_with('u') || digits.size() != 4 || error != std::errc() ||
      stop != digits.data() + 4) {
    return refuse("a string has an invalid escape");
  }
  rest_.remove_prefix(5);
  return true;
}

bool JsonReader::string(std::string& value) {
  if (!take('"', "a string")) return false;
  value.clear();
  while (!rest_.empty() && rest_.front() != '"') {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\n') return refuse("a string has no end on its line");
    if (c != '\\') {
      value += c;
    } else if (!escape(value)) {
      return false;
    }
  }
  if (rest_.empty()) return refuse("a string has no end");
  rest_.remove_prefix(1);
  return true;
}

bool JsonReader::skip() {
  if (!error_.empty()) return false;
  blanks();
  if (++depth_ > max_depth) return refuse("values are nested too deeply");
  bool skipped = false;
  std::string text;
  double value = 0;
  if (rest_.starts_with('{')) {
    skipped = object([&](const std::string&) { return skip(); });
  } else if (rest_.starts_with('[')) {
    skipped = array([&] { return skip(); });
  } else if (rest_.starts_with('"')) {
    skipped = string(text);
  } else {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (skipped || !rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      skipped = true;
    }
    skipped = skipped || number(value);
  }
  --depth_;
  return skipped;
}

bool JsonReader::end() {
  if (!error_.empty()) return false;
  blanks();
  return rest_.empty() || refuse("expected the end, found more text");
}

}  // namespace tutti
