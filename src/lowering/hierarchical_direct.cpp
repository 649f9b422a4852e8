/// Removes copies where inner calls can use a rank's own buffers.
#include <algorithm>
#include <optional>

#include "lowering/hierarchical_chunk.hpp"

namespace tutti {

namespace {

/// True for a copy into node memory (`in`), or out of it.
bool is_copy(const Operation& operation, bool in) {
  return operation.kind == OperationKind::copy &&
         (in ? operation.to : operation.from).area == Area::node;
}

/// The offset in the buffer of the bytes [at, at + bytes) of node memory that a copy moves; none if
/// they are scattered. Copies into or out of node memory are whole blocks in sequence, the entire
/// buffer (see hierarchical_chunk).
std::optional<Bytes> side_of(const Program& program, bool in, Bytes at, Bytes bytes) {
  if (bytes == 0) return 0;
  for (const Operation& copy : program.operations) {
    if (!is_copy(copy, in)) continue;
    const BufferRef& side = in ? copy.from : copy.to;
    const BufferRef& node = in ? copy.to : copy.from;
    if (node.offset <= at && at + bytes <= node.offset + node.bytes) {
      return side.offset + at - node.offset;
    }
  }
  return std::nullopt;
}

/// Does a call have displacements? Without them its blocks must be consecutive.
bool has_displacements(Collective collective) {
  return is_irregular(collective) && collective != Collective::reduce_scatter;
}

/// The inner buffer moved from node memory to the rank's buffer; none if it is scattered there.
std::optional<InnerBuffer> moved(const Program& program, bool in, const InnerBuffer& end,
                                 Collective collective, Area area) {
  InnerBuffer side = {area, 0, end.counts, {}};
  Bytes next = 0;
  for (std::size_t i = 0; i < end.counts.size(); ++i) {
    const auto at = side_of(program, in, end.at + end.displacements[i], end.counts[i]);
    if (!at) return std::nullopt;
    if (i == 0) side.at = next = has_displacements(collective) ? 0 : *at;
    const bool is_empty = end.counts[i] == 0;
    if (!has_displacements(collective) && !is_empty && *at != next) return std::nullopt;
    side.displacements.push_back(has_displacements(collective) ? *at : next - side.at);
    next += end.counts[i];
  }
  return side;
}

/// Moves one inner buffer of all calls to the rank's buffer `area`, and removes the copies into or
/// out of node memory. Does nothing if a call would need a scattered buffer.
void use_side(Program& program, bool in, Area area, InnerBuffer InnerCall::*which) {
  std::vector<InnerBuffer> buffers;
  for (const InnerCall& call : program.calls) {
    const auto end = moved(program, in, call.*which, call.collective, area);
    if (!end) return;
    buffers.push_back(*end);
  }
  std::erase_if(program.operations, [in](const Operation& each) { return is_copy(each, in); });
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    InnerCall& call = program.calls[i];
    call.*which = buffers[i];
    if (call.collective == Collective::bcast) call.receive = call.send;
  }
}

/// Does the program use no node memory?
bool is_apart(const Program& program) {
  const auto is_outside = [](const InnerBuffer& end) {
    return end.counts.empty() || end.area != Area::node;
  };
  return std::ranges::count(program.operations, OperationKind::copy, &Operation::kind) == 0 &&
         std::ranges::all_of(program.calls, [&](const InnerCall& call) {
           return is_outside(call.send) && is_outside(call.receive);
         });
}

}  // namespace

void use_sides(Program& program, const HierarchicalProblem& call, const Nodes& nodes, Rank rank) {
  if (program.calls.empty()) return;
  const Collective collective = call.collective;
  const bool is_alone = nodes.size(nodes.node_of(rank)) == 1;
  const bool is_root = rank == call.root;
  const bool leads_alone = program.lanes == 1 && is_root;
  if (collective == Collective::bcast) {
    if (is_alone) use_side(program, is_root, Area::receive, &InnerCall::send);
  } else {
    if (is_alone || (leads_alone && is_scatter(collective))) {
      use_side(program, true, Area::send, &InnerCall::send);
    }
    if (is_alone || (leads_alone && flows_to_root(collective))) {
      use_side(program, false, Area::receive, &InnerCall::receive);
    }
  }
  if (is_alone && is_apart(program)) program.node_memory = 0;
}

}  // namespace tutti
