/// TUTTI_Distances_measure and TUTTI_Comm_reorder.
#include <tutti/tutti.h>

#include <algorithm>

#include "api/communicator.hpp"
#include "api/entry.hpp"
#include "run/distance/mpi_distances.hpp"
#include "run/file.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

namespace {

int measure(MPI_Comm comm, const char* file, int nodes_per_switch) {
  OwnedComm own;
  int error = OwnedComm::duplicate(comm, own);
  if (error != MPI_SUCCESS) return error;
  if (size_of(own.handle()) > max_distance_ranks) return MPI_ERR_COMM;
  DistanceFile distances;
  error = measure_distances(own.handle(), nodes_per_switch, distances);
  if (error != MPI_SUCCESS) return error;
  std::string text;
  char written = 1;
  if (rank_in(own.handle()) == 0) {
    text = to_text(distances);
    if (file != nullptr && !replace_text_file(file, text).empty()) written = 0;
  }
  error = take_from_first(text, own.handle());  // each may be rank 0 of other communicators
  if (error == MPI_SUCCESS) error = take_from_first(written, own.handle());
  if (error != MPI_SUCCESS) return error;
  set_distances(std::move(text));
  return written != 0 ? MPI_SUCCESS : MPI_ERR_FILE;
}

int reorder(Communicator& communicator, MPI_Comm comm, std::optional<Collective> collective,
            MPI_Comm* made) {
  std::unique_ptr<DistanceOrders> orders;
  std::vector<Rank> ranks;
  int error = DistanceOrders::open(comm, communicator.machine(),
                                   communicator.rank() == 0 ? known_distances() : nullptr, orders);
  if (error == MPI_SUCCESS) error = orders->order_of_all(collective, ranks);
  if (error != MPI_SUCCESS) return error;
  const auto position = std::ranges::find(ranks, communicator.rank());
  return mpi().Comm_split(comm, 0, static_cast<int>(position - ranks.begin()), made);
}

}  // namespace

}  // namespace tutti

int TUTTI_Distances_measure(MPI_Comm comm, const char* file, int nodes_per_switch) {
  using namespace tutti;
  return on_comm(comm, [&]() -> int {
    if (const int error = check_intra(comm)) return error;
    return nodes_per_switch < 0 ? MPI_ERR_ARG : measure(comm, file, nodes_per_switch);
  });
}

int TUTTI_Comm_reorder(MPI_Comm comm, const char* collective, MPI_Comm* newcomm) {
  using namespace tutti;
  if (newcomm != nullptr) *newcomm = mpi().comm_null;
  return on_comm(comm, [&]() -> int {
    if (newcomm == nullptr) return MPI_ERR_ARG;
    const auto named = collective == nullptr ? std::nullopt : collective_named(collective);
    if (collective != nullptr && !named) return MPI_ERR_ARG;
    if (const int error = check_intra(comm)) return error;
    if (!environment().on) return mpi().Comm_split(comm, 0, 0, newcomm);
    Communicator* communicator = nullptr;
    const int error = Communicator::intra(comm, communicator);
    return error != MPI_SUCCESS ? error : reorder(*communicator, comm, named, newcomm);
  });
}
