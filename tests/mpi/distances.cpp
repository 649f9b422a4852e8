/// Orders by distance in calls, new communicators by distance, and measuring distances.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

/// The location of a rank on a line, in another order than the ranks.
int location_of(int rank, int p) { return p % 3 == 0 ? (rank * 5 + 2) % p : (rank * 3 + 1) % p; }

int distance(int a, int b, int p) { return 10 * std::abs(location_of(a, p) - location_of(b, p)); }

std::string made_up(int p) {
  std::string text = R"({"schema": "tutti-distances-1", "unit": "us", "measured": [)";
  for (const int bytes : {1, 1000}) {
    text += std::string(bytes == 1 ? "" : ", ") + R"({"bytes": )" + std::to_string(bytes) +
            R"(, "matrix": [)";
    for (int a = 0; a < p; ++a) {
      text += a == 0 ? "[" : ", [";
      for (int b = 0; b < p; ++b) {
        text += (b == 0 ? "" : ", ") + std::to_string(distance(a, b, p) * (bytes == 1 ? 1 : 20));
      }
      text += "]";
    }
    text += "]}";
  }
  return text + "]}";
}

/// The specification in force, without the names of papers.
std::string in_force(const char* collective) {
  std::array<char, 512> text{};
  int length = static_cast<int>(text.size());
  TUTTI_Algorithm_get(collective, text.data(), &length);
  return text.data();
}

void expect_ran(Context& context, MPI_Comm comm, const char* collective, const std::string& what) {
  if (context.options().native) return;
  const std::string ran = last_run(comm, collective);
  if (what.empty() || ran.find(what) == std::string::npos) context.fail("ran " + ran);
}

void allgathers(Context& context, MPI_Comm comm) {
  const bool native = context.options().native;
  int p = 0;
  int rank = 0;
  PMPI_Comm_size(comm, &p);
  PMPI_Comm_rank(comm, &rank);
  for (const char* specification : {"ring:order=distance", "recursive_doubling:order=distance",
                                    "bruck:order=distance", "RMH", "RDMH", "ring:order=natural"}) {
    context.step(std::string("allgather ") + specification);
    const Forced forced("allgather", specification, native);
    context.expect_empty(forced.error());
    for (const int count : {1, 50, 5000}) {
      std::vector<int> own(static_cast<std::size_t>(count), 1000 * rank + count);
      std::vector<int> all(static_cast<std::size_t>(count * p), -1);
      const auto run = native ? PMPI_Allgather : TUTTI_Allgather;
      run(own.data(), count, MPI_INT, all.data(), count, MPI_INT, comm);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const int expected = 1000 * (static_cast<int>(i) / count) + count;
        if (all[i] != expected) return context.fail("element " + std::to_string(i));
      }
    }
    expect_ran(context, comm, "allgather", in_force("allgather"));
  }
}

void broadcasts(Context& context, MPI_Comm comm, const char* specification) {
  const bool native = context.options().native;
  int p = 0;
  int rank = 0;
  PMPI_Comm_size(comm, &p);
  PMPI_Comm_rank(comm, &rank);
  context.step(std::string("bcast ") + specification);
  const Forced forced("bcast", specification, native);
  context.expect_empty(forced.error());
  for (int root = 0; root < p; ++root) {
    for (const int count : {1, 5000}) {
      std::vector<int> vector(static_cast<std::size_t>(count), rank == root ? root + 7 : -1);
      const auto run = native ? PMPI_Bcast : TUTTI_Bcast;
      run(vector.data(), count, MPI_INT, root, comm);
      const auto right = std::count(vector.begin(), vector.end(), root + 7);
      if (right != count) context.fail("wrong vector");
    }
  }
  expect_ran(context, comm, "bcast", specification);
}

void reduces(Context& context, MPI_Comm comm, const char* specification) {
  const bool native = context.options().native;
  int p = 0;
  int rank = 0;
  PMPI_Comm_size(comm, &p);
  PMPI_Comm_rank(comm, &rank);
  context.step(std::string("reduce ") + specification);
  const Forced forced("reduce", specification, native);
  context.expect_empty(forced.error());
  for (int root = 0; root < p; ++root) {
    for (const int count : {1, 5000}) {
      std::vector<int> own(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) own[static_cast<std::size_t>(i)] = (rank + 1) * (i + root);
      std::vector<int> sum(own.size(), -1);
      const auto run = native ? PMPI_Reduce : TUTTI_Reduce;
      run(own.data(), sum.data(), count, MPI_INT, MPI_SUM, root, comm);
      for (int i = 0; i < count && rank == root; ++i) {
        if (sum[static_cast<std::size_t>(i)] == p * (p + 1) / 2 * (i + root)) continue;
        context.fail("element " + std::to_string(i));
        break;
      }
    }
  }
  expect_ran(context, comm, "reduce", specification);
}

/// The orders are those of each communicator's own ranks.
void other_collectives(Context& context) {
  const OwnComm half(context.rank() % 2, -context.rank());
  for (const MPI_Comm comm : {MPI_COMM_WORLD, half.get()}) {
    allgathers(context, comm);
    for (const char* specification : {"binomial:order=distance", "binomial:order=cycle",
                                      "chain:order=cycle", "scatter_allgather:order=cycle"}) {
      broadcasts(context, comm, specification);
    }
    for (const char* specification :
         {"binomial:order=cycle", "scatter_gather:order=cycle", "circulant:order=cycle"}) {
      reduces(context, comm, specification);
    }
  }
}

/// By default Tutti explores orders by distance if they make the ring much shorter.
void by_choice(Context& context) {
  const OwnComm comm;
  const auto p = static_cast<std::size_t>(comm.size());
  constexpr int count = 50;
#ifdef MPICH_VERSION
  // It busy-waits with more ranks than cores, so only the data of few calls is checked.
  constexpr int calls = 32;
  constexpr bool must_explore = false;
#else
  constexpr int calls = 4000;  // the order is the last candidate; all ranks see it in the same call
  constexpr bool must_explore = true;
#endif
  int reordered = 0;
  for (int call = 0; call < calls && reordered == 0; ++call) {
    context.step("allgather " + std::to_string(call));
    const std::vector<int> own(count, 100 * comm.rank() + call);
    std::vector<int> all(count * p, -1);
    const auto run = context.options().native ? PMPI_Allgather : TUTTI_Allgather;
    run(own.data(), count, MPI_INT, all.data(), count, MPI_INT, comm.get());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] != 100 * static_cast<int>(i / count) + call) return context.fail("wrong data");
    }
    std::vector<int> vector(count, comm.rank() == call % 7 % comm.size() ? call : -1);
    const auto bcast = context.options().native ? PMPI_Bcast : TUTTI_Bcast;
    bcast(vector.data(), count, MPI_INT, call % 7 % comm.size(), comm.get());
    if (vector != std::vector<int>(count, call)) context.fail("wrong vector");
    if (context.options().native) return;
    const std::string ran = last_run(comm.get(), "allgather");
    if (ran.find("order=distance") != std::string::npos) ++reordered;
  }
  const bool is_shuffled = p == 5 || p == 7 || p == 8;
  if (must_explore && is_shuffled && reordered == 0) context.fail("was never explored");
}

/// All roots, on parts of the world with other numbers.
void gathers_on_parts(Context& context) {
  const bool native = context.options().native;
  const OwnComm reversed(0, -context.rank());
  const OwnComm half(context.rank() % 2, context.rank());
  for (const OwnComm* comm : {&reversed, &half}) {
    for (const Kind kind : all_kinds) {
      for (const char* name : {"binomial:order=distance", "binomial:order=heaviest_first"}) {
        const Forced forced(kind, name, native);
        context.expect_empty(forced.error());
        std::mt19937 random(23);
        for (int root = 0; root < comm->size(); ++root) {
          check(context, draw(kind, comm->get(), root,
                              std::vector<int>(static_cast<std::size_t>(comm->size()), 4), random));
        }
        expect_ran(context, comm->get(), name_of(kind), name);
      }
    }
  }
}

/// The background thread begins calls like one that ran before there was a thread. Ranks use the
/// same memory, so that calls repeat.
void begun_early(Context& context) {
  const OwnComm comm;
  const Forced forced(context, "scatter", "binomial:order=distance,runner=background");
  constexpr int count = 5000;
  std::vector<int> all(count * static_cast<std::size_t>(comm.size()));
  std::vector<int> mine(count);
  for (int round = 0; round < 6; ++round) {
    context.step("round " + std::to_string(round));
    if (round == 1 && TUTTI_Arrival_init(comm.get(), 0.5) != MPI_SUCCESS) context.fail("an error");
    if (round > 1 && comm.rank() != 0) usleep(30000);  // the root announces the call meanwhile
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = round + static_cast<int>(i);
    mine.assign(mine.size(), -1);
    const int code =
        TUTTI_Scatter(all.data(), count, MPI_INT, mine.data(), count, MPI_INT, 0, comm.get());
    if (code != MPI_SUCCESS) context.fail("an error");
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const int expected = round + comm.rank() * count + static_cast<int>(i);
      if (mine[i] != expected) return context.fail("element " + std::to_string(i));
    }
  }
}

/// The longest link of the ring of a communicator's ranks, which determines the time of a round.
int longest_link(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int p = 0;
  PMPI_Comm_size(comm, &p);
  std::vector<int> ranks(static_cast<std::size_t>(p));
  PMPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, comm);
  int longest = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    longest = std::max(longest, distance(ranks[i], ranks[(i + 1) % ranks.size()], p));
  }
  return longest;
}

void reordered(Context& context) {
  for (const char* collective : {static_cast<const char*>(nullptr), "allgather", "bcast"}) {
    context.step(std::string("reorder for ") + (collective == nullptr ? "all" : collective));
    MPI_Comm made = MPI_COMM_NULL;
    if (TUTTI_Comm_reorder(MPI_COMM_WORLD, collective, &made) != MPI_SUCCESS) {
      return context.fail("an error");
    }
    int compared = MPI_UNEQUAL;
    PMPI_Comm_compare(MPI_COMM_WORLD, made, &compared);
    if (compared != MPI_CONGRUENT && compared != MPI_SIMILAR) context.fail("other ranks");
    int rank = 0;
    PMPI_Comm_rank(made, &rank);
    if ((rank == 0) != (context.rank() == 0)) context.fail("rank 0 is another one");
    if (collective != nullptr && std::string(collective) == "allgather") {
      if (longest_link(made) > longest_link(MPI_COMM_WORLD)) {
        context.fail("neighbours are further apart");
      }
      // On a line the shortest ring goes once there and back.
      const bool is_shuffled = context.size() == 5 || context.size() == 7 || context.size() == 8;
      if (is_shuffled && compared == MPI_CONGRUENT) context.fail("nobody has moved");
    }
    // The new communicator has its own state of Tutti.
    allgathers(context, made);
    std::mt19937 random(29);
    const Forced forced(context, "gatherv", "binomial:order=distance");
    check(context, draw(Kind::gatherv, made, context.size() - 1,
                        std::vector<int>(static_cast<std::size_t>(context.size()), 3), random));
    PMPI_Comm_free(&made);
  }
}

void refused(Context& context) {
  const OwnComm comm;  // which returns errors
  MPI_Comm made = MPI_COMM_WORLD;
  if (class_of(TUTTI_Comm_reorder(comm.get(), "dance", &made)) != MPI_ERR_ARG) {
    context.fail("no such collective");
  }
  if (made != MPI_COMM_NULL) context.fail("the new communicator is none");
  if (class_of(TUTTI_Comm_reorder(comm.get(), "gather", nullptr)) != MPI_ERR_ARG) {
    context.fail("no place for the new communicator");
  }
  if (class_of(TUTTI_Distances_measure(comm.get(), nullptr, -1)) != MPI_ERR_ARG) {
    context.fail("a negative number of nodes");
  }
  if (class_of(TUTTI_Distances_measure(comm.get(), "/nowhere/distances", 0)) != MPI_ERR_FILE) {
    context.fail("a file that cannot be written");
  }
  const std::string folder = temporary_name("folder");
  std::error_code ignored;
  if (context.rank() == 0) std::filesystem::create_directory(folder, ignored);
  if (class_of(TUTTI_Distances_measure(comm.get(), folder.c_str(), 0)) != MPI_ERR_FILE) {
    context.fail("the name of a folder");
  }
  if (context.rank() != 0) return;
  std::filesystem::remove(folder, ignored);
  for (const auto& left :
       std::filesystem::directory_iterator(std::filesystem::path(folder).parent_path())) {
    const bool is_part = left.path().filename().string().starts_with("folder.");
    if (is_part) context.fail("an unfinished file is left");
  }
}

/// Runs last, because measured distances replace the artificial ones.
void measured(Context& context) {
  const std::string file = temporary_name("measured");
  context.step("measure");
  const OwnComm half(context.rank() % 2, -context.rank());
  for (const MPI_Comm comm : {half.get(), MPI_COMM_WORLD}) {
    if (TUTTI_Distances_measure(comm, comm == MPI_COMM_WORLD ? file.c_str() : nullptr, 0) !=
        MPI_SUCCESS) {
      context.fail("an error");
    }
  }
  if (context.rank() == 0) {
    std::ifstream written(file);
    std::string first;
    std::getline(written, first);
    std::getline(written, first);
    if (first.find("tutti-distances-1") == std::string::npos) context.fail("no distances written");
    std::filesystem::remove(file);
  }
  const OwnComm later;
  allgathers(context, later.get());
}

}  // namespace

MadeUpDistances::MadeUpDistances() : file_(temporary_name("distances")) {
  int rank = 0;
  int p = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &p);
  if (rank == 0) std::ofstream(file_) << made_up(p);
  // The rank 0 of other communicators must read a complete file.
  PMPI_Barrier(MPI_COMM_WORLD);
  setenv("TUTTI_DISTANCES", file_.c_str(), 1);
  setenv("TUTTI_EXPLORE", "1", 1);
}

MadeUpDistances::~MadeUpDistances() {
  PMPI_Barrier(MPI_COMM_WORLD);
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

void add_distances(Suite& suite) {
  suite.add("allgathers and broadcasts by distance", other_collectives);
  suite.add("orders by distance by choice", by_choice);
  suite.add("gathers and scatters by distance on parts", gathers_on_parts);
  suite.add_tutti_only("scatters by distance that the thread begins", begun_early);
  suite.add_tutti_only("communicators by distance", reordered);
  suite.add_tutti_only("bad arguments about distances", refused);
  suite.add_tutti_only("distances are measured", measured);
}

}  // namespace tutti::test
