/// What the files of the Python module share.
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

// Each adds the bindings of one file to the module.
void bind_lists(nanobind::module_& module);
void bind_call(nanobind::module_& module);
void bind_sweep(nanobind::module_& module);

}  // namespace tutti
