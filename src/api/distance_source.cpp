/// Reading TUTTI_DISTANCES at the first need.
#include "api/distance_source.hpp"

#include <cstdio>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

#include "api/environment.hpp"

namespace tutti {

namespace {

struct Known {
  std::mutex mutex;
  bool is_read = false;
  bool is_good = true;
  std::string text;  ///< of a measurement
  std::shared_ptr<const DistanceFile> distances;
};

Known& known() {
  static Known* const the_known = new Known;  // outlives every static destructor
  return *the_known;
}

Result<DistanceFile> read(const std::string& path) {
  const std::ifstream file(path);
  if (!file) return Error{"the file cannot be read; tutti place --mpirun measures and writes it"};
  std::ostringstream text;
  text << file.rdbuf();
  return distances_from_text(text.str());
}

/// `all` is locked.
void read_once(Known& all) {
  if (!all.text.empty()) {
    all.distances = std::make_shared<const DistanceFile>(*distances_from_text(all.text));
    all.text.clear();
    return;
  }
  if (std::exchange(all.is_read, true) || all.distances != nullptr) return;
  const std::string& path = environment().distances;
  if (path.empty()) return;
  Result<DistanceFile> distances = read(path);
  all.is_good = static_cast<bool>(distances);
  if (all.is_good) {
    all.distances = std::make_shared<const DistanceFile>(std::move(*distances));
    return;
  }
  std::fprintf(stderr, "tutti: TUTTI_DISTANCES=%s is refused: %s\n", path.c_str(),
               distances.error().c_str());
}

}  // namespace

std::shared_ptr<const DistanceFile> known_distances() {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  read_once(all);
  return all.distances;
}

void set_distances(std::string text) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  all.text = std::move(text);
  all.distances = nullptr;
}

bool are_distances_good() {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  read_once(all);
  return all.is_good;
}

}  // namespace tutti
