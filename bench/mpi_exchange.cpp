/// Fills, calls and checks collectives without a root, and bcast.
#include "bench/mpi_exchange.hpp"

#include <algorithm>
#include <utility>

namespace tutti::bench {

namespace {

bool is_alltoall(Collective collective) {
  return collective == Collective::alltoall || collective == Collective::alltoallv;
}

/// The layout of the blocks that one rank sends.
std::vector<Bytes> sent_by(Collective collective, const std::vector<Bytes>& sizes, Rank rank) {
  if (collective == Collective::barrier) return {};
  if (!is_alltoall(collective)) return {sizes[static_cast<std::size_t>(rank)]};
  std::vector<Bytes> sent(sizes);
  std::rotate(sent.begin(), sent.begin() + rank, sent.end());
  return sent;
}

/// The layout of the blocks that it receives.
std::vector<Bytes> received_by(Collective collective, const std::vector<Bytes>& sizes, Rank rank) {
  if (collective == Collective::barrier) return {};
  if (collective == Collective::bcast) return {sizes.front()};
  if (is_alltoall(collective)) return sent_by(collective, sizes, rank);
  return sizes;
}

Blocks blocks_of(const Layout& layout) {
  return {layout.counts.empty() ? 0 : layout.counts.front(), layout.counts.data(),
          layout.displacements.data()};
}

}  // namespace

Result<std::unique_ptr<Workload>> ExchangeWorkload::make(Collective collective,
                                                         const std::vector<Bytes>& sizes, int width,
                                                         MPI_Datatype type, Rank root,
                                                         MPI_Comm comm) {
  Rank rank = 0;
  MPI_Comm_rank(comm, &rank);
  Result<Layout> sent = lay_out(sent_by(collective, sizes, rank), width, 0);
  if (!sent) return Error{sent.error()};
  Result<Layout> received = lay_out(received_by(collective, sizes, rank), width, 0);
  if (!received) return Error{received.error()};
  return std::unique_ptr<Workload>(
      new ExchangeWorkload(collective, std::move(*sent), std::move(*received), type, root, comm));
}

ExchangeWorkload::ExchangeWorkload(Collective collective, Layout sent, Layout received,
                                   MPI_Datatype type, Rank root, MPI_Comm comm)
    : Workload(collective),
      sent_(std::move(sent)),
      received_(std::move(received)),
      type_(type),
      comm_(comm),
      root_(root),
      send_(collective == Collective::bcast ? 0 : sent_.bytes),
      receive_(received_.bytes) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &p_);
  nothing_.counts.assign(static_cast<std::size_t>(p_), 0);
  nothing_.displacements = nothing_.counts;
}

Rank ExchangeWorkload::mark_of_sent(int block) const {
  return is_alltoall(collective()) ? rank_ * p_ + block : rank_;
}

Rank ExchangeWorkload::mark_of_received(int block) const {
  if (is_alltoall(collective())) return block * p_ + rank_;
  return collective() == Collective::bcast ? root_ : block;
}

void ExchangeWorkload::prepare(std::uint32_t call) {
  const bool is_bcast = collective() == Collective::bcast;
  if (is_bcast && rank_ != root_) return;
  GuardedBuffer& buffer = is_bcast ? receive_ : send_;
  for (int block = 0; block < static_cast<int>(sent_.counts.size()); ++block) {
    fill(buffer.at(sent_.begin(block), sent_.size(block)), mark_of_sent(block), call);
  }
}

int ExchangeWorkload::call(const Functions& functions, const Layout& sent, const Layout& received) {
  Arguments arguments;
  arguments.in = send_.data();
  arguments.out = receive_.data();
  arguments.sent = blocks_of(sent);
  arguments.received = blocks_of(received);
  arguments.type = type_;
  arguments.root = root_;
  arguments.comm = comm_;
  return bench::call(functions, collective(), arguments);
}

std::optional<Mismatch> ExchangeWorkload::check(std::uint32_t call) const {
  for (int block = 0; block < static_cast<int>(received_.counts.size()); ++block) {
    const auto bytes = receive_.at(received_.begin(block), received_.size(block));
    if (const auto wrong = bench::check(bytes, mark_of_received(block), call)) return wrong;
  }
  return receive_.check_guards();
}

}  // namespace tutti::bench
