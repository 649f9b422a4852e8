/// The ranks of a communicator, their agreement and other collectives on plain data, and messages
/// of bytes whose ranks wait without keeping their core.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"
#include "run/mpi/types.hpp"

namespace tutti {

[[nodiscard]] inline Rank rank_in(MPI_Comm comm) {
  Rank rank = 0;
  mpi().Comm_rank(comm, &rank);
  return rank;
}
[[nodiscard]] inline int size_of(MPI_Comm comm) {
  int p = 0;
  mpi().Comm_size(comm, &p);
  return p;
}
/// Is there an MPI_COMM_WORLD? Not in programs that use sessions alone.
[[nodiscard]] inline bool has_world() {
  int initialized = 0;
  mpi().Initialized(&initialized);
  return initialized != 0;
}
/// Does `comm` have the processes of MPI_COMM_WORLD? Local, equal on all ranks.
[[nodiscard]] inline bool is_of_world(MPI_Comm comm) {
  if (!has_world()) return false;
  int compared = MPI_UNEQUAL;
  mpi().Comm_compare(comm, mpi().comm_world, &compared);
  return compared != MPI_UNEQUAL;
}

// All are collective and return an MPI error code.

/// Sets `all` to `mine` of each rank.
template <class Plain>
int gather_at_all(const Plain& mine, std::vector<Plain>& all, MPI_Comm comm) {
  all.resize(index(size_of(comm)));
  return mpi().Allgather(&mine, sizeof mine, mpi().byte, all.data(), sizeof mine, mpi().byte, comm);
}
/// The same at rank 0; at all other ranks `all` becomes empty.
template <class Plain>
int gather_at_first(const Plain& mine, std::vector<Plain>& all, MPI_Comm comm) {
  all.resize(rank_in(comm) == 0 ? index(size_of(comm)) : 0);
  return mpi().Gather(&mine, sizeof mine, mpi().byte, all.data(), sizeof mine, mpi().byte, 0, comm);
}
/// Sets `value` to that of rank 0.
template <class Plain>
requires std::is_trivially_copyable_v<Plain>
int take_from_first(Plain& value, MPI_Comm comm) {
  return mpi().Bcast(&value, sizeof value, mpi().byte, 0, comm);
}
/// Sets `values`, a text or a vector of at most 2 GiB, to those of rank 0, as many as it has.
template <class Values>
requires std::is_trivially_copyable_v<typename Values::value_type> && requires(Values& values) {
  values.resize(values.size());
}
int take_from_first(Values& values, MPI_Comm comm) {
  std::uint64_t count = values.size();
  if (const int error = take_from_first(count, comm)) return error;
  values.resize(count);
  const auto bytes = static_cast<int>(count * sizeof(typename Values::value_type));
  return bytes == 0 ? MPI_SUCCESS : mpi().Bcast(values.data(), bytes, mpi().byte, 0, comm);
}
/// Sets `all` to whether `mine` is true on every rank.
int true_on_all(MPI_Comm comm, bool mine, bool& all);
/// `error` of this rank; without one an error if another rank has one.
[[nodiscard]] int agreed_error(MPI_Comm comm, int error);
/// Sets `sum` to the sum of `mine` over the ranks.
int sum_on_all(MPI_Comm comm, Bytes mine, Bytes& sum);
/// Sets `max` to the maximum of `mine` over the ranks.
int max_on_all(MPI_Comm comm, Bytes mine, Bytes& max);

/// The largest `max` and the sum of `sum` over the ranks, for each of some numbers. One nonblocking
/// reduction, which other calls on the communicator may overtake and drive.
class Combination {
 public:
  Combination() = default;
  /// Ends what is pending.
  ~Combination();
  Combination(Combination&&) = default;
  Combination& operator=(Combination&&) = delete;

  /// Begins, with this rank's numbers: as many on all ranks. Nothing may be pending.
  int begin(MPI_Comm comm, std::vector<MaxAndSum> mine);
  [[nodiscard]] bool is_pending() const { return pending_ != nullptr; }
  /// Waits for the ranks that have not begun; end() is to follow. Something must be pending.
  int wait();
  /// Waits for the ranks that have not begun. Something must be pending.
  int end(std::vector<MaxAndSum>& combined);

 private:
  struct Pending {
    std::vector<MaxAndSum> mine;
    std::vector<MaxAndSum> combined;
    IndexedType type;  ///< of MaxAndSum
    MPI_Op operation{};
    MPI_Request request{};
  };
  std::unique_ptr<Pending> pending_;
};

// Each tests, and yields or sleeps between tests: the MPI's own wait may never release a core that
// another rank needs, and takes 20 times as long where ranks outnumber cores. Each returns an MPI
// error code.

int wait_yielding(MPI_Request& request, std::chrono::microseconds sleep = {});
int send_yielding(const void* data, std::size_t bytes, Rank to, int tag, MPI_Comm comm);
int receive_yielding(void* data, std::size_t bytes, Rank from, int tag, MPI_Comm comm,
                     std::chrono::microseconds sleep = {});

/// Ends a receive without waiting for its message. False if that has matched and has not come: then
/// the MPI may still write into the receive's memory.
[[nodiscard]] bool cancel_receive(MPI_Request& request);

/// Small messages, each kept until the MPI has sent it. Functions do not wait, and return an MPI
/// error code.
class SentMessages : NotCopied {
 public:
  /// What is not sent stays allocated for ever, because the MPI may still read it.
  ~SentMessages();

  /// Sends `bytes` from `data`, which several messages may share.
  int send(std::shared_ptr<const void> data, std::size_t bytes, Rank to, int tag, MPI_Comm comm);
  /// Forgets the messages that have been sent, in the sequence of send(), up to an error.
  int forget_sent();
  /// Are all forgotten?
  [[nodiscard]] bool empty() const { return open_.empty(); }
  /// How many are not?
  [[nodiscard]] std::size_t size() const { return open_.size(); }

 private:
  struct Message {
    std::shared_ptr<const void> data;
    MPI_Request request{};
  };
  std::list<Message> open_;
};

}  // namespace tutti
