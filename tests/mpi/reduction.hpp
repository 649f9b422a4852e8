/// One call of a reduction with its data, run and checked byte by byte at every rank.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tutti::test {

/// The four collectives, by the names that the library has for them.
inline constexpr const char* all_reductions[] = {"reduce", "allreduce", "reduce_scatter",
                                                 "reduce_scatter_block"};

/// A datatype with an operation on it whose results tell which ranks are in them.
class Values {
 public:
  /// Numbers by operations of MPI's own, then derived types in all kinds of memory by operations
  /// that do not commute, then the same by some that do.
  [[nodiscard]] static const std::vector<Values>& all();
  /// Frees types and operations. To be called before MPI_Finalize.
  static void free_all();

  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  bool commutes;
  bool is_odd;  ///< MPIs get it wrong: MPICH in reduce_scatter_block, Open MPI what goes down
  std::ptrdiff_t stride;               ///< from one element to the next
  std::ptrdiff_t lowest;               ///< first byte of an element, from its address
  std::ptrdiff_t highest;              ///< after its last byte
  std::vector<std::ptrdiff_t> fields;  ///< where its parts of `width` bytes are
  std::size_t width;
  /// Writes the contribution of `rank` to element `index`, or what p ranks make of it.
  void (*contribute)(std::byte* address, int rank, int index);
  void (*result)(std::byte* address, int p, int index);

  /// Not one of MPI's own operations.
  [[nodiscard]] bool has_own_op() const { return fields.size() == 3 && type != MPI_DOUBLE_INT; }
  /// An element does not lie within its extent, or the next one not behind it.
  [[nodiscard]] bool overlaps() const { return stride < 0 || lowest < 0 || highest > stride; }
};

struct Reduction {
  std::string collective = "allreduce";
  MPI_Comm comm = MPI_COMM_WORLD;
  int root = 0;
  std::vector<int> counts = {};  ///< one, or by rank where the collective scatters unequal blocks
  const Values* values = nullptr;
  bool in_place = false;
  bool large = false;      ///< the _c form
  bool native = false;     ///< the MPI's own
  bool bottom = false;     ///< in place with an own operation: by a type of absolute addresses
  bool keeps_rest = true;  ///< of a contribution in place, where only its start is a result
};

/// Are the elements given by MPI_BOTTOM and absolute addresses?
[[nodiscard]] inline bool is_absolute(const Reduction& reduction) {
  return reduction.bottom && reduction.in_place && reduction.values->has_own_op();
}

[[nodiscard]] std::string to_text(const Reduction& reduction);

/// Is a specification for any associative operation, as it combines in the sequence of ranks?
[[nodiscard]] bool takes_any(const std::string& specification);
/// Counts of a vector or block of about so many elements: by rank, some of them none, where the
/// collective scatters unequal blocks.
[[nodiscard]] std::vector<int> counts_of(const std::string& collective, int count, int p);

/// Makes the call; the text says what was wrong with its result at this rank, empty if nothing.
[[nodiscard]] std::string run(const Reduction& reduction);

}  // namespace tutti::test
