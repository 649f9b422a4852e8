/// TUTTI_Reduce, TUTTI_Allreduce, TUTTI_Reduce_scatter, TUTTI_Reduce_scatter_block and their
/// large-count forms.
#include <tutti/tutti.h>

#include "api/collective_call.hpp"

using tutti::Collective;
using tutti::CollectiveCall;
using tutti::Communicator;
using tutti::MpiFunctions;
using tutti::native;
using tutti::RankBlocks;

namespace {

/// The arguments that the four share; count, type and operation are significant at all ranks.
struct Vectors {
  const void* send;
  void* receive;
  RankBlocks counts;
  MPI_Datatype type;
  MPI_Op op;
};

CollectiveCall call_of(Collective collective, const Vectors& vectors, int root, MPI_Comm comm) {
  return {collective,
          root,
          comm,
          tutti::side(vectors.send, vectors.counts, vectors.type),
          tutti::side(vectors.receive, vectors.counts, vectors.type),
          vectors.op};
}

/// The decision for this call's operation: another than the usual one if that does not suit
/// operations that do not commute, or the program's own. The standard has one operation on all
/// ranks.
const tutti::Decision& decide(CollectiveCall& call, Communicator& communicator, int& error) {
  const tutti::Decision& usual = communicator.decide(call.collective);
  const bool is_native = !usual.specification && !usual.level.hierarchical;
  // All calls count for the tuner, so that a rank with an invalid operation stays in step.
  const bool is_tuned = usual.deferred == tutti::DeferredLevel::all;
  const bool is_final = is_native && (is_tuned || usual.deferred == tutti::DeferredLevel::none);
  if (is_final && !usual.needs_commutativity) return usual;
  const bool whole = communicator.takes_whole(call.op);
  const bool commutes_only = usual.specification && usual.specification->algorithm->commutative;
  if (!commutes_only && !usual.needs_commutativity) {
    return whole ? communicator.decide(call.collective, {true, whole}) : usual;
  }
  if (usual.needs_commutativity) {
    bool is_ready = false;
    error = communicator.open_flat(is_ready);
    if (error != MPI_SUCCESS || !is_ready) return usual;
  }
  tutti::PrivateComm* comm = communicator.private_comm(error);
  if (comm == nullptr) return usual;
  // MPI_Op_commutative would end the program on an invalid handle.
  const bool known = looks_valid(call, communicator) && comm->collectives().learn_types(call);
  const bool commutative = !known || tutti::commutes(call.op);
  return commutative && !whole ? usual : communicator.decide(call.collective, {commutative, whole});
}

/// Some MPIs accept the receive buffer as the send buffer. Tutti treats it like MPI_IN_PLACE.
void accept_one_buffer(CollectiveCall& call, const Communicator& communicator) {
  const bool receives = call.collective != Collective::reduce || communicator.rank() == call.root;
  if (receives && call.send.address == call.receive.address) call.send.address = MPI_IN_PLACE;
}

/// One call of the program: runs Tutti's algorithm or `run_native`.
template <class Native>
int reduction(CollectiveCall call, Native run_native) {
  return tutti::enter(call.collective, call.comm, run_native,
                      [&](Communicator& communicator, const tutti::Arrived& entered) {
                        const auto begun = begin_record(communicator, entered);
                        accept_one_buffer(call, communicator);
                        int error = MPI_SUCCESS;
                        const tutti::Decision& decision = decide(call, communicator, error);
                        if (error != MPI_SUCCESS) return tutti::raise(call.comm, error);
                        return run_decided(call, communicator, decision, begun, run_native);
                      });
}

}  // namespace

int TUTTI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm) {
  return reduction(
      call_of(Collective::reduce, {sendbuf, recvbuf, RankBlocks(count), datatype, op}, root, comm),
      [&] { return native().Reduce(sendbuf, recvbuf, count, datatype, op, root, comm); });
}

int TUTTI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm) {
  return reduction(
      call_of(Collective::allreduce, {sendbuf, recvbuf, RankBlocks(count), datatype, op}, 0, comm),
      [&] { return native().Allreduce(sendbuf, recvbuf, count, datatype, op, comm); });
}

int TUTTI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return reduction(
      call_of(Collective::reduce_scatter,
              {sendbuf, recvbuf, RankBlocks::counted(recvcounts), datatype, op}, 0, comm),
      [&] { return native().Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm); });
}

int TUTTI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return reduction(call_of(Collective::reduce_scatter_block,
                           {sendbuf, recvbuf, RankBlocks(recvcount), datatype, op}, 0, comm),
                   [&] {
                     return native().Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op,
                                                          comm);
                   });
}

int TUTTI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm) {
  CollectiveCall call =
      call_of(Collective::reduce, {sendbuf, recvbuf, RankBlocks(count), datatype, op}, root, comm);
  return reduction(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Reduce_c, call, sendbuf, recvbuf, count, datatype,
                                   op, root, comm);
  });
}

int TUTTI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm) {
  CollectiveCall call =
      call_of(Collective::allreduce, {sendbuf, recvbuf, RankBlocks(count), datatype, op}, 0, comm);
  return reduction(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Allreduce_c, call, sendbuf, recvbuf, count,
                                   datatype, op, comm);
  });
}

int TUTTI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  CollectiveCall call =
      call_of(Collective::reduce_scatter,
              {sendbuf, recvbuf, RankBlocks::counted(recvcounts), datatype, op}, 0, comm);
  return reduction(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Reduce_scatter_c, call, sendbuf, recvbuf,
                                   recvcounts, datatype, op, comm);
  });
}

int TUTTI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  CollectiveCall call = call_of(Collective::reduce_scatter_block,
                                {sendbuf, recvbuf, RankBlocks(recvcount), datatype, op}, 0, comm);
  return reduction(call, [&] {
    return tutti::run_native_large(&MpiFunctions::Reduce_scatter_block_c, call, sendbuf, recvbuf,
                                   recvcount, datatype, op, comm);
  });
}
