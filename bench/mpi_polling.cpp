/// Measures one-sided broadcasts between two ranks.
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/mpi_machine.hpp"
#include "bench/statistics.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

constexpr int turns = 50;
constexpr double least = 1e-9;   // a machine's parameters are positive
constexpr MPI_Aint page = 4096;  // MPICH 4.0 writes beside windows of odd sizes

/// Seconds until a root knows that the other rank of `comm` has its data; negative if one-sided
/// collectives cannot run. Sets `progresses` as TUTTI_Rma_progress does.
double round_trip(MPI_Comm comm, int& progresses) {
  void* base = nullptr;
  MPI_Win handle = MPI_WIN_NULL;
  TUTTI_Window window = TUTTI_WINDOW_NULL;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  // Open MPI 4.1 cannot create windows over TCP in programs with threads.
  int error = MPI_Win_allocate(page, 1, MPI_INFO_NULL, comm, static_cast<void*>(&base), &handle);
  if (error != MPI_SUCCESS) return -1;
  error = TUTTI_Rma_init(comm);
  const bool is_open = error == MPI_SUCCESS;
  if (is_open) error = TUTTI_Rma_window_register(handle, comm, &window);
  if (error == MPI_SUCCESS) error = TUTTI_Rma_progress(comm, &progresses);
  std::vector<double> seconds;
  const std::array<char, 8> data{};
  for (int turn = 0; rank == 0 && turn < turns && error == MPI_SUCCESS; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    const double begin = MPI_Wtime();
    error =
        TUTTI_Rma_bcast(data.data(), static_cast<int>(data.size()), MPI_CHAR, 0, window, &request);
    if (error == MPI_SUCCESS) error = TUTTI_Rma_flush(&request);
    seconds.push_back(MPI_Wtime() - begin);
  }
  if (is_open) TUTTI_Rma_finalize(comm);
  MPI_Win_free(&handle);
  const bool good = error == MPI_SUCCESS && !seconds.empty();
  return good ? summarize(std::move(seconds)).median : -1;
}

}  // namespace

void measure_polling(const Job& job, Machine& machine) {
  if (job.p() == 1) return;
  const bool takes_part = job.rank() == 0 || job.rank() == job.p() - 1;
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(job.control(), takes_part ? 0 : MPI_UNDEFINED, 0, &pair);
  int progresses = 1;
  if (takes_part) {
    MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
    const double taken = round_trip(pair, progresses);
    if (taken > 0) machine.polling = std::max(taken - 2 * machine.latency, least);
    MPI_Comm_free(&pair);
  }
  job.barrier(Patience::sleep);
  MPI_Bcast(&machine.polling, 1, MPI_DOUBLE, 0, job.control());
  MPI_Bcast(&progresses, 1, MPI_INT, 0, job.control());
  if (progresses == 0) machine.serving = machine.polling;
}

}  // namespace tutti::bench
