/// Conversions of results and names to values, with Python exceptions as errors.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// The value, or a Python ValueError with the error's text.
template <class T>
T value_or_raise(Result<T> result) {
  if (!result) throw nanobind::value_error(result.error().c_str());
  return std::move(*result);
}

/// The collective of that name, or a ValueError that lists the names.
[[nodiscard]] Collective collective_or_raise(const std::string& name);

}  // namespace tutti
