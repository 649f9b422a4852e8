/// Prices flat calls and node memory by the model.
#include "select/hierarchical.hpp"

#include <algorithm>

#include "core/numbers.hpp"

namespace tutti {

namespace {

std::string microseconds(double seconds) {
  return in_characters(seconds * 1e6, std::chars_format::general, 3) + " us";
}

std::string note_of(const HierarchicalSeconds& seconds) {
  return "copies in " + microseconds(seconds.copies_in) + ", signals " +
         microseconds(seconds.signals) + ", between nodes " + microseconds(seconds.between) +
         ", copies out " + microseconds(seconds.copies_out);
}

}  // namespace

bool is_block_common(Collective collective) {
  return collective != Collective::gatherv && collective != Collective::scatterv &&
         collective != Collective::alltoallv;
}

std::vector<Candidate> hierarchical_proposals(Collective collective, const Nodes& nodes,
                                              Bytes block, std::span<const Program> programs,
                                              const NodeMachine& machine) {
  const NodeShape mean = {nodes.count(), nodes.p() / nodes.count()};
  std::vector<Candidate> proposals;
  for (const auto& [shape, seconds] :
       flat_times(collective, mean, static_cast<double>(block), machine)) {
    proposals.push_back({"flat " + std::string(shape), seconds, "ignores nodes"});
  }
  const HierarchicalSeconds seconds = program_seconds(programs, nodes, machine);
  const Level level{true, programs.front().lanes};
  proposals.push_back(
      {to_text(Setting{Setting::Kind::native, {}, level}), seconds.total(), note_of(seconds)});
  std::ranges::stable_sort(proposals, {}, &Candidate::seconds);
  return proposals;
}

}  // namespace tutti
