/// Implements memory of symbols.
#include "verify/hierarchical_memory.hpp"

#include <algorithm>

#include "core/index.hpp"

namespace tutti {

void HierarchicalMemory::start(Bytes bytes, std::span<const Rank> users) {
  std::vector<Access> used;
  for (const Rank rank : users) used.push_back({rank, 0});
  content_.assign(index(bytes), {});
  writer_.assign(index(bytes), {});
  readers_.assign(index(bytes), used);
}

NodeByte HierarchicalMemory::read(Bytes at, Rank rank, int now, const HierarchicalClock& seen,
                                  Rank& racing) {
  const Access& writer = writer_[index(at)];
  const bool unseen = writer.rank != no_rank && writer.rank != rank &&
                      seen[static_cast<std::size_t>(writer.rank)] <= writer.step;
  racing = unseen ? writer.rank : no_rank;
  std::vector<Access>& readers = readers_[index(at)];
  const auto own = std::find_if(readers.begin(), readers.end(),
                                [rank](const Access& access) { return access.rank == rank; });
  if (own == readers.end()) {
    readers.push_back({rank, now});
  } else {
    own->step = now;
  }
  return content_[index(at)];
}

void HierarchicalMemory::write(Bytes at, NodeByte value, Rank rank, int now,
                               const HierarchicalClock& seen, Rank& racing) {
  racing = no_rank;
  readers_[index(at)].push_back(writer_[index(at)]);
  for (const Access& access : readers_[index(at)]) {
    const bool unseen = access.rank != no_rank && access.rank != rank &&
                        seen[static_cast<std::size_t>(access.rank)] <= access.step;
    if (unseen) racing = access.rank;
  }
  content_[index(at)] = value;
  writer_[index(at)] = {rank, now};
  readers_[index(at)].clear();
}

}  // namespace tutti
