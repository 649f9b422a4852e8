/// Implements TUTTI_Allgather_shared, TUTTI_Allgatherv_shared, TUTTI_Bcast_shared,
/// TUTTI_Allreduce_shared, their large-count forms and TUTTI_Shared_free.
#include <tutti/tutti.h>

#include <climits>
#include <cstring>
#include <numeric>
#include <string>

#include "api/call.hpp"
#include "run/hierarchical/mpi_shared.hpp"
#include "run/hierarchical/mpi_sides.hpp"
#include "select/reductions.hpp"

namespace tutti {

namespace {

/// One call: this rank's contribution, and the blocks of the result.
struct SharedCall {
  HierarchicalProblem problem;
  HierarchicalSide send;
  MpiCall reduction;  ///< for an allreduce: to rank 0
  Bytes bytes = 0;    ///< of the result
  int mode = TUTTI_SHARED_READ_ONLY;
};

int run_by_first(const SharedCall& call, HierarchicalRunner& runner, const SharedMemory& memory,
                 std::string& refused) {
  const HierarchicalRunner::Turn turn(runner);
  HierarchicalCall hierarchical;
  hierarchical.call = call.problem;
  hierarchical.send = call.send;
  hierarchical.type = call.reduction.send.type;
  hierarchical.op = call.reduction.op;
  if (runner.node().local() == 0) hierarchical.receive.base = memory.data();
  return runner.run(hierarchical, refused);
}

/// Fills the result through node memory: the first rank of each node writes it, the others wait.
/// Sets `refused` to the reason if that is impossible, equally on all ranks.
int fill_by_first(const SharedCall& call, HierarchicalRunner& runner, const SharedMemory& memory,
                  std::string& refused) {
  int error = MPI_ERR_NO_MEM;
  try {
    error = run_by_first(call, runner, memory, refused);
  } catch (const std::bad_alloc&) {
    // The others get it like any error.
  }
  return share_outcome(runner, refused.empty() ? error : MPI_ERR_NO_MEM);
}

/// Fills the result of a bcast or allgather.
int fill_gathered(const SharedCall& call, Rank rank, HierarchicalRunner& runner,
                  const SharedMemory& memory) {
  const bool is_bcast = call.problem.collective == Collective::bcast;
  const bool is_in_order = runner.node().nodes().in_rank_order() && call.bytes <= INT_MAX;
  if (is_bcast || is_in_order) {
    return fill_in_place(runner, call.problem, {rank, call.send.base, call.send.bytes}, memory);
  }
  std::string refused;
  return fill_by_first(call, runner, memory, refused);
}

/// Reduces within nodes, then between them. Reduces at rank 0, and broadcasts to all nodes, if
/// results must be reproducible, if the operation takes whole vectors, or if node memory cannot
/// hold the call.
int fill_reduced(SharedCall& call, Communicator& communicator, HierarchicalRunner& runner,
                 const SharedMemory& memory) {
  if (!communicator.is_reproducible() && !communicator.takes_whole(call.reduction.op)) {
    std::string refused;
    const int error = fill_by_first(call, runner, memory, refused);
    if (refused.empty()) return error;
  }
  if (communicator.rank() == 0) call.reduction.receive.address = memory.data();
  call.reduction.bounded = false;
  bool is_native = false;  // only for invalid arguments, and these are valid
  const int reduced =
      run_specification(call.reduction, communicator, fixed_reduction(Collective::reduce),
                        ArrivedCall(nullptr, Collective::reduce, nullptr), is_native);
  HierarchicalProblem bcast;
  bcast.collective = Collective::bcast;
  bcast.sizes.each = call.bytes;
  const int sent = fill_in_place(runner, bcast, {}, memory);
  return reduced == MPI_SUCCESS ? sent : reduced;
}

/// Runs a call. If this rank's arguments are invalid, which is the error `bad`, the others get an
/// error too.
int run(SharedCall& call, Communicator& communicator, int bad, void** result) {
  HierarchicalRunner* runner = nullptr;
  int error = communicator.open_hierarchical(runner);
  if (runner == nullptr) return error;
  SharedRequest wanted;
  if (bad == MPI_SUCCESS) wanted.bytes = call.bytes;
  if (call.mode == TUTTI_COPY_ON_WRITE) wanted.view = SegmentView::copy_on_write;
  wanted.kept = communicator.node_settings().memory;
  SharedResult made;
  error = communicator.shared_results().acquire(*runner, wanted, made);
  if (bad != MPI_SUCCESS) return bad;
  if (error != MPI_SUCCESS) return error;
  error = call.problem.collective == Collective::allreduce
              ? fill_reduced(call, communicator, *runner, *made.memory)
              : fill_gathered(call, communicator.rank(), *runner, *made.memory);
  if (error == MPI_SUCCESS) *result = made.address.release();
  return error;
}

/// Runs the call that `build(PrivateComm&, SharedCall&)` describes, if Tutti can serve the
/// communicator.
template <class Build>
int shared(MPI_Comm comm, int mode, void** result, Build build) {
  const Inside guard;
  return guarded(comm, [&]() -> int {
    Communicator* communicator = nullptr;
    PrivateComm* own = nullptr;
    int error = Communicator::intra(comm, communicator);
    if (error == MPI_SUCCESS) error = communicator->open_private(own);
    if (own == nullptr) return raise(comm, error);
    SharedCall call;
    call.mode = mode;
    const bool known = mode == TUTTI_SHARED_READ_ONLY || mode == TUTTI_COPY_ON_WRITE;
    const int bad = known && result != nullptr ? build(*own, call) : MPI_ERR_ARG;
    return raise_if(comm, run(call, *communicator, bad, result));
  });
}

/// Sets `bytes` to the size of `count` elements of a contiguous type; an error for any other type.
int bytes_of(PrivateComm& comm, MPI_Count count, MPI_Datatype type, Bytes& bytes) {
  if (count < 0) return MPI_ERR_COUNT;
  if (type == mpi().type_null) return MPI_ERR_TYPE;
  const TypeInfo info = comm.types().of(type, comm.handle());
  if (!info.valid || !info.contiguous) return MPI_ERR_TYPE;
  bytes = count * info.size;
  return MPI_SUCCESS;
}

/// The error of a second release, created at its first use. MPI_ERR_ARG while MPI is not available.
int released_before() {
  int begun = 0;
  int ended = 0;
  mpi().Initialized(&begun);
  mpi().Finalized(&ended);
  if (begun == 0 || ended != 0) return MPI_ERR_ARG;
  // A new class, because not all MPIs have texts for new codes in existing classes.
  static const int error = []() -> int {
    int made = MPI_ERR_ARG;
    if (mpi().Add_error_class(&made) != MPI_SUCCESS) return MPI_ERR_ARG;
    mpi().Add_error_string(made, "TUTTI_Shared_free: the result has already been released");
    return made;
  }();
  return error;
}

/// Sets this rank's contribution, which must be in host memory.
int give(const void* address, Bytes bytes, HierarchicalSide& side) {
  if (address == MPI_IN_PLACE || (address == nullptr && bytes > 0)) return MPI_ERR_BUFFER;
  if (is_on_device(address)) return MPI_ERR_BUFFER;
  side.base = static_cast<std::byte*>(const_cast<void*>(address));
  side.bytes = bytes;
  return MPI_SUCCESS;
}

/// A send buffer as the program passes it.
struct Given {
  const void* address;
  MPI_Count count;
  MPI_Datatype type;
};

int allgather(const Given& send, MPI_Count count, MPI_Datatype type, MPI_Comm comm, int mode,
              void** result) {
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) -> int {
    Bytes given = 0;
    int error = bytes_of(own, send.count, send.type, given);
    if (error == MPI_SUCCESS) error = bytes_of(own, count, type, call.problem.sizes.each);
    if (error != MPI_SUCCESS) return error;
    if (given != call.problem.sizes.each) return MPI_ERR_TRUNCATE;
    call.problem.collective = Collective::allgather;
    call.bytes = given * own.p();
    return give(send.address, given, call.send);
  });
}

int allgatherv(const Given& send, const RankBlocks& counts, MPI_Datatype type, MPI_Comm comm,
               int mode, void** result) {
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) -> int {
    if (!counts.are_given()) return MPI_ERR_ARG;
    Bytes given = 0;
    int error = bytes_of(own, send.count, send.type, given);
    std::vector<Bytes>& sizes = call.problem.sizes.by_rank;
    sizes.resize(static_cast<std::size_t>(own.p()));
    for (Rank rank = 0; rank < own.p() && error == MPI_SUCCESS; ++rank) {
      error = bytes_of(own, counts.count(rank), type, sizes[static_cast<std::size_t>(rank)]);
    }
    if (error != MPI_SUCCESS) return error;
    if (given != sizes[static_cast<std::size_t>(own.rank())]) return MPI_ERR_TRUNCATE;
    call.problem.collective = Collective::allgatherv;
    call.bytes = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
    return give(send.address, given, call.send);
  });
}

int bcast(const Given& send, int root, MPI_Comm comm, int mode, void** result) {
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) -> int {
    if (root < 0 || root >= own.p()) return MPI_ERR_ROOT;
    if (const int error = bytes_of(own, send.count, send.type, call.bytes)) return error;
    call.problem.collective = Collective::bcast;
    call.problem.root = root;
    call.problem.sizes.each = call.bytes;
    return own.rank() == root ? give(send.address, call.bytes, call.send) : MPI_SUCCESS;
  });
}

int allreduce(const Given& send, MPI_Op op, MPI_Comm comm, int mode, void** result) {
  return shared(comm, mode, result, [&](PrivateComm& own, SharedCall& call) -> int {
    if (const int error = bytes_of(own, send.count, send.type, call.bytes)) return error;
    if (const int error = give(send.address, call.bytes, call.send)) return error;
    call.reduction = call_of(Collective::reduce, std::type_identity<kinds::Reduce>(), send.address,
                             static_cast<void*>(nullptr), send.count, send.type, op, 0, comm);
    if (!own.learn_types(call.reduction)) return MPI_ERR_OP;
    call.problem.collective = Collective::allreduce;
    call.problem.sizes.each = call.bytes;
    call.problem.commutative = commutes(op);
    call.problem.unit = call.reduction.send.info.extent;
    return MPI_SUCCESS;
  });
}

}  // namespace

#define TUTTI_SHARED_FUNCTIONS(form)                                                               \
  extern "C" int TUTTI_Allgather_shared##form(In sendbuf, Count sendcount, Type sendtype,          \
                                              Count recvcount, Type recvtype, Comm comm, int mode, \
                                              void** result) {                                     \
    return allgather({sendbuf, sendcount, sendtype}, recvcount, recvtype, comm, mode, result);     \
  }                                                                                                \
  extern "C" int TUTTI_Allgatherv_shared##form(In sendbuf, Count sendcount, Type sendtype,         \
                                               Counts recvcounts, Type recvtype, Comm comm,        \
                                               int mode, void** result) {                          \
    return allgatherv({sendbuf, sendcount, sendtype}, RankBlocks::counted(recvcounts), recvtype,   \
                      comm, mode, result);                                                         \
  }                                                                                                \
  extern "C" int TUTTI_Bcast_shared##form(In buffer, Count count, Type datatype, Root root,        \
                                          Comm comm, int mode, void** result) {                    \
    return bcast({buffer, count, datatype}, root, comm, mode, result);                             \
  }                                                                                                \
  extern "C" int TUTTI_Allreduce_shared##form(In sendbuf, Count count, Type datatype, Op op,       \
                                              Comm comm, int mode, void** result) {                \
    return allreduce({sendbuf, count, datatype}, op, comm, mode, result);                          \
  }

#pragma GCC visibility push(default)
namespace small {
TUTTI_SHARED_FUNCTIONS()
}  // namespace small
namespace large {
TUTTI_SHARED_FUNCTIONS(_c)
}  // namespace large
#pragma GCC visibility pop

}  // namespace tutti

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
