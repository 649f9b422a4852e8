/// The C functions TUTTI_Arrival_init, TUTTI_Arrival_edge and TUTTI_Arrival_finalize.
#include <tutti/tutti.h>

#include "api/communicator.hpp"
#include "api/entry.hpp"

namespace tutti {

namespace {

/// Runs a function with a communicator on which TUTTI_Arrival_init was called.
template <class Function>
int on_exchange(MPI_Comm comm, Function function) {
  return on_comm(comm, [&]() -> int {
    if (!environment().on) return MPI_SUCCESS;
    Communicator* communicator = Communicator::known(comm);
    const bool has_progress_hints = communicator != nullptr && communicator->arrival() != nullptr &&
                                    communicator->arrival()->has_progress_hints();
    return has_progress_hints ? function(*communicator) : MPI_ERR_COMM;
  });
}

}  // namespace

}  // namespace tutti

int TUTTI_Arrival_init(MPI_Comm comm, double fraction) {
  using namespace tutti;
  return on_comm(comm, [&]() -> int {
    if (!(fraction > 0 && fraction <= 1)) return MPI_ERR_ARG;
    if (const int error = check_intra(comm)) return error;
    if (!environment().on) return MPI_SUCCESS;
    Communicator* communicator = nullptr;
    int error = Communicator::intra(comm, communicator);
    if (error == MPI_SUCCESS) error = communicator->open_arrival();
    if (error == MPI_SUCCESS && communicator->arrival() == nullptr) error = MPI_ERR_OTHER;
    if (error == MPI_SUCCESS) communicator->arrival()->expect_progress_hints(fraction);
    return error;
  });
}

int TUTTI_Arrival_edge(MPI_Comm comm) {
  return tutti::on_exchange(comm, [](tutti::Communicator& communicator) {
    return communicator.arrival()->progress_hint();
  });
}

int TUTTI_Arrival_finalize(MPI_Comm comm) {
  return tutti::on_exchange(comm, [](tutti::Communicator& communicator) {
    communicator.close_arrival();
    return MPI_SUCCESS;
  });
}
