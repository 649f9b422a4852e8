/// Reductions: every algorithm with every kind of value, root and count, and bad arguments.
#include <algorithm>
#include <array>
#include <random>

#include "exchange.hpp"
#include "harness.hpp"
#include "reduction.hpp"

namespace tutti::test {
namespace {

std::vector<std::string> specifications_of(Context& context, const std::string& collective) {
  if (context.options().native) return {"native"};
  std::vector<std::string> all = algorithms(collective.c_str());
  all.insert(all.end(), {"auto", "native"});
  if (collective == "reduce")
    all.insert(all.end(), {"chain:parts=3", "circulant:parts=3", "knomial:k=3"});
  if (collective == "allreduce") all.push_back("ring:order=natural,runner=background");
  if (collective == "reduce_scatter") all.push_back("circulant:order=by_size");
  return all;
}

void check_reduction(Context& context, Reduction reduction, const std::string& specification) {
  reduction.native = context.options().native;
  const bool fits = reduction.values->commutes || takes_any(reduction.collective, specification);
  const bool is_native = specification == "auto" || specification == "native" || !fits;
  if (is_native && (reduction.values->is_odd || is_absolute(reduction))) return;
  reduction.keeps_rest = !is_native;
  context.step(specification + " " + to_text(reduction));
  context.expect_empty(run(reduction));
  if (reduction.native || specification == "auto") return;
  const std::string ran = last_run(reduction.comm, reduction.collective);
  const std::string name = fits ? specification.substr(0, specification.find(':')) : "native";
  if (!ran.starts_with(name) && !is_for_memory(ran))
    context.fail("ran \"" + ran + "\" instead of " + name);
}

/// Every specification and every kind of value; roots, counts and MPI_IN_PLACE in turn.
void sweep_values(Context& context, const std::string& collective) {
  const OwnComm comm;
  std::mt19937 random(7);
  for (const std::string& specification : specifications_of(context, collective)) {
    const Forced forced(context, collective, specification);
    int turn = static_cast<int>(random() % 420);  // each of 3, 4, 5 and 7 has its own turns
    for (const Values& values : Values::all()) {
      constexpr std::array counts = {5, 0, 1, 64, 17};
      const int root = root_of_call(turn, comm.size(), static_cast<int>(counts.size()));
      Reduction reduction{collective, comm.get(), root, {}, &values};
      reduction.counts =
          counts_of(collective, counts[static_cast<std::size_t>(turn) % 5], comm.size());
      reduction.in_place = turn % 3 == 1;
      reduction.large = turn % 4 >= 2;
      reduction.bottom = turn % 7 < 4;
      check_reduction(context, reduction, specification);
      ++turn;
    }
  }
}

/// Every root and some lengths, with an operation that does not commute and with contiguous
/// numbers.
void sweep_roots(Context& context) {
  const OwnComm comm;
  for (const std::string& specification : specifications_of(context, "reduce")) {
    const Forced forced(context, "reduce", specification);
    for (int root = 0; root < comm.size(); ++root) {
      for (const int kind : {0, 4}) {
        Reduction reduction{"reduce", comm.get(), root, {root % 2 == 0 ? 7 : 1}};
        reduction.values = &Values::all()[static_cast<std::size_t>(kind)];
        reduction.in_place = root % 2 == 1;
        check_reduction(context, reduction, specification);
      }
    }
  }
}

/// Long vectors, some longer than one call of MPI_Reduce_local takes.
void reduce_much(Context& context) {
  const OwnComm comm;
  for (const char* collective : all_reductions) {
    for (const std::string& specification : specifications_of(context, collective)) {
      const Forced forced(context, collective, specification);
      for (const std::size_t kind : {std::size_t{0}, std::size_t{4}}) {
        Reduction reduction{collective, comm.get(), comm.size() / 2, {}, &Values::all()[kind]};
        reduction.counts = counts_of(collective, 30011, comm.size());
        check_reduction(context, reduction, specification);
      }
    }
  }
  const Forced forced(context, "allreduce", "recursive_doubling");
  Reduction reduction{"allreduce", comm.get(), 0, {30011}, &Values::all()[0]};
  if (!context.options().native && !context.options().memory.empty() && comm.size() > 1) {
    check_reduction(context, reduction, "recursive_doubling");
    const std::string ran = last_run(comm.get(), "allreduce");
    if (!is_for_memory(ran)) context.fail("ran \"" + ran + "\" in spite of --memory");
  }
  if (comm.size() > 3) return;
  reduction.counts = {(1 << 24) + 3};
  reduction.values = &Values::all()[1];
  check_reduction(context, reduction, "recursive_doubling");
}

void reduce_on_parts_of_the_world(Context& context) {
  const OwnComm backwards(0, -context.rank());
  const OwnComm part(context.rank() % 2, -context.rank());
  for (const MPI_Comm comm : {backwards.get(), part.get(), MPI_COMM_SELF}) {
    for (const char* collective : all_reductions) {
      int p = 0;
      PMPI_Comm_size(comm, &p);
      const std::string name = context.options().native ? "native" : algorithms(collective)[0];
      const Forced forced(context, collective, name);
      Reduction reduction{collective, comm, p - 1, counts_of(collective, 6, p), &Values::all()[4]};
      check_reduction(context, reduction, name);
    }
  }
}

/// Bad arguments, equal at all ranks, return the MPI's own error.
void refuse_bad_arguments(Context& context) {
  const OwnComm comm;
  const std::string name = context.options().native ? "native" : "recursive_doubling";
  const Forced forced(context, "allreduce", name);
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(2, MPI_INT, &pair);
  PMPI_Type_commit(&pair);
  struct Bad {
    const char* name;
    int count;
    MPI_Datatype type;
    MPI_Op op;
  };
  const std::vector<Bad> all = {
#if defined(OPEN_MPI)  // MPICH 4.0 copies -1 elements
    {"negative count", -1, MPI_INT, MPI_SUM},
#endif
    {"null type", 1, MPI_DATATYPE_NULL, MPI_SUM},
    {"null operation", 1, MPI_INT, MPI_OP_NULL},
    {"sum of a derived type", 1, pair, MPI_SUM},
    {"bits of numbers with a point", 1, MPI_DOUBLE, MPI_BAND},
  };
  std::array<double, 4> send = {1, 2, 3, 4};
  std::array<double, 4> receive{};
  for (const Bad& bad : all) {
    context.step(bad.name);
    const auto call = [&](auto function) {
      return class_of(
          function(send.data(), receive.data(), bad.count, bad.type, bad.op, comm.get()));
    };
    const int expected = call(PMPI_Allreduce);
    const int found = context.options().native ? expected : call(TUTTI_Allreduce);
    if (found == MPI_SUCCESS) context.fail("no error");
    if (found != expected) {
      context.fail(error_text(found) + " instead of " + error_text(expected));
    }
  }
  PMPI_Type_free(&pair);
  context.step("a good call after bad ones");
  check_reduction(context, {"allreduce", comm.get(), 0, {3}, &Values::all()[0]}, name);
}

/// One rank has more elements than the others: any ranks may get an error, all return, none writes
/// beyond its own count, and the next call is sound.
void survive_contradictions(Context& context) {
  // MPICH calls the world's handler for a message that is too long.
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const char* collective : {"reduce", "allreduce"}) {
    for (const std::string& specification : algorithms(collective)) {
      const OwnComm comm;
      const Forced forced(context, collective, specification);
      const int p = comm.size();
      const int count = comm.rank() == p / 2 ? 64 * p : 32 * p;
      const std::vector<int> send(static_cast<std::size_t>(64 * p), 1);
      std::vector<int> receive(send.size(), -1);
      context.step(specification + " of contradicting counts");
      if (std::string(collective) == "reduce") {
        TUTTI_Reduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, 0, comm.get());
      } else {
        TUTTI_Allreduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, comm.get());
      }
      const auto beyond = receive.end() - (receive.begin() + count);
      if (std::count(receive.begin() + count, receive.end(), -1) != beyond) {
        context.fail("memory behind the vector was written");
      }
      check_reduction(context, {collective, comm.get(), 0, {7}, &Values::all()[0]}, specification);
    }
  }
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  PMPI_Errhandler_free(&before);
}

/// The root has an invalid datatype where the others have an operation that does not commute, for
/// which the requested algorithm does not do. The root finds neither, and the next call is sound.
void stay_in_step(Context& context) {
  const OwnComm comm;
  if (comm.size() == 1) return context.skip("needs 2 ranks");
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 0, &op);
  const Forced forced(context, "reduce", "binomial");
  const Reduction good = {"reduce", comm.get(), 0, {3}, &Values::all()[0]};
  check_reduction(context, good, "binomial");
  context.step("one invalid call");
  // No other rank waits for this one: it gets the result, and sends nothing before.
#if defined(OPEN_MPI)
  const int root = comm.size() - 1;
#else
  const int root = 0;
#endif
  const int value = 1;
  int result = 0;
  const MPI_Datatype type = comm.rank() == root ? MPI_DATATYPE_NULL : MPI_INT;
  const int code = TUTTI_Reduce(&value, &result, 1, type, op, root, comm.get());
  if ((code != MPI_SUCCESS) != (comm.rank() == root)) context.fail("an error on the wrong rank");
  check_reduction(context, good, "binomial");
  PMPI_Op_free(&op);
}

}  // namespace

void add_reductions(Suite& suite) {
  for (const char* collective : all_reductions) {
    suite.add(std::string("reductions: ") + collective + " of every kind of value",
              [collective](Context& context) { sweep_values(context, collective); });
  }
  suite.add("reductions: every root", sweep_roots);
  suite.add("reductions: long vectors", reduce_much);
  suite.add("reductions: parts of the world", reduce_on_parts_of_the_world);
  suite.add_tutti_only("reductions: own operations get parts", check_parts);
  suite.add("reductions: handles of freed operations", check_reused_operations);
  suite.add("reductions: bad arguments", refuse_bad_arguments);
  suite.add_tutti_only("reductions: bad arguments beside an operation that does not commute",
                       stay_in_step);
  suite.add_tutti_only("reductions: contradicting counts", survive_contradictions);
}

}  // namespace tutti::test
