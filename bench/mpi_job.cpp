/// Waiting, and the messages that organise a measurement.
#include "bench/mpi_job.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/nodes.hpp"
#include "run/processors.hpp"

namespace tutti::bench {

namespace {

constexpr int data_tag = 1;
constexpr int barrier_tag = 2;
/// The sleeps get longer, because even occasional polls of dozens of ranks would occupy a core.
constexpr std::chrono::microseconds shortest_nap{50};
constexpr std::chrono::microseconds longest_nap{2000};

/// Counts the nodes of `all` ranks, each of which knows those of its own.
NodeCounts counted(MPI_Comm node, MPI_Comm all) {
  NodeCounts counts;
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &ranks);
  const int first_of_node = rank == 0 ? 1 : 0;
  MPI_Allreduce(&first_of_node, &counts.nodes, 1, MPI_INT, MPI_SUM, all);
  MPI_Allreduce(&ranks, &counts.ranks_per_node, 1, MPI_INT, MPI_MAX, all);
  return counts;
}

}  // namespace

void wait_all(std::span<MPI_Request> requests, Patience patience) {
  std::chrono::microseconds nap = shortest_nap;
  for (int done = 0;;) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done) return;
    if (patience == Patience::sleep) {
      std::this_thread::sleep_for(nap);
      nap = std::min(2 * nap, longest_nap);
    } else {
      sched_yield();
    }
  }
}

Job::Job() {
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);
  MPI_Comm_rank(control_, &rank_);
  MPI_Comm_size(control_, &p_);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(control_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  nodes_ = counted(node, control_);
  int local_ranks = 1;
  MPI_Comm_size(node, &local_ranks);
  std::vector<RankProcessors> views(static_cast<std::size_t>(local_ranks));
  const RankProcessors own = own_processors();
  MPI_Allgather(&own, sizeof own, MPI_BYTE, views.data(), sizeof own, MPI_BYTE, node);
  const double oversubscription = oversubscription_of(views);
  MPI_Allreduce(&oversubscription, &oversubscription_, 1, MPI_DOUBLE, MPI_MAX, control_);
  split(node);
  MPI_Comm_free(&node);
}

/// Splits this rank's node as TUTTI_NODE does.
void Job::split(MPI_Comm node) {
  tutti_nodes_ = nodes_;
  const char* const setting = std::getenv("TUTTI_NODE");
  const std::string text = from_first(setting == nullptr ? "" : setting);
  const Result<EmulatedNodes> emulated = emulated_nodes(text);
  if (!emulated) return;
  emulated_ = text;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(node, emulated->node_of(rank_), rank_, &part);
  tutti_nodes_ = counted(part, control_);
  MPI_Comm_free(&part);
}

Job::~Job() { MPI_Comm_free(&control_); }

void Job::barrier(Patience patience) const {
  for (int distance = 1; distance < p_; distance *= 2) {
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(nullptr, 0, MPI_BYTE, (rank_ - distance + p_) % p_, barrier_tag, control_,
              &requests[0]);
    MPI_Isend(nullptr, 0, MPI_BYTE, (rank_ + distance) % p_, barrier_tag, control_, &requests[1]);
    wait_all(requests, patience);
  }
}

void Job::send(const void* data, std::size_t bytes, Rank to) const {
  std::array<MPI_Request, 1> request;
  MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, data_tag, control_, request.data());
  wait_all(request);
}

void Job::receive(void* data, std::size_t bytes, Rank from, Patience patience) const {
  std::array<MPI_Request, 1> request;
  MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, data_tag, control_, request.data());
  wait_all(request, patience);
}

std::string Job::first_problem(const std::string& problem) const {
  const Rank own = problem.empty() ? p_ : rank_;
  Rank first = p_;
  MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, control_);
  if (first == p_) return "";
  return (first > 0 ? "rank " + std::to_string(first) + ": " : "") + from(first, problem);
}

std::string Job::from(Rank root, std::string text) const {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, root, control_);
  text.resize(static_cast<std::size_t>(length));
  if (length > 0) MPI_Bcast(text.data(), length, MPI_CHAR, root, control_);  // SimGrid's needs data
  return text;
}

void Job::fail(const std::string& text) const {
  std::fprintf(stderr, "tutti-bench: rank %d: %s\n", rank_, text.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::abort();
}

}  // namespace tutti::bench
