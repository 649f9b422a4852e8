/// Fills, calls and checks collectives that move data.
#include "bench/mpi_movement.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti::bench {

namespace {

/// The ranks of a communicator as MPI_COMM_WORLD numbers them.
std::vector<Rank> ranks_of_world(MPI_Comm comm) {
  int p = 1;
  MPI_Comm_size(comm, &p);
  std::vector<Rank> ranks(static_cast<std::size_t>(p));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<Rank> of_world(ranks);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_translate_ranks(group, p, ranks.data(), all, of_world.data());
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  return of_world;
}

/// The sizes of the blocks that a rank holds, as `by` of collectives.inc says. `row`: in an
/// alltoall.
std::vector<Bytes> held(Collective collective, Holders by, const std::vector<Bytes>& sizes,
                        const std::vector<Bytes>& row, Rank rank, bool is_root) {
  if (collective == Collective::barrier) return {};
  if (by == Holders::root && !is_root) return {};
  if (block_kind(collective) == BlockKind::parts) return {sizes.front()};
  if (block_kind(collective) == BlockKind::pairs) return row;
  if (by == Holders::own) return {sizes[static_cast<std::size_t>(rank)]};
  return sizes;
}

}  // namespace

Result<std::unique_ptr<Workload>> MovementWorkload::make(Collective collective,
                                                         const Problem& given, MPI_Comm comm) {
  Rank rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::vector<Rank> of_world = ranks_of_world(comm);
  const auto own = static_cast<std::size_t>(of_world[static_cast<std::size_t>(rank)]);
  std::vector<Bytes> sizes;
  std::vector<Bytes> row;
  for (const Rank other : of_world) {
    const auto at = static_cast<std::size_t>(other);
    sizes.push_back(given.sizes[at]);
    row.push_back(given.sizes[(own + at) % given.sizes.size()]);
  }
  const auto root = std::ranges::find(of_world, given.root) - of_world.begin();
  const Problem problem{sizes, given.width, given.type, static_cast<Rank>(root), given.gap};
  const CollectiveProperties& properties = properties_of(collective);
  const bool has_gaps = is_gather_or_scatter(collective) && is_irregular(collective);
  // Also for ranks without the root's buffer: all ranks refuse it alike.
  Result<Layout> at_root = lay_out(sizes, problem.width, has_gaps ? problem.gap : 0);
  if (is_gather_or_scatter(collective) && !at_root) return Error{at_root.error()};
  const auto layout = [&](Holders by) {
    const bool is_root = rank == problem.root;
    if (is_gather_or_scatter(collective) && by == Holders::root && is_root) return at_root;
    return lay_out(held(collective, by, sizes, row, rank, is_root), problem.width, 0);
  };
  Result<Layout> sent = layout(properties.before);
  if (!sent) return Error{sent.error()};
  Result<Layout> received = layout(properties.after);
  if (!received) return Error{received.error()};
  return std::unique_ptr<Workload>(
      new MovementWorkload(collective, std::move(*sent), std::move(*received), problem, comm));
}

MovementWorkload::MovementWorkload(Collective collective, Layout sent, Layout received,
                                   const Problem& problem, MPI_Comm comm)
    : Workload(collective),
      sent_(std::move(sent)),
      received_(std::move(received)),
      type_(problem.type),
      comm_(comm),
      root_(problem.root),
      send_(collective == Collective::bcast ? 0 : sent_.bytes),
      receive_(received_.bytes) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &p_);
  nothing_.counts.assign(static_cast<std::size_t>(p_), 0);
  nothing_.displacements = nothing_.counts;
}

MovementWorkload::~MovementWorkload() {
  if (request_ != TUTTI_REQUEST_NULL) TUTTI_Request_free(&request_);
}

Rank MovementWorkload::mark_of_sent(int block) const {
  const CollectiveProperties& properties = properties_of(collective());
  if (properties.blocks == BlockKind::pairs) return rank_ * p_ + block;
  return properties.blocks == BlockKind::ranks && properties.before == Holders::root ? block
                                                                                     : rank_;
}

Rank MovementWorkload::mark_of_received(int block) const {
  const CollectiveProperties& properties = properties_of(collective());
  if (properties.blocks == BlockKind::pairs) return block * p_ + rank_;
  if (properties.blocks == BlockKind::parts) return root_;
  return properties.after == Holders::own ? rank_ : block;
}

void MovementWorkload::prepare(std::uint32_t call) {
  GuardedBuffer& buffer = has_one_buffer() ? receive_ : send_;
  for (int block = 0; block < static_cast<int>(sent_.counts.size()); ++block) {
    fill(buffer.at(sent_.begin(block), sent_.size(block)), mark_of_sent(block), call);
  }
}

MpiCall MovementWorkload::call_with(const Layout& sent, const Layout& received) {
  const auto side = [this](const Layout& given, GuardedBuffer& buffer, const Layout& layout) {
    return side_of(collective(), given.counts.empty() ? nullptr : buffer.data(), type_,
                   layout.counts, layout.displacements);
  };
  MpiCall call;
  call.collective = collective();
  call.send = side(sent_, send_, sent);
  call.receive = side(received_, receive_, received);
  call.root = root_;
  call.comm = comm_;
  return call;
}

int MovementWorkload::init() {
  const MpiCall call = call_with(sent_, received_);
  switch (collective()) {
#define TUTTI_PERSISTENT_FUNCTION(name, function, number, parameters) \
  case Collective::name:                                              \
    return apply(TUTTI_##function##_init, std::type_identity<kinds::function>(), call, &request_);
#include "core/collectives.inc"
    default:
      return MPI_ERR_UNSUPPORTED_OPERATION;
  }
}

int MovementWorkload::start() {
  if (request_ == TUTTI_REQUEST_NULL) {
    if (const int error = init()) return error;
  }
  return TUTTI_Start(&request_);
}

std::optional<Mismatch> MovementWorkload::check(std::uint32_t call) const {
  for (int block = 0; block < static_cast<int>(received_.counts.size()); ++block) {
    const auto bytes = receive_.at(received_.begin(block), received_.size(block));
    if (const auto wrong = bench::check(bytes, mark_of_received(block), call)) return wrong;
  }
  const auto gap = receive_.check_gaps(received_);
  return gap ? gap : receive_.check_guards();
}

}  // namespace tutti::bench
