/// Ping-pongs between rank 0 and the ranks of other systems.
#include "run/arrival/mpi_clock.hpp"

#include <sched.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include "run/mpi/owned_comm.hpp"

namespace tutti {

namespace {

constexpr int exchanges = 30;
constexpr int tag = 1;

/// Alike for processes that read one and the same monotonic clock: the running kernel, and the
/// offsets of the process's time namespace. A rank that cannot tell which kernel runs has a clock
/// of its own.
std::uint64_t clock_identity(int rank) {
  std::ostringstream text;
  for (const char* path : {"/proc/sys/kernel/random/boot_id", "/proc/self/timens_offsets"}) {
    const std::ifstream file(path);
    if (file) text << file.rdbuf();
    if (text.str().empty()) text << "rank " << rank;
  }
  return std::hash<std::string>()(text.str());
}

/// The MPI's own blocking receive may never give up the core that the sender needs.
int receive(double& word, int from, MPI_Comm comm) {
  MPI_Request request = mpi().request_null;
  int error = mpi().Irecv(&word, sizeof word, mpi().byte, from, tag, comm, &request);
  for (int arrived = 0; error == MPI_SUCCESS && arrived == 0;) {
    MPI_Status status{};
    error = mpi().Test(&request, &arrived, &status);
    if (arrived == 0) sched_yield();
  }
  return error;
}

int send(const double& word, int to, MPI_Comm comm) {
  return mpi().Send(&word, sizeof word, mpi().byte, to, tag, comm);
}

}  // namespace

int MpiClock::synchronise(MPI_Comm comm) {
  int rank = 0;
  int p = 0;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &p);
  std::uint64_t identity = clock_identity(rank);
  std::vector<std::uint64_t> identities(rank == 0 ? static_cast<std::size_t>(p) : 0);
  if (const int error = mpi().Gather(&identity, sizeof identity, mpi().byte, identities.data(),
                                     sizeof identity, mpi().byte, 0, comm)) {
    return error;
  }
  struct {
    std::uint64_t of_first;
    std::uint64_t is_shared;
  } found = {identity, 1};
  for (const std::uint64_t other : identities) found.is_shared &= other == identity ? 1U : 0U;
  if (const int error = mpi().Bcast(&found, sizeof found, mpi().byte, 0, comm)) return error;
  offset_ = error_ = 0;
  is_shared_ = found.is_shared != 0;
  if (is_shared_) return MPI_SUCCESS;
  // Not on the program's communicator, where a receive from any rank may be open.
  OwnedComm own;
  if (const int error = OwnedComm::duplicate(comm, own)) return error;
  if (rank != 0 && identity != found.of_first) {
    if (const int error = compare(own.handle(), rank, 0)) return error;
  }
  for (int other = 1; rank == 0 && other < p; ++other) {
    if (identities[static_cast<std::size_t>(other)] == identity) continue;
    if (const int error = compare(own.handle(), rank, other)) return error;
  }
  return mpi().Bcast(&error_, sizeof error_, mpi().byte, 0, comm);
}

/// Rank 0 asks and tells the other, which answers, how far it is off.
int MpiClock::compare(MPI_Comm comm, int rank, int other) {
  double word = 0;
  if (rank != 0) {
    for (int exchange = 0; exchange < exchanges; ++exchange) {
      if (const int error = receive(word, 0, comm)) return error;
      if (const int error = send(monotonic_seconds(), 0, comm)) return error;
    }
    return receive(offset_, 0, comm);
  }
  ClockOffset measured;
  for (int exchange = 0; exchange < exchanges; ++exchange) {
    const double sent = monotonic_seconds();
    if (const int error = send(sent, other, comm)) return error;
    if (const int error = receive(word, other, comm)) return error;
    measured.add(sent, word, monotonic_seconds());
  }
  error_ = error_ < measured.error() ? measured.error() : error_;
  return send(measured.offset(), other, comm);
}

std::string MpiClock::method() const {
  if (is_shared_) return "CLOCK_MONOTONIC, common to all ranks";
  char text[120];
  std::snprintf(text, sizeof text,
                "CLOCK_MONOTONIC, offsets by the fastest of %d ping-pongs, off by at most %.1f us",
                exchanges, 1e6 * error_);
  return text;
}

}  // namespace tutti
