/// Selects what a setting asks for.
#include "select/selection.hpp"

#include "select/one_sided.hpp"
#include "select/reductions.hpp"

namespace tutti {

std::string out_of_reach(const Setting& setting, bool has_distances) {
  const bool needed =
      setting.kind == Setting::Kind::forced && setting.specification.needs_distances();
  if (!needed || has_distances) return "";
  return "order=" + std::string(name_of(setting.specification.order)) +
         " needs measured distances: set TUTTI_DISTANCES to a file of tutti map --mpirun";
}

Choice choose(const Setting& setting, const Features& features, const Machine& machine) {
  const bool one_sided = is_one_sided(features.collective);
  if (reduces(features.collective) && !one_sided) return choose_reduction(setting, features);
  if (setting.kind == Setting::Kind::native) return {std::nullopt, "requested", {}};
  if (setting.kind == Setting::Kind::forced) return {setting.specification, "requested", {}};
  if (features.p == 1) return {std::nullopt, "the communicator has a single rank", {}};
  if (one_sided) return choose_one_sided(features, {machine});
  return {std::nullopt, "no measurement shows a faster algorithm", {}};
}

}  // namespace tutti
