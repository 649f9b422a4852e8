/// Steps of learning, and what they take.
#include "api/distance_learning.hpp"

#include <algorithm>
#include <utility>

#include "api/known.hpp"
#include "run/clock.hpp"
#include "run/distance/mpi_distances.hpp"
#include "run/mpi/exchange.hpp"
#include "select/tuning_candidates.hpp"

namespace tutti {

namespace {

/// Fewer nodes have no order that avoids a slow link.
constexpr int min_nodes = 4;
/// More have more pairs than a run pays for.
constexpr int max_nodes = 256;
/// Rank 0 holds two matrices of so many ranks squared, 16 MiB.
constexpr int max_ranks = 1024;
constexpr PingPong::Effort effort = {{1, 0}, {5, 2}};

/// In nanoseconds: what the first step is expected to take, and the most that all ranks are stopped
/// at a time for more than one pair.
constexpr double beginning = 1e6;
constexpr double first_pair = 2e7;
constexpr double longest_stop = 1e8;

/// The search for the orders of a candidate, by measurements of 8 to 1,024 ranks: local searches
/// grow until they meet their bound.
double cost_of_search(double p) { return 5e5 + std::min(4e3 * p * p * p, 7.5e7) + 1e2 * p * p; }

/// The candidates whose orders are searched. One search serves all roots.
std::vector<Specification> candidates_for(Collective collective, int p) {
  return candidates_by_distance({.collective = collective, .p = p});
}

}  // namespace

/// What a pair takes is a guess before the first one.
std::size_t DistanceLearning::pairs_within(double max_cost) const {
  if (!has_measured_) return 1;
  const double fit = std::clamp(max_cost, 0.0, longest_stop) / std::max(1.0, pair_cost_);
  return std::clamp<std::size_t>(static_cast<std::size_t>(fit), 1,
                                 std::max<std::size_t>(1, pairs_.size()));
}

double DistanceLearning::cost(Collective collective, double max_cost) const {
  if (has_orders_[collective]) return 0;
  const int p = communicator_.p();
  const bool are_known = communicator_.agreed().had_distances || step_ == Step::find_orders;
  if (!are_known) {
    const int nodes = nodes_.guessed().count();
    if (step_ == Step::over || nodes < min_nodes || nodes > max_nodes || p > max_ranks) return 0;
  }
  const auto searches = static_cast<double>(candidates_for(collective, p).size());
  if (searches == 0) return 0;
  if (are_known) return searches * cost_of_search(p);
  if (step_ == Step::begin) return beginning;
  return static_cast<double>(pairs_within(max_cost)) * pair_cost_;
}

int DistanceLearning::advance(Collective collective, double max_cost, bool& has_orders) {
  has_orders = communicator_.agreed().had_distances || step_ == Step::find_orders;
  if (has_orders) return find_orders(collective);
  return step_ == Step::begin ? begin() : measure(max_cost);
}

int DistanceLearning::begin() {
  step_ = Step::over;
  if (communicator_.has_open_distances()) return use(nullptr);
  measured_nodes_ = nodes_.guessed();
  const MPI_Comm program = communicator_.handle();
  std::vector<RankLocation> locations;
  int world = 0;
  if (const int error = gather_locations(program, locations, world)) return error;
  if (communicator_.rank() == 0) {
    survey_.emplace(measured_nodes_, std::move(locations), world);
    survey_->add_known(known_links(survey_->names()));
  }
  return conclude(program);
}

/// Rank 0 decides what is measured next, or that what it knows is enough.
int DistanceLearning::conclude(MPI_Comm comm) {
  enum class Found : char { nothing, distances, alike } found = Found::nothing;
  std::vector<Rank> ranks;  // of all pairs
  if (survey_) {
    for (const auto& [first, second] : survey_->next_pairs()) {
      ranks.insert(ranks.end(), {first, second});
    }
    if (ranks.empty() && survey_->are_insides_known()) found = Found::distances;
    if (ranks.empty() && are_alike(survey_->links())) found = Found::alike;
  }
  int error = take_from_first(found, comm);
  if (error == MPI_SUCCESS) error = take_from_first(ranks, comm);
  if (error != MPI_SUCCESS) return error;
  for (std::size_t at = 0; at < ranks.size(); at += 2) {
    pairs_.emplace_back(ranks[at], ranks[at + 1]);
  }
  if (found == Found::nothing) return links_ ? MPI_SUCCESS : open_links();
  std::shared_ptr<const DistanceFile> distances;
  if (survey_ && found == Found::distances) {
    distances = std::make_shared<const DistanceFile>(survey_->distances(PingPong::bytes));
  }
  close();
  return found == Found::distances ? use(std::move(distances)) : MPI_SUCCESS;
}

/// Without a communicator on some rank nothing is learned.
int DistanceLearning::open_links() {
  const MPI_Comm program = communicator_.handle();
  bool all = false;
  const int error = limited_.create(
      program, all, [&] { return OwnedComm::duplicate(program, comm_); },
      [this](int) { comm_.release(); });  // only all ranks together could free it
  if (error != MPI_SUCCESS || !all) return error;
  links_.emplace(comm_.handle(), effort);
  pair_cost_ = first_pair;
  step_ = Step::measure;
  return MPI_SUCCESS;
}

/// Between the first two ranks of this rank's node, all nodes at once.
int DistanceLearning::measure_inside() {
  const Nodes& nodes = measured_nodes_;
  const int node = nodes.node_of(communicator_.rank());
  if (nodes.size(node) == 1) return MPI_SUCCESS;
  const RankPair inside[] = {{nodes.rank_at(node, 0), nodes.rank_at(node, 1)}};
  return links_->run(inside);
}

int DistanceLearning::measure(double max_cost) {
  const std::size_t count = std::min(pairs_within(max_cost), pairs_.size());
  int error = has_measured_ ? MPI_SUCCESS : measure_inside();
  if (error == MPI_SUCCESS) error = links_->synchronize();
  const double began = monotonic_seconds();
  if (error == MPI_SUCCESS) error = links_->run(std::span(pairs_).first(count));
  if (error == MPI_SUCCESS) error = links_->synchronize();
  std::vector<MeasuredLink> measured;
  if (error == MPI_SUCCESS) error = links_->gather(measured);
  if (error != MPI_SUCCESS) return error;
  if (survey_) survey_->add_measured(measured);
  has_measured_ = true;
  if (count > 0) pair_cost_ = 1e9 * (monotonic_seconds() - began) / static_cast<double>(count);
  error = take_from_first(pair_cost_, comm_.handle());
  if (error != MPI_SUCCESS) return error;
  pairs_.erase(pairs_.begin(), pairs_.begin() + static_cast<std::ptrdiff_t>(count));
  return pairs_.empty() ? conclude(comm_.handle()) : MPI_SUCCESS;
}

/// `distances` at rank 0. What the communicator knows or does not know already stays in force,
/// because calls refer to its orders.
int DistanceLearning::use(std::shared_ptr<const DistanceFile> distances) {
  const int error = communicator_.open_distances(std::move(distances));
  if (error == MPI_SUCCESS && communicator_.distances().are_known()) step_ = Step::find_orders;
  return error;
}

int DistanceLearning::find_orders(Collective collective) {
  int error = communicator_.open_distances();
  const auto candidates = candidates_for(collective, communicator_.p());
  std::vector<Specification> unused;
  if (error == MPI_SUCCESS) error = communicator_.distances().find_gains(candidates, 1, unused);
  has_orders_[collective] = error == MPI_SUCCESS;
  return error;
}

void DistanceLearning::close() {
  step_ = Step::over;
  if (survey_ && has_measured_) {
    attempt([&] { note_links(survey_->names(), survey_->measured()); });
  }
  survey_.reset();
  links_.reset();
  measured_nodes_ = {};
  comm_.free();
  limited_.take(false);
}

}  // namespace tutti
