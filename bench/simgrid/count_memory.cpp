/// Counts what Tutti's code allocates by operator new, by simulated rank. Preloaded into SimGrid,
/// whose own objects are in the same heap.
#include "bench/simgrid/count_memory.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <unordered_map>

/// Of SimGrid: what runs, null before a simulation begins, and the number of its rank, from 1.
extern "C" {
__attribute__((weak)) const void* sg_actor_self();
__attribute__((weak)) long sg_actor_self_get_pid();
}

namespace {

/// For the counters' own memory, which is not counted.
template <class T>
struct Malloc {
  using value_type = T;
  Malloc() = default;
  template <class U>
  Malloc(const Malloc<U>& /*other*/) {}
  T* allocate(std::size_t count) { return static_cast<T*>(std::malloc(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t /*count*/) { std::free(memory); }
  friend bool operator==(const Malloc& /*one*/, const Malloc& /*other*/) { return true; }
};

struct Block {
  long rank;
  std::size_t bytes;
};

template <class Key, class Value>
using HashMap = std::unordered_map<Key, Value, std::hash<Key>, std::equal_to<Key>,
                                   Malloc<std::pair<const Key, Value>>>;

struct Counts {
  HashMap<const void*, Block> blocks;
  HashMap<std::uintptr_t, bool> pages;  ///< of code: is it Tutti's?
  std::map<long, double, std::less<>, Malloc<std::pair<const long, double>>> by_rank;
};

/// Never destroyed: memory is released until the process ends.
Counts& counts() {
  static Counts* const all = new (std::malloc(sizeof(Counts))) Counts;
  return *all;
}

bool is_tuttis(const void* caller) {
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(caller) >> 12;
  const auto known = counts().pages.find(page);
  if (known != counts().pages.end()) return known->second;
  Dl_info info{};
  const bool has_name = dladdr(caller, &info) != 0 && info.dli_fname != nullptr;
  // The library, and each rank's copy of it.
  const bool is = has_name && (std::strstr(info.dli_fname, "/libtutti-simgrid") != nullptr ||
                               std::strstr(info.dli_fname, "/tutti-rank-") != nullptr);
  return counts().pages[page] = is;
}

void* allocated(std::size_t bytes, const void* caller) {
  void* const memory = std::malloc(std::max<std::size_t>(1, bytes));
  if (memory == nullptr) std::abort();
  if (sg_actor_self == nullptr || !is_tuttis(caller) || sg_actor_self() == nullptr) return memory;
  const Block block{sg_actor_self_get_pid(), malloc_usable_size(memory)};
  counts().blocks[memory] = block;
  counts().by_rank[block.rank] += static_cast<double>(block.bytes);
  return memory;
}

void release(void* memory) {
  const auto found = counts().blocks.find(memory);
  if (found != counts().blocks.end()) {
    counts().by_rank[found->second.rank] -= static_cast<double>(found->second.bytes);
    counts().blocks.erase(found);
  }
  std::free(memory);
}

}  // namespace

void begin_counting() { counts().by_rank.clear(); }

void read_counts(double* sum, double* most) {
  *sum = *most = 0;
  for (const auto& [rank, bytes] : counts().by_rank) {
    *sum += bytes;
    *most = std::max(*most, bytes);
  }
}

void* operator new(std::size_t bytes) { return allocated(bytes, __builtin_return_address(0)); }
void* operator new[](std::size_t bytes) { return allocated(bytes, __builtin_return_address(0)); }
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return allocated(bytes, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return allocated(bytes, __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { release(memory); }
