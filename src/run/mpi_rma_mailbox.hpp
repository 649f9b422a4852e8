/// Requests, descriptions, credits and done counters of all ranks, in one window.
#pragma once

#include <memory>
#include <vector>

#include "run/mpi_functions.hpp"
#include "run/rma_notice.hpp"

namespace tutti {

/// Each rank has for each other one a ring of slots that only that one writes, so that no two roots
/// overwrite one another's requests; a sender goes on once it has been told that a slot is free.
/// Nothing here waits for another rank's program but open() and close(). All functions return an
/// MPI error code unless they say otherwise. Not to be used by two threads at once.
class RmaMailbox {
 public:
  /// From so many ranks on there is a bell: one more message for each notice, for which a rank that
  /// looks whether anything has come reads one word instead of p.
  static constexpr int bell_from = 128;
  /// Collective. O(p) memory on each rank, 2.7 KiB for each other one.
  static int open(MPI_Comm comm, std::unique_ptr<RmaMailbox>& made, int bell_ranks = bell_from);
  /// Collective; nothing may be on its way.
  int close();

  /// A slot at `to` is free.
  [[nodiscard]] bool can_post(Rank to) const;
  /// Writes a notice, whose sequence is set here, into a free slot. What it tells of must have been
  /// flushed: nothing keeps the two in order.
  int post(Rank to, RmaNotice notice, std::span<const std::byte> carried);
  /// Until all that was posted there has arrived.
  int flush(Rank to) { return mpi().Win_flush(to, window_); }
  /// False where the bell says that all notices have been taken. O(1).
  [[nodiscard]] bool may_have_notices() const;
  /// The next notice from `from`, if it has come; `carried` are its bytes until the next call.
  [[nodiscard]] std::optional<RmaNotice> take(Rank from, const std::byte*& carried, int& error);

  /// Operations of one root that may be under way at once.
  static constexpr std::int64_t operations = 64;
  /// Counts one more rank that is done with an operation of `root`.
  int add_done(Rank root, std::int64_t operation);
  /// All that was counted for operations of this rank with this number modulo `operations`.
  [[nodiscard]] std::int64_t done(std::int64_t operation) const;

  /// Does a put into a rank arrive while that one computes outside the MPI? Collective; takes 20 ms
  /// at most. Every rank is told what rank 0 has seen; false with one rank.
  int probe_progress(MPI_Comm comm, bool& progresses);

 private:
  static constexpr std::int64_t ring = 8;

  RmaMailbox(Rank rank, int p)
      : rank_(rank), p_(p), sent_(count()), taken_(count()), out_(count()) {}
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(p_); }
  [[nodiscard]] std::int64_t slot_at(Rank from, std::int64_t sequence) const;
  [[nodiscard]] std::int64_t credits_at(Rank by) const;
  [[nodiscard]] std::int64_t done_at(std::int64_t operation) const;
  [[nodiscard]] std::int64_t probe_at() const;
  [[nodiscard]] std::int64_t bell_at() const { return probe_at() + 1; }
  int accumulate(const std::int64_t* words, std::size_t count, Rank to, std::int64_t at, MPI_Op op);

  Rank rank_;
  int p_;
  MPI_Win window_{};
  std::int64_t* words_ = nullptr;
  std::vector<std::int64_t> sent_;   ///< by rank: notices posted there
  std::vector<std::int64_t> taken_;  ///< by rank: notices taken from there
  bool has_bell_ = false;
  std::int64_t all_taken_ = 0;
  std::vector<std::vector<NoticeSlot>> out_;  ///< by rank: what is on its way there
  NoticeSlot taken_words_{};
};

}  // namespace tutti
