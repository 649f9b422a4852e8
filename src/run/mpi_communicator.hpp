/// What Tutti keeps with each communicator of the program.
#pragma once

#include <memory>
#include <optional>

#include "run/executor.hpp"
#include "run/mpi_buffers.hpp"
#include "run/mpi_call.hpp"
#include "run/mpi_transport.hpp"
#include "run/rooted.hpp"

namespace tutti {

/// The private duplicate of a communicator, with everything that is reused from call to call.
class PrivateComm {
 public:
  /// Duplicates without calling the program's attribute functions. Collective over `of`. Returns
  /// an MPI error code.
  static int duplicate(MPI_Comm of, std::unique_ptr<PrivateComm>& made);
  ~PrivateComm();
  PrivateComm(const PrivateComm&) = delete;
  PrivateComm& operator=(const PrivateComm&) = delete;

  /// Frees the communicator; nothing may be run any more. Collective.
  void free();
  [[nodiscard]] MPI_Comm handle() const { return comm_; }

  /// Looks up the datatypes that are significant at this rank. False if one is not valid; no
  /// communicator of the program hears of the error.
  [[nodiscard]] bool learn_types(RootedCall& call);

  /// Runs a gather or scatter with valid arguments and known types. Returns an MPI error code.
  int run(const RootedCall& call, const Specification& specification, Bytes latency);

 private:
  PrivateComm(MPI_Comm comm, Rank rank, int p)
      : comm_(comm), rank_(rank), p_(p), transport_(comm, rank) {}

  MPI_Comm comm_;
  Rank rank_;
  int p_;
  MpiTransport transport_;
  Executor executor_;
  RootedPlanner planner_;
  Scratch scratch_;
  TypeCache types_;
};

}  // namespace tutti
