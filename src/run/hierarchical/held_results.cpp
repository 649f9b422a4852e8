/// Holds and releases results in shared memory.
#include "run/hierarchical/held_results.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace tutti {

namespace {

std::byte* data_of(const Mapping& view) { return view.data() + page_bytes(); }

/// Bytes of address space that the process can reserve without using them.
std::size_t spare_addresses(std::size_t most) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most;
  return std::min<std::size_t>(most, limit.rlim_cur / 16);
}

}  // namespace

void SharedMemory::begin(int holders, Bytes kept) {
  count().kept = kept;
  count().holders = holders;
}

void SharedMemory::release() {
  if (getpid() != process_) return;
  Count& now = count();
  int holders = now.holders;
  while (holders > 1 && !now.holders.compare_exchange_weak(holders, holders - 1)) {
  }
  if (holders > 1) return;
  // Before the memory counts as free: then the first rank may reuse it at once.
  const Bytes stays = page_bytes() + now.kept;
  if (stays < segment_->bytes()) segment_->release_pages(stays);
  now.holders = 0;
}

void* HeldResults::hold(std::shared_ptr<SharedMemory> memory, SegmentView view) {
  const std::lock_guard lock(mutex_);
  Mapping mapped = memory->segment().map(view);
  if (!mapped) {
    // The reserved addresses may be the obstacle.
    reserved_ = {};
    mapped = memory->segment().map(view);
  }
  if (!mapped) return nullptr;
  void* const address = data_of(mapped);
  held_.insert_or_assign(address, Held{std::move(memory), std::move(mapped)});
  return address;
}

void HeldResults::withdraw(void* address) {
  const std::lock_guard lock(mutex_);
  held_.erase(address);
}

HeldResults::Released HeldResults::release(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(address);
  if (found == held_.end()) {
    const bool before = std::ranges::any_of(
        reserved_, [address](const Mapping& view) { return view && data_of(view) == address; });
    return before ? Released::before : Released::unknown;
  }
  Held held = std::move(found->second);
  held_.erase(found);
  // Before another rank may write the next result into this memory.
  held.view.forbid();
  reserve(std::move(held.view));
  held.memory->release();
  return Released::now;
}

/// Reserves the addresses of `view` in place of the oldest ones.
void HeldResults::reserve(Mapping view) {
  const std::size_t most = spare_addresses(max_reserved_bytes);
  const std::size_t wanted = view.bytes();
  if (wanted == 0 || wanted > most) return;
  std::size_t bytes = wanted;
  for (const Mapping& kept : reserved_) bytes += kept.bytes();
  Mapping* oldest = &reserved_[next_reserved_];
  bytes -= oldest->bytes();
  *oldest = std::move(view);
  next_reserved_ = (next_reserved_ + 1) % reserved_.size();
  for (std::size_t i = next_reserved_; bytes > most; i = (i + 1) % reserved_.size()) {
    bytes -= reserved_[i].bytes();
    reserved_[i] = Mapping();
  }
}

}  // namespace tutti
