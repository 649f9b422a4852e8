/// Round trips, and turns between pairs.
#include "run/distance/mpi_ping_pong.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "run/clock.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

constexpr int data_tag = 1;
constexpr int turn_tag = 2;
constexpr std::chrono::microseconds nap{100};

}  // namespace

PingPong::PingPong(MPI_Comm comm, const Effort& effort)
    : comm_(comm), rank_(rank_in(comm)), effort_(effort) {}

int PingPong::run(std::span<const RankPair> chain) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const auto [first, second] = chain[i];
    if (rank_ == first || rank_ == second) buffer_.resize(static_cast<std::size_t>(bytes.back()));
    if (rank_ == second) {
      if (const int error = answer(first)) return error;
    }
    if (rank_ != first) continue;
    const bool is_given = i > 0 && chain[i - 1].first != rank_;
    if (is_given) {
      if (const int error = receive(0, chain[i - 1].first, turn_tag, true)) return error;
    }
    MeasuredLink link{first, second, {}};
    if (const int error = ask(second, link.seconds)) return error;
    measured_.push_back(link);
    const bool gives = i + 1 < chain.size() && chain[i + 1].first != rank_;
    if (!gives) continue;
    if (const int error = send(0, chain[i + 1].first, turn_tag)) return error;
  }
  return MPI_SUCCESS;
}

int PingPong::ask(Rank other, std::array<double, 2>& seconds) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    seconds[size] = std::numeric_limits<double>::infinity();
    for (int exchange = -effort_.warm_up[size]; exchange < effort_.counted[size]; ++exchange) {
      const double begin = monotonic_seconds();
      if (const int error = send(bytes[size], other, data_tag)) return error;
      if (const int error = receive(bytes[size], other, data_tag, false)) return error;
      // If the clock has not moved, the time is below its resolution of one nanosecond.
      const double half = std::max(monotonic_seconds() - begin, 2e-9) / 2;
      if (exchange >= 0) seconds[size] = std::min(seconds[size], half);
    }
  }
  return MPI_SUCCESS;
}

int PingPong::answer(Rank other) {
  bool sleeps = true;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    for (int exchange = -effort_.warm_up[size]; exchange < effort_.counted[size]; ++exchange) {
      if (const int error = receive(bytes[size], other, data_tag, sleeps)) return error;
      if (const int error = send(bytes[size], other, data_tag)) return error;
      sleeps = false;
    }
  }
  return MPI_SUCCESS;
}

int PingPong::send(Bytes size, Rank to, int tag) {
  return send_yielding(buffer_.data(), static_cast<std::size_t>(size), to, tag, comm_);
}

int PingPong::receive(Bytes size, Rank from, int tag, bool sleeps) {
  return receive_yielding(buffer_.data(), static_cast<std::size_t>(size), from, tag, comm_,
                          sleeps ? nap : std::chrono::microseconds{});
}

int PingPong::synchronize() {
  MPI_Request request = mpi().request_null;
  const int error = mpi().Ibarrier(comm_, &request);
  return error == MPI_SUCCESS ? wait_yielding(request, nap) : error;
}

int PingPong::gather(std::vector<MeasuredLink>& all) {
  const std::vector<MeasuredLink> measured = std::exchange(measured_, {});
  const auto mine = static_cast<int>(measured.size() * sizeof(MeasuredLink));
  std::vector<int> counts;
  if (const int error = gather_at_first(mine, counts, comm_)) return error;
  std::vector<int> displacements;
  int end = 0;
  for (const int count : counts) {
    displacements.push_back(end);
    end += count;
  }
  all.resize(static_cast<std::size_t>(end) / sizeof(MeasuredLink));
  return mpi().Gatherv(measured.data(), mine, mpi().byte, all.data(), counts.data(),
                       displacements.data(), mpi().byte, 0, comm_);
}

}  // namespace tutti
