/// Tests hierarchical calls with order of arrival and irregular sizes, by ranks that arrive at
/// random.
#include <unistd.h>

#include "exchange.hpp"
#include "harness.hpp"
#include "movement.hpp"

namespace tutti::test {
namespace {

/// Computes for up to 300 us. Gives a progress hint in the middle, except at every fourth call.
void compute(Context& context, MPI_Comm comm, unsigned call, std::mt19937& random) {
  const auto delay = static_cast<unsigned>(random() % 300);
  usleep(delay / 2);
  if ((call + static_cast<unsigned>(context.rank())) % 4 != 0) {
    expect(context, TUTTI_Arrival_edge(comm), "TUTTI_Arrival_edge");
  }
  usleep(delay / 2);
}

/// Runs with 1 to 3 leaders of each node, and with progress hints. `make(comm, call)` makes one
/// call and checks it.
template <class Make>
void by_leaders(Context& context, const char* collective, const char* algorithm, Make make) {
  std::mt19937 own(static_cast<unsigned>(context.rank()));
  for (const char* leaders : {"1", "2", "3"}) {
    const OwnComm comm;
    expect(context, TUTTI_Arrival_init(comm.get(), 0.5), "TUTTI_Arrival_init");
    const Forced forced(collective, std::string(algorithm) + ",level=node,leaders=" + leaders,
                        false);
    context.expect_empty(forced.error());
    for (unsigned call = 0; call < 4U * static_cast<unsigned>(context.options().effort); ++call) {
      compute(context, comm.get(), call, own);
      make(comm, call);
      context.expect_empty(forced.wrongly_ran(comm.get()));
    }
  }
}

void irregular_calls(Context& context) {
  const auto gather_or_scatter = [&context](Kind kind, const char* algorithm) {
    std::mt19937 random(81);
    by_leaders(context, name_of(kind), algorithm, [&](const OwnComm& comm, unsigned call) {
      const auto& shapes = size_shapes();
      const int p = comm.size();
      Exchange exchange =
          draw(kind, comm.get(), static_cast<int>(random() % static_cast<unsigned>(p)),
               sizes(shapes[(random() + call) % shapes.size()], p, random), random);
      native_fallback(exchange);
      check(context, exchange);
    });
  };
  const auto move = [&context](Motion motion, const char* algorithm) {
    std::mt19937 random(82);
    by_leaders(context, setting_of(motion), algorithm, [&](const OwnComm& comm, unsigned) {
      const Movement movement = draw(motion, comm.get(), comm.size(), 40, random);
      context.step(algorithm + (" " + to_text(movement)));
      context.expect_empty(run(movement, false));
    });
  };
  gather_or_scatter(Kind::gatherv, "linear_sync:order=arrival");
  gather_or_scatter(Kind::gatherv, "binomial:order=late_leaf");
  gather_or_scatter(Kind::gatherv, "ordered_tree:arrivals=on");
  gather_or_scatter(Kind::scatterv, "linear_sequence:order=arrival");
  gather_or_scatter(Kind::scatterv, "ordered_tree:arrivals=on");
  move(Motion::allgatherv, "sync_bcast:order=arrival");
  move(Motion::bcast, "binomial:order=arrival");
  move(Motion::bcast, "earliest:runner=caller");
}

}  // namespace

void add_hierarchical_arrivals(Suite& suite) {
  suite.add_tutti_only("levels, irregular, by arrival", irregular_calls);
}

}  // namespace tutti::test
