/// Agrees by reductions, and waits by tests.
#include "run/mpi/exchange.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "run/mpi/quirks.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

/// Not nonblocking on an MPI that yields by itself, whose nonblocking collectives may not match
/// (see OwnedComm::check_nonblocking).
int combine(MPI_Comm comm, std::int64_t mine, std::int64_t& result, std::size_t op) {
  const MPI_Op combining = mpi().combining[op];
  if (makes_communicators_nonblocking()) {
    return mpi().Allreduce(&mine, &result, 1, mpi().int64, combining, comm);
  }
  MPI_Request request = mpi().request_null;
  const int error = mpi().Iallreduce(&mine, &result, 1, mpi().int64, combining, comm, &request);
  return error != MPI_SUCCESS ? error : wait_yielding(request);
}

extern "C" void combine_max_and_sum(void* more, void* all, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const MaxAndSum*>(more);
  auto* to = static_cast<MaxAndSum*>(all);
  for (int i = 0; i < *count; ++i) {
    to[i] = {std::max(to[i].max, from[i].max), to[i].sum + from[i].sum};
  }
}

}  // namespace

int true_on_all(MPI_Comm comm, bool mine, bool& all) {
  std::int64_t denied = 0;
  const int error = combine(comm, mine ? 0 : 1, denied, MpiFunctions::max);
  all = error == MPI_SUCCESS && denied == 0;
  return error;
}

int agreed_error(MPI_Comm comm, int error) {
  bool all_succeeded = false;
  const int exchanged = true_on_all(comm, error == MPI_SUCCESS, all_succeeded);
  if (error != MPI_SUCCESS || all_succeeded) return error;
  return exchanged != MPI_SUCCESS ? exchanged : MPI_ERR_OTHER;
}

int sum_on_all(MPI_Comm comm, Bytes mine, Bytes& sum) {
  return combine(comm, mine, sum, MpiFunctions::sum);
}

int max_on_all(MPI_Comm comm, Bytes mine, Bytes& max) {
  return combine(comm, mine, max, MpiFunctions::max);
}

Combination::~Combination() {
  std::vector<MaxAndSum> unused;
  if (is_pending()) end(unused);
}

/// To make the type and the operation takes no messages.
int Combination::begin(MPI_Comm comm, std::vector<MaxAndSum> mine) {
  auto all = std::make_unique<Pending>();
  all->mine = std::move(mine);
  all->combined = all->mine;
  int error = all->type.make(mpi().int64, {{0, 2}});
  if (error == MPI_SUCCESS) error = mpi().Op_create(combine_max_and_sum, 1, &all->operation);
  if (error != MPI_SUCCESS) return error;
  error =
      mpi().Iallreduce(all->mine.data(), all->combined.data(), static_cast<int>(all->mine.size()),
                       all->type.handle(), all->operation, comm, &all->request);
  if (error == MPI_SUCCESS) {
    pending_ = std::move(all);
  } else {
    mpi().Op_free(&all->operation);
  }
  return error;
}

int Combination::wait() {
  const int error = wait_yielding(pending_->request);
  if (error != MPI_SUCCESS) leak(pending_);
  return error;
}

/// To wait may free the communicator, and this object with it.
int Combination::end(std::vector<MaxAndSum>& combined) {
  std::unique_ptr<Pending> ended = std::move(pending_);
  if (const int error = wait_yielding(ended->request)) {
    leak(ended);
    return error;
  }
  mpi().Op_free(&ended->operation);
  combined = std::move(ended->combined);
  return MPI_SUCCESS;
}

int wait_yielding(MPI_Request& request, std::chrono::microseconds sleep) {
  for (int done = 0;;) {
    if (const int error = mpi().Test(&request, &done, MPI_STATUS_IGNORE)) return error;
    if (done != 0) return MPI_SUCCESS;
    if (sleep.count() > 0) {
      std::this_thread::sleep_for(sleep);
    } else {
      sched_yield();
    }
  }
}

int send_yielding(const void* data, std::size_t bytes, Rank to, int tag, MPI_Comm comm) {
  MPI_Request request = mpi().request_null;
  const int error = mpi().Isend(data, static_cast<int>(bytes), mpi().byte, to, tag, comm, &request);
  return error == MPI_SUCCESS ? wait_yielding(request) : error;
}

int receive_yielding(void* data, std::size_t bytes, Rank from, int tag, MPI_Comm comm,
                     std::chrono::microseconds sleep) {
  MPI_Request request = mpi().request_null;
  const int error =
      mpi().Irecv(data, static_cast<int>(bytes), mpi().byte, from, tag, comm, &request);
  return error == MPI_SUCCESS ? wait_yielding(request, sleep) : error;
}

bool cancel_receive(MPI_Request& request) {
  constexpr int tests = 1000;
  int is_over = 0;
  int error = mpi().Cancel(&request);
  for (int test = 0; test < tests && error == MPI_SUCCESS && is_over == 0; ++test) {
    error = mpi().Test(&request, &is_over, MPI_STATUS_IGNORE);
  }
  if (is_over == 0 && request != mpi().request_null) mpi().Request_free(&request);
  return is_over != 0;
}

SentMessages::~SentMessages() {
  for (Message& message : open_) {
    if (message.request != mpi().request_null) mpi().Request_free(&message.request);
  }
  leak(open_);
}

int SentMessages::send(std::shared_ptr<const void> data, std::size_t bytes, Rank to, int tag,
                       MPI_Comm comm) {
  Message& message = open_.emplace_back(Message{std::move(data)});
  const int error = mpi().Isend(message.data.get(), static_cast<int>(bytes), mpi().byte, to, tag,
                                comm, &message.request);
  if (error != MPI_SUCCESS) open_.pop_back();
  return error;
}

int SentMessages::forget_sent() {
  for (; !empty(); open_.pop_front()) {
    int is_sent = 0;
    const int error = mpi().Test(&open_.front().request, &is_sent, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS || is_sent == 0) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace tutti
