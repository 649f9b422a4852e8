/// Finds blocks in the caller's buffers.
#include "lowering/call_blocks.hpp"

#include <algorithm>
#include <map>

namespace tutti {

CallBlocks::CallBlocks(const Schedule& schedule, const Problem& problem, Bytes own,
                       const BufferTraits& traits)
    : schedule_(schedule),
      problem_(problem),
      properties_(properties_of(schedule.collective)),
      traits_(traits),
      me_(problem.position()),
      is_rooted_(is_gather_or_scatter(schedule.collective)),
      results_(held_by(properties_.after)) {
  if (is_rooted_) measure(own);
  if (are_pairs()) {
    results_ = problem.pair(me_, me_);
    Bytes offset = 0;
    for (Position from = 0; from < problem.p; ++from) {
      received_at_.push_back(offset);
      offset += size(problem.pair(from, me_));
    }
  }
  const bool at_root = schedule.collective == Collective::bcast && problem.at_root();
  if (at_root || copies_first()) {
    kept_ = results_;
  } else if (traits.in_place && !are_reduced()) {
    kept_ = {me_, me_ + 1};
  }
}

/// The bytes of each message count for its first block. A hole in it is part of another message.
void CallBlocks::measure(Bytes own) {
  std::map<BlockIndex, Bytes> bytes;
  const StepKind part = is_scatter(schedule_.collective) ? StepKind::send : StepKind::recv;
  for (const Step& step : schedule_.steps) {
    const bool is_part = schedule_.rank == schedule_.root || step.kind == part;
    if (step.kind == StepKind::wait || step.bytes == 0 || !is_part) continue;
    BlockIndex first = -1;
    step.blocks.for_each_run([&](BlockRange run) { first = first < 0 ? run.begin : first; });
    Bytes& most = bytes[first];
    most = std::max(most, step.offset + step.bytes);
  }
  bytes[me_] = own;
  Bytes total = 0;
  for (const auto& [block, size] : bytes) {
    offsets_.emplace_back(block, total);
    total += size;
  }
  offsets_.emplace_back(schedule_.blocks(), total);
}

Bytes CallBlocks::before(BlockIndex block) const {
  if (!is_rooted_) return problem_.sizes.of({0, block});
  return std::ranges::lower_bound(offsets_, std::pair(block, Bytes{-1}))->second;
}

Bytes CallBlocks::size(BlockRange blocks) const {
  return is_rooted_ ? before(blocks.end) - before(blocks.begin) : problem_.sizes.of(blocks);
}

Bytes CallBlocks::size(const Blocks& blocks) const {
  Bytes bytes = 0;
  blocks.for_each_run([&](BlockRange run) { bytes += size(run); });
  return bytes;
}

BlockRange CallBlocks::held_by(Holders holders) const {
  if (properties_.blocks == BlockKind::none) return {};
  if (holders == Holders::own) return {me_, me_ + 1};
  return is_among(holders, schedule_.rank, schedule_.root) ? everything() : BlockRange{};
}

bool CallBlocks::are_in_receive() const {
  return schedule_.collective == Collective::bcast ||
         (traits_.in_place && !is_scatter(schedule_.collective));
}

std::vector<std::pair<BlockRange, Spot>> CallBlocks::contributions() const {
  Spot spot = {are_in_receive() ? MemoryUse::receive_buffer : MemoryUse::send_buffer, 0};
  std::vector<std::pair<BlockRange, Spot>> found;
  if (are_pairs()) {
    for (Position to = 0; to < problem_.p; ++to) {
      const BlockRange pair = problem_.pair(me_, to);
      // The receive buffer is numbered by the source of a block.
      found.emplace_back(pair, are_in_receive() ? result_of(problem_.pair(to, me_).begin) : spot);
      spot.offset += size(pair);
    }
    return found;
  }
  const BlockRange held = held_by(properties_.before);
  const bool is_by_rank = is_reduce_scatter(schedule_.collective);
  if (!is_by_rank || problem_.order.is_identity()) {
    const bool is_own = properties_.before == Holders::own && are_in_receive();
    return {{held, is_own ? result_of(me_) : spot}};
  }
  // The vector is numbered by rank: looks for positions of consecutive ranks.
  std::vector<std::pair<Rank, BlockRange>> runs;
  for (Position at = 0; at < problem_.p; ++at) {
    const Rank rank = problem_.rank_at(at);
    if (!runs.empty() && runs.back().first + runs.back().second.count() == rank) {
      ++runs.back().second.end;
    } else {
      runs.push_back({rank, {at, at + 1}});
    }
  }
  std::ranges::sort(runs, [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [rank, positions] : runs) {
    found.emplace_back(positions, spot);
    spot.offset += size(positions);
  }
  return found;
}

Blocks CallBlocks::results_among(const Blocks& blocks) const {
  Blocks found;
  blocks.for_each_run([&](BlockRange run) {
    if (!are_pairs()) {
      found.append({std::max(run.begin, results_.begin), std::min(run.end, results_.end)});
      return;
    }
    const BlockIndex row = run.begin / problem_.p * problem_.p;
    for (BlockIndex pair = row + me_; pair < run.end; pair += problem_.p) {
      if (pair >= run.begin) found.append({pair, pair + 1});
    }
  });
  return found;
}

Spot CallBlocks::result_of(BlockIndex block) const {
  if (are_pairs()) return {MemoryUse::receive_buffer, received_at_[index(block / problem_.p)]};
  return {MemoryUse::receive_buffer, properties_.after == Holders::own ? 0 : before(block)};
}

}  // namespace tutti
