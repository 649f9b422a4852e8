/// Ranks that compute for different times before their calls, and say how far they are.
#pragma once

#include <unistd.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {

/// The ranks that give a progress hint before a call.
enum class Hints { all, some, every_second, none };

struct DelayCase {
  Hints hints = Hints::all;
  unsigned max_delay = 300;  ///< microseconds
};

inline bool gives_hint(Hints hints, int rank, unsigned call) {
  switch (hints) {
    case Hints::all:
      return true;
    case Hints::some:
      return rank % 2 == 0;
    case Hints::every_second:
      return (call + static_cast<unsigned>(rank)) % 2 == 0;
    default:
      return false;
  }
}

/// Computes for a while, with a progress hint after 50 %.
inline void compute(Context& context, MPI_Comm comm, const DelayCase& delay_case, unsigned call,
                    std::mt19937& random) {
  const auto delay =
      static_cast<unsigned>(delay_case.max_delay == 0 ? 0 : random() % delay_case.max_delay);
  usleep(delay / 2);
  if (gives_hint(delay_case.hints, context.rank(), call) && !context.options().native) {
    expect(context, TUTTI_Arrival_edge(comm), "TUTTI_Arrival_edge");
  }
  usleep(delay / 2);
}

inline constexpr std::array equal_sizes = {40, 0, 1, 700, 20000};

/// The sizes of the call with this number: the shapes in turn; equal sizes for gather and scatter.
inline std::vector<int> units_for(Kind kind, int p, unsigned call, std::mt19937& random) {
  const int size = equal_sizes[call % equal_sizes.size()];
  if (!is_irregular(kind)) return std::vector<int>(static_cast<std::size_t>(p), size);
  const auto& shapes = size_shapes();
  return sizes(shapes[call % shapes.size()], p, random);
}

/// Begins the exchange of arrivals, with progress hints.
inline void begin_exchange(Context& context, MPI_Comm comm) {
  if (context.options().native) return;
  expect(context, TUTTI_Arrival_init(comm, 0.5), "TUTTI_Arrival_init");
}

}  // namespace tutti::test
