/// Tests the end of the exchange of arrivals and of call announcements: no rank waits for ever, and
/// nothing is freed that the MPI may still read or write into. And what stays where memory ends.
#include <malloc.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "faulty.hpp"
#include "run/arrival/mpi_arrival.hpp"
#include "run/communicator/mpi_communicator.hpp"
#include "run/mpi/exchange.hpp"

namespace {

const void* watched = nullptr;  ///< memory
bool is_watched_freed = false;
std::atomic<long> held = 0;  ///< bytes of memory
thread_local bool has_no_memory = false;

}  // namespace

void* operator new(std::size_t bytes) {
  if (has_no_memory) throw std::bad_alloc();
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  held += static_cast<long>(malloc_usable_size(memory));
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr && memory == watched) is_watched_freed = true;
  held -= static_cast<long>(malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept { operator delete(memory); }

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

/// Runs a gather whose root can begin it in the background. Returns an MPI error code.
int gather_if_possible(tutti::PrivateComm& comm, int rank, int p) {
  std::vector<int> all(static_cast<std::size_t>(p), -1);
  tutti::MpiCall call;
  call.collective = tutti::Collective::gather;
  call.send.address = &rank;
  call.receive.address = all.data();
  call.send.blocks = call.receive.blocks = tutti::RankBlocks(1);
  call.send.type = call.receive.type = MPI_INT;
  comm.begin(call);
  const auto synchronised = tutti::specification(call.collective, "linear_sync:runner=background");
  if (!comm.learn_types(call)) std::abort();
  if (const int error = comm.run(call, *synchronised, {})) return error;
  for (int from = 0; from < p && rank == 0; ++from) {
    if (all[static_cast<std::size_t>(from)] != from) std::abort();
  }
  return MPI_SUCCESS;
}

void gather(tutti::PrivateComm& comm, int rank, int p) {
  if (gather_if_possible(comm, rank, p) != MPI_SUCCESS) std::abort();
}

/// Runs a gather whose root lacks the call announcement of one rank, then frees its communicator.
void gather_with_announcements(int rank, int p) {
  std::unique_ptr<tutti::PrivateComm> comm;
  if (tutti::PrivateComm::duplicate(MPI_COMM_WORLD, {}, comm) != MPI_SUCCESS) std::abort();
  comm->receive_unexpected();
  gather(*comm, rank, p);
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

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "after an error: %s\n", what);
  std::abort();
}

std::vector<const void*> received_at;  ///< the memory of each receive

int noting_irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  received_at.push_back(buffer);
  return PMPI_Irecv(buffer, count, type, peer, tag, comm, request);
}

int failing_testsome(int, MPI_Request*, int*, int*, MPI_Status*) { return MPI_ERR_OTHER; }

int freed_communicators = 0;
int (*free_of_mpi)(MPI_Comm*) = nullptr;

int counting_free(MPI_Comm* comm) {
  ++freed_communicators;
  return free_of_mpi(comm);
}

/// Ends `comm`; returns how many communicators that frees.
int count_frees(std::unique_ptr<tutti::PrivateComm>& comm) {
  freed_communicators = 0;
  const Faulty functions(
      [](tutti::MpiFunctions& all) { free_of_mpi = std::exchange(all.Comm_free, counting_free); });
  comm.reset();
  return freed_communicators;
}

std::thread::id the_main_thread;
/// The thread sends so many signals until its memory ends; 0: not at all.
std::atomic<int> signals_left = 0;
std::atomic<bool> thread_lacks_memory = false;

int counting_isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  const bool in_background = std::this_thread::get_id() != the_main_thread;
  if (in_background && signals_left > 0 && --signals_left == 0) thread_lacks_memory = true;
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

int throwing_testsome(int count, MPI_Request* requests, int* done, int* which, MPI_Status* each) {
  const bool in_background = std::this_thread::get_id() != the_main_thread;
  if (in_background && thread_lacks_memory.exchange(false)) throw std::bad_alloc();
  return PMPI_Testsome(count, requests, done, which, each);
}

/// Runs a gather that the root's thread begins before the root makes it: the others end the call by
/// the signals of that thread. If `root_leaves`, the root never makes it. Returns an MPI error
/// code.
int gather_begun(tutti::PrivateComm& comm, int rank, int p, bool root_leaves = false) {
  for (int from = 1; from < p && rank == 0; ++from) {
    PMPI_Recv(nullptr, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0 && root_leaves) return MPI_SUCCESS;
  while (signals_left > 0 || thread_lacks_memory) sched_yield();
  const int error = gather_if_possible(comm, rank, p);
  if (rank != 0) PMPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  return error;
}

/// The root's thread has begun two calls. They end as others do, unless the root leaves the last
/// one: what may come for it reaches no other communicator.
void free_after_begun_calls(int rank, int p, bool root_leaves) {
  if (!tutti::Background::of_process().start()) std::abort();
  std::unique_ptr<tutti::PrivateComm> comm;
  if (tutti::PrivateComm::duplicate(MPI_COMM_WORLD, {}, comm) != MPI_SUCCESS) std::abort();
  comm->receive_unexpected();
  gather(*comm, rank, p);
  for (int call = 0; call < 2; ++call) {
    const bool is_left = root_leaves && call == 1;
    expect(gather_begun(*comm, rank, p, is_left) == MPI_SUCCESS, "an error of a begun call");
  }
  tutti::Background::of_process().stop();
  const int expected = root_leaves && rank == 0 ? 0 : 1;
  expect(count_frees(comm) == expected, "freed, or not, after calls that the thread has begun");
}

/// Memory ends in the root's thread once it has begun a call, and no rank waits for it any more.
/// Only that call fails, and what has not come for it reaches no other communicator.
void lack_memory_in_begun_call(int rank, int p) {
  std::unique_ptr<tutti::PrivateComm> comm;
  if (tutti::PrivateComm::duplicate(MPI_COMM_WORLD, {}, comm) != MPI_SUCCESS) std::abort();
  {
    const Faulty functions([](tutti::MpiFunctions& all) {
      all.Isend = counting_isend;
      all.Testsome = throwing_testsome;
    });
    if (!tutti::Background::of_process().start()) std::abort();
    comm->receive_unexpected();
    gather(*comm, rank, p);
    signals_left = rank == 0 ? p - 1 : 0;
    const int error = gather_begun(*comm, rank, p);
    expect((error == MPI_ERR_NO_MEM) == (rank == 0), "not the error of memory");
    for (int call = 0; call < 3; ++call) gather(*comm, rank, p);
    tutti::Background::of_process().stop();
  }
  expect(count_frees(comm) == (rank == 0 ? 0 : 1), "freed while messages of a begun call may come");
}

/// The root of a reduction cannot receive: later calls do not use the memory in which it has begun
/// to, and what has not come reaches no other communicator.
void leave_a_reduction(int rank, int p) {
  std::unique_ptr<tutti::PrivateComm> comm;
  if (tutti::PrivateComm::duplicate(MPI_COMM_WORLD, {}, comm) != MPI_SUCCESS) std::abort();
  const void* left = nullptr;
  std::vector<int> own(100);
  std::iota(own.begin(), own.end(), rank);
  std::vector<int> sum(own.size(), -1);
  for (const bool fails : {true, false}) {
    tutti::MpiCall call;
    call.collective = tutti::Collective::reduce;
    call.op = MPI_SUM;
    call.send.address = own.data();
    call.receive.address = sum.data();
    call.send.blocks = call.receive.blocks = tutti::RankBlocks(100);
    call.send.type = call.receive.type = MPI_INT;
    received_at.clear();
    const bool is_left = fails && rank == 0;
    const Faulty functions([&](tutti::MpiFunctions& all) {
      all.Irecv = noting_irecv;
      if (is_left) all.Testsome = failing_testsome;
    });
    comm->begin(call);
    expect(comm->learn_types(call), "unknown types");
    const int error = comm->run(call, *tutti::specification(call.collective, "linear"), {});
    expect((error != MPI_SUCCESS) == is_left, "the wrong call failed");
    if (rank != 0) continue;
    if (fails) left = received_at.at(1);  // the first one is in the result
    if (fails) continue;
    expect(std::count(received_at.begin(), received_at.end(), left) == 0, "used again");
    expect(sum[1] == p + p * (p - 1) / 2, "a wrong sum");
  }
  expect(count_frees(comm) == (rank == 0 ? 0 : 1), "freed while messages may come");
}

/// Requests that are never started release the memory of their schedules.
void open_and_free_requests(int rank, int p) {
  constexpr int count = 1 << 8;  // so few that data takes more than one step
  constexpr int requests = 64;
  if (TUTTI_Algorithm_set("gatherv", "ordered_tree", nullptr, nullptr) != MPI_SUCCESS) std::abort();
  const std::vector<int> own(count, rank);
  std::vector<int> all(own.size() * static_cast<std::size_t>(p));
  const std::vector<int> counts(static_cast<std::size_t>(p), count);
  std::vector<int> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  long before = 0;
  for (int number = 0; number <= requests; ++number) {
    // To the last rank: then the first two have a tree of their own, whose root has scratch.
    TUTTI_Request request = TUTTI_REQUEST_NULL;
    const int error = TUTTI_Gatherv_init(own.data(), count, MPI_INT, all.data(), counts.data(),
                                         places.data(), MPI_INT, p - 1, MPI_COMM_WORLD, &request);
    expect(error == MPI_SUCCESS, "no request");
    expect(TUTTI_Request_free(&request) == MPI_SUCCESS, "a request is not freed");
    if (number == 0) before = held;
  }
  expect(held - before < requests / 2 * static_cast<long>(sizeof(int)) * count,
         "requests leave memory");
}

int endless_test(MPI_Request* /*request*/, int* completed, MPI_Status* /*status*/) {
  *completed = 0;
  return MPI_SUCCESS;
}

/// Memory of a receive that does not end is not freed with its channel.
void keep_what_may_be_received() {
  for (const bool ends : {true, false}) {
    std::unique_ptr<tutti::ControlChannel> channel;
    {
      const Faulty functions([](tutti::MpiFunctions& all) { all.Irecv = noting_irecv; });
      received_at.clear();
      if (tutti::open_channel(MPI_COMM_WORLD, 8, channel) != MPI_SUCCESS) std::abort();
    }
    watched = received_at.back();
    is_watched_freed = false;
    const Faulty functions([&](tutti::MpiFunctions& all) {
      if (!ends) all.Test = endless_test;
    });
    channel.reset();
    watched = nullptr;
    expect(is_watched_freed == ends, ends ? "lost memory" : "freed memory of a receive");
  }
}

/// A control message that comes while there is no memory for it is received later.
void receive_without_memory() {
  std::unique_ptr<tutti::ControlChannel> channel;
  if (tutti::open_channel(MPI_COMM_SELF, 8, channel) != MPI_SUCCESS) std::abort();
  const std::vector<std::int64_t> sent = {3, 1, 4};
  const auto message = std::make_shared<const std::vector<std::int64_t>>(sent);
  if (channel->send(0, message) != MPI_SUCCESS) std::abort();
  int from = -1;
  std::vector<std::int64_t> received;
  bool has_thrown = false;
  while (!has_thrown) {
    has_no_memory = true;
    try {
      if (channel->receive(from, received) != MPI_SUCCESS) std::abort();
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
    has_no_memory = false;
  }
  while (received.empty()) {
    if (channel->receive(from, received) != MPI_SUCCESS) std::abort();
  }
  expect(received == sent && from == 0, "another message");
}

}  // namespace

int main(int argc, char** argv) {
  int granted = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
  const bool has_threads = granted == MPI_THREAD_MULTIPLE;
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
  waits_in("free_after_begun_calls");
  the_main_thread = std::this_thread::get_id();
  for (const bool root_leaves : {false, true}) {
    if (has_threads) free_after_begun_calls(rank, p, root_leaves);
  }
  waits_in("lack_memory_in_begun_call");
  if (has_threads) lack_memory_in_begun_call(rank, p);
  waits_in("open_and_free_requests");
  open_and_free_requests(rank, p);
  waits_in("leave_a_reduction");
  leave_a_reduction(rank, p);
  waits_in("keep_what_may_be_received");
  keep_what_may_be_received();
  waits_in("receive_without_memory");
  receive_without_memory();
  waits_in("leave_in_turns");
  leave_in_turns(rank);
  if (rank == 0) std::puts(has_threads ? "10 passed, 0 failed" : "7 passed, 0 failed");
  MPI_Finalize();
}
