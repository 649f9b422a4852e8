/// The Python module tutti._engine.
#include "engine.hpp"

NB_MODULE(_engine, module) {
  module.doc() = "Tutti's engine: algorithms, schedules, models, drawings and verification.";
  module.attr("version") = TUTTI_VERSION;
  tutti::bind_lists(module);
  tutti::bind_arrivals(module);
  tutti::bind_distances(module);
  tutti::bind_call(module);
  tutti::bind_hierarchical(module);
  tutti::bind_sweep(module);
}
