/// Python bindings of the delay predictor.
#include <nanobind/stl/vector.h>

#include "engine.hpp"
#include "protocols/arrival_predictors.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti {

void bind_arrivals(nb::module_& module) {
  nb::class_<DelayPredictor>(module, "DelayPredictor",
                             "Predicts the delays of ranks from earlier calls, like the library.")
      .def(
          "__init__",
          [](DelayPredictor* predictor, int ranks) {
            if (ranks < 1) {
              const std::string wrong = "ranks " + std::to_string(ranks) + ": expected at least 1";
              throw nb::value_error(wrong.c_str());
            }
            new (predictor) DelayPredictor(ranks);
          },
          "ranks"_a)
      .def(
          "take",
          [](DelayPredictor& predictor, const std::vector<double>& arrivals) {
            const int p = static_cast<int>(predictor.delays().size());
            const std::string wrong = flaw_of(arrivals, p);
            if (!wrong.empty()) throw nb::value_error(wrong.c_str());
            predictor.take(arrivals);
          },
          "arrivals"_a, "Adds the arrivals of all ranks at a call, in seconds.")
      .def_prop_ro(
          "delays", &DelayPredictor::delays,
          "The predicted delay of each rank behind the first, in seconds; NaN if unknown.");
}

}  // namespace tutti
