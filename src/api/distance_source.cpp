/// Reads TUTTI_DISTANCES at first use.
#include <mutex>
#include <utility>

#include "api/distance_orders.hpp"
#include "api/environment.hpp"
#include "run/file.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

struct Known {
  std::mutex mutex;
  bool is_read = false;
  std::string error;
  std::string text;  ///< of a measurement
  std::shared_ptr<const DistanceFile> distances;
};

/// Enough for both matrices of 2,000 ranks. tutti-bench writes far less, as it measures all pairs
/// of at most 64 ranks.
constexpr std::size_t max_bytes = std::size_t{1} << 28;

Result<DistanceFile> read(const std::string& path) {
  const Result<std::string> text = read_text_file(path, max_bytes);
  if (text) return distances_from_text(*text);
  return Error{text.error() + "; expected a file that tutti map --mpirun wrote"};
}

/// The caller holds the lock of `all`.
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
  if (distances) {
    all.distances = std::make_shared<const DistanceFile>(std::move(*distances));
  } else {
    all.error = "invalid TUTTI_DISTANCES=" + path + ": " + distances.error();
  }
}

}  // namespace

std::shared_ptr<const DistanceFile> known_distances() {
  Known& all = of_process<Known>();
  const std::lock_guard lock(all.mutex);
  read_once(all);
  return all.distances;
}

void set_distances(std::string text) {
  Known& all = of_process<Known>();
  const std::lock_guard lock(all.mutex);
  all.text = std::move(text);
  all.distances = nullptr;
}

std::string distances_error() {
  Known& all = of_process<Known>();
  const std::lock_guard lock(all.mutex);
  read_once(all);
  return all.error;
}

}  // namespace tutti
