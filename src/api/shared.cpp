/// Implements TUTTI_Allgather_shared, TUTTI_Allgatherv_shared, TUTTI_Bcast_shared,
/// TUTTI_Allreduce_shared, their large-count forms and TUTTI_Shared_free.
#include <tutti/tutti.h>

#include <climits>
#include <string>

#include "api/call.hpp"
#include "run/hierarchical/mpi_shared.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

/// One call, and the blocks of its result.
struct SharedCall {
  MpiCall call;  ///< an allgather or allgatherv without a receive buffer, a bcast or an allreduce
  HierarchicalCall hierarchical = {};  ///< the same; send: this rank's contribution
  ResultParts parts = {};
  Bytes bytes = 0;  ///< of the result
};

/// Fills the result through node memory: the first rank of each node writes it, the others wait.
/// Sets `refused` to the reason if that is impossible, equally on all ranks.
int fill_by_first(SharedCall& shared, HierarchicalRunner& runner, const SharedMemory& memory,
                  std::string& refused) {
  if (runner.node().local() == 0) shared.hierarchical.receive.base = memory.data();
  const int error = runner.run(shared.hierarchical, refused);
  return share_outcome(runner, refused.empty() ? error : MPI_ERR_NO_MEM);
}

/// Fills the result of a bcast or allgather.
int fill_gathered(SharedCall& shared, HierarchicalRunner& runner, const SharedMemory& memory) {
  const bool is_bcast = shared.call.collective == Collective::bcast;
  const bool is_in_order = runner.node().nodes().in_rank_order() && shared.bytes <= INT_MAX;
  if (is_bcast || is_in_order) {
    return fill_in_place(runner, shared.hierarchical.call, shared.parts, shared.hierarchical.send,
                         memory);
  }
  std::string refused;
  return fill_by_first(shared, runner, memory, refused);
}

/// Reduces within nodes, then between them. Reduces at rank 0, and broadcasts to all nodes, if
/// results must be reproducible, if the operation takes whole vectors, or if node memory cannot
/// hold the call.
int fill_reduced(SharedCall& shared, Communicator& communicator, HierarchicalRunner& runner,
                 const SharedMemory& memory) {
  if (!communicator.is_reproducible() && !communicator.takes_whole(shared.call.op)) {
    std::string refused;
    const int error = fill_by_first(shared, runner, memory, refused);
    if (refused.empty()) return error;
  }
  MpiCall reduction = shared.call;
  reduction.collective = Collective::reduce;
  if (communicator.rank() == 0) reduction.receive.address = memory.data();
  reduction.bounded = false;
  bool is_native = false;  // only for invalid arguments, and these are valid
  // The others wait for this rank in the bcast.
  const int reduced = contained([&] {
    const Specification fixed = *specification_for(Collective::reduce, "fixed");
    return run_specification(reduction, communicator, fixed, nullptr, is_native);
  });
  HierarchicalProblem bcast;
  bcast.collective = Collective::bcast;
  bcast.sizes.each = shared.bytes;
  const int sent = fill_in_place(runner, bcast, {}, {}, memory);
  return reduced == MPI_SUCCESS ? sent : reduced;
}

/// Reads the arguments of a call. Returns the error of this rank's, which must be contiguous and in
/// host memory.
int read(SharedCall& shared, Communicator& communicator) {
  MpiCall& call = shared.call;
  const Rank rank = communicator.rank();
  if (const int fault = fault_of(call, communicator)) return fault;
  const bool is_bcast = call.collective == Collective::bcast;
  CallSide& given = is_bcast ? call.receive : call.send;
  if (is_bcast && rank != call.root) given.address = nullptr;
  if (given.address == MPI_IN_PLACE || is_on_device(given.address)) return MPI_ERR_BUFFER;
  const bool known = communicator.private_comm().learn_types(call);
  if (!known && reduces(call.collective) && call.receive.info.valid) return MPI_ERR_OP;
  if (!known || !given.info.contiguous || !call.receive.info.contiguous) return MPI_ERR_TYPE;
  shared.hierarchical.type = call.receive.type;
  shared.hierarchical.op = call.op;
  HierarchicalProblem& problem = shared.hierarchical.call;
  problem.collective = call.collective;
  problem.root = call.root;
  find_sizes(call, rank, communicator.p(), problem.sizes);
  const bool is_vector = block_kind(call.collective) == BlockKind::parts;
  shared.bytes = problem.sizes.total(is_vector ? 1 : communicator.p());
  shared.parts = parts_of(problem, communicator.hierarchical().node().nodes(), rank);
  if (reduces(call.collective)) {
    problem.commutative = commutes(call.op);
    problem.unit = call.receive.info.extent;
  }
  if (is_bcast && rank != call.root) return MPI_SUCCESS;
  HierarchicalSide& send = shared.hierarchical.send;
  send.base = static_cast<std::byte*>(given.address);
  send.bytes = given.bytes(0);
  if (send.bytes != problem.sizes.of(rank)) return MPI_ERR_TRUNCATE;
  return given.address == nullptr && send.bytes > 0 ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

/// Runs a call, if Tutti can serve the communicator. If this rank's arguments are invalid, the
/// others get an error too.
int run(SharedCall& shared, Communicator& communicator, int mode, void** result) {
  if (const int error = communicator.open_hierarchical()) return error;
  const bool known = mode == TUTTI_SHARED_READ_ONLY || mode == TUTTI_COPY_ON_WRITE;
  const int bad = contained(
      [&] { return known && result != nullptr ? read(shared, communicator) : MPI_ERR_ARG; });
  HierarchicalRunner& runner = communicator.hierarchical();
  SharedRequest wanted;
  if (bad == MPI_SUCCESS) wanted.bytes = shared.bytes;
  if (mode == TUTTI_COPY_ON_WRITE) wanted.view = SegmentView::copy_on_write;
  wanted.kept = communicator.node_settings().memory;
  SharedResult made;
  int error = communicator.shared_results().acquire(runner, wanted, made);
  if (bad != MPI_SUCCESS) return bad;
  if (error != MPI_SUCCESS) return error;
  error = reduces(shared.call.collective) ? fill_reduced(shared, communicator, runner, *made.memory)
                                          : fill_gathered(shared, runner, *made.memory);
  if (error == MPI_SUCCESS) *result = made.address.release();
  return error;
}

int run(const MpiCall& call, int mode, void** result) {
  const Inside guard;
  if (result != nullptr) *result = nullptr;
  return on_comm(call.comm, [&] {
    Communicator* communicator = nullptr;
    const int error = Communicator::intra(call.comm, communicator);
    SharedCall shared{call};
    return error == MPI_SUCCESS ? run(shared, *communicator, mode, result) : error;
  });
}

/// The error of a second release, created at its first use. MPI_ERR_ARG while MPI is not available.
int released_before() {
  int ended = 0;
  mpi().Finalized(&ended);
  if (!has_world() || ended != 0) return MPI_ERR_ARG;
  // A new class, because not all MPIs have texts for new codes in existing classes.
  static const int error = []() -> int {
    int made = MPI_ERR_ARG;
    if (mpi().Add_error_class(&made) != MPI_SUCCESS) return MPI_ERR_ARG;
    mpi().Add_error_string(made, "TUTTI_Shared_free: the result has already been released");
    return made;
  }();
  return error;
}

/// The program passes no buffer for the result.
void* const no_buffer = nullptr;
/// The parameters of an allgatherv without displacements.
using PackedAllgatherv = void(kinds::In, kinds::Count, kinds::Type, kinds::Out, kinds::Counts,
                              kinds::Type, kinds::Comm);

}  // namespace

#define TUTTI_SHARED_FUNCTIONS(form)                                                               \
  extern "C" int TUTTI_Allgather_shared##form(In sendbuf, Count sendcount, Type sendtype,          \
                                              Count recvcount, Type recvtype, Comm comm, int mode, \
                                              void** result) {                                     \
    return run(call_of(Collective::allgather, std::type_identity<kinds::Allgather>(), sendbuf,     \
                       sendcount, sendtype, no_buffer, recvcount, recvtype, comm),                 \
               mode, result);                                                                      \
  }                                                                                                \
  extern "C" int TUTTI_Allgatherv_shared##form(In sendbuf, Count sendcount, Type sendtype,         \
                                               Counts recvcounts, Type recvtype, Comm comm,        \
                                               int mode, void** result) {                          \
    return run(call_of(Collective::allgatherv, std::type_identity<PackedAllgatherv>(), sendbuf,    \
                       sendcount, sendtype, no_buffer, recvcounts, recvtype, comm),                \
               mode, result);                                                                      \
  }                                                                                                \
  extern "C" int TUTTI_Bcast_shared##form(In buffer, Count count, Type datatype, Root root,        \
                                          Comm comm, int mode, void** result) {                    \
    return run(call_of(Collective::bcast, std::type_identity<kinds::Bcast>(),                      \
                       const_cast<void*>(buffer), count, datatype, root, comm),                    \
               mode, result);                                                                      \
  }                                                                                                \
  extern "C" int TUTTI_Allreduce_shared##form(In sendbuf, Count count, Type datatype, Op op,       \
                                              Comm comm, int mode, void** result) {                \
    return run(call_of(Collective::allreduce, std::type_identity<kinds::Allreduce>(), sendbuf,     \
                       no_buffer, count, datatype, op, comm),                                      \
               mode, result);                                                                      \
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
  switch (of_process<HeldResults>().release(result)) {
    case HeldResults::Released::now:
      return MPI_SUCCESS;
    case HeldResults::Released::before:
      return released_before();
    case HeldResults::Released::unknown:
      break;
  }
  return MPI_ERR_ARG;
}
