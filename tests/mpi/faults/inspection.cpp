/// Tests that looking at calls is paid by the budget of exploration: where it takes long, nothing
/// explores.
#include <tutti/tutti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "api/call.hpp"
#include "faulty.hpp"

namespace {

/// Seconds until the alarm ends the test.
constexpr unsigned patience = 60;
/// What they last could pay for exploring, but not for looking at one of them slowly.
constexpr int calls = 60;
constexpr useconds_t length = 2000;
constexpr useconds_t slow_look = 500'000;

int slow_allgather(const void* send, int sent, MPI_Datatype send_type, void* receive, int received,
                   MPI_Datatype receive_type, MPI_Comm comm) {
  usleep(length);
  return PMPI_Allgather(send, sent, send_type, receive, received, receive_type, comm);
}

int slow_type_size(MPI_Datatype type, MPI_Count* size) {
  usleep(slow_look);
  return PMPI_Type_size_x(type, size);
}

/// How many of the calls on a new communicator run another algorithm than the MPI's own.
int explored(int p) {
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int own = 1;
  std::vector<int> all(static_cast<std::size_t>(p));
  int found = 0;
  for (int call = 0; call < calls; ++call) {
    TUTTI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    found += tutti::test::last_run(comm, "allgather").starts_with("native") ? 0 : 1;
  }
  MPI_Comm_free(&comm);
  return found;
}

/// Do alltoallvs of one size have one signature, and those of other sizes another?
bool tells_sizes_apart(int rank, int p) {
  const auto signature = [&](int kept, int sent) {
    std::vector<int> counts(static_cast<std::size_t>(p), sent);
    counts[static_cast<std::size_t>(rank)] = kept;
    tutti::MpiCall call;
    call.collective = tutti::Collective::alltoallv;
    for (tutti::CallSide* side : {&call.send, &call.receive}) {
      side->blocks = tutti::RankBlocks::counted(counts.data());
      side->type = MPI_INT;
    }
    return tutti::signature_of(call, rank, p);
  };
  const int others = p - 1;  // so that kept + others * sent is one sum
  return signature(10 * others, 1) == signature(0, 1) &&
         signature(10 * others, 1) != signature(0, 11);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_EXPLORE", "0.5", 1);
  setenv("TUTTI_RULES", "none", 1);
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  watch(rank, patience);
  int usual = 0;
  int slow = 0;
  {
    const tutti::test::Faulty slow_functions(
        [](tutti::MpiFunctions& functions) { functions.Allgather = slow_allgather; });
    waits_in("calls with quick looks");
    usual = explored(p);
  }
  {
    const tutti::test::Faulty slow_functions([](tutti::MpiFunctions& functions) {
      functions.Allgather = slow_allgather;
      functions.Type_size_x = slow_type_size;
    });
    waits_in("calls with slow looks");
    slow = explored(p);
  }
  if (rank == 0) {
    std::printf("of %d calls %d explored, and %d where looking at one takes long\n", calls, usual,
                slow);
  }
  const bool are_apart = tells_sizes_apart(rank, p);
  if (!are_apart) std::printf("sizes of alltoallvs are confused\n");
  MPI_Finalize();
  return usual > 0 && slow == 0 && are_apart ? EXIT_SUCCESS : EXIT_FAILURE;
}
