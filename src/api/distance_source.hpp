/// The distances that this process knows, from a file or a measurement.
#pragma once

#include <memory>
#include <string>

#include "topology/distance_file.hpp"

namespace tutti {

/// Null where none are known, or those of TUTTI_DISTANCES are no good.
[[nodiscard]] std::shared_ptr<const DistanceFile> known_distances();

/// From now on the distances of this text are known, instead of any others: as to_text has written
/// it, and not read before it is needed.
void set_distances(std::string text);

/// Why what TUTTI_DISTANCES names cannot be used; empty where it can.
[[nodiscard]] std::string distances_error();

}  // namespace tutti
