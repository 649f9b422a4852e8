/// A communicator of Tutti's own.
#pragma once

#include <utility>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// Makes a communicator of the program return errors to the caller during this object's life. The
/// program's handler receives errors of Tutti's calls there once, at the end of the program's call,
/// or not at all if the program did not request the work. If another thread sends on that
/// communicator meanwhile, its errors are returned too. A handler that it sets meanwhile stays.
class QuietErrors : NotCopied {
 public:
  explicit QuietErrors(MPI_Comm comm);
  ~QuietErrors();

 private:
  MPI_Comm comm_;
  MPI_Errhandler usual_{};
  MPI_Errhandler quiet_{};
  bool is_quiet_ = false;
};

/// Returns its errors to the caller, and is freed with the object. Objects therefore end on all
/// ranks or on none, before MPI does.
class OwnedComm {
 public:
  OwnedComm() = default;
  ~OwnedComm() { free(); }
  OwnedComm(OwnedComm&& other) noexcept : comm_(other.release()) {}
  OwnedComm& operator=(OwnedComm&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }

  /// Duplicates without calling the program's attribute functions. Collective over `of`. Returns an
  /// MPI error code, also if the MPI would wait for ever (makes_communicators_nonblocking).
  static int duplicate(MPI_Comm of, OwnedComm& made);
  /// Checks whether all ranks have begun as many nonblocking collectives on `comm`. If not, some
  /// MPIs wait for ever when they make a communicator (makes_communicators_nonblocking). The check
  /// is one more nonblocking collective, which can be abandoned. Collective; returns the same error
  /// on all ranks.
  static int check_nonblocking(MPI_Comm comm);
  /// The error if they have not, now and later.
  static constexpr int unmatched = MPI_ERR_PENDING;
  /// Splits off the ranks with `member`, in the sequence of `key`; `made` stays null on the others.
  static int split(MPI_Comm of, bool member, int key, OwnedComm& made);

  [[nodiscard]] bool is_null() const { return comm_ == mpi().comm_null; }
  [[nodiscard]] MPI_Comm handle() const { return comm_; }

  /// Frees the communicator, unless it is null. Collective.
  void free();
  /// Gives up the communicator without freeing it.
  MPI_Comm release();

 private:
  MPI_Comm comm_ = mpi().comm_null;
};

}  // namespace tutti
