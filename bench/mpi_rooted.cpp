/// Fills, calls and checks gathers and scatters.
#include "bench/mpi_rooted.hpp"

#include <utility>

namespace tutti::bench {

GatherScatterWorkload::GatherScatterWorkload(Collective collective, Layout layout,
                                             MPI_Datatype type, Rank root, Rank rank)
    : Workload(collective),
      layout_(std::move(layout)),
      no_counts_(layout_.counts.size(), 0),
      type_(type),
      root_(root),
      rank_(rank),
      vector_(rank == root ? layout_.bytes : 0),
      block_(layout_.size(rank)) {}

void GatherScatterWorkload::prepare(std::uint32_t call) {
  if (is_gather(collective())) {
    fill(block_.at(0, layout_.size(rank_)), rank_, call);
  } else if (at_root()) {
    for (Rank rank = 0; rank < static_cast<Rank>(layout_.counts.size()); ++rank) {
      fill(vector_.at(layout_.begin(rank), layout_.size(rank)), rank, call);
    }
  }
}

/// Tutti's functions that make persistent calls.
struct GatherScatterWorkload::Inits {
  decltype(&TUTTI_Gather_init) gather = TUTTI_Gather_init;
  decltype(&TUTTI_Gatherv_init) gatherv = TUTTI_Gatherv_init;
  decltype(&TUTTI_Scatter_init) scatter = TUTTI_Scatter_init;
  decltype(&TUTTI_Scatterv_init) scatterv = TUTTI_Scatterv_init;
};

int GatherScatterWorkload::run(const Functions& functions) {
  return call(functions, layout_.counts);
}

int GatherScatterWorkload::prime(const Functions& functions) { return call(functions, no_counts_); }

template <class AnyFunctions, class... Request>
int GatherScatterWorkload::call(const AnyFunctions& functions, const std::vector<int>& all_counts,
                                Request*... request) {
  const int count = all_counts[static_cast<std::size_t>(rank_)];
  const int* counts = at_root() ? all_counts.data() : nullptr;
  const int* displacements = at_root() ? layout_.displacements.data() : nullptr;
  void* vector = at_root() ? vector_.data() : nullptr;
  void* block = block_.data();
  const MPI_Comm comm = MPI_COMM_WORLD;
  switch (collective()) {
    case Collective::gather:
      return functions.gather(block, count, type_, vector, count, type_, root_, comm, request...);
    case Collective::gatherv:
      return functions.gatherv(block, count, type_, vector, counts, displacements, type_, root_,
                               comm, request...);
    case Collective::scatter:
      return functions.scatter(vector, count, type_, block, count, type_, root_, comm, request...);
    case Collective::scatterv:
      return functions.scatterv(vector, counts, displacements, type_, block, count, type_, root_,
                                comm, request...);
    default:
      return MPI_ERR_OTHER;
  }
}

int GatherScatterWorkload::start() {
  if (request_ == TUTTI_REQUEST_NULL) {
    if (const int error = call(Inits(), layout_.counts, &request_)) return error;
  }
  return TUTTI_Start(&request_);
}

int GatherScatterWorkload::wait() { return TUTTI_Wait(&request_); }

GatherScatterWorkload::~GatherScatterWorkload() {
  if (request_ != TUTTI_REQUEST_NULL) TUTTI_Request_free(&request_);
}

std::optional<Mismatch> GatherScatterWorkload::check(std::uint32_t call) const {
  if (!is_gather(collective())) {
    const auto wrong = bench::check(block_.at(0, layout_.size(rank_)), rank_, call);
    return wrong ? wrong : block_.check_guards();
  }
  if (!at_root()) return std::nullopt;
  for (Rank rank = 0; rank < static_cast<Rank>(layout_.counts.size()); ++rank) {
    const auto block = vector_.at(layout_.begin(rank), layout_.size(rank));
    if (const auto wrong = bench::check(block, rank, call)) return wrong;
  }
  const auto gap = vector_.check_gaps(layout_);
  return gap ? gap : vector_.check_guards();
}

}  // namespace tutti::bench
