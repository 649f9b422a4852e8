/// Every specification with every root, every shape of sizes, and random types.
#include <algorithm>
#include <iterator>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

constexpr int units_of_calls[] = {40, 1, 700, 7, 20000};

/// The sizes of the j-th call: the shapes in turn; equal sizes for gather and scatter.
std::vector<int> sizes_of_call(Kind kind, int j, int p, std::mt19937& random) {
  if (is_irregular(kind)) {
    const auto& shapes = size_shapes();
    return sizes(shapes[static_cast<std::size_t>(j) % shapes.size()], p, random);
  }
  return std::vector<int>(static_cast<std::size_t>(p),
                          units_of_calls[j % std::ssize(units_of_calls)]);
}

void sweep(Context& context, Kind kind, const std::string& specification) {
  const bool native = context.options().native;
  const OwnComm comm;
  const int p = comm.size();
  const Forced forced(kind, specification, native);
  context.step(specification);
  context.expect_empty(forced.error());
  if (!forced.error().empty()) return;
  // Enough for each root and each shape; then one without data.
  const int shapes =
      static_cast<int>(is_irregular(kind) ? size_shapes().size() : std::size(units_of_calls));
  const int calls = std::max(p, shapes) * context.options().effort;
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(specification)));
  for (int j = 0; j <= calls; ++j) {
    const int root = root_of_call(j, p, shapes);
    std::vector<int> units = sizes_of_call(kind, j, p, random);
    if (j == calls) std::ranges::fill(units, 0);
    Exchange exchange = draw(kind, comm.get(), root, std::move(units), random);
    if (specification == "native" || specification == "auto") native_fallback(exchange);
    context.step(specification + " " + to_text(exchange));
    context.expect_empty(run(exchange, calls_under_test(native)));
    context.expect_empty(forced.wrongly_ran(comm.get()));
  }
}

}  // namespace

void add_sweep(Suite& suite) {
  for (const Kind kind : all_kinds) {
    suite.add(std::string("sweep ") + name_of(kind), [kind](Context& context) {
      for (const std::string& specification : specifications(kind, context.options().native)) {
        sweep(context, kind, specification);
      }
    });
  }
}

}  // namespace tutti::test
