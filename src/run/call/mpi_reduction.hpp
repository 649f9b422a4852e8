/// The buffers of reductions, and the program's operation on them.
#pragma once

#include <array>

#include "run/call/mpi_buffers.hpp"

namespace tutti {

/// The layout of a vector of elements of a datatype in memory, as an operation expects it. Offsets
/// count packed bytes, in whole elements.
class ElementLayout {
 public:
  /// Sets `layout` to that of a valid type. Returns an MPI error code.
  static int of(MPI_Datatype type, const TypeInfo& info, ElementLayout& layout);

  /// Bytes of an element, at least 1.
  [[nodiscard]] Bytes element() const { return size_; }
  /// Packed bytes to leave between two vectors so that they do not overlap: an element may extend
  /// beyond the start of the next one.
  [[nodiscard]] Bytes padding() const;
  /// Bytes of memory that vectors of `packed` bytes take.
  [[nodiscard]] Bytes memory(Bytes packed) const;
  /// The address of the first element of vectors that fill `memory(packed)` bytes from `memory` on.
  [[nodiscard]] std::byte* first(std::byte* memory, Bytes packed) const;
  /// Bytes from the address of a vector's first element to that of the element at `packed`.
  [[nodiscard]] MPI_Aint distance(Bytes packed) const { return packed / size_ * stride_; }

 private:
  Bytes size_ = 1;
  MPI_Aint stride_ = 1;       ///< from one element to the next
  MPI_Aint lower_ = 0;        ///< from the address of an element to its first byte
  MPI_Aint true_extent_ = 1;  ///< from its first byte to its last one
};

/// Elements of contiguous types move as bytes, others with their type. Vectors in scratch have the
/// layout of the program's vectors, so that its operation finds the elements.
class ReductionBuffers final : public Buffers {
 public:
  /// `scratch` is `layout.first()` of the plan's scratch.
  ReductionBuffers(const MpiCall& call, const ElementLayout& layout, std::byte* scratch)
      : call_(call), layout_(layout), scratch_(scratch) {}

  int find(const BufferRef& ref, Region& region) override;
  /// Calls MPI_Reduce_local, on at most INT_MAX elements for the program's own operations and 2^24
  /// for predefined ones.
  int reduce(const BufferRef& from, const BufferRef& to) override;

 private:
  [[nodiscard]] std::byte* address(const BufferRef& ref) const;

  const MpiCall& call_;
  const ElementLayout& layout_;
  std::byte* scratch_;
};

/// Replaces the vectors that are significant at this rank of p by copies, because MPIs do not
/// promise MPI_Reduce_local on GPUs. `copies` is then to copy the result back. The rank can take
/// part even after an error. Local. Returns an MPI error code. Throws std::bad_alloc.
int hold_vectors(MpiCall& call, Rank rank, int p, const ElementLayout& layout, HostCopies& copies);

/// Remembers which operations are defined for which types.
class OperationCache {
 public:
  /// Is the call's operation defined for its type, which is valid? Reduces no elements on `comm`,
  /// which must return its errors: the MPI refuses there what it always refuses, and waits for no
  /// rank. Remembers the answer for named types, because a valid operation stays defined for them.
  [[nodiscard]] bool can_reduce(const MpiCall& call, MPI_Comm comm);

 private:
  struct Entry {
    MPI_Datatype type{};
    MPI_Op op{};
  };
  std::array<Entry, 8> entries_{};  ///< at first with null handles, which are not valid
  std::size_t next_ = 0;
};

}  // namespace tutti
