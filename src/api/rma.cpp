/// TUTTI_Rma_*: windows, requests, and the choice that the root makes.
#include "api/rma.hpp"

#include <tutti/tutti.h>

#include <bit>
#include <limits>
#include <map>
#include <tuple>

#include "api/entry.hpp"
#include "choose/one_sided.hpp"
#include "run/mpi_rma.hpp"
#include "run/mpi_types.hpp"

namespace tutti {

namespace {

struct Request {
  std::shared_ptr<RmaOutcome> outcome;
  std::shared_ptr<RmaSystem> system;
  std::vector<std::byte> packed;  ///< of data with gaps
};

/// A communicator with one-sided collectives.
struct Opened {
  MPI_Comm comm;
  std::shared_ptr<RmaSystem> system;
};

struct Everything {
  std::mutex mutex;
  std::vector<Opened> opened;
  std::map<int, Request> requests;
  int last_request = 0;
  std::map<std::tuple<int, int>, Choice> choices;  ///< by ranks and bits of bytes
};

Everything& everything() {
  static auto* all = new Everything;  // outlives every static destructor
  return *all;
}

std::shared_ptr<RmaSystem> system_of(MPI_Comm comm) {
  Everything& all = everything();
  const std::lock_guard lock(all.mutex);
  for (const Opened& opened : all.opened) {
    if (opened.comm == comm) return opened.system;
  }
  return nullptr;
}

/// The one that a window was given to, and the program's communicator.
Opened owner_of(TUTTI_Window window) {
  Everything& all = everything();
  const std::lock_guard lock(all.mutex);
  for (const Opened& opened : all.opened) {
    if (opened.system->has_window(window)) return opened;
  }
  return {mpi().comm_null, nullptr};
}

Choice choice_for(const RmaSystem& system, Bytes bytes) {
  const Setting setting = setting_in_force(Collective::rma_bcast);
  if (setting.kind == Setting::Kind::forced) return {setting.specification, "it was asked for", {}};
  Everything& all = everything();
  const std::lock_guard lock(all.mutex);
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
  const auto [known, is_new] = all.choices.try_emplace({system.p(), bits});
  if (is_new) {
    // The middle of what has as many bits stands for all of it.
    const Situation situation{Collective::rma_bcast, system.p(), Bytes{3} << bits >> 2};
    known->second = choose_one_sided(situation, environment().machine);
  }
  return known->second;
}

/// Sets `packed` where the data have gaps. Returns an MPI error code.
int pack(const void* buffer, int count, MPI_Datatype datatype, RmaSystem& system, Bytes& bytes,
         std::vector<std::byte>& packed) {
  if (count < 0) return MPI_ERR_COUNT;
  TypeCache types;
  const TypeInfo type = types.of(datatype, system.comm());
  if (!type.valid) return MPI_ERR_TYPE;
  bytes = type.size * count;
  if (type.dense || bytes == 0) return MPI_SUCCESS;
  if (bytes > std::numeric_limits<int>::max()) return MPI_ERR_COUNT;
  packed.resize(static_cast<std::size_t>(bytes));
  int position = 0;
  return mpi().Pack(buffer, count, datatype, packed.data(), static_cast<int>(bytes), &position,
                    system.comm());
}

int bcast(const void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
          const Opened& owner, TUTTI_Window window, TUTTI_Rma_request* request) {
  RmaSystem& system = *owner.system;
  Request made{std::make_shared<RmaOutcome>(), owner.system, {}};
  Bytes bytes = 0;
  if (const int error = pack(buffer, count, datatype, system, bytes, made.packed)) return error;
  const auto* data =
      made.packed.empty() ? static_cast<const std::byte*>(buffer) : made.packed.data();
  const Choice choice = choice_for(system, bytes);
  const int error =
      system.begin_bcast(data, {displacement, bytes}, window, *choice.specification, made.outcome);
  if (error != MPI_SUCCESS) return error;
  Everything& all = everything();
  const std::lock_guard lock(all.mutex);
  do {
    all.last_request = all.last_request % std::numeric_limits<int>::max() + 1;
  } while (all.requests.contains(all.last_request));
  *request = all.last_request;
  all.requests[*request] = std::move(made);
  return MPI_SUCCESS;
}

/// Null if there is no such request.
Request* request_of(TUTTI_Rma_request number) {
  Everything& all = everything();
  const std::lock_guard lock(all.mutex);
  const auto found = all.requests.find(number);
  return found == all.requests.end() ? nullptr : &found->second;
}

void forget(TUTTI_Rma_request* request) {
  Everything& all = everything();
  const std::lock_guard lock(all.mutex);
  all.requests.erase(*request);
  *request = TUTTI_RMA_REQUEST_NULL;
}

int open(MPI_Comm comm) {
  int inter = 0;
  if (const int error = mpi().Comm_test_inter(comm, &inter)) return error;
  if (inter != 0) return MPI_ERR_COMM;
  int error = MPI_SUCCESS;
  // Known from now on, so that the end of MPI is watched.
  if (Communicator::of(comm, error) == nullptr) return error;
  std::unique_ptr<RmaSystem> made;
  error = RmaSystem::open(comm, made);
  if (error != MPI_SUCCESS) return error;
  Everything& all = everything();
  const std::lock_guard lock(all.mutex);
  all.opened.push_back({comm, std::move(made)});
  return MPI_SUCCESS;
}

int close(MPI_Comm comm) {
  const auto system = system_of(comm);
  if (system == nullptr) return MPI_ERR_COMM;
  const int error = system->close();
  Everything& all = everything();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.opened, [&](const Opened& opened) { return opened.comm == comm; });
  return error;
}

}  // namespace

void close_all_rma() {
  Everything& all = everything();
  while (!all.opened.empty()) {
    if (close(all.opened.front().comm) != MPI_SUCCESS) all.opened.erase(all.opened.begin());
  }
}

}  // namespace tutti

using tutti::guarded;
using tutti::mpi;
using tutti::raise_if;

int TUTTI_Rma_init(MPI_Comm comm) {
  if (comm == mpi().comm_null) return MPI_ERR_COMM;
  return guarded(comm, [&] {
    return tutti::system_of(comm) != nullptr ? MPI_SUCCESS : raise_if(comm, tutti::open(comm));
  });
}

int TUTTI_Rma_finalize(MPI_Comm comm) {
  if (comm == mpi().comm_null) return MPI_ERR_COMM;
  return guarded(comm, [&] { return raise_if(comm, tutti::close(comm)); });
}

int TUTTI_Rma_window_register(MPI_Win win, MPI_Comm comm, TUTTI_Window* window) {
  if (comm == mpi().comm_null) return MPI_ERR_COMM;
  return guarded(comm, [&] {
    if (window == nullptr) return raise_if(comm, MPI_ERR_ARG);
    const auto system = tutti::system_of(comm);
    if (system == nullptr) return raise_if(comm, MPI_ERR_COMM);
    return raise_if(comm, system->add_window(win, *window));
  });
}

int TUTTI_Rma_window_release(TUTTI_Window* window) {
  if (window == nullptr) return MPI_ERR_WIN;
  const tutti::Opened owner = tutti::owner_of(*window);
  if (owner.system == nullptr) return MPI_ERR_WIN;
  return guarded(owner.comm, [&] {
    const int error = owner.system->remove_window(*window);
    *window = TUTTI_WINDOW_NULL;
    return raise_if(owner.comm, error);
  });
}

int TUTTI_Rma_bcast(const void* buffer, int count, MPI_Datatype datatype, MPI_Aint displacement,
                    TUTTI_Window window, TUTTI_Rma_request* request) {
  if (request == nullptr) return MPI_ERR_REQUEST;
  *request = TUTTI_RMA_REQUEST_NULL;
  const tutti::Opened owner = tutti::owner_of(window);
  if (owner.system == nullptr) return MPI_ERR_WIN;
  return guarded(owner.comm, [&] {
    return raise_if(owner.comm,
                    tutti::bcast(buffer, count, datatype, displacement, owner, window, request));
  });
}

int TUTTI_Rma_test(TUTTI_Rma_request* request, int* flag) {
  if (request == nullptr || flag == nullptr) return MPI_ERR_REQUEST;
  *flag = 1;
  if (*request == TUTTI_RMA_REQUEST_NULL) return MPI_SUCCESS;
  const tutti::Request* known = tutti::request_of(*request);
  if (known == nullptr) return MPI_ERR_REQUEST;
  if (!known->outcome->is_over) {
    if (const int error = known->system->go_on()) return error;
  }
  *flag = known->outcome->is_over ? 1 : 0;
  if (*flag != 0) tutti::forget(request);
  return MPI_SUCCESS;
}

int TUTTI_Rma_flush(TUTTI_Rma_request* request) {
  if (request == nullptr) return MPI_ERR_REQUEST;
  if (*request == TUTTI_RMA_REQUEST_NULL) return MPI_SUCCESS;
  const tutti::Request* known = tutti::request_of(*request);
  if (known == nullptr) return MPI_ERR_REQUEST;
  const int error = known->system->wait([&] { return known->outcome->is_over.load(); });
  if (error == MPI_SUCCESS) tutti::forget(request);
  return error;
}

int TUTTI_Rma_arrived(TUTTI_Window window, int root, long long* number) {
  const tutti::Opened owner = tutti::owner_of(window);
  if (owner.system == nullptr) return MPI_ERR_WIN;
  if (number == nullptr) return MPI_ERR_ARG;
  if (root < 0 || root >= owner.system->p()) return raise_if(owner.comm, MPI_ERR_ROOT);
  std::int64_t known = 0;
  const int error = owner.system->arrived(window, root, known);
  *number = known;
  return raise_if(owner.comm, error);
}

int TUTTI_Rma_wait(TUTTI_Window window, int root, long long number) {
  const tutti::Opened owner = tutti::owner_of(window);
  if (owner.system == nullptr) return MPI_ERR_WIN;
  if (root < 0 || root >= owner.system->p()) return raise_if(owner.comm, MPI_ERR_ROOT);
  int error = MPI_SUCCESS;
  const int stopped = owner.system->wait([&] {
    std::int64_t known = 0;
    error = owner.system->arrived(window, root, known);
    return error != MPI_SUCCESS || known >= number;
  });
  return raise_if(owner.comm, error != MPI_SUCCESS ? error : stopped);
}

int TUTTI_Rma_progress(MPI_Comm comm, int* flag) {
  const auto system = comm == mpi().comm_null ? nullptr : tutti::system_of(comm);
  if (system == nullptr) return MPI_ERR_COMM;
  if (flag == nullptr) return raise_if(comm, MPI_ERR_ARG);
  *flag = system->progresses() ? 1 : 0;
  return MPI_SUCCESS;
}
