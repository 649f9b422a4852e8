/// Objects and lists of JSON.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "core/json.hpp"
#include "report/numbers.hpp"

namespace tutti {

/// {"first":1,"second":2}
[[nodiscard]] inline std::string json_object(
    std::initializer_list<std::pair<const char*, double>> numbers) {
  std::string text = "{";
  for (const auto& [name, value] : numbers) {
    text += (text.size() > 1 ? "," : "") + json_string(name) + ":" + json_number(value);
  }
  return text + "}";
}

/// [first,second], each element as `show` writes it.
template <class Elements, class Show>
[[nodiscard]] std::string json_list(const Elements& elements, Show show) {
  std::string text = "[";
  for (const auto& each : elements) {
    if (text.size() > 1) text += ",";
    text += show(each);
  }
  return text + "]";
}

/// A whole number.
template <class Value>
[[nodiscard]] std::string json_whole(Value value) {
  return std::to_string(value);
}

}  // namespace tutti
