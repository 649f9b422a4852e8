/// The arguments of calls of all collectives.
#include "bench/mpi_calls.hpp"

namespace tutti::bench {

int blocks_sent(Collective collective, int p, Rank rank, bool any_root) {
  const bool scatters = collective == Collective::scatter || collective == Collective::scatterv;
  const bool many = (scatters && (any_root || rank == 0)) ||
                    block_kind(collective) == BlockKind::pairs ||
                    (reduces(collective) && block_kind(collective) == BlockKind::ranks);
  return many ? p : 1;
}

int blocks_received(Collective collective, int p, Rank rank, bool any_root) {
  const bool many = (is_gather(collective) && (any_root || rank == 0)) ||
                    collective == Collective::allgather || collective == Collective::allgatherv ||
                    block_kind(collective) == BlockKind::pairs;
  return many ? p : 1;
}

CallBuffers::CallBuffers(Collective collective, int p, int ints, Rank rank, bool any_root)
    : block(ints),
      sent(static_cast<std::size_t>(blocks_sent(collective, p, rank, any_root)) *
               static_cast<std::size_t>(ints),
           1),
      received(static_cast<std::size_t>(blocks_received(collective, p, rank, any_root)) *
               static_cast<std::size_t>(ints)),
      counts(static_cast<std::size_t>(p), ints) {
  for (int at = 0; at < p; ++at) displacements.push_back(at * ints);
}

std::function<void(Rank)> call_of(Collective collective, const Functions& by, CallBuffers& at) {
  int* const out = at.sent.data();
  int* const in = at.received.data();
  const int* const n = at.counts.data();
  const int* const to = at.displacements.data();
  const int b = at.block;
  const MPI_Comm all = at.comm;
  switch (collective) {
    case Collective::gather:
      return [=](Rank root) { by.gather(out, b, MPI_INT, in, b, MPI_INT, root, all); };
    case Collective::gatherv:
      return [=](Rank root) { by.gatherv(out, b, MPI_INT, in, n, to, MPI_INT, root, all); };
    case Collective::scatter:
      return [=](Rank root) { by.scatter(out, b, MPI_INT, in, b, MPI_INT, root, all); };
    case Collective::scatterv:
      return [=](Rank root) { by.scatterv(out, n, to, MPI_INT, in, b, MPI_INT, root, all); };
    case Collective::bcast:
      return [=](Rank root) { by.bcast(in, b, MPI_INT, root, all); };
    case Collective::allgather:
      return [=](Rank) { by.allgather(out, b, MPI_INT, in, b, MPI_INT, all); };
    case Collective::allgatherv:
      return [=](Rank) { by.allgatherv(out, b, MPI_INT, in, n, to, MPI_INT, all); };
    case Collective::alltoall:
      return [=](Rank) { by.alltoall(out, b, MPI_INT, in, b, MPI_INT, all); };
    case Collective::alltoallv:
      return [=](Rank) { by.alltoallv(out, n, to, MPI_INT, in, n, to, MPI_INT, all); };
    case Collective::barrier:
      return [=](Rank) { by.barrier(all); };
    case Collective::reduce:
      return [=](Rank root) { by.reduce(out, in, b, MPI_INT, MPI_SUM, root, all); };
    case Collective::allreduce:
      return [=](Rank) { by.allreduce(out, in, b, MPI_INT, MPI_SUM, all); };
    case Collective::reduce_scatter:
      return [=](Rank) { by.reduce_scatter(out, in, n, MPI_INT, MPI_SUM, all); };
    case Collective::reduce_scatter_block:
      return [=](Rank) { by.reduce_scatter_block(out, in, b, MPI_INT, MPI_SUM, all); };
    default:
      return {};
  }
}

}  // namespace tutti::bench
