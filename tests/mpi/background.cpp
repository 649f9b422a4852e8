/// The background thread progresses calls while its rank is outside. Other ranks wait for it, so
/// these cases hang if it does not.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

constexpr int tag = 3;

void tell(MPI_Comm comm, int rank) { PMPI_Send(nullptr, 0, MPI_BYTE, rank, tag, comm); }
void hear(MPI_Comm comm, int rank) {
  PMPI_Recv(nullptr, 0, MPI_BYTE, rank, tag, comm, MPI_STATUS_IGNORE);
}

/// In the binomial tree of 4 ranks, rank 2 forwards data to rank 3, and here waits for rank 3.
void passed_on(Context& context) {
  if (context.size() < 4) return context.skip("needs 4 ranks");
  const OwnComm comm(context.rank() < 4 ? 0 : 1, 0);
  if (context.rank() >= 4) return;
  const Forced forced(context, "scatter", "binomial:runner=background");
  constexpr int count = 5000;
  std::vector<int> all(4 * count);
  std::vector<int> mine(count, -1);
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  expect(context,
         TUTTI_Scatter_init(all.data(), count, MPI_INT, mine.data(), count, MPI_INT, 0, comm.get(),
                            &request),
         "TUTTI_Scatter_init");
  for (int round = 0; round < 5; ++round) {
    context.step("round " + std::to_string(round));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = round + static_cast<int>(i);
    expect(context, TUTTI_Start(&request), "TUTTI_Start");
    if (comm.rank() == 2) hear(comm.get(), 3);
    expect(context, TUTTI_Wait(&request), "TUTTI_Wait");
    if (comm.rank() == 3) tell(comm.get(), 2);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const int expected = round + comm.rank() * count + static_cast<int>(i);
      if (mine[i] == expected) continue;
      context.fail("element " + std::to_string(i));
      break;
    }
  }
  expect(context, TUTTI_Request_free(&request), "TUTTI_Request_free");
}

/// The root of a gather calls its ranks one after the other, and waits here for the last of them.
void called_for(Context& context) {
  if (context.size() < 2) return context.skip("needs 2 ranks");
  const OwnComm comm;
  const Forced forced(context, "gather", "linear_sync:runner=background");
  constexpr int count = 50000;  // a message that waits for its receiver
  const int last = comm.size() - 1;
  std::vector<int> mine(count);
  std::vector<int> all(count * static_cast<std::size_t>(comm.size()));
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  expect(context,
         TUTTI_Gather_init(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, 0, comm.get(),
                           &request),
         "TUTTI_Gather_init");
  for (int round = 0; round < 5; ++round) {
    context.step("round " + std::to_string(round));
    mine.assign(mine.size(), 100 * round + comm.rank());
    expect(context, TUTTI_Start(&request), "TUTTI_Start");
    if (comm.rank() == 0) hear(comm.get(), last);
    expect(context, TUTTI_Wait(&request), "TUTTI_Wait");
    if (comm.rank() == last) tell(comm.get(), 0);
    for (std::size_t i = 0; i < all.size() && comm.rank() == 0; ++i) {
      if (all[i] == 100 * round + static_cast<int>(i) / count) continue;
      context.fail("element " + std::to_string(i));
      break;
    }
  }
  expect(context, TUTTI_Request_free(&request), "TUTTI_Request_free");
}

/// The same in plain calls, after the thread has seen a similar call.
void plain_passed_on(Context& context) {
  if (context.size() < 4) return context.skip("needs 4 ranks");
  const OwnComm comm(context.rank() < 4 ? 0 : 1, 0);
  if (context.rank() >= 4) return;
  expect(context, TUTTI_Arrival_init(comm.get(), 0.5), "TUTTI_Arrival_init");
  const Forced forced(context, "scatter", "binomial:runner=background");
  constexpr int count = 5000;
  std::vector<int> all(4 * count);
  for (int round = 0; round < 8; ++round) {
    context.step("round " + std::to_string(round));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = round + static_cast<int>(i);
    std::vector<int> mine(count, -1);
    if (round > 0 && comm.rank() == 2) hear(comm.get(), 3);
    if (std::count(mine.begin(), mine.end(), -1) != count) context.fail("wrote before the call");
    expect(context,
           TUTTI_Scatter(all.data(), count, MPI_INT, mine.data(), count, MPI_INT, 0, comm.get()),
           "TUTTI_Scatter");
    if (round > 0 && comm.rank() == 3) tell(comm.get(), 2);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const int expected = round + comm.rank() * count + static_cast<int>(i);
      if (mine[i] == expected) continue;
      context.fail("element " + std::to_string(i));
      break;
    }
  }
}

void plain_called_for(Context& context) {
  if (context.size() < 2) return context.skip("needs 2 ranks");
  const OwnComm comm;
  expect(context, TUTTI_Arrival_init(comm.get(), 0.5), "TUTTI_Arrival_init");
  const Forced forced(context, "gather", "BSLS");
  constexpr int count = 50000;
  const int last = comm.size() - 1;
  std::vector<int> mine(count);
  std::vector<int> all(count * static_cast<std::size_t>(comm.size()));
  for (int round = 0; round < 8; ++round) {
    context.step("round " + std::to_string(round));
    mine.assign(mine.size(), 100 * round + comm.rank());
    if (round > 0 && comm.rank() == 0) hear(comm.get(), last);
    const bool in_place = comm.rank() == 0 && round % 2 == 1;
    if (in_place) std::copy(mine.begin(), mine.end(), all.begin());
    expect(context,
           TUTTI_Gather(in_place ? MPI_IN_PLACE : mine.data(), count, MPI_INT, all.data(), count,
                        MPI_INT, 0, comm.get()),
           "TUTTI_Gather");
    if (round > 0 && comm.rank() == last) tell(comm.get(), 0);
    for (std::size_t i = 0; i < all.size() && comm.rank() == 0; ++i) {
      if (all[i] == 100 * round + static_cast<int>(i) / count) continue;
      context.fail("element " + std::to_string(i));
      break;
    }
  }
}

/// Repeated calls, which each rank enters at other times.
void plain_among_others(Context& context) {
  const OwnComm comm;
  expect(context, TUTTI_Arrival_init(comm.get(), 0.5), "TUTTI_Arrival_init");
  const auto p = static_cast<std::size_t>(comm.size());
  struct Names {
    const char* scatter;
    const char* gather;
  };
  for (const auto& [scatter, gather] :
       {Names{"BSBN", "BSLS"}, Names{"knomial:k=3,runner=background", "BSBN"},
        Names{"ordered_tree:arrivals=on,runner=background", "linear_pull:runner=background"},
        Names{"BSLN", "linear_sync:segment=1K,runner=background"}}) {
    const Forced scattered(context, "scatter", scatter);
    const Forced gathered(context, "gather", gather);
    std::mt19937 common(4);
    std::mt19937 own(static_cast<unsigned>(context.rank()));
    for (unsigned call = 0; call < 60 * static_cast<unsigned>(context.options().effort); ++call) {
      if (own() % 3 == 0) usleep(static_cast<unsigned>(own() % 300));
      if (own() % 3 == 0) expect(context, TUTTI_Arrival_edge(comm.get()), "edge");
      if (call % 25 == 24) {
        expect(context, TUTTI_Arrival_finalize(comm.get()), "TUTTI_Arrival_finalize");
        expect(context, TUTTI_Arrival_init(comm.get(), 0.5), "TUTTI_Arrival_init");
      }
      const Kind kind = common() % 3 == 0 ? Kind::gather : Kind::scatter;
      const int units = common() % 2 == 0 ? 2000 : 10;
      const int root = common() % 4 == 0 ? comm.size() - 1 : 0;
      check(context, draw(kind, comm.get(), root, std::vector<int>(p, units), common));
    }
  }
}

/// The number of times that the background thread has gone to sleep; -1 without one.
long pauses() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    if (name != "tutti") continue;
    std::ifstream status(task.path() / "status");
    for (std::string word; status >> word;) {
      long count = 0;
      if (word == "voluntary_ctxt_switches:" && status >> count) return count;
    }
  }
  return -1;
}

bool is_resting() {
  const long before = pauses();
  usleep(100000);
  return pauses() == before;
}

/// A rejected candidate has no further cost; rank 0's thread still answers the other ranks.
void rests(Context& context) {
  const OwnComm comm;
  expect(context, TUTTI_Arrival_init(comm.get(), 0.5), "TUTTI_Arrival_init");
  const auto p = static_cast<std::size_t>(comm.size());
  std::mt19937 random(2);
  const auto scatter = [&](const char* algorithm, int calls) {
    const Forced forced(context, "scatter", algorithm);
    for (int call = 0; call < calls; ++call) {
      Exchange exchange = draw(Kind::scatter, comm.get(), 0, std::vector<int>(p, 100), random);
      native_fallback(exchange);
      check(context, exchange);
    }
  };
  scatter("BSLN", 3);
  scatter("linear", 40);
  scatter("native", 40);
  if (context.threads() && pauses() == -1) context.fail("there is no background thread");
  context.step("until the thread rests");
  while (comm.rank() != 0 && !is_resting()) continue;
  PMPI_Barrier(comm.get());
  scatter("BSLN", 3);
  context.step("until the thread is back");
  while (pauses() != -1 && is_resting()) continue;
}

}  // namespace

void add_background(Suite& suite) {
  suite.add_tutti_only("background: passed on", passed_on);
  suite.add_tutti_only("background: called for", called_for);
  suite.add_tutti_only("background: passed on in plain calls", plain_passed_on);
  suite.add_tutti_only("background: called for in plain calls", plain_called_for);
  suite.add_tutti_only("background: plain calls among others", plain_among_others);
  suite.add_tutti_only("background: rests after calls without it", rests);
}

}  // namespace tutti::test
