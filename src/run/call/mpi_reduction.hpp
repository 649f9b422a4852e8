/// The buffers of reductions over MPI, and the program's operation on them.
#pragma once

#include <array>
#include <vector>

#include "run/call/mpi_call.hpp"
#include "run/plan/executor.hpp"

namespace tutti {

/// How the elements of a datatype lie in memory one after the other, which is how an operation
/// expects them. Offsets count packed bytes, in whole elements.
class ElementLayout {
 public:
  /// Sets `layout` to that of a valid type. Returns an MPI error code.
  static int of(MPI_Datatype type, const TypeInfo& info, ElementLayout& layout);

  /// Bytes of an element, at least 1.
  [[nodiscard]] Bytes element() const { return size_; }
  /// The packed bytes to leave between two vectors so that they do not overlap: an element may
  /// reach beyond the place of the next one.
  [[nodiscard]] Bytes padding() const;
  /// The memory that vectors of so many packed bytes take.
  [[nodiscard]] Bytes memory(Bytes packed) const;
  /// The address of the first element of vectors that fill `memory(packed)` bytes from `memory` on.
  [[nodiscard]] std::byte* first(std::byte* memory, Bytes packed) const;
  /// From the address of the first element of a vector to that at `packed`.
  [[nodiscard]] MPI_Aint distance(Bytes packed) const { return packed / size_ * stride_; }

 private:
  Bytes size_ = 1;
  MPI_Aint stride_ = 1;       ///< from one element to the next
  MPI_Aint lower_ = 0;        ///< from the address of an element to its first byte
  MPI_Aint true_extent_ = 1;  ///< from there to its last one
};

/// Elements of contiguous types travel as bytes, others typed. Vectors in scratch have the layout
/// of the program's, so that its operation finds them as it expects them.
class ReductionBuffers final : public Buffers {
 public:
  /// `scratch` is `layout.first()` of the plan's scratch.
  ReductionBuffers(const CollectiveCall& call, const ElementLayout& layout, std::byte* scratch)
      : call_(call), layout_(layout), scratch_(scratch) {}

  int find(const BufferRef& place, Region& region) override;
  /// By MPI_Reduce_local: at once by the program's own operations of as many elements as an int can
  /// count, else in parts of fewer.
  int reduce(const BufferRef& from, const BufferRef& to) override;

 private:
  [[nodiscard]] std::byte* address(const BufferRef& place) const;

  const CollectiveCall& call_;
  const ElementLayout& layout_;
  std::byte* scratch_;
};

/// Vectors in the memory of GPUs, held in the host's for one call: MPI_Reduce_local, which MPIs do
/// not promise to do elsewhere, finds them there.
class HostVectors {
 public:
  HostVectors(const ElementLayout& layout, Transport& transport)
      : layout_(layout), transport_(transport) {}

  /// Has the buffers that count at this rank of p replaced by copies, which the MPI makes. Returns
  /// an MPI error code. Throws std::bad_alloc.
  int take(CollectiveCall& call, Rank rank, int p);
  /// Gives the program its result.
  int finish();

 private:
  /// The same elements in the host's memory.
  Region hold(const Region& vector, std::vector<std::byte>& memory) const;

  const ElementLayout& layout_;
  Transport& transport_;
  std::vector<std::byte> sent_;
  std::vector<std::byte> received_;
  Region held_ = {};    ///< the result here
  Region result_ = {};  ///< where it belongs
};

/// Which operations are for which types.
class OperationCache {
 public:
  /// Would the MPI reduce the call's type, which is valid, by its operation? Asks it to reduce
  /// nothing on `comm`, which must return its errors: it refuses there what it always refuses, and
  /// waits for nobody. Remembers the answer for named types: no valid operation ceases to fit them.
  [[nodiscard]] bool can_reduce(const CollectiveCall& call, MPI_Comm comm);

 private:
  struct Entry {
    MPI_Datatype type{};
    MPI_Op op{};
  };
  std::array<Entry, 8> entries_{};
  std::size_t used_ = 0;
  std::size_t next_ = 0;
};

/// Is it the program's own, not one of MPI's? Of any handle.
[[nodiscard]] bool is_programs_own(MPI_Op op);

/// Does a valid operation commute?
[[nodiscard]] bool commutes(MPI_Op op);

}  // namespace tutti
