/// Ping-pongs between one pair of ranks after the other.
#include "run/distance/mpi_distances.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>

#include "run/clock.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

constexpr int data_tag = 1;
constexpr int turn_tag = 2;
constexpr std::chrono::microseconds nap{100};

struct Location {
  std::array<char, 252> host{};
  Rank world = no_rank;
};

/// The result for a pair, at its first rank.
struct Sample {
  Rank from = no_rank;
  Rank to = no_rank;
  double small = 0;
  double large = 0;
};

/// The round trips of each pair with messages of one size, of which the shortest counts.
struct PingPong {
  Bytes bytes;
  int exchanges;
  double Sample::*seconds;
};
/// For the latency, and for the time per byte, far beyond a link's buffers.
constexpr PingPong ping_pongs[] = {{1, 20, &Sample::small}, {256 << 10, 4, &Sample::large}};
/// Earlier exchanges of each size, not counted.
constexpr int warm_up = 1;

class Prober {
 public:
  explicit Prober(MPI_Comm comm)
      : comm_(comm), rank_(rank_in(comm)), buffer_(static_cast<std::size_t>(ping_pongs[1].bytes)) {}

  int run(const Hierarchy& hierarchy) {
    for (const auto& level : chains_to_measure(hierarchy)) {
      for (const std::vector<RankPair>& chain : level) {
        if (const int error = run(chain)) return error;
      }
      if (const int error = barrier()) return error;
    }
    return MPI_SUCCESS;
  }

  /// All samples at rank 0.
  int gather(std::vector<Sample>& all) const {
    const auto mine = static_cast<int>(samples_.size() * sizeof(Sample));
    std::vector<int> counts;
    if (const int error = gather_at_first(mine, counts, comm_)) return error;
    std::vector<int> displacements;
    int end = 0;
    for (const int count : counts) {
      displacements.push_back(end);
      end += count;
    }
    all.resize(static_cast<std::size_t>(end) / sizeof(Sample));
    return mpi().Gatherv(samples_.data(), mine, mpi().byte, all.data(), counts.data(),
                         displacements.data(), mpi().byte, 0, comm_);
  }

 private:
  /// Measures this rank's pairs of a chain. First ranks of pairs pass the turn to one another.
  int run(const std::vector<RankPair>& chain) {
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const auto [first, second] = chain[i];
      if (rank_ == second) {
        if (const int error = answer(first)) return error;
      }
      if (rank_ != first) continue;
      const bool is_given = i > 0 && chain[i - 1].first != rank_;
      if (is_given) {
        if (const int error = receive(0, chain[i - 1].first, turn_tag, true)) return error;
      }
      Sample sample{first, second, 0, 0};
      if (const int error = ask(sample)) return error;
      samples_.push_back(sample);
      const bool gives = i + 1 < chain.size() && chain[i + 1].first != rank_;
      if (!gives) continue;
      if (const int error = send(0, chain[i + 1].first, turn_tag)) return error;
    }
    return MPI_SUCCESS;
  }

  int ask(Sample& sample) {
    for (const PingPong& all : ping_pongs) {
      double& least = sample.*all.seconds;
      least = std::numeric_limits<double>::infinity();
      for (int exchange = -warm_up; exchange < all.exchanges; ++exchange) {
        const double begin = monotonic_seconds();
        if (const int error = send(all.bytes, sample.to, data_tag)) return error;
        if (const int error = receive(all.bytes, sample.to, data_tag, false)) return error;
        // If the clock has not moved, the time is below its resolution of one nanosecond.
        const double seconds = std::max(monotonic_seconds() - begin, 2e-9) / 2;
        if (exchange >= 0) least = std::min(least, seconds);
      }
    }
    return MPI_SUCCESS;
  }

  int answer(Rank other) {
    bool sleeps = true;
    for (const PingPong& all : ping_pongs) {
      for (int exchange = -warm_up; exchange < all.exchanges; ++exchange) {
        if (const int error = receive(all.bytes, other, data_tag, sleeps)) return error;
        if (const int error = send(all.bytes, other, data_tag)) return error;
        sleeps = false;
      }
    }
    return MPI_SUCCESS;
  }

  int send(Bytes bytes, Rank to, int tag) {
    return send_yielding(buffer_.data(), static_cast<std::size_t>(bytes), to, tag, comm_);
  }

  int receive(Bytes bytes, Rank from, int tag, bool sleeps) {
    return receive_yielding(buffer_.data(), static_cast<std::size_t>(bytes), from, tag, comm_,
                            sleeps ? nap : std::chrono::microseconds{});
  }

  /// Waiting ranks sleep.
  int barrier() {
    MPI_Request request = mpi().request_null;
    const int error = mpi().Ibarrier(comm_, &request);
    return error == MPI_SUCCESS ? wait_yielding(request, nap) : error;
  }

  MPI_Comm comm_;
  Rank rank_;
  std::vector<char> buffer_;
  std::vector<Sample> samples_;
};

std::string method_of(std::size_t pairs, double seconds) {
  const auto& [small, large] = ping_pongs;
  char text[200];
  std::snprintf(text, sizeof text,
                "ping-pong, one pair at a time on each link, half the shortest of %d round trips "
                "(of %d with %lld bytes); %zu pairs in %.3g s",
                small.exchanges, large.exchanges, static_cast<long long>(large.bytes), pairs,
                seconds);
  return text;
}

/// Broadcasts the hierarchy that rank 0 derives from the ranks' locations.
int share(Hierarchy& hierarchy, Rank rank, MPI_Comm comm) {
  auto levels = static_cast<int>(hierarchy.levels.size());
  int error = take_from_first(levels, comm);
  hierarchy.levels.resize(index(levels));
  for (std::vector<int>& level : hierarchy.levels) {
    if (rank != 0) level.resize(index(hierarchy.p));
    const auto bytes = static_cast<int>(level.size() * sizeof(int));
    if (error == MPI_SUCCESS) error = mpi().Bcast(level.data(), bytes, mpi().byte, 0, comm);
  }
  return error;
}

MeasuredDistances assembled(const Hierarchy& hierarchy, const std::vector<Sample>& samples,
                            const PingPong& of) {
  std::vector<MeasuredPair> pairs;
  for (const Sample& one : samples) pairs.push_back({one.from, one.to, one.*of.seconds});
  return {of.bytes, *expanded(hierarchy, pairs)};
}

}  // namespace

int gather_locations(MPI_Comm comm, std::vector<RankLocation>& locations, int& world) {
  Location mine;
  gethostname(mine.host.data(), mine.host.size() - 1);
  world = 0;
  if (has_world()) {
    mine.world = rank_in(mpi().comm_world);
    world = size_of(mpi().comm_world);
  }
  std::vector<Location> all;
  const int error = gather_at_first(mine, all, comm);
  locations.clear();
  for (const Location& location : all) locations.push_back({location.host.data(), location.world});
  return error;
}

int measure_distances(MPI_Comm comm, int nodes_per_switch, DistanceFile& distances) {
  const Rank rank = rank_in(comm);
  const double begin = monotonic_seconds();
  std::vector<RankLocation> locations;
  int world = 0;
  int error = gather_locations(comm, locations, world);
  if (error != MPI_SUCCESS) return error;
  std::vector<std::string> names;
  for (const RankLocation& location : locations) names.push_back(location.node);
  Hierarchy hierarchy{size_of(comm), {}};
  if (rank == 0) hierarchy = hierarchy_to_measure(names, nodes_per_switch);
  error = share(hierarchy, rank, comm);
  if (error != MPI_SUCCESS) return error;
  Prober prober(comm);
  std::vector<Sample> samples;
  error = prober.run(hierarchy);
  if (error == MPI_SUCCESS) error = prober.gather(samples);
  if (error != MPI_SUCCESS || rank != 0) return error;
  distances = {
      method_of(samples.size(), monotonic_seconds() - begin),
      std::move(names),
      hierarchy,
      {assembled(hierarchy, samples, ping_pongs[0]), assembled(hierarchy, samples, ping_pongs[1])}};
  return MPI_SUCCESS;
}

}  // namespace tutti
