/// Communicators of all kinds, several at once, with messages of the program around the calls.
#include <chrono>
#include <memory>
#include <thread>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

/// Runs each collective and algorithm once on `comm`; ranks of different communicators may be at
/// different calls at the same time.
void tour(Context& context, MPI_Comm comm, unsigned seed) {
  const bool native = context.options().native;
  int p = 0;
  PMPI_Comm_size(comm, &p);
  std::mt19937 random(seed);
  for (const Kind kind : all_kinds) {
    for (const std::string& name : algorithms(kind, native)) {
      const Forced forced(kind, name, native);
      std::vector<int> units = is_irregular(kind)
                                   ? sizes("random", p, random)
                                   : std::vector<int>(static_cast<std::size_t>(p), 5);
      const int root = static_cast<int>(random() % static_cast<unsigned>(p));
      check(context, draw(kind, comm, root, std::move(units), random));
    }
  }
}

void split_by_parity(Context& context) {
  const OwnComm half(context.rank() % 2, context.rank());
  tour(context, half.get(), 1);
}

void reversed_ranks(Context& context) {
  const OwnComm reversed(0, -context.rank());
  tour(context, reversed.get(), 2);
}

void self(Context& context) { tour(context, MPI_COMM_SELF, 3); }
void world(Context& context) { tour(context, MPI_COMM_WORLD, 4); }

/// Uses an original, then its duplicate, then frees the original and uses the duplicate again.
void duplicate_outlives_original(Context& context) {
  auto original = std::make_unique<OwnComm>();
  tour(context, original->get(), 5);
  const OwnComm duplicate(original->get());
  tour(context, duplicate.get(), 6);
  original.reset();
  tour(context, duplicate.get(), 7);
}

/// Calls alternate between overlapping communicators without any synchronisation.
void several_at_once(Context& context) {
  const bool native = context.options().native;
  const OwnComm all;
  const OwnComm reversed(0, -context.rank());
  const OwnComm half(context.rank() % 2, context.rank());
  std::mt19937 random(11);
  for (const std::string& name : algorithms(Kind::gatherv, native)) {
    const Forced gatherv(Kind::gatherv, name, native);
    const Forced scatterv(Kind::scatterv, name, native);
    for (int round = 0; round < 2; ++round) {
      for (const OwnComm* comm : {&all, &half, &reversed, &half}) {
        const auto p = static_cast<unsigned>(comm->size());
        const Kind kind = random() % 2 == 0 ? Kind::gatherv : Kind::scatterv;
        const int root = static_cast<int>(random() % 8 % p);
        // The halves may differ in size, so each has its own generator.
        std::mt19937 own(static_cast<unsigned>(random()));
        check(context, draw(kind, comm->get(), root, sizes("random", comm->size(), own), own));
      }
    }
  }
}

/// A receive from any source with any tag is pending on the communicator: it is the program's.
void wildcard_receive(Context& context) {
  const bool native = context.options().native;
  const OwnComm comm;
  const int p = comm.size();
  std::mt19937 random(13);
  for (const Kind kind : all_kinds) {
    for (const std::string& name : algorithms(kind, native)) {
      const Forced forced(kind, name, native);
      int received = -1;
      MPI_Request request;
      PMPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm.get(), &request);
      std::vector<int> units(static_cast<std::size_t>(p), 3);
      check(context, draw(kind, comm.get(), p - 1, std::move(units), random));
      const int sent = comm.rank();
      PMPI_Send(&sent, 1, MPI_INT, (comm.rank() + 1) % p, 5, comm.get());
      PMPI_Wait(&request, MPI_STATUS_IGNORE);
      if (received != (comm.rank() + p - 1) % p) context.fail("another's message was taken");
    }
  }
}

/// Ranks are late in turn and roots change: messages must not match a later call.
void back_to_back(Context& context) {
  const bool native = context.options().native;
  const OwnComm comm;
  const int p = comm.size();
  for (const Kind kind : all_kinds) {
    for (const std::string& name : algorithms(kind, native)) {
      const Forced forced(kind, name, native);
      std::mt19937 random(17);
      for (int call = 0; call < 6; ++call) {
        if (call % p == comm.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::vector<int> units(static_cast<std::size_t>(p), 1 + call % 3);
        check(context, draw(kind, comm.get(), (call * 3 + 1) % p, std::move(units), random));
      }
    }
  }
}

/// What only Tutti has needs one group.
void refuse_groups(Context& context, MPI_Comm inter) {
  const auto refused = [&](const char* what, int code) {
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(code, &error_class);
    if (error_class != MPI_ERR_COMM) context.fail(std::string(what) + ": " + error_text(code));
  };
  context.step("what needs one group");
  const int mine = context.rank();
  MPI_Comm made = MPI_COMM_NULL;
  void* result = nullptr;
  refused("arrivals", TUTTI_Arrival_init(inter, 0.5));
  refused("another order of ranks", TUTTI_Comm_reorder(inter, nullptr, &made));
  refused("distances", TUTTI_Distances_measure(inter, nullptr, 0));
  refused("one-sided collectives", TUTTI_Rma_init(inter));
  refused("a shared result", TUTTI_Allgather_shared(&mine, 1, MPI_INT, 1, MPI_INT, inter,
                                                    TUTTI_SHARED_READ_ONLY, &result));
  if (made != MPI_COMM_NULL || result != nullptr) context.fail("something was made");
}

/// Rank 0 of one group gathers from the other group, also by a persistent request; the call is the
/// MPI's own.
void inter_communicator(Context& context) {
  const bool native = context.options().native;
  if (context.size() < 2) return context.skip("needs 2 ranks");
  const bool low = context.rank() < context.size() / 2;
  const OwnComm group(low ? 0 : 1, context.rank());
  MPI_Comm inter;
  PMPI_Intercomm_create(group.get(), 0, MPI_COMM_WORLD, low ? context.size() / 2 : 0, 1, &inter);
  int others = 0;
  PMPI_Comm_remote_size(inter, &others);
  PMPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  const Calls& calls = calls_under_test(native);
  for (const std::string& name : algorithms(Kind::gather, native)) {
    const Forced forced(Kind::gather, name, native);
    for (const Calls* form : {&calls, native ? &calls : &persistent_calls()}) {
      context.step("gather between groups, " + name);
      const int mine = context.rank();
      std::vector<int> all(static_cast<std::size_t>(others), -1);
      const int root = !low ? 0 : group.rank() == 0 ? MPI_ROOT : MPI_PROC_NULL;
      const int code = form->gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, root, inter);
      if (code != MPI_SUCCESS) context.fail("returns " + error_text(code));
      for (int i = 0; i < others && root == MPI_ROOT; ++i) {
        if (all[static_cast<std::size_t>(i)] != context.size() / 2 + i) context.fail("wrong data");
      }
    }
  }
  if (!native) refuse_groups(context, inter);
  PMPI_Comm_free(&inter);
}

}  // namespace

void add_communicators(Suite& suite) {
  suite.add("world", world);
  suite.add("self", self);
  suite.add("split by parity", split_by_parity);
  suite.add("reversed ranks", reversed_ranks);
  suite.add("a duplicate outlives its original", duplicate_outlives_original);
  suite.add("several communicators at once", several_at_once);
  suite.add("a wildcard receive is pending", wildcard_receive);
  suite.add("back to back with late ranks", back_to_back);
  suite.add("between two groups", inter_communicator);
}

}  // namespace tutti::test
