/// Each pair of send and receive datatypes, types without bytes, reused handles.
#include <cstdint>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

/// Every pair of a family once for each collective, the algorithms in turn.
void all_pairs(Context& context, Kind kind, const std::vector<Layout>& family) {
  const bool native = context.options().native;
  const OwnComm comm;
  const std::vector<std::string> names = algorithms(kind, native);
  std::mt19937 random(7);
  std::size_t next = 0;
  for (const Layout& leaf : family) {
    for (const Layout& at_root : family) {
      const Forced forced(kind, names[next % names.size()], native);
      Exchange e;
      e.kind = kind;
      e.comm = comm.get();
      e.root = static_cast<int>(next) % comm.size();
      e.units = is_irregular(kind) ? sizes("random", comm.size(), random)
                                   : std::vector<int>(static_cast<std::size_t>(comm.size()), 9);
      e.leaf = &leaf;
      e.at_root = &at_root;
      e.block_layout = static_cast<BlockLayout>(next % 4);
      e.bottom = next % 3 == 0;
      e.salt = static_cast<unsigned>(next);
      check(context, e);
      ++next;
    }
  }
}

/// MPIs reuse the handle of a freed type: no cache may keep the old layout.
void reused_handles(Context& context, Kind kind) {
  const bool native = context.options().native;
  const OwnComm comm;
  for (const std::string& name : algorithms(kind, native)) {
    const Forced forced(kind, name, native);
    for (int stride = 1; stride <= 4; ++stride) {
      MPI_Datatype type;
      PMPI_Type_vector(2, 1, stride, MPI_INT32_T, &type);
      const Layout layout("reused handle", type, 1, {{0, 4}, {4 * std::ptrdiff_t{stride}, 4}});
      Exchange e;
      e.kind = kind;
      e.comm = comm.get();
      e.units.assign(static_cast<std::size_t>(comm.size()), 1);
      e.leaf = &layout;
      e.at_root = &layout;
      e.salt = static_cast<unsigned>(stride);
      check(context, e);
    }
  }
}

}  // namespace

void add_datatypes(Suite& suite) {
  for (const Kind kind : all_kinds) {
    suite.add(std::string("pairs of datatypes, ") + name_of(kind), [kind](Context& context) {
      all_pairs(context, kind, layouts_of_ints());
      all_pairs(context, kind, layouts_of_records());
      all_pairs(context, kind, layouts_of_nothing());
    });
  }
  for (const Kind kind : {Kind::gatherv, Kind::scatter}) {
    suite.add(std::string("reused type handles, ") + name_of(kind),
              [kind](Context& context) { reused_handles(context, kind); });
  }
}

}  // namespace tutti::test
