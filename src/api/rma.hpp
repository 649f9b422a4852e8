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

/// The owner of a registered window, and the window's number there; a null system if there is none.
[[nodiscard]] Opened owner_of_handle(MPI_Win handle, int& number);

/// Makes the MPI report the window's end. Returns an MPI error code.
int watch(MPI_Win handle, RmaSystem& system);

/// States whether the MPI moves puts while their target computes; empty if no one-sided collectives
/// have been started.
[[nodiscard]] std::string progress_of_rma();

/// Completes and ends the one-sided collectives of all communicators, in the sequence of their
/// start.
void close_all_rma();

/// Completes a registered window's operations and releases it. Collective, before MPI_Win_free.
void release_window(MPI_Win window);

}  // namespace tutti
