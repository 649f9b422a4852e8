/// Ping-pongs between rank 0 and the ranks on other systems.
#include "run/arrival/mpi_clock.hpp"

#include <cstdint>
#include <cstdio>

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
  const Rank rank = rank_in(comm);
  const std::uint64_t identity = clock_identity(rank);
  std::vector<std::uint64_t> identities;
  if (const int error = gather_at_first(identity, identities, comm)) return error;
  struct {
    std::uint64_t of_first;
    std::uint64_t is_shared;
  } found = {identity, 1};
  for (const std::uint64_t other : identities) found.is_shared &= other == identity ? 1U : 0U;
  if (const int error = take_from_first(found, comm)) return error;
  is_shared_ = found.is_shared != 0;
  if (is_shared_) return MPI_SUCCESS;
  // Not on the program's communicator, where a receive from any rank may be posted.
  if (const int error = OwnedComm::duplicate(comm, comm_)) return error;
  rank_ = rank;
  if (rank != 0 && identity != found.of_first) others_ = {0};
  for (std::size_t other = 1; other < identities.size(); ++other) {
    if (identities[other] != identity) others_.push_back(static_cast<Rank>(other));
  }
  Compared compared;
  if (const int error = compare_all(compared)) return error;
  adopt(compared);
  return take_from_first(error_, comm_.handle());
}

int MpiClock::compare_again(std::optional<Compared>& compared) {
  compared.reset();
  if (is_shared_ || others_.empty()) return MPI_SUCCESS;
  double is_due = monotonic_seconds() >= due_ ? 1 : 0;
  int error = rank_ == 0 ? MPI_SUCCESS : receive(is_due, 0, comm_.handle());
  for (std::size_t i = 0; rank_ == 0 && i < others_.size() && error == MPI_SUCCESS; ++i) {
    error = send(is_due, others_[i], comm_.handle());
  }
  if (error != MPI_SUCCESS || is_due == 0) return error;
  return compare_all(compared.emplace());
}

int MpiClock::compare_all(Compared& compared) {
  const double begin = monotonic_seconds();
  for (const int other : others_) {
    if (const int error = compare(other, compared)) return error;
  }
  const double end = monotonic_seconds();
  due_ = end + std::max(pause_, (end - begin) / max_share);
  pause_ = std::min(2 * pause_, max_pause);
  return MPI_SUCCESS;
}

/// Rank 0 sends pings, rank `other` answers with its time, and rank 0 sends it its offset.
int MpiClock::compare(int other, Compared& compared) {
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
