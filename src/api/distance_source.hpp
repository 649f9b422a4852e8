/// The distances that this process knows, from a file or a measurement.
#pragma once

#include <memory>
#include <string>

#include "topology/distance_file.hpp"

namespace tutti {

/// Null if none are known, or those of TUTTI_DISTANCES are invalid.
[[nodiscard]] std::shared_ptr<const DistanceFile> known_distances();

/// Replaces all known distances by those of this text, as to_text wrote it. It is parsed at first
/// use.
void set_distances(std::string text);

/// Why the file of TUTTI_DISTANCES cannot be used; empty if it can.
[[nodiscard]] std::string distances_error();

}  // namespace tutti
