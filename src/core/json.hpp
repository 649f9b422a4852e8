/// Writes values as JSON, and reads JSON from front to back without storing it.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

/// `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, because file
/// and function names may hold any bytes.
[[nodiscard]] std::string json_string(std::string_view text);

/// A value as text; null by default.
struct Json {
  std::string text = "null";

  Json() = default;
  Json(std::integral auto number) : text(std::to_string(number)) {}
  /// The shortest text that reads back as the same number; null for infinities and NaN.
  Json(double number);
  Json(bool truth) : text(truth ? "true" : "false") {}
  Json(std::string_view string) : text(json_string(string)) {}
  Json(const std::string& string) : Json(std::string_view(string)) {}
  Json(const char* string) : Json(std::string_view(string)) {}
  template <class Value>
  Json(const std::optional<Value>& value) : Json(value ? Json(*value) : Json()) {}

  [[nodiscard]] bool is_null() const { return text == "null"; }
};

/// [first,second], each element as `show` gives it: a function, or a member of the elements.
template <class Elements, class Show = std::identity>
[[nodiscard]] Json json_list(const Elements& elements, Show show = {}) {
  Json list;
  list.text = "[";
  for (const auto& each : elements) {
    if (list.text.size() > 1) list.text += ",";
    list.text += Json(std::invoke(show, each)).text;
  }
  list.text += "]";
  return list;
}

/// Adds {"first":1,"second":2} of names and their values in turn to an object.
template <class... Members>
void add_members(Json& object, const Members&... members) {
  const std::array all = {Json(members)...};
  object.text.pop_back();
  for (std::size_t i = 0; i < all.size(); i += 2) {
    if (object.text.size() > 1) object.text += ",";
    object.text += all[i].text + ":" + all[i + 1].text;
  }
  object.text += "}";
}

/// An object of names and their values in turn.
template <class... Members>
[[nodiscard]] Json json_object(const Members&... members) {
  Json object;
  object.text = "{}";
  if constexpr (sizeof...(members) > 0) add_members(object, members...);
  return object;
}

/// A cursor in a JSON text (RFC 8259). Each function consumes one value of its kind and returns
/// true; if it cannot, it returns false and sets error(). After an error all functions fail.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  /// Calls `member(key)` for each member; it consumes the value and returns its success.
  template <class Member>
  bool object(Member member) {
    if (!take('{', "an object")) return false;
    if (take_if('}')) return true;
    do {
      std::string key;
      if (!string(key) || !take(':', "a colon after a key") || !member(key)) return stop();
    } while (take_if(','));
    return take('}', "a comma or the end of an object");
  }

  /// Calls `element()` for each element; it consumes the element and returns its success.
  template <class Element>
  bool array(Element element) {
    if (!take('[', "an array")) return false;
    if (take_if(']')) return true;
    do {
      if (!element()) return stop();
    } while (take_if(','));
    return take(']', "a comma or the end of an array");
  }

  bool number(double& value);
  /// An integer within the bounds.
  bool integer(long& value, long min, long max);
  bool string(std::string& value);
  /// true or false.
  bool boolean(bool& value);
  /// Any value.
  bool skip();
  /// True at the end of the text.
  bool end();

  /// Sets error(): the value consumed last is not acceptable. Returns false.
  bool refuse(const std::string& reason);
  /// The same for a value that was taken on an earlier line.
  bool refuse_at(int line, const std::string& reason);
  /// The line of what was taken last, from 1 on.
  [[nodiscard]] int line() const { return line_; }
  /// True if the next value is a string.
  [[nodiscard]] bool at_string();
  /// "line 3: ..", or empty if there was no error.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void blanks();
  bool take_if(char c);
  bool take(char c, const char* what);
  bool escape(std::string& value);
  bool code_unit(unsigned& unit);
  bool stop() { return error_.empty() ? refuse("unexpected value") : false; }

  std::string_view rest_;
  int line_ = 1;
  int depth_ = 0;
  std::string error_;
};

}  // namespace tutti
