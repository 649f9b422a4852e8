/// Persistent requests give right data, also among other calls.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "delays.hpp"

namespace tutti::test {
namespace {

/// Starts a request and waits for it, twice and sometimes after a pause.
int run_twice(TUTTI_Request* request, int error) {
  static unsigned calls = 0;
  for (int round = 0; round < 2 && error == MPI_SUCCESS; ++round) {
    error = TUTTI_Start(request);
    if (++calls % 3 == 0) usleep(calls * 37 % 300);
    if (error == MPI_SUCCESS) error = TUTTI_Wait(request);
  }
  const int freed = *request == TUTTI_REQUEST_NULL ? MPI_SUCCESS : TUTTI_Request_free(request);
  return error == MPI_SUCCESS ? freed : error;
}

/// The persistent form of a function, with the arguments of that function.
template <auto init, class... Arguments>
int persistent_form(Arguments... arguments) {
  TUTTI_Request request = TUTTI_REQUEST_NULL;
  const int error = init(arguments..., &request);
  return run_twice(&request, error);
}

}  // namespace

const Calls& persistent_calls() {
  static const Calls calls = {
      persistent_form<TUTTI_Gather_init>,    persistent_form<TUTTI_Gatherv_init>,
      persistent_form<TUTTI_Scatter_init>,   persistent_form<TUTTI_Scatterv_init>,
      persistent_form<TUTTI_Gather_init_c>,  persistent_form<TUTTI_Gatherv_init_c>,
      persistent_form<TUTTI_Scatter_init_c>, persistent_form<TUTTI_Scatterv_init_c>,
  };
  return calls;
}

namespace {

void persistent(Context& context, Kind kind) {
  const OwnComm comm;
  const int p = comm.size();
  std::mt19937 random(11);
  for (const char* name : {"native", "BSLN", "BSLS", "BSBN", "SBN", "ordered_tree",
                           "ordered_tree:arrivals=on,runner=background",
                           "linear:order=arrival,runner=background", "LIN"}) {
    const Forced forced(kind, name, false);
    for (unsigned call = 0; call < static_cast<unsigned>(std::max(p, 5)); ++call) {
      Exchange exchange = draw(kind, comm.get(), static_cast<int>(call) % p,
                               units_for(kind, p, call, random), random);
      if (std::string(name) == "native") native_fallback(exchange);
      context.step(std::string(name) + " " + to_text(exchange));
      context.expect_empty(run(exchange, persistent_calls()));
    }
  }
}

/// Blocking calls and two requests on one communicator, each with its own call numbers.
struct Selected {
  const char* scatter;
  const char* gather;
  int rounds;
  int rounds_of_an_exchange;  ///< of arrivals, which then ends and begins again
};

void requests_among_calls(Context& context, const Selected& selected) {
  const OwnComm comm;
  begin_exchange(context, comm.get());
  const Forced scattered(context, "scatter", selected.scatter);
  const Forced gathered(context, "gather", selected.gather);
  const int p = comm.size();
  const int root = p - 1;
  std::vector<int> all(static_cast<std::size_t>(p));
  std::vector<int> back(static_cast<std::size_t>(p));
  int mine = -1;
  int doubled = -1;
  TUTTI_Request in = TUTTI_REQUEST_NULL;
  TUTTI_Request out = TUTTI_REQUEST_NULL;
  expect(context,
         TUTTI_Scatter_init(all.data(), 1, MPI_INT, &mine, 1, MPI_INT, root, comm.get(), &in),
         "TUTTI_Scatter_init");
  expect(context,
         TUTTI_Gather_init(&doubled, 1, MPI_INT, back.data(), 1, MPI_INT, root, comm.get(), &out),
         "TUTTI_Gather_init");
  std::mt19937 common(5);
  std::mt19937 own(static_cast<unsigned>(context.rank()));
  for (int round = 0; round < selected.rounds * context.options().effort; ++round) {
    context.step("round " + std::to_string(round));
    expect(context, TUTTI_Start(&in), "TUTTI_Start");
    if (TUTTI_Request_free(&in) != MPI_ERR_REQUEST)
      context.fail("no error of freeing an active request");
    expect(context, TUTTI_Start(&out), "TUTTI_Start");
    // The exchange may end and begin again while requests are active.
    if ((round + 1) % selected.rounds_of_an_exchange == 0) {
      expect(context, TUTTI_Arrival_finalize(comm.get()), "TUTTI_Arrival_finalize");
      begin_exchange(context, comm.get());
    }
    compute(context, comm.get(), {Hints::every_second, 200}, static_cast<unsigned>(round), own);
    for (int rank = 0; rank < p; ++rank) all[static_cast<std::size_t>(rank)] = round * 100 + rank;
    expect(context, TUTTI_Wait(&in), "TUTTI_Wait");
    if (mine != round * 100 + context.rank()) context.fail("scattered " + std::to_string(mine));
    check(context,
          draw(Kind::gather, comm.get(), round % p, std::vector<int>(all.size(), 3), common));
    doubled = 2 * mine;
    expect(context, TUTTI_Wait(&out), "TUTTI_Wait");
    for (int rank = 0; rank < p && context.rank() == root; ++rank) {
      const int found = back[static_cast<std::size_t>(rank)];
      if (found != 2 * (round * 100 + rank)) context.fail("gathered " + std::to_string(found));
    }
    expect(context, TUTTI_Wait(&out), "TUTTI_Wait on an inactive request");
  }
  expect(context, TUTTI_Request_free(&in), "TUTTI_Request_free");
  expect(context, TUTTI_Request_free(&out), "TUTTI_Request_free");
  if (in != TUTTI_REQUEST_NULL || TUTTI_Start(&in) != MPI_ERR_REQUEST)
    context.fail("no error of starting a null request");
}

/// In the binomial tree of 4 ranks the inner one awaits the last one before it makes the call, also
/// between the start and the end of a request, and after its init: its thread must pass data on.
/// `runs`: what the request runs; null if each start selects.
void begun_between(Context& context, int rounds, const char* runs) {
  if (context.size() < 4) return context.skip("needs 4 ranks");
  constexpr int p = 4;
  constexpr int count = 500;
  constexpr int tag = 3;
  const OwnComm comm(context.rank() < p ? 0 : 1, 0);
  if (context.rank() >= p) return;
  begin_exchange(context, comm.get());
  const Forced forced(context, "scatter", "binomial:runner=background");
  const auto scatter_from = [&](int from, int call, bool is_late) {
    const int inner = (from + 2) % p;
    const int last = (from + 3) % p;
    std::vector<int> all(static_cast<std::size_t>(p * count), -1);
    for (int i = 0; i < p * count && comm.rank() == from; ++i) {
      all[static_cast<std::size_t>(i)] = 10'000 * call + i;
    }
    std::vector<int> mine(count, -1);
    if (is_late && comm.rank() == inner) {
      PMPI_Recv(nullptr, 0, MPI_BYTE, last, tag, comm.get(), MPI_STATUS_IGNORE);
    }
    expect(context,
           TUTTI_Scatter(all.data(), count, MPI_INT, mine.data(), count, MPI_INT, from, comm.get()),
           "TUTTI_Scatter");
    if (is_late && comm.rank() == last) PMPI_Send(nullptr, 0, MPI_BYTE, inner, tag, comm.get());
    for (int i = 0; i < count; ++i) {
      const int expected = 10'000 * call + comm.rank() * count + i;
      if (mine[static_cast<std::size_t>(i)] != expected) return context.fail("wrongly scattered");
    }
  };
  for (int from = 0; from < p; ++from) scatter_from(from, from, false);
  int call = p;
  for (int root = 0; root < p; ++root) {
    std::vector<int> own(count, -1);
    std::vector<int> gathered(static_cast<std::size_t>(p * count), -1);
    TUTTI_Request request = TUTTI_REQUEST_NULL;
    expect(context,
           TUTTI_Gather_init(own.data(), count, MPI_INT, gathered.data(), count, MPI_INT, root,
                             comm.get(), &request),
           "TUTTI_Gather_init");
    scatter_from(root, call++, true);
    for (int round = 0; round < rounds * context.options().effort; ++round, ++call) {
      context.step("root " + std::to_string(root) + ", round " + std::to_string(round));
      own.assign(own.size(), 10 * call + comm.rank());
      expect(context, TUTTI_Start(&request), "TUTTI_Start");
      const std::string ran = last_run(comm.get(), "gather");
      if (runs != nullptr && !ran.starts_with(runs)) context.fail("ran " + ran);
      scatter_from(call % p, call, true);
      expect(context, TUTTI_Wait(&request), "TUTTI_Wait");
      for (int i = 0; i < p * count && comm.rank() == root; ++i) {
        const int found = gathered[static_cast<std::size_t>(i)];
        if (found != 10 * call + i / count) context.fail("gathered " + std::to_string(found));
      }
    }
    expect(context, TUTTI_Request_free(&request), "TUTTI_Request_free");
  }
}

/// A rule for some sizes only, so that the size of a call decides.
constexpr const char* rules =
    R"({"schema": "tutti-rules-1", "date": "2026-11-22", "rules": [{"collective": "gather",)"
    R"( "use": "linear_sync", "bytes": "1K..inf", "evidence": {"native_us": 8, "choice_us": 4}}]})";

}  // namespace

MadeUpRules::MadeUpRules() : file_(temporary_name("rules")) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::ofstream(file_) << rules;
  PMPI_Barrier(MPI_COMM_WORLD);
  setenv("TUTTI_RULES", file_.c_str(), 1);
}

MadeUpRules::~MadeUpRules() {
  PMPI_Barrier(MPI_COMM_WORLD);
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
}

void add_persistent_by_rules(Suite& suite) {
  suite.add_tutti_only("persistent: settled by size, and the thread begins calls",
                       [](Context& context) { begun_between(context, 3, "linear_sync"); });
}

void add_persistent(Suite& suite) {
  for (const Kind kind : all_kinds) {
    suite.add_tutti_only(std::string("persistent ") + name_of(kind),
                         [kind](Context& context) { persistent(context, kind); });
  }
  suite.add_tutti_only("persistent: two requests among calls", [](Context& context) {
    requests_among_calls(context, {"BSBN", "BSLS", 40, 10});
  });
  suite.add_tutti_only("persistent: each start selects", [](Context& context) {
    requests_among_calls(context, {"auto", "auto", 120, 90});
  });
  suite.add_tutti_only("persistent: each start selects, and the thread begins calls",
                       [](Context& context) { begun_between(context, 30, nullptr); });
}

}  // namespace tutti::test
