/// Errors as values: a result is a value or an error that names the bad input.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace tutti {

/// One sentence that names the bad value and the accepted ones.
struct Error {
  std::string text;
};

template <class T>
class Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] explicit operator bool() const { return state_.index() == 0; }
  [[nodiscard]] const T& operator*() const { return std::get<0>(state_); }
  [[nodiscard]] T& operator*() { return std::get<0>(state_); }
  [[nodiscard]] const T* operator->() const { return &std::get<0>(state_); }
  [[nodiscard]] const std::string& error() const { return std::get<1>(state_).text; }

 private:
  std::variant<T, Error> state_;
};

}  // namespace tutti
