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

int GatherScatterWorkload::run(const Functions& functions) {
  return call(functions, collective(), arguments(layout_.counts));
}

int GatherScatterWorkload::prime(const Functions& functions) {
  return call(functions, collective(), arguments(no_counts_));
}

Arguments GatherScatterWorkload::arguments(const std::vector<int>& counts) {
  const int count = counts[static_cast<std::size_t>(rank_)];
  Blocks block;
  Blocks vector;
  block.count = vector.count = count;
  if (at_root()) vector = {count, counts.data(), layout_.displacements.data()};
  void* const at_root_only = at_root() ? vector_.data() : nullptr;
  Arguments all;
  all.type = type_;
  all.root = root_;
  const bool gathers = is_gather(collective());
  all.in = gathers ? block_.data() : at_root_only;
  all.out = gathers ? at_root_only : block_.data();
  all.sent = gathers ? block : vector;
  all.received = gathers ? vector : block;
  return all;
}

int GatherScatterWorkload::init() {
  const Arguments all = arguments(layout_.counts);
  switch (collective()) {
    case Collective::gather:
      return apply(TUTTI_Gather_init, std::type_identity<kinds::Gather>(), all, &request_);
    case Collective::gatherv:
      return apply(TUTTI_Gatherv_init, std::type_identity<kinds::Gatherv>(), all, &request_);
    case Collective::scatter:
      return apply(TUTTI_Scatter_init, std::type_identity<kinds::Scatter>(), all, &request_);
    default:
      return apply(TUTTI_Scatterv_init, std::type_identity<kinds::Scatterv>(), all, &request_);
  }
}

int GatherScatterWorkload::start() {
  if (request_ == TUTTI_REQUEST_NULL) {
    if (const int error = init()) return error;
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
