/// Calls through the memory of a node where the MPI fails on one rank while the way of the call is
/// told: the calls after it are those of all ranks again.
#include <mpi.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "faulty.hpp"

namespace {

using tutti::test::Faulty;

/// The program waits no longer than this for a flag until the alarm ends it.
constexpr unsigned patience = 60;
constexpr int faulty_rank = 2;

int heard = 0;  ///< errors, by the program's handler

void hear(MPI_Comm*, int*, ...) { ++heard; }

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "node memory: %s\n", what);
  std::abort();
}

/// A duplicate of the world whose errors are counted.
class Heard {
 public:
  Heard() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(comm_, handler);
    MPI_Errhandler_free(&handler);
    heard = 0;
  }
  ~Heard() { MPI_Comm_free(&comm_); }
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;
  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Of a number from each rank, `whole` where none of them fails.
int gather(MPI_Comm comm, int count, bool whole = true) {
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  std::vector<int> all(static_cast<std::size_t>(p), -1);
  const int code = TUTTI_Allgather(&rank, count, MPI_INT, all.data(), count, MPI_INT, comm);
  for (int from = 0; from < p && whole; ++from) {
    expect(all[static_cast<std::size_t>(from)] == from, "wrong data");
  }
  return code;
}

/// The first of all looks of a rank that waits lets the others go, then fails.
int failing_iprobe(int, int, MPI_Comm, int*, MPI_Status*) {
  static bool is_first = true;
  for (int to = 0; to < faulty_rank && is_first; ++to) {
    PMPI_Send(&to, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
  }
  is_first = false;
  return MPI_ERR_OTHER;
}

/// A rank with bad arguments asks the others by how many leaders the call goes.
void ask_in_vain(int rank) {
  const Heard comm;
  expect(gather(comm.get(), 1) == MPI_SUCCESS, "a first call");
  if (rank == faulty_rank) {
    const Faulty functions([](tutti::MpiFunctions& all) { all.Iprobe = failing_iprobe; });
    expect(gather(comm.get(), -1, false) != MPI_SUCCESS, "no error");
    expect(heard == 1, "the handler heard not one error");
  } else {
    int token = 0;
    MPI_Recv(&token, 1, MPI_INT, faulty_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(gather(comm.get(), 1, false) == MPI_SUCCESS, "an error of another rank");
  }
  for (int call = 0; call < 3; ++call) {
    expect(gather(comm.get(), 1) == MPI_SUCCESS, "an error after it");
  }
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_ALLGATHER", "native:level=node", 1);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  alarm(patience);
  ask_in_vain(rank);
  if (rank == 0) std::puts("1 passed, 0 failed");
  MPI_Finalize();
}
