/// Tests that a program which repeats a call long enough learns distances by itself, and explores
/// an order by them: once for all its communicators, and once for later runs if it keeps them.
#include <tutti/tutti.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "faulty.hpp"

namespace {

/// Seconds until the alarm ends the test.
constexpr unsigned patience = 120;
/// The messages of a measurement; no call sends as few or as many bytes.
constexpr int short_bytes = 1;
constexpr int long_bytes = 256 << 10;
constexpr int ranks = 5;
constexpr int check_every = 64;
constexpr int most_calls = 200'000;

/// Are ranks on a line, in another order than their numbers? Else all are equally far.
bool are_on_a_line = false;
int measured = 0;

int slow_isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (count == short_bytes) usleep(1000);  // beyond the noise of a busy machine
  if (count == long_bytes) {
    ++measured;
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    const auto place = [](int of) { return (3 * of + 1) % ranks; };
    const int distance = are_on_a_line ? std::abs(place(rank) - place(peer)) : 1;
    usleep(static_cast<useconds_t>(20'000 * distance));
  }
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

struct Learned {
  bool explored = false;  ///< an order by distance
  int sent = 0;           ///< long messages, of all ranks
  bool is_right = true;   ///< the data
};

/// Calls on a new communicator until one explores an order by distance, or until `more` follow the
/// first measurement; `calls` at most.
Learned learn(int more, int calls = most_calls) {
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int rank = 0;
  int p = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &p);
  measured = 0;
  Learned found;
  for (int call = 0; call < calls && !found.explored; ++call) {
    if (call % check_every == 0 && found.sent == 0) {
      PMPI_Allreduce(&measured, &found.sent, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      if (found.sent > 0) calls = std::min(calls, call + more);
    }
    std::array<int, 4096> own;
    own.fill(100 * call + rank);
    std::vector<int> all(own.size() * static_cast<std::size_t>(p));
    TUTTI_Allgather(own.data(), static_cast<int>(own.size()), MPI_INT, all.data(),
                    static_cast<int>(own.size()), MPI_INT, comm);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int from = static_cast<int>(i / own.size());
      found.is_right = found.is_right && all[i] == 100 * call + from;
    }
    std::array<char, 256> text{};
    int capacity = text.size();
    TUTTI_Algorithm_last(comm, "allgather", text.data(), &capacity);
    found.explored = std::string(text.data()).find("order=distance") != std::string::npos;
  }
  PMPI_Allreduce(&measured, &found.sent, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  return found;
}

int failures = 0;

void expect(bool holds, const char* what, const Learned& found) {
  if (holds && found.is_right) return;
  ++failures;
  std::printf("%s: explored %d, sent %d, right %d\n", what, found.explored, found.sent,
              found.is_right);
}

}  // namespace

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
  alarm(patience);
  const tutti::test::Faulty functions([](tutti::MpiFunctions& all) { all.Isend = slow_isend; });
  constexpr int of_a_pair = 2 * 2;  // round trips of two messages
  constexpr int pairs = ranks * (ranks - 1) / 2;
  are_on_a_line = std::string(argc > 1 ? argv[1] : "") == "line";
  if (!are_on_a_line) {
    // Those of rank 0 show that there is nothing to find, which it remembers.
    const Learned once = learn(4000);
    expect(!once.explored && once.sent == (ranks - 1) * of_a_pair, "alike", once);
    const Learned again = learn(0, 8000);
    expect(!again.explored && again.sent == 0, "alike, again", again);
  } else {
    const Learned left = learn(0);  // the communicator is freed before all pairs are measured
    expect(!left.explored && left.sent > 0 && left.sent < pairs * of_a_pair, "freed", left);
    const Learned first = learn(most_calls);
    expect(first.explored && first.sent == pairs * of_a_pair, "first", first);
    const Learned second = learn(most_calls);  // without a measurement
    expect(second.explored && second.sent == 0, "second", second);
    const bool is_kept = std::filesystem::exists(std::string(folder) + "/tutti/distances.json");
    expect(rank != 0 || is_kept, "kept", second);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::remove_all(folder);
  if (rank == 0) std::printf("%d failed\n", failures);
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
