/// Pipelined broadcast on the circulant graph, for any number of ranks.
#include <vector>

#include "algorithms/pipeline.hpp"
#include "schedule/builder.hpp"
#include "shapes/circulant_broadcast.hpp"

namespace tutti {

/// n parts in n - 1 + ceil(log2 p) rounds; in each round every rank sends one part and receives
/// another. No broadcast of n parts takes fewer rounds (Träff 2022, arXiv 2205.10072; see
/// shapes/circulant_broadcast.hpp). (n - 1 + ceil(log2 p))(alpha + m / n beta); with the best n,
/// (sqrt((ceil(log2 p) - 1) alpha) + sqrt(m beta))^2.
Schedule bcast_circulant(const Problem& problem) {
  const Problem cut = problem.cut(pipeline_parts(problem));
  ScheduleBuilder schedule(cut);
  const int p = problem.p;
  const Position me = problem.position();
  const CirculantBroadcast broadcast(p, cut.parts);
  const std::vector<int> received = broadcast.received(me);
  const std::vector<int> sent = broadcast.sent(me);
  for (int round = 0; round < broadcast.rounds(); ++round) {
    const int skip = broadcast.skip(round);
    const auto at = index(round);
    if (const int part = sent[at]; part >= 0) {
      schedule.send(problem.rank_at((me + skip) % p), {part, part + 1});
    }
    if (const int part = received[at]; part >= 0) {
      schedule.recv(problem.rank_at((me - skip + p) % p), {part, part + 1});
    }
    schedule.wait_all();
  }
  return schedule.done();
}

}  // namespace tutti
