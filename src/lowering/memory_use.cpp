/// Tracks the operations that read or write each range of memory.
#include "lowering/memory_use.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

Spot MemoryUse::take(Bytes bytes) {
  auto best = free_.end();
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    const Bytes size = stretches_[index(*at)].bytes;
    if (size >= bytes && (best == free_.end() || size < stretches_[index(*best)].bytes)) best = at;
  }
  int stretch = static_cast<int>(stretches_.size());
  if (best == free_.end()) {
    stretches_.push_back({scratch_, bytes});
    scratch_ += bytes + padding_;
  } else {
    stretch = *best;
    free_.erase(best);
  }
  list(stretch);
  return {stretch, 0};
}

void MemoryUse::release(Spot spot, Bytes bytes) {
  if ((at(spot).held -= bytes) == 0 && spot.stretch > receive_buffer) list(spot.stretch);
}

void MemoryUse::list(int stretch) {
  if (!std::exchange(stretches_[index(stretch)].is_listed, true)) idle_.push_back(stretch);
}

MemoryUse::Uses::iterator MemoryUse::split(Uses& uses, Bytes byte) {
  const auto next = uses.upper_bound(byte);
  const auto before = std::prev(next);
  return before->first == byte ? before : uses.emplace_hint(next, byte, before->second);
}

void MemoryUse::use(int number, Spot spot, Bytes bytes, bool writes, std::vector<int>& needs) {
  if (spot.stretch == send_buffer || bytes == 0) return;
  Uses& uses = at(spot).uses;
  const auto first = split(uses, spot.offset);
  const auto last = split(uses, spot.offset + bytes);
  for (auto each = first; each != last; ++each) {
    auto& [writer, readers] = each->second;
    if (writes && !readers.empty()) {
      needs.insert(needs.end(), readers.begin(), readers.end());
    } else if (writer >= 0) {
      needs.push_back(writer);
    }
    if (!writes) readers.push_back(number);
  }
  if (!writes) return;
  first->second = {number, {}};
  uses.erase(std::next(first), last);
}

bool MemoryUse::is_used(Spot spot, Bytes bytes) const {
  const Uses& uses = stretches_[index(spot.stretch)].uses;
  auto each = std::prev(uses.upper_bound(spot.offset));
  for (; each != uses.end() && each->first < spot.offset + bytes; ++each) {
    if (each->second.writer >= 0 || !each->second.readers.empty()) return true;
  }
  return false;
}

void MemoryUse::recycle(const std::vector<char>& completed) {
  const auto is_completed = [&](int operation) {
    return operation < 0 || completed[index(operation)] != 0;
  };
  std::erase_if(idle_, [&](int number) {
    Stretch& stretch = stretches_[index(number)];
    if (stretch.held > 0) {
      stretch.is_listed = false;
      return true;
    }
    for (const auto& [begin, use] : stretch.uses) {
      if (!is_completed(use.writer) || !std::ranges::all_of(use.readers, is_completed)) {
        return false;
      }
    }
    stretch.is_listed = false;
    stretch.uses = {{0, {}}};
    free_.push_back(number);
    return true;
  });
}

}  // namespace tutti
