/// Lays out the buffers of a rank, and finds the bytes of references.
#include "verify/rank_memory.hpp"

#include <algorithm>

namespace tutti {

namespace {

/// Undefined bytes after each block of a scattered buffer.
constexpr Bytes gap = 3;

}  // namespace

void RankMemory::start(const ProgramCall& call, const std::vector<Bytes>& origins, Rank rank,
                       const BufferLayout& layout, const Program& program) {
  call_ = &call;
  origins_ = &origins;
  const Contract& contract = call.contract;
  const Collective collective = contract.collective;
  const bool vectors = reduces(collective) || block_kind(collective) == BlockKind::parts;
  scattered_ = layout.scattered && !vectors;
  by_blocks_ = !reduces(collective) && !is_one_sided(collective) && call.nodes == nullptr;
  for (ByteContent& content : contents_) content.clear();
  places_.clear();
  wanted_.clear();
  buffer(Area::staging).bytes = program.scratch;
  buffer(Area::node).bytes = program.node_memory;

  const BlockSeries nothing;
  const bool up = flows_to_root(collective);
  inputs_ = is_one_sided(collective) && up ? Area::window : Area::send;
  results_ = is_one_sided(collective) && !up ? Area::window : Area::receive;
  for (const Area area : {Area::send, Area::receive, Area::window}) lay_out(area, nothing, true);
  const BlockSeries before = contract.before(rank);
  const BlockSeries after = contract.after(rank);
  const bool in_place = layout.traits.in_place;
  const bool in_receive = in_place || collective == Collective::bcast;
  const bool stays_in_send = in_place && has_root(collective) && !up;
  lay_out(inputs_, in_receive && !stays_in_send ? nothing : before, layout.traits.send_contiguous);
  lay_out(results_,
          stays_in_send                     ? nothing
          : in_place && reduces(collective) ? before
                                            : after,
          layout.traits.receive_contiguous);
  if (!in_receive || stays_in_send) {
    fill(inputs_, before, 0);
    return stays_in_send ? void() : want(after, no_rank);
  }
  const bool single = before.count == 1 && after.count > 1;
  fill(results_, before, single ? static_cast<int>(before.first) : 0);
  if (reduces(collective)) return want(after, no_rank);
  if (collective != Collective::bcast) return want(after, rank);
  if (rank != contract.root) want(after, no_rank);
}

void RankMemory::lay_out(Area area, const BlockSeries& blocks, bool contiguous) {
  Buffer& laid = buffer(area);
  const auto count = index(blocks.count);
  laid.displacements.assign(count, 0);
  laid.sizes.resize(count);
  laid.bytes = 0;
  laid.contiguous = contiguous;
  for (std::size_t i = 0; i < count; ++i) laid.sizes[i] = size_of(blocks[static_cast<int>(i)]);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = scattered_ ? count - 1 - i : i;
    laid.displacements[at] = laid.bytes;
    laid.bytes += laid.sizes[at] + (scattered_ ? gap : 0);
  }
}

void RankMemory::fill(Area area, const BlockSeries& blocks, int at) {
  const Buffer& laid = buffer(area);
  std::vector<ByteSymbols> symbols(1);
  for (int i = 0; i < blocks.count; ++i) {
    const Bytes bytes = size_of(blocks[i]);
    const Bytes begin = laid.displacements[index(at + i)];
    if (bytes == 0) continue;
    symbols[0] = {0, bytes, (*origins_)[index(blocks[i])], 0, true};
    content(area).write({begin, begin + bytes}, symbols, 0);
  }
}

void RankMemory::want(const BlockSeries& blocks, int kept) {
  const Buffer& laid = buffer(results_);
  for (int i = 0; i < blocks.count; ++i) {
    const Bytes bytes = size_of(blocks[i]);
    if (bytes == 0) continue;
    const Bytes begin = laid.displacements[index(i)];
    wanted_.push_back({begin, begin + bytes, (*origins_)[index(blocks[i])], 0, false});
    if (i == kept && blocks.count > 1) {
      // An alltoall in place keeps the block for itself, other collectives their contribution.
      continue;
    }
    places_.push_back({begin, begin + bytes});
  }
  std::ranges::sort(places_, {}, &ByteRange::begin);
}

bool RankMemory::may_write(Area area, ByteRange range) const {
  if (area != results_) return area == Area::staging || area == Area::node;
  Bytes at = range.begin;
  auto place = std::ranges::upper_bound(places_, at, {}, &ByteRange::end);
  for (; at < range.end && place != places_.end() && place->begin <= at; ++place) at = place->end;
  return at >= range.end;
}

void RankMemory::find_blocks(Area area, const Blocks& blocks) {
  const Buffer& laid = buffer(area);
  const Order& order = call_->order;
  const int p = order.size();
  const bool pairs = block_kind(call_->contract.collective) == BlockKind::pairs;
  const auto add = [&](std::size_t at) {
    const ByteRange block = {laid.displacements[at], laid.displacements[at] + laid.sizes[at]};
    if (block.begin == block.end) return;
    if (!iov_.empty() && iov_.back().end == block.begin) {
      iov_.back().end = block.end;
    } else {
      iov_.push_back(block);
    }
  };
  iov_.clear();
  if (block_kind(call_->contract.collective) == BlockKind::parts) {
    for (std::size_t at = 0; at < laid.sizes.size(); ++at) add(at);
    return;
  }
  if (laid.sizes.size() == 1) return add(0);
  blocks.for_each_run([&](BlockRange run) {
    for (BlockIndex block = run.begin; block < run.end; ++block) {
      const BlockIndex at = !pairs ? block : area == Area::send ? block % p : block / p;
      add(index(order.rank_at(static_cast<Position>(at))));
    }
  });
}

std::string RankMemory::find(const BufferRef& ref, int operation, bool writes,
                             std::vector<ByteAccess>& accesses) {
  if (ref.bytes == 0) return "";
  const Buffer& laid = buffer(ref.area);
  const bool combines = reduces(call_->contract.collective);
  const bool is_callers = ref.area == Area::send || ref.area == Area::receive;
  if (by_blocks_ && is_callers && ref.blocks.range.empty()) {
    return std::string("names no blocks of ") + name_of(ref.area);
  }
  if (combines || ref.blocks.range.empty()) {
    iov_.assign(1, {ref.offset, ref.offset + ref.bytes});
    // Node memory is aligned for any element, whatever its size.
    const bool begins = ref.area == Area::node || ref.offset % call_->unit == 0;
    if (combines && (!begins || ref.bytes % call_->unit != 0)) {
      return "refers to a part of an element";
    }
  } else {
    if (laid.sizes.empty()) return std::string("uses ") + name_of(ref.area) + ", which it lacks";
    const BlockRange named = ref.blocks.range;
    if (named.begin < 0 || named.end > call_->contract.blocks()) {
      return "names blocks that are not among the " + std::to_string(call_->contract.blocks());
    }
    const Collective collective = call_->contract.collective;
    const bool may_differ = is_irregular(collective) && block_kind(collective) == BlockKind::pairs;
    if (may_differ && ref.blocks.range.count() > 1) {
      return "names blocks that may differ in datatype";
    }
    find_blocks(ref.area, ref.blocks);
    if (iov_.size() == 1 && laid.contiguous) {
      const Bytes begin = iov_[0].begin + ref.offset;
      iov_[0] = {begin, ref.whole ? iov_[0].end + ref.offset : begin + ref.bytes};
    }
  }
  Bytes found = 0;
  for (const ByteRange& range : iov_) {
    found += range.bytes();
    accesses.push_back({operation, ref.area, writes, range});
    if (range.begin < 0 || range.end > laid.bytes) {
      return "uses bytes " + std::to_string(range.begin) + " to " + std::to_string(range.end) +
             " of " + name_of(ref.area) + ", which has " + std::to_string(laid.bytes);
    }
  }
  if (found != ref.bytes) {
    return "names " + std::to_string(ref.bytes) + " bytes of " + name_of(ref.area) +
           " where its blocks have " + std::to_string(found);
  }
  for (const ByteRange& range : iov_) {
    if (!writes || may_write(ref.area, range)) continue;
    return "writes bytes " + std::to_string(range.begin) + " to " + std::to_string(range.end) +
           " of " + name_of(ref.area) + ", which are not the place of a result";
  }
  return "";
}

}  // namespace tutti
