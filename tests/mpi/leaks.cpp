/// Communicators that are made, used by all kinds of calls and freed release all resources.
#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

/// The resources of a process that communicators use.
struct Holdings {
  long bytes = 0;     ///< resident
  long heap = 0;      ///< bytes allocated
  long files = 0;     ///< open descriptors
  long segments = 0;  ///< descriptors and mappings of node memory
  long mappings = 0;
  long index = 0;  ///< of the next communicator, see index_of
};

bool is_node_memory(const std::string& text) { return text.find("memfd:tutti") != text.npos; }

/// Whether a mapping is reserved without access: for the last 64 released results, as guard of a
/// thread stack, or by the heap.
bool is_reserved(const std::string& line) {
  return line.find(" ---p ") != line.npos && line.find(" 00:00 0") != line.npos;
}

Holdings holdings() {
  Holdings now;
  now.bytes = resident_bytes();
  const struct mallinfo2 heap = mallinfo2();
  now.heap = static_cast<long>(heap.uordblks + heap.hblkhd);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    now.mappings += is_reserved(line) ? 0 : 1;
    now.segments += is_node_memory(line) ? 1 : 0;
  }
  const std::string folder = "/proc/self/fd/";
  DIR* const open = opendir(folder.c_str());
  for (const dirent* entry = readdir(open); entry != nullptr; entry = readdir(open)) {
    std::array<char, 256> target{};
    const ssize_t length =
        readlink((folder + entry->d_name).c_str(), target.data(), target.size() - 1);
    if (length < 0) continue;
    ++now.files;
    now.segments += is_node_memory(target.data()) ? 1 : 0;
  }
  closedir(open);
  return now;
}

/// The index of a communicator in its MPI's table, which both MPIs reuse after it is freed. So the
/// index of a new communicator grows if some are not freed.
int index_of(MPI_Comm comm) { return static_cast<int>(MPI_Comm_c2f(comm)) & 0x3ffffff; }

/// The settings of one round, of all kinds: around and without node memory, with the MPI's and with
/// Tutti's own algorithms.
class AllKinds {
 public:
  explicit AllKinds(bool native) {
    const std::array<std::array<const char*, 2>, 5> all = {
        {{"gather", "hierarchical(native)"},
         {"allgather", "hierarchical(ring)"},
         {"bcast", "binomial"},
         {"alltoall", "hierarchical(native,leaders=2)"},
         {"allreduce", "recursive_doubling"}}};
    for (const auto& [collective, name] : all) {
      forced_.push_back(std::make_unique<Forced>(collective, name, native));
    }
  }
  [[nodiscard]] std::string error() const {
    std::string text;
    for (const auto& one : forced_) text += one->error();
    return text;
  }

 private:
  std::vector<std::unique_ptr<Forced>> forced_;
};

/// Calls of all kinds, whose results differ in each round.
void use(Context& context, const OwnComm& comm, int round, bool native) {
  const int p = comm.size();
  const int own = round + comm.rank();
  const int root = round % p;
  std::vector<int> all(static_cast<std::size_t>(p));
  std::vector<int> expected(all.size());
  std::iota(expected.begin(), expected.end(), round);
  const auto check = [&](const char* name, bool right) {
    if (!right) context.fail(std::string(name) + ", round " + std::to_string(round));
  };
  const auto cleared = [&all] {
    std::fill(all.begin(), all.end(), -1);
    return all.data();
  };
  (native ? PMPI_Gather : TUTTI_Gather)(&own, 1, MPI_INT, cleared(), 1, MPI_INT, root, comm.get());
  check("gather", comm.rank() != root || all == expected);
  (native ? PMPI_Allgather : TUTTI_Allgather)(&own, 1, MPI_INT, cleared(), 1, MPI_INT, comm.get());
  check("allgather", all == expected);
  int told = comm.rank() == root ? round : -1;
  (native ? PMPI_Bcast : TUTTI_Bcast)(&told, 1, MPI_INT, root, comm.get());
  check("bcast", told == round);
  const std::vector<int> given(all.size(), own);
  (native ? PMPI_Alltoall : TUTTI_Alltoall)(given.data(), 1, MPI_INT, cleared(), 1, MPI_INT,
                                            comm.get());
  check("alltoall", all == expected);
  int sum = 0;
  (native ? PMPI_Allreduce : TUTTI_Allreduce)(&own, &sum, 1, MPI_INT, MPI_SUM, comm.get());
  check("allreduce", sum == std::accumulate(expected.begin(), expected.end(), 0));
}

/// A result that the ranks of a node share; null if `native`.
int* shared_result(Context& context, const OwnComm& comm, int round, int mode) {
  if (context.options().native) return nullptr;
  void* result = nullptr;
  const int own = round + comm.rank();
  TUTTI_Allgather_shared(&own, 1, MPI_INT, 1, MPI_INT, comm.get(), mode, &result);
  int* const numbers = static_cast<int*>(result);
  if (numbers == nullptr || numbers[comm.size() - 1] != round + comm.size() - 1) {
    context.fail("shared result, round " + std::to_string(round));
  }
  return numbers;
}

void release(Context& context, int* result) {
  if (result != nullptr && TUTTI_Shared_free(result) != MPI_SUCCESS) {
    context.fail("a shared result cannot be released");
  }
}

/// Makes enough calls with "auto" to explore hierarchical candidates and to select one.
void choose(Context& context, const OwnComm& comm, int round) {
  constexpr int calls = 40;
  const auto p = static_cast<std::size_t>(comm.size());
  const std::vector<int> given(p, round);
  std::vector<int> taken(p);
  for (int call = 0; call < calls; ++call) {
    TUTTI_Reduce_scatter_block(given.data(), taken.data(), 1, MPI_INT, MPI_SUM, comm.get());
    if (taken[0] != round * comm.size()) context.fail("auto sum, round " + std::to_string(round));
    TUTTI_Scatter(given.data(), 1, MPI_INT, taken.data(), 1, MPI_INT, 0, comm.get());
    if (taken[0] != round) context.fail("auto, round " + std::to_string(round));
  }
}

void tell(int first, int last, const Holdings& before, const Holdings& after) {
  std::printf(
      "       rounds %d to %d: KiB resident %ld to %ld, bytes allocated %ld to %ld, mappings "
      "%ld to %ld, files %ld to %ld, place of the next communicator %ld to %ld\n",
      first, last, before.bytes >> 10, after.bytes >> 10, before.heap, after.heap, before.mappings,
      after.mappings, before.files, after.files, before.index, after.index);
}

/// What has grown with `rounds`; empty if nothing has.
std::string growth(const Context& context, long rounds, const Holdings& before,
                   const Holdings& after) {
  std::string all;
  const auto bounded = [&](const char* what, long grown, long most) {
    if (grown <= most) return;
    all += what + (" grew by " + std::to_string(grown)) + " in " + std::to_string(rounds) +
           " rounds; ";
  };
  // With many ranks, some communicate for the first time, for which an MPI may map a file and touch
  // its pages. A leak of one file per round would be at least 10.
  const bool is_crowd = context.size() > 3;
  const long met = is_crowd ? 8 : 0;
  // Memory of an MPI for messages varies regardless of rounds, more so with oversubscribed cores.
  const long kept = (is_crowd ? 128L : 8L) << 10;
  const long touched = (is_crowd ? 4096L : 256L) << 10;
  bounded("allocated bytes", after.heap - before.heap, kept + 50 * rounds);
  bounded("resident bytes", after.bytes - before.bytes, touched + 200 * rounds);
  bounded("open files", after.files - before.files, met);
  bounded("mappings", after.mappings - before.mappings, met);
  // Some MPIs do not use the lowest free index; with many rounds a leak of one per round shows.
  bounded("places of communicators", after.index - before.index, 32);
  return all;
}

/// Makes, uses and frees communicators in rounds. Compares resources after each half of the rounds,
/// each time with one communicator and one shared result alive. A leak grows in every half; memory
/// of an MPI for messages may grow in one. So another half follows while something grows.
void many_communicators(Context& context, MPI_Comm of, int rounds) {
  constexpr int most_halves = 4;
  const int half = rounds / 2;
  const bool native = context.options().native;
  const AllKinds kinds(native);
  context.expect_empty(kinds.error());
  const long segments = holdings().segments;
  Holdings before;
  Holdings after;
  std::string grown;
  int* kept = nullptr;  // outlives its communicator by a round
  for (int round = 0, is_grown = 1; is_grown != 0 && round < most_halves * half; ++round) {
    if (round % 50 == 0) context.step("round " + std::to_string(round));
    const OwnComm comm(of);
    use(context, comm, round, native);
    if (!native && round % 10 == 0) choose(context, comm, round);
    release(context, shared_result(context, comm, round, TUTTI_SHARED_READ_ONLY));
    release(context, kept);
    kept = shared_result(context, comm, round, TUTTI_COPY_ON_WRITE);
    if (kept != nullptr) kept[0] = -1;
    if ((round + 1) % half != 0) continue;
    before = after;
    after = holdings();
    after.index = index_of(OwnComm(of).get());
    if (round < half) continue;
    grown = growth(context, half, before, after);
    if (context.rank() == 0) tell(round + 1 - half, round + 1, before, after);
    is_grown = grown.empty() ? 0 : 1;
    PMPI_Allreduce(MPI_IN_PLACE, &is_grown, 1, MPI_INT, MPI_MAX, of);
  }
  release(context, kept);
  context.expect_empty(grown);
  if (holdings().segments > segments) context.fail("segments of node memory are left");
}

}  // namespace

void add_leaks(Suite& suite) {
  // More ranks do the same beside each other: ./test --all.
  suite.add("no leak, duplicates of self", [](Context& context) {
    const bool repeats = context.size() > 3 && std::getenv("ALL_TESTS") == nullptr;
    many_communicators(context, MPI_COMM_SELF, repeats ? 200 : 1000);
  });
  // With oversubscribed cores, making one may take tens of milliseconds.
  suite.add("no leak, duplicates of world", [](Context& context) {
    const int rounds = context.size() <= 2 ? 1000 : 20;
    many_communicators(context, MPI_COMM_WORLD, rounds * context.options().effort);
  });
}

}  // namespace tutti::test
