/// Tests hierarchical calls if the MPI fails on one rank while ranks share the selection: later
/// calls are in step again on all ranks.
#include <mpi.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "api/hooks.hpp"
#include "faulty.hpp"
#include "run/hierarchical/mpi_hierarchical.hpp"
#include "temporary_folder.hpp"

namespace {

using tutti::test::Faulty;

/// Seconds until the alarm ends a program that waits for a signal.
constexpr unsigned patience = 60;
constexpr int faulty_rank = 2;

/// Files that rank 0 reads: a fictitious machine on which node memory gains, and a rule that
/// selects it for a bcast of 8 bytes and more.
class MadeUpFiles {
 public:
  explicit MadeUpFiles(int rank) {
    if (rank != 0) return;
    name("TUTTI_MACHINE", "latency 1e-3\nlocal_latency 1e-2\nsignal 1e-9\n");
    name("TUTTI_RULES", R"x({"schema": "tutti-rules-1", "rules": [
        {"collective": "bcast", "bytes": "8..inf", "use": "hierarchical(native)"}]})x");
  }

 private:
  void name(const char* setting, const char* content) {
    const std::string file = folder_.path() / setting;
    std::ofstream(file) << content;
    setenv(setting, file.c_str(), 1);
  }

  tutti::test::TemporaryFolder folder_;
};

int heard = 0;  ///< errors that the program's handler received

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

/// Gathers a number from each rank; checks all if `whole`, for calls in which no rank fails.
/// `sent`: the count of what this rank sends; none: `count`.
int gather(MPI_Comm comm, int count, bool whole = true, std::optional<int> sent = {}) {
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &p);
  std::vector<int> all(static_cast<std::size_t>(p), -1);
  const int code =
      TUTTI_Allgather(&rank, sent.value_or(count), MPI_INT, all.data(), count, MPI_INT, comm);
  for (int from = 0; from < p && whole; ++from) {
    expect(all[static_cast<std::size_t>(from)] == from, "wrong data");
  }
  return code;
}

/// Sends numbers from rank 0, which each rank with a valid count checks.
int cast(MPI_Comm comm, int count = 2) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  constexpr std::array sent = {1, 2};
  std::array<int, 2> numbers = rank == 0 ? sent : std::array{-1, -1};
  const int code = TUTTI_Bcast(numbers.data(), count, MPI_INT, 0, comm);
  expect(count < 0 || numbers == sent, "wrong data");
  return code;
}

/// The first probe of a waiting rank lets the others go; then it fails.
int failing_iprobe(int, int, MPI_Comm, int*, MPI_Status*) {
  static bool is_first = true;
  for (int to = 0; to < faulty_rank && is_first; ++to) {
    PMPI_Send(&to, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
  }
  is_first = false;
  return MPI_ERR_OTHER;
}

std::string last(MPI_Comm comm, const char* collective = "allgather") {
  return tutti::test::last_run(comm, collective);
}

/// A rank with invalid arguments asks the others whether a rule holds for the size of the call.
void ask_in_vain(int rank) {
  const Heard comm;
  expect(cast(comm.get()) == MPI_SUCCESS, "a first call");
  expect(last(comm.get(), "bcast").starts_with("hierarchical(native,leaders=1): rules"),
         "no rule decided");
  if (rank == faulty_rank) {
    const Faulty functions([](tutti::MpiFunctions& all) { all.Iprobe = failing_iprobe; });
    expect(cast(comm.get(), -1) != MPI_SUCCESS, "no error");
    expect(heard == 1, "the handler heard not one error");
  } else {
    int token = 0;
    MPI_Recv(&token, 1, MPI_INT, faulty_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(cast(comm.get()) == MPI_SUCCESS, "an error of another rank");
  }
  for (int call = 0; call < 3; ++call) {
    expect(cast(comm.get()) == MPI_SUCCESS, "an error after it");
  }
}

int slow_allgather(const void* send, int sent, MPI_Datatype sent_type, void* receive, int received,
                   MPI_Datatype received_type, MPI_Comm comm) {
  usleep(5000);
  if (sent < 0) return MPI_ERR_COUNT;
  return PMPI_Allgather(send, sent, sent_type, receive, received, received_type, comm);
}

/// Before it has explored, `auto` leaves calls to the MPI, also where that spins on shared cores.
void leave_to_native() {
  const Heard comm;
  expect(gather(comm.get(), 1) == MPI_SUCCESS, "a first call by auto");
  expect(last(comm.get()).starts_with("native"), "auto has not begun with the MPI's own");
}

/// The MPI's own is slow, so that the tuner selects something else. Calls with invalid arguments
/// before, during and after that leave all ranks in step.
void tune_beside_invalid_arguments() {
  const Heard comm;
  const auto usual = tutti::next_functions().Allgather;
  tutti::next_functions().Allgather = slow_allgather;
  for (int call = 0; call < 600; ++call) {
    const bool is_invalid = call % 7 == 3;
    const int code = gather(comm.get(), 1, !is_invalid, is_invalid ? -1 : 1);
    expect((code != MPI_SUCCESS) == is_invalid, "an error in the wrong call");
    const std::string own = last(comm.get());
    char first[300] = "";
    own.copy(first, sizeof first - 1);
    PMPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm.get());
    expect(own == first, "ranks ran different candidates");
  }
  expect(!last(comm.get()).starts_with("native"), "the slow way was taken");
  tutti::next_functions().Allgather = usual;
}

/// Fails as an MPI does: calls the communicator's error handler.
int failing_allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm comm) {
  PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

int failing_iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Request*) {
  return failing_allreduce(send, receive, count, type, op, comm);
}

/// Until nodes are open, ranks agree on the program's communicator, whose handler gets an error
/// there once.
void fail_in_agreement() {
  const Heard comm;
  constexpr int first_calls = 8;
  for (int call = 0; call < first_calls; ++call) {
    expect(gather(comm.get(), 1) == MPI_SUCCESS, "a first call");
  }
  {
    const Faulty functions([](tutti::MpiFunctions& all) {
      all.Allreduce = failing_allreduce;
      all.Iallreduce = failing_iallreduce;
    });
    expect(gather(comm.get(), 1, false) != MPI_SUCCESS, "no error");
  }
  expect(heard == 1, "the handler heard not one error in an agreement");
  expect(gather(comm.get(), 1) == MPI_SUCCESS, "an error after the agreement");
}

int open(MPI_Comm comm, const tutti::NodeSettings& settings,
         std::unique_ptr<tutti::HierarchicalRunner>& runner) {
  tutti::Nodes nodes;
  if (const int error = tutti::guess_nodes(comm, settings, nodes)) return error;
  return tutti::HierarchicalRunner::open(comm, nodes, settings, {}, runner);
}

/// Node memory is so small that sizes would take more than 50 % of it.
void leave_no_room_for_sizes() {
  MPI_Comm comm = MPI_COMM_NULL;
  int p = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_size(comm, &p);
  {
    tutti::NodeSettings settings;
    settings.memory = tutti::page_bytes();
    std::unique_ptr<tutti::HierarchicalRunner> runner;
    expect(open(comm, settings, runner) == MPI_SUCCESS, "no nodes");
    expect(runner->node().capacity() == 0, "beyond the bound");
    for (int call = 0; call < 3; ++call) {
      std::string refused;
      tutti::HierarchicalCall exchange;
      exchange.call.collective = tutti::Collective::alltoallv;
      expect(runner->run(exchange, refused) == MPI_SUCCESS, "an error");
      expect(refused.find("sizes") != std::string::npos, "sizes were told without room for them");
      tutti::HierarchicalCall barrier;
      expect(runner->run(barrier, refused) == MPI_SUCCESS && refused.empty(), "no barrier");
    }
  }
  MPI_Comm_free(&comm);
}

int communicators = 0;

int count_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  ++communicators;
  return PMPI_Comm_split(comm, color, key, made);
}

int count_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  ++communicators;
  return PMPI_Comm_create(comm, group, made);
}

/// Finds the nodes of communicators whatever the sequence of their ranks, and makes none for that.
void find_nodes() {
  const Faulty functions([](tutti::MpiFunctions& all) {
    all.Comm_split = count_split;
    all.Comm_create = count_create;
  });
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  tutti::NodeSettings settings;
  settings.emulated = *tutti::emulated_nodes("2,1");
  for (int round = 0; round < 4; ++round) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, round == 3 && rank == 0 ? 1 : 0, -rank, &comm);
    {
      std::unique_ptr<tutti::HierarchicalRunner> runner;
      communicators = 0;
      expect(open(comm, settings, runner) == MPI_SUCCESS, "no nodes");
      expect(communicators == 0, "a communicator");
      const tutti::Nodes& nodes = runner->node().nodes();
      expect(nodes.count() == (round < 3 || nodes.p() > 1 ? 2 : 1), "other nodes");
      expect(runner->node().ranks() == (round < 3 && rank < 2 ? 2 : 1), "not those of the node");
      std::string refused;
      tutti::HierarchicalCall barrier;
      expect(runner->run(barrier, refused) == MPI_SUCCESS && refused.empty(), "no barrier");
    }
    MPI_Comm_free(&comm);
  }
}

int throwing_barrier(MPI_Comm) { throw std::bad_alloc(); }

int failing_barrier(MPI_Comm) { return MPI_ERR_OTHER; }

bool meets_others = false;

int noted_barrier(MPI_Comm) {
  meets_others = true;
  return MPI_ERR_OTHER;
}

/// Memory ends at a leader before its call between nodes: its later ones would meet that call at
/// other nodes, so its node has only errors from then on. The other leader would wait for it.
void lose_a_leader(int rank) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  {
    tutti::NodeSettings settings;
    settings.emulated = *tutti::emulated_nodes("2,1");
    std::unique_ptr<tutti::HierarchicalRunner> runner;
    expect(open(comm, settings, runner) == MPI_SUCCESS, "no nodes");
    for (int call = 0; call < 3; ++call) {
      const Faulty functions([&](tutti::MpiFunctions& all) {
        if (call > 0 && rank == 2) all.Barrier = failing_barrier;
        if (call == 1 && rank == 0) all.Barrier = throwing_barrier;
        if (call == 2 && rank == 0) all.Barrier = noted_barrier;
      });
      std::string refused;
      tutti::HierarchicalCall barrier;
      const int error = runner->run(barrier, refused);
      expect((error != MPI_SUCCESS) == (call > 0), "the wrong call failed");
      if (call == 1 && rank == 0) expect(error == MPI_ERR_NO_MEM, "another error");
    }
    expect(!meets_others, "a call met another one");
  }
  MPI_Comm_free(&comm);
}

/// The programs of a communicator's calls take no more memory than they may.
void keep_few_programs() {
  tutti::LoweredCall call;
  call.key.sizes.by_rank.resize(1000);
  call.program.operations.resize(1000);
  const std::size_t bytes = bytes_of(call);
  expect(bytes > 1000 * (sizeof(tutti::Bytes) + sizeof(tutti::Operation)), "bytes not counted");
  tutti::RecentlyUsed<tutti::LoweredCall> programs(3 * bytes);
  for (int leaders = 1; leaders <= 4; ++leaders) {
    call.key.leaders = leaders;
    programs.keep(call);
  }
  expect(programs.find(call.key) != nullptr, "the latest program is dropped");
  call.key.leaders = 1;
  expect(programs.find(call.key) == nullptr, "too many programs are kept");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  setenv("TUTTI_EXPLORE", "1", 1);
  const MadeUpFiles files(rank);
  watch(rank, patience);
  waits_in("ask_in_vain");
  ask_in_vain(rank);
  TUTTI_Algorithm_set("allgather", "hierarchical(native)", nullptr, nullptr);
  waits_in("find_nodes");
  find_nodes();
  waits_in("leave_no_room_for_sizes");
  leave_no_room_for_sizes();
  TUTTI_Algorithm_set("allgather", "auto", nullptr, nullptr);
  waits_in("leave_to_native");
  leave_to_native();
  waits_in("tune_beside_invalid_arguments");
  tune_beside_invalid_arguments();
  waits_in("fail_in_agreement");
  fail_in_agreement();
  waits_in("lose_a_leader");
  lose_a_leader(rank);
  keep_few_programs();
  if (rank == 0) std::puts("8 passed, 0 failed");
  MPI_Finalize();
}
