/// What is expected of arrivals, for Python.
#include <nanobind/stl/vector.h>

#include "engine.hpp"
#include "protocols/delay_predictor.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti {

void bind_arrivals(nb::module_& module) {
  nb::class_<DelayPredictor>(module, "DelayPredictor",
                             "How late ranks usually are, by the library's own rule.")
      .def(nb::init<int>(), "ranks"_a)
      .def(
          "take",
          [](DelayPredictor& habits, const std::vector<double>& arrivals) {
            if (arrivals.size() != habits.delays().size()) {
              throw nb::value_error("arrivals: expected one for each rank");
            }
            habits.take(arrivals);
          },
          "arrivals"_a, "Takes the arrivals at a call by rank, in seconds.")
      .def_prop_ro("delays", &DelayPredictor::delays,
                   "Seconds behind the first by rank; NaN where nothing is known.");
}

}  // namespace tutti
