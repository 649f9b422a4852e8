/// A communicator of Tutti's own.
#pragma once

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// Returns its errors to whoever calls, and is freed with the object; so an object ends on all
/// ranks or on none, before MPI does.
class OwnedComm {
 public:
  OwnedComm() = default;
  ~OwnedComm() { free(); }
  OwnedComm(OwnedComm&& other) noexcept : comm_(other.release()) {}
  OwnedComm& operator=(OwnedComm&& other) noexcept;

  /// Duplicates without calling the program's attribute functions. Collective over `of`. Returns
  /// an MPI error code.
  static int duplicate(MPI_Comm of, OwnedComm& made);
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
