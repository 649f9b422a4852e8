/// Tests the end of the exchange of arrivals and of call announcements: no rank waits for ever, and
/// nothing is freed that the MPI may still read.
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "faulty.hpp"
#include "run/arrival/mpi_arrival.hpp"
#include "run/communicator/mpi_communicator.hpp"
#include "run/mpi/exchange.hpp"

namespace {

using tutti::test::Faulty;

/// Seconds until the alarm ends the program.
constexpr unsigned patience = 60;

/// Closes two exchanges, on half of the ranks in the opposite sequence.
void leave_in_turns(int rank) {
  std::vector<std::shared_ptr<tutti::Arrival>> both(2);
  for (auto& one : both) {
    if (tutti::Arrival::open(MPI_COMM_WORLD, one) != MPI_SUCCESS) std::abort();
  }
  if (rank % 2 == 1) std::swap(both[0], both[1]);
  for (bool all_left = false; !all_left; sched_yield()) {
    all_left = true;
    for (const auto& one : both) all_left = one->try_close() && all_left;
  }
}

int losing_isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  if (tag != tutti::AsyncCalls::announcement_tag) {
    return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
  }
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

/// Runs a gather whose root lacks the call announcement of one rank, then frees its communicator.
void gather_with_announcements(int rank, int p) {
  std::unique_ptr<tutti::PrivateComm> comm;
  if (tutti::PrivateComm::duplicate(MPI_COMM_WORLD, {}, comm) != MPI_SUCCESS) std::abort();
  comm->receive_unexpected();
  std::vector<int> all(static_cast<std::size_t>(p), -1);
  tutti::MpiCall call;
  call.collective = tutti::Collective::gather;
  call.send.address = &rank;
  call.receive.address = all.data();
  call.send.blocks = call.receive.blocks = tutti::RankBlocks(1);
  call.send.type = call.receive.type = MPI_INT;
  comm->begin(call);
  const auto synchronised = tutti::specification(call.collective, "linear_sync:runner=background");
  if (!comm->learn_types(call) || comm->run(call, *synchronised, {}) != MPI_SUCCESS) std::abort();
  for (int from = 0; from < p && rank == 0; ++from) {
    if (all[static_cast<std::size_t>(from)] != from) std::abort();
  }
}

int failing_test(MPI_Request* /*request*/, int* /*completed*/, MPI_Status* /*status*/) {
  return MPI_ERR_OTHER;
}

/// Neither a message whose test fails nor one behind it is freed.
void keep_what_may_be_unsent() {
  const Faulty functions([](tutti::MpiFunctions& all) {
    all.Isend = losing_isend;
    all.Test = failing_test;
  });
  bool is_freed = false;
  {
    tutti::SentMessages messages;
    for (int number = 0; number < 2; ++number) {
      const std::shared_ptr<const int> data(&number, [&](const int*) { is_freed = true; });
      const int error = messages.send(data, sizeof number, 0, tutti::AsyncCalls::announcement_tag,
                                      MPI_COMM_WORLD);
      if (error != MPI_SUCCESS) std::abort();
    }
    if (messages.forget_sent() == MPI_SUCCESS || messages.empty()) std::abort();
  }
  if (is_freed) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  watch(rank, patience);
  waits_in("a gather without an announcement");
  {
    const Faulty functions([&](tutti::MpiFunctions& all) {
      if (rank == 1) all.Isend = losing_isend;
    });
    gather_with_announcements(rank, p);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  waits_in("keep_what_may_be_unsent");
  keep_what_may_be_unsent();
  waits_in("leave_in_turns");
  leave_in_turns(rank);
  if (rank == 0) std::puts("3 passed, 0 failed");
  MPI_Finalize();
}
