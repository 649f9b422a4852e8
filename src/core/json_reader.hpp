/// Reads JSON front to back, without keeping it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace tutti {

/// A cursor in a JSON text (RFC 8259). Each function takes one value of its kind and is true, or
/// is false and leaves the reason behind; after the first reason nothing is taken any more.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  /// Calls `member(key)` for each member; it takes the value and returns whether it could.
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

  /// Calls `element()` for each element; it takes it and returns whether it could.
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
  /// A number without a fraction within the bounds.
  bool integer(long& value, long least, long most);
  bool string(std::string& value);
  /// true or false.
  bool boolean(bool& value);
  /// Any value.
  bool skip();
  /// True at the end of the text.
  bool end();

  /// Notes that what was taken last is not what it should be; false.
  bool refuse(const std::string& reason);
  /// The same for a value that was taken on an earlier line.
  bool refuse_at(int line, const std::string& reason);
  /// The line of what was taken last, from 1 on.
  [[nodiscard]] int line() const { return line_; }
  /// True if the next value is a string.
  [[nodiscard]] bool at_string();
  /// "line 3: ..", or empty where nothing was wrong.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void blanks();
  bool take_if(char c);
  bool take(char c, const char* what);
  bool escape(std::string& value);
  bool stop() { return error_.empty() ? refuse("this value is not expected here") : false; }

  std::string_view rest_;
  int line_ = 1;
  int depth_ = 0;
  std::string error_;
};

}  // namespace tutti
