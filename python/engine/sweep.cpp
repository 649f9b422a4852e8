/// Python bindings of the exhaustive verification.
#include "sweep/sweep.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "core/words.hpp"
#include "engine.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti {

namespace {

using Progress = std::function<void(double, std::string_view)>;

/// Runs one part without the interpreter's lock; calls `progress` with the lock.
SweepResult sweep_part(const SweepOptions& options, const std::optional<Progress>& progress) {
  SweepProgress report;
  if (progress) {
    report = [&](double done, std::string_view at) {
      const nb::gil_scoped_acquire lock;
      (*progress)(done, at);
    };
  }
  const nb::gil_scoped_release unlocked;
  return sweep(options, report);
}

void check(const SweepOptions& options) {
  if (!options.algorithm.empty()) {
    bool known = false;
    for (const Algorithm& algorithm : all_algorithms())
      known |= algorithm.name == options.algorithm;
    if (!known) {
      std::vector<std::string_view> names;
      for (const Algorithm& algorithm : all_algorithms()) {
        if (std::find(names.begin(), names.end(), algorithm.name) == names.end())
          names.push_back(algorithm.name);
      }
      const std::string text = "unknown algorithm '" + options.algorithm + "'" +
                               valid_names(options.algorithm, names, "algorithms");
      throw nb::value_error(text.c_str());
    }
  }
  if (options.max_p < 1 || options.parts < 1 || options.part < 0 || options.part >= options.parts) {
    const std::string text =
        "ranks up to " + std::to_string(options.max_p) + ", part " + std::to_string(options.part) +
        " of " + std::to_string(options.parts) +
        ": expected ranks and parts of at least 1, and a part below their number";
    throw nb::value_error(text.c_str());
  }
}

}  // namespace

void bind_sweep(nb::module_& module) {
  nb::class_<SweepResult>(module, "SweepResult",
                          "The numbers of verified cases and of their programs, and the smallest "
                          "cases that failed.")
      .def_ro("cases", &SweepResult::cases)
      .def_ro("programs", &SweepResult::programs)
      .def_ro("failed", &SweepResult::failed)
      .def_prop_ro(
          "failures",
          [](const SweepResult& result) {
            std::vector<std::string> texts;
            for (const FailedCase& failure : result.failures) texts.push_back(failure.text);
            return texts;
          },
          "The smallest failed cases, by ranks, then by bytes; at most 20.")
      .def("add", &SweepResult::add, "other"_a, "Adds the result of another part.");
  module.def(
      "sweep",
      [](int max_ranks, int sampled, const std::string& collective, const std::string& algorithm,
         int part, int parts, const std::optional<Progress>& progress) {
        SweepOptions options{max_ranks, sampled, std::nullopt, algorithm, part, parts};
        if (!collective.empty()) options.collective = collective_or_raise(collective);
        check(options);
        return sweep_part(options, progress);
      },
      "max_ranks"_a = 33, "sampled"_a = 1024, "collective"_a = "", "algorithm"_a = "", "part"_a = 0,
      "parts"_a = 1, "progress"_a = nb::none(),
      "Verifies one part of the cases; progress(done, at) receives a share from 0 to 1 and the "
      "current case.");
}

}  // namespace tutti
