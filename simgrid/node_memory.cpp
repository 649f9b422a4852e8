/// Simulated time of what ranks do in node memory, at the rate of the platform's messages inside a
/// node. Such a message is one copy, so data that passes through node memory takes two.
#include "simgrid/node_memory.h"

#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "simgrid/behind.hpp"

namespace {

using Address = std::uintptr_t;

constexpr double shortest = 1e-9;  ///< seconds: SimGrid's precision

/// Seconds that moves of the calling rank take, and have not taken yet.
double& owed() {
  static std::unordered_map<aid_t, double> all;
  return all[sg_actor_self_get_pid()];
}

/// Where pieces of shared memory begin, and end.
std::map<Address, Address>& shared() {
  static std::map<Address, Address> pieces;
  return pieces;
}

bool is_shared(const void* address) {
  const auto at = reinterpret_cast<Address>(address);
  const auto after = shared().upper_bound(at);
  return after != shared().begin() && at < std::prev(after)->second;
}

}  // namespace

#define TUTTI_EXPORT extern "C" __attribute__((visibility("default")))

TUTTI_EXPORT void tutti_simgrid_share(const void* address, size_t bytes) {
  const auto begin = reinterpret_cast<Address>(address);
  shared()[begin] = begin + bytes;
}

TUTTI_EXPORT void tutti_simgrid_unshare(const void* address, size_t bytes) {
  const auto begin = reinterpret_cast<Address>(address);
  shared().erase(shared().lower_bound(begin), shared().lower_bound(begin + bytes));
}

TUTTI_EXPORT void tutti_simgrid_move(const void* from, const void* to, size_t bytes) {
  if (!is_shared(from) && !is_shared(to)) return;
  const sg_host_t host = sg_host_self();
  owed() += static_cast<double>(bytes) / sg_host_get_route_bandwidth(host, host);
}

TUTTI_EXPORT void tutti_simgrid_finish_moves() {
  if (owed() >= shortest) sg_actor_sleep_for(std::exchange(owed(), 0));
}

namespace simgrid::smpi {

/// Only its member functions' names matter here.
class Request {
 public:
  void start();
};

/// Every message of every MPI function begins here.
__attribute__((visibility("default"))) void Request::start() {
  static const auto start =
      tutti::simgrid::behind<void (*)(Request*)>("_ZN7simgrid4smpi7Request5startEv");
  tutti_simgrid_finish_moves();
  start(this);
}

}  // namespace simgrid::smpi

TUTTI_EXPORT int PMPI_Reduce_local(const void* in, void* inout, int count, MPI_Datatype type,
                                   MPI_Op op) {
  static const auto reduce =
      tutti::simgrid::behind<decltype(&PMPI_Reduce_local)>("PMPI_Reduce_local");
  int size = 0;
  PMPI_Type_size(type, &size);
  tutti_simgrid_move(in, inout, static_cast<size_t>(size) * static_cast<size_t>(count));
  return reduce(in, inout, count, type, op);
}
