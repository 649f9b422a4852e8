/// Makes communicators that the program does not see.
#include "run/mpi/owned_comm.hpp"

#include <sched.h>

#include "run/clock.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/quirks.hpp"

namespace tutti {

namespace {

void ignore_error(MPI_Comm*, int*, ...) {}

/// Makes a communicator return its errors, by a new handler. The caller frees it if it returns
/// MPI_SUCCESS.
int make_quiet(MPI_Comm comm, MPI_Errhandler& handler) {
  int error = mpi().Comm_create_errhandler(ignore_error, &handler);
  if (error != MPI_SUCCESS) return error;
  error = mpi().Comm_set_errhandler(comm, handler);
  if (error != MPI_SUCCESS) mpi().Errhandler_free(&handler);
  return error;
}

int make_quiet(MPI_Comm comm) {
  if (!has_other_errors_return()) return mpi().Comm_set_errhandler(comm, mpi().errors_return);
  MPI_Errhandler handler{};
  const int error = make_quiet(comm, handler);
  if (error == MPI_SUCCESS) mpi().Errhandler_free(&handler);
  return error;
}

}  // namespace

int OwnedComm::check_nonblocking(MPI_Comm comm) {
  constexpr int rounds = 5;
  constexpr double seconds_of_round = 1;
  if (!makes_communicators_nonblocking()) return MPI_SUCCESS;
  const int p = size_of(comm);
  if (p == 1) return MPI_SUCCESS;
  MPI_Request barrier = mpi().request_null;
  if (const int error = mpi().Ibarrier(comm, &barrier)) return error;
  int is_over = 0;
  for (int round = 0; round < rounds; ++round) {
    const double end = monotonic_seconds() + seconds_of_round;
    do {
      if (mpi().Test(&barrier, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      if (is_over == 0) sched_yield();
    } while (is_over == 0 && monotonic_seconds() < end);
    Bytes over = 0;
    if (const int error = sum_on_all(comm, is_over, over)) return error;
    if (over == p) return MPI_SUCCESS;
  }
  return unmatched;
}

QuietErrors::QuietErrors(MPI_Comm comm) : comm_(comm) {
  if (mpi().Comm_get_errhandler(comm, &usual_) != MPI_SUCCESS) return;
  is_quiet_ = make_quiet(comm, quiet_) == MPI_SUCCESS;
  if (!is_quiet_) mpi().Errhandler_free(&usual_);
}

/// The handler is one of this object alone, so that any other is known to be the program's.
QuietErrors::~QuietErrors() {
  if (!is_quiet_) return;
  MPI_Errhandler now{};
  if (mpi().Comm_get_errhandler(comm_, &now) == MPI_SUCCESS) {
    if (now == quiet_) mpi().Comm_set_errhandler(comm_, usual_);
    mpi().Errhandler_free(&now);
  }
  mpi().Errhandler_free(&quiet_);
  mpi().Errhandler_free(&usual_);
}

int OwnedComm::duplicate(MPI_Comm of, OwnedComm& made) {
  const QuietErrors quiet(of);
  MPI_Group group = mpi().group_null;
  int error = check_nonblocking(of);
  if (error == MPI_SUCCESS) error = mpi().Comm_group(of, &group);
  if (error != MPI_SUCCESS) return error;
  OwnedComm comm;
  error = mpi().Comm_create(of, group, &comm.comm_);
  mpi().Group_free(&group);
  if (error == MPI_SUCCESS) error = make_quiet(comm.handle());
  if (error == MPI_SUCCESS) made = std::move(comm);
  return error;
}

int OwnedComm::split(MPI_Comm of, bool member, int key, OwnedComm& made) {
  OwnedComm comm;
  int error = mpi().Comm_split(of, member ? 0 : MPI_UNDEFINED, key, &comm.comm_);
  if (error != MPI_SUCCESS || !member) return error;
  error = make_quiet(comm.handle());
  if (error == MPI_SUCCESS) made = std::move(comm);
  return error;
}

void OwnedComm::free() {
  if (!is_null()) mpi().Comm_free(&comm_);
  comm_ = mpi().comm_null;
}

MPI_Comm OwnedComm::release() { return std::exchange(comm_, mpi().comm_null); }

}  // namespace tutti
