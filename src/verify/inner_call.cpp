/// Applies the contracts of inner collectives, by bytes.
#include "verify/inner_call.hpp"

#include "core/contract.hpp"

namespace tutti {

namespace {

/// The first difference between the members' calls; empty if there is none.
std::string disagreement(std::span<const InnerCall* const> members) {
  const InnerCall& first = *members.front();
  for (const InnerCall* member : members) {
    if (member->collective != first.collective || member->root != first.root) {
      return "members disagree on the collective or its root";
    }
    if (first.collective == Collective::bcast && !(member->send == member->receive)) {
      return "a bcast has one buffer";
    }
    if (reduces(first.collective) && member->send.counts != first.send.counts) {
      return "members' counts differ";
    }
  }
  return "";
}

/// Adds a transfer of count `out` of member `from` to count `in` of member `to`. Returns the text
/// of a fault, or an empty one.
std::string add(std::span<const InnerCall* const> members, int from, BlockIndex out, int to,
                BlockIndex in, std::vector<InnerTransfer>& transfers) {
  const InnerBuffer& source = members[index(from)]->send;
  const InnerBuffer& sink = members[index(to)]->receive;
  if (index(out) >= source.counts.size() || index(in) >= sink.counts.size() ||
      source.counts.size() != source.displacements.size() ||
      sink.counts.size() != sink.displacements.size()) {
    return "a count is missing";
  }
  const Bytes bytes = sink.counts[index(in)];
  if (source.counts[index(out)] != bytes) {
    return "node " + std::to_string(from) + " sends " + std::to_string(source.counts[index(out)]) +
           " bytes to node " + std::to_string(to) + ", which receives " + std::to_string(bytes);
  }
  const Collective collective = members.front()->collective;
  transfers.push_back({from, to, reduces(collective), source.at + source.displacements[index(out)],
                       sink.at + sink.displacements[index(in)], bytes});
  if (is_irregular(collective) || bytes == transfers.front().bytes) return "";
  return "a regular call has unequal counts";
}

}  // namespace

std::vector<InnerTransfer> transfers_of(std::span<const InnerCall* const> members,
                                        std::string& fault) {
  const InnerCall& first = *members.front();
  const int count = static_cast<int>(members.size());
  const Contract contract{first.collective, count, first.root};
  std::vector<InnerTransfer> transfers;
  fault = disagreement(members);
  for (int to = 0; to < count; ++to) {
    const BlockSeries wanted = contract.after(to);
    for (Block in = 0; in < wanted.count; ++in) {
      for (int from = 0; from < count && fault.empty(); ++from) {
        const BlockSeries brought = contract.before(from);
        const Block out = wanted[in] - brought.first;  // their stride is 1
        const bool is_kept = from == to && first.collective == Collective::bcast;
        if (out < 0 || out >= brought.count || is_kept) continue;
        fault = add(members, from, out, to, in, transfers);
      }
    }
  }
  if (!fault.empty()) return {};
  return transfers;
}

}  // namespace tutti
