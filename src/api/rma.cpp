/// TUTTI_Rma_*: windows, requests, and the root's selection of an algorithm.
#include "api/rma.hpp"

#include <tutti/tutti.h>

#include <algorithm>
#include <limits>
#include <map>

#include "algorithms/staging.hpp"
#include "api/entry.hpp"
#include "api/report.hpp"
#include "run/call/mpi_call.hpp"
#include "run/clock.hpp"
#include "run/process.hpp"
#include "run/transport/mpi_transport.hpp"

namespace tutti {

namespace {

struct Request {
  std::shared_ptr<RmaOutcome> outcome;
  std::shared_ptr<RmaComm> owner;
  std::vector<std::byte> packed = {};  ///< for data with gaps
  Region unpacked = {};                ///< final destination; no elements: none
  std::string decision = {};           ///< "algorithm: why"
  bool is_reported = false;
  CallRecord record = {};
};

struct RmaState {
  /// Never held while calling the MPI, whose callbacks may come here while it keeps other threads
  /// out.
  std::mutex mutex;
  /// By id, which is the same sequence on all ranks, whatever that of their threads was.
  std::vector<std::shared_ptr<RmaComm>> opened;
  std::map<int, Request> requests;
  int last_request = 0;
  std::string progress;  ///< as measured at the first start
  /// For reports: each root counts its operations as on a communicator of its own.
  std::uint64_t id = new_communicator_id();
  std::map<Collective, std::uint64_t> calls;
};

/// The first one of which `is_it` is true; null if there is none.
template <class Is>
std::shared_ptr<RmaComm> find_opened(Is is_it) {
  RmaState& all = of_process<RmaState>();
  std::unique_lock lock(all.mutex);
  const auto every = all.opened;
  lock.unlock();
  const auto found = std::ranges::find_if(every, [&](const auto& one) { return is_it(*one); });
  return found != every.end() ? *found : nullptr;
}

std::shared_ptr<RmaComm> opened_on(MPI_Comm comm) {
  return find_opened([&](const RmaComm& one) { return one.comm() == comm; });
}

/// Runs a function with the system that a window is registered for; an error reaches the handler of
/// its communicator.
template <class Function>
int on_window(TUTTI_Window window, Function function) {
  std::shared_ptr<RmaComm> owner;
  const int error = contained([&]() -> int {
    owner = find_opened([&](const RmaComm& one) { return one.system().has_window(window); });
    return owner == nullptr ? MPI_ERR_WIN : function(owner);
  });
  return owner == nullptr ? error : raise_if(owner->comm(), error);
}

/// Sets `bytes` to the bytes of one vector or block, of which the buffer holds `blocks`. Sets
/// `packed` if the data have gaps or are on a GPU. Returns an MPI error code.
int pack(Collective collective, const CallSide& side, int blocks, RmaSystem& system, Bytes& bytes,
         Request& made) {
  const MPI_Count count = side.blocks.count(0);
  if (count < 0) return MPI_ERR_COUNT;
  TypeCache types;
  const TypeInfo type = info_at(side.address, types.of(side.type, system.comm()));
  if (!type.valid) return MPI_ERR_TYPE;
  bytes = type.size * count;
  // A derived datatype may hold addresses, with MPI_BOTTOM, which is null.
  const bool is_nowhere = side.address == MPI_IN_PLACE || (side.address == nullptr && type.named);
  if (bytes > 0 && is_nowhere) return MPI_ERR_BUFFER;
  if (type.contiguous || bytes == 0) return MPI_SUCCESS;
  if (collective == Collective::rma_reduce) return MPI_ERR_TYPE;
  if (bytes * blocks > std::numeric_limits<int>::max()) return MPI_ERR_COUNT;
  made.packed.resize(static_cast<std::size_t>(bytes * blocks));
  const Region all = {side.address, count * blocks, handle_bits(side.type)};
  if (flows_to_root(collective)) {
    made.unpacked = all;
    return MPI_SUCCESS;
  }
  return tutti::pack(all, made.packed.data(), system.comm());
}

/// MPI_ERR_OP unless the operation is predefined, commutes, and is defined for that type.
int check(MPI_Op op, MPI_Datatype datatype, const RmaSystem& system, std::int64_t& combination) {
  combination = combination_of(op, datatype);
  if (combination == 0) return MPI_ERR_OP;
  // Reduces no elements: the MPI checks the arguments and waits for no rank.
  std::int64_t in = 0;
  std::int64_t out = 0;
  return mpi().Reduce(&in, &out, 0, datatype, op, system.rank(), system.comm());
}

TUTTI_Rma_request keep(Request made, MPI_Comm comm, Collective collective, const Choice& choice) {
  made.decision = to_text(choice.setting) + ": " + choice.reason;
  Communicator* const communicator = Communicator::known(comm);
  made.is_reported = communicator != nullptr && communicator->is_reported();
  // May wait for Python's lock, whose holder may wait for the mutex.
  if (made.is_reported) made.record.site = program_site(made.record.site);
  RmaState& all = of_process<RmaState>();
  const std::lock_guard lock(all.mutex);
  if (communicator != nullptr) communicator->note_algorithm(collective, made.decision);
  made.record.collective = collective;
  made.record.communicator = all.id;
  made.record.call = all.calls[collective]++;
  do {
    all.last_request = all.last_request % std::numeric_limits<int>::max() + 1;
  } while (all.requests.contains(all.last_request));
  all.requests[all.last_request] = std::move(made);
  return all.last_request;
}

int begin(Collective collective, const CallSide& side, MPI_Op op, MPI_Aint displacement,
          const std::shared_ptr<RmaComm>& owner, TUTTI_Window window, TUTTI_Rma_request* request,
          const void* site) {
  RmaSystem& system = owner->system();
  Request made{std::make_shared<RmaOutcome>(), owner};
  made.record.site = site;
  made.record.arrival = monotonic_seconds();
  RmaControlMessage call;
  call.window = window;
  call.region.displacement = displacement;
  const int blocks = block_kind(collective) == BlockKind::ranks ? system.p() : 1;
  int error = pack(collective, side, blocks, system, call.region.bytes, made);
  if (error == MPI_SUCCESS && collective == Collective::rma_reduce) {
    error = check(op, side.type, system, call.combination);
  }
  if (error != MPI_SUCCESS) return error;
  made.record.own = made.record.total = made.record.largest = call.region.bytes * blocks;
  Choice choice = owner->choose(collective, call.region.bytes);
  Specification& by = choice.setting.specification;
  by = within(by, system.p(), call.region.bytes * blocks, environment().memory);
  call.set(by);
  auto* const users =
      made.packed.empty() ? static_cast<std::byte*>(side.address) : made.packed.data();
  const auto outcome = made.outcome;
  std::vector<Rank> order = owner->order_for(by, call.region.bytes);
  // Kept first: a begun operation needs its memory.
  const TUTTI_Rma_request kept = keep(std::move(made), owner->comm(), collective, choice);
  try {
    error = system.begin(call, std::move(order), users, outcome);
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  }
  if (error == MPI_SUCCESS) {
    *request = kept;
    return MPI_SUCCESS;
  }
  // After an error that stays the MPI may still use its memory.
  if (system.go_on() != MPI_SUCCESS) return error;
  RmaState& all = of_process<RmaState>();
  const std::lock_guard lock(all.mutex);
  all.requests.erase(kept);
  return error;
}

/// Begins an operation, for all entry points that do so. `site`: their return address.
int begin(Collective collective, const CallSide& side, MPI_Op op, MPI_Aint displacement,
          TUTTI_Window window, TUTTI_Rma_request* request, const void* site) {
  if (request == nullptr) return MPI_ERR_REQUEST;
  *request = TUTTI_RMA_REQUEST_NULL;
  return on_window(window, [&](const auto& owner) {
    return begin(collective, side, op, displacement, owner, window, request, site);
  });
}

/// The request of this number; null if there is none.
Request* request_of(TUTTI_Rma_request number) {
  RmaState& all = of_process<RmaState>();
  const std::lock_guard lock(all.mutex);
  const auto found = all.requests.find(number);
  return found == all.requests.end() ? nullptr : &found->second;
}

/// Ends and removes a completed request. Returns an MPI error code.
int forget(TUTTI_Rma_request* request) {
  RmaState& all = of_process<RmaState>();
  std::unique_lock lock(all.mutex);
  Request over = std::move(all.requests.extract(*request).mapped());
  lock.unlock();
  int error = over.outcome->error;
  if (error == MPI_SUCCESS && over.unpacked.count > 0) {
    error = unpack(over.packed.data(), over.unpacked, mpi().comm_self);
  }
  if (over.is_reported) {
    over.record.decision = &over.decision;
    over.record.exit = monotonic_seconds();
    record_call(over.record);
  }
  *request = TUTTI_RMA_REQUEST_NULL;
  return error;
}

/// Completes an operation if it is over, or `waits` for its end. Sets `over` to whether it is.
int complete(TUTTI_Rma_request* request, bool waits, bool& over) {
  over = request != nullptr && *request == TUTTI_RMA_REQUEST_NULL;
  if (over) return MPI_SUCCESS;
  const Request* known = request == nullptr ? nullptr : request_of(*request);
  if (known == nullptr) return MPI_ERR_REQUEST;
  const std::shared_ptr<RmaComm> owner = known->owner;
  RmaSystem& system = owner->system();
  const auto is_over = [&] { return known->outcome->is_over.load(); };
  const int error = contained([&] {
    const int waited = waits ? system.wait(is_over) : is_over() ? MPI_SUCCESS : system.go_on();
    over = waited == MPI_SUCCESS && is_over();
    return over ? forget(request) : waited;
  });
  return raise_if(owner->comm(), error);
}

int open(MPI_Comm comm) {
  Communicator* communicator = nullptr;
  // Makes the communicator known, so that the end of MPI is watched.
  int error = Communicator::intra(comm, communicator);
  if (error != MPI_SUCCESS) return error;
  std::shared_ptr<RmaComm> opened;
  error = RmaComm::open(*communicator, opened);
  if (error != MPI_SUCCESS) return error;
  RmaState& all = of_process<RmaState>();
  const std::lock_guard lock(all.mutex);
  if (opened->system().p() > 1 && all.progress.empty()) {
    all.progress = opened->system().progresses()
                       ? "the MPI completes puts while their target computes"
                       : "puts wait until Tutti's thread polls at their target";
  }
  const auto after = std::ranges::upper_bound(all.opened, opened->id(), {},
                                              [](const auto& one) { return one->id(); });
  all.opened.insert(after, std::move(opened));
  return MPI_SUCCESS;
}

int close(MPI_Comm comm) {
  const auto opened = opened_on(comm);
  if (opened == nullptr) return MPI_ERR_COMM;
  const int error = opened->system().close();
  RmaState& all = of_process<RmaState>();
  const std::lock_guard lock(all.mutex);
  std::erase(all.opened, opened);
  opened->forget_comm();
  return error;
}

/// MPI_ERR_ROOT unless there is such a rank.
int check(Rank root, const RmaSystem& system) {
  return root < 0 || root >= system.p() ? MPI_ERR_ROOT : MPI_SUCCESS;
}

}  // namespace

std::string progress_of_rma() {
  RmaState& all = of_process<RmaState>();
  const std::lock_guard lock(all.mutex);
  return all.progress;
}

std::shared_ptr<RmaComm> owner_of_handle(MPI_Win handle, int& number) {
  return find_opened([&](const RmaComm& one) {
    number = one.system().number_of(handle);
    return number >= 0;
  });
}

void close_all_rma() {
  RmaState& all = of_process<RmaState>();
  while (!all.opened.empty()) close(all.opened.front()->comm());  // removes it even after an error
}

}  // namespace tutti

using tutti::Collective;
using tutti::on_comm;
using tutti::on_window;
using tutti::RankBlocks;

int TUTTI_Rma_init(MPI_Comm comm) {
  return on_comm(
      comm, [&] { return tutti::opened_on(comm) != nullptr ? MPI_SUCCESS : tutti::open(comm); });
}

int TUTTI_Rma_finalize(MPI_Comm comm) {
  return on_comm(comm, [&] { return tutti::close(comm); });
}

int TUTTI_Rma_window_register(MPI_Win win, MPI_Comm comm, TUTTI_Window* window) {
  if (window != nullptr) *window = TUTTI_WINDOW_NULL;
  return on_comm(comm, [&]() -> int {
    if (window == nullptr) return MPI_ERR_ARG;
    const auto opened = tutti::opened_on(comm);
    if (opened == nullptr) return MPI_ERR_COMM;
    TUTTI_Window made = TUTTI_WINDOW_NULL;
    const int error = opened->system().add_window(win, tutti::watch, made);
    if (error == MPI_SUCCESS) *window = made;
    return error;
  });
}

int TUTTI_Rma_window_release(TUTTI_Window* window) {
  if (window == nullptr) return MPI_ERR_WIN;
  return on_window(*window, [&](const auto& owner) {
    const int error = owner->system().remove_window(*window);
    *window = TUTTI_WINDOW_NULL;
    return error;
  });
}

int TUTTI_Rma_bcast(const void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                    TUTTI_Window window, TUTTI_Rma_request* request) {
  return tutti::begin(Collective::rma_bcast,
                      {const_cast<void*>(buffer), RankBlocks(count), datatype}, {}, displacement,
                      window, request, __builtin_return_address(0));
}

int TUTTI_Rma_scatter(const void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                      TUTTI_Window window, TUTTI_Rma_request* request) {
  return tutti::begin(Collective::rma_scatter,
                      {const_cast<void*>(buffer), RankBlocks(count), datatype}, {}, displacement,
                      window, request, __builtin_return_address(0));
}

int TUTTI_Rma_gather(void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                     TUTTI_Window window, TUTTI_Rma_request* request) {
  return tutti::begin(Collective::rma_gather, {buffer, RankBlocks(count), datatype}, {},
                      displacement, window, request, __builtin_return_address(0));
}

int TUTTI_Rma_reduce(void* buffer, int count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Aint displacement, TUTTI_Window window, TUTTI_Rma_request* request) {
  return tutti::begin(Collective::rma_reduce, {buffer, RankBlocks(count), datatype}, op,
                      displacement, window, request, __builtin_return_address(0));
}

int TUTTI_Rma_test(TUTTI_Rma_request* request, int* flag) {
  if (flag == nullptr) return MPI_ERR_ARG;
  bool over = false;
  const int error = tutti::complete(request, false, over);
  *flag = over ? 1 : 0;
  return error;
}

int TUTTI_Rma_flush(TUTTI_Rma_request* request) {
  bool over = false;
  return tutti::complete(request, true, over);
}

int TUTTI_Rma_arrived(TUTTI_Window window, int root, long long* number) {
  return on_window(window, [&](const auto& owner) -> int {
    if (number == nullptr) return MPI_ERR_ARG;
    if (const int error = tutti::check(root, owner->system())) return error;
    std::int64_t known = 0;
    const int error = owner->system().arrived(window, root, known);
    *number = known;
    return error;
  });
}

int TUTTI_Rma_wait(TUTTI_Window window, int root, long long number) {
  return on_window(window, [&](const auto& owner) {
    int error = tutti::check(root, owner->system());
    if (error != MPI_SUCCESS) return error;
    const int stopped = owner->system().wait([&] {
      std::int64_t known = 0;
      error = owner->system().arrived(window, root, known);
      return error != MPI_SUCCESS || known >= number;
    });
    return error != MPI_SUCCESS ? error : stopped;
  });
}

int TUTTI_Rma_progress(MPI_Comm comm, int* flag) {
  return on_comm(comm, [&]() -> int {
    const auto opened = tutti::opened_on(comm);
    if (opened == nullptr) return MPI_ERR_COMM;
    if (flag == nullptr) return MPI_ERR_ARG;
    *flag = opened->system().progresses() ? 1 : 0;
    return MPI_SUCCESS;
  });
}
