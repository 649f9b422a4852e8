/// Tracks the operations that read or write each range of memory.
#include "lowering/memory_use.hpp"

#include <algorithm>

namespace tutti {

Spot MemoryUse::take(Bytes bytes) {
  Stretch* best = nullptr;
  for (Stretch& stretch : stretches_) {
    const bool fits = stretch.is_free && stretch.bytes >= bytes;
    if (fits && (best == nullptr || stretch.bytes < best->bytes)) best = &stretch;
  }
  if (best == nullptr) {
    best = &stretches_.emplace_back(Stretch{scratch_, bytes});
    scratch_ += bytes + padding_;
  }
  best->is_free = false;
  return {static_cast<int>(best - stretches_.data()), 0};
}

void MemoryUse::use(int number, Spot spot, Bytes bytes, bool writes, std::vector<int>& needs) {
  if (spot.stretch == send_buffer) return;
  const Bytes begin = spot.offset;
  const Bytes end = begin + bytes;
  std::vector<Use>& uses = at(spot).uses;
  std::erase_if(uses, [&](const Use& use) {
    const bool overlap = use.begin < end && begin < use.end;
    if (!overlap || !(writes || use.writes) || use.operation == number) return false;
    needs.push_back(use.operation);
    // The new use needs the old one, so later operations need only the new one.
    return writes && begin <= use.begin && use.end <= end;
  });
  uses.push_back({number, begin, end, writes});
}

bool MemoryUse::is_used(Spot spot, Bytes bytes) const {
  const std::vector<Use>& uses = at(spot).uses;
  return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
    return use.begin < spot.offset + bytes && spot.offset < use.end;
  });
}

void MemoryUse::recycle(const std::vector<char>& completed) {
  for (std::size_t i = receive_buffer + 1; i < stretches_.size(); ++i) {
    Stretch& stretch = stretches_[i];
    if (stretch.is_free || stretch.held > 0) continue;
    stretch.is_free = std::all_of(stretch.uses.begin(), stretch.uses.end(), [&](const Use& use) {
      return completed[static_cast<std::size_t>(use.operation)] != 0;
    });
    if (stretch.is_free) stretch.uses.clear();
  }
}

BufferRef MemoryUse::buffer_ref_of(Spot spot, Bytes bytes) const {
  BufferRef ref;
  ref.area = spot.stretch == send_buffer      ? Area::send
             : spot.stretch == receive_buffer ? Area::receive
                                              : Area::staging;
  ref.offset = at(spot).offset + spot.offset;
  ref.bytes = bytes;
  ref.whole = false;
  return ref;
}

}  // namespace tutti
