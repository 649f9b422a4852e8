/// Measures barriers, exchanges and copies by all ranks of nodes.
#include <tutti/tutti.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <vector>

#include "bench/machine_samples.hpp"
#include "bench/mpi_machine.hpp"
#include "bench/statistics.hpp"
#include "core/nodes.hpp"

namespace tutti::bench {

namespace {

constexpr int tag = 4;
constexpr std::size_t large = std::size_t{1} << 20;
constexpr double min_gap = 1e-10;  // smaller gaps drown in the variation of the latency

/// The nodes of all ranks, and a communicator of this rank's node.
class RealNodes : NotCopied {
 public:
  explicit RealNodes(const Job& job) : job_(job) {
    MPI_Comm_split_type(job.control(), MPI_COMM_TYPE_SHARED, job.rank(), MPI_INFO_NULL, &comm_);
    int lowest = job.rank();
    MPI_Bcast(&lowest, 1, MPI_INT, 0, comm_);
    std::vector<int> labels(static_cast<std::size_t>(job.p()));
    MPI_Allgather(&lowest, 1, MPI_INT, labels.data(), 1, MPI_INT, job.control());
    nodes_ = Nodes::of(labels);
  }
  ~RealNodes() { MPI_Comm_free(&comm_); }

  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int local() const { return nodes_.local_of(job_.rank()); }
  [[nodiscard]] int ranks() const { return nodes_.size(nodes_.node_of(job_.rank())); }
  /// The ranks of the smallest node; as many have counterparts on all other nodes.
  [[nodiscard]] int fewest() const {
    int fewest = nodes_.most();
    for (int node = 0; node < nodes_.count(); ++node) fewest = std::min(fewest, nodes_.size(node));
    return fewest;
  }
  /// The rank with the same local number, `distance` nodes further.
  [[nodiscard]] Rank counterpart(int distance) const {
    const int count = nodes_.count();
    return nodes_.rank_at((nodes_.node_of(job_.rank()) + distance + count) % count, local());
  }

 private:
  const Job& job_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Nodes nodes_;
};

/// The median over repetitions of the slowest rank's time, in seconds. All ranks call it.
double slowest_median(const Job& job, int repetitions, const std::function<void()>& once) {
  std::vector<double> samples;
  for (int repetition = -1; repetition < repetitions; ++repetition) {
    job.barrier();
    const double begin = MPI_Wtime();
    once();
    double seconds = MPI_Wtime() - begin;
    double slowest = 0;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, job.control());
    if (repetition >= 0) samples.push_back(slowest);
  }
  return summarize(std::move(samples)).median;
}

/// Sends an empty message to one rank, and receives one from another.
void exchange_empty(MPI_Comm comm, Rank to, Rank from) {
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Irecv(nullptr, 0, MPI_BYTE, from, tag, comm, &requests[0]);
  MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, comm, &requests[1]);
  wait_all(requests);
}

void barrier_by_messages(const RealNodes& nodes) {
  const int ranks = nodes.ranks();
  for (int distance = 1; distance < ranks; distance *= 2) {
    exchange_empty(nodes.comm(), (nodes.local() + distance) % ranks,
                   (nodes.local() - distance + ranks) % ranks);
  }
}

/// The seconds of a barrier among the ranks of a node through node memory alone.
double signal_seconds(const Job& job, const RealNodes& nodes) {
  constexpr int calls = 10;
  if (TUTTI_Algorithm_set("barrier", "hierarchical(native,leaders=1)", nullptr, nullptr) !=
      MPI_SUCCESS) {
    return 0;
  }
  const double seconds = slowest_median(job, 20, [&] {
    for (int call = 0; call < calls; ++call) TUTTI_Barrier(nodes.comm());
  });
  TUTTI_Algorithm_set("barrier", "auto", nullptr, nullptr);
  return seconds / calls / (nodes.nodes().most() + 1);
}

/// The seconds in which ranks with `copies` set copy bytes between private buffers.
double copy_seconds(const Job& job, bool copies) {
  std::vector<char> from(large, 1);
  std::vector<char> to(large);
  return slowest_median(job, 20, [&] {
    if (copies) std::memcpy(to.data(), from.data(), large);
  });
}

double combine_seconds(const Job& job, bool combines) {
  constexpr int count = static_cast<int>(large / sizeof(double));
  std::vector<double> from(count, 1);
  std::vector<double> to(count, 1);
  return slowest_median(job, 20, [&] {
    if (combines) MPI_Reduce_local(from.data(), to.data(), count, MPI_DOUBLE, MPI_SUM);
  });
}

}  // namespace

Result<Machine> measure_node_machine(const Job& job, const Machine& machine) {
  Machine measured = machine;
  measured.sender_per_byte = machine.per_byte;
  const RealNodes real(job);
  const int ranks = real.nodes().most();
  measured.copy_per_byte = copy_seconds(job, job.rank() == 0) / large;
  measured.shared_per_byte = copy_seconds(job, true) / large / ranks;
  measured.combine_per_byte = combine_seconds(job, job.rank() == 0) / large;
  if (real.nodes().count() > 1) {
    const int senders = real.fewest();
    const double all = slowest_median(job, 50, [&] {
      if (real.local() >= senders) return;
      exchange_empty(job.control(), real.counterpart(1), real.counterpart(-1));
    });
    measured.node_gap = std::max((all - machine.latency) / std::max(1, senders - 1), min_gap);
  } else {
    measured.local_per_byte = machine.per_byte;
    measured.node_gap = machine.gap;
  }
  if (ranks > 1) {
    const auto rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
    measured.local_latency = slowest_median(job, 50, [&] { barrier_by_messages(real); }) / rounds;
    measured.signal = signal_seconds(job, real);
  }
  std::string wrong = out_of_range(measured);
  if (real.nodes().count() == 1 && wrong.empty()) wrong = contradiction_in_memory(measured);
  if (!wrong.empty()) return Error{wrong};
  return measured;
}

}  // namespace tutti::bench
