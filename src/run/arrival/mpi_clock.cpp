/// Ping-pongs between rank 0 and the first rank of each other system.
#include "run/arrival/mpi_clock.hpp"

#include <cstdint>

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

int MpiClock::synchronise(MPI_Comm comm, bool& ready) {
  ready = true;
  rank_ = rank_in(comm);
  if (const int error = find_role(clock_identity(rank_), comm)) return error;
  if (is_shared_) return MPI_SUCCESS;
  // Not on the program's communicator, where a receive from any rank may be posted.
  const bool has_own = OwnedComm::duplicate(comm, comm_) == MPI_SUCCESS;
  if (const int error = true_on_all(comm, has_own, ready)) return error;
  if (!ready) {
    static_cast<void>(comm_.release());  // to free it, all ranks would have to have one
    return MPI_SUCCESS;
  }
  Compared compared;
  if (const int error = compare(compared)) return error;
  adopt(compared);
  return take_from_first(error_, comm_.handle());
}

/// Rank 0 knows the clocks of all ranks, and sends each one its role.
int MpiClock::find_role(std::uint64_t identity, MPI_Comm comm) {
  std::vector<std::uint64_t> identities;
  if (const int error = gather_at_first(identity, identities, comm)) return error;
  std::vector<Role> roles(identities.size(), Role::shares);
  for (std::size_t rank = 0; rank < identities.size(); ++rank) {
    if (identities[rank] == identities[0]) continue;
    std::vector<Rank>& system = systems_[identities[rank]];
    roles[rank] = system.empty() ? Role::answers : Role::learns;
    system.push_back(static_cast<Rank>(rank));
  }
  is_shared_ = systems_.empty();
  if (const int error = take_from_first(is_shared_, comm)) return error;
  if (is_shared_) return MPI_SUCCESS;
  return mpi().Scatter(roles.data(), sizeof role_, mpi().byte, &role_, sizeof role_, mpi().byte, 0,
                       comm);
}

bool MpiClock::is_due() const { return rank_ == 0 && !is_shared_ && monotonic_seconds() >= due_; }

int MpiClock::compare_again(std::optional<Compared>& compared) {
  compared.reset();
  double is_due_now = is_due() ? 1 : 0;
  for (const auto& [identity, system] : systems_) {
    if (const int error = send_to_all(is_due_now, system)) return error;
  }
  if (role_ != Role::shares) {
    if (const int error = receive(is_due_now, 0, comm_.handle())) return error;
  }
  return is_due_now == 0 ? MPI_SUCCESS : compare(compared.emplace());
}

int MpiClock::compare(Compared& compared) {
  const double begin = monotonic_seconds();
  for (const auto& [identity, system] : systems_) {
    ClockOffset measured;
    if (const int error = measure(system.front(), measured)) return error;
    if (const int error = send_to_all(measured.offset(), system)) return error;
    compared.error = std::max(compared.error, measured.error());
  }
  if (role_ == Role::answers) {
    if (const int error = answer()) return error;
  }
  if (role_ != Role::shares) {
    if (const int error = receive(compared.ahead, 0, comm_.handle())) return error;
  }
  const double end = monotonic_seconds();
  due_ = end + std::max(pause_, (end - begin) / max_share);
  pause_ = std::min(2 * pause_, max_pause);
  return MPI_SUCCESS;
}

int MpiClock::measure(Rank other, ClockOffset& measured) {
  for (int exchange = 0; exchange < exchanges; ++exchange) {
    const double sent = monotonic_seconds();
    double there = 0;
    if (const int error = send(sent, other, comm_.handle())) return error;
    if (const int error = receive(there, other, comm_.handle())) return error;
    measured.add(sent, there, monotonic_seconds());
  }
  return MPI_SUCCESS;
}

int MpiClock::answer() {
  for (int exchange = 0; exchange < exchanges; ++exchange) {
    double ping = 0;
    if (const int error = receive(ping, 0, comm_.handle())) return error;
    if (const int error = send(monotonic_seconds(), 0, comm_.handle())) return error;
  }
  return MPI_SUCCESS;
}

int MpiClock::send_to_all(double word, const std::vector<Rank>& ranks) {
  for (const Rank rank : ranks) {
    if (const int error = send(word, rank, comm_.handle())) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace tutti
