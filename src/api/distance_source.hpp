/// The distances that this process knows, from a file or a measurement.
#pragma once

#include <memory>
#include <string>

#include "knowledge/distance_file.hpp"

namespace tutti {

/// Null where none are known, or those of TUTTI_DISTANCES are no good.
[[nodiscard]] std::shared_ptr<const DistanceFile> known_distances();

/// From now on the distances of this text are known, instead of any others: as to_text has written
/// it, and not read before it is needed.
void set_distances(std::string text);

/// Can what TUTTI_DISTANCES names be used? Where not, standard error is told why, once.
[[nodiscard]] bool are_distances_good();

}  // namespace tutti
