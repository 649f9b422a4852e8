/// Cached plans and communicators must neither become stale nor accumulate.
#include <algorithm>
#include <cstdlib>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

constexpr long mebibyte = 1L << 20;

Exchange plain(Kind kind, MPI_Comm comm, int root, std::vector<int> units, unsigned salt) {
  Exchange e;
  e.kind = kind;
  e.comm = comm;
  e.root = root;
  e.units = std::move(units);
  e.leaf = &layouts_of_ints()[0];
  e.at_root = &layouts_of_ints()[1];
  e.salt = salt;
  return e;
}

/// Sizes change on one rank only, so the arguments of the others are unchanged.
void sizes_change_on_some_ranks(Context& context, Kind kind) {
  const bool native = context.options().native;
  const OwnComm comm;
  const int p = comm.size();
  for (const std::string& name : algorithms(kind, native)) {
    const Forced forced(kind, name, native);
    std::vector<int> units(static_cast<std::size_t>(p), 6);
    unsigned salt = 0;
    const auto call = [&] { check(context, plain(kind, comm.get(), p / 2, units, ++salt)); };
    call();
    call();
    for (const int changed : {0, p - 1, p / 2}) {
      int& mine = units[static_cast<std::size_t>(changed)];
      for (const int size : {0, 500, 6}) {
        mine = size;
        call();
      }
    }
  }
}

/// More different calls than any cache should hold.
void many_plans(Context& context) {
  const bool native = context.options().native;
  const OwnComm comm;
  const int p = comm.size();
  const int calls = (p <= 2 ? 6000 : p == 3 ? 600 : 200) * context.options().effort;
  const std::vector<std::string> names = algorithms(Kind::gatherv, native);
  long before = 0;
  std::mt19937 random(23);
  for (int i = 0; i < calls; ++i) {
    const auto which = static_cast<std::size_t>(i) % names.size();
    const Forced gatherv(Kind::gatherv, names[which], native);
    const Forced scatterv(Kind::scatterv, names[which], native);
    std::vector<int> units(static_cast<std::size_t>(p));
    for (int& mine : units) mine = static_cast<int>(random() % 1000);
    const Kind kind = i % 2 == 0 ? Kind::gatherv : Kind::scatterv;
    check(context, plain(kind, comm.get(), i % p, std::move(units), static_cast<unsigned>(i)));
    if (i == calls / 2) before = resident_bytes();
  }
  const long grown = resident_bytes() - before;
  if (grown > 16 * mebibyte) context.fail("memory grew by " + std::to_string(grown) + " bytes");
}

/// Communicators are made, used and freed, more often than an MPI has context ids.
void many_communicators(Context& context, MPI_Comm of, int rounds) {
  const bool native = context.options().native;
  const std::vector<std::string> names = algorithms(Kind::gatherv, native);
  long before = 0;
  for (int i = 0; i < rounds; ++i) {
    const Forced forced(Kind::gatherv, names[static_cast<std::size_t>(i) % names.size()], native);
    const OwnComm comm(of);
    std::vector<int> units(static_cast<std::size_t>(comm.size()), 2);
    check(context, plain(Kind::gatherv, comm.get(), 0, std::move(units), static_cast<unsigned>(i)));
    if (i == rounds / 2) before = resident_bytes();
  }
  const long grown = resident_bytes() - before;
  if (grown > 16 * mebibyte) context.fail("memory grew by " + std::to_string(grown) + " bytes");
}

}  // namespace

void add_caches(Suite& suite) {
  for (const Kind kind : {Kind::gatherv, Kind::scatterv}) {
    suite.add(std::string("sizes change on some ranks, ") + name_of(kind),
              [kind](Context& context) { sizes_change_on_some_ranks(context, kind); });
  }
  suite.add("many different calls", many_plans);
  // More ranks do the same beside each other: ./test --all.
  suite.add("many duplicates of self", [](Context& context) {
    const bool repeats = context.size() > 2 && std::getenv("ALL_TESTS") == nullptr;
    many_communicators(context, MPI_COMM_SELF, repeats ? 1000 : 10000);
  });
  // With oversubscribed cores, duplicating takes tens of milliseconds; 1 rank repeats the above.
  suite.add("many duplicates of world", [](Context& context) {
    const int rounds = context.size() == 2 ? 10000 : 50;
    many_communicators(context, MPI_COMM_WORLD, rounds * context.options().effort);
  });
}

}  // namespace tutti::test
