/// The results in shared memory that this process holds, and has held of late.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "run/node/memory.hpp"

namespace tutti {

/// Memory of one result at one rank: a segment with a page for what its ranks count before the
/// data. Lives as long as a rank holds the result, or may hold a later one in the same memory.
class SharedMemory {
 public:
  SharedMemory(NodeSegment segment, Mapping all)
      : segment_(std::move(segment)), all_(std::move(all)) {}

  [[nodiscard]] NodeSegment& segment() { return segment_; }
  [[nodiscard]] Bytes capacity() const { return segment_.bytes() - page_bytes(); }
  /// For who writes the result.
  [[nodiscard]] std::byte* data() const { return all_.data() + page_bytes(); }
  [[nodiscard]] Mapping view(SegmentView view) const { return segment_.map(view); }

  /// For the first rank of a node, as long as nobody holds it: from now on so many ranks do, after
  /// which so many bytes of it stay for the next result.
  void begin(int holders, Bytes kept);
  [[nodiscard]] bool is_held() const { return count().holders != 0; }
  /// What stays of it at most while nobody holds it.
  [[nodiscard]] Bytes kept() const { return count().kept; }
  /// Nobody of the node has it after all.
  void withdraw() { count().holders = 0; }
  /// One rank the less. The last one gives back what is not kept.
  void release();

 private:
  struct Count {
    std::atomic<int> holders;
    std::atomic<Bytes> kept;
  };
  [[nodiscard]] Count& count() const { return *reinterpret_cast<Count*>(all_.data()); }

  NodeSegment segment_;
  Mapping all_;
};

/// What the program has been given and not released, which may outlive its communicator, and the
/// addresses of what it has released last: nothing else comes to lie there, so that who uses or
/// releases them again is found out. Safe for threads.
class HeldResults {
 public:
  /// That of this process.
  static HeldResults& all();

  /// Maps a result for the program and returns the address of its data; null where the system
  /// refuses.
  void* hold(std::shared_ptr<SharedMemory> memory, SegmentView view);
  /// Forgets one that the program has not been given.
  void withdraw(void* address);
  enum class Released : std::uint8_t {
    now,
    before,   ///< one of the last ones
    unknown,  ///< no result, or one released long ago
  };
  Released release(void* address);

 private:
  struct Held {
    std::shared_ptr<SharedMemory> memory;
    Mapping view;
  };
  void reserve(Mapping view);

  /// So many addresses are kept of what was released, and of so many bytes; a sixteenth of what a
  /// process may have where that is limited.
  static constexpr std::size_t max_reserved = 64;
  static constexpr std::size_t max_reserved_bytes = std::size_t{16} << 30;

  std::mutex mutex_;
  std::map<void*, Held> held_;
  std::array<Mapping, max_reserved> reserved_;
  std::size_t next_reserved_ = 0;  ///< is the oldest
};

}  // namespace tutti
