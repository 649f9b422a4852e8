/// Memory that processes of a node share, and that the kernel frees after the last of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/types.hpp"

namespace tutti {

/// Identifies a segment to other processes of the node. Plain data.
struct SegmentName {
  std::array<char, 48> path{};
  std::uint64_t device = 0;  ///< with `file`: the file that `path` must lead to
  std::uint64_t file = 0;
  Bytes bytes = 0;
  bool by_process = true;  ///< `path` is in /proc; else a name of shm_open
  friend bool operator==(const SegmentName&, const SegmentName&) = default;
};

/// How a process may access a mapped segment.
enum class SegmentView : std::uint8_t {
  shared,         ///< reads and writes; all processes see the writes
  read_only,      ///< a write causes a protection fault
  copy_on_write,  ///< writes stay private to the process
};

/// A mapped address range, unmapped by the destructor.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* address, std::size_t bytes) : range_(static_cast<std::byte*>(address), {bytes}) {}
  [[nodiscard]] std::byte* data() const { return range_.get(); }
  [[nodiscard]] explicit operator bool() const { return range_ != nullptr; }
  [[nodiscard]] std::size_t bytes() const { return *this ? range_.get_deleter().bytes : 0; }
  /// Releases the memory but keeps the addresses reserved: any later access is a protection fault.
  /// Unmaps the range if the system refuses.
  void forbid();

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* address) const;
  };
  std::unique_ptr<std::byte, Unmap> range_{nullptr, {0}};
};

/// A file in memory. The kernel allocates its pages, zeroed, at first touch, so a large segment
/// costs only the pages in use. The kernel frees it with the last process that has it open or
/// mapped, however that process ends.
class NodeSegment : NotCopied {
 public:
  enum class Kind : std::uint8_t {
    anonymous,  ///< a memfd, without a name in any folder
    named,  ///< from shm_open; allocate() before first touch, because a full /dev/shm would end the
            ///< program
  };
  /// Creates a segment. Null if the system refuses.
  static std::unique_ptr<NodeSegment> create(Bytes bytes, Kind kind = Kind::anonymous);
  /// Opens a segment of another process, which must still have it open. Null if it is unreachable,
  /// for example from another container.
  static std::unique_ptr<NodeSegment> open(const SegmentName& name);

  ~NodeSegment();

  [[nodiscard]] const SegmentName& name() const { return name_; }
  [[nodiscard]] Bytes bytes() const { return name_.bytes; }
  [[nodiscard]] Kind kind() const { return name_.by_process ? Kind::anonymous : Kind::named; }
  /// Maps the whole segment. Empty if the system refuses.
  [[nodiscard]] Mapping map(SegmentView view) const;
  /// Removes the name of a named segment. Call it once all processes have opened the segment: a
  /// process killed before leaves the name behind.
  void take_name_away();
  /// Returns the pages from `offset`, a multiple of the page size, to the system; they read as zero
  /// when next touched.
  void release_pages(Bytes offset = 0) const;
  /// Allocates all pages of a named segment. False if the system has no memory left. Does nothing
  /// for an anonymous segment.
  [[nodiscard]] bool allocate() const;

 private:
  explicit NodeSegment(const SegmentName& name) : name_(name) {}
  int file_ = -1;
  SegmentName name_;
  bool has_name_ = false;
};

/// The page size in bytes.
[[nodiscard]] Bytes page_bytes();
/// The bytes of all pages that so many bytes take.
[[nodiscard]] inline Bytes whole_pages(Bytes bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

}  // namespace tutti
