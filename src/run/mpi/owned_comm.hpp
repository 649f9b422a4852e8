/// A communicator of Tutti's own.
#pragma once

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// Has a communicator of the program return its errors to whoever calls, as long as it lives: those
/// of what Tutti does there the program's handler shall hear once, at the end of the call, or not
/// at all where nobody asked for it. A thread that sends on that communicator meanwhile gets its
/// errors returned too.
class QuietErrors {
 public:
  explicit QuietErrors(MPI_Comm comm);
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler usual_{};
  bool is_quiet_ = false;
};

/// Returns its errors to whoever calls, and is freed with the object; so an object ends on all
/// ranks or on none, before MPI does.
class OwnedComm {
 public:
  OwnedComm() = default;
  ~OwnedComm() { free(); }
  OwnedComm(OwnedComm&& other) noexcept : comm_(other.release()) {}
  OwnedComm& operator=(OwnedComm&& other) noexcept;

  /// Duplicates without calling the program's attribute functions. Collective over `of`. Returns
  /// an MPI error code, also where the MPI would wait for ever (makes_communicators_nonblocking).
  static int duplicate(MPI_Comm of, OwnedComm& made);
  /// Have all ranks begun as many nonblocking collectives on it? Found out by one more, which can
  /// be given up, unlike the making of a communicator by an MPI that waits for ever where they have
  /// not (makes_communicators_nonblocking). Collective; returns the same error on all ranks.
  static int check_nonblocking(MPI_Comm comm);
  /// The error where they have not, now and later.
  static constexpr int unmatched = MPI_ERR_PENDING;
  /// The same of the ranks with `member`, in the sequence of `key`; `made` stays null on the
  /// others.
  static int split(MPI_Comm of, bool member, int key, OwnedComm& made);

  [[nodiscard]] bool is_null() const { return comm_ == mpi().comm_null; }
  [[nodiscard]] MPI_Comm handle() const { return comm_; }
  [[nodiscard]] Rank rank() const;
  [[nodiscard]] int p() const;

  /// Collective. Nothing to do where it is null.
  void free();
  /// Leaves it to the MPI, for good.
  MPI_Comm release();

 private:
  MPI_Comm comm_ = mpi().comm_null;
};

}  // namespace tutti
