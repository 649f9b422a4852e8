/// Rings of slots over MPI_Accumulate.
#include "run/mpi_rma_mailbox.hpp"

#include <chrono>
#include <cstring>

namespace tutti {

namespace {

constexpr std::int64_t slot_words = std::tuple_size_v<NoticeSlot>;
constexpr std::int64_t one = 1;
constexpr std::int64_t page_words = 4096 / sizeof(std::int64_t);

}  // namespace

int RmaMailbox::open(MPI_Comm comm, std::unique_ptr<RmaMailbox>& made, int bell_ranks) {
  Rank rank = 0;
  int p = 0;
  mpi().Comm_rank(comm, &rank);
  mpi().Comm_size(comm, &p);
  std::unique_ptr<RmaMailbox> mailbox(new RmaMailbox(rank, p));
  mailbox->has_bell_ = p >= bell_ranks;
  // Whole pages: MPICH 4.0 puts 8 bytes beside windows whose size is no multiple of 16.
  const std::int64_t words = (mailbox->bell_at() / page_words + 1) * page_words;
  const auto bytes = static_cast<std::size_t>(words) * sizeof(std::int64_t);
  int error = mpi().Win_allocate(static_cast<MPI_Aint>(bytes), sizeof(std::int64_t),
                                 mpi().info_null, comm, &mailbox->words_, &mailbox->window_);
  if (error != MPI_SUCCESS) return error;
  std::memset(mailbox->words_, 0, bytes);
  error = mpi().Win_lock_all(0, mailbox->window_);
  if (error == MPI_SUCCESS) error = mpi().Win_sync(mailbox->window_);
  if (error == MPI_SUCCESS) error = mpi().Barrier(comm);
  made = std::move(mailbox);
  return error;
}

int RmaMailbox::close() {
  const int error = mpi().Win_unlock_all(window_);
  const int freed = mpi().Win_free(&window_);
  return error != MPI_SUCCESS ? error : freed;
}

std::int64_t RmaMailbox::slot_at(Rank from, std::int64_t sequence) const {
  return (from * ring + sequence % ring) * slot_words;
}
std::int64_t RmaMailbox::credits_at(Rank by) const { return slot_at(p_, 0) + by; }
std::int64_t RmaMailbox::done_at(std::int64_t operation) const {
  return credits_at(p_) + operation % operations;
}
std::int64_t RmaMailbox::probe_at() const { return credits_at(p_) + operations; }

bool RmaMailbox::can_post(Rank to) const {
  const std::int64_t freed = __atomic_load_n(words_ + credits_at(to), __ATOMIC_ACQUIRE);
  return sent_[static_cast<std::size_t>(to)] - freed < ring;
}

int RmaMailbox::post(Rank to, RmaNotice notice, std::span<const std::byte> carried) {
  const auto at = static_cast<std::size_t>(to);
  if (out_[at].empty()) out_[at].resize(ring);
  notice.sequence = ++sent_[at];
  NoticeSlot& slot = out_[at][static_cast<std::size_t>(notice.sequence % ring)];
  const std::size_t words = write_notice(notice, carried, slot);
  const int error =
      accumulate(slot.data(), words, to, slot_at(rank_, notice.sequence), mpi().replace);
  if (error != MPI_SUCCESS || !has_bell_) return error;
  return accumulate(&one, 1, to, bell_at(), mpi().sum);
}

/// The bell may ring before its notice is there, or after it was found: they are equal at last.
bool RmaMailbox::may_have_notices() const {
  return !has_bell_ || __atomic_load_n(words_ + bell_at(), __ATOMIC_ACQUIRE) != all_taken_;
}

std::optional<RmaNotice> RmaMailbox::take(Rank from, const std::byte*& carried, int& error) {
  std::int64_t& taken = taken_[static_cast<std::size_t>(from)];
  const std::int64_t next = taken + 1;
  const auto notice = read_notice(words_ + slot_at(from, next), next, taken_words_);
  if (!notice) return notice;
  carried = reinterpret_cast<const std::byte*>(taken_words_.data() + notice_words);
  taken = next;
  ++all_taken_;
  // Half a ring at a time: a sender that is told late has the other half to go on with.
  if (taken % (ring / 2) == 0) {
    error = accumulate(&taken, 1, from, credits_at(rank_), mpi().replace);
  }
  return notice;
}

int RmaMailbox::add_done(Rank root, std::int64_t operation) {
  return accumulate(&one, 1, root, done_at(operation), mpi().sum);
}

std::int64_t RmaMailbox::done(std::int64_t operation) const {
  return __atomic_load_n(words_ + done_at(operation), __ATOMIC_ACQUIRE);
}

/// Returns when the words may be changed again.
int RmaMailbox::accumulate(const std::int64_t* words, std::size_t count, Rank to, std::int64_t at,
                           MPI_Op op) {
  const int number = static_cast<int>(count);
  const int error = mpi().Accumulate(words, number, mpi().int64, to, static_cast<MPI_Aint>(at),
                                     number, mpi().int64, op, window_);
  return error != MPI_SUCCESS ? error : mpi().Win_flush_local(to, window_);
}

int RmaMailbox::probe_progress(MPI_Comm comm, bool& progresses) {
  using Clock = std::chrono::steady_clock;
  const std::int64_t put = 1;
  int error = mpi().Barrier(comm);
  char seen = 0;
  if (rank_ == 0 && p_ > 1 && error == MPI_SUCCESS) {
    error = mpi().Put(&put, 1, mpi().int64, p_ - 1, static_cast<MPI_Aint>(probe_at()), 1,
                      mpi().int64, window_);
    if (error == MPI_SUCCESS) error = mpi().Win_flush(p_ - 1, window_);
  }
  if (rank_ == p_ - 1 && p_ > 1) {
    const auto end = Clock::now() + std::chrono::milliseconds(20);
    while (seen == 0 && Clock::now() < end) {
      seen = __atomic_load_n(words_ + probe_at(), __ATOMIC_ACQUIRE) != 0 ? 1 : 0;
    }
  }
  if (error == MPI_SUCCESS) error = mpi().Bcast(&seen, 1, mpi().byte, p_ - 1, comm);
  progresses = seen != 0;
  return error;
}

}  // namespace tutti
