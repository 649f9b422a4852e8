/// Steps of learning, and what they take.
#include "api/distance_lessons.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "api/environment.hpp"
#include "run/clock.hpp"
#include "run/distance/mpi_distances.hpp"
#include "run/file.hpp"
#include "run/mpi/exchange.hpp"
#include "topology/shared_links.hpp"

namespace tutti {

namespace {

/// Fewer nodes have no order that avoids a slow link.
constexpr int min_nodes = 4;
/// Rank 0 holds two matrices of so many ranks squared, 16 MiB.
constexpr int max_ranks = 1024;
constexpr PingPong::Effort effort = {{1, 0}, {5, 2}};

constexpr double max_noise = 1.5;

/// In nanoseconds: what the first step takes, what a pair takes until one is measured, and what
/// finding orders takes for each pair of ranks.
constexpr double opening = 1e6;
constexpr double first_pair = 2e7;
constexpr double orders_by_pair = 1e4;

std::string distances_path() { return cache_file("distances.json"); }
constexpr std::size_t max_distances_bytes = std::size_t{16} << 20;

bool uses_distances(Collective collective, int p) {
  return std::ranges::any_of(useful_specifications(collective, p),
                             [](const Specification& one) { return one.needs_distances(); });
}

/// Does this process know distances of these ranks, or has an earlier run kept some?
bool knows(const std::vector<RankLocation>& locations, int world) {
  const auto known = known_distances();
  if (known != nullptr && rows_for(*known, locations, world)) return true;
  if (!environment().keeps) return false;
  const Result<std::string> text = read_text_file(distances_path(), max_distances_bytes);
  Result<DistanceFile> kept = text ? distances_from_text(*text) : Error{text.error()};
  if (!kept || !rows_for(*kept, locations, world)) return false;
  learn_distances(std::move(*kept));
  return true;
}

/// Nothing is lost if the file cannot be written.
void keep(const DistanceFile& distances) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(distances_path()).parent_path(),
                                      ignored);
  static_cast<void>(replace_text_file(distances_path(), to_text(distances)));
}

/// Do messages take about as long to all other nodes? Noise hides small differences of short ones.
bool are_alike(const std::vector<MeasuredLink>& links) {
  const auto is_alike = [&](std::size_t size, double step) {
    const auto [least, most] = std::ranges::minmax(
        links, {}, [size](const MeasuredLink& link) { return link.seconds[size]; });
    return most.seconds[size] < step * least.seconds[size];
  };
  return is_alike(0, max_noise) && is_alike(1, min_step);
}

/// The other pairs of each node take as long as its first two ranks.
void add_pairs_of_nodes(const Nodes& nodes, std::vector<MeasuredLink>& links) {
  const std::vector<MeasuredLink> measured = links;
  for (const MeasuredLink& link : measured) {
    const int node = nodes.node_of(link.from);
    if (nodes.node_of(link.to) != node) continue;
    const std::span<const Rank> ranks = nodes.ranks(node);
    for (std::size_t low = 0; low < ranks.size(); ++low) {
      for (std::size_t high = std::max<std::size_t>(low + 1, 2); high < ranks.size(); ++high) {
        links.push_back({ranks[low], ranks[high], link.seconds});
      }
    }
  }
}

}  // namespace

double DistanceLessons::expected(Collective collective, double most) const {
  const int p = communicator_.p();
  if (has_orders_[collective] || !uses_distances(collective, p)) return 0;
  if (communicator_.agreement().has_distances) return orders_by_pair * p * p;
  const bool is_over = step_ == Step::over || nodes_.guessed().count() < min_nodes || p > max_ranks;
  if (is_over) return 0;
  return step_ == Step::begin ? opening : static_cast<double>(pairs_within(most)) * pair_;
}

std::size_t DistanceLessons::pairs_of_first() const { return index(nodes_.guessed().count() - 1); }

std::size_t DistanceLessons::pairs_within(double most) const {
  const auto fit = static_cast<std::size_t>(std::max(1.0, most / pair_));
  const std::size_t end = measured_ < pairs_of_first() ? pairs_of_first() : pairs_.size();
  return std::min(fit, end - measured_);
}

int DistanceLessons::take(Collective collective, double most, bool& has_orders) {
  has_orders = communicator_.agreement().has_distances;
  if (has_orders) return find_orders(collective);
  return step_ == Step::begin ? begin() : measure(most);
}

int DistanceLessons::begin() {
  step_ = Step::over;
  const MPI_Comm program = communicator_.handle();
  std::vector<RankLocation> locations;
  int world = 0;
  int error = gather_locations(program, locations, world);
  bool is_known = communicator_.rank() == 0 && knows(locations, world);
  if (error == MPI_SUCCESS) error = take_from_first(is_known, program);
  if (error != MPI_SUCCESS) return error;
  if (is_known) {
    communicator_.note_distances();
    return MPI_SUCCESS;
  }
  bool all = false;
  const bool own = OwnedComm::duplicate(program, comm_) == MPI_SUCCESS;
  if (error = true_on_all(program, own, all); error != MPI_SUCCESS) return error;
  if (!all) {
    comm_.release();  // only all ranks together could free it
    return MPI_SUCCESS;
  }
  const Nodes& nodes = nodes_.guessed();
  for (int low = 0; low < nodes.count(); ++low) {
    for (int high = low + 1; high < nodes.count(); ++high) {
      pairs_.emplace_back(nodes.rank_at(low, 0), nodes.rank_at(high, 0));
    }
  }
  links_.emplace(comm_.handle(), effort);
  pair_ = first_pair;
  step_ = Step::measure;
  return MPI_SUCCESS;
}

int DistanceLessons::measure(double most) {
  const double began = monotonic_seconds();
  const Nodes& nodes = nodes_.guessed();
  const std::size_t count = pairs_within(most);
  int error = MPI_SUCCESS;
  const int node = nodes.node_of(communicator_.rank());
  if (measured_ == 0 && nodes.size(node) > 1) {
    const RankPair inside[] = {{nodes.rank_at(node, 0), nodes.rank_at(node, 1)}};
    error = links_->run(inside);
  }
  if (error == MPI_SUCCESS) error = links_->synchronize();
  if (error == MPI_SUCCESS) error = links_->run(std::span(pairs_).subspan(measured_, count));
  if (error == MPI_SUCCESS) error = links_->synchronize();
  measured_ += count;
  struct {
    double pair = 0;
    bool is_alike = false;
  } found;
  if (communicator_.rank() == 0) {
    found.pair = 1e9 * (monotonic_seconds() - began) / static_cast<double>(count);
    std::vector<MeasuredLink> others = links_->measured();
    std::erase_if(others, [&](const MeasuredLink& link) { return nodes.node_of(link.to) == node; });
    found.is_alike = measured_ == pairs_of_first() && are_alike(others);
  }
  if (error == MPI_SUCCESS) error = take_from_first(found, comm_.handle());
  if (error != MPI_SUCCESS) return error;
  pair_ = found.pair;
  return found.is_alike || measured_ == pairs_.size() ? finish() : MPI_SUCCESS;
}

/// With all pairs measured, or none that matters.
int DistanceLessons::finish() {
  step_ = Step::over;
  std::vector<MeasuredLink> links;
  std::vector<RankLocation> locations;
  int world = 0;
  const MPI_Comm comm = comm_.handle();
  const bool is_complete = measured_ == pairs_.size();
  if (is_complete) {
    int error = links_->gather(links);
    if (error == MPI_SUCCESS) error = gather_locations(comm, locations, world);
    if (error != MPI_SUCCESS) return error;
    if (communicator_.rank() == 0) {
      const Nodes& nodes = nodes_.guessed();
      Hierarchy hierarchy{nodes.p(), {{}}};
      for (Rank rank = 0; rank < nodes.p(); ++rank) {
        hierarchy.levels[0].push_back(nodes.node_of(rank));
      }
      add_pairs_of_nodes(nodes, links);
      DistanceFile distances = in_world_order(
          distances_of("ping-pong between the first ranks of nodes", hierarchy, locations, links),
          locations, world);
      if (environment().keeps) keep(distances);
      learn_distances(std::move(distances));
    }
    communicator_.note_distances();
  }
  links_.reset();
  pairs_ = {};
  comm_.free();
  return MPI_SUCCESS;
}

int DistanceLessons::find_orders(Collective collective) {
  has_orders_[collective] = true;
  std::optional<Specification> unused;
  const int error = communicator_.open_distances();
  return error != MPI_SUCCESS ? error : communicator_.distances().find_gain(collective, 1, unused);
}

}  // namespace tutti
