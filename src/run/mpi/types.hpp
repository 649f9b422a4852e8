/// Properties of datatypes and reduction operations.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// Address ranges of a buffer: displacement in bytes and number of elements.
using Iov = std::vector<std::pair<MPI_Aint, MPI_Count>>;

/// Elements of a datatype at any places, as one datatype of Tutti's own, which is freed with the
/// object.
class IndexedType : NotCopied {
 public:
  ~IndexedType();

  /// Makes the datatype, once, of any numbers of elements. Returns an MPI error code.
  int make(MPI_Datatype element, const Iov& ranges);
  [[nodiscard]] MPI_Datatype handle() const { return made_; }

 private:
  MPI_Datatype made_{};
  bool is_made_ = false;
};

/// An unsigned number of the size of a handle, which is a pointer or an int.
using HandleNumber = std::conditional_t<sizeof(MPI_Datatype) == 8, std::uint64_t, std::uint32_t>;

/// A handle as a number, as in Region::type, where 0, which is no valid handle, stands for bytes.
template <class Handle>
[[nodiscard]] std::uint64_t handle_bits(Handle handle) {
  return std::bit_cast<HandleNumber>(handle);
}
/// The datatype of Region::type; bytes are MPI_PACKED.
[[nodiscard]] MPI_Datatype datatype(std::uint64_t type);

struct TypeInfo {
  bool valid = false;
  bool named = false;       ///< predefined: its handle never changes its meaning
  bool contiguous = false;  ///< its packed bytes are those in host memory: named, without gaps
  Bytes size = 0;           ///< packed bytes of one element
  MPI_Aint extent = 0;      ///< from one element to the next
};

/// The properties of MPI_BYTE.
inline constexpr TypeInfo plain_bytes = {true, true, true, 1, 1};

/// Is a valid type predefined, so that its handle never changes its meaning?
[[nodiscard]] bool is_named(MPI_Datatype type);

/// The properties of elements at this address. In the memory of a GPU no type is contiguous, so
/// that the MPI copies the elements.
[[nodiscard]] TypeInfo info_at(const void* address, TypeInfo info);

/// Queries the MPI, and remembers the answers for named datatypes, whose handles never change their
/// meaning.
class TypeCache {
 public:
  /// `comm` must return its errors, so that an invalid handle calls no error handler.
  [[nodiscard]] TypeInfo of(MPI_Datatype type, MPI_Comm comm);

 private:
  struct Entry {
    MPI_Datatype type;
    TypeInfo info;
  };
  std::array<Entry, 8> entries_{};
  std::size_t used_ = 0;
};

/// Is this handle the program's own operation, not a predefined one? True for invalid handles
/// too, but for MPI_OP_NULL.
[[nodiscard]] bool is_programs_own(MPI_Op op);

/// Does a valid operation commute?
[[nodiscard]] bool commutes(MPI_Op op);

/// Is the result of `op` on elements of `type` the same, bit for bit, in whatever sequence and
/// association vectors are combined? True for predefined operations other than MPI_SUM and
/// MPI_PROD, and for these two on predefined integers. Minimum and maximum count although NaN and
/// the signs of zeros may make them depend on the sequence, which MPI leaves open. False for the
/// program's own operations and types. The handles may be invalid. Local, without a call of MPI.
[[nodiscard]] bool is_order_free(MPI_Op op, MPI_Datatype type);

}  // namespace tutti
