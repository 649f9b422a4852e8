/// The functions that define the Python module tutti._engine.
#pragma once

#include <nanobind/nanobind.h>

namespace tutti {

// Each function adds the bindings of one file to the module.
void bind_lists(nanobind::module_& module);
void bind_arrivals(nanobind::module_& module);
void bind_call(nanobind::module_& module);
void bind_hierarchical(nanobind::module_& module);
void bind_sweep(nanobind::module_& module);
void bind_distances(nanobind::module_& module);

}  // namespace tutti
