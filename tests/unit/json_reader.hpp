/// Is a text one valid JSON value? By the grammar of RFC 8259, for tests of writers.
#pragma once

#include <algorithm>
#include <string_view>

namespace tutti::test {

class JsonReader {
 public:
  static bool accepts(std::string_view text) {
    JsonReader reader(text);
    return reader.value() && (reader.blanks(), reader.text_.empty());
  }

 private:
  explicit JsonReader(std::string_view text) : text_(text) {}

  void blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }
  bool take(std::string_view token) {
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  bool digits() {
    const std::size_t count = std::min(text_.find_first_not_of("0123456789"), text_.size());
    text_.remove_prefix(count);
    return count > 0;
  }
  bool value() {
    blanks();
    if (take("{")) return members("}", true);
    if (take("[")) return members("]", false);
    if (text_.starts_with('"')) return string();
    return take("true") || take("false") || take("null") || number();
  }
  bool members(std::string_view end, bool named) {
    blanks();
    if (take(end)) return true;
    do {
      blanks();
      if (named && !(string() && (blanks(), take(":")))) return false;
      if (!value()) return false;
      blanks();
    } while (take(","));
    return take(end);
  }
  bool number() {
    take("-");
    if (!take("0") && !digits()) return false;
    if (take(".") && !digits()) return false;
    if (!take("e") && !take("E")) return true;
    if (!take("+")) take("-");
    return digits();
  }
  bool string() {
    if (!take("\"")) return false;
    while (!text_.empty() && !text_.starts_with('"')) {
      if (static_cast<unsigned char>(text_.front()) < 0x20) return false;
      const bool escaped = take("\\");
      if (text_.empty()) return false;
      if (escaped && take("u")) {
        if (text_.substr(0, 4).find_first_not_of("0123456789abcdefABCDEF") < 4) return false;
        text_.remove_prefix(std::min<std::size_t>(4, text_.size()));
        continue;
      }
      if (escaped && std::string_view("\"\\/bfnrt").find(text_.front()) == std::string_view::npos)
        return false;
      text_.remove_prefix(1);
    }
    return take("\"");
  }

  std::string_view text_;
};

}  // namespace tutti::test
