/// Keeps the shared results that this process holds, and the addresses of released ones.
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "run/node/memory.hpp"

namespace tutti {

/// The memory of one result at one rank: a segment with a page that counts its holders, then the
/// data. Lives while the rank holds the result, or may hold a later one in the same memory.
class SharedMemory {
 public:
  /// `segment` is not null.
  SharedMemory(std::unique_ptr<NodeSegment> segment, Mapping all)
      : segment_(std::move(segment)), all_(std::move(all)) {}

  [[nodiscard]] NodeSegment& segment() { return *segment_; }
  [[nodiscard]] Bytes capacity() const { return segment_->bytes() - page_bytes(); }
  /// Writable data, for the ranks that fill the result.
  [[nodiscard]] std::byte* data() const { return all_.data() + page_bytes(); }

  /// Begins a result with `holders` ranks, after which `kept` bytes stay for the next one. For the
  /// first rank of a node, while no rank holds the memory.
  void begin(int holders, Bytes kept);
  [[nodiscard]] bool is_held() const { return count().holders != 0; }
  /// Bytes that may stay allocated while no rank holds the memory.
  [[nodiscard]] Bytes kept() const { return count().kept; }
  /// Resets the holders: no rank of the node got the result. For the first rank of the node.
  void withdraw() { count().holders = 0; }
  /// Removes one holder. The last one returns all but kept() bytes to the system. A child of fork
  /// holds nothing.
  void release();

 private:
  struct Count {
    std::atomic<int> holders;
    std::atomic<Bytes> kept;
  };
  [[nodiscard]] Count& count() const { return *reinterpret_cast<Count*>(all_.data()); }

  std::unique_ptr<NodeSegment> segment_;
  Mapping all_;
  pid_t process_ = getpid();
};

/// The results that the program holds, which may outlive their communicator, and the addresses of
/// the last released ones. Those stay reserved, so that a second release and later use are
/// detected. Thread-safe.
class HeldResults {
 public:
  /// Maps a result for the program and returns the address of its data; null if the system refuses.
  /// SharedMemory::begin has counted the holder.
  void* hold(std::shared_ptr<SharedMemory> memory, SegmentView view);
  /// Unmaps a result that the program has not received; holders are SharedMemory::withdraw's.
  void withdraw(void* address);
  enum class Released : std::uint8_t {
    now,
    before,   ///< already, among the last results
    unknown,  ///< not a result, or released long ago
  };
  /// Unmaps a result, keeps its address reserved, and removes this rank as a holder. Local.
  Released release(void* address);

 private:
  struct Held {
    std::shared_ptr<SharedMemory> memory;
    Mapping view;
  };
  void reserve(Mapping view);

  /// Limits on reserved addresses: their number, and their bytes, which also stay within 1/16 of
  /// RLIMIT_AS.
  static constexpr std::size_t max_reserved = 64;
  static constexpr std::size_t max_reserved_bytes = std::size_t{16} << 30;

  std::mutex mutex_;
  std::map<void*, Held> held_;
  std::array<Mapping, max_reserved> reserved_;
  std::size_t next_reserved_ = 0;  ///< index of the oldest
};

}  // namespace tutti
