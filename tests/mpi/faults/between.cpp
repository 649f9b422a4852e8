/// Tests that what is requested between nodes runs there: every algorithm of the list, and the
/// MPI's own collectives. And that leaders which leave calls between nodes meet no later ones.
#include <tutti/tutti.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/algorithms.hpp"
#include "faulty.hpp"

namespace {

using tutti::Collective;

/// Seconds until the alarm ends the test.
constexpr unsigned patience = 120;

/// Calls of the MPI's own collectives by this rank.
int native_calls = 0;

template <auto function>
struct Counted;
template <class... Arguments, int (*function)(Arguments...)>
struct Counted<function> {
  static int call(Arguments... arguments) {
    ++native_calls;
    return function(arguments...);
  }
};

/// Except MPI_Allgather in collectives that use it to agree on chunks: those never become an
/// allgather.
void count_calls(tutti::MpiFunctions& all, Collective collective) {
#define TUTTI_COUNT(name) all.name = Counted<&PMPI_##name>::call
  TUTTI_COUNT(Barrier);
  TUTTI_COUNT(Bcast);
  TUTTI_COUNT(Gather);
  TUTTI_COUNT(Gatherv);
  TUTTI_COUNT(Scatter);
  TUTTI_COUNT(Scatterv);
  TUTTI_COUNT(Allgatherv);
  TUTTI_COUNT(Alltoall);
  TUTTI_COUNT(Alltoallv);
  TUTTI_COUNT(Reduce);
  TUTTI_COUNT(Allreduce);
  TUTTI_COUNT(Reduce_scatter);
  TUTTI_COUNT(Reduce_scatter_block);
  const bool agrees = collective == Collective::gatherv || collective == Collective::scatterv ||
                      collective == Collective::alltoallv;
  if (!agrees) TUTTI_COUNT(Allgather);
#undef TUTTI_COUNT
}

/// Two numbers for each rank, but one for rank 0 if blocks may differ.
struct Data {
  explicit Data(int p) : counts(static_cast<std::size_t>(p), 2), places(counts.size()) {
    counts[0] = 1;
    for (std::size_t i = 1; i < places.size(); ++i) places[i] = places[i - 1] + counts[i - 1];
  }
  [[nodiscard]] int of(int rank) const { return counts[static_cast<std::size_t>(rank)]; }
  /// The counts of `rank` for each other rank; symmetric.
  [[nodiscard]] std::vector<int> pairs(int rank) const {
    return rank == 0 ? std::vector<int>(counts.size(), 1) : counts;
  }

  std::vector<int> counts;
  std::vector<int> places;
};

int run(Collective collective, int rank, int p) {
  const Data data(p);
  std::vector<int> send(static_cast<std::size_t>(2 * p), rank);
  std::vector<int> receive(send.size());
  const std::vector<int> pairs = data.pairs(rank);
  std::vector<int> pairs_at(pairs.size());
  std::exclusive_scan(pairs.begin(), pairs.end(), pairs_at.begin(), 0);
  const int* counts = data.counts.data();
  const int* places = data.places.data();
  const int root = p - 1;
  const MPI_Comm comm = MPI_COMM_WORLD;
  switch (collective) {
    case Collective::gather:
      return TUTTI_Gather(send.data(), 2, MPI_INT, receive.data(), 2, MPI_INT, root, comm);
    case Collective::gatherv:
      return TUTTI_Gatherv(send.data(), data.of(rank), MPI_INT, receive.data(), counts, places,
                           MPI_INT, root, comm);
    case Collective::scatter:
      return TUTTI_Scatter(send.data(), 2, MPI_INT, receive.data(), 2, MPI_INT, root, comm);
    case Collective::scatterv:
      return TUTTI_Scatterv(send.data(), counts, places, MPI_INT, receive.data(), data.of(rank),
                            MPI_INT, root, comm);
    case Collective::bcast:
      return TUTTI_Bcast(receive.data(), 2, MPI_INT, root, comm);
    case Collective::allgather:
      return TUTTI_Allgather(send.data(), 2, MPI_INT, receive.data(), 2, MPI_INT, comm);
    case Collective::allgatherv:
      return TUTTI_Allgatherv(send.data(), data.of(rank), MPI_INT, receive.data(), counts, places,
                              MPI_INT, comm);
    case Collective::alltoall:
      return TUTTI_Alltoall(send.data(), 2, MPI_INT, receive.data(), 2, MPI_INT, comm);
    case Collective::alltoallv:
      return TUTTI_Alltoallv(send.data(), pairs.data(), pairs_at.data(), MPI_INT, receive.data(),
                             pairs.data(), pairs_at.data(), MPI_INT, comm);
    case Collective::reduce:
      return TUTTI_Reduce(send.data(), receive.data(), 2, MPI_INT, MPI_SUM, root, comm);
    case Collective::allreduce:
      return TUTTI_Allreduce(send.data(), receive.data(), 2, MPI_INT, MPI_SUM, comm);
    case Collective::reduce_scatter:
      return TUTTI_Reduce_scatter(send.data(), receive.data(), counts, MPI_INT, MPI_SUM, comm);
    case Collective::reduce_scatter_block:
      return TUTTI_Reduce_scatter_block(send.data(), receive.data(), 2, MPI_INT, MPI_SUM, comm);
    default:
      return TUTTI_Barrier(comm);
  }
}

/// Does `specification`, and nothing else, run between nodes? Counts after a first call, in which
/// ranks find each other. Equal on all ranks.
bool runs(Collective collective, const std::string& specification, int rank, int p) {
  const std::string name(name_of(collective));
  waits_in((name + " by " + specification).c_str());
  const bool native = specification.starts_with("hierarchical(native");
  const bool is_set =
      TUTTI_Algorithm_set(name.c_str(), specification.c_str(), nullptr, nullptr) == MPI_SUCCESS;
  bool well = is_set && run(collective, rank, p) == MPI_SUCCESS;
  native_calls = 0;
  {
    const tutti::test::Faulty functions(
        [collective](tutti::MpiFunctions& all) { count_calls(all, collective); });
    well = run(collective, rank, p) == MPI_SUCCESS && well;
  }
  std::array<char, 300> requested{};
  int length = static_cast<int>(requested.size());
  TUTTI_Algorithm_get(name.c_str(), requested.data(), &length);
  const std::string ran = tutti::test::last_run(MPI_COMM_WORLD, name.c_str());
  well = well && ran.starts_with(std::string(requested.data()) + ": requested");
  std::array<int, 2> all = {native_calls, well ? 0 : 1};
  PMPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all[1] == 0 && native == (all[0] > 0)) return true;
  if (rank == 0) {
    std::printf("%s by %s: %d native calls, \"%s\"\n", name.c_str(), specification.c_str(), all[0],
                ran.c_str());
  }
  return false;
}

int freed = 0;  ///< communicators
int (*free_of_mpi)(MPI_Comm*) = nullptr;

int counting_free(MPI_Comm* comm) {
  ++freed;
  return free_of_mpi(comm);
}

/// Frees `comm`; returns how many communicators that frees.
int count_frees(MPI_Comm& comm) {
  freed = 0;
  const tutti::test::Faulty functions([](tutti::MpiFunctions& spoilt) {
    free_of_mpi = std::exchange(spoilt.Comm_free, counting_free);
  });
  MPI_Comm_free(&comm);
  return freed;
}

int throwing_size(MPI_Datatype, MPI_Count*) { throw std::bad_alloc(); }

int failing_allgatherv(const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                       MPI_Comm) {
  ++native_calls;
  return MPI_ERR_OTHER;
}

/// Memory ends at rank 0, the leader of its node, before the call between nodes. Its later calls
/// would meet that one, in which the other leader, rank 1, would wait for it: it has only errors.
bool loses_a_leader(int rank, int p) {
  waits_in("loses_a_leader");
  if (TUTTI_Algorithm_set("allgather", "hierarchical(native,leaders=1)", nullptr, nullptr) !=
      MPI_SUCCESS) {
    return false;
  }
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Datatype type = MPI_DATATYPE_NULL;  // looked up in each call
  MPI_Type_contiguous(1, MPI_INT, &type);
  MPI_Type_commit(&type);
  std::vector<int> all(static_cast<std::size_t>(p));
  bool well = true;
  for (int call = 0; call < 3; ++call) {
    native_calls = 0;
    const tutti::test::Faulty functions([&](tutti::MpiFunctions& spoilt) {
      if (call > 0) spoilt.Allgatherv = failing_allgatherv;
      if (call == 1 && rank == 0) spoilt.Type_size_x = throwing_size;
    });
    const int error = TUTTI_Allgather(&rank, 1, type, all.data(), 1, type, comm);
    if (rank < 2) well = well && (error != MPI_SUCCESS) == (call > 0);
    if (rank == 0 && call > 0) well = well && native_calls == 0;
  }
  MPI_Type_free(&type);
  // The communicator of leaders stays at rank 0.
  const int frees = count_frees(comm) + (rank == 0 ? 1 : 0);
  int of_other_leader = frees;
  PMPI_Bcast(&of_other_leader, 1, MPI_INT, 1, MPI_COMM_WORLD);
  well = well && (rank != 0 || frees == of_other_leader);
  int failed = well ? 0 : 1;
  PMPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return failed == 0;
}

int sent = 0;  ///< messages of this rank
int counting_isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  ++sent;
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

int failing_testsome(int, MPI_Request*, int*, int*, MPI_Status*) { return MPI_ERR_OTHER; }

/// Makes three calls whose messages between nodes stay open from the second one on, if `stay`.
/// True if those have only errors, and the third one sends nothing. Sets `frees` to the
/// communicators that are freed afterwards.
bool calls_with_open_messages(bool stay, int rank, int p, int& frees) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::vector<int> all(static_cast<std::size_t>(p));
  bool well = true;
  for (int call = 0; call < 3; ++call) {
    const bool fails = stay && call > 0;
    sent = 0;
    const tutti::test::Faulty functions([&](tutti::MpiFunctions& spoilt) {
      spoilt.Isend = counting_isend;
      if (fails) spoilt.Testsome = failing_testsome;
    });
    const int error = TUTTI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    if (rank < 2) well = well && (error != MPI_SUCCESS) == fails;
    if (rank < 2) well = well && (sent > 0) == (!fails || call == 1);
  }
  frees = count_frees(comm);
  return well;
}

/// Leaders, ranks 0 and 1, leave messages between nodes open: later calls send nothing beside them,
/// and the leaders' communicator is not freed, whose number another one could get.
bool leaves_messages_open(int rank, int p) {
  waits_in("leaves_messages_open");
  if (TUTTI_Algorithm_set("allgather", "ring:level=node,leaders=1", nullptr, nullptr) !=
      MPI_SUCCESS) {
    return false;
  }
  int of_sound_calls = 0;
  int of_lost_ones = 0;
  bool well = calls_with_open_messages(false, rank, p, of_sound_calls);
  well = calls_with_open_messages(true, rank, p, of_lost_ones) && well;
  well = well && of_lost_ones == of_sound_calls - (rank < 2 ? 1 : 0);
  int failed = well ? 0 : 1;
  if (failed) std::printf("rank %d: %d and %d freed\n", rank, of_sound_calls, of_lost_ones);
  PMPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return failed == 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  watch(rank, patience);
  setenv("TUTTI_NODE", "1,2", 1);
  int passed = 0;
  int failed = 0;
  const auto check = [&](Collective collective, const std::string& specification) {
    ++(runs(collective, specification, rank, p) ? passed : failed);
  };
  for (const Collective collective : tutti::all_collectives) {
    if (tutti::can_be_hierarchical(collective)) check(collective, "hierarchical(native,leaders=2)");
  }
  for (const tutti::Algorithm& algorithm : tutti::all_algorithms()) {
    if (!tutti::can_be_hierarchical(algorithm.collective)) continue;
    check(algorithm.collective, std::string(algorithm.name) + ":level=node,leaders=" +
                                    std::to_string(1 + (passed + failed) % 2));
  }
  ++(loses_a_leader(rank, p) ? passed : failed);
  ++(leaves_messages_open(rank, p) ? passed : failed);
  if (rank == 0) std::printf("%d passed, %d failed\n", passed, failed);
  MPI_Finalize();
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
