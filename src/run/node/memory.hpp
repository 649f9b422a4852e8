/// Memory that the processes of a node share, of which nothing is left when they have died.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/types.hpp"

namespace tutti {

/// How a process of the node reaches a segment that another one has made. Plain data.
struct SegmentName {
  std::array<char, 48> path{};
  std::uint64_t device = 0;  ///< what is found under the path must be this file
  std::uint64_t file = 0;
  Bytes bytes = 0;
  bool by_process = true;  ///< the path leads through /proc, else it is that of shm_open
  friend bool operator==(const SegmentName&, const SegmentName&) = default;
};

/// How a process sees a segment.
enum class SegmentView : std::uint8_t {
  shared,         ///< reads, and writes what all see
  read_only,      ///< a write is a protection fault
  copy_on_write,  ///< writes are seen by nobody else
};

/// One mapping, unmapped with this object.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* address, std::size_t bytes) : address_(address), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(address_); }
  [[nodiscard]] explicit operator bool() const { return address_ != nullptr; }
  [[nodiscard]] std::size_t bytes() const { return address_ == nullptr ? 0 : bytes_; }
  /// Forgets what was written into a copy-on-write view: it shows the segment again.
  void forget_writes() const;
  /// Lets go of what is mapped, but not of the addresses: from now on any access is a protection
  /// fault. Where the system refuses it is unmapped instead.
  void forbid();

 private:
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A file in memory. Its pages come into being, zeroed, when they are first touched; so a large
/// segment costs what is used of it. The kernel frees it with the last process that has it open
/// or mapped, however those end.
class NodeSegment {
 public:
  enum class Kind : std::uint8_t {
    anonymous,  ///< a memfd: it never has a name in any folder
    named,      ///< of shm_open; pages must be allocated before they are touched, as what /dev/shm
                ///< cannot hold would end the program
  };
  /// None where the system refuses.
  static std::optional<NodeSegment> create(Bytes bytes, Kind kind = Kind::anonymous);
  /// Another process's, which must still have it open. None where it cannot be reached, as from
  /// another container.
  static std::optional<NodeSegment> open(const SegmentName& name);

  NodeSegment(NodeSegment&& other) noexcept;
  NodeSegment& operator=(NodeSegment&& other) noexcept;
  ~NodeSegment();

  [[nodiscard]] const SegmentName& name() const { return name_; }
  [[nodiscard]] Bytes bytes() const { return name_.bytes; }
  [[nodiscard]] Kind kind() const { return name_.by_process ? Kind::anonymous : Kind::named; }
  /// All of it. Empty where the system refuses.
  [[nodiscard]] Mapping map(SegmentView view) const;
  /// Takes the name of a named segment away, once all that shall open it have. Until then one who
  /// is killed leaves it behind.
  void take_name_away();
  /// Gives the pages from `offset` on, a whole number of them, back to the system; they are zero
  /// when next touched.
  void release_pages(Bytes offset = 0) const;
  /// Sees to it that pages of the first `bytes` of a named segment can be touched. False where the
  /// system has none.
  [[nodiscard]] bool allocate(Bytes bytes) const;

 private:
  NodeSegment(int file, const SegmentName& name) : file_(file), name_(name) {}
  int file_ = -1;
  SegmentName name_;
  bool has_name_ = false;
};

/// Bytes of a page.
[[nodiscard]] Bytes page_bytes();

}  // namespace tutti
