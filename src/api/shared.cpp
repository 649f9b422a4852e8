/// TUTTI_Allgather_shared, TUTTI_Allgatherv_shared, TUTTI_Bcast_shared, TUTTI_Allreduce_shared,
/// their large-count forms and TUTTI_Shared_free.
#include <tutti/tutti.h>

#include <climits>
#include <cstring>
#include <numeric>
#include <string>

#include "api/collective_call.hpp"
#include "run/hierarchical/mpi_shared.hpp"
#include "run/hierarchical/mpi_sides.hpp"
#include "select/reductions.hpp"

namespace tutti {

namespace {

/// One call: what this rank gives, and the blocks of the result.
struct SharedCall {
  HierarchicalProblem level;
  HierarchicalSide send;
  CollectiveCall reduction;  ///< of an allreduce: to rank 0
  Bytes bytes = 0;           ///< of the result
  int mode = TUTTI_SHARED_READ_ONLY;
};

int run_by_first(const SharedCall& call, HierarchicalRunner& levels, const SharedMemory& memory,
                 std::string& refused) {
  const HierarchicalRunner::Turn turn(levels);
  HierarchicalCall hierarchical;
  hierarchical.call = call.level;
  hierarchical.send = call.send;
  hierarchical.type = call.reduction.send.type;
  hierarchical.op = call.reduction.op;
  if (levels.node().local() == 0) {
    hierarchical.receive.base = memory.data();
    hierarchical.receive.each = call.level.sizes.each;
    std::byte* at = memory.data();
    for (const Bytes bytes : call.level.sizes.by_rank) {
      hierarchical.receive.blocks.push_back({at, bytes});
      at += bytes;
    }
  }
  return levels.run(hierarchical, refused);
}

/// Through node memory: the first rank of each node writes the result; the others wait for it.
/// Sets `refused` to the reason where that cannot be, alike on all ranks.
int fill_by_first(const SharedCall& call, HierarchicalRunner& levels, const SharedMemory& memory,
                  std::string& refused) {
  int error = MPI_ERR_NO_MEM;
  try {
    error = run_by_first(call, levels, memory, refused);
  } catch (const std::bad_alloc&) {
    // Is told to the others like any error.
  }
  return share_outcome(levels, refused.empty() ? error : MPI_ERR_NO_MEM);
}

/// What ranks give is in the result, once this is over.
int fill_gathered(const SharedCall& call, Rank rank, HierarchicalRunner& levels,
                  const SharedMemory& memory) {
  const bool is_bcast = call.level.collective == Collective::bcast;
  const bool is_in_order = levels.node().nodes().in_rank_order() && call.bytes <= INT_MAX;
  if (is_bcast || is_in_order) {
    return fill_in_place(levels, call.level, {rank, call.send.base, call.send.each}, memory);
  }
  std::string refused;
  return fill_by_first(call, levels, memory, refused);
}

/// Within nodes, then between them; where bits must be the same wherever ranks sit, where the
/// operation is to get whole vectors, and where node memory cannot take the call, at rank 0, whose
/// result goes to all nodes.
int fill_reduced(SharedCall& call, Communicator& communicator, HierarchicalRunner& levels,
                 const SharedMemory& memory) {
  if (!communicator.is_reproducible() && !communicator.takes_whole(call.reduction.op)) {
    std::string refused;
    const int error = fill_by_first(call, levels, memory, refused);
    if (refused.empty()) return error;
  }
  if (communicator.rank() == 0) call.reduction.receive.address = memory.data();
  call.reduction.bounded = false;
  bool is_native = false;  // only where arguments are bad, and these are not
  const int reduced =
      run_specification(call.reduction, communicator, fixed_reduction(Collective::reduce),
                        ArrivedCall(nullptr, Collective::reduce, nullptr), is_native);
  HierarchicalProblem bcast;
  bcast.collective = Collective::bcast;
  bcast.sizes.each = call.bytes;
  const int sent = fill_in_place(levels, bcast, {}, memory);
  return reduced == MPI_SUCCESS ? sent : reduced;
}

/// Where the arguments are bad, which is error `bad`, the others are told so.
int run(SharedCall& call, Communicator& communicator, int bad, void** result) {
  int error = MPI_SUCCESS;
  HierarchicalRunner* levels = communicator.levels(error);
  if (levels == nullptr) return error;
  SharedRequest wanted;
  if (bad == MPI_SUCCESS) wanted.bytes = call.bytes;
  if (call.mode == TUTTI_COPY_ON_WRITE) wanted.view = SegmentView::copy_on_write;
  wanted.kept = communicator.node_settings().memory;
  SharedResult made;
  error = communicator.shared_results().acquire(*levels, wanted, made);
  if (bad != MPI_SUCCESS) return bad;
  if (error != MPI_SUCCESS) return error;
  error = call.level.collective == Collective::allreduce
              ? fill_reduced(call, communicator, *levels, *made.memory)
              : fill_gathered(call, communicator.rank(), *levels, *made.memory);
  if (error == MPI_SUCCESS) *result = made.address.release();
  return error;
}

/// Calls `build(PrivateComm&, SharedCall&)` where the communicator is one that Tutti can serve.
template <class Build>
int shared(MPI_Comm comm, int mode, void** result, Build build) {
  const Inside guard;
  return guarded(comm, [&]() -> int {
    int error = MPI_SUCCESS;
    Communicator* communicator = Communicator::of(comm, error);
    if (communicator == nullptr) return raise(comm, error);
    if (communicator->is_inter()) return raise(comm, MPI_ERR_COMM);
    PrivateComm* own = communicator->private_comm(error);
    if (own == nullptr) return raise(comm, error);
    SharedCall call;
    call.mode = mode;
    const bool known = mode == TUTTI_SHARED_READ_ONLY || mode == TUTTI_COPY_ON_WRITE;
    const int bad = known && result != nullptr ? build(*own, call) : MPI_ERR_ARG;
    return raise_if(comm, run(call, *communicator, bad, result));
  });
}

/// Bytes of so many elements of a type without gaps; an error for any other.
int bytes_of(PrivateComm& comm, MPI_Count count, MPI_Datatype type, Bytes& bytes) {
  if (count < 0) return MPI_ERR_COUNT;
  if (type == mpi().type_null) return MPI_ERR_TYPE;
  const TypeInfo info = comm.types().of(type, comm.handle());
  if (!info.valid || !info.contiguous) return MPI_ERR_TYPE;
  bytes = count * info.size;
  return MPI_SUCCESS;
}

/// The error of a second release, made at the first one. MPI_ERR_ARG while there is no MPI.
int released_before() {
  int begun = 0;
  int ended = 0;
  mpi().Initialized(&begun);
  mpi().Finalized(&ended);
  if (begun == 0 || ended != 0) return MPI_ERR_ARG;
  // A class of its own, as not all MPIs have texts for further codes of theirs.
  static const int error = [] {
    int made = MPI_ERR_ARG;
    if (mpi().Add_error_class(&made) != MPI_SUCCESS) return MPI_ERR_ARG;
    mpi().Add_error_string(made, "TUTTI_Shared_free: the result has been released before");
    return made;
  }();
  return error;
}

/// What this rank gives: from memory of its own.
int give(const void* address, Bytes bytes, HierarchicalSide& side) {
  if (address == MPI_IN_PLACE || (address == nullptr && bytes > 0)) return MPI_ERR_BUFFER;
  if (is_on_device(address)) return MPI_ERR_BUFFER;
  side.base = static_cast<std::byte*>(const_cast<void*>(address));
  side.each = bytes;
  return MPI_SUCCESS;
}

/// A side of a call as the program gives it.
struct Given {
  const void* address;
  MPI_Count count;
  MPI_Datatype type;
};

int allgather(const Given& send, MPI_Count count, MPI_Datatype type, MPI_Comm comm, int mode,
              void** result) {
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) {
    Bytes given = 0;
    int error = bytes_of(own, send.count, send.type, given);
    if (error == MPI_SUCCESS) error = bytes_of(own, count, type, call.level.sizes.each);
    if (error != MPI_SUCCESS) return error;
    if (given != call.level.sizes.each) return MPI_ERR_TRUNCATE;
    call.level.collective = Collective::allgather;
    call.bytes = given * own.p();
    return give(send.address, given, call.send);
  });
}

int allgatherv(const Given& send, const RankBlocks& counts, MPI_Datatype type, MPI_Comm comm,
               int mode, void** result) {
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) {
    if (!counts.are_given()) return MPI_ERR_ARG;
    Bytes given = 0;
    int error = bytes_of(own, send.count, send.type, given);
    std::vector<Bytes>& sizes = call.level.sizes.by_rank;
    sizes.resize(static_cast<std::size_t>(own.p()));
    for (Rank rank = 0; rank < own.p() && error == MPI_SUCCESS; ++rank) {
      error = bytes_of(own, counts.count(rank), type, sizes[static_cast<std::size_t>(rank)]);
    }
    if (error != MPI_SUCCESS) return error;
    if (given != sizes[static_cast<std::size_t>(own.rank())]) return MPI_ERR_TRUNCATE;
    call.level.collective = Collective::allgatherv;
    call.bytes = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
    return give(send.address, given, call.send);
  });
}

int bcast(const Given& send, int root, MPI_Comm comm, int mode, void** result) {
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) {
    if (root < 0 || root >= own.p()) return MPI_ERR_ROOT;
    if (const int error = bytes_of(own, send.count, send.type, call.bytes)) return error;
    call.level.collective = Collective::bcast;
    call.level.root = root;
    call.level.sizes.each = call.bytes;
    return own.rank() == root ? give(send.address, call.bytes, call.send) : MPI_SUCCESS;
  });
}

int allreduce(const Given& send, MPI_Op op, MPI_Comm comm, int mode, void** result) {
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) {
    if (const int error = bytes_of(own, send.count, send.type, call.bytes)) return error;
    if (const int error = give(send.address, call.bytes, call.send)) return error;
    const RankBlocks count(send.count);
    call.reduction = {Collective::reduce,
                      0,
                      comm,
                      side(send.address, count, send.type),
                      side(nullptr, count, send.type),
                      op};
    if (!own.collectives().learn_types(call.reduction)) return MPI_ERR_OP;
    call.level.collective = Collective::allreduce;
    call.level.sizes.each = call.bytes;
    call.level.commutative = commutes(op);
    call.level.unit = call.reduction.send.info.extent;
    return MPI_SUCCESS;
  });
}

}  // namespace

}  // namespace tutti

int TUTTI_Allgather_shared(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, int mode, void** result) {
  return tutti::allgather({sendbuf, sendcount, sendtype}, recvcount, recvtype, comm, mode, result);
}

int TUTTI_Allgatherv_shared(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            const int recvcounts[], MPI_Datatype recvtype, MPI_Comm comm, int mode,
                            void** result) {
  return tutti::allgatherv({sendbuf, sendcount, sendtype}, tutti::RankBlocks::counted(recvcounts),
                           recvtype, comm, mode, result);
}

int TUTTI_Bcast_shared(const void* buffer, int count, MPI_Datatype datatype, int root,
                       MPI_Comm comm, int mode, void** result) {
  return tutti::bcast({buffer, count, datatype}, root, comm, mode, result);
}

int TUTTI_Allreduce_shared(const void* sendbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm, int mode, void** result) {
  return tutti::allreduce({sendbuf, count, datatype}, op, comm, mode, result);
}

int TUTTI_Allgather_shared_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, int mode,
                             void** result) {
  return tutti::allgather({sendbuf, sendcount, sendtype}, recvcount, recvtype, comm, mode, result);
}

int TUTTI_Allgatherv_shared_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              const MPI_Count recvcounts[], MPI_Datatype recvtype, MPI_Comm comm,
                              int mode, void** result) {
  return tutti::allgatherv({sendbuf, sendcount, sendtype}, tutti::RankBlocks::counted(recvcounts),
                           recvtype, comm, mode, result);
}

int TUTTI_Bcast_shared_c(const void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                         MPI_Comm comm, int mode, void** result) {
  return tutti::bcast({buffer, count, datatype}, root, comm, mode, result);
}

int TUTTI_Allreduce_shared_c(const void* sendbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm, int mode, void** result) {
  return tutti::allreduce({sendbuf, count, datatype}, op, comm, mode, result);
}

int TUTTI_Shared_free(void* result) {
  using namespace tutti;
  switch (HeldResults::all().release(result)) {
    case HeldResults::Released::now:
      return MPI_SUCCESS;
    case HeldResults::Released::before:
      return released_before();
    case HeldResults::Released::unknown:
      break;
  }
  return MPI_ERR_ARG;
}
