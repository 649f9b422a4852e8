/// Summaries travel up a binomial tree over a private duplicate of MPI_COMM_WORLD.
#include <algorithm>

#include "api/report.hpp"
#include "run/arrival/mpi_clock.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/mpi/yielding.hpp"

namespace tutti {

namespace {

constexpr int tag = 0;
constexpr std::size_t largest_message = std::size_t{1} << 30;

template <class Pointer, class Transfer>
int in_pieces(Pointer data, std::size_t size, Transfer transfer) {
  int error = MPI_SUCCESS;
  for (std::size_t at = 0; at < size && error == MPI_SUCCESS; at += largest_message) {
    error = transfer(data + at, std::min(largest_message, size - at));
  }
  return error;
}

void send_summary(const Summary& summary, Rank to, MPI_Comm comm) {
  const std::vector<std::byte> bytes = to_bytes(summary);
  const std::uint64_t size = bytes.size();
  if (send_yielding(&size, sizeof size, to, tag, comm) != MPI_SUCCESS) return;
  in_pieces(bytes.data(), bytes.size(), [&](const std::byte* data, std::size_t count) {
    return send_yielding(data, count, to, tag, comm);
  });
}

void join_summary(Summary& summary, Rank from, MPI_Comm comm) {
  std::uint64_t size = 0;
  if (receive_yielding(&size, sizeof size, from, tag, comm) != MPI_SUCCESS) return;
  std::vector<std::byte> bytes(size);
  const int error = in_pieces(bytes.data(), bytes.size(), [&](std::byte* data, std::size_t count) {
    return receive_yielding(data, count, from, tag, comm);
  });
  auto theirs = error == MPI_SUCCESS ? summary_from_bytes(bytes) : std::nullopt;
  if (theirs) join(summary, std::move(*theirs));
}

/// The first clock reading. Written before a communicator is used, read when MPI ends.
std::optional<ClockReading> start;

/// Compares all clocks with rank 0's. None if the MPI fails.
std::optional<ClockReading> read_clock(MPI_Comm world) {
  MpiClock clock;
  if (clock.synchronise(world) != MPI_SUCCESS) return std::nullopt;
  return ClockReading{monotonic_seconds(), clock.offset(), clock.error()};
}

/// Nodes are identified by the world rank of their leader.
bool find_location(MPI_Comm world, ProcessLocation& location) {
  MPI_Comm node = mpi().comm_null;
  if (mpi().Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, mpi().info_null, &node) !=
      MPI_SUCCESS) {
    return false;
  }
  location.node = location.rank;
  location.is_leader = rank_in(node) == 0;
  const int error = take_from_first(location.node, node);
  mpi().Comm_free(&node);
  return error == MPI_SUCCESS;
}

}  // namespace

void note_clocks(MPI_Comm comm) {
  if (!start) start = read_clock(comm);
}

std::optional<Summary> collect(const std::function<Summary(const ProcessLocation&)>& make) {
  OwnedComm duplicate;
  if (OwnedComm::duplicate(mpi().comm_world, duplicate) != MPI_SUCCESS) return std::nullopt;
  const MPI_Comm world = duplicate.handle();
  const int p = size_of(world);
  const Rank rank = rank_in(world);
  ProcessLocation location;
  location.rank = rank;
  if (!find_location(world, location)) return std::nullopt;
  if (const std::optional<ClockReading> end = read_clock(world)) {
    location.clock = {start, *end};
    location.node = 0;
  }
  Summary summary = make(location);
  for (Rank step = 1; step < p; step *= 2) {
    if ((rank & step) != 0) {
      send_summary(summary, rank - step, world);
      return std::nullopt;
    }
    if (rank + step < p) join_summary(summary, rank + step, world);
  }
  return summary;
}

}  // namespace tutti
