/// Tests that a program which repeats a call long enough learns distances by itself, and explores
/// an order by them: once for all its communicators and collectives, one order for all roots, and
/// once for later runs if it keeps them, also if it ends before it has measured all.
#include <time.h>
#include <tutti/tutti.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "faulty.hpp"
#include "run/processors.hpp"
#include "topology/node_sets.hpp"

namespace {

/// Seconds until the alarm ends the test.
constexpr unsigned patience = 400;
/// The messages of a measurement; no call sends as few or as many bytes.
constexpr int short_bytes = 1;
constexpr int long_bytes = 256 << 10;
constexpr int ranks = 5;
constexpr int check_every = 64;
constexpr int most_calls = 200'000;

/// Are ranks on a line, in another order than their numbers? Else all are equally far.
bool are_on_a_line = false;
int measured = 0;
int broadcasts = 0;  ///< the MPI's own, of Tutti

int distance_between(int one, int other) {
  static constexpr std::array<int, ranks> places = {4, 2, 1, 3, 0};  // where an order gains most
  const auto place = [](int rank) { return places[static_cast<std::size_t>(rank)]; };
  return are_on_a_line ? std::abs(place(one) - place(other)) : 2;
}

/// Tutti's clock, by which a round trip takes what its link takes, however busy the machine is. In
/// nanoseconds.
std::int64_t shown = 0;      ///< the latest time
std::int64_t next_time = 0;  ///< what is shown next; 0: time goes on as on the machine
std::int64_t behind = 0;     ///< the machine's clock

int isend_by_distance(const void* buffer, int count, MPI_Datatype type, int peer, int tag,
                      MPI_Comm comm, MPI_Request* request) {
  if (count == short_bytes) next_time = shown + 2'000'000;
  if (count == long_bytes) {
    ++measured;
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    next_time = shown + 40'000'000 * distance_between(rank, peer);
  }
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

int counted_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++broadcasts;
  return PMPI_Bcast(buffer, count, type, root, comm);
}

/// The elements of a vector that no algorithm sends in messages as long as those of measurements.
constexpr std::size_t vector_ints = 80 << 10;

/// A call of a collective; true if its data is right.
using Call = bool (*)(MPI_Comm comm, int call, int rank, int p);

bool allgathers(MPI_Comm comm, int call, int rank, int p) {
  std::array<int, 4096> own;
  own.fill(100 * call + rank);
  std::vector<int> all(own.size() * static_cast<std::size_t>(p));
  const int count = static_cast<int>(own.size());
  TUTTI_Allgather(own.data(), count, MPI_INT, all.data(), count, MPI_INT, comm);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != 100 * call + static_cast<int>(i / own.size())) return false;
  }
  return true;
}

/// By all roots in turn.
bool broadcasts_by_all(MPI_Comm comm, int call, int rank, int p) {
  std::vector<int> vector(vector_ints, rank == call % p ? call : -1);
  TUTTI_Bcast(vector.data(), static_cast<int>(vector.size()), MPI_INT, call % p, comm);
  return vector == std::vector<int>(vector.size(), call);
}

bool integer_allreduces(MPI_Comm comm, int call, int rank, int p) {
  const std::vector<int> own(vector_ints, call + rank);
  std::vector<int> sums(own.size(), -1);
  TUTTI_Allreduce(own.data(), sums.data(), static_cast<int>(own.size()), MPI_INT, MPI_SUM, comm);
  return sums == std::vector<int>(own.size(), p * call + p * (p - 1) / 2);
}

struct Learned {
  bool explored = false;  ///< an order by distance
  int sent = 0;           ///< long messages, of all ranks
  int calls = 0;          ///< until that many were sent
  bool is_right = true;   ///< the data
  int broadcasts = 0;     ///< until every root has called
};

/// Calls by every root with what was explored last, which ranks know without any communication.
void call_by_all_roots(MPI_Comm comm, Learned& found) {
  int rank = 0;
  int p = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &p);
  const std::string ran = tutti::test::last_run(comm, "bcast");
  TUTTI_Algorithm_set("bcast", ran.substr(0, ran.find(": ")).c_str(), nullptr, nullptr);
  found.is_right = broadcasts_by_all(comm, 0, rank, p) && found.is_right;
  broadcasts = 0;
  for (int call = 1; call < p; ++call) {
    found.is_right = broadcasts_by_all(comm, call, rank, p) && found.is_right;
  }
  found.broadcasts = broadcasts;
  TUTTI_Algorithm_set("bcast", "auto", nullptr, nullptr);
}

/// Calls on a new communicator until one explores an order by distance, or until `more` follow the
/// first `enough` messages of measurements; `calls` at most.
Learned learn(int more, int calls = most_calls, int enough = 1,
              const char* collective = "allgather", Call run = allgathers) {
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int rank = 0;
  int p = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &p);
  measured = 0;
  Learned found;
  for (int call = 0; call < calls && !found.explored; ++call) {
    if (call % check_every == 0 && found.sent < enough) {
      PMPI_Allreduce(&measured, &found.sent, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      if (found.sent >= enough) {
        found.calls = call;
        calls = std::min(calls, call + more);
      }
    }
    found.is_right = run(comm, call, rank, p) && found.is_right;
    const std::string ran = tutti::test::last_run(comm, collective);
    found.explored = ran.find("order=distance") != std::string::npos ||
                     ran.find("order=cycle") != std::string::npos;
  }
  if (found.explored && run == broadcasts_by_all) call_by_all_roots(comm, found);
  PMPI_Allreduce(&measured, &found.sent, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  return found;
}

int failures = 0;

void expect(bool holds, const char* what, const Learned& found) {
  if (holds && found.is_right) return;
  ++failures;
  std::printf("%s: explored %d, sent %d, right %d, broadcasts %d\n", what, found.explored,
              found.sent, found.is_right, found.broadcasts);
}

/// Round trips of two messages.
constexpr int of_a_pair = 2 * 2;
constexpr int pairs = ranks * (ranks - 1) / 2;

/// The links of this test's nodes: emulated, on one host.
tutti::NodeSet own_nodes() {
  tutti::NodeSet set{{tutti::host_name()}, tutti::NodeLinks(ranks), "2026-01-02"};
  for (int node = 1; node < ranks; ++node) {
    set.nodes.push_back(tutti::host_name() + "/" + std::to_string(node));
  }
  return set;
}

/// All links of the first node, as another run has measured them.
tutti::NodeSet links_of_first_node() {
  tutti::NodeSet set = own_nodes();
  for (int node = 1; node < ranks; ++node) {
    set.links.set(0, node, {1e-3, 0.02 * distance_between(0, node)});
  }
  return set;
}

/// Links of other nodes, which no run of this test has.
tutti::NodeSet other_nodes() {
  tutti::NodeSet set{{"a", "b"}, tutti::NodeLinks(2), "2026-01-01"};
  set.links.set(0, 1, {1, 2});
  return set;
}

/// Ranks are equally far: the links of two nodes show that there is nothing to find, which rank 0
/// remembers.
void learn_alike() {
  constexpr int of_two_nodes = (ranks - 1 + ranks - 2) * of_a_pair;
  waits_in("alike");
  const Learned once = learn(2000, most_calls, of_two_nodes);
  expect(!once.explored && once.sent == of_two_nodes, "alike", once);
  waits_in("alike, again");
  const Learned again = learn(0, 2 * once.calls);
  expect(!again.explored && again.sent == 0, "alike, again", again);
}

void learn_line() {
  waits_in("freed");
  const Learned left = learn(0);  // the communicator is freed before all pairs are measured
  expect(!left.explored && left.sent > 0 && left.sent < pairs * of_a_pair, "freed", left);
  waits_in("first");
  const Learned first = learn(most_calls);  // the other pairs
  expect(first.explored && first.sent == pairs * of_a_pair - left.sent, "first", first);
  waits_in("second");
  const Learned second = learn(most_calls);  // without a measurement
  expect(second.explored && second.sent == 0, "second", second);
  waits_in("rooted");
  const Learned rooted = learn(most_calls, most_calls, 1, "bcast", broadcasts_by_all);
  expect(rooted.explored && rooted.sent == 0 && rooted.broadcasts == 0, "rooted", rooted);
  waits_in("reduced");
  const Learned reduced = learn(most_calls, most_calls, 1, "allreduce", integer_allreduces);
  expect(reduced.explored && reduced.sent == 0, "reduced", reduced);
}

/// An earlier run has measured the links of the first node.
void learn_rest() {
  waits_in("rest");
  const Learned rest = learn(most_calls);
  expect(rest.explored && rest.sent == (pairs - ranks + 1) * of_a_pair, "rest", rest);
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

/// The run has kept what later ones need, beside what others have.
void check_kept(const std::filesystem::path& file, bool has_others) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const auto sets = tutti::node_sets_from_text(text.str());
  const std::size_t expected = has_others ? 2 : 1;
  const bool holds = sets && sets->size() == expected && sets->back().nodes == own_nodes().nodes &&
                     tutti::next_pairs(sets->back().links).empty() &&
                     sets->back().date > own_nodes().date &&
                     tutti::are_alike(sets->back().links) == !are_on_a_line &&
                     (!has_others || sets->front() == other_nodes());
  expect(holds, "kept", {});
}

}  // namespace

// The linker puts it in the place of clock_gettime() in Tutti, and not in the MPI.
extern "C" int __real_clock_gettime(clockid_t clock, timespec* time);
extern "C" int __wrap_clock_gettime(clockid_t clock, timespec* time) {
  const int error = __real_clock_gettime(clock, time);
  if (error != 0 || clock != CLOCK_MONOTONIC) return error;
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t now = second * time->tv_sec + time->tv_nsec;
  if (next_time != 0) behind = now - std::exchange(next_time, 0);
  shown = now - behind;
  *time = {shown / second, shown % second};
  return 0;
}

int main(int argc, char** argv) {
  char folder[] = "/tmp/tutti-learning-XXXXXX";
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  if (p != ranks || (rank == 0 && mkdtemp(folder) == nullptr)) return EXIT_FAILURE;
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  setenv("XDG_CACHE_HOME", folder, 1);
  setenv("TUTTI_EXPLORE", "1", 1);
  setenv("TUTTI_NODE", "1", 1);
  setenv("TUTTI_RULES", "none", 1);
  setenv("TUTTI_LEARN", "keep", 1);
  watch(rank, patience);
  const tutti::test::Faulty functions([](tutti::MpiFunctions& all) {
    all.Isend = isend_by_distance;
    all.Bcast = counted_bcast;
  });
  const std::string mode = argc > 1 ? argv[1] : "";
  are_on_a_line = mode != "equal";
  const std::filesystem::path file = std::filesystem::path(folder) / "tutti/distances.json";
  const bool has_others = mode == "kept";
  // A file that cannot be read is replaced.
  if (rank == 0 && mode == "equal") write_file(file, "{");
  const std::vector<tutti::NodeSet> kept = {other_nodes(), links_of_first_node()};
  if (rank == 0 && has_others) write_file(file, to_text(kept));
  MPI_Barrier(MPI_COMM_WORLD);
  if (mode == "equal") learn_alike();
  if (mode == "line") learn_line();
  if (mode == "kept") learn_rest();
  waits_in("MPI_Finalize");
  MPI_Finalize();
  if (rank == 0) check_kept(file, has_others);
  if (rank == 0) std::filesystem::remove_all(folder);
  if (rank == 0) std::printf("%d failed\n", failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
