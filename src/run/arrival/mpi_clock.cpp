/// Ping-pongs between rank 0 and the first rank of each other system.
#include "run/arrival/mpi_clock.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>

#include "core/hash.hpp"
#include "run/file.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

constexpr int exchanges = 30;
constexpr int tag = 1;
/// Seconds between two comparisons, unless these then take more than `max_share` of the time.
constexpr double max_pause = 64;
constexpr double max_share = 1e-3;

/// Equal for processes that read the same monotonic clock: a hash of the running kernel's id and
/// the offset of the process's time namespace. A rank that cannot read the id counts as having a
/// clock of its own.
std::uint64_t clock_identity(int rank) {
  std::string boot = line_of("/proc/sys/kernel/random/boot_id");
  if (boot.empty()) boot = "rank " + std::to_string(rank);
  // The first line has the offset of the monotonic clock.
  return hash_of(boot + line_of("/proc/self/timens_offsets"));
}

int receive(double& word, int from, MPI_Comm comm) {
  return receive_yielding(&word, sizeof word, from, tag, comm);
}

int send(const double& word, int to, MPI_Comm comm) {
  return send_yielding(&word, sizeof word, to, tag, comm);
}

}  // namespace

int MpiClock::synchronise(MPI_Comm comm) {
  rank_ = rank_in(comm);
  if (const int error = find_place(clock_identity(rank_), is_shared_, comm)) return error;
  if (is_shared_) return MPI_SUCCESS;
  // Not on the program's communicator, where a receive from any rank may be posted.
  if (const int error = OwnedComm::duplicate(comm, comm_)) return error;
  Compared compared;
  if (const int error = compare(compared)) return error;
  adopt(compared);
  return take_from_first(error_, comm_.handle());
}

/// Rank 0 knows the clocks of all ranks, and tells each one its place.
int MpiClock::find_place(std::uint64_t identity, bool& is_shared, MPI_Comm comm) {
  std::vector<std::uint64_t> identities;
  if (const int error = gather_at_first(identity, identities, comm)) return error;
  std::vector<Place> places(identities.size());
  std::map<std::uint64_t, Rank> last = {{identity, none}};
  for (std::size_t rank = 1; rank < identities.size(); ++rank) {
    if (identities[rank] == identity) continue;
    const auto [found, is_first] = last.try_emplace(identities[rank], 0);
    if (is_first) first_ones_.push_back(static_cast<Rank>(rank));
    if (!is_first) places[index(found->second)].to = static_cast<Rank>(rank);
    places[rank].from = std::exchange(found->second, static_cast<Rank>(rank));
  }
  std::uint64_t systems = last.size();
  if (const int error = take_from_first(systems, comm)) return error;
  is_shared = systems == 1;
  if (is_shared) return MPI_SUCCESS;
  return mpi().Scatter(places.data(), sizeof(Place), mpi().byte, &place_, sizeof(Place), mpi().byte,
                       0, comm);
}

bool MpiClock::is_due() const { return rank_ == 0 && !is_shared_ && monotonic_seconds() >= due_; }

int MpiClock::compare_again(std::optional<Compared>& compared) {
  compared.reset();
  double is_due_now = is_due() ? 1 : 0;
  const int error = pass_on(is_due_now);
  if (error != MPI_SUCCESS || is_due_now == 0) return error;
  return compare(compared.emplace());
}

/// A word of rank 0 for all ranks on other systems.
int MpiClock::pass_on(double& word) {
  const MPI_Comm comm = comm_.handle();
  for (const Rank first : first_ones_) {
    if (const int error = send(word, first, comm)) return error;
  }
  if (place_.from == none) return MPI_SUCCESS;
  if (const int error = receive(word, place_.from, comm)) return error;
  return place_.to == none ? MPI_SUCCESS : send(word, place_.to, comm);
}

/// The first ranks of the systems, then the others by what these know.
int MpiClock::compare(Compared& compared) {
  const double begin = monotonic_seconds();
  for (const Rank first : first_ones_) {
    if (const int error = exchange(first, compared)) return error;
  }
  const bool is_first = place_.from == 0;
  if (is_first) {
    if (const int error = exchange(0, compared)) return error;
  } else if (place_.from != none) {
    if (const int error = receive(compared.ahead, place_.from, comm_.handle())) return error;
  }
  if (place_.to != none) {
    if (const int error = send(compared.ahead, place_.to, comm_.handle())) return error;
  }
  const double end = monotonic_seconds();
  due_ = end + std::max(pause_, (end - begin) / max_share);
  pause_ = std::min(2 * pause_, max_pause);
  return MPI_SUCCESS;
}

/// Rank 0 sends pings, rank `other` answers with its time, and rank 0 sends it its offset.
int MpiClock::exchange(Rank other, Compared& compared) {
  const MPI_Comm comm = comm_.handle();
  double word = 0;
  if (rank_ != 0) {
    for (int exchange = 0; exchange < exchanges; ++exchange) {
      if (const int error = receive(word, 0, comm)) return error;
      if (const int error = send(monotonic_seconds(), 0, comm)) return error;
    }
    return receive(compared.ahead, 0, comm);
  }
  ClockOffset measured;
  for (int exchange = 0; exchange < exchanges; ++exchange) {
    const double sent = monotonic_seconds();
    if (const int error = send(sent, other, comm)) return error;
    if (const int error = receive(word, other, comm)) return error;
    measured.add(sent, word, monotonic_seconds());
  }
  compared.error = std::max(compared.error, measured.error());
  return send(measured.offset(), other, comm);
}

std::string MpiClock::method() const {
  if (is_shared_) return "CLOCK_MONOTONIC, common to all ranks";
  char text[120];
  std::snprintf(text, sizeof text,
                "CLOCK_MONOTONIC, offsets by the fastest of %d ping-pongs, error at most %.1f us",
                exchanges, 1e6 * error_);
  return text;
}

}  // namespace tutti
