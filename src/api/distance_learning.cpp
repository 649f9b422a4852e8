/// Steps of learning, what they take, and what the process has learned.
#include "api/distance_learning.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <utility>

#include "api/environment.hpp"
#include "api/known_rules.hpp"
#include "run/clock.hpp"
#include "run/distance/mpi_distances.hpp"
#include "run/file.hpp"
#include "run/mpi/exchange.hpp"
#include "run/process.hpp"
#include "topology/shared_links.hpp"

namespace tutti {

namespace {

/// Fewer nodes have no order that avoids a slow link.
constexpr int min_nodes = 4;
/// More have more pairs than a run pays for.
constexpr int max_nodes = 256;
/// Rank 0 holds two matrices of so many ranks squared, 16 MiB.
constexpr int max_ranks = 1024;
/// The limit on communicators that measure at a time, as each needs one of the MPI's own.
constexpr int max_measuring = 8;
std::atomic<int> measuring = 0;
constexpr PingPong::Effort effort = {{1, 0}, {5, 2}};
constexpr double max_noise = 1.5;

/// In nanoseconds: what the first step is expected to take, and the most that all ranks are stopped
/// at a time for more than one pair.
constexpr double beginning = 1e6;
constexpr double first_pair = 2e7;
constexpr double longest_stop = 1e8;

/// The search for orders of a collective, by measurements of 8 to 1,024 ranks: local searches grow
/// until they meet their bound.
double cost_of_search(double p) { return 1e6 + std::min(2e3 * p * p * p, 1.5e8) + 2e2 * p * p; }

/// Distances of some nodes; null: those of the first rank are alike.
struct Known {
  std::vector<std::string> nodes;  ///< sorted
  std::shared_ptr<const DistanceFile> distances;
};

/// What this process has learned as rank 0 of communicators.
struct Learned {
  static constexpr std::size_t capacity = 8;
  std::mutex mutex;
  bool has_read = false;
  std::vector<Known> all;

  void add(Known known) {
    if (all.size() == capacity) all.erase(all.begin());
    all.push_back(std::move(known));
  }
};

constexpr std::size_t max_kept_distances = std::size_t{16} << 20;

std::string distances_path() { return cache_file("distances.json"); }

std::vector<std::string> nodes_of(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

std::vector<std::string> nodes_of(const std::vector<RankLocation>& locations) {
  std::vector<std::string> names;
  for (const RankLocation& location : locations) names.push_back(location.node);
  return nodes_of(std::move(names));
}

/// Those that an earlier run has kept, if this run does so too. The caller holds the lock.
void read_kept(Learned& learned) {
  if (std::exchange(learned.has_read, true) || !environment().keeps) return;
  const Result<std::string> text = read_text_file(distances_path(), max_kept_distances);
  const Result<DistanceFile> kept = text ? distances_from_text(*text) : Error{text.error()};
  if (kept) learned.add({nodes_of(kept->names), std::make_shared<const DistanceFile>(*kept)});
}

/// What this process knows of these ranks, if anything.
std::optional<Known> known_of(const std::vector<RankLocation>& locations, int world) {
  Learned& learned = of_process<Learned>();
  const std::lock_guard lock(learned.mutex);
  read_kept(learned);
  const std::vector<std::string> nodes = nodes_of(locations);
  for (auto known = learned.all.rbegin(); known != learned.all.rend(); ++known) {
    const bool holds = known->distances != nullptr
                           ? static_cast<bool>(rows_for(*known->distances, locations, world))
                           : std::ranges::includes(known->nodes, nodes);
    if (holds) return *known;
  }
  return {};
}

/// Nothing is lost if the file cannot be written.
void keep(const DistanceFile& distances) {
  const std::string path = distances_path();
  const std::string text = to_text(distances);
  if (path.empty() || text.size() > max_kept_distances) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  static_cast<void>(replace_text_file(path, text));
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

DistanceFile distances_between(const Nodes& nodes, std::vector<MeasuredLink> links,
                               const std::vector<RankLocation>& locations, int world) {
  Hierarchy hierarchy{nodes.p(), {{}}};
  for (Rank rank = 0; rank < nodes.p(); ++rank) {
    hierarchy.levels[0].push_back(nodes.node_of(rank));
  }
  add_pairs_of_nodes(nodes, links);
  const DistanceFile distances =
      distances_of("ping-pong between the first ranks of nodes", hierarchy, locations, links);
  return in_world_order(distances, locations, world);
}

/// A search for each root would take more than broadcasts gain, unless the user asks for it.
bool uses_distances(Collective collective, int p, bool are_named) {
  if (has_root(collective) && !are_named) return false;
  return std::ranges::any_of(useful_specifications(collective, p),
                             [](const Specification& one) { return one.needs_distances(); });
}

}  // namespace

std::size_t DistanceLearning::pairs_of_first_node() const {
  return index(measured_nodes_.count() - 1);
}

std::size_t DistanceLearning::pairs() const {
  const std::size_t nodes = index(measured_nodes_.count());
  return nodes * (nodes - 1) / 2;
}

std::size_t DistanceLearning::pairs_within(double max_cost) const {
  if (measured_ == 0) return 1;  // what a pair takes is a guess
  const std::size_t end = measured_ < pairs_of_first_node() ? pairs_of_first_node() : pairs();
  const double fit = std::min(max_cost, longest_stop) / std::max(1.0, pair_cost_);
  return std::clamp<std::size_t>(static_cast<std::size_t>(fit), 1, end - measured_);
}

std::vector<RankPair> DistanceLearning::next_pairs(std::size_t count) const {
  const Nodes& nodes = measured_nodes_;
  std::vector<RankPair> next;
  std::size_t passed = 0;
  for (int low = 0; low < nodes.count(); ++low) {
    const std::size_t of_low = index(nodes.count() - 1 - low);
    const std::size_t first = std::min(of_low, std::max(passed, measured_) - passed);
    for (std::size_t at = first; at < of_low && next.size() < count; ++at) {
      next.emplace_back(nodes.rank_at(low, 0), nodes.rank_at(low + 1 + static_cast<int>(at), 0));
    }
    passed += of_low;
  }
  return next;
}

double DistanceLearning::cost(Collective collective, double max_cost) const {
  const int p = communicator_.p();
  const bool are_named = communicator_.agreement().had_distances;
  if (has_orders_[collective] || !uses_distances(collective, p, are_named)) return 0;
  if (are_named || step_ == Step::find_orders) return cost_of_search(p);
  const int nodes = nodes_.guessed().count();
  if (step_ == Step::over || nodes < min_nodes || nodes > max_nodes || p > max_ranks) return 0;
  if (step_ == Step::begin) return beginning;
  return static_cast<double>(pairs_within(max_cost)) * pair_cost_;
}

int DistanceLearning::advance(Collective collective, double max_cost, bool& has_orders) {
  has_orders = communicator_.agreement().had_distances || step_ == Step::find_orders;
  if (has_orders) return find_orders(collective);
  return step_ == Step::begin ? begin() : measure(max_cost);
}

int DistanceLearning::begin() {
  step_ = Step::over;
  if (communicator_.has_open_distances()) return use(nullptr);
  const MPI_Comm program = communicator_.handle();
  std::vector<RankLocation> locations;
  int world = 0;
  int error = gather_locations(program, locations, world);
  if (error != MPI_SUCCESS) return error;
  enum class Found : char { nothing, distances, alike } found = Found::nothing;
  std::optional<Known> known;
  if (communicator_.rank() == 0) {
    known = known_of(locations, world);
    if (known) found = known->distances != nullptr ? Found::distances : Found::alike;
  }
  error = take_from_first(found, program);
  if (error != MPI_SUCCESS || found == Found::alike) return error;
  return found == Found::distances ? use(known ? known->distances : nullptr) : open_links();
}

/// Without a communicator on some rank nothing is learned.
int DistanceLearning::open_links() {
  const MPI_Comm program = communicator_.handle();
  bool all = false;
  int error = true_on_all(program, measuring < max_measuring, all);
  if (error != MPI_SUCCESS || !all) return error;
  const bool own = OwnedComm::duplicate(program, comm_) == MPI_SUCCESS;
  error = true_on_all(program, own, all);
  if (!all) comm_.release();  // only all ranks together could free it
  if (error != MPI_SUCCESS || !all) return error;
  ++measuring;
  is_counted_ = true;
  links_.emplace(comm_.handle(), effort);
  measured_nodes_ = nodes_.guessed();
  pair_cost_ = first_pair;
  step_ = Step::measure;
  return MPI_SUCCESS;
}

int DistanceLearning::measure(double max_cost) {
  const Nodes& nodes = measured_nodes_;
  const std::size_t count = pairs_within(max_cost);
  const int node = nodes.node_of(communicator_.rank());
  int error = MPI_SUCCESS;
  if (measured_ == 0 && nodes.size(node) > 1) {
    const RankPair inside[] = {{nodes.rank_at(node, 0), nodes.rank_at(node, 1)}};
    error = links_->run(inside);
  }
  if (error == MPI_SUCCESS) error = links_->synchronize();
  const double began = monotonic_seconds();
  if (error == MPI_SUCCESS) error = links_->run(next_pairs(count));
  if (error == MPI_SUCCESS) error = links_->synchronize();
  if (error != MPI_SUCCESS) return error;
  measured_ += count;
  struct {
    double pair_cost = 0;
    bool is_alike = false;
  } found;
  if (communicator_.rank() == 0) {
    found.pair_cost = 1e9 * (monotonic_seconds() - began) / static_cast<double>(count);
    std::vector<MeasuredLink> others = links_->measured();
    std::erase_if(others, [&](const MeasuredLink& link) { return nodes.node_of(link.to) == node; });
    found.is_alike = measured_ == pairs_of_first_node() && are_alike(others);
  }
  error = take_from_first(found, comm_.handle());
  if (error != MPI_SUCCESS) return error;
  pair_cost_ = found.pair_cost;
  return found.is_alike || measured_ == pairs() ? finish() : MPI_SUCCESS;
}

/// All pairs are measured, or rank 0's node has shown that they are alike.
int DistanceLearning::finish() {
  const bool is_complete = measured_ == pairs();
  std::vector<MeasuredLink> links;
  std::vector<RankLocation> locations;
  int world = 0;
  int error = gather_locations(comm_.handle(), locations, world);
  if (error == MPI_SUCCESS && is_complete) error = links_->gather(links);
  if (error != MPI_SUCCESS) return error;
  std::shared_ptr<const DistanceFile> distances;
  const bool is_first = communicator_.rank() == 0;
  if (is_first && is_complete) {
    distances = std::make_shared<const DistanceFile>(
        distances_between(measured_nodes_, std::move(links), locations, world));
    if (keeps_rules() && is_of_world(comm_.handle())) keep(*distances);
  }
  if (is_first) {
    Learned& learned = of_process<Learned>();
    const std::lock_guard lock(learned.mutex);
    learned.add({nodes_of(locations), distances});
  }
  close();
  return is_complete ? use(std::move(distances)) : MPI_SUCCESS;
}

/// `distances` at rank 0. What the communicator knows or does not know already stays in force,
/// because calls refer to its orders.
int DistanceLearning::use(std::shared_ptr<const DistanceFile> distances) {
  const int error = communicator_.open_distances(std::move(distances));
  if (error == MPI_SUCCESS && communicator_.distances().are_known()) step_ = Step::find_orders;
  return error;
}

int DistanceLearning::find_orders(Collective collective) {
  int error = communicator_.open_distances(known_distances());
  std::optional<Specification> unused;
  if (error == MPI_SUCCESS) error = communicator_.distances().find_gain(collective, 1, unused);
  has_orders_[collective] = error == MPI_SUCCESS;
  return error;
}

void DistanceLearning::close() {
  step_ = Step::over;
  links_.reset();
  measured_nodes_ = {};
  comm_.free();
  if (std::exchange(is_counted_, false)) --measuring;
}

}  // namespace tutti
