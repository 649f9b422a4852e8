/// One-sided collectives at the end of MPI, and of windows.
#pragma once

#include <memory>
#include <string>

#include "api/rma_choice.hpp"
#include "run/rma/mpi_rma.hpp"

namespace tutti {

/// A communicator with one-sided collectives.
struct Opened {
  MPI_Comm comm;
  std::shared_ptr<RmaSystem> system;
  std::shared_ptr<RmaChooser> chooser = nullptr;
};

/// The one that a window is registered for, and its number there; no system if there is none.
[[nodiscard]] Opened owner_of_handle(MPI_Win handle, int& number);

/// Has the MPI tell of the window's end. Returns an MPI error code.
int watch(MPI_Win handle, RmaSystem& system);

/// Whether the MPI moves puts while their target computes, as a sentence; empty where no one-sided
/// collectives have been started.
[[nodiscard]] std::string progress_of_rma();

/// Completes and ends what is still open on any communicator, in the sequence of their opening.
void close_all_rma();

/// Completes the operations on a window that is still registered, and gives it back. Collective,
/// as is what follows: MPI_Win_free.
void release_window(MPI_Win window);

}  // namespace tutti
