/// Python bindings of the delay predictor.
#include <nanobind/stl/vector.h>

#include "engine.hpp"
#include "protocols/arrival_predictors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti {

void bind_arrivals(nb::module_& module) {
  nb::class_<DelayPredictor>(module, "DelayPredictor",
                             "Predicts the delays of ranks from earlier calls, like the library.")
      .def(nb::init<int>(), "ranks"_a)
      .def(
          "take",
          [](DelayPredictor& predictor, const std::vector<double>& arrivals) {
            if (arrivals.size() != predictor.delays().size()) {
              throw nb::value_error("arrivals: expected one for each rank");
            }
            predictor.take(arrivals);
          },
          "arrivals"_a, "Adds the arrivals of all ranks at a call, in seconds.")
      .def_prop_ro(
          "delays", &DelayPredictor::delays,
          "The predicted delay of each rank behind the first, in seconds; NaN if unknown.");
}

}  // namespace tutti
