/// TUTTI_Allgather_shared, TUTTI_Allgatherv_shared, TUTTI_Bcast_shared and TUTTI_Shared_free.
#include <tutti/tutti.h>

#include <climits>
#include <cstring>
#include <numeric>

#include "api/collective_call.hpp"
#include "run/level/mpi_shared.hpp"
#include "run/level/mpi_sides.hpp"

namespace tutti {

namespace {

/// One call: the block that this rank gives, and those of the result.
struct SharedCall {
  LevelCall level;
  LevelSide send;
  LevelSide::Block own = {};  ///< of a bcast's root
  Bytes bytes = 0;            ///< of the result
  int mode = TUTTI_SHARED_READ_ONLY;
};

int run_by_first(const SharedCall& call, LevelRunner& levels, const SharedMemory& memory,
                 std::string& refused) {
  const LevelRunner::Turn turn(levels);
  LevelledCall levelled;
  levelled.call = call.level;
  levelled.send = call.send;
  if (levels.node().local() == 0) {
    levelled.receive.base = memory.data();
    levelled.receive.each = call.level.sizes.each;
    std::byte* at = memory.data();
    for (const Bytes bytes : call.level.sizes.by_rank) {
      levelled.receive.blocks.push_back({at, bytes});
      at += bytes;
    }
    if (call.own.address != nullptr) {
      std::memcpy(at, call.own.address, static_cast<std::size_t>(call.own.bytes));
    }
  }
  return levels.run(levelled, refused);
}

/// Through node memory: the first rank of each node writes the result; the others wait for it.
int fill_by_first(const SharedCall& call, LevelRunner& levels, const SharedMemory& memory) {
  std::string refused;
  int error = MPI_ERR_NO_MEM;
  try {
    error = run_by_first(call, levels, memory, refused);
  } catch (const std::bad_alloc&) {
    // Is told to the others like any error.
  }
  return share_outcome(levels, refused.empty() ? error : MPI_ERR_NO_MEM);
}

/// Where the arguments are bad, which is error `bad`, the others are told so.
int run(SharedCall& call, Communicator& communicator, int bad, void** result) {
  int error = MPI_SUCCESS;
  LevelRunner* levels = communicator.levels(error);
  if (levels == nullptr) return error;
  SharedRequest wanted;
  if (bad == MPI_SUCCESS) wanted.bytes = call.bytes;
  if (call.mode == TUTTI_COPY_ON_WRITE) wanted.view = SegmentView::copy_on_write;
  wanted.kept = communicator.node_settings().memory;
  SharedResult made;
  error = communicator.shared_results().acquire(*levels, wanted, made);
  if (bad != MPI_SUCCESS) return bad;
  if (error != MPI_SUCCESS) return error;
  const SharedPart own = {communicator.rank(), call.send.base, call.send.each};
  error = levels->node().nodes().in_rank_order() && call.bytes <= INT_MAX
              ? fill_in_place(*levels, call.level, own, *made.memory)
              : fill_by_first(call, *levels, *made.memory);
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
  if (!info.valid || !info.dense) return MPI_ERR_TYPE;
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
int give(const void* address, Bytes bytes, LevelSide& side) {
  if (address == MPI_IN_PLACE || (address == nullptr && bytes > 0)) return MPI_ERR_BUFFER;
  if (is_on_device(address)) return MPI_ERR_BUFFER;
  side.base = static_cast<std::byte*>(const_cast<void*>(address));
  side.each = bytes;
  return MPI_SUCCESS;
}

}  // namespace

}  // namespace tutti

int TUTTI_Allgather_shared(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, int mode, void** result) {
  using namespace tutti;
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) {
    Bytes given = 0;
    int error = bytes_of(own, sendcount, sendtype, given);
    if (error == MPI_SUCCESS) error = bytes_of(own, recvcount, recvtype, call.level.sizes.each);
    if (error != MPI_SUCCESS) return error;
    if (given != call.level.sizes.each) return MPI_ERR_TRUNCATE;
    call.level.collective = Collective::allgather;
    call.bytes = given * own.p();
    return give(sendbuf, given, call.send);
  });
}

int TUTTI_Allgatherv_shared(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            const int recvcounts[], MPI_Datatype recvtype, MPI_Comm comm, int mode,
                            void** result) {
  using namespace tutti;
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) {
    if (recvcounts == nullptr) return MPI_ERR_ARG;
    Bytes given = 0;
    int error = bytes_of(own, sendcount, sendtype, given);
    std::vector<Bytes>& sizes = call.level.sizes.by_rank;
    sizes.resize(static_cast<std::size_t>(own.p()));
    for (Rank rank = 0; rank < own.p() && error == MPI_SUCCESS; ++rank) {
      error = bytes_of(own, recvcounts[rank], recvtype, sizes[static_cast<std::size_t>(rank)]);
    }
    if (error != MPI_SUCCESS) return error;
    if (given != sizes[static_cast<std::size_t>(own.rank())]) return MPI_ERR_TRUNCATE;
    call.level.collective = Collective::allgatherv;
    call.bytes = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
    return give(sendbuf, given, call.send);
  });
}

int TUTTI_Bcast_shared(const void* buffer, int count, MPI_Datatype datatype, int root,
                       MPI_Comm comm, int mode, void** result) {
  using namespace tutti;
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) {
    if (root < 0 || root >= own.p()) return MPI_ERR_ROOT;
    if (const int error = bytes_of(own, count, datatype, call.bytes)) return error;
    call.level.collective = Collective::bcast;
    call.level.root = root;
    call.level.sizes.each = call.bytes;
    if (own.rank() != root) return MPI_SUCCESS;
    const int error = give(buffer, call.bytes, call.send);
    call.own = {call.send.base, call.bytes};
    return error;
  });
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
