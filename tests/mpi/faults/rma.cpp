/// Tests control messages of all ranks to all others, empty and of the largest size, and messages
/// that the MPI does not complete, starts that fail on one rank, windows whose registration or end
/// comes at a bad time, and communicators that ranks open in another sequence.
#include <tutti/tutti.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "faulty.hpp"
#include "run/rma/mpi_notifications.hpp"

namespace {

/// Seconds until the alarm ends a program that waits for control messages.
constexpr unsigned patience = 60;
constexpr int each = 200;  // from one rank to another: many times what may be in flight

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "one-sided: %s\n", what);
  std::abort();
}

/// Identifies the writer.
std::byte mark_of(int from) { return static_cast<std::byte>(from + 1); }

tutti::Bytes bytes_of(int number) {
  return number % 50 == 0 ? tutti::max_carried : number % 3 * 20;
}

std::vector<tutti::Rank> order_of(int number, int p) {
  return std::vector<tutti::Rank>(number % 7 == 0 ? static_cast<std::size_t>(p) : 0, number);
}

void exchange(int rank, int p) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::unique_ptr<tutti::RmaNotifications> queue;
  expect(tutti::open_message_queue(comm, queue) == MPI_SUCCESS, "open");
  std::vector<int> posted(static_cast<std::size_t>(p), 0);
  std::vector<int> taken(static_cast<std::size_t>(p), 0);
  for (int open = 2 * each * (p - 1); open > 0;) {
    for (int other = 0; other < p; ++other) {
      int& mine = posted[static_cast<std::size_t>(other)];
      if (other == rank || mine == each || !queue->can_post({}, other)) continue;
      tutti::RmaControlMessage message;
      message.operation = ++mine;
      const auto carried = queue->compose(message, order_of(mine, p), bytes_of(mine));
      std::fill(carried.begin(), carried.end(), mark_of(rank));
      expect(queue->post(other) == MPI_SUCCESS, "post");
      --open;
    }
    int error = MPI_SUCCESS;
    while (const auto received = queue->take(error)) {
      int& theirs = taken[static_cast<std::size_t>(received->from)];
      expect(received->control.operation == ++theirs, "the next message");
      expect(static_cast<tutti::Bytes>(received->carried.size()) == bytes_of(theirs), "its bytes");
      expect(received->order == order_of(theirs, p), "the order");
      const auto wrong = std::count_if(received->carried.begin(), received->carried.end(),
                                       [&](std::byte b) { return b != mark_of(received->from); });
      expect(wrong == 0, "what it carries");
      --open;
    }
    expect(error == MPI_SUCCESS, "take");
  }
  // The MPI may still use what this rank has sent.
  int met = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (met == 0) {
    int error = MPI_SUCCESS;
    expect(!queue->take(error), "one message more");
    MPI_Test(&request, &met, MPI_STATUS_IGNORE);
  }
  expect(queue->close() == MPI_SUCCESS, "close");
  MPI_Comm_free(&comm);
}

bool holds_up = false;
std::vector<const MPI_Request*> held_up;  ///< of messages to rank 1; handles may be shared

int holding_isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int error = PMPI_Isend(data, count, type, to, tag, comm, request);
  if (to == 1) held_up.push_back(request);
  return error;
}

int holding_test(MPI_Request* request, int* flag, MPI_Status* status) {
  *flag = 0;
  const bool is_held = std::find(held_up.begin(), held_up.end(), request) != held_up.end();
  return holds_up && is_held ? MPI_SUCCESS : PMPI_Test(request, flag, status);
}

/// While the MPI does not complete messages to rank 1, only so many go there, and any number to
/// rank 2. The queue closes although receives cannot be cancelled.
void hold_up_messages(int rank) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::unique_ptr<tutti::RmaNotifications> queue;
  expect(tutti::open_message_queue(comm, queue) == MPI_SUCCESS, "open");
  const tutti::test::Faulty functions([](tutti::MpiFunctions& all) {
    all.Isend = holding_isend;
    all.Test = holding_test;
    all.Cancel = [](MPI_Request*) { return MPI_ERR_INTERN; };
  });
  int error = MPI_SUCCESS;
  const auto post = [&](int to, bool is_last) {
    tutti::RmaControlMessage message;
    message.operation = is_last ? 1 : 0;
    while (!queue->can_post(message, to)) static_cast<void>(queue->take(error));
    static_cast<void>(queue->compose(message, {}, 0));
    expect(queue->post(to) == MPI_SUCCESS && error == MPI_SUCCESS, "post");
  };
  if (rank == 0) {
    holds_up = true;
    for (int held = 0; queue->can_post({}, 1); ++held) {
      expect(held < each, "no limit");
      post(1, false);
    }
    for (int sent = 1; sent <= each; ++sent) post(2, sent == each);
    expect(!queue->can_post({}, 1), "no limit at last");
    holds_up = false;
    post(1, true);
  }
  for (bool is_over = rank == 0; !is_over;) {
    const auto message = queue->take(error);
    expect(error == MPI_SUCCESS, "take");
    is_over = message && message->control.operation == 1;
  }
  expect(queue->close() == MPI_SUCCESS, "close without cancelling");
  queue.reset();
  MPI_Comm_free(&comm);
}

std::atomic<bool> fails = false;

int failing_set_attr(MPI_Win window, int key, void* value) {
  return fails ? MPI_ERR_OTHER : PMPI_Win_set_attr(window, key, value);
}

/// If one rank cannot watch for the window's end, no rank registers it; a second attempt succeeds
/// on all.
void register_where_one_fails(MPI_Win window, int rank) {
  TUTTI_Window number = 1;
  fails = rank == 1;
  const int error = TUTTI_Rma_window_register(window, MPI_COMM_WORLD, &number);
  expect(error != MPI_SUCCESS && number == TUTTI_WINDOW_NULL, "an error on all ranks");
  fails = false;
  expect(TUTTI_Rma_window_register(window, MPI_COMM_WORLD, &number) == MPI_SUCCESS, "again");
  expect(TUTTI_Rma_window_release(&number) == MPI_SUCCESS, "release");
}

int failing_lock_all(int assert, MPI_Win window) {
  return fails ? MPI_ERR_OTHER : PMPI_Win_lock_all(assert, window);
}

int failing_put(const void* from, int count, MPI_Datatype type, int to, MPI_Aint at,
                int count_there, MPI_Datatype type_there, MPI_Win window) {
  return fails ? MPI_ERR_OTHER
               : PMPI_Put(from, count, type, to, at, count_there, type_there, window);
}

int failing_flush(int to, MPI_Win window) {
  return fails ? MPI_ERR_OTHER : PMPI_Win_flush(to, window);
}

int failing_pack(const void* from, int count, MPI_Datatype type, void* to, int bytes, int* position,
                 MPI_Comm comm) {
  return fails ? MPI_ERR_OTHER : PMPI_Pack(from, count, type, to, bytes, position, comm);
}

MPI_Win last_window = MPI_WIN_NULL;
int freed = 0;
int (*free_of_mpi)(MPI_Win*) = nullptr;

int counting_free(MPI_Win* window) {
  ++freed;
  return free_of_mpi(window);
}

/// Fails after all: no MPI can be made to fail at one rank alone.
int failing_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* memory,
                     MPI_Win* window) {
  const int error = PMPI_Win_allocate(size, unit, info, comm, memory, window);
  last_window = *window;
  return fails ? MPI_ERR_NO_MEM : error;
}

/// If one rank gets no window, or cannot use it, all get an error, and a second attempt succeeds.
/// Only a window that all ranks have can be freed.
void init_where_one_fails(bool is_faulty, const std::function<void(tutti::MpiFunctions&)>& spoil,
                          bool have_all) {
  const tutti::test::Faulty functions([&](tutti::MpiFunctions& all) {
    spoil(all);
    free_of_mpi = std::exchange(all.Win_free, counting_free);
  });
  fails = is_faulty;
  freed = 0;
  expect(TUTTI_Rma_init(MPI_COMM_WORLD) != MPI_SUCCESS, "an error of init on all ranks");
  expect(freed == (have_all ? 1 : 0), "the window is freed");
  fails = false;
  if (!have_all) free_of_mpi(&last_window);
  expect(TUTTI_Rma_init(MPI_COMM_WORLD) == MPI_SUCCESS, "init again");
  expect(TUTTI_Rma_finalize(MPI_COMM_WORLD) == MPI_SUCCESS, "finalize");
}

void inits(int rank) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const auto lock = [](tutti::MpiFunctions& all) { all.Win_lock_all = failing_lock_all; };
  init_where_one_fails(rank == 1, lock, true);
  const auto allocate = [](tutti::MpiFunctions& all) { all.Win_allocate = failing_allocate; };
  init_where_one_fails(rank == 1, allocate, false);
  // Rank 0 puts a word, to see whether puts progress.
  const auto put = [](tutti::MpiFunctions& all) { all.Put = failing_put; };
  init_where_one_fails(rank == 0, put, true);
  const auto flush = [](tutti::MpiFunctions& all) { all.Win_flush = failing_flush; };
  init_where_one_fails(rank == 0, flush, true);
}

std::atomic<bool> lacks_memory = false;
std::atomic<bool> keeps_out = false;
std::atomic<bool> is_kept_out = false;
std::thread::id the_main_thread;

/// A root that cannot pack its data gets an error; no other rank hears of that operation.
void broadcast_what_cannot_be_packed(MPI_Win window, int rank) {
  TUTTI_Window number = TUTTI_WINDOW_NULL;
  expect(TUTTI_Rma_window_register(window, MPI_COMM_WORLD, &number) == MPI_SUCCESS, "register");
  if (rank == 0) {
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    MPI_Type_vector(3, 1, 2, MPI_CHAR, &every_other);
    MPI_Type_commit(&every_other);
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    const char data[] = "a.b.c";
    for (const bool is_faulty : {true, false}) {
      fails = is_faulty;
      const int error = TUTTI_Rma_bcast(data, 1, every_other, 0, number, &request);
      expect((error == MPI_SUCCESS) != is_faulty, "the error of packing");
    }
    expect(TUTTI_Rma_flush(&request) == MPI_SUCCESS, "flush");
    MPI_Type_free(&every_other);
  }
  expect(TUTTI_Rma_wait(number, 0, 1) == MPI_SUCCESS, "wait");
  long long arrived = 0;
  expect(TUTTI_Rma_arrived(number, 0, &arrived) == MPI_SUCCESS && arrived == 1, "arrived");
  expect(TUTTI_Rma_window_release(&number) == MPI_SUCCESS, "release");
}

/// Behaves like an MPI whose lock another thread holds, or as if memory ended in the background
/// thread.
int waiting_test(MPI_Request* request, int* flag, MPI_Status* status) {
  const bool in_background = std::this_thread::get_id() != the_main_thread;
  while (keeps_out && in_background) is_kept_out = true;
  if (in_background && lacks_memory.exchange(false)) throw std::bad_alloc();
  return PMPI_Test(request, flag, status);
}

/// A window ends inside an MPI that blocks the background thread.
void free_while_thread_is_kept_out(MPI_Win window) {
  TUTTI_Window number = TUTTI_WINDOW_NULL;
  expect(TUTTI_Rma_window_register(window, MPI_COMM_WORLD, &number) == MPI_SUCCESS, "register");
  MPI_Win other = MPI_WIN_NULL;
  TUTTI_Window number_of_other = TUTTI_WINDOW_NULL;
  void* memory = nullptr;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other);
  expect(TUTTI_Rma_window_register(other, MPI_COMM_WORLD, &number_of_other) == MPI_SUCCESS,
         "register another");
  expect(TUTTI_Rma_window_release(&number_of_other) == MPI_SUCCESS, "release the other");
  keeps_out = true;
  while (!is_kept_out) std::this_thread::yield();
  tutti::mpi().Win_free(&other);
  keeps_out = false;
  expect(TUTTI_Rma_window_release(&number) == MPI_SUCCESS, "release");
}

/// The error of the background thread reaches the program's next call. MPI_Finalize closes the
/// communicator.
void let_thread_lack_memory() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Win window = MPI_WIN_NULL;
  void* memory = nullptr;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &memory, &window);
  expect(TUTTI_Rma_init(comm) == MPI_SUCCESS, "init without memory");
  TUTTI_Window number = TUTTI_WINDOW_NULL;
  expect(TUTTI_Rma_window_register(window, comm, &number) == MPI_SUCCESS, "register");
  lacks_memory = true;
  while (lacks_memory) std::this_thread::yield();
  long long arrived = 0;
  expect(TUTTI_Rma_arrived(number, 0, &arrived) == MPI_ERR_NO_MEM, "the thread's error");
  MPI_Win_free(&window);
}

void windows(int rank) {
  the_main_thread = std::this_thread::get_id();
  const tutti::test::Faulty functions([](tutti::MpiFunctions& all) {
    all.Win_set_attr = failing_set_attr;
    all.Test = waiting_test;
    all.Pack = failing_pack;
  });
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win window = MPI_WIN_NULL;
  void* memory = nullptr;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  expect(TUTTI_Rma_init(MPI_COMM_WORLD) == MPI_SUCCESS, "init");
  register_where_one_fails(window, rank);
  broadcast_what_cannot_be_packed(window, rank);
  free_while_thread_is_kept_out(window);
  expect(TUTTI_Rma_finalize(MPI_COMM_WORLD) == MPI_SUCCESS, "finalize");
  MPI_Win_free(&window);
  let_thread_lack_memory();
}

/// Once set, this thread's calls of Bcast return only when `*opens_after` is true.
thread_local const std::atomic<bool>* opens_after = nullptr;

int late_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const int error = PMPI_Bcast(buffer, count, type, root, comm);
  // The last step of TUTTI_Rma_init, after which rank 0 of the communicator needs nobody.
  while (count == 1 && root == 0 && opens_after != nullptr && !*opens_after)
    std::this_thread::yield();
  return error;
}

/// Ranks 0 and 1 open 2 communicators by 2 threads, one after the other in opposite sequence.
/// MPI_Finalize closes them.
void open_in_other_sequence(int rank, int p) {
  MPI_Comm first = MPI_COMM_NULL;   // its rank 0 is rank 0
  MPI_Comm second = MPI_COMM_NULL;  // its rank 0 is rank 1
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &first);
  MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + p - 1) % p, &second);
  const tutti::test::Faulty functions([](tutti::MpiFunctions& all) { all.Bcast = late_bcast; });
  std::atomic<bool> is_first_open = false;
  std::atomic<bool> is_second_open = false;
  std::thread opens_second([&] {
    if (rank == 0) opens_after = &is_first_open;
    expect(TUTTI_Rma_init(second) == MPI_SUCCESS, "init of the second");
    is_second_open = true;
  });
  if (rank == 1) opens_after = &is_second_open;
  expect(TUTTI_Rma_init(first) == MPI_SUCCESS, "init of the first");
  is_first_open = true;
  opens_after = nullptr;
  opens_second.join();
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  watch(rank, patience);
  waits_in("exchange");
  exchange(rank, p);
  waits_in("exchange again");
  exchange(rank, p);
  waits_in("hold_up_messages");
  hold_up_messages(rank);
  waits_in("inits");
  inits(rank);
  waits_in("windows");
  windows(rank);
  waits_in("open_in_other_sequence");
  open_in_other_sequence(rank, p);
  if (rank == 0) std::puts("6 passed, 0 failed");
  MPI_Finalize();
}
