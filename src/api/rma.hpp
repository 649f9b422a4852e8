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

/// The owner of a window of TUTTI_Rma_window_register, and the window's number there; a null system
/// if there is none.
[[nodiscard]] Opened owner_of_handle(MPI_Win handle, int& number);

/// Ends Tutti's operations on the window when it is freed, by the deletion callback of an
/// attribute, if the program frees it past Tutti. `system` identifies the owner and may end
/// earlier. Local. Returns an MPI error code.
int watch(MPI_Win handle, RmaSystem& system);

/// States whether the MPI moves puts while their target computes; empty if no one-sided collectives
/// have been started.
[[nodiscard]] std::string progress_of_rma();

/// Completes and ends the one-sided collectives of all communicators, in the sequence of their
/// start. Collective, at the end of MPI; drops errors.
void close_all_rma();

/// Completes a registered window's operations and releases it; does nothing for other windows.
/// Collective, before MPI_Win_free; drops errors.
void release_window(MPI_Win window);

}  // namespace tutti
