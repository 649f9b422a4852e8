/// TUTTI_Allgather_shared, TUTTI_Allgatherv_shared, TUTTI_Bcast_shared and TUTTI_Shared_free.
#include <tutti/tutti.h>

#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>

#include "api/collective_call.hpp"
#include "run/level/mpi_shared.hpp"
#include "run/level/mpi_sides.hpp"

namespace tutti {

namespace {

/// A result that the program holds. It outlives its communicator.
struct Held {
  std::shared_ptr<SharedMemory> memory;
  Mapping view;
};

struct HeldResults {
  std::mutex mutex;
  std::map<void*, Held> by_address;
};

HeldResults& held_results() {
  static HeldResults* const results = new HeldResults;  // outlives every static destructor
  return *results;
}

/// One call: the block that this rank gives, and those of the result.
struct SharedCall {
  LevelCall level;
  LevelSide send;
  LevelSide::Block own = {};  ///< of a bcast's root
  Bytes bytes = 0;            ///< of the result
  int mode = TUTTI_SHARED_READ_ONLY;
};

int hold(std::shared_ptr<SharedMemory> memory, int mode, void** result) {
  Mapping view = memory->view(mode == TUTTI_COPY_ON_WRITE ? SegmentView::copy_on_write
                                                          : SegmentView::read_only);
  if (!view) {
    --memory->held();
    return MPI_ERR_NO_MEM;
  }
  *result = view.data() + page_bytes();
  HeldResults& all = held_results();
  const std::lock_guard lock(all.mutex);
  all.by_address[*result] = {std::move(memory), std::move(view)};
  return MPI_SUCCESS;
}

/// Through node memory: the first rank of each node writes the result; the others wait for it.
int fill_by_first(const SharedCall& call, LevelRunner& levels, const SharedMemory& memory) {
  SharedNode& node = levels.node();
  LevelledCall levelled;
  levelled.call = call.level;
  levelled.send = call.send;
  if (node.local() == 0) {
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
  bool refused = false;
  const int error = levels.run(levelled, refused);
  if (refused) return MPI_ERR_NO_MEM;
  return error == MPI_SUCCESS ? node.wait(0, levels.begin()) : error;
}

/// Where the arguments are bad, which is error `bad`, the others of the node are told so.
int run(SharedCall& call, Communicator& communicator, int bad, void** result) {
  int error = MPI_SUCCESS;
  LevelRunner* levels = communicator.levels(error);
  if (levels == nullptr) return error;
  std::shared_ptr<SharedMemory> memory;
  const std::optional<Bytes> wanted = bad == MPI_SUCCESS ? std::optional(call.bytes) : std::nullopt;
  error = communicator.shared_results().acquire(*levels, wanted, memory);
  if (bad != MPI_SUCCESS) return bad;
  if (error != MPI_SUCCESS) return error;
  const SharedPart own = {communicator.rank(), call.send.base, call.send.each};
  error = levels->node().nodes().in_rank_order() && call.bytes <= INT_MAX
              ? fill_in_place(*levels, call.level, own, *memory)
              : fill_by_first(call, *levels, *memory);
  if (error == MPI_SUCCESS) return hold(std::move(memory), call.mode, result);
  --memory->held();
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

/// What this rank gives: from memory of its own.
int give(const void* address, Bytes bytes, LevelSide& side) {
  if (address == MPI_IN_PLACE || (address == nullptr && bytes > 0)) return MPI_ERR_BUFFER;
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
  tutti::HeldResults& all = tutti::held_results();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_address.find(result);
  if (found == all.by_address.end()) return MPI_ERR_ARG;
  const tutti::Held held = std::move(found->second);
  all.by_address.erase(found);
  --held.memory->held();
  return MPI_SUCCESS;
}
